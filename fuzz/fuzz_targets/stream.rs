//! Every variant of every engine in a stream: any chunk sizes, any semantics, saved and restored.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../bodies/suite.rs"]
mod engines;

fuzz_target!(|data: &[u8]| fyke_testkit::fuzz::stream(data, engines::suite()));
