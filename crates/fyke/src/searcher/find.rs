//! The `find` calls: they report non-overlapping matches, which [`MatchKind`] selects.

use super::pool::{self, Lease};
use super::short::{ShortWalk, Step};
use super::{Input, Searcher};
use fyke_core::{Batch, Block, Cursor, First, Match, Semantics, Sink};
use std::fmt;
use std::iter::FusedIterator;
use std::ops::ControlFlow;

/// Which of several overlapping matches the `find` calls report.
///
/// ```
/// use fyke::{MatchKind, PatternSet, Searcher};
///
/// let set = PatternSet::new(["ab", "abcd", "abc"])?;
/// let first = |kind| {
///     let searcher = Searcher::builder().match_kind(kind).build(&set).unwrap();
///     searcher.find("abcd").map(|m| m.pattern.0)
/// };
/// assert_eq!(first(MatchKind::Standard), Some(0));
/// assert_eq!(first(MatchKind::LeftmostFirst), Some(0));
/// assert_eq!(first(MatchKind::LeftmostLongest), Some(1));
/// # Ok::<(), fyke::PatternError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MatchKind {
    /// The match that ends first; of those, the longest. For anchored input, the shortest match
    /// that begins at the anchor.
    #[default]
    Standard,
    /// The match that starts first; of those, the one with the lowest id.
    LeftmostFirst,
    /// The match that starts first; of those, the longest.
    LeftmostLongest,
}

impl MatchKind {
    /// The semantics that select these matches.
    #[inline]
    pub fn semantics(self) -> Semantics {
        match self {
            MatchKind::Standard => Semantics::Standard,
            MatchKind::LeftmostFirst => Semantics::LeftmostFirst,
            MatchKind::LeftmostLongest => Semantics::LeftmostLongest,
        }
    }
}

impl Searcher {
    /// Whether the haystack has a match. The scan ends soon after the first one.
    ///
    /// ```
    /// let searcher = fyke::Searcher::new(["needle"])?;
    /// assert!(searcher.is_match("a needle") && !searcher.is_match("a pin"));
    /// # Ok::<(), fyke::BuildError>(())
    /// ```
    #[inline]
    pub fn is_match<'h>(&self, input: impl Into<Input<'h>>) -> bool {
        let input = input.into();
        if input.is_anchored() {
            return self.find(input).is_some();
        }
        let haystack = input.bytes();
        match self.short.as_ref().and_then(|short| short.is_match(haystack)) {
            Some(found) => found,
            None => self.scan_for_any(haystack),
        }
    }

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

    /// The first match that the searcher's [`MatchKind`] reports.
    ///
    /// ```
    /// let searcher = fyke::Searcher::new(["ee", "tree"])?;
    /// assert_eq!(searcher.find("needle in a tree").map(|m| m.range()), Some(1..3));
    /// # Ok::<(), fyke::BuildError>(())
    /// ```
    #[inline]
    pub fn find<'h>(&self, input: impl Into<Input<'h>>) -> Option<Match> {
        self.first(input.into(), self.kind)
    }

    /// The match that ends first, whatever the searcher's [`MatchKind`] is: `Input::earliest` of
    /// aho-corasick.
    ///
    /// ```
    /// use fyke::{MatchKind, PatternSet, Searcher};
    ///
    /// let set = PatternSet::new(["abc", "b"])?;
    /// let searcher = Searcher::builder().match_kind(MatchKind::LeftmostFirst).build(&set)?;
    /// assert_eq!(searcher.find("abc").map(|m| m.range()), Some(0..3));
    /// assert_eq!(searcher.earliest("abc").map(|m| m.range()), Some(1..2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn earliest<'h>(&self, input: impl Into<Input<'h>>) -> Option<Match> {
        self.first(input.into(), MatchKind::Standard)
    }

    /// The non-overlapping matches that the searcher's [`MatchKind`] reports, from left to right.
    ///
    /// ```
    /// let searcher = fyke::Searcher::new(["he", "she", "hers"])?;
    /// let spans: Vec<_> = searcher.find_iter("ushers, he").map(|m| m.range()).collect();
    /// assert_eq!(spans, [1..4, 8..10]);
    /// # Ok::<(), fyke::BuildError>(())
    /// ```
    #[inline]
    pub fn find_iter<'a, 'h: 'a>(&'a self, input: impl Into<Input<'h>>) -> FindIter<'a> {
        FindIter::new(self, input.into(), self.kind.semantics())
    }

    /// All matches, overlapping ones too, in canonical order: by end, then start, then id. With
    /// anchored input, those that begin at the start of the span.
    ///
    /// ```
    /// let searcher = fyke::Searcher::new(["he", "she", "hers"])?;
    /// let spans: Vec<_> = searcher.find_overlapping_iter("ushers").map(|m| m.range()).collect();
    /// assert_eq!(spans, [1..4, 2..4, 2..6]);
    /// # Ok::<(), fyke::BuildError>(())
    /// ```
    #[inline]
    pub fn find_overlapping_iter<'a, 'h: 'a>(
        &'a self,
        input: impl Into<Input<'h>>,
    ) -> FindIter<'a> {
        FindIter::new(self, input.into(), Semantics::All)
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
    searcher: &'a Searcher,
    /// The walk that replaces the matcher in a short haystack, or while matches are dense.
    walk: Option<ShortWalk<'a>>,
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
        let walk = match &searcher.short {
            Some(short) if semantics == searcher.kind.semantics() && !input.is_anchored() => {
                short.walk(input.bytes().len())
            }
            _ => None,
        };
        Self {
            searcher,
            walk,
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

    /// Walks to the next match or the end. `None` if the matcher should go on from here.
    #[inline]
    fn walk_on(&mut self) -> Option<Option<Match>> {
        match self.walk.as_mut()?.next(self.haystack) {
            Step::Match(m) => {
                self.passed += 1;
                Some(Some(Match { start: m.start + self.offset, end: m.end + self.offset, ..m }))
            }
            Step::End => {
                self.note_distance();
                self.ended = true;
                self.walk = None;
                Some(None)
            }
            Step::Rare(at) => {
                self.haystack = &self.haystack[at..];
                self.offset += at;
                self.cut += at;
                self.walk = None;
                None
            }
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
}

impl Iterator for FindIter<'_> {
    type Item = Match;

    #[inline]
    fn next(&mut self) -> Option<Match> {
        if self.walk.is_some()
            && let Some(next) = self.walk_on()
        {
            return next;
        }
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

impl FusedIterator for FindIter<'_> {}

impl fmt::Debug for FindIter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FindIter")
            .field("semantics", &self.semantics)
            .field("haystack_len", &self.haystack.len())
            .field("cursor", &self.cursor)
            .finish_non_exhaustive()
    }
}
