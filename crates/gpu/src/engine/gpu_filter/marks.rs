//! The filter's table: the bits that windows set, and the probability that a position passes by
//! chance.
//!
//! The table is a blocked Bloom filter (Bloom 1970; Putze, Sanders and Singler 2007): the hash of
//! a window selects a word. At stride 4 it selects the bit, too. At stride 2 a word has 16 bits
//! for the nibble before a window and 16 for the one after it, and every pair of the two passes:
//! four windows that share a word let sixteen pairs pass. A window at the end of its pattern is
//! worse, because it sets all 16 bits of the nibble after it.
//!
//! So the choice of a window determines what passes by chance, too. [`WindowTable::adds`] says how
//! much a window adds to that: nothing if other windows have set its bits.

use super::anchor::{Stride, count_spellings, spellings};
use fyke_core::Pattern;

/// Multipliers of the hashes; as in the kernel.
pub(super) const SPREAD: u32 = 0x9E37_79B1;
pub(super) const SPREAD_3: u32 = SPREAD << 8;
const SPREAD_WIDE: u32 = 0xC2B2_AE35;

/// The bits of all nibbles after a window, and of all before it.
const ALL_AFTER: u32 = 0x7fff_8000;
const ALL_BEFORE: u32 = 0xffff;

/// Spellings of a window whose bits are examined; the others are assumed to add as much. Not
/// measured: a guess.
const EXAMINED: usize = 8;

/// The bits of a window, in the word that its hash selects.
pub(super) struct WindowBits {
    hash: u32,
    bits: u32,
}

impl WindowBits {
    /// The bits of a window, first byte lowest, between the bytes of the pattern beside it.
    fn new(stride: Stride, window: u64, before: Option<u8>, after: Option<u8>) -> WindowBits {
        if stride != Stride::Two {
            let hash = first_hash(window);
            return WindowBits { hash, bits: 1 << (hash >> 7 & 31) };
        }
        let bits = before.map_or(ALL_BEFORE, bit_before) | after.map_or(ALL_AFTER, bit_after);
        WindowBits { hash: (window as u32).wrapping_mul(SPREAD_3), bits }
    }

    /// The bits of three equal bytes, with the same byte or with any byte on both sides.
    pub(super) fn of_run(byte: u8, inside: bool) -> WindowBits {
        let beside = inside.then_some(byte);
        WindowBits::new(Stride::Two, u64::from(byte) * 0x01_0101, beside, beside)
    }

    /// The bits of all spellings of a pattern's window at `k`.
    pub(super) fn of(
        pattern: &Pattern<'_>,
        k: usize,
        stride: Stride,
    ) -> impl Iterator<Item = WindowBits> + use<> {
        let bytes = pattern.bytes;
        let before = k.checked_sub(1).map(|b| bytes[b]);
        let after = bytes.get(k + stride.window()).copied();
        let windows = spellings(&bytes[k..k + stride.window()], pattern.nocase);
        windows.map(move |window| WindowBits::new(stride, window, before, after))
    }
}

/// The words of the filter's table.
pub(super) struct WindowTable {
    stride: Stride,
    pub(super) log: u32,
    pub(super) words: Vec<u32>,
    /// The number of words that each stands for.
    times: usize,
}

impl WindowTable {
    pub(super) fn new(stride: Stride, log: u32) -> WindowTable {
        WindowTable::part_of(stride, log, 1)
    }

    /// A sample of a table, for one pattern in `times`, a power of two: the probability that a
    /// position passes is that of the whole table.
    pub(super) fn part_of(stride: Stride, log: u32, times: usize) -> WindowTable {
        let log = log.saturating_sub(times.ilog2()).max(1);
        WindowTable { stride, log, words: vec![0; 1 << log], times }
    }

    fn place(&self, window: &WindowBits) -> usize {
        (window.hash >> (32 - self.log)) as usize
    }

    pub(super) fn set(&mut self, window: &WindowBits) {
        let at = self.place(window);
        self.words[at] |= window.bits;
    }

    /// The fraction of lookups in a word that pass, if every bit is equally likely.
    fn passing(&self, word: u32) -> f32 {
        let ones = |mask: u32| (word & mask).count_ones() as f32;
        match self.stride {
            Stride::Two => ones(ALL_BEFORE) * ones(ALL_AFTER) / 256.0,
            Stride::Four | Stride::FourWide => ones(!0) / 32.0,
        }
    }

