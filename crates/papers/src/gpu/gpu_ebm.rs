//! Jaiswal's "enhanced" Boyer-Moore, written for OpenCL: each work item searches its share of the
//! text.
//!
//! The share of a work item is n / t bytes and the m - 1 before them (eq. 1). It compares the
//! pattern from its right end, and after a mismatch or a match shifts it by *MovDist* (eq. 3),
//! which the *Index table* (eq. 2) gives. The CPU engine [`ebm`] explains the method and the
//! corrections of its equations. Text, pattern and table are in device memory, as in the paper's
//! step 5.
//!
//! # Differences from the paper
//! * n / t is rounded up: rounded down, eq. 1 loses the end of the text.
//! * In eq. 3, j is the place of the mismatch, and the first comparison is at the end of the first
//!   window.
//! * The paper counts matches; here each is written as a record.
//! * One launch has groups for many patterns (module `passes`); the paper searches for one.
//! * The same kernel runs with CUDA.
//!
//! It wins with one long pattern, because most bytes are never read. It loses with many patterns,
//! each of which takes a pass, and because the lanes of a warp wait for the one that shifts least.
//!
//! M. Jaiswal, *Accelerating enhanced Boyer-Moore string matching algorithm on multicore GPU for
//! network security*, 2014, 3.1 and 3.2.

use crate::cpu::ebm;
use crate::gpu::passes::{PassKernel, PassSearch};
use fyke_core::{Device, Family, Growth, Info};
use fyke_gpu::kernel::{KernelSource, kernel_source};
use fyke_gpu::matcher::GpuEngine;

/// The entry of the registry.
pub static ENGINE: GpuEngine = GpuEngine {
    info: &Info {
        name: "gpu-ebm",
        device: Device::Gpu,
        family: Family::Paper,
        growth: Growth::PerPattern,
        about: "enhanced Boyer-Moore, Index table in device memory, one pass per pattern",
        source: "Jaiswal 2014, 3.1-3.2",
        variants: &["backend=opencl", "backend=cuda"],
    },
    prepare: |set, opt, device| PassSearch::prepare(set, opt, device, KERNEL),
    options: &[],
};

static SOURCE: KernelSource = kernel_source!("gpu_ebm", ["gpu_ebm"]);

const KERNEL: PassKernel = PassKernel {
    source: &SOURCE,
    kernel: "gpu_ebm",
    table: ebm::index_table,
    entries: |_| 256,
    shared: |_| 0,
};
