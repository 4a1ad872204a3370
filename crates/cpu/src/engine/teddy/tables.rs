//! The lookup tables of the filter, for shuffles and for the scalar form.
//!
//! All derive from one table: for each offset and byte, the buckets that accept it. Bytes that a
//! shuffle cannot tell apart share an entry. AVX-512 and NEON look up 64 entries and merge bytes
//! with equal low six bits. AVX2 and simd128 look up 16 entries, with one table for low nibbles and
//! one for high nibbles. So a bucket accepts each of its low nibbles with each of its high ones.

use super::filter_plan::{FilterPlan, Window};
use super::grams::{allowed, code};
use super::pairs::PairTable;
use super::shape::FilterShape;
use crate::simd::gather::Gathers;
use fyke_core::{Pattern, PatternSet};

/// Up to this many short patterns are compared one by one. Two comparisons of four bytes cost
/// about as much as the shuffles for eight patterns. A guess: no benchmark has two short patterns.
const COMPARED: usize = 2;

/// The tables of the low and the high nibble. A byte is in the buckets of both.
pub(super) type Nibbles = [[u8; 16]; 2];

/// The tables of a filter.
pub(super) struct ShuffleTables {
    /// For a single pattern, instead of tables: two of its bytes with their case masks, and the
    /// distance of the second from the first.
    pub(super) two_bytes: Option<([[u8; 2]; 2], usize)>,
    /// For a filter by pairs of bytes, instead of the other tables.
    pub(super) pairs: Option<PairTable>,
    /// How pairs are looked up.
    pub(super) gathers: Gathers,
    pub(super) shape: FilterShape,
    /// Whether each window ends inside its pattern.
    pub(super) inside: bool,
    /// Whether to look up by shuffles for ASCII.
    pub(super) ascii: bool,
    /// For each offset, the buckets that accept each byte.
    pub(super) plain: Vec<[u32; 256]>,
    /// For shuffles of 64 entries: `[set * offsets + offset]`.
    pub(super) wide: Vec<[u8; 64]>,
    /// For shuffles of 16 entries, in the same order.
    pub(super) nibbles: Vec<Nibbles>,
}

impl ShuffleTables {
    pub(super) fn new(set: &PatternSet, filter: &FilterPlan) -> ShuffleTables {
        let two_bytes = |apart: usize| {
            let at = filter.windows[0].offset as usize;
            let bytes = compared(&set.get(filter.windows[0].pattern));
            ([bytes[at], bytes[at + apart]], apart)
        };
        let shape = filter.shape;
        let shuffled = if filter.pairs.is_none() { filter.windows.as_slice() } else { &[] };
        let mut plain = vec![[0; 256]; if shuffled.is_empty() { 0 } else { shape.offsets }];
        for w in shuffled {
            allow(&mut plain, &set.get(w.pattern), w.offset as usize, 1 << w.bucket);
        }
        let inside = |w: &Window| {
            isize::from(w.offset) + shape.offsets as isize <= set.pattern_len(w.pattern) as isize
        };
        let parts: Vec<[u8; 256]> = (0..shape.sets)
            .flat_map(|set| plain.iter().map(move |all| all.map(|b| (b >> (8 * set)) as u8)))
            .collect();
        ShuffleTables {
            two_bytes: filter.apart.map(two_bytes),
            pairs: filter.pairs.map(|shape| PairTable::new(set, shape, &filter.windows)),
            gathers: filter.gathers,
            shape,
            inside: filter.windows.iter().all(inside),
            ascii: filter.ascii,
            wide: parts.iter().map(wide).collect(),
            nibbles: parts.iter().map(nibbles).collect(),
            plain,
        }
    }

    /// From one tested position to the next.
    pub(super) fn step(&self) -> usize {
        self.pairs.as_ref().map_or(1, |table| table.shape().positions.step())
    }

    pub(super) fn memory(&self) -> u64 {
        let pairs = self.pairs.as_ref().map_or(0, |table| table.shape().memory()) as u64;
        pairs
            + (size_of_val(&*self.plain) + size_of_val(&*self.wide) + size_of_val(&*self.nibbles))
                as u64
    }
}

/// Adds a pattern to a bucket: its bytes at their offsets, and every byte beyond its end.
fn allow(tables: &mut [[u32; 256]], pattern: &Pattern<'_>, window: usize, bucket: u32) {
    for (table, at) in tables.iter_mut().zip(window..) {
        if at < pattern.bytes.len() {
            allowed(pattern, at).iter().for_each(|&byte| table[usize::from(byte)] |= bucket);
        } else {
            table.iter_mut().for_each(|buckets| *buckets |= bucket);
        }
    }
}

fn wide(buckets: &[u8; 256]) -> [u8; 64] {
    let mut table = [0; 64];
    (0..=255u8).for_each(|byte| table[code(byte)] |= buckets[usize::from(byte)]);
    table
}