    /// How much the bits of a pattern's window at `k` add to the probability that a position
    /// passes by chance, if every word is equally likely.
    pub(super) fn adds(&self, pattern: &Pattern<'_>, k: usize) -> f32 {
        let all = count_spellings(&pattern.bytes[k..k + self.stride.window()], pattern.nocase);
        let more = |added: WindowBits| {
            let word = self.words[self.place(&added)];
            self.passing(word | added.bits) - self.passing(word)
        };
        let examined =
            WindowBits::of(pattern, k, self.stride).take(EXAMINED).map(more).sum::<f32>();
        let each = examined / (all as f32).min(EXAMINED as f32);
        each * all as f32 / (self.words.len() * self.times) as f32
    }

    /// The probability that a position passes by chance, if every word and bit is equally likely.
    pub(super) fn chance(&self) -> f32 {
        self.words.iter().map(|w| self.passing(*w)).sum::<f32>() / self.words.len() as f32
    }
}

/// The bit for the low nibble of the byte before a window. Nibble 15 before and after share a bit,
/// because the kernel shifts both ways by a nibble's complement; nibble 0, that of spaces and
/// zeros, would let far more candidates pass.
fn bit_before(byte: u8) -> u32 {
    1 << (byte & 15)
}

/// The bit for the low nibble of the byte after a window.
fn bit_after(byte: u8) -> u32 {
    1 << (30 - (byte & 15))
}

/// The hash of a window of four bytes, or of eight.
pub(super) fn first_hash(window: u64) -> u32 {
    let (low, high) = (window as u32, (window >> 32) as u32);
    low.wrapping_mul(SPREAD).wrapping_add(high.wrapping_mul(SPREAD_WIDE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_core::{PatternId, PatternSet};

    fn set(patterns: &[&str], nocase: bool) -> PatternSet {
        let mut b = PatternSet::builder();
        for (i, bytes) in patterns.iter().enumerate() {
            b.push_with(PatternId(i as u32), bytes, nocase).unwrap();
        }
        b.build()
    }

    #[test]
    fn nibbles_on_both_sides_share_no_bit_but_that_of_15() {
        for (before, after) in (0..=255u8).flat_map(|b| (0..=255u8).map(move |a| (b, a))) {
            let is_15 = before & after & 15 == 15;
            assert_eq!(bit_before(before) == bit_after(after), is_15, "{before:x} {after:x}");
            assert_ne!(bit_before(before) & ALL_BEFORE, 0);
            assert_ne!(bit_after(after) & ALL_AFTER, 0);
        }
    }

    /// Against counting all pairs of nibbles that pass.
    #[test]
    fn what_a_window_adds_is_what_passes_then_and_did_not_before() {
        let set = set(&["xabcy", "zabcw", "abcy", "xabc"], false);
        let mut table = WindowTable::new(Stride::Two, 8);
        let all_pairs = |table: &WindowTable| -> f32 {
            let pass = |word: u32, before: u32, after: u32| {
                word << (!before & 15) & word >> (!after & 15) & 0x8000 != 0
            };
            let of = |word: &u32| {
                (0..256).filter(|n| pass(*word, n >> 4, n & 15)).count() as f32 / 256.0
            };
            table.words.iter().map(of).sum::<f32>() / 256.0
        };
        for pattern in set.iter() {
            let k = usize::from(pattern.bytes[0] != b'a');
            let before = all_pairs(&table);
            let adds = table.adds(&pattern, k);
            WindowBits::of(&pattern, k, Stride::Two).for_each(|m| table.set(&m));
            let added = all_pairs(&table) - before;
            assert!((table.chance() - before - added).abs() < 1e-7);
            assert!((adds - added).abs() < 1e-7, "{:?}: {adds}, {added}", pattern.bytes);
            assert_eq!(table.adds(&pattern, k), 0.0, "it is there now");
        }
    }

    #[test]
    fn a_window_at_an_end_of_its_pattern_adds_more_than_one_inside() {
        let set = set(&["Window of a pattern"], true);
        let pattern = set.get(0);
        let table = WindowTable::new(Stride::Two, 14);
        let adds = |k: usize| table.adds(&pattern, k);
        assert!(adds(0) > 10.0 * adds(1) && adds(16) > 10.0 * adds(1));
        // Seven letters have 128 spellings, each of which is a bit.
        let table = WindowTable::new(Stride::FourWide, 14);
        assert_eq!(WindowBits::of(&pattern, 11, Stride::FourWide).count(), 128);
        let bits = table.adds(&pattern, 11) * 32.0 * 16384.0;
        assert!((127.9..128.1).contains(&bits), "{bits}");
    }
}
