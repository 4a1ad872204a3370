//! The scan: filters a tile in stage 1, then verifies its candidates in stage 2.

use super::buckets::INLINE;
use super::build::FilterTables;
use super::stage1::{self, ChunkHits};
use super::{QgramFilterMatcher, stage2};
use fyke_core::scratch::BATCH_RECORDS;
use fyke_core::{Batch, Block, PatternSet, Record, Scratch, Sink};
use std::ops::ControlFlow;

/// Bytes that stage 1 handles before stage 2 verifies the candidates. Smaller tiles are a few per
/// cent slower (`words/1000`).
pub(super) const TILE: usize = 16 << 10;

/// Record ends count from a multiple of this, so that they fit in 32 bits.
const PAGE: usize = 1 << 30;

/// The maximum number of bytes of a haystack that is first searched for a candidate. Longer ones
/// mostly have one (`size`).
pub(super) const SEARCHED: usize = 1 << 10;

/// The same for the product of its bytes and the number of patterns (`replay`).
const SEARCHED_BY_PATTERNS: usize = 1 << 19;

/// Whether a haystack is first searched for a candidate, if there are vector instructions.
pub(super) fn is_searched(bytes: usize, patterns: usize) -> bool {
    bytes <= SEARCHED && bytes.saturating_mul(patterns) <= SEARCHED_BY_PATTERNS
}

/// The maximum number of entries to collect before their records are compared.
pub(super) const HITS: usize = 8 << 10;

/// The candidates of a tile, and the buffers of stage 2.
#[derive(Default)]
pub(super) struct TileBuffers {
    pub(super) short: PositionList,
    pub(super) long: PositionList,
    pub(super) marks: super::stage1::chunks::Marks,
    pub(super) hashes: Hashes,
    pub(super) hits: Hits,
    /// Taken out while a scan writes to it. `None` before the first scan.
    found: Option<MatchBuffer>,
}

/// Capacity for the positions of a tile. Some lie beyond the end of a block, where nothing
/// matches, and a vector store may write past the last.
pub(super) const POSITIONS: usize = TILE + 256;

/// Positions from the start of a tile.
pub(super) struct PositionList {
    pub(super) at: Box<[u16; POSITIONS]>,
    pub(super) len: usize,
}

impl Default for PositionList {
    fn default() -> Self {
        PositionList { at: Box::new([0; POSITIONS]), len: 0 }
    }
}

impl PositionList {
    /// Appends a position if `yes`, without a branch.
    #[inline(always)]
    pub(super) fn push_if(&mut self, at: usize, yes: bool) {
        self.at[self.len] = at as u16;
        self.len += usize::from(yes);
    }

    /// Drops the positions from `end` on.
    pub(super) fn keep_below(&mut self, end: u16) {
        let mut kept = 0;
        for i in 0..self.len {
            let at = self.at[i];
            self.at[kept] = at;
            kept += usize::from(at < end);
        }
        self.len = kept;
    }

    pub(super) fn positions(&self) -> &[u16] {
        &self.at[..self.len]
    }
}

/// The hashes of a list's windows.
pub(super) struct Hashes(pub(super) Box<[u64; POSITIONS]>);

impl Default for Hashes {
    fn default() -> Self {
        Hashes(Box::new([0; POSITIONS]))
    }
}

/// Records to compare: their units, and the positions of their windows from the start of the tile.
/// A vector store may write up to 16 elements past the end.
pub(super) struct Hits {
    pub(super) unit: Box<[u32; HITS + 16]>,
    pub(super) at: Box<[u32; HITS + 16]>,
    pub(super) len: usize,
}

impl Default for Hits {
    fn default() -> Self {
        Hits { unit: Box::new([0; HITS + 16]), at: Box::new([0; HITS + 16]), len: 0 }
    }
}

/// Matches that the sink has not received yet, with room for a batch and one more match per hit.
pub(super) struct MatchBuffer(Box<[Record; BATCH_RECORDS + HITS]>);

impl Default for MatchBuffer {
    fn default() -> Self {
        MatchBuffer(Box::new([Record { end: 0, pattern: 0 }; BATCH_RECORDS + HITS]))
    }
}

/// Where matches go.
pub(super) struct MatchOutput<'a> {
    set: &'a PatternSet,
    sink: &'a mut dyn Sink,
    found: &'a mut MatchBuffer,
    len: usize,
    pub(super) base: u64,
    /// Whether the sink only counts, and each pattern has one id.
    pub(super) only_count: bool,
    /// Records compared in runs.
    pub(super) in_runs: u64,
    broken: bool,
}

