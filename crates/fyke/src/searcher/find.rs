//! The `find` calls: non-overlapping matches, as [`MatchKind`] says, and the iterators.

use super::pool::{self, Lease};
use super::{Input, Searcher};
use fyke_core::driver::growing_piece;
use fyke_core::{Batch, Block, Match, Semantics, Sink};
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
    /// The match that ends first; of those, the longest.
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
        let mut state = pool::lease();
        state.driver.parts().0.forget();
        state.driver.is_match(&**self.matcher(), input.bytes())
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
        self.find_iter(input).next()
    }

    /// The match that ends first, whatever the searcher's [`MatchKind`] is.
    #[inline]
    pub fn earliest<'h>(&self, input: impl Into<Input<'h>>) -> Option<Match> {
        FindIter::new(self, input.into(), Semantics::Standard).next()
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

    /// All matches, overlapping ones too, in canonical order: by end, then start, then id.
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

/// Iterates over the matches of one haystack. It scans piece by piece, only as far as it is asked.
pub struct FindIter<'a> {
    searcher: &'a Searcher,
    /// Its `found` are the matches of the last piece.
    state: Lease,
    /// How many of `found` were given.
    given: usize,
    semantics: Semantics,
    haystack: &'a [u8],
    /// The position of the haystack's first byte for the caller.
    offset: usize,
    /// Where the next piece begins, or the next anchored match.
    at: usize,
    /// Bytes of the last piece.
    piece: Option<usize>,
    anchored: bool,
    /// Whether the whole haystack was scanned.
    ended: bool,
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
    fn new<'h: 'a>(searcher: &'a Searcher, input: Input<'h>, semantics: Semantics) -> Self {
        let mut state = pool::lease();
        state.driver.restart(semantics, searcher.set());
        state.found.clear();
        let (haystack, offset) = (input.bytes(), input.start());
        let anchored = input.is_anchored();
        let (given, at, piece, ended) = (0, 0, None, false);
        Self { searcher, state, given, semantics, haystack, offset, at, piece, anchored, ended }
    }

    /// Scans the next piece. False at the end of the haystack.
    fn scan_piece(&mut self) -> bool {
        if self.ended {
            return false;
        }
        if self.anchored {
            return self.scan_anchored();
        }
        let matcher = &**self.searcher.matcher();
        let size = growing_piece(matcher, self.piece);
        let end = self.haystack.len().min(self.at + size);
        let piece = Block::whole(self.haystack).part(self.at, end, matcher.set().overlap());
        let pool::CallState { driver, found, .. } = &mut *self.state;
        found.clear();
        let mut to = Found { found, offset: self.offset };
        let flow = driver.scan_piece(matcher, piece, &mut to);
        self.ended = flow.is_break() || end == self.haystack.len();
        if self.ended {
            // The sink never stops the scan.
            let _ = driver.finish(matcher.set(), &mut to);
        }
        (self.at, self.piece, self.given) = (end, Some(size), 0);
        true
    }

    /// Finds the matches that begin at the start of the rest of the haystack.
    fn scan_anchored(&mut self) -> bool {
        let matcher = &**self.searcher.matcher();
        let rest = &self.haystack[self.at..];
        let rest = &rest[..rest.len().min(matcher.set().max_len())];
        let pool::CallState { driver, found, .. } = &mut *self.state;
        found.clear();
        driver.restart(Semantics::All, matcher.set());
        let start = self.offset + self.at;
        let _ = driver.scan(matcher, Block::whole(rest), &mut Found { found, offset: start });
        found.retain(|m| m.start == start);
        let best = match self.semantics {
            // Anchored overlapping matches all begin at the start.
            Semantics::All => {
                self.ended = true;
                self.given = 0;
                return !found.is_empty();
            }
            Semantics::LeftmostFirst => found.iter().min_by_key(|m| m.pattern),
            Semantics::LeftmostLongest => found.iter().min_by_key(|m| (!m.end, m.pattern)),
            _ => found.first(),
        };
        let best = best.copied();
        found.clear();
        found.extend(best);
        self.given = 0;
        self.ended = best.is_none();
        self.at = best.map_or(self.at, |m| m.end - self.offset);
        !self.ended
    }
}

impl Iterator for FindIter<'_> {
    type Item = Match;

    #[inline]
    fn next(&mut self) -> Option<Match> {
        loop {
            if let Some(&m) = self.state.found.get(self.given) {
                self.given += 1;
                return Some(m);
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
            .field("scanned", &self.at)
            .finish_non_exhaustive()
    }
}
