//! [`FindIter`]: the matches of one haystack. A fast path finds them if there is one pattern, and
//! where the haystack is short or matches are dense. Elsewhere, the matcher does.

mod by_matcher;

use super::short::{BulkIter, ShortWalk, Start};
use super::{Input, Searcher};
use by_matcher::ByMatcher;
use fyke_automata::find_table::Undecided;
use fyke_core::{Match, Semantics};
use std::fmt;
use std::iter::FusedIterator;

/// Iterates over the matches of one haystack. It searches lazily, piece by piece. But if there is
/// only one pattern, the first match is found when the iterator is made. If a haystack of up to 64
/// bytes is tested for candidates, that is done then too.
pub struct FindIter<'a> {
    way: Way<'a>,
}

enum Way<'a> {
    /// The haystack has no match, which is known from the start.
    NoMatch { searcher: &'a Searcher, haystack: &'a [u8] },
    /// Without a leased state: the matches of one pattern, or those in a short haystack.
    Walk(Walk<'a, ShortWalk<'a>>),
    /// With a leased state, which holds the matches of a piece: in haystacks of up to some hundred
    /// bytes, or where matches are dense.
    Bulk(Walk<'a, BulkIter<'a>>),
    /// By scans of the matcher.
    Matcher(ByMatcher<'a>),
}

/// A walk over a haystack, and what the matcher's search needs to go on after it.
struct Walk<'a, W> {
    walk: W,
    searcher: &'a Searcher,
    /// The position of the haystack's first byte for the caller.
    offset: usize,
}

impl<'a> FindIter<'a> {
    #[inline]
    pub(super) fn new<'h: 'a>(
        searcher: &'a Searcher,
        input: Input<'h>,
        semantics: Semantics,
    ) -> Self {
        if let Some(short) = &searcher.short
            && semantics == searcher.kind.semantics()
            && !input.is_anchored()
        {
            let (haystack, offset) = (input.bytes(), input.start());
            match short.walk(haystack) {
                Start::Walk(walk) => {
                    return Self { way: Way::Walk(Walk { walk, searcher, offset }) };
                }
                Start::NoMatch => return Self { way: Way::NoMatch { searcher, haystack } },
                Start::Unsuited => {}
            }
            if let Some(walk) = short.walk_in_bulk(haystack) {
                return Self { way: Way::Bulk(Walk { walk, searcher, offset }) };
            }
        }
        Self { way: Way::Matcher(ByMatcher::new(searcher, input, semantics)) }
    }

    /// The next match by the matcher, which goes on where a walk is undecided.
    #[cold]
    fn go_on(&mut self) -> Option<Match> {
        let (searcher, haystack, offset, (last, found)) = match &mut self.way {
            Way::Walk(by) => (by.searcher, by.walk.haystack, by.offset, by.walk.progress()),
            Way::Bulk(by) => (by.searcher, by.walk.haystack, by.offset, by.walk.progress()),
            Way::NoMatch { .. } | Way::Matcher(_) => {
                unreachable!("both are decided")
            }
        };
        self.way = Way::Matcher(ByMatcher::after(searcher, haystack, offset, last, found));
        self.next()
    }
}

impl Iterator for FindIter<'_> {
    type Item = Match;

    #[inline]
    fn next(&mut self) -> Option<Match> {
        let (found, offset) = match &mut self.way {
            Way::NoMatch { .. } => return None,
            Way::Walk(by) => (by.walk.next(), by.offset),
            Way::Bulk(by) => (by.walk.next(), by.offset),
            Way::Matcher(matcher) => return matcher.next(),
        };
        match found {
            Ok(Some(m)) => Some(Match { start: m.start + offset, end: m.end + offset, ..m }),
            Ok(None) => None,
            Err(Undecided) => self.go_on(),
        }
    }
}

impl FusedIterator for FindIter<'_> {}

