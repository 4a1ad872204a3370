//! The input and output of fyke: pattern files, haystacks, and printers for matches.
//!
//! * [`source`] reads haystacks: files with several threads, streams in bounded memory, and with
//!   the feature `walk` folders.
//! * `rules` (feature `rules`) parses pattern files: lines, hex, Snort, Suricata and YARA rules.
//! * `container` (feature `compression`) decompresses gzip, bzip2, lz4, lzma, xz and zstd, and
//!   reads the members of zip archives.
//! * `sink` (feature `sink`) prints matches: as text, and with the feature `json` as NDJSON.
#![forbid(unsafe_code)]

#[cfg(feature = "compression")]
pub mod container;
#[cfg(feature = "rules")]
pub mod rules;
#[cfg(feature = "sink")]
pub mod sink;
pub mod source;
