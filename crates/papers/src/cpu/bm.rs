//! Boyer-Moore with the bad-character function, one pass per pattern: the search of Scalpel 1.6.
//!
//! The pattern is laid over the text and compared from its right end. Where a pair of bytes
//! differs, the *bad-character function* B tells how far the pattern may move: `B(c)` is the
//! distance from the end of the pattern to the last c in it. If pair k is the first that differs,
//! the pattern moves by `B(c) - k` bytes, so that its last c lies under the c of the text, or by
//! one byte if that c is already past. A byte that is not in the pattern counts as if it stood
//! just before it, so the pattern moves past the byte. After an occurrence the pattern moves by
//! one byte, so overlapping occurrences are found.
//!
//! Wins with one long pattern, or a few, over a large alphabet: it reads n / m of n bytes. Loses
//! with many patterns, because each takes a pass; with short patterns; and on repetitive text. The
//! pattern `aaa` in a text of the letter a takes n m comparisons: the described method does not
//! include the good-suffix rule, which would bound them.
//!
//! Source: R. S. Boyer and J. S. Moore, *A fast string searching algorithm*, CACM 20(10), 1977;
//! Zha 2010, 5.1.

use crate::cost::{CostCounter, Downcast, downcast};
use crate::passes::{Passes, Read, Search, Task};
use fyke_core::{Device, Engine, Family, Growth, Info, Matcher, Options, PatternSet, Refusal};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The entry of the registry.
pub static ENGINE: Bm = Bm;

static INFO: Info = Info {
    name: "bm",
    device: Device::Cpu,
    family: Family::Paper,
    growth: Growth::PerPattern,
    about: "Boyer-Moore with the bad-character function, one pass per pattern: for a few long patterns",
    source: "Boyer and Moore 1977; Zha 2010, 5.1",
    variants: &[""],
};

/// Counts the steps of its matchers.
pub(crate) const COUNTED: Downcast = downcast::<Passes<BadCharacter>>;

/// The engine.
#[derive(Debug)]
pub struct Bm;

impl Engine for Bm {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        Passes::<BadCharacter>::compile(&INFO, set, opt)
    }
}

/// The bad-character function, by byte.
///
/// For a byte that is not in a pattern of the greatest length the distance is 65,536. It is stored
/// as 65,535, so the pattern moves by one byte less than it could.
#[derive(Debug)]
struct BadCharacter(Box<[u16; 256]>);

impl BadCharacter {
    /// How far the pattern moves if pair `compared` is the first that differs and the text has
    /// `byte` there.
    #[inline(always)]
    fn shift(&self, byte: u8, compared: usize) -> usize {
        usize::from(self.0[usize::from(byte)]).saturating_sub(compared).max(1)
    }
}

/// The first pair that differs, counted from 1 at the right end of the pattern laid at `start`.
#[inline(always)]
fn differing_pair<R: Read, C: CostCounter>(
    task: &Task<'_, R>,
    start: usize,
    counter: &mut C,
) -> Option<usize> {
    let pattern = task.pattern;
    let equal =
        (0..pattern.len()).rev().take_while(|&j| pattern[j] == task.byte(start + j)).count();
    let pair = (equal < pattern.len()).then_some(equal + 1);
    counter.comparisons(pair.unwrap_or(equal) as u64);
    pair
}

impl Search for BadCharacter {
    fn new(pattern: &[u8]) -> Self {
        let distance = |position: usize| u16::try_from(position).unwrap_or(u16::MAX);
        let mut table = Box::new([distance(pattern.len() + 1); 256]);
        for (at, &byte) in pattern.iter().enumerate() {
            table[usize::from(byte)] = distance(pattern.len() - at);
        }
        BadCharacter(table)
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
        let len = task.pattern.len();
        let mut start = 0;
        while start + len <= task.text.len() {
            match differing_pair(&task, start, counter) {
                Some(pair) => start += self.shift(task.byte(start + len - pair), pair),
                None => {
                    found(start + len)?;
                    start += 1;
                }
            }
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::Cost;
    use crate::passes::Exact;

    fn search(pattern: &[u8], text: &[u8]) -> (Vec<usize>, u64) {
        let (mut ends, mut cost) = (Vec::new(), Cost::default());
        let task = Task { pattern, text, read: Exact };
        let flow = BadCharacter::new(pattern).find(task, &mut cost, &mut |end| {
            ends.push(end);
            ControlFlow::Continue(())
        });
        assert!(flow.is_continue());
        (ends, cost.comparisons)
    }

    /// Zha 2010, 5.1.
    #[test]
    fn the_bad_character_function_of_the_dissertation() {
        let bad = BadCharacter::new(b"abcabcd").0;
        assert_eq!(b"abcd".map(|c| bad[usize::from(c)]), [4, 3, 2, 1]);
        assert_eq!(bad[usize::from(b'x')], 8);
    }

    #[test]
    fn a_shift_brings_the_last_equal_byte_under_the_text() {
        let bad = BadCharacter::new(b"abcabcd");
        assert_eq!(bad.shift(b'a', 1), 3); // the second a moves from place 3 to place 6
        assert_eq!(bad.shift(b'a', 3), 1);
        assert_eq!(bad.shift(b'd', 5), 1); // its only d is past
        assert_eq!(bad.shift(b'x', 1), 7); // past the x
        assert_eq!(bad.shift(b'x', 7), 1);
    }

    #[test]
    fn overlapping_occurrences_are_found() {
        assert_eq!(search(b"aba", b"ababaxaba").0, [3, 5, 9]);
        assert_eq!(search(b"a", b"aba").0, [1, 3]);
        assert_eq!(search(b"abc", b"ab").0, [0; 0]);
    }

    #[test]
    fn the_best_case_skips_most_bytes_and_the_worst_reads_them_many_times() {
        assert_eq!(search(b"abcdefgh", &[b'x'; 800]).1, 100);
        assert_eq!(search(&[b'a'; 8], &[b'a'; 800]).1, 8 * 793);
    }

    #[test]
    fn the_longest_pattern_is_not_moved_too_far() {
        let pattern = [b'a'; 65_535];
        let bad = BadCharacter::new(&pattern);
        assert_eq!((bad.0[usize::from(b'x')], bad.shift(b'x', 65_535)), (65_535, 1));
        let text = [b"x".as_slice(), &pattern, b"a", b"x"].concat();
        assert_eq!(search(&pattern, &text).0, [65_536, 65_537]);
    }
}
