//! AC0, plain Aho-Corasick: each work item computes the states of 228 positions, byte after byte.
//!
//! A work item walks the automaton from the root, `max_len - 1` bytes before its first position.
//! That gives the right state where its positions begin: a state is the longest suffix of the text
//! that begins a pattern, and is no longer than `max_len`. So n positions take `TW = n (1 +
//! (max_len - 1) / 228)` transitions.
//!
//! It is the baseline of the ladder up to `gpu-ac4`, which fixes its memory accesses: neighboring
//! work items read bytes that are 228 apart, one byte per transaction, and write their states as
//! far apart.
//!
//! Zha and Sahni, *Multipattern string matching on a GPU*, 2011, IV-A, fig. 4 (AC0: the automaton
//! in device memory).

use crate::gpu::dense::{DenseSearch, LadderKernel};
use fyke_core::{Device, Family, Growth, Info};
use fyke_gpu::kernel::{KernelSource, kernel_source};
use fyke_gpu::matcher::GpuEngine;

/// The entry of the registry.
pub static ENGINE: GpuEngine = GpuEngine {
    info: &Info {
        name: "gpu-ac0",
        device: Device::Gpu,
        family: Family::Paper,
        growth: Growth::Flat,
        about: "Aho-Corasick, 228 positions per thread, bytes read and states written one by one",
        source: "Zha and Sahni 2011, IV-A, fig. 4",
        variants: &["backend=opencl", "backend=cuda"],
    },
    prepare: |set, opt, device| DenseSearch::prepare(set, opt, device, KERNEL),
    options: &[],
};

static SOURCE: KernelSource = kernel_source!("gpu_ac0", ["gpu_ac0"]);

/// T = 64 and S_thread = 228, as in the paper's VI-A.
const KERNEL: LadderKernel = LadderKernel {
    source: &SOURCE,
    kernel: "gpu_ac0",
    items: 64,
    positions: 228,
    texture: false,
    shared: |_| 0,
};
