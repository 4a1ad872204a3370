//! [`Driver`]: scans the blocks of one haystack and passes on what the semantics select.
//!
//! Searchers, iterators, streams and the command line use it. It cuts a block into pieces, so that
//! unordered matches are sorted while they are in a cache, and few are held at once. At the end of
//! each piece it passes on the matches that are decided. So leftmost semantics hold back only
//! matches that start in the last `max_len` bytes.

use crate::block::Block;
use crate::engine::{Device, Matcher};
use crate::pattern::PatternSet;
use crate::scratch::Scratch;
use crate::semantics::{Semantics, SemanticsFilter};
use crate::sink::Sink;
use crate::sorter::{SortBuffer, Sorter};
use std::ops::ControlFlow;

/// Bytes of a piece for a CPU engine. They fit in an L2 cache together with an automaton
/// (`threads`).
pub const PIECE: usize = 256 << 10;

/// Bytes of a piece for a GPU engine. Each piece is a copy to the device and a launch, with some 10
/// microseconds of overhead. For a file in the page cache, 8 MiB is faster than 16 MiB
/// (`fyke bench gpu --stream -f resident/32 -j 16`).
pub const DEVICE_PIECE: usize = 8 << 20;

/// Matches that have to be sorted are dense if there is one in fewer bytes than this. Then pieces
/// of a CPU engine are small, so that the matches of a piece stay in the L1 cache. Not measured: a
/// guess.
const DENSE: usize = 8;

/// Bytes of a piece where matches are dense. Not measured: a guess.
const DENSE_PIECE: usize = 16 << 10;

/// A piece owns at least this many times as many bytes as the overlap has, so that scanning
/// overlaps stays a small part of the work. Where matches are dense, it may own as few as the
/// overlap has.
const OVERLAPS_PER_PIECE: usize = 16;

/// The first piece of a [`Cursor`] owns this many bytes, or as many as the overlap if that is more.
/// Each further piece is four times as long (`calls`).
const FIRST: usize = 64;

/// Bytes of a piece for a matcher.
pub fn piece_size(matcher: &dyn Matcher) -> usize {
    let least = match matcher.info().device {
        Device::Cpu => PIECE,
        Device::Gpu => DEVICE_PIECE,
    };
    least.max(OVERLAPS_PER_PIECE * matcher.set().overlap())
}

/// Cuts a haystack in memory into pieces, for calls that may end at the first match. It skips to
/// the next candidate, and its first pieces are small.
#[derive(Clone, Debug, Default)]
pub struct Cursor {
    /// Every match that ends at or before this position is in a piece that was yielded before.
    at: usize,
    /// Bytes of the next piece. 0 before the first one.
    size: usize,
}

impl Cursor {
    /// The next piece that may have a match. `None` if no further match is possible.
    #[inline]
    pub fn next<'h>(&mut self, matcher: &dyn Matcher, haystack: &'h [u8]) -> Option<Block<'h>> {
        if self.at == haystack.len() {
            return None;
        }
        let history = if self.at == 0 { 0 } else { self.at.min(matcher.set().overlap()) };
        let from = self.at - history;
        let from = from + matcher.first_candidate(&haystack[from..]);
        if from == haystack.len() {
            self.at = from;
            return None;
        }
        Some(self.piece(matcher, haystack, from))
    }

    /// The next piece, given that no match that ends after `at` begins before `from`.
    fn piece<'h>(&mut self, matcher: &dyn Matcher, haystack: &'h [u8], from: usize) -> Block<'h> {
        let start = self.at.max(from);
        let rest = haystack.len() - start;
        if rest > FIRST {
            let most = piece_size(matcher);
            let grown =
                if self.size == 0 { FIRST.max(matcher.set().overlap()) } else { 4 * self.size };
            self.size = if matcher.info().device == Device::Gpu { most } else { grown.min(most) };
        } else {
            // The last piece needs no size, so no virtual calls for one.
            self.size = rest;
        }
        let to = start + rest.min(self.size);
        let block =
            Block { bytes: &haystack[from..to], overlap: start - from, offset: from as u64 };
        self.at = to;
        block
    }

    /// Every match that ends at or before this position is in a piece that was yielded.
    #[inline]
    pub fn position(&self) -> usize {
        self.at
    }

    /// Whether the whole haystack was yielded or skipped.
    #[inline]
    pub fn is_at_end(&self, haystack: &[u8]) -> bool {
        self.at == haystack.len()
    }
}

