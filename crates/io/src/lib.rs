//! The input and output of fyke: pattern files, haystacks, and printers for matches.
//!
//! * [`rules`] parses pattern files: lines, hex, Snort and Suricata rules.
//! * [`source`] reads haystacks: files with several threads, streams in bounded memory, folders.
//! * `container` (feature `compression`) decompresses gzip, zstd and xz.
//! * [`sink`] prints matches: as text, and with the feature `json` as NDJSON.
#![forbid(unsafe_code)]

#[cfg(feature = "compression")]
pub mod container;
pub mod rules;
pub mod sink;
pub mod source;
