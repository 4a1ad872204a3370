//! [`FindIter`] walks a short haystack while matches are dense. Elsewhere it asks the matcher.

use super::pool::{self, Lease};
use super::short::ShortWalk;
use super::{Input, Searcher};
use fyke_automata::find_table::Undecided;
use fyke_core::{Batch, Block, Cursor, First, Match, Semantics, Sink};
use std::fmt;
use std::iter::FusedIterator;
use std::ops::ControlFlow;

impl Searcher {
    /// Notes the distance to a match, or to the end of a haystack, for the next short haystacks.
    #[inline]
    pub(super) fn note_distance(&self, bytes: usize) {
        if let Some(short) = &self.short {
            short.note(bytes);
        }
    }

    /// Whether a haystack of `len` bytes is expected to have two matches or more. Then the matcher
    /// is best asked for several at once (`calls`).
    #[inline]
    fn expects_several(&self, len: usize) -> bool {
        let gap = self.short.as_ref().and_then(|short| short.gap());
        len <= SEVERAL_TO && gap.is_some_and(|gap| gap < DIRECT_FROM && 2 * gap <= len)
    }
}

/// If the last match was at least this many bytes away, the matcher is asked for the next match
/// only. Before the first match, the average of the last calls decides. Asking for several costs
/// less per match, but is wasted if the caller stops early (`calls`).
const DIRECT_FROM: usize = 256;

/// Where matches are denser, the matcher is asked for several at once if at most this many bytes
/// are left. If more are left, pieces are scanned, which costs more to start and less per match.
/// Not measured: a guess.
const SEVERAL_TO: usize = 4 << 10;

/// Iterates over the matches of one haystack. It scans lazily, piece by piece.
pub struct FindIter<'a> {
    way: Way<'a>,
}

enum Way<'a> {
    Walk(ByWalk<'a>),
    Matcher(ByMatcher<'a>),
}

/// Iterates by a walk, which needs no matcher.
struct ByWalk<'a> {
    walk: ShortWalk<'a>,
    searcher: &'a Searcher,
    /// The position of the haystack's first byte for the caller.
    offset: usize,
}

/// Iterates by the matcher.
struct ByMatcher<'a> {
    searcher: &'a Searcher,
    direct: Direct,
    /// Leased on first use. Its `found` holds the matches of the last piece.
    state: Option<Lease<'a>>,
    /// How many of `found` were returned.
    given: usize,
    /// Matches found so far, and bytes cut off the front of `haystack`. Their ratio is the average
    /// distance between matches.
    passed: usize,
    cut: usize,
    semantics: Semantics,
    haystack: &'a [u8],
    /// The position of the haystack's first byte for the caller.
    offset: usize,
    cursor: Cursor,
    /// Where the next match must begin, if matches are anchored.
    anchor: Option<usize>,
    /// Whether the whole haystack was scanned.
    ended: bool,
}

/// How non-overlapping matches are looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direct {
    /// [`Matcher::find_first`](fyke_core::Matcher::find_first), match by match: matches are rare.
    One,
    /// [`Matcher::find_several`](fyke_core::Matcher::find_several).
    Several,
    /// By scanning pieces.
    No,
}

/// Collects matches as positions in the caller's haystack.
struct Found<'a> {
    found: &'a mut Vec<Match>,
    offset: usize,
}

impl Sink for Found<'_> {
    #[inline]
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        let offset = self.offset;
        let moved = |m| {
            let m = Match::in_memory(m);
            Match { start: m.start + offset, end: m.end + offset, ..m }
        };
        self.found.extend(batch.matches().map(moved));
        ControlFlow::Continue(())
    }
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
            && let Some(walk) = short.walk(input.bytes())
        {
            return Self { way: Way::Walk(ByWalk { walk, searcher, offset: input.start() }) };
        }
        Self { way: Way::Matcher(ByMatcher::new(searcher, input, semantics)) }
    }
}

impl<'a> ByWalk<'a> {
    /// The next match.
    ///
    /// # Errors
    /// The matcher's search, which takes over if no match is near.
    #[inline]
    fn next(&mut self) -> Result<Option<Match>, ByMatcher<'a>> {
        let at = self.offset;
        match self.walk.next() {
            Ok(found) => Ok(found.map(|m| Match { start: m.start + at, end: m.end + at, ..m })),
            Err(Undecided) => Err(self.go_on()),
        }
    }

    /// The matcher's search, from the end of the last match on.
    #[cold]
    fn go_on(&self) -> ByMatcher<'a> {
        let ShortWalk { haystack, at, matches, .. } = self.walk;
        let semantics = self.searcher.kind.semantics();
        let mut by_matcher = ByMatcher::new(self.searcher, Input::new(haystack), semantics);
        by_matcher.offset = self.offset;
        by_matcher.cut_off(at, matches);
        by_matcher
    }
}

