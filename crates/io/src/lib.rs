//! Everything of fyke that touches the outside.
//!
//! * [`rules`] reads pattern files: lines, hex, Snort and Suricata rules.
//! * [`source`] reads haystacks: files from several threads, streams in bounded memory, folders.
//! * `container` (feature `compression`) reads gzip, zstd and xz.
//! * [`sink`] prints matches: as text, and with the feature `json` as NDJSON.
#![forbid(unsafe_code)]

#[cfg(feature = "compression")]
pub mod container;
pub mod rules;
pub mod sink;
pub mod source;