fn nibbles(buckets: &[u8; 256]) -> Nibbles {
    let mut tables = [[0; 16]; 2];
    for (byte, buckets) in buckets.iter().enumerate() {
        tables[0][byte % 16] |= buckets;
        tables[1][byte / 16] |= buckets;
    }
    tables
}

/// Up to eight short patterns of one length, one bit each. Nibble tables are exact for them: a
/// pattern accepts one byte at an offset, or the two cases of a letter, which differ in the high
/// nibble only.
pub(super) struct ShortGroup {
    pub(super) patterns: Vec<u32>,
    /// The number of ids of each.
    pub(super) ids: Vec<u64>,
    /// Bytes of each.
    pub(super) len: usize,
    pub(super) plain: Vec<[u8; 256]>,
    pub(super) nibbles: Vec<Nibbles>,
    /// If there is one pattern, its bytes and their case masks: a comparison is cheaper than a
    /// shuffle.
    pub(super) one: Option<Vec<[u8; 2]>>,
    /// For each low and each high nibble of a set of patterns, one bit each, the total number of
    /// ids of these patterns. `None` if the total of all eight does not fit in a byte.
    pub(super) weights: Option<Nibbles>,
}

impl ShortGroup {
    /// Groups patterns that are sorted by length.
    pub(super) fn all(set: &PatternSet, shorts: &[u32]) -> Vec<ShortGroup> {
        let same = |a: &u32, b: &u32| set.pattern_len(*a) == set.pattern_len(*b);
        let size = if shorts.len() <= COMPARED { 1 } else { 8 };
        let eights = shorts.chunk_by(same).flat_map(|same| same.chunks(size));
        eights.map(|eight| ShortGroup::new(set, eight)).collect()
    }

    fn new(set: &PatternSet, patterns: &[u32]) -> ShortGroup {
        let len = set.pattern_len(patterns[0]);
        let mut plain = vec![[0; 256]; len];
        for (bit, &index) in patterns.iter().enumerate() {
            allow(&mut plain, &set.get(index), 0, 1 << bit);
        }
        let plain: Vec<[u8; 256]> = plain.iter().map(|table| table.map(|b| b as u8)).collect();
        let ids: Vec<u64> = patterns.iter().map(|&p| set.ids(p).len() as u64).collect();
        ShortGroup {
            len,
            nibbles: plain.iter().map(nibbles).collect(),
            plain,
            one: (patterns.len() == 1).then(|| compared(&set.get(patterns[0]))),
            weights: weights(&ids),
            patterns: patterns.to_vec(),
            ids,
        }
    }

    /// Which patterns these bytes are, one bit each. There are `len` bytes.
    #[inline(always)]
    pub(super) fn plain_bits(&self, bytes: &[u8]) -> u8 {
        let tables = bytes.iter().zip(&self.plain);
        tables.fold(u8::MAX, |all, (&byte, table)| all & table[usize::from(byte)])
    }

    pub(super) fn memory(&self) -> u64 {
        (size_of_val(&*self.plain) + size_of_val(&*self.nibbles) + size_of::<ShortGroup>()) as u64
    }
}

/// The bytes of a pattern, each with its case mask: 0x20 if it is a letter that ignores case, else
/// 0.
fn compared(pattern: &Pattern<'_>) -> Vec<[u8; 2]> {
    let fold = |b: u8| if pattern.nocase && b.is_ascii_alphabetic() { 0x20 } else { 0 };
    pattern.bytes.iter().map(|&b| [b, fold(b)]).collect()
}

fn weights(ids: &[u64]) -> Option<Nibbles> {
    let of = |bits: usize| -> u64 {
        ids.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1).map(|(_, n)| n).sum()
    };
    let small = of(0xff) <= u64::from(u8::MAX);
    let table = |shift: usize| std::array::from_fn(|bits| of(bits << shift) as u8);
    small.then(|| [table(0), table(4)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nibbles_are_exact_for_one_pattern_a_bit() {
        let mut b = PatternSet::builder();
        b.nocase(true).push("k").unwrap().push("[").unwrap();
        b.nocase(false).push("\u{7f}").unwrap().push("K").unwrap();
        let set = b.build();
        let groups = ShortGroup::all(&set, &[0, 1, 2, 3]);
        let [low, high] = groups[0].nibbles[0];
        for byte in 0..=255u8 {
            let both = low[usize::from(byte % 16)] & high[usize::from(byte / 16)];
            assert_eq!(both, groups[0].plain[0][usize::from(byte)], "{byte:#x}");
            let is = |p: &Pattern<'_>| p.is_match(&[byte]);
            let wanted = set.iter().filter(is).fold(0, |bits, p| bits | 1 << p.index);
            assert_eq!(both, wanted, "{byte:#x}");
        }
    }

    #[test]
    fn weights_count_ids_while_they_fit_a_byte() {
        let [low, high] = weights(&[1, 2, 3, 4, 5]).unwrap();
        assert_eq!((low[15], high[1], high[15]), (10, 5, 5));
        assert!(weights(&[200, 56]).is_none());
    }
}
