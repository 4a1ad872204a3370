//! Every variant of every engine against the naive search.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| fyke_testkit::fuzz::differential(data, &fyke::registry::engines()));
