//! AC2: `gpu-ac1` with reads of 16 bytes. A work item loads a `uint4` of its text to shared memory
//! and takes the bytes one by one from there.
//!
//! A transaction of the paper's device moves up to 128 bytes. One byte per work item uses 1/128 of
//! it, 16 bytes use 1/8 (IV-B1), and the time of 904 MB falls from 1,106.75 to 747.73 ms (table
//! I). Neighboring work items still read 228 bytes apart, which `gpu-ac3` fixes. Going through
//! shared memory saves shifts and masks, and takes 1 KiB for 64 work items.
//!
//! Differences from the paper: it assumes that every walk begins at a word of 16 bytes. 228 is no
//! multiple of 16, so here a walk begins at the word that contains its first byte. The bytes
//! before do not change the result, because a state is the longest suffix that begins a pattern,
//! and is no longer than the longest pattern. States have four bytes, see `gpu-ac1`.
//!
//! Zha and Sahni, *Multipattern string matching on a GPU*, 2011, IV-B1, VI-A1 (AC2).

use crate::gpu::dense::{DenseSearch, LadderKernel};
use fyke_core::{Device, Family, Growth, Info};
use fyke_gpu::kernel::{KernelSource, kernel_source};
use fyke_gpu::matcher::GpuEngine;

/// The entry of the registry.
pub static ENGINE: GpuEngine = GpuEngine {
    info: &Info {
        name: "gpu-ac2",
        device: Device::Gpu,
        family: Family::Paper,
        growth: Growth::Flat,
        about: "gpu-ac1 with the text read 16 bytes at a time",
        source: "Zha and Sahni 2011, IV-B1 (AC2)",
        variants: &["backend=opencl", "backend=cuda"],
    },
    prepare: |set, opt, device| DenseSearch::prepare(set, opt, device, KERNEL),
    options: &[],
};

static SOURCE: KernelSource = kernel_source!("gpu_ac2", ["gpu_ac2"]);

/// T = 64 and S_thread = 228, as in the paper's VI-A.
const KERNEL: LadderKernel = LadderKernel {
    source: &SOURCE,
    kernel: "gpu_ac2",
    items: 64,
    positions: 228,
    texture: true,
    shared: |_| 0,
};
