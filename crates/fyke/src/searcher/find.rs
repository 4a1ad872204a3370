//! The `find` calls: they report non-overlapping matches, which [`MatchKind`] selects.

use super::{FindIter, Input, Searcher};
use fyke_core::{Match, Semantics};

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
        self.any(input.bytes())
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