/// Scans the blocks of one haystack, in order. It keeps its memory for the next haystack.
///
/// ```
/// use fyke_core::{Block, Collect, Driver, Matcher, Semantics};
/// # fn scan(matcher: &dyn Matcher) -> Vec<fyke_core::StreamMatch> {
/// let mut found = Collect::default();
/// let mut driver = Driver::new(Semantics::LeftmostFirst, matcher.set());
/// let _ = driver.scan(matcher, Block::whole(b"ushers"), &mut found);
/// let _ = driver.finish(matcher.set(), &mut found);
/// found.matches
/// # }
/// ```
pub struct Driver {
    scratch: Scratch,
    sort: SortBuffer,
    filter: SemanticsFilter,
}

impl Driver {
    /// A driver at the start of a haystack.
    pub fn new(semantics: Semantics, set: &PatternSet) -> Self {
        Self::with(SemanticsFilter::new(semantics, set))
    }

    /// A driver that continues the haystack of a filter.
    pub(crate) fn with(filter: SemanticsFilter) -> Self {
        Self { scratch: Scratch::following(), sort: SortBuffer::default(), filter }
    }

    /// Returns to the start of a haystack.
    #[inline]
    pub fn restart(&mut self, semantics: Semantics, set: &PatternSet) {
        self.scratch.forget();
        self.filter.restart(semantics, set);
    }

    /// Scans the next block of the haystack, which owns any number of bytes.
    ///
    /// Returns `Break` if the sink or the semantics stopped the scan.
    pub fn scan(
        &mut self,
        matcher: &dyn Matcher,
        block: Block<'_>,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        // For every matcher this is one piece, so no virtual calls for its size (`fyke bench hs
        // --call`).
        if (1..=PIECE).contains(&block.owned().len()) {
            return self.scan_piece(matcher, block, sink);
        }
        let (largest, overlap) = (piece_size(matcher), matcher.set().overlap());
        let (mut from, end) = (block.overlap, block.bytes.len());
        let dense_piece = match matcher.info().device {
            Device::Cpu => largest.min(DENSE_PIECE.max(overlap)),
            Device::Gpu => largest,
        };
        let mut size = largest;
        while from < end {
            let to = end.min(from + size);
            self.scan_piece(matcher, block.part(from, to, overlap), sink)?;
            let dense = DENSE * self.sort.last_sorted() > to - from;
            size = if dense { dense_piece } else { largest };
            from = to;
        }
        ControlFlow::Continue(())
    }

    /// Scans a piece, and sorts its matches at its end. A piece is small: see [`piece_size`].
    pub fn scan_piece(
        &mut self,
        matcher: &dyn Matcher,
        piece: Block<'_>,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let set = matcher.set();
        if self.filter.semantics() == Semantics::All && sink.counter().is_some() {
            self.sort.reset();
            return matcher.scan(piece, &mut self.scratch, sink);
        }
        {
            let mut filtered = self.filter.sink(sink);
            let mut sorter = Sorter::new(set, piece.offset, &mut self.sort, &mut filtered);
            matcher.scan(piece, &mut self.scratch, &mut sorter)?;
            sorter.finish()?;
        }
        self.filter.advance(piece.offset + piece.bytes.len() as u64, set, sink)
    }

    /// Ends the haystack: passes on the matches that were held back.
    pub fn finish(&mut self, set: &PatternSet, sink: &mut dyn Sink) -> ControlFlow<()> {
        self.filter.finish(set, sink)
    }

    /// The scratch, to scan for results that need no order, and the filter, for matches that are
    /// already sorted.
    pub fn parts(&mut self) -> (&mut Scratch, &mut SemanticsFilter) {
        (&mut self.scratch, &mut self.filter)
    }

    /// Matches passed on so far, without those that an engine added to a [`Sink::counter`].
    pub fn matches(&self) -> u64 {
        self.filter.matches()
    }

    /// Writes the state of the semantics, as part of a stream's state.
    pub(crate) fn encode(&self, set: &PatternSet, to: &mut Vec<u8>) {
        self.filter.encode(set, to);
    }

    /// Bytes of the buffers that grow with the number of matches.
    pub fn memory(&self) -> usize {
        self.scratch.memory() + self.sort.memory() + self.filter.memory()
    }
}

impl Default for Driver {
    /// A driver that reports all matches.
    fn default() -> Self {
        Self::with(SemanticsFilter::default())
    }
}
