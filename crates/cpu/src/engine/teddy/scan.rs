//! The scan: runs the filter over a tile, verifies its candidates, then finds short patterns.

use super::confirm::{Confirm, SlotHit};
use super::tables::ShortGroup;
use super::{TeddyMatcher, stage1};
use fyke_core::{Block, Emitter, Record, Scratch, Sink};
use std::ops::{ControlFlow, Range};

/// Bytes that the filter handles before their candidates are verified, a multiple of 64. They stay
/// in the L1 cache meanwhile. A guess: `words/100` would show it.
pub(super) const TILE: usize = 8 << 10;

/// The maximum number of bytes of a block that is scanned without the buffers of a tile (`size`).
const SMALL: usize = 2 << 10;

/// The maximum number of bytes of a block whose short patterns are found without lists. For longer
/// blocks that saves no time (`fyke bench hs --call`, rules of `emerging-malware.rules`).
const SMALL_WITH_SHORT: usize = 192;

/// The maximum number of candidates that the model expects in such a block (`words/20` and
/// `words/100` in calls of up to 2,000 bytes, `replay`).
const FEW_CANDIDATES: f32 = 8.0;

/// How far ahead the filter prefetches: the hardware prefetcher stops at the end of a page.
pub(super) const AHEAD: usize = 2 << 10;

/// Record ends count from a multiple of this, so that they fit in 32 bits.
const PAGE: usize = 1 << 30;

/// The buffers of a tile, one per step.
///
/// No step branches on whether a position is a candidate. With one candidate in a few hundred
/// positions, such a branch is unpredictable, and a misprediction costs as much as filtering a
/// hundred bytes.
pub(super) struct TileBuffers {
    /// One bit per position: whether it is a candidate.
    passed: Box<Passed>,
    /// The candidates.
    candidates: PositionList,
    /// The candidates whose hash some pattern has, each with its slot: at most two per candidate,
    /// or four if only even positions are candidates.
    known: Box<[SlotHit; 2 * TILE]>,
    /// For each position, the short patterns of a group that begin there. Not valid for a group of
    /// one pattern.
    found: Box<[u8; TILE]>,
}

/// One bit per position of a tile.
pub(super) type Passed = [u64; TILE / 64];

/// Positions from the start of a tile. A vector store may write up to 64 positions past the end.
pub(super) struct PositionList {
    pub(super) at: Box<[u16; TILE + 64]>,
    pub(super) len: usize,
}

impl Default for TileBuffers {
    fn default() -> Self {
        TileBuffers {
            passed: Box::new([0; TILE / 64]),
            candidates: PositionList { at: Box::new([0; TILE + 64]), len: 0 },
            known: Box::new([SlotHit::default(); 2 * TILE]),
            found: Box::new([0; TILE]),
        }
    }
}

impl PositionList {
    /// Appends the positions of the set bits, four at a time. The next call overwrites those beyond
    /// the last bit.
    #[inline(always)]
    pub(super) fn add_bits(&mut self, mut bits: u64, base: usize) {
        let count = bits.count_ones() as usize;
        let room = &mut self.at[self.len..self.len + 64];
        for four in room.chunks_exact_mut(4).take(count.div_ceil(4)) {
            for at in four {
                *at = (base + bits.trailing_zeros() as usize) as u16;
                bits &= bits.wrapping_sub(1);
            }
        }
        self.len += count;
    }
}

/// Where matches go.
trait MatchOutput {
    /// Whether the caller needs only the number of matches.
    const COUNTS: bool;

    /// Announces the tile at block offset `at`.
    fn tile(&mut self, at: usize) -> ControlFlow<()>;

    /// Adds a match that ends at block offset `end`.
    fn add(&mut self, end: usize, pattern: u32, ids: u64) -> ControlFlow<()>;

    /// Adds to the number of matches. Called only if `COUNTS`.
    fn count(&mut self, matches: u64);

    /// Adds a match of the only pattern of a group for each listed position. A match ends at its
    /// position plus the block offset `end`.
    fn add_all(&mut self, end: usize, list: &PositionList, group: &ShortGroup) -> ControlFlow<()>;

    /// Adds a match for each bit of each listed position: bit i stands for the i-th pattern of the
    /// group. A match ends at its position plus the block offset `end`.
    fn add_found(
        &mut self,
        end: usize,
        list: &PositionList,
        found: &[u8; TILE],
        group: &ShortGroup,
    ) -> ControlFlow<()> {
        for &at in &list.at[..list.len] {
            let mut bits = found[usize::from(at)];
            while bits != 0 {
                let i = bits.trailing_zeros() as usize;
                self.add(end + usize::from(at), group.patterns[i], group.ids[i])?;
                bits &= bits - 1;
            }
        }
        ControlFlow::Continue(())
    }
}

/// Counts matches.
struct CountOutput(u64);

