//! [`Candidates`]: the candidates of a haystack, one at a time, for searches that end soon. They
//! need no list.

use super::TeddyMatcher;
use super::finder::FindNextFn;
use super::loops::More;
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
    more: More,
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
        let more = More { next: from, ..More::default() };
        Candidates { find_next, dispatch, tables, bytes, first: 0, passed: 0, more }
    }
}

impl Candidates<'_> {
    /// The next candidate.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<usize> {
        self.next_before(usize::MAX)
    }

    /// The next candidate, if it is before `end`.
    #[inline(always)]
    pub(super) fn next_before(&mut self, end: usize) -> Option<usize> {
        if self.passed == 0 && !self.go_on(end) {
            return None;
        }
        let at = self.first + self.passed.trailing_zeros() as usize;
        self.passed &= self.passed - 1;
        (at < end).then_some(at)
    }

    /// Goes on to the next 64 positions with a candidate. False if there are none before `end`.
    #[inline(always)]
    fn go_on(&mut self, end: usize) -> bool {
        let more = &mut self.more;
        if more.left != 0 {
            let i = more.left.trailing_zeros() as usize % 4;
            more.left &= more.left - 1;
            (self.first, self.passed) = (more.first + 64 * i, more.passed[i]);
        } else if more.next < end.min(self.bytes.len()) {
            let (find_next, from) = (self.find_next, more.next);
            (self.first, self.passed) =
                find_next(self.dispatch, self.tables, self.bytes, from, more);
        }
        self.passed != 0
    }
}