impl<'a> ByMatcher<'a> {
    #[inline]
    fn new<'h: 'a>(searcher: &'a Searcher, input: Input<'h>, semantics: Semantics) -> Self {
        Self {
            searcher,
            direct: match semantics {
                Semantics::All | Semantics::Once => Direct::No,
                _ if input.is_anchored() => Direct::No,
                _ if searcher.expects_several(input.bytes().len()) => Direct::Several,
                _ => Direct::One,
            },
            passed: 0,
            cut: 0,
            state: None,
            given: 0,
            semantics,
            haystack: input.bytes(),
            offset: input.start(),
            cursor: Cursor::default(),
            anchor: input.is_anchored().then_some(0),
            ended: false,
        }
    }

    /// Asks the matcher for the next match or the end. `None` if pieces are to be scanned instead.
    #[inline]
    fn find_directly(&mut self) -> Option<Option<Match>> {
        if self.direct == Direct::Several {
            return self.find_several();
        }
        let first = First::of(self.semantics);
        match self.searcher.matcher().find_first(self.haystack, first) {
            Some(Some(m)) => {
                self.direct = match m.end {
                    DIRECT_FROM.. => Direct::One,
                    end if self.haystack.len() - end <= SEVERAL_TO => Direct::Several,
                    _ => Direct::No,
                };
                let at = self.offset;
                self.cut_off(m.end, 1);
                Some(Some(Match { start: m.start + at, end: m.end + at, ..m }))
            }
            Some(None) => {
                self.note_distance();
                self.ended = true;
                Some(None)
            }
            None => {
                self.direct = Direct::No;
                None
            }
        }
    }

    /// Asks the matcher for several matches, and returns the first of them.
    fn find_several(&mut self) -> Option<Option<Match>> {
        let (haystack, at, first) = (self.haystack, self.offset, First::of(self.semantics));
        let state = Self::state(&mut self.state, self.searcher, self.semantics);
        state.found.clear();
        self.given = 0;
        let all = self.searcher.matcher().find_several(haystack, first, &mut state.found);
        let (count, end) = (state.found.len(), state.found.last().map_or(0, |m| m.end));
        for m in &mut state.found {
            (m.start, m.end) = (m.start + at, m.end + at);
        }
        let next = state.found.first().copied();
        self.given = count.min(1);
        self.cut_off(end, count);
        match all {
            Some(all) => {
                self.ended = all;
                if all {
                    self.note_distance();
                }
                Some(next)
            }
            None => {
                self.direct = Direct::No;
                next.map(Some)
            }
        }
    }

    /// Cuts off the haystack up to `end`, the end of the last of `matches` matches.
    #[inline]
    fn cut_off(&mut self, end: usize, matches: usize) {
        self.haystack = &self.haystack[end..];
        self.offset += end;
        self.cut += end;
        self.passed += matches;
    }

