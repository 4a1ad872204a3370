//! One pattern: [`teddy::OnePattern`] with the pattern's id.

use fyke_core::{Match, Options, PatternId, PatternSet};
use fyke_cpu::engine::teddy;

/// The pattern, prepared.
pub(in crate::searcher) struct OnePattern {
    pattern: teddy::OnePattern,
    id: PatternId,
}

impl OnePattern {
    /// The only pattern of a set, if it does not ignore case.
    pub(super) fn new(set: &PatternSet, opt: &Options) -> Option<OnePattern> {
        let pattern = teddy::OnePattern::new(set, opt)?;
        Some(OnePattern { pattern, id: set.ids(0)[0] })
    }

    /// Whether there is a match.
    #[inline]
    pub(in crate::searcher) fn is_match(&self, haystack: &[u8]) -> bool {
        self.pattern.find(haystack, false).is_some()
    }

    /// The first match that begins at or after `from`. `near`: whether matches are expected to be
    /// less than some two kilobytes apart.
    #[inline]
    pub(in crate::searcher) fn find(
        &self,
        haystack: &[u8],
        from: usize,
        near: bool,
    ) -> Option<Match> {
        let start = from + self.pattern.find(&haystack[from..], near)?;
        Some(Match { start, end: start + self.pattern.pattern_len(), pattern: self.id })
    }
}
