//! The validators of carved files.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../bodies/carve_validate.rs"]
mod body;

fuzz_target!(|data: &[u8]| body::validate_files(data));
