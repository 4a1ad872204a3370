//! Jaiswal's "enhanced" Boyer-Moore: the bad-character rule in a form for many threads.
//!
//! The *Index table* (eq. 2) gives the place of the last occurrence of each byte in the pattern,
//! or -1. The pattern is compared from its right end; j is a place in the pattern and i the place
//! of the text under it. Where the two differ, and after an occurrence, the comparison resumes at
//! the end of the pattern and at place *MovDist* (eq. 3) of the text,
//!
//! ```text
//! MovDist = i + m - min(j, 1 + Index[T[i]])
//! ```
//!
//! This moves the pattern so that its last `T[i]` lies under that byte, or by one if that would
//! move it back. After an occurrence j is 0, which moves the pattern by one. For n / t bytes per
//! thread the paper gives each thread `n / t + (m - 1)` bytes (eq. 1), so that no occurrence is
//! lost at a boundary. [`part`](crate::passes::part) and [`reach`](crate::passes::reach) cut the
//! text that way.
//!
//! # Errors in the paper
//! * Eq. 3 is right for every i and j at which a comparison can end. But the text says "where j =
//!   m-1, i = n-1", which names neither that place nor the start. With a constant j the pattern
//!   moves *back* and the search never ends; from i = n-1 only the end of the text is compared.
//!   The search starts at i = m-1.
//! * Eq. 1 loses the end of the text if n / t is rounded down. It must be rounded up.
//! * The shifts are those of [Boyer-Moore](super::bm) with the bad-character function, which
//!   counts from the other end of the pattern: `B(c) = m - Index[c]`. Both make the same
//!   comparisons.
//!
//! A test shows each. Wins and loses as [`bm`](super::bm) does.
//!
//! Source: M. Jaiswal, *Accelerating enhanced Boyer-Moore string matching algorithm on multicore
//! GPU for network security*, 2014, 3.1 and 3.2.

use crate::cost::{CostCounter, Downcast, downcast};
use crate::passes::{Passes, Read, Search, Task};
use fyke_core::{Device, Engine, Family, Growth, Info, Matcher, Options, PatternSet, Refusal};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The entry of the registry.
pub static ENGINE: Ebm = Ebm;

static INFO: Info = Info {
    name: "ebm",
    device: Device::Cpu,
    family: Family::Paper,
    growth: Growth::PerPattern,
    about: "enhanced Boyer-Moore: Index table and MovDist, one pass per pattern",
    source: "Jaiswal 2014, 3.1-3.2",
    variants: &[""],
};

/// Counts the steps of its matchers.
pub(crate) const COUNTED: Downcast = downcast::<Passes<IndexTable>>;

/// The engine.
#[derive(Debug)]
pub struct Ebm;

impl Engine for Ebm {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        Passes::<IndexTable>::compile(&INFO, set, opt)
    }
}

/// The Index table of a pattern, for engines on other devices. Each entry is one more than
/// printed.
pub fn index_table(pattern: &[u8]) -> Vec<u16> {
    IndexTable::new(pattern).0.to_vec()
}

/// The Index table of eq. 2, by byte. Each entry is one more than printed, as eq. 3 uses it: 0 for
/// a byte that is not in the pattern, and at most the length of the pattern.
#[derive(Debug)]
struct IndexTable(Box<[u16; 256]>);

impl IndexTable {
    /// Eq. 3: where in the text the comparison resumes if it ended at place `j` of a pattern of
    /// `m` bytes and at place `i` of the text, which has `byte` there.
    #[inline(always)]
    fn mov_dist(&self, m: usize, i: usize, j: usize, byte: u8) -> usize {
        i + m - j.min(usize::from(self.0[usize::from(byte)]))
    }
}

impl Search for IndexTable {
    fn new(pattern: &[u8]) -> Self {
        let mut table = Box::new([0; 256]);
        for (place, &byte) in pattern.iter().enumerate() {
            table[usize::from(byte)] = place as u16 + 1;
        }
        IndexTable(table)
    }

    fn table_bytes(_len: usize) -> u64 {
        2 * 256
    }

