//! Every variant of every engine against the naive search.
#![no_main]

use libfuzzer_sys::fuzz_target;

/// Those of the processor: a driver that is not built with the sanitizer stops a fuzzer for its own reasons.
fn engines() -> Vec<&'static dyn fyke::Engine> {
    let all = fyke::registry::built_in();
    all.into_iter().chain(fyke_papers::engines()).filter(|e| e.info().device == fyke::Device::Cpu).collect()
}

fuzz_target!(|data: &[u8]| fyke_testkit::fuzz::differential(data, &engines()));
