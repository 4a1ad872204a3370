//! Every variant of every engine against the naive search.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../bodies/suite.rs"]
mod engines;

fuzz_target!(|data: &[u8]| fyke_testkit::fuzz::differential(data, engines::suite()));
