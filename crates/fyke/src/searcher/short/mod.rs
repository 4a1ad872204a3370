//! Fast paths of the `find` calls: for one pattern, short haystacks and dense matches.
//!
//! The matcher of a set is mostly a filter, and a scan takes tens of nanoseconds to start. Three
//! ways start faster: [`OnePattern`] for one pattern; [`Matcher::find_next`], match by match,
//! where the engine has it; a transition table or a trie for other sets. If the engine tells at
//! once that a short haystack has no candidates, there is no walk.

mod automata;
mod bulk;
mod lazy;
mod one;

use crate::MatchKind;
use automata::{Automaton, MOST_DIRECT, MOST_TO_FIRST, ShortAutomata};
pub(super) use bulk::BulkIter;
use fyke_automata::find_table::{MatchWalk, Undecided, WholeWalk};
use fyke_automata::find_trie::TrieWalk;
use fyke_automata::{FindTable, FindTrie};
use fyke_core::{First, FirstMatch, Match, Matcher, NextFirst, NextLimits, Options};
use one::OnePattern;
use std::sync::Arc;

/// The fast path of a searcher.
pub(super) enum Short {
    One(OnePattern),
    Set(ShortSet),
}

/// The fast path of a set.
pub(super) struct ShortSet {
    automata: ShortAutomata,
    direct: Option<FindNext>,
}

/// How to ask the matcher for one match at a time, by [`Matcher::find_next`].
pub(super) struct FindNext {
    matcher: Arc<dyn Matcher>,
    /// Where `find_next` is faster than a scan, besides haystacks of up to [`MOST_DIRECT`] bytes.
    limits: Option<NextLimits>,
    first: First,
    /// Whether the matcher has [`candidates_in_short`](Matcher::candidates_in_short).
    has_test: bool,
    /// The lengths of the shortest and of the longest pattern.
    min_len: usize,
    max_len: usize,
}

impl FindNext {
    fn new(matcher: &Arc<dyn Matcher>, kind: MatchKind) -> FindNext {
        let part = matcher.find_first_part().unwrap_or(matcher);
        FindNext {
            matcher: Arc::clone(part),
            has_test: part.candidates_in_short(b"?").is_some(),
            limits: matcher.find_next_limits(),
            first: First::of(kind.semantics()),
            min_len: matcher.set().min_len(),
            max_len: matcher.set().max_len(),
        }
    }

    /// Whether the matcher is asked for one match after another.
    #[inline]
    fn wins_to_all(&self, len: usize, automata: &ShortAutomata) -> bool {
        len <= MOST_DIRECT
            || self.limits.is_some_and(|limits| {
                len <= limits.max_len || (len <= limits.max_len_if_dense && self.is_dense(automata))
            })
    }

    /// Whether matches are dense. They are not if no distance is noted.
    #[inline]
    fn is_dense(&self, automata: &ShortAutomata) -> bool {
        let dense_gap = self.limits.map_or(0, |limits| limits.dense_gap);
        automata.noted_gap().is_some_and(|gap| gap > 0 && gap < dense_gap)
    }

    /// The first match of a haystack in which matches are expected to be dense, if it is near the
    /// beginning. `None` if the matcher's other searches should look.
    #[inline]
    fn find_dense(&self, haystack: &[u8], automata: &ShortAutomata) -> Option<Option<Match>> {
        if haystack.len() <= MOST_DIRECT || !self.is_dense(automata) {
            return None;
        }
        let head = &haystack[..haystack.len().min(MOST_TO_FIRST)];
        let found = self.find(head, &mut NextFirst::default()).ok()?;
        // A better match may end after the head.
        let is_known = |m: Match| m.start + self.max_len <= head.len();
        if head.len() < haystack.len() && !found.is_some_and(is_known) {
            return None;
        }
        automata.note(found.map_or(haystack.len(), |m| m.end));
        Some(found)
    }

    /// Begins a search of a haystack. `None`: it has no match.
    #[inline]
    fn start(&self, haystack: &[u8]) -> Option<NextFirst> {
        let len = haystack.len();
        if len > MOST_DIRECT {
            return Some(NextFirst::default());
        }
        if len < self.min_len {
            return None;
        }
        match self.matcher.candidates_in_short(haystack) {
            Some(0) => None,
            Some(candidates) => Some(NextFirst::after_test(candidates, len)),
            None => Some(NextFirst::default()),
        }
    }

    /// Whether the matcher tests a haystack for candidates, and finds none, before an automaton
    /// walks over it.
    #[inline]
    fn has_no_candidate(&self, haystack: &[u8], automata: &ShortAutomata) -> bool {
        self.has_test
            && automata.suits_test(haystack.len())
            && self.matcher.candidates_in_short(haystack) == Some(0)
    }

