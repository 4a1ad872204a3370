//! Boyer-Moore for each pattern, with the bad-character function: what the file carver Scalpel 1.6 does.
//!
//! The pattern is laid over the text and compared from its right end. Where a pair of bytes differs, the
//! *bad-character function* B tells how far the pattern may be moved: `B(c)` is the distance from the end of
//! the pattern to the last c in it. After k pairs, the last of which differs, the pattern moves by `B(c) - k`
//! bytes, so that its last c comes to lie under the c of the text, or by one byte if that c is behind.
//! A byte that is not in the pattern counts as if it stood just before it: the pattern moves past it. After an
//! occurrence the pattern moves by one byte, so that overlapping occurrences are found.
//!
//! Wins: one long pattern, or a few, over a large alphabet: it looks at n / m bytes of n. Loses: many patterns,
//! since each takes a pass; short patterns; texts that repeat themselves. `aaa` in a text of the letter a
//! takes n m comparisons: the good-suffix rule, which would bound that, is not part of the method described.
//!
//! R. S. Boyer and J. S. Moore, *A fast string searching algorithm*, CACM 20(10), 1977; Zha 2010, 5.1.

use crate::cost::CostCounter;
use crate::cost::{Downcast, downcast};
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
    about: "Boyer-Moore with the bad-character function, a pass for each pattern: few long patterns",
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
/// The longest pattern and a byte that is not in it would need 65,536; they have 65,535, and the pattern moves
/// by a byte less than it might.
#[derive(Debug)]
struct BadCharacter(Box<[u16; 256]>);

impl BadCharacter {
    /// How far the pattern moves if the text has `byte` in the last of `compared` pairs.
    #[inline(always)]
    fn shift(&self, byte: u8, compared: usize) -> usize {
        usize::from(self.0[usize::from(byte)]).saturating_sub(compared).max(1)
    }
}

/// The number of the pair that differs, counted from the right end of the pattern laid at `start`.
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
        assert_eq!(bad.shift(b'd', 5), 1); // its only d is behind
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
    fn most_bytes_are_not_looked_at_in_the_best_case_and_all_of_them_often_in_the_worst() {
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
