//! The database of a carve, opened from changed files.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../bodies/carve_database.rs"]
mod body;

fuzz_target!(|data: &[u8]| body::database(data));