impl MatchOutput for CountOutput {
    const COUNTS: bool = true;

    fn tile(&mut self, _at: usize) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn add(&mut self, _end: usize, _pattern: u32, ids: u64) -> ControlFlow<()> {
        self.0 += ids;
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn count(&mut self, matches: u64) {
        self.0 += matches;
    }

    fn add_all(&mut self, _end: usize, list: &PositionList, group: &ShortGroup) -> ControlFlow<()> {
        self.0 += list.len as u64 * group.ids[0];
        ControlFlow::Continue(())
    }
}

/// Writes matches as records.
struct RecordOutput<'a> {
    out: Emitter<'a>,
    offset: u64,
    page: usize,
}

impl MatchOutput for RecordOutput<'_> {
    const COUNTS: bool = false;

    fn tile(&mut self, at: usize) -> ControlFlow<()> {
        self.page = at & !(PAGE - 1);
        self.out.rebase(self.offset + self.page as u64)
    }

    #[inline(always)]
    fn add(&mut self, end: usize, pattern: u32, _ids: u64) -> ControlFlow<()> {
        self.out.push((end - self.page) as u32, pattern);
        self.out.flush_if_full()
    }

    fn count(&mut self, _matches: u64) {
        unreachable!("called for records");
    }

    fn add_all(&mut self, end: usize, list: &PositionList, group: &ShortGroup) -> ControlFlow<()> {
        let (end, pattern) = ((end - self.page) as u32, group.patterns[0]);
        // The list has a multiple of eight elements.
        for (eight, first) in list.at.chunks_exact(8).zip((0..list.len).step_by(8)) {
            let record = |i: usize| Record { end: end + u32::from(eight[i]), pattern };
            self.out.push_first::<8>(&std::array::from_fn(record), list.len - first);
            self.out.flush_if_full()?;
        }
        ControlFlow::Continue(())
    }
}

impl TeddyMatcher {
    pub(super) fn scan_block(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        if block.owned().is_empty() {
            return ControlFlow::Continue(());
        }
        if self.is_small(&block) {
            return self.scan_small(block, scratch, sink);
        }
        let Some(from) = self.first_tile(&block) else { return ControlFlow::Continue(()) };
        let mut spent = 0;
        let counts = sink.counter().is_some();
        let (records, lists) = scratch.parts::<TileBuffers>();
        let flow = if counts {
            let mut report = CountOutput(0);
            let flow = self.tiles(block, from, lists, &mut report, &mut spent);
            *sink.counter().expect("a sink keeps its counter") += report.0;
            flow
        } else {
            let out = Emitter::new(&self.set, sink, records, block.offset, false);
            let mut report = RecordOutput { out, offset: block.offset, page: 0 };
            let flow = self.tiles(block, from, lists, &mut report, &mut spent);
            if flow.is_continue() { report.out.flush() } else { flow }
        };
        scratch.spend(spent);
        flow
    }

    /// Whether a block is scanned without the buffers of a tile.
    fn is_small(&self, block: &Block<'_>) -> bool {
        let bytes = block.bytes.len();
        let most = if self.shorts.is_empty() { SMALL } else { SMALL_WITH_SHORT };
        bytes <= most && self.pass * bytes as f32 <= FEW_CANDIDATES
    }

    /// Scans a small block. It verifies each candidate at once, and takes each short pattern where
    /// it is found, so it needs no buffers of a tile.
    fn scan_small(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let (mut spent, mut flow) = (0, ControlFlow::Continue(()));
        let mut out = Emitter::new(&self.set, sink, scratch.records(), block.offset, false);
        let mut add = |end: usize, pattern: u32| {
            if end > block.overlap && flow.is_continue() {
                out.push(end as u32, pattern);
                flow = out.flush_if_full();
            }
            flow.is_continue()
        };
        if let Some((tables, confirm)) = &self.filter {
            let from = self.first_window(&block);
            let mut candidates = self.candidates(tables, block.bytes, from);
            let mut goes_on = true;
            while goes_on && let Some(at) = candidates.next() {
                spent += 1 + confirm.matches_at(&self.set, block.bytes, at, |end, pattern| {
                    goes_on = add(end, pattern);
                });
            }
        }
        self.seek_short(block.bytes, |end, pattern, _| {
            add(end, pattern);
        });
        if flow.is_continue() {
            flow = out.flush();
        }
        scratch.spend(spent as u64);
        flow
    }

    /// Calls `found` with the end of each short pattern in a small haystack, the pattern, and how
    /// many ids it has.
    #[inline(always)]
    fn seek_short(&self, bytes: &[u8], mut found: impl FnMut(usize, u32, u64)) {
        if self.shorts.is_empty() {
            return;
        }
        let mut see = |group: &ShortGroup, at: usize, mut bits: u8| {
            while bits != 0 {
                let i = bits.trailing_zeros() as usize;
                found(at + group.len, group.patterns[i], group.ids[i]);
                bits &= bits - 1;
            }
        };
        stage1::seek_short(self.dispatch, &self.shorts, bytes, &mut see);
    }

