//! [`BulkIter`]: matches by the table, those of a piece at once.

use super::super::pool::{self, Lease};
use super::Short;
use fyke_automata::find_table::{BulkWalk, FindTable, Undecided};
use fyke_core::Match;

/// In a haystack of fewer bytes, one walk is mostly faster than four, for which a state is leased.
/// Measured with 500 to 2,000 words of the King James Bible, in 40 to 159 bytes, on a Sapphire
/// Rapids and a Zen 1; `calls` has 53 bytes.
pub(super) const LEAST_BULK: usize = 64;

/// A walk by the table that finds the matches of a piece at once and keeps them in a leased state.
pub(in crate::searcher) struct BulkIter<'a> {
    table: &'a FindTable,
    /// Where the average distance between matches is noted.
    notes: &'a Short,
    pub(in crate::searcher) haystack: &'a [u8],
    walk: BulkWalk,
    /// Matches farther apart, on average, are left to the matcher.
    gap: usize,
    /// Its `found` holds the matches that the table found last.
    state: Lease<'a>,
    /// How many of them were returned.
    given: usize,
}

impl<'a> BulkIter<'a> {
    /// Not inlined: every call of `find_iter` would carry it.
    #[inline(never)]
    pub(super) fn new(
        table: &'a FindTable,
        gap: usize,
        notes: &'a Short,
        haystack: &'a [u8],
    ) -> BulkIter<'a> {
        let mut state = pool::lease(None);
        state.found.clear();
        BulkIter { table, notes, haystack, walk: BulkWalk::default(), gap, state, given: 0 }
    }

    /// The next match.
    ///
    /// # Errors
    /// [`Undecided`] if matches are so far apart that the matcher is faster.
    #[inline]
    pub(in crate::searcher) fn next(&mut self) -> Result<Option<Match>, Undecided> {
        if let Some(&m) = self.state.found.get(self.given) {
            self.given += 1;
            return Ok(Some(m));
        }
        self.find_more()
    }

    fn find_more(&mut self) -> Result<Option<Match>, Undecided> {
        if self.walk.is_at_end() {
            return Ok(None);
        }
        let found = &mut self.state.found;
        found.clear();
        self.given = 1;
        self.table.next_matches(self.haystack, &mut self.walk, self.gap, found)?;
        if self.walk.is_at_end() {
            self.notes.note(self.haystack.len() / (self.walk.found() + 1));
        }
        Ok(found.first().copied())
    }

    /// The end of the last match, and how many there were.
    pub(in crate::searcher) fn progress(&self) -> (usize, usize) {
        (self.walk.last(), self.walk.found())
    }
}
