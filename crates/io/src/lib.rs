//! Everything of fyke that touches the outside.
//!
//! * [`rules`] reads pattern files: lines, hex, Snort and Suricata rules.
#![forbid(unsafe_code)]

pub mod rules;