    /// The state of the iterator, which it takes when it first needs it.
    #[inline]
    fn state<'s>(
        state: &'s mut Option<Lease<'a>>,
        searcher: &'a Searcher,
        semantics: Semantics,
    ) -> &'s mut pool::CallState {
        state.get_or_insert_with(|| {
            let mut state = searcher.lease();
            state.driver.restart(semantics, searcher.set());
            state
        })
    }

    /// Notes the average distance between matches, at the end of the haystack.
    fn note_distance(&self) {
        self.searcher.note_distance((self.cut + self.haystack.len()) / (self.passed + 1));
    }

    /// Scans the next piece. False at the end of the haystack.
    #[inline]
    fn scan_piece(&mut self) -> bool {
        if self.ended {
            return false;
        }
        if let Some(anchor) = self.anchor {
            return self.scan_anchored(anchor);
        }
        match self.cursor.next(&**self.searcher.matcher(), self.haystack) {
            Some(piece) => self.scan_block(piece),
            None => self.end(),
        }
    }

    fn scan_block(&mut self, piece: Block<'_>) -> bool {
        let (searcher, semantics) = (self.searcher, self.semantics);
        let matcher = &**searcher.matcher();
        let state = Self::state(&mut self.state, searcher, semantics);
        let pool::CallState { driver, found, .. } = state;
        found.clear();
        self.given = 0;
        let mut to = Found { found, offset: self.offset };
        let flow = driver.scan_piece(matcher, piece, &mut to);
        self.ended = flow.is_break() || self.cursor.is_at_end(self.haystack);
        if self.ended {
            // The sink never stops the scan.
            let _ = driver.finish(matcher.set(), &mut to);
        }
        self.passed += found.len();
        if self.ended {
            self.note_distance();
        }
        true
    }

    /// Ends the search after the cursor skipped to the end of the haystack. False if no match can
    /// be held back.
    #[inline]
    fn end(&mut self) -> bool {
        self.ended = true;
        self.note_distance();
        let Some(state) = &mut self.state else { return false };
        let pool::CallState { driver, found, .. } = &mut **state;
        found.clear();
        self.given = 0;
        let mut to = Found { found, offset: self.offset };
        let _ = driver.finish(self.searcher.set(), &mut to);
        true
    }

    /// Finds the match that begins at `anchor`, and moves the anchor to its end. False if there is
    /// none.
    fn scan_anchored(&mut self, anchor: usize) -> bool {
        let searcher = self.searcher;
        let matcher = &**searcher.matcher();
        let rest = &self.haystack[anchor..];
        let rest = &rest[..rest.len().min(matcher.set().max_len())];
        let state = self.state.get_or_insert_with(|| searcher.lease());
        let pool::CallState { driver, found, .. } = &mut **state;
        found.clear();
        self.given = 0;
        driver.restart(Semantics::All, matcher.set());
        let start = self.offset + anchor;
        let _ = driver.scan(matcher, Block::whole(rest), &mut Found { found, offset: start });
        found.retain(|m| m.start == start);
        if self.semantics == Semantics::All {
            // Overlapping matches all begin at the start of the span.
            self.ended = true;
            return !found.is_empty();
        }
        let best = match self.semantics {
            Semantics::LeftmostFirst => found.iter().min_by_key(|m| m.pattern),
            Semantics::LeftmostLongest => found.iter().min_by_key(|m| (!m.end, m.pattern)),
            _ => found.first(),
        };
        let best = best.copied();
        found.clear();
        found.extend(best);
        self.anchor = best.map(|m| m.end - self.offset);
        self.ended = best.is_none();
        !self.ended
    }

    /// The next match.
    #[inline]
    fn next(&mut self) -> Option<Match> {
        loop {
            if let Some(&m) = self.state.as_ref().and_then(|s| s.found.get(self.given)) {
                self.given += 1;
                return Some(m);
            }
            if self.direct != Direct::No
                && !self.ended
                && let Some(next) = self.find_directly()
            {
                return next;
            }
            if !self.scan_piece() {
                return None;
            }
        }
    }
}

impl Iterator for FindIter<'_> {
    type Item = Match;

    #[inline]
    fn next(&mut self) -> Option<Match> {
        loop {
            match &mut self.way {
                Way::Walk(walk) => match walk.next() {
                    Ok(found) => return found,
                    Err(by_matcher) => self.way = Way::Matcher(by_matcher),
                },
                Way::Matcher(matcher) => return matcher.next(),
            }
        }
    }
}

impl FusedIterator for FindIter<'_> {}

impl fmt::Debug for FindIter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (semantics, haystack) = match &self.way {
            Way::Walk(by) => (by.searcher.kind.semantics(), by.walk.haystack),
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

    /// A table finds the first matches, and the matcher those behind a gap.
    #[test]
    fn the_matcher_goes_on_behind_a_gap() {
        let patterns: Vec<String> = (10..60).map(|n| format!("<{n}>")).collect();
        let haystack = format!("<11><10>-<59>{}<42>-", "-".repeat(500));
        for kind in [MatchKind::Standard, MatchKind::LeftmostFirst, MatchKind::LeftmostLongest] {
            let builder = Searcher::builder().match_kind(kind).short_haystacks(true);
            let searcher = builder.build(&PatternSet::new(&patterns).unwrap()).unwrap();
            let mut iter = searcher.find_iter(Input::new(&haystack).span(4..));
            assert!(matches!(iter.way, Way::Walk(_)));
            let found: Vec<_> = iter.by_ref().map(|m| (m.pattern.0, m.range())).collect();
            assert_eq!(found, [(0, 4..8), (49, 9..13), (32, 513..517)]);
            assert!(matches!(iter.way, Way::Matcher(_)));
            assert_eq!((iter.next(), iter.next()), (None, None));
        }
    }
}
