//! Wu-Manber: shifts by blocks of two or three bytes, then a hash table and a prefix.
//!
//! With many patterns every byte is near the end of one of them, so a bad character gives short
//! shifts. A block of B bytes is rarer. For the block that ends a window, SHIFT holds the smallest
//! distance from that block to the end of a pattern; a block in no pattern lets the window move by
//! all but B - 1 of its bytes. Where SHIFT is 0, HASH lists the patterns that end with the block,
//! and PREFIX holds the first two bytes of their windows, so few patterns are compared in full.
//! Then the window moves by one. The lists are sorted by prefix and searched, where the paper
//! scans them, because many patterns may share a last block (English words that end in "ing").
//!
//! B is 2 or 3. Wu and Manber take log_c 2M for M bytes of patterns over an alphabet of c bytes,
//! and so does `block=auto`. Two bytes index SHIFT directly; three are hashed into it, and blocks
//! that share a place share the smaller shift.
//!
//! One thing is reversed: the paper reads the first bytes of longer patterns, this engine their
//! last ones. So all patterns end where the window ends, and matches come in order.
//!
//! Wins among the engines that skip bytes, with hundreds of patterns, or thousands of at least
//! eight bytes; large sets take the least memory here. Loses in a small alphabet, where blocks of
//! three bytes are frequent. One short pattern makes all shifts short, and a pattern shorter than
//! a block is refused.
//!
//! Source: S. Wu and U. Manber, *A fast algorithm for multi-pattern searching*, TR 94-17,
//! University of Arizona, 1994; Zha (2010), section 5.6 (WuM, table 5-5).

use crate::cost::{CostCounter, Downcast, downcast};
use crate::shift::{Shifter, Window};
use fyke_automata::CaseFold;
use fyke_core::{
    Device, Engine, Family, Footprint, Growth, Info, Matcher, Options, PatternSet, Refusal,
};
use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

/// The entry of the registry.
pub static ENGINE: WuManber = WuManber;

static INFO: Info = Info {
    name: "wu-manber",
    device: Device::Cpu,
    family: Family::Paper,
    growth: Growth::Flat,
    about: "Wu-Manber: skips bytes by blocks of two or three, for many patterns that are all long",
    source: "Wu and Manber 1994; Zha 2010, 5.6",
    variants: &["", "block=2", "block=3"],
};

/// Counts the steps of its matchers.
pub(crate) const COUNTED: Downcast =
    |m| downcast::<Shifter<Tables<2>>>(m).or_else(|| downcast::<Shifter<Tables<3>>>(m));

/// The engine.
#[derive(Debug)]
pub struct WuManber;

impl Engine for WuManber {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        opt.check_params(&["block"])?;
        match opt.choice("block", &["auto", "2", "3"])? {
            "2" => compile::<2>(set, opt),
            "3" => compile::<3>(set, opt),
            _ if block_for(set) == 2 => compile::<2>(set, opt),
            _ => compile::<3>(set, opt),
        }
    }
}

fn compile<const B: usize>(set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
    let have = set.min_len();
    if have < B && !set.is_empty() {
        return Err(Refusal::TooShort { min: B, have });
    }
    opt.check_memory(Tables::<B>::memory_for(set))?;
    Ok(Shifter::matcher(set, Tables::<B>::new(set)))
}

/// The block length for a set: log_c 2M, limited to 2 and 3, and to 2 if a pattern is shorter than
/// 3.
fn block_for(set: &PatternSet) -> usize {
    let fold = CaseFold::of(set);
    let mut used = [false; 256];
    set.iter().for_each(|p| {
        window_of(set, p.index).iter().for_each(|&b| used[usize::from(fold.byte(b))] = true);
    });
    let alphabet = used.iter().filter(|used| **used).count();
    let bytes = set.len() * set.min_len();
    if set.min_len() < 3 || alphabet * alphabet >= 2 * bytes { 2 } else { 3 }
}

/// The last bytes of a pattern, which a window is compared with.
fn window_of(set: &PatternSet, pattern: u32) -> &[u8] {
    let bytes = set.bytes(pattern);
    &bytes[bytes.len() - set.min_len()..]
}

