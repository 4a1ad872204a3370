//! [`BulkIter`]: matches by an automaton, those of a piece at once.

use super::super::pool::{self, Lease};
use super::Short;
use super::automata::Automaton;
use fyke_automata::find_table::{BulkWalk, Undecided};
use fyke_automata::find_trie::TrieWalk;
use fyke_automata::{FindTable, FindTrie};
use fyke_core::Match;

/// In a haystack of fewer bytes, no state is leased: a
/// [`WholeWalk`](fyke_automata::find_table::WholeWalk) or one walk finds the matches. Measured
/// against one walk with 500 to 2,000 words of the King James Bible, in 40 to 159 bytes, on a
/// Sapphire Rapids and a Zen 1. Measured against a whole walk with 2,000 and 10,000 words, in 53 to
/// 64 bytes, on a Sapphire Rapids. `calls` has 53 bytes.
pub(super) const LEAST_BULK: usize = 64;

/// The same where there is no table: the trie gains only the calls for each match. Measured with
/// 2,000 words of 8 letters and more, in 128 and 256 bytes, on a Zen 3.
pub(super) const LEAST_BULK_OF_TRIE: usize = 512;

/// A walk that finds the matches of a piece at once and keeps them in a leased state.
pub(in crate::searcher) struct BulkIter<'a> {
    by: BulkBy<'a>,
    /// Where the average distance between matches is noted.
    notes: &'a Short,
    pub(in crate::searcher) haystack: &'a [u8],
    /// Matches farther apart, on average, are left to the matcher.
    gap: usize,
    /// Its `found` holds the matches that were found last.
    state: Lease<'a>,
    /// How many of them were returned.
    given: usize,
}

enum BulkBy<'a> {
    Table(&'a FindTable, BulkWalk),
    Trie(&'a FindTrie, TrieWalk),
}

impl BulkBy<'_> {
    /// Appends the next matches.
    ///
    /// # Errors
    /// [`Undecided`] if matches are more than `gap` bytes apart, or if walks read too much.
    fn next_matches(
        &mut self,
        haystack: &[u8],
        gap: usize,
        found: &mut Vec<Match>,
    ) -> Result<(), Undecided> {
        match self {
            BulkBy::Table(table, walk) => table.next_matches(haystack, walk, gap, found),
            BulkBy::Trie(trie, walk) => trie.next_matches(haystack, walk, gap, found),
        }
    }

    /// Whether the end of the haystack was reached.
    fn is_at_end(&self) -> bool {
        match self {
            BulkBy::Table(_, walk) => walk.is_at_end(),
            BulkBy::Trie(_, walk) => walk.is_at_end(),
        }
    }

    /// The end of the last match, and how many there were.
    fn progress(&self) -> (usize, usize) {
        match self {
            BulkBy::Table(_, walk) => (walk.last(), walk.found()),
            BulkBy::Trie(_, walk) => (walk.last(), walk.found()),
        }
    }
}

impl<'a> BulkIter<'a> {
    /// Not inlined: every call of `find_iter` would carry it.
    #[inline(never)]
    pub(super) fn new(
        automaton: Automaton<'a>,
        gap: usize,
        notes: &'a Short,
        haystack: &'a [u8],
    ) -> BulkIter<'a> {
        let mut state = pool::lease(None);
        state.found.clear();
        let by = match automaton {
            Automaton::Table(table) => BulkBy::Table(table, BulkWalk::default()),
            Automaton::Trie(trie) => BulkBy::Trie(trie, TrieWalk::default()),
        };
        BulkIter { by, notes, haystack, gap, state, given: 0 }
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

    /// Finds the matches of the next piece. Not inlined, as [`new`](Self::new).
    #[inline(never)]
    fn find_more(&mut self) -> Result<Option<Match>, Undecided> {
        if self.by.is_at_end() {
            return Ok(None);
        }
        let found = &mut self.state.found;
        found.clear();
        self.given = 1;
        self.by.next_matches(self.haystack, self.gap, found)?;
        if self.by.is_at_end() {
            self.notes.note(self.haystack.len() / (self.by.progress().1 + 1));
        }
        Ok(found.first().copied())
    }

    /// The end of the last match, and how many there were.
    pub(in crate::searcher) fn progress(&self) -> (usize, usize) {
        self.by.progress()
    }
}
