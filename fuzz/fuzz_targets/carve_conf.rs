//! The rules of carving: parser, linter, search and pairing.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../bodies/carve_conf.rs"]
mod body;

fuzz_target!(|data: &[u8]| body::conf(data));
