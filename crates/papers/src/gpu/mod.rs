//! The registry of the papers' GPU engines, and the code that they share.
//!
//! `gpu/<name>.rs` is the host half of an engine, `kernel/<name>.cu` the device half.
//!
//! * `dense` writes a state for every byte, as Zha and Sahni do; `tran` scans overlapping chunks.
//! * `passes` makes a pass per pattern; `reverse` walks the trie of the reversed patterns.
//! * `division` divides a text among work items.
//! * [`strategy`] runs the host-to-host strategies that [`model`](crate::model) predicts.

use fyke_gpu::matcher::GpuEngine;

mod dense;
mod division;
mod passes;
mod reverse;
pub mod strategy;
#[cfg(test)]
mod testing;
mod tran;

pub mod gpu_ac0;
pub mod gpu_ac1;
pub mod gpu_ac2;
pub mod gpu_ac3;
pub mod gpu_ac4;
pub mod gpu_ac_global;
pub mod gpu_ac_shared;
pub mod gpu_ebm;
pub mod gpu_kmp;
pub mod gpu_mbm0;
pub mod gpu_mbm1;
pub mod gpu_pfac;

/// Every GPU engine of a paper.
pub static ENGINES: &[&GpuEngine] = &[
    &gpu_ac0::ENGINE,
    &gpu_ac1::ENGINE,
    &gpu_ac2::ENGINE,
    &gpu_ac3::ENGINE,
    &gpu_ac4::ENGINE,
    &gpu_ac_global::ENGINE,
    &gpu_ac_shared::ENGINE,
    &gpu_ebm::ENGINE,
    &gpu_kmp::ENGINE,
    &gpu_mbm0::ENGINE,
    &gpu_mbm1::ENGINE,
    &gpu_pfac::ENGINE,
];

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_core::Engine;
    use fyke_gpu::device::inventory;
    use fyke_gpu::kernel::KernelSource;
    use fyke_testkit::counting;
    use fyke_testkit::registry::{check_files, check_kernels};

    #[test]
    fn what_is_counted_is_what_is_found() {
        let (mut tests, devices) = (testing::tests(), &inventory().devices);
        counting::check(ENGINES.iter().map(|e| *e as &dyn Engine), devices.len());
        devices.iter().for_each(|device| tests.checked(format!("{device:?}")));
    }

    #[test]
    fn kernels_stand_alone_in_ptx() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/kernel/ptx");
        check_kernels(folder, 13, |ptx| {
            let source = KernelSource { name: "", kernels: &[], text: "", ptx };
            source.entries().map(|name| (name, source.ptx_of(name))).collect()
        });
    }

    #[test]
    fn every_file_is_an_entry_and_has_a_kernel() {
        let names = || ENGINES.iter().map(|e| e.info.name);
        let folder = |name: &str| format!("{}/src/{name}", env!("CARGO_MANIFEST_DIR"));
        check_files(names(), folder("gpu"), "rs", "gpu-");
        check_files(names(), folder("kernel"), "cu", "gpu-");
    }
}
