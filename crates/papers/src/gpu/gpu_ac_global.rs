//! Aho-Corasick over chunks, the state-transition table in a texture and the text in global memory.
//!
//! A work item takes a chunk of the text and `max_len - 1` bytes after it, and reads both byte after byte from where
//! they are. The chunks are as long as it takes to give every work item that the device holds at a time one of
//! them, so that neighbours read bytes far apart, each in a transaction of its own: "intensive global memory accesses"
//! (4.2), which `gpu-ac-shared` mends. In the paper, which gives no number of work items, it is 2.5 to 7.6 times as fast
//! as its processor.
//!
//! What both engines share, and which of two chunks reports a match, is told in module `tran`.
//!
//! It takes what the ladder takes, patterns of up to 4,096 bytes. Beside `gpu-ac1`, which differs little otherwise, it
//! writes where it finds something and nothing elsewhere, and reads one more word of the table for each byte.
//!
//! Tran, Lee, Hong and Choi, *Cache conscious parallel pattern matching for Aho-Corasick algorithm on a GPU*, 2012, 4.2,
//! fig. 5 and 6.

use crate::gpu::dense::LONGEST;
use crate::gpu::tran::{Chunked, Launch};
use fyke_core::{Device, Family, Growth, Info};
use fyke_gpu::kernel::{Source, source};
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
    prepare: |set, opt, device| Chunked::prepare(set, opt, device, LAUNCH),
    options: &[],
};

static SOURCE: Source = source!("gpu_ac_global", ["gpu_ac_global"]);

/// The paper gives no number of work items.
const LAUNCH: Launch = Launch {
    source: &SOURCE,
    kernel: "gpu_ac_global",
    items: 128,
    longest: LONGEST,
    positions: None,
};
