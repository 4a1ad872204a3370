//! The scan: a tile of the haystack at a time, first the filter and what it lets pass, then the short patterns.

use super::confirm::{Confirm, Known};
use super::tables::Group;
use super::{Compiled, stage1};
use fyke_core::{Block, Emitter, Record, Scratch, Sink};
use std::ops::{ControlFlow, Range};

/// Haystack bytes that are filtered before their candidates are looked at: they are still in the first cache then. A
/// multiple of 64. Not swept.
pub(super) const TILE: usize = 8 << 10;

/// How far ahead of the filter the haystack is fetched: the processor by itself stops at the end of a page.
pub(super) const AHEAD: usize = 2 << 10;

/// Ends of records count from a multiple of this, so that they fit 32 bits.
const PAGE: usize = 1 << 30;

/// What is found in a tile, step by step. No step branches on what a position holds: where one in a few hundred is a
/// candidate, a processor foresees nothing, and each surprise costs as much as a hundred bytes.
pub(super) struct Lists {
    /// For each 64 positions, which of them are candidates.
    passed: Box<Passed>,
    /// The candidates.
    candidates: List,
    /// Those that the tables of patterns know, with their slots: two at most.
    known: Box<[Known; 2 * TILE]>,
    /// Where each short pattern of a group begins.
    marks: Box<[Passed; 8]>,
}

/// A bit for each position of a tile.
pub(super) type Passed = [u64; TILE / 64];

/// Positions from the start of a tile. There is room for what a vector store writes beyond the last.
pub(super) struct List {
    pub(super) at: Box<[u16; TILE + 64]>,
    pub(super) len: usize,
}

impl Default for Lists {
    fn default() -> Self {
        Lists {
            passed: Box::new([0; TILE / 64]),
            candidates: List { at: Box::new([0; TILE + 64]), len: 0 },
            known: Box::new([Known::default(); 2 * TILE]),
            marks: Box::new([[0; TILE / 64]; 8]),
        }
    }
}

impl List {
    /// Adds the positions of some bits, four at a time: what is written beyond the last is written over.
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
trait Report {
    /// Whether only the number of matches is wanted.
    const COUNTS: bool;

    /// The tile at this place of the block comes next.
    fn tile(&mut self, at: usize) -> ControlFlow<()>;

    /// A match that ends at this place of the block.
    fn add(&mut self, end: usize, pattern: u32, ids: u64) -> ControlFlow<()>;

    /// So many matches, if only their number is wanted.
    fn count(&mut self, matches: u64);

    /// Matches of a pattern that end so many bytes behind a place of the block, if not only their number is wanted.
    fn add_all(&mut self, end: usize, list: &List, pattern: u32) -> ControlFlow<()>;
}

/// Counts.
struct Counted(u64);

impl Report for Counted {
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

    fn add_all(&mut self, _end: usize, _list: &List, _pattern: u32) -> ControlFlow<()> {
        unreachable!("only where records are wanted");
    }
}

/// Writes records.
struct Written<'a> {
    out: Emitter<'a>,
    offset: u64,
    page: usize,
}

impl Report for Written<'_> {
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
        unreachable!("only where matches are counted");
    }

    fn add_all(&mut self, end: usize, list: &List, pattern: u32) -> ControlFlow<()> {
        let end = (end - self.page) as u32;
        // The list has room for whole eights.
        for (eight, first) in list.at.chunks_exact(8).zip((0..list.len).step_by(8)) {
            let record = |i: usize| Record { end: end + u32::from(eight[i]), pattern };
            self.out.push_first::<8>(&std::array::from_fn(record), list.len - first);
            self.out.flush_if_full()?;
        }
        ControlFlow::Continue(())
    }
}

impl Compiled {
    pub(super) fn scan_block(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        if block.owned().is_empty() {
            return ControlFlow::Continue(());
        }
        let mut spent = 0;
        let counts = sink.counter().is_some();
        let (records, lists) = scratch.parts::<Lists>();
        let flow = if counts {
            let mut report = Counted(0);
            let flow = self.tiles(block, lists, &mut report, &mut spent);
            *sink.counter().expect("it was there before") += report.0;
            flow
        } else {
            let out = Emitter::new(&self.set, sink, records, block.offset, false);
            let mut report = Written { out, offset: block.offset, page: 0 };
            let flow = self.tiles(block, lists, &mut report, &mut spent);
            if flow.is_continue() { report.out.flush() } else { flow }
        };
        scratch.spend(spent);
        flow
    }

    fn tiles<R: Report>(
        &self,
        block: Block<'_>,
        lists: &mut Lists,
        report: &mut R,
        spent: &mut u64,
    ) -> ControlFlow<()> {
        let mut at = block.overlap - block.overlap.min(self.reach);
        while at < block.bytes.len() {
            // The first tile ends where a cache line does, so that the vectors of the others lie in one.
            let into_line = block.bytes[at..].as_ptr() as usize % 64;
            let tile = at..block.bytes.len().min(at + TILE - into_line);
            report.tile(at)?;
            if let Some((tables, confirm)) = &self.filter {
                let blocks = &mut lists.passed[..tile.len().div_ceil(64)];
                stage1::filter(self.dispatch, tables, block.bytes, tile.clone(), blocks);
                stage1::list(self.dispatch, blocks, &mut lists.candidates);
                *spent += lists.candidates.len as u64;
                let found = &lists.candidates.at[..lists.candidates.len];
                let known = confirm.look_up(block.bytes, at, found, &mut lists.known);
                self.compare(confirm, block, at, known, report, spent)?;
            }
            for group in &self.shorts {
                self.find_short(group, block, tile.clone(), lists, report)?;
            }
            at = tile.end;
        }
        ControlFlow::Continue(())
    }

    /// Compares candidates with the patterns of their slots.
    fn compare<R: Report>(
        &self,
        confirm: &Confirm,
        block: Block<'_>,
        tile: usize,
        known: &[Known],
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
    fn find_short<R: Report>(
        &self,
        group: &Group,
        block: Block<'_>,
        tile: Range<usize>,
        lists: &mut Lists,
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
        while !starts.is_empty() {
            let some = starts.start..starts.end.min(starts.start + TILE);
            let words = some.len().div_ceil(64);
            stage1::mark(self.dispatch, group, block.bytes, some.clone(), &mut lists.marks);
            let patterns = group.patterns.iter().zip(&group.ids);
            for ((&pattern, &ids), marks) in patterns.zip(lists.marks.iter()) {
                if R::COUNTS {
                    let bits = |words: &[u64]| {
                        words.iter().map(|w| u64::from(w.count_ones())).sum::<u64>()
                    };
                    report.count(bits(&marks[..words]) * ids);
                } else {
                    stage1::list(self.dispatch, &marks[..words], &mut lists.candidates);
                    report.add_all(some.start + group.len, &lists.candidates, pattern)?;
                }
            }
            starts.start = some.end;
        }
        ControlFlow::Continue(())
    }
}