/// Places of SHIFT and HASH for blocks of three bytes, as powers of two: at least 2^12, which fit
/// the L1 cache, and at most 2^20, which take 6 MiB.
const HASH_BITS: std::ops::RangeInclusive<u32> = 12..=20;

/// Places of SHIFT per block of the patterns. With four, most blocks of a haystack that are in no
/// pattern hash to a place that no pattern uses.
const PLACES_PER_BLOCK: u64 = 4;

/// Spreads the 24 bits of a block over 32: 2^32 divided by the golden ratio (Knuth, volume 3,
/// 6.4).
const HASH_FACTOR: u32 = 0x9e37_79b9;

/// Bytes of the prefix, as Wu and Manber have it.
const PREFIX_BYTES: usize = 2;

/// SHIFT, HASH and PREFIX for blocks of B bytes.
struct Tables<const B: usize> {
    set: PatternSet,
    fold: CaseFold,
    /// Bytes of the window: those of the shortest pattern.
    window: usize,
    /// Bits of a place number.
    bits: u32,
    shift: Vec<u16>,
    /// The patterns whose last block hashes to place h: `entries[first[h]..first[h + 1]]`.
    first: Vec<u32>,
    /// Sorted by place, then by prefix, then longest first.
    entries: Vec<Entry>,
}

/// A pattern in a bucket.
#[derive(Clone, Copy, Debug)]
struct Entry {
    pattern: u32,
    /// The first bytes of its window.
    prefix: [u8; PREFIX_BYTES],
}

impl<const B: usize> Tables<B> {
    fn new(set: &PatternSet) -> Self {
        let bits = Self::bits_for(set);
        let places = 1 << bits;
        let window = set.min_len();
        let mut tables = Tables {
            set: set.clone(),
            fold: CaseFold::of(set),
            window,
            bits,
            shift: vec![(window + 1).saturating_sub(B) as u16; places],
            first: vec![0; places + 1],
            entries: Vec::new(),
        };
        tables.fill_shifts();
        tables.fill_buckets();
        tables
    }

    /// Two bytes index SHIFT directly.
    fn bits_for(set: &PatternSet) -> u32 {
        if B == 2 {
            return 16;
        }
        let blocks = (set.len() * (set.min_len() + 1).saturating_sub(B)) as u64;
        let bits = (PLACES_PER_BLOCK * blocks).max(1).next_power_of_two().ilog2();
        bits.clamp(*HASH_BITS.start(), *HASH_BITS.end())
    }

    /// Bytes of memory that the tables of a set take.
    fn memory_for(set: &PatternSet) -> u64 {
        let places = 1_u64 << Self::bits_for(set);
        let entries = (set.len() * size_of::<Entry>()) as u64;
        2 * places + 4 * (places + 1) + entries + Shifter::<Self>::memory_for(set)
    }

    fn memory(&self) -> u64 {
        let words = 2 * self.shift.len() + 4 * self.first.len();
        (words + size_of_val(&*self.entries)) as u64
    }

    fn fill_shifts(&mut self) {
        for pattern in 0..self.set.len() as u32 {
            let blocks = window_of(&self.set, pattern).windows(B).rev();
            for (distance, block) in blocks.enumerate() {
                let shift = &mut self.shift[place::<B>(block, self.fold, self.bits)];
                *shift = (distance as u16).min(*shift);
            }
        }
    }

    fn fill_buckets(&mut self) {
        let (set, fold, bits) = (&self.set, self.fold, self.bits);
        let place = |pattern: u32| {
            let bytes = set.bytes(pattern);
            place::<B>(&bytes[bytes.len() - B..], fold, bits)
        };
        let prefix = |pattern: u32| {
            let window = window_of(set, pattern);
            [fold.byte(window[0]), fold.byte(window[1])]
        };
        let all = 0..set.len() as u32;
        self.entries = all.map(|pattern| Entry { pattern, prefix: prefix(pattern) }).collect();
        self.entries.sort_unstable_by_key(|entry| {
            let i = entry.pattern;
            (place(i), entry.prefix, Reverse(set.pattern_len(i)), i)
        });
        self.entries.iter().for_each(|entry| self.first[place(entry.pattern) + 1] += 1);
        for h in 1..self.first.len() {
            self.first[h] += self.first[h - 1];
        }
    }

