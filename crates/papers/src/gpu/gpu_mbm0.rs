//! Multipattern Boyer-Moore: each work item moves a window over its share of the text, and compares all patterns at once.
//!
//! The window is as long as the shortest pattern. From its end the text is read to the left, through the trie of the
//! reversed patterns, whose nodes name the patterns that end there; then three shift functions say how far the next match
//! can end (module `reverse`, and the processor's [`bm_multi`](crate::cpu::bm_multi)). A share of
//! n positions takes n + max_len - 1 bytes: the walk to the left goes on into the share before.
//!
//! The trie is in device memory, the shift functions in shared memory.
//!
//! # What differs from the dissertation
//! * Page 94 prints max{B, shift1, shift2}, which leaps over matches; the window moves by Commentz-Walter's formula.
//! * Windows are read to the left and are known by where they end, so that output is by the end of a match, as that of
//!   the other engines is; the dissertation's is by its begin.
//! * Its output has an entry for each byte. Here most positions are never looked at, and a record is written
//!   where something is found (module `sparse`).
//! * Each node takes four bytes of shared memory: sets with more nodes than that holds are refused. The
//!   dissertation's patterns are few.
//!
//! Wins over the rungs of Aho-Corasick that read and write a byte at a time where patterns are long and few, as most bytes
//! are skipped. Loses where a pattern is short, which makes every window so; and work items that run in step wait
//! for the one that reads most. The dissertation has it at 1.09 to 1.11 times the time of `gpu-ac0` (tables 6-1 and 6-3).
//!
//! B. Commentz-Walter, *A string matching algorithm fast on the average*, ICALP 1979; X. Zha (2010), sections 6.2 and
//! 6.5.1.2 (mBM0).

use crate::gpu::reverse::Reverse;
use fyke_core::{Device, Family, Growth, Info};
use fyke_gpu::kernel::{Source, source};
use fyke_gpu::matcher::GpuEngine;

/// The entry of the registry.
pub static ENGINE: GpuEngine = GpuEngine {
    info: &Info {
        name: "gpu-mbm0",
        device: Device::Gpu,
        family: Family::Paper,
        growth: Growth::Flat,
        about: "multipattern Boyer-Moore, reversed trie in device memory, shifts in shared memory",
        source: "Zha 2010, 6.2 and 6.5.1.2",
        variants: &["backend=opencl", "backend=cuda"],
    },
    prepare: |set, opt, device| Reverse::prepare(set, opt, device, (&SOURCE, "gpu_mbm0"), false),
    options: &[],
};

static SOURCE: Source = source!("gpu_mbm0", ["gpu_mbm0"]);
