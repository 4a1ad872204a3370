//! mBM0, multipattern Boyer-Moore with the reversed trie in device memory.
//!
//! Module `reverse` has the method, its differences from the dissertation, and when it wins. The
//! dissertation has it at 1.09 to 1.11 times the time of `gpu-ac0` (tables 6-1 and 6-3).
//!
//! Source: X. Zha (2010), 6.2 and 6.5.1.2 (mBM0).

use crate::gpu::reverse::{self, ReverseKernel, ReverseSearch};
use fyke_gpu::kernel::{KernelSource, kernel_source};
use fyke_gpu::matcher::GpuEngine;

/// The entry of the registry.
pub static ENGINE: GpuEngine = GpuEngine {
    info: &reverse::info(
        "gpu-mbm0",
        "multipattern Boyer-Moore, reversed trie in device memory, shifts in shared memory",
    ),
    prepare: |set, opt, device| ReverseSearch::prepare(set, opt, device, &KERNEL),
    options: &[],
};

static SOURCE: KernelSource = kernel_source!("gpu_mbm0", ["gpu_mbm0"], "mbm.h");

static KERNEL: ReverseKernel =
    ReverseKernel { source: &SOURCE, kernel: "gpu_mbm0", texture: false };