    #[inline(always)]
    fn bucket(&self, place: usize) -> Range<usize> {
        self.first[place] as usize..self.first[place + 1] as usize
    }

    /// Whether a text ends with a pattern, under the case folding of the set.
    #[inline]
    fn ends_with<C: CostCounter>(&self, text: &[u8], pattern: u32, counter: &mut C) -> bool {
        let bytes = self.set.bytes(pattern);
        let Some(start) = text.len().checked_sub(bytes.len()) else { return false };
        counter.comparisons(bytes.len() as u64);
        match self.fold {
            CaseFold::Exact => text[start..] == *bytes,
            CaseFold::Lower => text[start..].eq_ignore_ascii_case(bytes),
        }
    }
}

/// The entries of a bucket that have a prefix. They are one run of the sorted bucket, which a
/// binary search finds.
#[inline]
fn with_prefix<'a, C: CostCounter>(
    bucket: &'a [Entry],
    prefix: [u8; PREFIX_BYTES],
    counter: &mut C,
) -> &'a [Entry] {
    let first = bucket.partition_point(|entry| {
        counter.comparisons(1);
        entry.prefix < prefix
    });
    let run = bucket[first..].iter().take_while(|entry| entry.prefix == prefix).count();
    &bucket[first..first + run]
}

/// The place of a block in SHIFT and HASH.
#[inline(always)]
fn place<const B: usize>(block: &[u8], fold: CaseFold, bits: u32) -> usize {
    let key = block[..B].iter().fold(0, |key, &b| key << 8 | u32::from(fold.byte(b)));
    let place = if B == 2 { key } else { key.wrapping_mul(HASH_FACTOR) >> (32 - bits) };
    place as usize
}