impl fmt::Debug for FindIter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (semantics, haystack) = match &self.way {
            Way::NoMatch { searcher, haystack } => (searcher.kind.semantics(), *haystack),
            Way::Walk(by) => (by.searcher.kind.semantics(), by.walk.haystack),
            Way::Bulk(by) => (by.searcher.kind.semantics(), by.walk.haystack),
            Way::Matcher(by) => (by.semantics, by.haystack),
        };
        f.debug_struct("FindIter")
            .field("semantics", &semantics)
            .field("haystack_len", &haystack.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MatchKind, PatternSet};

    /// With `LeftmostLongest`, the last match is pending until the end.
    #[test]
    fn short_haystacks_may_have_any_number_of_matches() {
        let patterns: Vec<String> = ('a'..='z').map(String::from).chain(["yz".into()]).collect();
        for kind in [MatchKind::Standard, MatchKind::LeftmostFirst, MatchKind::LeftmostLongest] {
            let builder = Searcher::builder().match_kind(kind).short_haystacks(true);
            let searcher = builder.build(&PatternSet::new(&patterns).unwrap()).unwrap();
            for (len, matches) in [32, 63].into_iter().flat_map(|l| (0..l).map(move |m| (l, m))) {
                let haystack = ["x".repeat(matches), "-".repeat(len - 1 - matches), "y".into()];
                let haystack = haystack.concat();
                let mut iter = searcher.find_iter(&haystack);
                let found: Vec<_> = iter.by_ref().map(|m| (m.pattern.0, m.range())).collect();
                let mut expected: Vec<_> = (0..matches).map(|at| (23, at..at + 1)).collect();
                expected.push((24, len - 1..len));
                assert_eq!(found, expected);
                assert_eq!((iter.next(), iter.next()), (None, None));
            }
        }
    }

    /// One pattern, and five, for which the engine tests all positions at once.
    #[test]
    fn a_short_haystack_without_candidates_has_no_walk() {
        for patterns in [&["needle"][..], &["needle", "pin", "thread", "cloth", "scissors"]] {
            let searcher = Searcher::new(patterns).unwrap();
            let part = searcher.matcher().find_first_part().unwrap_or(searcher.matcher());
            // Without vectors, the engine does not test all positions at once.
            let known = patterns.len() == 1 || part.candidates_in_short(b"straw").is_some();
            for haystack in ["no straw", "grass and straw"] {
                let mut iter = searcher.find_iter(haystack);
                assert_eq!(matches!(iter.way, Way::NoMatch { .. }), known);
                assert_eq!((iter.next(), iter.next()), (None, None));
                let len = format!("haystack_len: {}", haystack.len());
                assert!(format!("{iter:?}").contains(&len));
            }
            let iter = searcher.find_iter(Input::new("grass, a needle, a needle").span(3..));
            assert_eq!(iter.map(|m| m.range()).collect::<Vec<_>>(), [9..15, 19..25]);
        }
    }

    /// A table finds the first matches, and the matcher those after a gap.
    #[test]
    fn the_matcher_goes_on_after_a_gap() {
        let patterns: Vec<String> = (10..60).map(|n| format!("<{n}>")).collect();
        let haystack = format!("<11><10>-<59>{}<42>-", "-".repeat(500));
        for kind in [MatchKind::Standard, MatchKind::LeftmostFirst, MatchKind::LeftmostLongest] {
            let builder = Searcher::builder().match_kind(kind).short_haystacks(true);
            let searcher = builder.build(&PatternSet::new(&patterns).unwrap()).unwrap();
            let mut iter = searcher.find_iter(Input::new(&haystack).span(4..));
            assert!(matches!(iter.way, Way::Bulk(_)));
            let found: Vec<_> = iter.by_ref().map(|m| (m.pattern.0, m.range())).collect();
            assert_eq!(found, [(0, 4..8), (49, 9..13), (32, 513..517)]);
            assert!(matches!(iter.way, Way::Matcher(_)));
            assert_eq!((iter.next(), iter.next()), (None, None));
        }
    }
}
