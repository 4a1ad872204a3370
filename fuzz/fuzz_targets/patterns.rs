//! Every parser of pattern files.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../bodies/patterns.rs"]
mod body;

fuzz_target!(|data: &[u8]| body::patterns(data));