    #[inline]
    fn find<R: Read, C: CostCounter>(
        &self,
        task: Task<'_, R>,
        counter: &mut C,
        found: &mut impl FnMut(usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let m = task.pattern.len();
        let (mut i, mut j) = (m - 1, m - 1);
        while i < task.text.len() {
            let byte = task.byte(i);
            counter.comparisons(1);
            let equal = byte == task.pattern[j];
            if equal && j > 0 {
                (i, j) = (i - 1, j - 1);
                continue;
            }
            if equal {
                found(i + m)?;
            }
            (i, j) = (self.mov_dist(m, i, j, byte), m - 1);
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::CostOf;
    use crate::cpu::bm;
    use crate::passes::{Exact, part, reach};
    use fyke_core::Block;
    use std::ops::Range;

    fn search(pattern: &[u8], text: &[u8]) -> Vec<usize> {
        let mut ends = Vec::new();
        let task = Task { pattern, text, read: Exact };
        let flow =
            IndexTable::new(pattern).find(task, &mut fyke_automata::count::Uncounted, &mut |end| {
                ends.push(end);
                ControlFlow::Continue(())
            });
        assert!(flow.is_continue());
        ends
    }

    /// All strings of `len` letters a and b.
    fn words(len: usize) -> impl Iterator<Item = Vec<u8>> {
        (0..1 << len).map(move |bits| (0..len).map(|i| b'a' + (bits >> i & 1) as u8).collect())
    }

    #[test]
    fn the_index_table_of_equation_2() {
        let table = IndexTable::new(b"abcabcd").0;
        let index = |byte: u8| i32::from(table[usize::from(byte)]) - 1;
        assert_eq!(b"abcdx".map(index), [3, 4, 5, 6, -1]);
    }

    /// Equation 3 moves the pattern to the right and skips no place where it matches.
    #[test]
    fn equation_3_misses_nothing() {
        for (m, pattern) in (1..=4).flat_map(|m| words(m).map(move |w| (m, w))) {
            let table = IndexTable::new(&pattern);
            for text in words(8) {
                for end in m..=8 {
                    let window = &text[end - m..end];
                    let j = (0..m).rev().find(|&j| pattern[j] != window[j]).unwrap_or(0);
                    let next = 1 + table.mov_dist(m, end - m + j, j, window[j]);
                    assert!(next > end);
                    let missed = (end + 1..next.min(9)).find(|&e| text[e - m..e] == *pattern);
                    assert_eq!(missed, None, "{pattern:?} in {text:?} after {end}");
                }
            }
        }
    }

    /// With j = m-1 as printed, instead of the place where the comparison ended, the pattern moves
    /// back.
    #[test]
    fn equation_3_with_a_constant_j_moves_back() {
        let (m, table) = (3, IndexTable::new(b"baa"));
        // "aaa" under "baa" differs at place 0 of both.
        assert_eq!(table.mov_dist(m, 0, 0, b'a'), 3);
        assert_eq!(table.mov_dist(m, 0, m - 1, b'a'), 1);
    }

    /// "PQR" on the boundary of segments 3 and 4 of 16 bytes, as in figs 2 to 4 of the paper.
    #[test]
    fn equation_1_gives_each_thread_its_share_and_the_overlap() {
        let text = b"abcdefghijPQRlmn";
        let shares = (0..4).map(|k| reach(part(16, 4, k), 3)).collect::<Vec<_>>();
        assert_eq!(shares, [0..4, 2..8, 6..12, 10..16]);
        assert!(shares[1..].iter().all(|s| s.len() == 16 / 4 + (3 - 1)));
        let finds = |range: &Range<usize>| !search(b"PQR", &text[range.clone()]).is_empty();
        assert!(!(0..4).any(|k| finds(&part(16, 4, k))));
        assert_eq!(shares.iter().map(finds).collect::<Vec<_>>(), [false, false, false, true]);
    }

    /// 11 bytes, 4 threads, m = 2: rounded down, the threads reach 3 * 2 + (2 + 1) = 9 bytes.
    #[test]
    fn equation_1_must_round_up() {
        let (n, threads, m) = (11, 4, 2);
        assert!((threads - 1) * (n / threads) + n / threads + (m - 1) < n);
        for n in 0..40 {
            let parts: Vec<_> = (0..threads).map(|k| part(n, threads, k)).collect();
            assert_eq!((parts[0].start, parts[threads - 1].end), (0, n));
            assert!(parts.windows(2).all(|w| w[0].end == w[1].start));
        }
    }

    #[test]
    fn overlapping_occurrences_are_found() {
        assert_eq!(search(b"aba", b"ababaxaba"), [3, 5, 9]);
        assert_eq!(search(b"a", b"aba"), [1, 3]);
        assert_eq!(search(b"abc", b"ab"), [0; 0]);
    }

    #[test]
    fn it_makes_the_comparisons_of_boyer_moore() {
        let text: Vec<u8> = words(9).flatten().collect();
        for pattern in (1..=5).flat_map(words) {
            let set = PatternSet::new([pattern]).unwrap();
            let cost = |engine: &dyn Engine| {
                engine
                    .compile(&set, &Options::default())
                    .unwrap()
                    .cost(Block::whole(&text))
                    .unwrap()
            };
            assert_eq!(cost(&ENGINE), cost(&bm::ENGINE));
        }
    }
}
