//! [`ByMatcher`]: the matches of a haystack, found by the matcher.

use super::super::pool::{self, Lease};
use super::super::{Input, Searcher};
use fyke_core::{Batch, Block, Cursor, First, FirstMatch, Match, Semantics, Sink};
use std::ops::ControlFlow;

impl Searcher {
    /// Notes the distance to a match, or to the end of a haystack, for the next short haystacks.
    #[inline]
    pub(in crate::searcher) fn note_distance(&self, bytes: usize) {
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
/// only, or scans if that is faster in what is left. Before the first match, the average of the
/// last calls decides. Asking for several costs less per match, but is wasted if the caller stops
/// early (`calls`).
const DIRECT_FROM: usize = 256;

/// Where matches are denser, the matcher is asked for several at once if at most this many bytes
/// are left. If more are left, pieces are scanned, which costs more to start and less per match.
/// Not measured: a guess.
const SEVERAL_TO: usize = 4 << 10;

/// Iterates by the matcher.
pub(super) struct ByMatcher<'a> {
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
    pub(super) semantics: Semantics,
    pub(super) haystack: &'a [u8],
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

impl<'a> ByMatcher<'a> {
    #[inline]
    pub(super) fn new<'h: 'a>(
        searcher: &'a Searcher,
        input: Input<'h>,
        semantics: Semantics,
    ) -> Self {
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

    /// Goes on after `found` matches, the last of which ends at `last`. `offset` is the position
    /// of the haystack's first byte for the caller.
    pub(super) fn after<'h: 'a>(
        searcher: &'a Searcher,
        haystack: &'h [u8],
        offset: usize,
        last: usize,
        found: usize,
    ) -> Self {
        let mut it = Self::new(searcher, Input::new(haystack), searcher.kind.semantics());
        it.offset = offset;
        it.cut_off(last, found);
        it
    }

    /// Asks the matcher for the next match or the end. `None` if pieces are to be scanned instead.
    #[inline]
    fn find_directly(&mut self) -> Option<Option<Match>> {
        if self.direct == Direct::Several {
            return self.find_several();
        }
        let (matcher, first) = (&self.searcher.find_first_part, First::of(self.semantics));
        match matcher.find_first(self.haystack, first) {
            FirstMatch::Found(m) => {
                self.direct = match self.haystack.len() - m.end {
                    rest if m.end >= DIRECT_FROM && rest <= matcher.find_first_max_len() => {
                        Direct::One
                    }
                    ..=SEVERAL_TO => Direct::Several,
                    _ => Direct::No,
                };
                let at = self.offset;
                self.cut_off(m.end, 1);
                Some(Some(Match { start: m.start + at, end: m.end + at, ..m }))
            }
            FirstMatch::NotFound => {
                self.note_distance();
                self.ended = true;
                Some(None)
            }
            FirstMatch::Unknown { from } => {
                self.direct = Direct::No;
                self.cut_off(from, 0);
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
        let all = self.searcher.find_first_part.find_several(haystack, first, &mut state.found);
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

    /// Cuts off the haystack up to `end`, and counts `matches` matches before it.
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

    /// The next match. Not inlined: every loop over matches would carry it.
    #[inline(never)]
    pub(super) fn next(&mut self) -> Option<Match> {
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
