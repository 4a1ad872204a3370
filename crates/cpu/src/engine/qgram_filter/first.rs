//! Finds the first match, or the next few, without the lists of a tile: see [`first_match`].

use super::QgramFilterMatcher;
use super::scan::TileView;
use super::stage1::chunks::WAYS;
use super::stage1::{self, ChunkHits};
use super::stage2::ConfirmChunk;
use crate::first_match::{self, CandidateSearch};
use crate::simd::Dispatch;
use fyke_core::{Block, First, FirstMatch, Match, PatternSet};

/// The smallest haystack in which `find_first` is faster than a transition table. Measured with 500
/// to 6,000 words of the King James Bible, in 33 to 128 bytes; no benchmark shows it.
const MIN_LEN: usize = 49;

/// The same if no pattern has a short window: then fewer candidates are false. Measured with such
/// words; `calls` has them in 128 bytes.
const MIN_LEN_WITHOUT_SHORT: usize = 40;

/// The largest haystack in which `find_first`, match by match, is faster than a scan if matches are
/// rare. Measured with 150 and 1,000 words that occur once in the King James Bible, in 8 and 64 KiB
/// of it; no benchmark shows it.
pub(super) const MAX_LEN: usize = 16 << 10;

/// The maximum number of bytes that `find_first` searches without a match. From there on, a scan
/// is faster: see [`MAX_LEN`].
const LIMIT: usize = MAX_LEN;

impl QgramFilterMatcher {
    /// See [`Matcher::find_first_min_len`](fyke_core::Matcher::find_first_min_len).
    pub(super) fn find_directly_min_len(&self) -> Option<usize> {
        let min_len = if self.tables.shape.short > 0 { MIN_LEN } else { MIN_LEN_WITHOUT_SHORT };
        (self.dispatch != Dispatch::Scalar).then_some(min_len)
    }

    /// See [`Matcher::find_first`](fyke_core::Matcher::find_first).
    pub(super) fn find_directly(&self, haystack: &[u8], first: First) -> FirstMatch {
        match self.search(haystack) {
            Some(search) => first_match::find_first(search, first, LIMIT),
            None => FirstMatch::Unknown { from: 0 },
        }
    }

    /// See [`Matcher::find_several`](fyke_core::Matcher::find_several).
    pub(super) fn find_in_turn(
        &self,
        haystack: &[u8],
        first: First,
        found: &mut Vec<Match>,
    ) -> Option<bool> {
        first_match::find_several(self.search(haystack)?, first, found)
    }

    /// The search of a haystack. `None` without vector instructions or patterns.
    #[inline(always)]
    fn search<'a>(&'a self, haystack: &'a [u8]) -> Option<Search<'a>> {
        let searches = self.dispatch != Dispatch::Scalar && !self.set.is_empty();
        searches.then(|| Search { matcher: self, haystack, hits: ChunkHits::none(0) })
    }
}

/// The search of a haystack by a matcher. It finds the candidates of a chunk together.
struct Search<'a> {
    matcher: &'a QgramFilterMatcher,
    haystack: &'a [u8],
    hits: ChunkHits,
}

impl CandidateSearch for Search<'_> {
    #[inline(always)]
    fn set(&self) -> &PatternSet {
        &self.matcher.set
    }

    #[inline(always)]
    fn haystack_len(&self) -> usize {
        self.haystack.len()
    }

    #[inline(always)]
    fn max_distance(&self) -> usize {
        // A record holds the offset of its window, plus `BEFORE`, in a byte. The candidate is at
        // most `BEFORE` bytes after the window, inside the pattern.
        self.matcher.set.overlap().min(usize::from(u8::MAX))
    }

    #[inline(always)]
    fn next_before(&mut self, end: usize) -> Option<usize> {
        let from = self.hits.next;
        if from >= end.min(self.haystack.len()) {
            return None;
        }
        let QgramFilterMatcher { dispatch, gathers, tables, .. } = self.matcher;
        let part = from..end;
        stage1::find_chunk(*dispatch, *gathers, tables, self.haystack, part, &mut self.hits);
        (self.hits.passed != [0; WAYS]).then_some(self.hits.next)
    }

    #[inline(always)]
    fn confirm(&self, _to: usize, most: usize, found: impl FnMut(usize, u32)) -> usize {
        let QgramFilterMatcher { dispatch, tables, set, .. } = self.matcher;
        let (block, at) = (Block::whole(self.haystack), self.hits.chunk);
        let tile = TileView { tables, set, block, at };
        ConfirmChunk { tile, hits: &self.hits, most, found }.run(*dispatch)
    }
}
