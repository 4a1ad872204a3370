//! `gpu-ac-global` with the text staged: the work items of a group first read its chunks into shared memory together.
//!
//! Work item k reads word k of four bytes, then word k + 128 and so on until all is there (fig. 8 and 9), so that neighbours'
//! reads are one transaction. Then each walks its chunk, and `max_len - 1` bytes after it, in shared memory, where a read
//! takes "just a few clock cycles". In the paper it is 8 to 15.7 times as fast as its processor, `gpu-ac-global` 2.5 to
//! 7.6 times.
//!
//! Chunks have 31 words of four bytes: an odd number lets neighbours read from different banks, by theorem 1 of Zha and
//! Sahni (see `gpu-ac3`). Chunks for longer patterns have as many words as the patterns need past a chunk, or one more,
//! until 48 KiB of shared memory are full: patterns of up to 381 bytes are taken.
//!
//! What both engines share, and which of two chunks reports a match, is told in module `tran`.
//!
//! Where the paper differs: it fills 1,024 bytes by 16 work items as an example, and says neither what it measured with nor
//! how chunks lie in the banks.
//!
//! Tran, Lee, Hong and Choi, *Cache conscious parallel pattern matching for Aho-Corasick algorithm on a GPU*, 2012, 4.2,
//! fig. 7 to 9.

use crate::gpu::tran::{Chunked, Launch};
use fyke_core::{Device, Family, Growth, Info};
use fyke_gpu::kernel::{Source, source};
use fyke_gpu::matcher::GpuEngine;

/// The entry of the registry.
pub static ENGINE: GpuEngine = GpuEngine {
    info: &Info {
        name: "gpu-ac-shared",
        device: Device::Gpu,
        family: Family::Paper,
        growth: Growth::Flat,
        about: "gpu-ac-global with the text staged in shared memory by reads of four bytes side by side",
        source: "Tran et al. 2012, 4.2, fig. 7-9",
        variants: &["backend=opencl", "backend=cuda"],
    },
    prepare: |set, opt, device| Chunked::prepare(set, opt, device, LAUNCH),
    options: &[],
};

static SOURCE: Source = source!("gpu_ac_shared", ["gpu_ac_shared"]);

/// Work items of a group; not swept.
const ITEMS: u32 = 128;

/// Bytes of the longest pattern: chunks as long as it fill 48 KiB, which all devices have.
const LONGEST: usize = 381;

/// Fewest words of four bytes of a chunk; not swept.
const FEWEST: u32 = 31;

const LAUNCH: Launch = Launch {
    source: &SOURCE,
    kernel: "gpu_ac_shared",
    items: ITEMS,
    longest: LONGEST,
    positions: Some(positions),
};

/// Bytes of a chunk: an odd number of words, and no fewer than are read past it.
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
