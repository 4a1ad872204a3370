//! The scan: tiles of samples, stage 1 by vectors, the buckets of what it lets pass, the patterns.

use super::build::{Entry, Tables};
use super::{Compiled, hash, stage1};
use fyke_core::{Block, Emitter, PatternSet, Scratch, Sink};
use std::ops::ControlFlow;

/// Samples that go through stage 1 before the candidates among them are looked up: with their haystack, at
/// most 16 KiB, and with the list they stay in a first-level cache. Not swept.
pub(super) const TILE: usize = 1024;

/// Ends of records count from a multiple of this, so that they fit 32 bits.
const PAGE: usize = 1 << 30;

/// Comparing so many bytes of a pattern counts as one more candidate.
const BYTES_A_CANDIDATE: usize = 64;

/// What stage 1 lets pass of a tile, as distances from the tile's first sample. There is room for what a
/// vector store writes beyond the last.
pub(super) struct List {
    pub(super) at: Box<[u32; TILE + 16]>,
    pub(super) len: usize,
}

impl List {
    /// Adds a sample if `yes`, without a branch.
    #[inline(always)]
    pub(super) fn push_if(&mut self, at: usize, yes: bool) {
        self.at[self.len] = at as u32;
        self.len += usize::from(yes);
    }
}

/// The buffers of a scan.
pub(super) struct Buffers {
    list: List,
    found: Box<[Found; TILE]>,
}

/// A candidate with the bucket that it leads to.
#[derive(Clone, Copy, Default)]
struct Found {
    at: u32,
    from: u32,
    to: u32,
}

impl Default for Buffers {
    fn default() -> Self {
        Buffers {
            list: List { at: Box::new([0; TILE + 16]), len: 0 },
            found: Box::new([Found::default(); TILE]),
        }
    }
}

impl Compiled {
    pub(super) fn scan_tiles(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let counts = sink.counter().is_some();
        let (records, buffers) = scratch.parts::<Buffers>();
        let mut out = Output {
            set: &self.set,
            records: Emitter::new(&self.set, sink, records, block.offset, false),
            counts,
            matches: 0,
            spent: 0,
        };
        let flow = self.scan_samples(block, buffers, &mut out);
        let (matches, spent) = (out.matches, out.spent);
        if let Some(counter) = sink.counter() {
            *counter += matches;
        }
        scratch.spend(spent);
        flow
    }

    fn scan_samples(
        &self,
        block: Block<'_>,
        buffers: &mut Buffers,
        out: &mut Output<'_>,
    ) -> ControlFlow<()> {
        let shape = &self.tables.shape;
        let mut at = block.lead - block.lead.min(self.set.lead());
        let samples = match (block.bytes.len() - at).checked_sub(shape.gram.len) {
            Some(last) if !self.set.is_empty() && !block.owned().is_empty() => {
                last / shape.stride + 1
            }
            _ => 0,
        };
        let mut left = samples;
        while left > 0 {
            let count = left.min(TILE);
            buffers.list.len = 0;
            stage1::fill(self.isa, &self.tables, block.bytes, at, count, &mut buffers.list);
            if buffers.list.len > 0 {
                let page = at & !(PAGE - 1);
                out.records.rebase(block.offset + page as u64)?;
                Tile { tables: &self.tables, block, at, page }.confirm(buffers, out)?;
            }
            at += count * shape.stride;
            left -= count;
        }
        out.records.flush()
    }
}

/// Where matches go.
struct Output<'s> {
    set: &'s PatternSet,
    records: Emitter<'s>,
    /// Whether they are only counted, here.
    counts: bool,
    matches: u64,
    spent: u64,
}

impl Output<'_> {
    #[inline(always)]
    fn push(&mut self, end: usize, pattern: u32) -> ControlFlow<()> {
        if self.counts {
            self.matches += self.set.ids(pattern).len() as u64;
            return ControlFlow::Continue(());
        }
        self.records.push(end as u32, pattern);
        self.records.relieve()
    }
}

/// Some samples of a block.
#[derive(Clone, Copy)]
struct Tile<'a> {
    tables: &'a Tables,
    block: Block<'a>,
    /// Where the first of them is.
    at: usize,
    /// What the ends of records count from.
    page: usize,
}

impl Tile<'_> {
    /// First all buckets, so that their cache misses overlap, then what is in them.
    fn confirm(self, buffers: &mut Buffers, out: &mut Output<'_>) -> ControlFlow<()> {
        out.spent += buffers.list.len as u64;
        let found = self.look_up(buffers);
        for candidate in found {
            let at = self.at + candidate.at as usize;
            out.spent += u64::from(candidate.to - candidate.from);
            for entry in &self.tables.entries[candidate.from as usize..candidate.to as usize] {
                self.compare(at, entry, out)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// The candidates whose buckets are not empty.
    fn look_up<'b>(&self, buffers: &'b mut Buffers) -> &'b [Found] {
        let Buffers { list, found } = buffers;
        let (gram, bits) = (self.tables.shape.gram, self.tables.shape.bucket_bits());
        let mut len = 0;
        for &at in &list.at[..list.len] {
            let hash = gram.hash(self.block.bytes, self.at + at as usize);
            let bucket = hash::bucket(hash, bits);
            let (from, to) = (self.tables.first[bucket], self.tables.first[bucket + 1]);
            found[len] = Found { at, from, to };
            len += usize::from(from < to);
        }
        &found[..len]
    }

    #[inline(always)]
    fn compare(&self, at: usize, entry: &Entry, out: &mut Output<'_>) -> ControlFlow<()> {
        let bytes = self.block.bytes;
        let beside = hash::word(bytes, at.wrapping_add_signed(isize::from(entry.shift)));
        if ((beside | self.tables.shape.gram.fold) ^ entry.value) & entry.mask() != 0 {
            return ControlFlow::Continue(());
        }
        self.compare_all(at, entry, out)
    }

    fn compare_all(&self, at: usize, entry: &Entry, out: &mut Output<'_>) -> ControlFlow<()> {
        let pattern = out.set.get(entry.pattern);
        out.spent += (pattern.bytes.len() / BYTES_A_CANDIDATE) as u64;
        let start = at.wrapping_sub(usize::from(entry.offset));
        let end = start.wrapping_add(pattern.bytes.len());
        match self.block.bytes.get(start..end) {
            Some(window) if end > self.block.lead && pattern.is_match(window) => {
                out.push(end - self.page, entry.pattern)
            }
            _ => ControlFlow::Continue(()),
        }
    }
}
