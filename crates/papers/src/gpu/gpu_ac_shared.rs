//! `gpu-ac-global` with the text staged in shared memory: the work items of a group first load its
//! chunks together.
//!
//! Work item k loads word k of four bytes, then word k + 128 and so on (fig. 8 and 9), so that the
//! loads of neighbors are one transaction. Then each walks its chunk, and `max_len - 1` bytes
//! after it, in shared memory, where a read takes "just a few clock cycles". In the paper it is 8
//! to 15.7 times as fast as the CPU, `gpu-ac-global` 2.5 to 7.6 times.
//!
//! Chunks have 31 words of four bytes: with an odd number neighbors read from different banks, by
//! theorem 1 of Zha and Sahni (see `gpu-ac3`). Chunks for longer patterns have as many words as
//! the patterns need past a chunk, or one more, until 48 KiB of shared memory are full: patterns
//! have up to 381 bytes.
//!
//! Module `tran` has what both engines share, and the rule which of two chunks reports a match.
//!
//! Differences from the paper: its example fills 1,024 bytes by 16 work items, and it says neither
//! which sizes it measured nor how chunks lie in the banks.
//!
//! Tran, Lee, Hong and Choi, *Cache conscious parallel pattern matching for Aho-Corasick algorithm
//! on a GPU*, 2012, 4.2, fig. 7 to 9.

use crate::gpu::tran::{ChunkKernel, ChunkedSearch};
use fyke_core::{Device, Family, Growth, Info};
use fyke_gpu::kernel::{KernelSource, kernel_source};
use fyke_gpu::matcher::GpuEngine;

/// The entry of the registry.
pub static ENGINE: GpuEngine = GpuEngine {
    info: &Info {
        name: "gpu-ac-shared",
        device: Device::Gpu,
        family: Family::Paper,
        growth: Growth::Flat,
        about: "gpu-ac-global with the text staged in shared memory by coalesced loads of four bytes",
        source: "Tran et al. 2012, 4.2, fig. 7-9",
        variants: &["backend=opencl", "backend=cuda"],
    },
    prepare: |set, opt, device| ChunkedSearch::prepare(set, opt, device, KERNEL),
    options: &[],
};

static SOURCE: KernelSource = kernel_source!("gpu_ac_shared", ["gpu_ac_shared"]);

/// Work items of a group. Not measured: a guess.
const ITEMS: u32 = 128;

/// Longest pattern: chunks as long as it fill 48 KiB, which all devices have.
const LONGEST: usize = 381;

/// Fewest words of four bytes of a chunk. Not measured: a guess.
const FEWEST: u32 = 31;

const KERNEL: ChunkKernel = ChunkKernel {
    source: &SOURCE,
    kernel: "gpu_ac_shared",
    items: ITEMS,
    longest: LONGEST,
    positions: Some(positions),
};

/// Bytes of a chunk: an odd number of words, and at least as many as are read past it.
fn positions(after: u32) -> u32 {
    4 * (after.div_ceil(4).max(FEWEST) | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_have_an_odd_number_of_words_and_reach_over_the_longest_pattern() {
        for after in 0..LONGEST as u32 {
            let positions = positions(after);
            assert!(positions % 8 == 4 && positions >= after, "{after}: {positions}");
        }
        assert_eq!(
            (positions(0), positions(124), positions(125), positions(380)),
            (124, 124, 132, 380)
        );
    }

    #[test]
    fn a_group_fits_48_kib_until_patterns_are_too_long() {
        let bytes =
            |longest: u32| ITEMS * positions(longest - 1) + (longest - 1).next_multiple_of(16);
        assert!(bytes(LONGEST as u32) <= 48 << 10);
        assert!(bytes(LONGEST as u32 + 1) > 48 << 10);
    }
}
