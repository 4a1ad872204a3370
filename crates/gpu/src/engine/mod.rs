//! The registry of GPU engines: one module line and one slice entry each.

use crate::matcher::GpuEngine;

pub mod gpu_dfa;
pub mod gpu_filter;

/// Every GPU engine.
pub static ENGINES: &[&GpuEngine] = &[&gpu_dfa::ENGINE, &gpu_filter::ENGINE];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::inventory;
    use crate::{faults, testing};
    use fyke_core::Engine;
    use fyke_testkit::registry::check_files;
    use fyke_testkit::subject::one_thread;
    use fyke_testkit::{Suite, counting, fuzz, fuzz_gpu};

    #[test]
    fn what_is_counted_is_what_is_found() {
        let (mut tests, devices) = (testing::tests(), &inventory().devices);
        counting::check(ENGINES.iter().map(|e| *e as &dyn Engine), devices.len());
        devices.iter().for_each(|device| tests.checked(format!("{device:?}")));
    }

    /// The inputs of the fuzz targets, as `fuzz/fuzz_targets/gpu.rs` searches them.
    #[test]
    fn inputs_of_fuzz_targets_are_searched_right() {
        let engines = ENGINES.iter().map(|e| *e as &dyn Engine).collect();
        let suite = Suite::new(engines, one_thread);
        // Other tests pretend faults at the same time.
        let is_real = |fault: &String| !fault.contains("a fault for a test");
        let faults = || faults::take().into_iter().map(|f| f.what).filter(is_real).collect();
        let mut tests = testing::tests();
        for device in &inventory().devices {
            let backend = format!("backend={}", device.properties().backend.name());
            let mut body = |data: &[u8]| fuzz_gpu::gpu(data, &suite, &backend, &faults);
            let replayed = fuzz::replay(&fuzz::regressions(), "differential", &mut body).unwrap();
            assert!(replayed > 0);
            tests.checked(format!("{device:?}"));
        }
    }

    #[test]
    fn every_file_is_an_entry_and_has_a_kernel() {
        let names = || ENGINES.iter().map(|e| e.info.name);
        let folder = |name: &str| format!("{}/src/{name}", env!("CARGO_MANIFEST_DIR"));
        check_files(names(), folder("engine"), "rs", "gpu-");
        check_files(names(), folder("kernel"), "cu", "gpu-");
    }
}
