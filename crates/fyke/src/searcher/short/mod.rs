//! Fast paths of the `find` calls, for short haystacks and dense matches.
//!
//! The matcher of a set is mostly a filter. A filter reads many bytes per step, but it takes tens
//! of nanoseconds to start and for each match. For one pattern, `memmem` starts faster. For many, a
//! transition table does.

mod one;
mod table;

use crate::MatchKind;
use fyke_automata::find_table::{FindTable, Undecided};
use fyke_core::{First, Match, Matcher};
use one::OnePattern;
use table::{MOST_WALKED, ShortTable};

/// The fast path of a searcher.
pub(super) enum Short {
    One(OnePattern),
    Table(ShortTable),
}

impl Short {
    /// The fast path that suits a matcher, if any. With `eager`, a table is compiled now.
    pub(super) fn new(
        matcher: &dyn Matcher,
        kind: MatchKind,
        memory_limit: Option<u64>,
        eager: bool,
    ) -> Option<Short> {
        let set = matcher.set();
        if let Some(one) = OnePattern::new(set) {
            return Some(Short::One(one));
        }
        let direct = matcher.find_first(&[], First::Any).is_some();
        let table = ShortTable::new(set, kind, memory_limit, direct)?;
        if eager {
            table.compile();
        }
        Some(Short::Table(table))
    }

    /// Whether there is a match; `None` if the matcher should look.
    #[inline]
    pub(super) fn is_match(&self, haystack: &[u8]) -> Option<bool> {
        match self {
            Short::One(one) => {
                OnePattern::takes(haystack.len()).then(|| one.find(haystack, 0).is_some())
            }
            Short::Table(table) => table.is_match(haystack),
        }
    }

    /// The first match; `None` if the matcher should look.
    #[inline]
    pub(super) fn find(&self, haystack: &[u8]) -> Option<Option<Match>> {
        match self {
            Short::One(one) => OnePattern::takes(haystack.len()).then(|| one.find(haystack, 0)),
            Short::Table(table) => table.find(haystack),
        }
    }

    /// A walk over all matches of a haystack, if that beats the matcher.
    #[inline]
    pub(super) fn walk<'a>(&'a self, haystack: &'a [u8]) -> Option<ShortWalk<'a>> {
        let by = match self {
            Short::One(one) => OnePattern::takes(haystack.len()).then_some(By::One(one)),
            Short::Table(table) => table.to_all(haystack.len()).map(By::Table),
        }?;
        Some(ShortWalk { by, notes: self, haystack, at: 0, matches: 0, ended: false })
    }

    /// The average distance between the matches of the last calls, if it is noted.
    #[inline]
    pub(super) fn gap(&self) -> Option<usize> {
        match self {
            Short::One(_) => None,
            Short::Table(table) => table.noted_gap(),
        }
    }

    /// Notes the distance to a match, or to the end of a haystack.
    #[inline]
    pub(super) fn note(&self, bytes: usize) {
        if let Short::Table(table) = self {
            table.note(bytes);
        }
    }
}

/// Walks from match to match of a haystack.
pub(super) struct ShortWalk<'a> {
    by: By<'a>,
    /// Where the average distance between matches is noted.
    notes: &'a Short,
    pub(super) haystack: &'a [u8],
    /// The end of the last match.
    pub(super) at: usize,
    /// How many matches the walk found.
    pub(super) matches: usize,
    ended: bool,
}

enum By<'a> {
    One(&'a OnePattern),
    Table(&'a FindTable),
}

impl ShortWalk<'_> {
    /// The next match.
    ///
    /// # Errors
    /// [`Undecided`] if no match ends in the next [`MOST_WALKED`] bytes: the matcher is faster.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<Match>, Undecided> {
        if self.ended {
            return Ok(None);
        }
        let found = match self.by {
            By::One(one) => one.find(self.haystack, self.at),
            By::Table(table) => table.find(self.haystack, self.at, MOST_WALKED)?,
        };
        match found {
            Some(m) => {
                self.at = m.end;
                self.matches += 1;
            }
            None => {
                self.ended = true;
                self.notes.note(self.haystack.len() / (self.matches + 1));
            }
        }
        Ok(found)
    }
}
