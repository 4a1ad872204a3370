//! `gpu-ac0` with the automaton in a texture: the table's reads go through a cache that is made for scattered reads.
//!
//! All else stays: each work item walks 228 positions, byte after byte. On the paper's device plain memory is not
//! cached at all, and this one step halves the time: 1,106.75 ms in place of 2,158.31 for 904 MB (table I). Devices since
//! cache plain reads too, in the same memory that serves textures.
//!
//! Where the paper differs: its states take two bytes, in the table and in the output, so that it takes sets of up to
//! 65,536 states. Here both have four. A texture holds 2^27 words, and sets of more than 524,288 states are refused.
//! With OpenCL the table is a plain buffer.
//!
//! Zha and Sahni, *Multipattern string matching on a GPU*, 2011, VI-A1 (AC1), fig. 4.

use crate::gpu::dense::{Dense, Launch};
use fyke_core::{Device, Family, Growth, Info};
use fyke_gpu::kernel::{Source, source};
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
    prepare: |set, opt, device| Dense::prepare(set, opt, device, LAUNCH),
    options: &[],
};

static SOURCE: Source = source!("gpu_ac1", ["gpu_ac1"]);

/// T = 64 and S_thread = 228, as in the paper's VI-A.
const LAUNCH: Launch = Launch {
    source: &SOURCE,
    kernel: "gpu_ac1",
    items: 64,
    positions: 228,
    texture: true,
    shared: |_| 0,
};
