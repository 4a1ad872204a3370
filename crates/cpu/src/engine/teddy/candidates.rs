//! [`Candidates`]: the candidates of a haystack, one at a time, for searches that end soon. Such
//! a search needs no list of candidates.

use super::TeddyMatcher;
use super::find_next::{FindNextFn, Tested};
use super::stage1::SPAN;
use super::tables::ShuffleTables;
use crate::simd::Dispatch;

/// The candidates of a haystack, in order.
pub(super) struct Candidates<'a> {
    find_next: FindNextFn,
    dispatch: Dispatch,
    tables: &'a ShuffleTables,
    bytes: &'a [u8],
    /// The first of 64 positions, and which of them are still to be returned.
    first: usize,
    passed: u64,
    tested: Tested,
}

impl TeddyMatcher {
    /// The candidates of a haystack, from a multiple of the filter's step on.
    #[inline(always)]
    pub(super) fn candidates<'a>(
        &self,
        tables: &'a ShuffleTables,
        bytes: &'a [u8],
        from: usize,
    ) -> Candidates<'a> {
        let (find_next, dispatch) = (self.find_next, self.dispatch);
        let tested = Tested { next: from, ..Tested::default() };
        Candidates { find_next, dispatch, tables, bytes, first: 0, passed: 0, tested }
    }
}

impl Candidates<'_> {
    /// The next candidate.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<usize> {
        self.next_before(usize::MAX)
    }

    /// The next candidate, if it is before `end`. After `None`, the search must end: a candidate
    /// may be lost.
    #[inline(always)]
    pub(super) fn next_before(&mut self, end: usize) -> Option<usize> {
        if self.passed == 0 && !self.load_word(end) {
            return None;
        }
        let at = self.first + self.passed.trailing_zeros() as usize;
        self.passed &= self.passed - 1;
        (at < end).then_some(at)
    }

    /// Takes the next 64 positions with a candidate. False if there are none before `end`.
    #[inline(always)]
    fn load_word(&mut self, end: usize) -> bool {
        let tested = &mut self.tested;
        if tested.left != 0 {
            let i = tested.left.trailing_zeros() as usize % 4;
            tested.left &= tested.left - 1;
            (self.first, self.passed) = (tested.first + 64 * i, tested.passed[i]);
        } else if tested.next < end.min(self.bytes.len()) {
            // Windows of positions before `end` see all their bytes.
            let bytes = &self.bytes[..self.bytes.len().min(end.saturating_add(SPAN))];
            let (find_next, from) = (self.find_next, tested.next);
            (self.first, self.passed) = find_next(self.dispatch, self.tables, bytes, from, tested);
        }
        self.passed != 0
    }
}