    /// The next match of a haystack.
    ///
    /// # Errors
    /// [`Undecided`]: the matcher gave up.
    #[inline]
    fn find(&self, haystack: &[u8], search: &mut NextFirst) -> Result<Option<Match>, Undecided> {
        if haystack.len() - search.from < self.min_len || search.is_at_end(haystack.len()) {
            return Ok(None);
        }
        match self.matcher.find_next(haystack, self.first, search) {
            FirstMatch::Found(m) => Ok(Some(m)),
            FirstMatch::NotFound => Ok(None),
            FirstMatch::Unknown { .. } => Err(Undecided),
        }
    }
}

impl Short {
    /// The fast path that suits a matcher, if any. With `eager`, automata are compiled now.
    pub(super) fn new(
        matcher: &Arc<dyn Matcher>,
        kind: MatchKind,
        opt: &Options,
        eager: bool,
    ) -> Option<Short> {
        let set = matcher.set();
        if let Some(one) = OnePattern::new(set, opt) {
            return Some(Short::One(one));
        }
        let min_len = matcher.find_first_min_len();
        let direct = min_len.map(|_| FindNext::new(matcher, kind));
        let automata = ShortAutomata::new(set, kind, opt.memory_limit, min_len)?;
        if eager {
            automata.compile();
        }
        Some(Short::Set(ShortSet { automata, direct }))
    }

    /// How a walk over all matches of a haystack begins.
    #[inline]
    pub(super) fn walk<'a>(&'a self, haystack: &'a [u8]) -> Start<'a> {
        let len = haystack.len();
        let by = match self {
            Short::One(one) => match one.find(haystack, 0, false) {
                Some(first) => By::One(one, Some(first)),
                None => return Start::NoMatch,
            },
            Short::Set(ShortSet { automata, direct: Some(direct) })
                if !automata.is_faster(len) && direct.wins_to_all(len, automata) =>
            {
                match direct.start(haystack) {
                    Some(search) => By::FindNext(direct, search),
                    None => {
                        automata.note(len);
                        return Start::NoMatch;
                    }
                }
            }
            Short::Set(ShortSet { automata, direct: Some(direct) })
                if direct.has_no_candidate(haystack, automata) =>
            {
                automata.note(len);
                return Start::NoMatch;
            }
            Short::Set(ShortSet { automata, .. }) if len < automata.least_bulk() => {
                match automata.to_all(len) {
                    Some(Automaton::Table(table)) if automata.suits_whole_walk(len) => {
                        By::Whole(table, WholeWalk::default())
                    }
                    Some(Automaton::Table(table)) => By::Table(table, MatchWalk::default()),
                    Some(Automaton::Trie(trie)) => By::Trie(trie, TrieWalk::default()),
                    None => return Start::Unsuited,
                }
            }
            _ => return Start::Unsuited,
        };
        Start::Walk(ShortWalk { by, notes: self, haystack, last: 0, found: 0, ended: false })
    }

    /// A walk over all matches of a longer haystack, if that beats the matcher's scan.
    #[inline]
    pub(super) fn walk_in_bulk<'a>(&'a self, haystack: &'a [u8]) -> Option<BulkIter<'a>> {
        match self {
            Short::Set(ShortSet { automata, .. }) if haystack.len() >= automata.least_bulk() => {
                let by = automata.to_all(haystack.len())?;
                Some(BulkIter::new(by, automata.gap_limit(haystack.len()), self, haystack))
            }
            _ => None,
        }
    }

    /// The average distance between the matches of the last calls, if it is noted.
    #[inline]
    pub(super) fn gap(&self) -> Option<usize> {
        match self {
            Short::One(_) => None,
            Short::Set(ShortSet { automata, .. }) => automata.noted_gap(),
        }
    }

    /// Notes the distance to a match, or to the end of a haystack.
    #[inline]
    pub(super) fn note(&self, bytes: usize) {
        if let Short::Set(ShortSet { automata, .. }) = self {
            automata.note(bytes);
        }
    }
}

impl ShortSet {
    /// Whether there is a match; `None` if the matcher should look.
    #[inline]
    pub(super) fn is_match(&self, haystack: &[u8]) -> Option<bool> {
        self.automata.is_match(haystack)
    }

    /// The first match; `None` if the matcher should look.
    #[inline]
    pub(super) fn find(&self, haystack: &[u8]) -> Option<Option<Match>> {
        match self.automata.find(haystack) {
            None => self.direct.as_ref()?.find_dense(haystack, &self.automata),
            found => found,
        }
    }
}

/// Matches of one pattern are near below this average distance: see [`OnePattern::find`]. Measured
/// with words of the King James Bible; no benchmark shows it.
const NEAR: usize = 2 << 10;

/// How a walk begins.
pub(super) enum Start<'a> {
    /// The walk is the fastest way.
    Walk(ShortWalk<'a>),
    /// The haystack has no match.
    NoMatch,
    /// Another way is faster, or the automaton is not compiled yet.
    Unsuited,
}

/// A walk that returns one match per call, and leases no state.
pub(super) struct ShortWalk<'a> {
    by: By<'a>,
    /// Where the average distance between matches is noted.
    notes: &'a Short,
    pub(super) haystack: &'a [u8],
    /// The end of the last match, or of the haystack.
    last: usize,
    /// How many matches the walk found.
    found: usize,
    /// Whether there are no more, which is noted once.
    ended: bool,
}

