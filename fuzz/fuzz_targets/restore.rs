//! The parser of saved states, and the streams that it restores.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../bodies/suite.rs"]
mod engines;

fuzz_target!(|data: &[u8]| fyke_testkit::fuzz::restore(data, engines::suite()));
