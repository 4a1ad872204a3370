//! AC3: `gpu-ac2` with coalesced reads. The work items of a group load their 14,592 bytes and the
//! overlap before them to shared memory, neighbors loading neighboring words of 16 bytes, and each
//! walks its 228 positions there.
//!
//! So every transaction moves needed bytes only, and a group reads each byte of its text once and
//! those of the overlap twice. In shared memory the lanes of a warp have to read from different
//! banks. Word i is in bank i mod 16 (mod 32 on current devices), and work item t is at word `t *
//! tWord + c`. **Theorem 1**: if `tWord` is odd, no two of 16 (32) neighbors read from the same
//! bank; else `(j - i) * tWord` would be divisible by 16 with `0 < j - i < 16`. Hence 228
//! positions, `tWord` = 57. With 56, eight of 16 would read from one bank at a time.
//!
//! It wins over `gpu-ac2` if the overlap is short beside 228: 904 MB take 434.03 ms instead of
//! 747.73 (table I, longest pattern 17 bytes). Shared memory bounds the group, so the positions
//! cannot grow with the longest pattern: with patterns of 4,096 bytes it walks 19 times the text,
//! `gpu-ac2` at most twice.
//!
//! Differences from the paper: it assumes an overlap that is a multiple of 16, and bytes before
//! the text that begin no pattern. Here the overlap is rounded up, and walks near the text's first
//! byte begin there. States have four bytes, see `gpu-ac1`.
//!
//! Zha and Sahni, *Multipattern string matching on a GPU*, 2011, fig. 5, theorem 1, VI-A1 (AC3).

use crate::gpu::dense::{DenseSearch, LadderKernel};
use fyke_core::{Device, Family, Growth, Info};
use fyke_gpu::kernel::{KernelSource, kernel_source};
use fyke_gpu::matcher::GpuEngine;

/// The entry of the registry.
pub static ENGINE: GpuEngine = GpuEngine {
    info: &Info {
        name: "gpu-ac3",
        device: Device::Gpu,
        family: Family::Paper,
        growth: Growth::Flat,
        about: "gpu-ac2 with the text staged in shared memory by the whole group, without bank conflicts",
        source: "Zha and Sahni 2011, fig. 5, theorem 1 (AC3)",
        variants: &["backend=opencl", "backend=cuda"],
    },
    prepare: |set, opt, device| DenseSearch::prepare(set, opt, device, KERNEL),
    options: &[],
};

static SOURCE: KernelSource = kernel_source!("gpu_ac3", ["gpu_ac3"]);

/// Work items of a group: T = 64 in the paper's VI-A.
pub(crate) const ITEMS: u32 = 64;

/// Words of four bytes that a work item computes the states of: odd, by theorem 1.
pub(crate) const T_WORD: u32 = 57;

const _: () = assert!(T_WORD % 2 == 1, "theorem 1");

const KERNEL: LadderKernel = LadderKernel {
    source: &SOURCE,
    kernel: "gpu_ac3",
    items: ITEMS,
    positions: 4 * T_WORD,
    texture: true,
    shared: staged,
};

/// Bytes of shared memory for a group's text and the overlap before it, in words of 16 bytes.
pub(crate) fn staged(overlap: u32) -> u32 {
    overlap.next_multiple_of(16) + ITEMS * 4 * T_WORD
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// The most of `banks` neighboring work items that read from one bank at a time.
    fn conflicts(t_word: u32, banks: u32) -> u32 {
        let bank = |item: u32| item * t_word % banks;
        (0..banks).map(|b| (0..banks).filter(|&i| bank(i) == b).count() as u32).max().unwrap()
    }

    #[test]
    fn an_odd_number_of_words_gives_each_of_a_half_warp_its_own_bank() {
        for banks in [16, 32] {
            for t_word in (1..256).step_by(2) {
                let seen: HashSet<u32> = (0..banks).map(|i| i * t_word % banks).collect();
                assert_eq!(seen.len(), banks as usize, "tWord = {t_word}, {banks} banks");
            }
            assert!((2..256).step_by(2).all(|even| conflicts(even, banks) > 1));
        }
    }

    /// IV-B1 and IV-B2 of the paper: 56 words are read in 8 rounds, 48 in 16; S_block = 14,592.
    #[test]
    fn the_papers_numbers() {
        assert_eq!((conflicts(56, 16), conflicts(48, 16), conflicts(T_WORD, 16)), (8, 16, 1));
        assert_eq!(staged(0), 14_592);
        assert_eq!(staged(16), 14_592 + 16);
        assert!(staged(4095) < 48 << 10);
    }
}
