//! As `gpu-mbm0`, with the reversed trie read through a texture.
//!
//! Neighbouring work items are in different nodes, and their reads of the trie lie all over it. What the devices of the
//! dissertation cache of device memory is nothing; textures they cache. It has mBM1 at 1.94 to 1.98 times the speed of
//! mBM0 (table 6-4), and at 1.07 to 1.10 times the time of AC1. Devices since then cache both.
//!
//! With OpenCL a texture is plain memory, and this is `gpu-mbm0` under another name.
//!
//! Wins and loses as [`gpu_mbm0`](super::gpu_mbm0) does, which has the method.
//!
//! X. Zha (2010), 6.5.1.2 (mBM1).

use crate::gpu::reverse::Reverse;
use fyke_core::{Device, Family, Growth, Info};
use fyke_gpu::kernel::{Source, source};
use fyke_gpu::matcher::GpuEngine;

/// The entry of the registry.
pub static ENGINE: GpuEngine = GpuEngine {
    info: &Info {
        name: "gpu-mbm1",
        device: Device::Gpu,
        family: Family::Paper,
        growth: Growth::Flat,
        about: "multipattern Boyer-Moore, reversed trie in texture memory, shifts in shared memory",
        source: "Zha 2010, 6.2 and 6.5.1.2",
        variants: &["backend=opencl", "backend=cuda"],
    },
    prepare: |set, opt, device| Reverse::prepare(set, opt, device, (&SOURCE, "gpu_mbm1"), true),
    options: &[],
};

static SOURCE: Source = source!("gpu_mbm1", ["gpu_mbm1"]);
