//! The scan: tiles of positions, stage 1 by vectors, the buckets of what it lets pass, the patterns.

use super::build::{Buckets, Entry, Tables};
use super::{Compiled, hash, stage1};
use fyke_core::{Block, Emitter, PatternSet, Scratch, Sink};
use std::ops::ControlFlow;

/// Haystack bytes that are filtered before their candidates are looked up. In a prototype smaller tiles took a few per
/// cent longer; it is not swept here.
pub(super) const TILE: usize = 8 << 10;

/// Ends of records count from a multiple of this, so that they fit 32 bits.
const PAGE: usize = 1 << 30;

/// What stage 1 lets pass of a tile.
pub(super) struct Lists {
    pub(super) short: List,
    pub(super) long: List,
    found: Vec<(u32, u32, u32)>,
}

/// Positions from the start of a tile. There is room for what a vector store writes beyond the last.
pub(super) struct List {
    pub(super) at: Box<[u16; TILE + 64]>,
    pub(super) len: usize,
}

impl Default for List {
    fn default() -> Self {
        List { at: Box::new([0; TILE + 64]), len: 0 }
    }
}

impl Default for Lists {
    fn default() -> Self {
        Lists { short: List::default(), long: List::default(), found: Vec::with_capacity(TILE) }
    }
}

impl List {
    /// Adds a position if `yes`, without a branch.
    #[inline(always)]
    pub(super) fn push_if(&mut self, at: usize, yes: bool) {
        self.at[self.len] = at as u16;
        self.len += usize::from(yes);
    }
}

impl Compiled {
    pub(super) fn scan_tiles(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let (records, lists) = scratch.parts::<Lists>();
        let mut out = Emitter::new(&self.set, sink, records, block.offset, false);
        if self.set.is_empty() || block.owned().is_empty() {
            return ControlFlow::Continue(());
        }
        let mut at = block.lead - block.lead.min(self.set.lead());
        while at < block.bytes.len() {
            let to = block.bytes.len().min(at + TILE);
            out.rebase(block.offset + (at & !(PAGE - 1)) as u64)?;
            (lists.short.len, lists.long.len) = (0, 0);
            stage1::fill(self.isa, &self.tables, block.bytes, at..to, lists);
            let mut tile = Tile { tables: &self.tables, set: &self.set, block, at, out: &mut out };
            tile.confirm(lists)?;
            at = to;
        }
        out.flush()
    }
}

/// A tile of a block with where its matches go.
struct Tile<'a, 's> {
    tables: &'a Tables,
    set: &'a PatternSet,
    block: Block<'a>,
    at: usize,
    out: &'a mut Emitter<'s>,
}

impl Tile<'_, '_> {
    fn confirm(&mut self, lists: &mut Lists) -> ControlFlow<()> {
        let Lists { short, long, found } = lists;
        let tables = self.tables;
        self.look_up(&tables.long, tables.shape.long_mask(), long, found)?;
        self.look_up(&tables.short, u64::from(u32::MAX), short, found)
    }

    /// First all buckets, so that their cache misses overlap, then what is in them.
    fn look_up(
        &mut self,
        buckets: &Buckets,
        mask: u64,
        list: &List,
        found: &mut Vec<(u32, u32, u32)>,
    ) -> ControlFlow<()> {
        found.clear();
        for &at in &list.at[..list.len] {
            let word = hash::word(self.block.bytes, self.at + usize::from(at));
            let bucket = hash::bucket((word | self.tables.shape.fold) & mask, buckets.bits);
            let (from, to) = (buckets.first[bucket], buckets.first[bucket + 1]);
            if from < to {
                found.push((u32::from(at), from, to));
            }
        }
        for &(at, from, to) in found.iter() {
            let at = self.at + at as usize;
            for entry in &buckets.entries[from as usize..to as usize] {
                self.compare(at, entry)?;
            }
        }
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn compare(&mut self, at: usize, entry: &Entry) -> ControlFlow<()> {
        let bytes = self.block.bytes;
        let word = hash::word(bytes, at.wrapping_sub(usize::from(entry.back)));
        let mask = u64::MAX >> (64 - 8 * u32::from(entry.count));
        if ((word | self.tables.shape.fold) ^ entry.value) & mask != 0 {
            return ControlFlow::Continue(());
        }
        let start = at.wrapping_sub(usize::from(entry.offset));
        let end = start.wrapping_add(usize::from(entry.len));
        let Some(window) = bytes.get(start..end) else { return ControlFlow::Continue(()) };
        let owned = end > self.block.lead;
        if owned && (entry.exact || self.set.get(entry.pattern).is_match(window)) {
            self.out.push((end - (self.at & !(PAGE - 1))) as u32, entry.pattern);
            return self.out.relieve();
        }
        ControlFlow::Continue(())
    }
}
