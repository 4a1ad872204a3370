//! One pattern in a short haystack: the `memmem` of the crate `memchr`, which starts in a few
//! nanoseconds.

use fyke_core::{Match, PatternId, PatternSet};
use memchr::memmem::Finder;

/// The largest haystack: for more bytes, a matcher is as fast (`calls`).
const MOST: usize = 64 << 10;

/// The pattern, prepared.
pub(in crate::searcher) struct OnePattern {
    finder: Finder<'static>,
    id: PatternId,
}

impl OnePattern {
    /// The only pattern of a set, if it does not ignore case.
    pub(super) fn new(set: &PatternSet) -> Option<OnePattern> {
        let one = set.len() == 1 && set.nocase_count() == 0;
        one.then(|| OnePattern {
            finder: Finder::new(set.bytes(0)).into_owned(),
            id: set.ids(0)[0],
        })
    }

    /// Whether a haystack of `len` bytes is short enough.
    #[inline]
    pub(super) fn takes(len: usize) -> bool {
        len <= MOST
    }

    /// The first match that begins at or after `from`.
    #[inline]
    pub(super) fn find(&self, haystack: &[u8], from: usize) -> Option<Match> {
        let start = from + self.finder.find(&haystack[from..])?;
        Some(Match { start, end: start + self.finder.needle().len(), pattern: self.id })
    }
}
