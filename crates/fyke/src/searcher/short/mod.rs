//! Fast paths of the `find` calls, for short haystacks and dense matches.
//!
//! The matcher of a set is mostly a filter. A filter reads many bytes per step, but it takes tens
//! of nanoseconds to start and for each match. For one pattern, `memmem` starts faster. For many, a
//! transition table does.

mod one;
mod several;
mod table;

use crate::MatchKind;
use fyke_automata::find_table::{FindTable, OneByOne, Undecided};
use fyke_core::{First, Match, Matcher};
use one::OnePattern;
use several::LEAST_SEVERAL;
pub(super) use several::Several;
use table::{MOST_DIRECT, MOST_WALKED, ShortTable};

/// The fast path of a searcher.
pub(super) enum Short {
    One(OnePattern),
    Table(ShortTable, Option<Direct>),
}

/// A matcher that finds a match directly, without a scan.
pub(super) struct Direct {
    /// It beats the table from this many bytes on.
    from: usize,
    first: First,
    /// The length of the shortest pattern.
    min_len: usize,
}

impl Direct {
    fn new(matcher: &dyn Matcher, kind: MatchKind) -> Option<Direct> {
        let (first, min_len) = (First::of(kind.semantics()), matcher.set().min_len());
        Some(Direct { from: matcher.finds_first_from()?, first, min_len })
    }

    /// The first match that begins at or after `at`.
    ///
    /// # Errors
    /// [`Undecided`]: the matcher gave up.
    #[inline]
    fn find(
        &self,
        matcher: &dyn Matcher,
        haystack: &[u8],
        at: usize,
    ) -> Result<Option<Match>, Undecided> {
        let rest = &haystack[at..];
        if rest.len() < self.min_len {
            return Ok(None);
        }
        let found = matcher.find_first(rest, self.first).ok_or(Undecided)?;
        Ok(found.map(|m| Match { start: m.start + at, end: m.end + at, ..m }))
    }
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
        let direct = Direct::new(matcher, kind);
        let from = direct.as_ref().map(|direct| direct.from);
        let table = ShortTable::new(set, kind, memory_limit, from)?;
        if eager {
            table.compile();
        }
        Some(Short::Table(table, direct))
    }

    /// Whether there is a match; `None` if the matcher should look.
    #[inline]
    pub(super) fn is_match(&self, haystack: &[u8]) -> Option<bool> {
        match self {
            Short::One(one) => {
                OnePattern::takes(haystack.len()).then(|| one.find(haystack, 0).is_some())
            }
            Short::Table(table, _) => table.is_match(haystack),
        }
    }

    /// The first match; `None` if the matcher should look.
    #[inline]
    pub(super) fn find(&self, haystack: &[u8]) -> Option<Option<Match>> {
        match self {
            Short::One(one) => OnePattern::takes(haystack.len()).then(|| one.find(haystack, 0)),
            Short::Table(table, _) => table.find(haystack),
        }
    }

    /// A walk over all matches of a short haystack, if that beats the matcher's scan.
    #[inline]
    pub(super) fn walk<'a>(
        &'a self,
        matcher: &'a dyn Matcher,
        haystack: &'a [u8],
    ) -> Option<ShortWalk<'a>> {
        let len = haystack.len();
        let by = match self {
            Short::One(one) if OnePattern::takes(len) => By::One(one),
            Short::One(_) => return None,
            Short::Table(table, Some(direct)) if len <= MOST_DIRECT && !table.is_faster(len) => {
                By::Direct(matcher, direct)
            }
            Short::Table(table, _) if len < LEAST_SEVERAL => {
                By::Table(table.to_all(len)?, OneByOne::default())
            }
            _ => return None,
        };
        Some(ShortWalk { by, notes: self, haystack, last: 0, found: 0 })
    }

    /// A walk over all matches of a haystack, several at once, if that beats the matcher's scan.
    #[inline]
    pub(super) fn walk_by_several<'a>(&'a self, haystack: &'a [u8]) -> Option<Several<'a>> {
        match self {
            Short::Table(table, _) if haystack.len() >= LEAST_SEVERAL => {
                Some(Several::new(table.to_all(haystack.len())?, self, haystack))
            }
            _ => None,
        }
    }

    /// The average distance between the matches of the last calls, if it is noted.
    #[inline]
    pub(super) fn gap(&self) -> Option<usize> {
        match self {
            Short::One(_) => None,
            Short::Table(table, _) => table.noted_gap(),
        }
    }

    /// Notes the distance to a match, or to the end of a haystack.
    #[inline]
    pub(super) fn note(&self, bytes: usize) {
        if let Short::Table(table, _) = self {
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
    /// The end of the last match, or of the haystack.
    last: usize,
    /// How many matches the walk found.
    found: usize,
}

enum By<'a> {
    One(&'a OnePattern),
    /// The second is a reference because a load of a copied [`First`] waits for its store.
    Direct(&'a dyn Matcher, &'a Direct),
    Table(&'a FindTable, OneByOne),
}

impl ShortWalk<'_> {
    /// The next match.
    ///
    /// # Errors
    /// [`Undecided`]: the matcher's scan is faster from here on.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<Match>, Undecided> {
        let found = match &mut self.by {
            By::One(one) => one.find(self.haystack, self.last),
            By::Direct(matcher, direct) => direct.find(*matcher, self.haystack, self.last)?,
            By::Table(table, walk) => table.next_match(self.haystack, walk, MOST_WALKED)?,
        };
        match found {
            Some(m) => {
                self.last = m.end;
                self.found += 1;
            }
            None => {
                self.last = self.haystack.len();
                self.notes.note(self.haystack.len() / (self.found + 1));
            }
        }
        Ok(found)
    }

    /// The end of the last match, and how many there were.
    pub(super) fn passed(&self) -> (usize, usize) {
        (self.last, self.found)
    }
}
