//! Finds the first match directly: no lists, no records. A call on a short haystack is over in the
//! time that these take to set up.

use super::TeddyMatcher;
use super::finder::{Finder, WithFinder, with_finder};
use super::loops::find_within;
use super::stage1::SPAN;
use super::tables::ShuffleTables;
use crate::simd::vector::{Vector, Work};
use fyke_core::{First, Match};

/// Comparisons that any haystack may take, and bytes for each further one. A hostile haystack
/// takes more: the caller has a fallback for it. A guess: `hostile` and `calls` would show it.
const COMPARISONS: usize = 64;
const BYTES_A_COMPARISON: usize = 16;

impl TeddyMatcher {
    /// See [`Matcher::find_first`](fyke_core::Matcher::find_first).
    pub(super) fn find_directly(&self, haystack: &[u8], first: First) -> Option<Option<Match>> {
        let (Some((tables, confirm)), []) = (&self.filter, &*self.shorts) else { return None };
        let most = COMPARISONS + haystack.len() / BYTES_A_COMPARISON;
        let (mut best, mut compared) = (None, 0);
        let see = |at: usize| {
            compared += 1 + confirm.matches_at(&self.set, haystack, at, |end, pattern| {
                let start = end - self.set.pattern_len(pattern);
                let new = Match { pattern: self.set.ids(pattern)[0], start, end };
                if best.is_none_or(|best| first.is_better(new, best)) {
                    best = Some(new);
                }
            });
            if compared > most {
                return 0;
            }
            // The window of a match begins at most `lead` bytes behind the match.
            match best {
                Some(best) => first.last_start(best).map_or(0, |start| start + self.lead + 1),
                None => usize::MAX,
            }
        };
        let work = Seek { tables, bytes: haystack, see };
        self.dispatch.run(work).ok()?;
        (compared <= most).then_some(best)
    }
}

/// Calls `see` with the position of each candidate, in order. It returns where to end.
struct Seek<'a, S> {
    tables: &'a ShuffleTables,
    bytes: &'a [u8],
    see: S,
}

impl<S: FnMut(usize) -> usize> Work for Seek<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, v: V) {
        with_finder(v, self.tables, self);
    }
}

impl<S: FnMut(usize) -> usize> WithFinder for Seek<'_, S> {
    type Output = ();
    const IS_SHORT: bool = true;

    #[inline(always)]
    fn run<V: Vector, F: Finder<V>>(mut self, v: V, finder: F) {
        let (bytes, mut at, mut end) = (self.bytes, 0, self.bytes.len());
        while at < end
            && let Some((first, four)) = next_four(v, &finder, &bytes[..], &mut at)
        {
            for (i, passed) in four.into_iter().enumerate() {
                end = self.see_all(passed, first + 64 * i, end);
            }
        }
        while at < end {
            let mut passed = 0;
            while passed == 0 && at < bytes.len() {
                passed = find_within(v, &finder, bytes, at);
                at += 64;
            }
            end = self.see_all(passed, at - 64, end);
        }
    }
}

/// Which of the next 256 positions pass, if any of them does, and the first of them. Moves `at`
/// behind them, or to the last bytes, of which there are too few.
#[inline(always)]
fn next_four<V: Vector, F: Finder<V>>(
    v: V,
    finder: &F,
    bytes: &[u8],
    at: &mut usize,
) -> Option<(usize, [u64; 4])> {
    // Four at a time: a branch for each takes as long as the filter.
    while let Some(spans) = bytes[*at..].first_chunk::<{ 3 * 64 + SPAN }>() {
        let (mut passed, mut any) = ([0; 4], 0);
        for (i, passed) in passed.iter_mut().enumerate() {
            let span: &[u8; SPAN] = spans[64 * i..].first_chunk().expect("four spans overlap");
            *passed = finder.find(v, span);
            any |= *passed;
        }
        *at += 4 * 64;
        if any != 0 {
            return Some((*at - 4 * 64, passed));
        }
    }
    None
}

impl<S: FnMut(usize) -> usize> Seek<'_, S> {
    /// Calls `see` for the bits set in a word, up to `end`. Returns the new end.
    #[inline(always)]
    fn see_all(&mut self, mut passed: u64, first: usize, mut end: usize) -> usize {
        while passed != 0 {
            let at = first + passed.trailing_zeros() as usize;
            passed &= passed - 1;
            if at >= end {
                break;
            }
            end = end.min((self.see)(at));
        }
        end
    }
}
