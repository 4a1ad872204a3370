//! [`Several`]: matches by the table, several at once.

use super::super::pool::{self, Lease};
use super::Short;
use super::table::GAP;
use fyke_automata::find_table::{FindTable, Place, Undecided};
use fyke_core::Match;

/// In a haystack of fewer bytes, the table finds one match at a time: to lease a state costs more
/// (`calls`).
pub(super) const LEAST_SEVERAL: usize = 48;

/// Walks over all matches of a haystack.
pub(in crate::searcher) struct Several<'a> {
    table: &'a FindTable,
    /// Where the average distance between matches is noted.
    notes: &'a Short,
    pub(in crate::searcher) haystack: &'a [u8],
    place: Place,
    /// Its `found` holds the matches that the table found last.
    state: Lease<'a>,
    /// How many of them were returned.
    given: usize,
}

impl<'a> Several<'a> {
    #[inline]
    pub(super) fn new(table: &'a FindTable, notes: &'a Short, haystack: &'a [u8]) -> Several<'a> {
        let mut state = pool::lease(None);
        state.found.clear();
        Several { table, notes, haystack, place: Place::default(), state, given: 0 }
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
        if self.place.is_at_end() {
            return Ok(None);
        }
        let found = &mut self.state.found;
        found.clear();
        self.given = 1;
        let gap = usize::from(GAP);
        self.table.find_several(self.haystack, &mut self.place, gap, found)?;
        if self.place.is_at_end() {
            self.notes.note(self.haystack.len() / (self.place.found() + 1));
        }
        Ok(found.first().copied())
    }

    /// The end of the last match, and how many there were.
    pub(in crate::searcher) fn passed(&self) -> (usize, usize) {
        (self.place.last(), self.place.found())
    }
}