    /// From one tested position to the next.
    pub(super) fn step(&self) -> usize {
        self.filter.as_ref().map_or(1, |(tables, _)| tables.step())
    }

    /// Where the first tile begins. `None` if a short block has no candidates: most have none, and
    /// the buffers of a tile would cost as much as the filter.
    fn first_tile(&self, block: &Block<'_>) -> Option<usize> {
        let from = self.first_window(block);
        match (&self.filter, &*self.shorts) {
            (Some((tables, _)), []) if block.bytes.len() <= TILE => {
                self.candidates(tables, block.bytes, from).next()
            }
            _ => Some(from),
        }
    }

    /// Where the window of an owned match may begin.
    fn first_window(&self, block: &Block<'_>) -> usize {
        let step = self.step();
        (block.overlap - block.overlap.min(self.reach)) / step * step
    }

    /// Scans the tiles from `at` on, which is a multiple of `step`.
    fn tiles<R: MatchOutput>(
        &self,
        block: Block<'_>,
        mut at: usize,
        lists: &mut TileBuffers,
        report: &mut R,
        spent: &mut u64,
    ) -> ControlFlow<()> {
        let step = self.step();
        while at < block.bytes.len() {
            // The first tile ends at a cache line boundary, so that later loads are aligned. With a
            // step of 2 and an odd address it ends one byte later: tiles begin at multiples of
            // `step`.
            let into_line = block.bytes[at..].as_ptr() as usize % 64 / step * step;
            let tile = at..block.bytes.len().min(at + TILE - into_line);
            report.tile(at)?;
            if let Some((tables, confirm)) = &self.filter {
                let blocks = &mut lists.passed[..tile.len().div_ceil(64)];
                if stage1::filter(self.dispatch, tables, block.bytes, tile.clone(), blocks) {
                    stage1::list(self.dispatch, blocks, &mut lists.candidates);
                    *spent += lists.candidates.len as u64;
                    let TileBuffers { candidates, known, .. } = &mut *lists;
                    let candidates = &candidates.at[..candidates.len];
                    let hits = confirm.look_up(self.dispatch, block.bytes, at, candidates, known);
                    self.compare(confirm, block, at, hits, report, spent)?;
                }
            }
            if block.bytes.len() <= SMALL_WITH_SHORT {
                // This is the only tile: it ends with the block.
                let mut flow = ControlFlow::Continue(());
                self.seek_short(block.bytes, |end, pattern, ids| {
                    if end > block.overlap && flow.is_continue() {
                        flow = report.add(end, pattern, ids);
                    }
                });
                return flow;
            }
            for group in &self.shorts {
                self.find_short(group, block, tile.clone(), lists, report)?;
            }
            at = tile.end;
        }
        ControlFlow::Continue(())
    }

    /// Verifies candidates against the patterns of their slots.
    fn compare<R: MatchOutput>(
        &self,
        confirm: &Confirm,
        block: Block<'_>,
        tile: usize,
        known: &[SlotHit],
        report: &mut R,
        spent: &mut u64,
    ) -> ControlFlow<()> {
        for known in known {
            let at = tile + usize::from(known.at);
            let entries = confirm.entries(known.slot);
            *spent += entries.len() as u64;
            for entry in entries {
                if let Some(end) = entry.end_at(&self.set, block.bytes, at)
                    && end > block.overlap
                {
                    report.add(end, entry.pattern, u64::from(entry.ids))?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Finds the short patterns of a group that begin in a tile.
    fn find_short<R: MatchOutput>(
        &self,
        group: &ShortGroup,
        block: Block<'_>,
        tile: Range<usize>,
        lists: &mut TileBuffers,
        report: &mut R,
    ) -> ControlFlow<()> {
        let Some(last) = block.bytes.len().checked_sub(group.len) else {
            return ControlFlow::Continue(());
        };
        let first = block.overlap.saturating_sub(group.len - 1).max(tile.start);
        let mut starts = first..tile.end.min(last + 1);
        if R::COUNTS
            && let Some(weights) = &group.weights
        {
            report.count(stage1::count(self.dispatch, group, weights, block.bytes, &mut starts));
        }
        if starts.is_empty() {
            return ControlFlow::Continue(());
        }
        let (end, words) = (starts.start + group.len, starts.len().div_ceil(64));
        let TileBuffers { passed, candidates, found, .. } = lists;
        stage1::mark(self.dispatch, group, block.bytes, starts, found, passed);
        stage1::list(self.dispatch, &passed[..words], candidates);
        if group.one.is_some() {
            report.add_all(end, candidates, group)
        } else {
            report.add_found(end, candidates, found, group)
        }
    }
}
