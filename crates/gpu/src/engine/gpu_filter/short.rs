//! Tables for patterns of one to three bytes.

use super::anchor::spellings;
use super::marks::SPREAD;
use fyke_core::PatternSet;

/// Lists of patterns by their bytes: `entries[ones[b]..ones[b + 1]]` are the patterns that are the
/// byte b, `twos` is the same for two bytes, and `threes` for the hash of three.
pub(super) struct ShortTables {
    /// A bit for each pair of bytes that a pattern may begin with.
    pub(super) heads: Vec<u32>,
    pub(super) ones: Vec<u32>,
    pub(super) twos: Vec<u32>,
    pub(super) threes: Vec<u32>,
    pub(super) log: u32,
    /// Pattern and bytes of each entry.
    pub(super) entries: Vec<u32>,
}

impl ShortTables {
    /// Builds the lists. `None` if no pattern is that short.
    pub(super) fn build(set: &PatternSet) -> Option<ShortTables> {
        let mut by_length: [Vec<(u32, u32)>; 3] = Default::default();
        for pattern in set.iter().filter(|p| p.bytes.len() < 4) {
            for spelled in spellings(pattern.bytes, pattern.nocase) {
                by_length[pattern.bytes.len() - 1].push((spelled as u32, pattern.index));
            }
        }
        if by_length.iter().all(Vec::is_empty) {
            return None;
        }
        let log = (by_length[2].len().max(1).ilog2() + 2).clamp(8, 24);
        let mut short = ShortTables {
            heads: vec![0; 2048],
            ones: Vec::new(),
            twos: Vec::new(),
            threes: Vec::new(),
            log,
            entries: Vec::new(),
        };
        let [mut ones, mut twos, mut threes] = by_length;
        short.ones = short.list(&mut ones, 1 << 8, |n| n);
        short.twos = short.list(&mut twos, 1 << 16, |n| n);
        short.threes = short.list(&mut threes, 1 << log, |n| n.wrapping_mul(SPREAD) >> (32 - log));
        for &(byte, _) in &ones {
            (0..256).for_each(|second| short.mark(byte | second << 8));
        }
        twos.iter().chain(&threes).for_each(|&(number, _)| short.mark(number & 0xffff));
        Some(short)
    }

    fn mark(&mut self, pair: u32) {
        self.heads[pair as usize >> 5] |= 1 << (pair & 31);
    }

    /// Appends entries in the order of their keys; returns where the list of each key begins.
    fn list(&mut self, items: &mut [(u32, u32)], keys: u32, key: impl Fn(u32) -> u32) -> Vec<u32> {
        items.sort_unstable_by_key(|&(number, pattern)| (key(number), number, pattern));
        let mut starts = Vec::with_capacity(keys as usize + 1);
        let mut rest = &items[..];
        for k in 0..=keys {
            let before = rest.iter().take_while(|&&(number, _)| key(number) < k).count();
            for &(number, pattern) in &rest[..before] {
                self.entries.extend([pattern, number]);
            }
            rest = &rest[before..];
            starts.push(self.entries.len() as u32 / 2);
        }
        starts
    }
}