impl MatchOutput<'_> {
    /// Where a loop writes matches without a capacity check: see [`Cursor`].
    #[inline(always)]
    pub(super) fn cursor(&mut self) -> Cursor {
        Cursor { at: self.found.0.as_mut_ptr(), len: self.len }
    }

    /// Matches that fit without a flush.
    pub(super) fn room(&self) -> usize {
        self.found.0.len().saturating_sub(self.len)
    }

    /// Takes over the matches written through a cursor.
    #[inline(always)]
    pub(super) fn advance(&mut self, cursor: &Cursor) {
        debug_assert!(cursor.len <= self.found.0.len());
        self.len = cursor.len;
    }

    /// Adds a match. The capacity is checked.
    pub(super) fn push(&mut self, end: u32, pattern: u32) {
        if self.only_count {
            self.len += 1;
            return;
        }
        self.found.0[self.len] = Record { end, pattern };
        self.len += 1;
    }

    /// Flushes if there is no room for `more` matches.
    #[inline(always)]
    pub(super) fn make_room(&mut self, more: usize) {
        if self.len + more > self.found.0.len() {
            self.flush();
        }
    }

    /// Flushes if there is a full batch.
    fn flush_if_full(&mut self) {
        if self.len >= BATCH_RECORDS {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let len = std::mem::take(&mut self.len);
        if len == 0 || self.broken {
            return;
        }
        if self.only_count
            && let Some(counter) = self.sink.counter()
        {
            *counter += len as u64;
            return;
        }
        let (base, set, records) = (self.base, self.set, &self.found.0[..len]);
        let batch = Batch { base, records, ordered: false, single: false, set };
        self.broken = self.sink.on_batch(&batch).is_break();
    }

    fn rebase(&mut self, base: u64) {
        if base != self.base {
            self.flush();
            self.base = base;
        }
    }

    fn flow(&self) -> ControlFlow<()> {
        if self.broken { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// A write position in [`MatchOutput`] whose length stays in a register.
pub(super) struct Cursor {
    at: *mut Record,
    len: usize,
}

impl Cursor {
    /// Adds a match if `yes`, without a branch.
    ///
    /// # Safety
    /// `make_room` has been called for at least as many matches as are added, and [`MatchOutput`]
    /// has not been used since.
    #[inline(always)]
    pub(super) unsafe fn push_if<const COUNT: bool>(&mut self, end: u32, pattern: u32, yes: bool) {
        if !COUNT {
            let to = self.at.wrapping_add(self.len);
            // SAFETY: the caller made room for this match, so `self.len` is below the length of
            // the buffer that `at` points to, which `MatchOutput` keeps borrowed and unmoved.
            unsafe { to.write(Record { end, pattern }) };
        }
        self.len += usize::from(yes);
    }
}

/// A tile of a block.
#[derive(Clone, Copy)]
pub(super) struct TileView<'a> {
    pub(super) tables: &'a FilterTables,
    pub(super) set: &'a PatternSet,
    pub(super) block: Block<'a>,
    /// Where the tile begins in the block.
    pub(super) at: usize,
}

impl TileView<'_> {
    /// Whether a window or a pattern around one of its positions may reach outside the block, or
    /// end before the owned bytes.
    pub(super) fn is_edge(&self) -> bool {
        let before = self.block.overlap.max(1 << 8);
        let beyond = TILE + self.set.max_len().max(INLINE);
        self.at < before || self.at + beyond > self.block.bytes.len()
    }

    /// The tile's offset from the start of its page.
    pub(super) fn in_page(&self) -> u32 {
        (self.at - self.page()) as u32
    }

    /// The block offset from which record ends count.
    pub(super) fn page(&self) -> usize {
        self.at & !(PAGE - 1)
    }
}

impl QgramFilterMatcher {
    /// See [`Matcher::first_candidate`](fyke_core::Matcher::first_candidate).
    pub(super) fn find_candidate(&self, haystack: &[u8]) -> usize {
        match self.first_window(haystack) {
            at if at < haystack.len() => at.saturating_sub(self.set.overlap()),
            at => at,
        }
    }

    /// Where stage 1 may begin without losing a match: the haystack's length if it was searched and
    /// has no candidate, 0 if it was not searched.
    fn first_window(&self, haystack: &[u8]) -> usize {
        if self.set.is_empty() {
            return haystack.len();
        }
        if !is_searched(haystack.len(), self.set.len()) {
            return 0;
        }
        let (dispatch, gathers, all) = (self.dispatch, self.gathers, 0..haystack.len());
        let mut hits = ChunkHits::none(0);
        stage1::find_chunk(dispatch, gathers, &self.tables, haystack, all, &mut hits);
        haystack.len().min(hits.first())
    }

    pub(super) fn scan_tiles(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        if block.owned().is_empty() {
            return ControlFlow::Continue(());
        }
        let mut at = block.overlap - block.overlap.min(self.set.overlap());
        at += self.first_window(&block.bytes[at..]);
        if at == block.bytes.len() {
            return ControlFlow::Continue(());
        }
        let (_, lists) = scratch.parts::<TileBuffers>();
        let mut found = std::mem::take(&mut lists.found);
        let single = self.set.id_count() == self.set.len();
        let mut out = MatchOutput {
            only_count: single && sink.counter().is_some(),
            set: &self.set,
            sink,
            found: found.get_or_insert_default(),
            len: 0,
            base: block.offset,
            in_runs: 0,
            broken: false,
        };
        let mut spent = 0;
        while at < block.bytes.len() && !out.broken {
            let to = block.bytes.len().min(at + TILE);
            let tile = TileView { tables: &self.tables, set: &self.set, block, at };
            out.rebase(block.offset + tile.page() as u64);
            (lists.short.len, lists.long.len) = (0, 0);
            stage1::fill(self.dispatch, self.gathers, &self.tables, block.bytes, at..to, lists);
            let candidates = lists.short.len + lists.long.len;
            spent += candidates;
            spent += stage2::confirm(self.dispatch, tile, lists, &mut out);
            out.flush_if_full();
            at = to;
        }
        out.flush();
        let (flow, in_runs) = (out.flow(), out.in_runs);
        scratch.parts::<TileBuffers>().1.found = found;
        scratch.spend(spent as u64 + in_runs);
        flow
    }
}
