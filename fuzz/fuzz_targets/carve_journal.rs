//! The journal of an interrupted carve.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../bodies/carve_journal.rs"]
mod body;

fuzz_target!(|data: &[u8]| body::journal(data));
