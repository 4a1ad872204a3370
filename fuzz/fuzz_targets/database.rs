//! Databases: any bytes, and real ones that were changed behind sound checksums.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../bodies/database.rs"]
mod body;

fuzz_target!(|data: &[u8]| body::database(data));
