//! The "enhanced" Boyer-Moore of Jaiswal, as he wrote it for OpenCL: each work item has its share of the text.
//!
//! The share of a work item is n / t bytes and the m - 1 before them (eq. 1). It compares the pattern from its right
//! end, and after a mismatch or a match moves on by *MovDist* (eq. 3), which the *Index table* (eq. 2) tells: the
//! processor's engine [`ebm`] has the method, and what is printed about it and has to be read otherwise.
//! Text, pattern and table are in device memory, as the paper's step 5 has them.
//!
//! # What differs from the paper
//! * n / t is rounded up: rounded down, eq. 1 loses the end of the text.
//! * In eq. 3, j is the place of the mismatch, and the first comparison is at the end of the first window.
//! * The paper counts matches; here each is written down.
//! * One launch has groups for many patterns (module `passes`); the paper searches for one.
//! * The same kernel runs with CUDA.
//!
//! Wins where there is one long pattern: most bytes are never looked at. Loses with many patterns, which take a
//! pass each, and work items that run in step wait for the one that moves least.
//!
//! M. Jaiswal, *Accelerating enhanced Boyer-Moore string matching algorithm on multicore GPU for network
//! security*, 2014, 3.1 and 3.2.

use crate::cpu::ebm;
use crate::gpu::passes::{Launch, Passes};
use fyke_core::{Device, Family, Growth, Info};
use fyke_gpu::kernel::{Source, source};
use fyke_gpu::matcher::GpuEngine;

/// The entry of the registry.
pub static ENGINE: GpuEngine = GpuEngine {
    info: &Info {
        name: "gpu-ebm",
        device: Device::Gpu,
        family: Family::Paper,
        growth: Growth::PerPattern,
        about: "enhanced Boyer-Moore: Index table and MovDist in device memory, a pass for each pattern",
        source: "Jaiswal 2014, 3.1-3.2",
        variants: &["backend=opencl", "backend=cuda"],
    },
    prepare: |set, opt, device| Passes::prepare(set, opt, device, LAUNCH),
    options: &[],
};

static SOURCE: Source = source!("gpu_ebm", ["gpu_ebm"]);

const LAUNCH: Launch = Launch {
    source: &SOURCE,
    kernel: "gpu_ebm",
    table: ebm::index_table,
    entries: |_| 256,
    shared: |_| 0,
};
