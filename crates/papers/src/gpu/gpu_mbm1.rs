//! mBM1: `gpu-mbm0` with the reversed trie read through a texture.
//!
//! Neighboring work items are at different nodes, and their reads are scattered over the trie. The
//! dissertation's device caches textures and not plain memory: mBM1 has 1.94 to 1.98 times the
//! speed of mBM0 (table 6-4), and 1.07 to 1.10 times the time of AC1. Later devices cache both.
//! With OpenCL a texture is plain memory, and this is `gpu-mbm0`.
//!
//! Source: X. Zha (2010), 6.5.1.2 (mBM1).

use crate::gpu::reverse::{self, ReverseKernel, ReverseSearch};
use fyke_gpu::kernel::{KernelSource, kernel_source};
use fyke_gpu::matcher::GpuEngine;

/// The entry of the registry.
pub static ENGINE: GpuEngine = GpuEngine {
    info: &reverse::info(
        "gpu-mbm1",
        "multipattern Boyer-Moore, reversed trie in a texture, shifts in shared memory",
    ),
    prepare: |set, opt, device| ReverseSearch::prepare(set, opt, device, &KERNEL),
    options: &[],
};

static SOURCE: KernelSource = kernel_source!("gpu_mbm1", ["gpu_mbm1"], "mbm.h");

static KERNEL: ReverseKernel = ReverseKernel { source: &SOURCE, kernel: "gpu_mbm1", texture: true };
