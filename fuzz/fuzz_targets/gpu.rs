//! The GPU engines on an OpenCL device, in blocks of any sizes, against the naive search.
#![no_main]

use fyke_testkit::subject::one_thread;
use fyke_testkit::{Suite, fuzz_gpu};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

/// The GPU engines of the product. An absent device is a failure, because the target would test
/// nothing.
static SUITE: LazyLock<Suite> = LazyLock::new(|| {
    let product = fyke::gpu::ENGINES.iter().map(|&e| e as &'static dyn fyke_core::Engine);
    Suite::new(product.collect(), one_thread)
        .requiring(&["gpu-filter:backend=opencl", "gpu-dfa:backend=opencl"])
});

fn faults() -> Vec<String> {
    fyke::gpu::faults::take().into_iter().map(|fault| fault.what).collect()
}

fuzz_target!(|data: &[u8]| fuzz_gpu::gpu(data, &SUITE, "backend=opencl", &faults));
