//! `gpu-ac1` with reads of 16 bytes: a work item reads a `uint4` of its text, puts it in shared memory, and takes the
//! bytes one by one from there.
//!
//! A transaction of the paper's device moves up to 128 bytes. A byte a work item uses 1/128 of that, 16 bytes use 1/8
//! (IV-B1), and the time of 904 MB falls from 1,106.75 to 747.73 ms (table I). Neighbouring work items still read 228 bytes
//! apart: what is left to win is for `gpu-ac3`. The detour by shared memory saves shifts and masks, and 64 work items need
//! 1 KiB of it.
//!
//! Where the paper differs: it assumes that every walk begins at a word of 16 bytes. 228 is no multiple of 16, so here a
//! walk begins at the word that holds its first byte; the bytes before that change nothing, since a state is the longest
//! suffix of what was read that begins a pattern, and is no longer than the longest pattern. States have four bytes, see
//! `gpu-ac1`.
//!
//! Zha and Sahni, *Multipattern string matching on a GPU*, 2011, IV-B1, VI-A1 (AC2).

use crate::gpu::dense::{Dense, Launch};
use fyke_core::{Device, Family, Growth, Info};
use fyke_gpu::kernel::{Source, source};
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
    prepare: |set, opt, device| Dense::prepare(set, opt, device, LAUNCH),
    options: &[],
};

static SOURCE: Source = source!("gpu_ac2", ["gpu_ac2"]);

/// T = 64 and S_thread = 228, as in the paper's VI-A.
const LAUNCH: Launch = Launch {
    source: &SOURCE,
    kernel: "gpu_ac2",
    items: 64,
    positions: 228,
    texture: true,
    shared: |_| 0,
};
