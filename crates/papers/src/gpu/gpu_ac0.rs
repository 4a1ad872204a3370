//! Aho-Corasick as plain as it gets: a work item computes the states of 228 positions, byte after byte.
//!
//! Each work item walks the automaton from `max_len - 1` bytes before its first position, from the root, which gives
//! the right state where its positions begin: a state is the longest suffix of the text that begins a pattern, and
//! that is no longer than `max_len`. So n positions take `TW = n (1 + (max_len - 1) / 228)` transitions.
//!
//! What is wrong with it is what the ladder up to `gpu-ac4` mends: neighbouring work items read bytes that are 228
//! apart, a byte a transaction, and write their states as far apart.
//!
//! Zha and Sahni, *Multipattern string matching on a GPU*, 2011, IV-A, fig. 4 (AC0: the automaton in device memory).

use crate::gpu::dense::{Dense, Launch};
use fyke_core::{Device, Family, Growth, Info};
use fyke_gpu::kernel::{Source, source};
use fyke_gpu::matcher::GpuEngine;

/// The entry of the registry.
pub static ENGINE: GpuEngine = GpuEngine {
    info: &Info {
        name: "gpu-ac0",
        device: Device::Gpu,
        family: Family::Paper,
        growth: Growth::Flat,
        about: "Aho-Corasick, 228 positions a thread, bytes read and states written one by one",
        source: "Zha and Sahni 2011, IV-A, fig. 4",
        variants: &["backend=opencl", "backend=cuda"],
    },
    prepare: |set, opt, device| Dense::prepare(set, opt, device, LAUNCH),
    options: &[],
};

static SOURCE: Source = source!("gpu_ac0", ["gpu_ac0"]);

/// T = 64 and S_thread = 228, as in the paper's VI-A.
const LAUNCH: Launch = Launch {
    source: &SOURCE,
    kernel: "gpu_ac0",
    items: 64,
    positions: 228,
    texture: false,
    shared: |_| 0,
};