impl<const B: usize> Window for Tables<B> {
    fn info(&self) -> &'static Info {
        &INFO
    }

    #[inline(always)]
    fn skip<C: CostCounter>(&self, bytes: &[u8], mut end: usize, counter: &mut C) -> usize {
        while let Some(block) = bytes.get(end - B..end) {
            counter.comparisons(1);
            match self.shift[place::<B>(block, self.fold, self.bits)] {
                0 => break,
                shift => end += usize::from(shift),
            }
        }
        end
    }

    #[inline(always)]
    fn verify<C: CostCounter>(
        &self,
        text: &[u8],
        counter: &mut C,
        mut report: impl FnMut(u32),
    ) -> usize {
        let start = text.len() - self.window;
        let prefix = [self.fold.byte(text[start]), self.fold.byte(text[start + 1])];
        let bucket = self.bucket(place::<B>(&text[text.len() - B..], self.fold, self.bits));
        for entry in with_prefix(&self.entries[bucket], prefix, counter) {
            if self.ends_with(text, entry.pattern, counter) {
                report(entry.pattern);
            }
        }
        1
    }

    fn footprint(&self) -> Footprint {
        Footprint { host: self.memory(), device: 0 }
    }

    fn stats(&self) -> Vec<(String, u64)> {
        let sizes = || self.first.windows(2).map(|w| u64::from(w[1] - w[0]));
        let numbers = [
            ("block", B as u64),
            ("window", self.window as u64),
            ("shift table bytes", size_of_val(&*self.shift) as u64),
            ("buckets", sizes().filter(|size| *size > 0).count() as u64),
            ("largest bucket", sizes().max().unwrap_or(0)),
        ];
        numbers.map(|(name, number)| (name.to_owned(), number)).into()
    }

    fn describe(&self) -> String {
        let (places, bytes) = (self.shift.len(), self.memory());
        format!("blocks of {B} in a window of {}, {places} shifts, {bytes} bytes", self.window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shift::tests as shared;
    use fyke_automata::count::Uncounted;

    fn refusal(patterns: &[&str], options: &str) -> Option<Refusal> {
        let set = PatternSet::new(patterns).unwrap();
        ENGINE.compile(&set, &Options::with_params(options).unwrap()).err()
    }

    #[test]
    fn a_pattern_shorter_than_a_block_is_refused() {
        let short = |min, have| Some(Refusal::TooShort { min, have });
        assert_eq!(refusal(&["abc", "d"], ""), short(2, 1));
        assert_eq!(refusal(&["abc", "de"], "block=3"), short(3, 2));
        assert_eq!(refusal(&["abc", "de"], ""), None);
        assert_eq!(refusal(&[], "block=3"), None);
        assert!(matches!(refusal(&["abc"], "block=1"), Some(Refusal::BadOption(_))));
    }

    /// c^2 against 2M: 26 letters have 676 pairs; 56 patterns of 6 bytes stay below, 57 do not.
    #[test]
    fn blocks_are_longer_for_large_sets() {
        let letters = |i: usize| (b'a' + (i % 26) as u8) as char;
        let words = |count: usize| {
            let word = |i| format!("{}{}abcd", letters(i), letters(i / 26));
            PatternSet::new((0..count).map(word)).unwrap()
        };
        assert_eq!((words(56).len(), words(57).len()), (56, 57));
        assert_eq!((block_for(&words(56)), block_for(&words(57))), (2, 3));
        let pairs = PatternSet::new(
            (0..500).map(|i| [letters(i), letters(i / 26)].iter().collect::<String>()),
        );
        assert_eq!(block_for(&pairs.unwrap()), 2, "a pattern of two bytes has no block of three");
    }

    #[test]
    fn shifts_of_a_small_set() {
        let set = PatternSet::new(["abcde", "xxbcbde"]).unwrap();
        let tables = Tables::<2>::new(&set);
        let shift = |block: &[u8; 2]| tables.shift[place::<2>(block, CaseFold::Exact, 16)];
        assert_eq!(
            [b"de", b"cd", b"bc", b"ab", b"bd", b"cb", b"xb"].map(shift),
            [0, 1, 2, 3, 1, 2, 4]
        );
        let bucket = tables.bucket(place::<2>(b"de", CaseFold::Exact, 16));
        let entries = tables.entries[bucket].iter().map(|e| (e.pattern, &e.prefix));
        assert!(entries.eq([(0, b"ab"), (1, b"bc")]));
    }

    #[test]
    fn a_bucket_is_searched_and_longest_comes_first() {
        let set =
            PatternSet::new(["aaxyz", "abxyz", "zabxyz", "yabxyz", "acxyz", "adxyz"]).unwrap();
        let tables = Tables::<3>::new(&set);
        let mut found = Vec::new();
        assert_eq!(tables.verify(b"..zabxyz", &mut Uncounted, |pattern| found.push(pattern)), 1);
        assert_eq!(
            found.iter().map(|&p| set.bytes(p)).collect::<Vec<_>>(),
            [&b"zabxyz"[..], b"abxyz"]
        );
        let mut cost = crate::cost::Cost::default();
        tables.verify(b"..zaexyz", &mut cost, |_| unreachable!());
        assert!(cost.comparisons <= 4, "six entries: {cost:?}");
    }

    #[test]
    fn the_hash_of_three_is_bounded() {
        let set = |count: u32| PatternSet::new((0..count).map(u32::to_le_bytes)).unwrap();
        let places = |count| Tables::<3>::new(&set(count)).shift.len();
        assert_eq!((places(10), places(1000), places(200_000)), (1 << 12, 1 << 13, 1 << 20));
    }

    #[test]
    fn the_stats_have_the_tables() {
        let set = PatternSet::new(["abcde", "xxbcbde", "zzzzzz"]).unwrap();
        let m = ENGINE.compile(&set, &Options::default()).unwrap();
        let stats = m.stats();
        let stats: Vec<_> = stats.iter().map(|(name, n)| (name.as_str(), *n)).collect();
        let tables = [("block", 2), ("window", 5), ("shift table bytes", 131_072)];
        assert_eq!(stats, [&tables[..], &[("buckets", 2), ("largest bucket", 2)]].concat());
    }

    #[test]
    fn equals_the_oracle_on_hostile_input() {
        shared::equals_the_oracle_on_hostile_input(&ENGINE);
    }

    #[test]
    fn most_bytes_are_never_read() {
        shared::most_bytes_are_never_read(&ENGINE);
    }

    #[test]
    fn the_memory_limit_is_checked_before_building() {
        shared::the_memory_limit_is_checked_before_building(&ENGINE, Tables::<3>::memory_for);
    }
}
