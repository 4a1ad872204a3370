//! Aho-Corasick over overlapping chunks, with the state-transition table in a texture and the text
//! in global memory.
//!
//! A work item takes a chunk of the text and `max_len - 1` bytes after it, and reads both byte by
//! byte from global memory. Every work item that the device runs at a time has one chunk, so
//! neighbors read bytes far apart, each in a transaction of its own: "intensive global memory
//! accesses" (4.2), which `gpu-ac-shared` fixes. In the paper, which gives no number of work
//! items, it is 2.5 to 7.6 times as fast as the CPU.
//!
//! Module `tran` has what both engines share, and the rule which of two chunks reports a match.
//!
//! It takes patterns of up to 4,096 bytes, as the ladder does. Unlike `gpu-ac1`, its closest
//! relative, it writes only where it finds something, and it reads one more word of the table for
//! each byte.
//!
//! Tran, Lee, Hong and Choi, *Cache conscious parallel pattern matching for Aho-Corasick algorithm
//! on a GPU*, 2012, 4.2, fig. 5 and 6.

use crate::gpu::dense::LONGEST;
use crate::gpu::tran::{ChunkKernel, ChunkedSearch};
use fyke_core::{Device, Family, Growth, Info};
use fyke_gpu::kernel::{KernelSource, kernel_source};
use fyke_gpu::matcher::GpuEngine;

/// The entry of the registry.
pub static ENGINE: GpuEngine = GpuEngine {
    info: &Info {
        name: "gpu-ac-global",
        device: Device::Gpu,
        family: Family::Paper,
        growth: Growth::Flat,
        about: "Aho-Corasick over overlapping chunks, the table in a texture, text read from global memory",
        source: "Tran et al. 2012, 4.2, fig. 6",
        variants: &["backend=opencl", "backend=cuda"],
    },
    prepare: |set, opt, device| ChunkedSearch::prepare(set, opt, device, KERNEL),
    options: &[],
};

static SOURCE: KernelSource = kernel_source!("gpu_ac_global", ["gpu_ac_global"]);

/// 128 work items per group: the paper gives no number.
const KERNEL: ChunkKernel = ChunkKernel {
    source: &SOURCE,
    kernel: "gpu_ac_global",
    items: 128,
    longest: LONGEST,
    positions: None,
};
