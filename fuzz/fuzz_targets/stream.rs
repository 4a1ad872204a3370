//! Every variant of every engine in a stream: any chunking, any semantics, saved and restored.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| fyke_testkit::fuzz::stream(data, &fyke::registry::engines()));
