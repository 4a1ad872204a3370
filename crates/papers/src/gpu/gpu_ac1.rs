//! AC1: `gpu-ac0` with the automaton in a texture, whose cache is made for scattered reads.
//!
//! Nothing else changes. The paper's device does not cache plain memory, and the texture halves
//! the time: 1,106.75 ms instead of 2,158.31 for 904 MB (table I). Later devices cache plain reads
//! in the same memory as textures.
//!
//! Differences from the paper: its states have two bytes, in the table and in the output, so it
//! takes sets of up to 65,536 states. Here both have four bytes. A texture holds 2^27 words, so
//! sets of more than 524,288 states are refused. With OpenCL the table is a plain buffer.
//!
//! Zha and Sahni, *Multipattern string matching on a GPU*, 2011, VI-A1 (AC1), fig. 4.

use crate::gpu::dense::{DenseSearch, LadderKernel};
use fyke_core::{Device, Family, Growth, Info};
use fyke_gpu::kernel::{KernelSource, kernel_source};
use fyke_gpu::matcher::GpuEngine;

/// The entry of the registry.
pub static ENGINE: GpuEngine = GpuEngine {
    info: &Info {
        name: "gpu-ac1",
        device: Device::Gpu,
        family: Family::Paper,
        growth: Growth::Flat,
        about: "gpu-ac0 with the automaton read through a texture",
        source: "Zha and Sahni 2011, VI-A1 (AC1)",
        variants: &["backend=opencl", "backend=cuda"],
    },
    prepare: |set, opt, device| DenseSearch::prepare(set, opt, device, KERNEL),
    options: &[],
};

static SOURCE: KernelSource = kernel_source!("gpu_ac1", ["gpu_ac1"]);

/// T = 64 and S_thread = 228, as in the paper's VI-A.
const KERNEL: LadderKernel = LadderKernel {
    source: &SOURCE,
    kernel: "gpu_ac1",
    items: 64,
    positions: 228,
    texture: true,
    shared: |_| 0,
};
