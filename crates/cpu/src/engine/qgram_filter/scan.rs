//! The scan: tiles of positions, stage 1 by vectors, the lines of what it lets pass, the patterns.

use super::build::Tables;
use super::lines::INLINE;
use super::{Compiled, stage1, stage2};
use fyke_core::scratch::BATCH_RECORDS;
use fyke_core::{Batch, Block, PatternSet, Record, Scratch, Sink};
use std::ops::ControlFlow;

/// Haystack bytes that are filtered before their candidates are looked up. In a prototype smaller tiles took a few per
/// cent longer; it is not swept here.
pub(super) const TILE: usize = 16 << 10;

/// Ends of records count from a multiple of this, so that they fit 32 bits.
const PAGE: usize = 1 << 30;

/// Entries that are gathered before their records are compared.
pub(super) const HITS: usize = 8 << 10;

/// What stage 1 lets pass of a tile, and what comes of it.
#[derive(Default)]
pub(super) struct Lists {
    pub(super) short: List,
    pub(super) long: List,
    #[cfg(target_arch = "x86_64")]
    pub(super) marks: super::stage1::chunks::Marks,
    pub(super) hashes: Hashes,
    pub(super) hits: Hits,
    /// Out while a scan writes to it. Without one, there is none yet.
    found: Option<Found>,
}

/// Room for positions of a tile: some lie beyond the end of a block, which are never of a match, and a vector store
/// writes beyond the last.
pub(super) const POSITIONS: usize = TILE + 256;

/// Positions from the start of a tile.
pub(super) struct List {
    pub(super) at: Box<[u16; POSITIONS]>,
    pub(super) len: usize,
}

impl Default for List {
    fn default() -> Self {
        List { at: Box::new([0; POSITIONS]), len: 0 }
    }
}

impl List {
    /// Adds a position if `yes`, without a branch.
    #[inline(always)]
    pub(super) fn push_if(&mut self, at: usize, yes: bool) {
        self.at[self.len] = at as u16;
        self.len += usize::from(yes);
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

/// Records to be compared: their units, and the positions of their windows from the start of the tile. There is
/// room for what a vector store writes beyond the last.
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

/// Matches that were not handed over yet: room for one for each hit beyond what makes a batch.
pub(super) struct Found(Box<[Record; BATCH_RECORDS + HITS]>);

impl Default for Found {
    fn default() -> Self {
        Found(Box::new([Record { end: 0, pattern: 0 }; BATCH_RECORDS + HITS]))
    }
}

/// Where matches go.
pub(super) struct Out<'a> {
    set: &'a PatternSet,
    sink: &'a mut dyn Sink,
    found: &'a mut Found,
    len: usize,
    pub(super) base: u64,
    /// Whether only the number of matches is wanted, and each counts once.
    pub(super) only_count: bool,
    /// Records that were compared in runs.
    pub(super) in_runs: u64,
    broken: bool,
}

impl Out<'_> {
    /// Where matches are put without looking whether there is room: see [`Cursor`].
    #[inline(always)]
    pub(super) fn cursor(&mut self) -> Cursor {
        Cursor { at: self.found.0.as_mut_ptr(), len: self.len }
    }

    /// Takes over what was put there.
    #[inline(always)]
    pub(super) fn advance(&mut self, cursor: &Cursor) {
        debug_assert!(cursor.len <= self.found.0.len());
        self.len = cursor.len;
    }

    /// Adds one of any number of matches.
    pub(super) fn push(&mut self, end: u32, pattern: u32) {
        if self.only_count {
            self.len += 1;
            return;
        }
        self.found.0[self.len] = Record { end, pattern };
        self.len += 1;
    }

    /// Hands matches over if there might not be room for so many more.
    #[inline(always)]
    pub(super) fn make_room(&mut self, more: usize) {
        if self.len + more > self.found.0.len() {
            self.flush();
        }
    }

    /// Hands over what there is, if it makes a batch.
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

/// Matches on their way to [`Out`], for loops that must not load and store a length for each.
pub(super) struct Cursor {
    at: *mut Record,
    len: usize,
}

impl Cursor {
    /// Adds a match if `yes`, without a branch.
    ///
    /// # Safety
    /// `make_room` was called for at least as many as are added, with no use of [`Out`] in between.
    #[inline(always)]
    pub(super) unsafe fn push_if<const COUNT: bool>(&mut self, end: u32, pattern: u32, yes: bool) {
        if !COUNT {
            let to = self.at.wrapping_add(self.len);
            // SAFETY: there is room for one more.
            unsafe { to.write(Record { end, pattern }) };
        }
        self.len += usize::from(yes);
    }
}

/// A tile of a block.
#[derive(Clone, Copy)]
pub(super) struct Tile<'a> {
    pub(super) tables: &'a Tables,
    pub(super) set: &'a PatternSet,
    pub(super) block: Block<'a>,
    /// Where the tile begins in the block.
    pub(super) at: usize,
}

impl Tile<'_> {
    /// Whether something around its positions may lie outside the block, or belong to the one before: the bytes of
    /// a window, or those of a pattern.
    pub(super) fn is_edge(&self) -> bool {
        let before = self.block.overlap.max(1 << 8);
        let beyond = TILE + self.set.max_len().max(INLINE);
        self.at < before || self.at + beyond > self.block.bytes.len()
    }

    /// What has to be added to a position in the tile to count from the page's start.
    pub(super) fn in_page(&self) -> u32 {
        (self.at - self.page()) as u32
    }

    /// Where the positions that a record counts from are in the block.
    pub(super) fn page(&self) -> usize {
        self.at & !(PAGE - 1)
    }
}

impl Compiled {
    pub(super) fn scan_tiles(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        if self.set.is_empty() || block.owned().is_empty() {
            return ControlFlow::Continue(());
        }
        let (_, lists) = scratch.parts::<Lists>();
        let mut found = std::mem::take(&mut lists.found);
        let single = self.set.id_count() == self.set.len();
        let mut out = Out {
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
        let mut at = block.overlap - block.overlap.min(self.set.overlap());
        while at < block.bytes.len() && !out.broken {
            let to = block.bytes.len().min(at + TILE);
            let tile = Tile { tables: &self.tables, set: &self.set, block, at };
            out.rebase(block.offset + tile.page() as u64);
            (lists.short.len, lists.long.len) = (0, 0);
            stage1::fill(self.dispatch, &self.tables, block.bytes, at..to, lists);
            let candidates = lists.short.len + lists.long.len;
            spent += candidates;
            spent += stage2::confirm(self.dispatch, tile, lists, &mut out);
            out.flush_if_full();
            at = to;
        }
        out.flush();
        let (flow, in_runs) = (out.flow(), out.in_runs);
        scratch.parts::<Lists>().1.found = found;
        scratch.spend(spent as u64 + in_runs);
        flow
    }
}
