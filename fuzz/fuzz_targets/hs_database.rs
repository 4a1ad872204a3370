//! Serialized databases of libhs: any bytes, and real ones that were changed behind sound checksums.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../bodies/hs_database.rs"]
mod body;

fuzz_target!(|data: &[u8]| body::hs_database(data));