enum By<'a> {
    /// With the first match, until it is returned: it is found before the walk is made, so that a
    /// haystack without a match needs none.
    One(&'a OnePattern, Option<Match>),
    /// [`FindNext`] by reference: a load from a fresh copy would wait for its stores.
    FindNext(&'a FindNext, NextFirst),
    Table(&'a FindTable, MatchWalk),
    /// See [`ShortAutomata::suits_whole_walk`].
    Whole(&'a FindTable, WholeWalk),
    Trie(&'a FindTrie, TrieWalk),
}

impl<'a> ShortWalk<'a> {
    /// The next match.
    ///
    /// # Errors
    /// [`Undecided`]: the matcher's scan is faster from here on.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<Match>, Undecided> {
        let found = match &mut self.by {
            By::One(one, first) => match first.take() {
                Some(first) => Some(first),
                None => one.find(self.haystack, self.last, self.last / NEAR < self.found),
            },
            By::FindNext(direct, search) => direct.find(self.haystack, search)?,
            // The haystack is short, so a walk may read all of it. It is inlined: in 8 to 16 bytes,
            // a call would take up to a tenth of the time.
            By::Table(table, walk) => table.next_match(self.haystack, walk, usize::MAX)?,
            By::Whole(table, walk) => match table.next_of_whole(self.haystack, walk) {
                Ok(found) => found,
                Err(Undecided) => {
                    let table = *table;
                    return self.restart_by_match_walk(table);
                }
            },
            By::Trie(trie, walk) => trie.next_match(self.haystack, walk, usize::MAX)?,
        };
        match found {
            Some(m) => {
                self.last = m.end;
                self.found += 1;
            }
            None if self.ended => {}
            None => {
                self.ended = true;
                self.last = self.haystack.len();
                self.notes.note(self.haystack.len() / (self.found + 1));
            }
        }
        Ok(found)
    }

    /// The first match, by a walk that finds any number of them.
    #[cold]
    fn restart_by_match_walk(&mut self, table: &'a FindTable) -> Result<Option<Match>, Undecided> {
        self.by = By::Table(table, MatchWalk::default());
        self.next()
    }

    /// The end of the last match, and how many there were.
    pub(super) fn progress(&self) -> (usize, usize) {
        (self.last, self.found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PatternSet, Searcher};

    #[test]
    fn a_walk_that_would_keep_many_reports_starts_again() {
        let set = PatternSet::new((0..300).map(|n| format!("{n:03}"))).unwrap();
        for kind in [MatchKind::Standard, MatchKind::LeftmostFirst, MatchKind::LeftmostLongest] {
            // This engine finds no match without a scan.
            let searcher = Searcher::builder().engine("ac-dfa").build(&set).unwrap();
            let short = Short::new(searcher.matcher(), kind, &Options::default(), true).unwrap();
            for (matches, whole) in [(0, true), (15, true), (16, false), (20, false)] {
                let haystack = ["1".repeat(3 * matches), "-".repeat(63 - 3 * matches)].concat();
                let Start::Walk(mut walk) = short.walk(haystack.as_bytes()) else { panic!() };
                assert!(matches!(walk.by, By::Whole(..)));
                for start in (0..3 * matches).step_by(3) {
                    let found = walk.next().unwrap().map(|m| m.range());
                    assert_eq!(found, Some(start..start + 3));
                    assert_eq!(matches!(walk.by, By::Whole(..)), whole);
                }
                assert_eq!((walk.next(), walk.next()), (Ok(None), Ok(None)));
            }
        }
    }

    /// Distances are noted, so the way changes both ways.
    #[test]
    fn short_haystacks_are_tested_where_matches_are_rare_and_walked_where_they_are_not() {
        let searcher = Searcher::builder().engine("teddy").build(&numbers(20)).unwrap();
        let matcher = searcher.matcher();
        let short =
            Short::new(matcher, MatchKind::LeftmostFirst, &Options::default(), true).unwrap();
        // Without vectors, the engine does not test all positions at once.
        let has_test = matcher.candidates_in_short(b"?").is_some();
        for (haystack, tested) in
            [("--------", has_test), ("<10><11>", false), ("-------", has_test)]
        {
            let last = (0..100).map(|_| match short.walk(haystack.as_bytes()) {
                Start::Walk(mut walk) => {
                    while walk.next().unwrap().is_some() {}
                    Some(walk.by)
                }
                Start::NoMatch => None,
                Start::Unsuited => panic!("the table is compiled"),
            });
            let last = last.last().unwrap();
            assert_eq!(last.is_none(), tested, "{haystack}");
            assert!(matches!(last, None | Some(By::Table(..))), "{haystack}");
        }
    }

    fn numbers(count: usize) -> PatternSet {
        PatternSet::new((10..10 + count).map(|n| format!("<{n}>"))).unwrap()
    }
}
