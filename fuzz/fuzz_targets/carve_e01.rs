//! The reader of E01 images.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../bodies/carve_e01.rs"]
mod body;

fuzz_target!(|data: &[u8]| body::e01(data));
