//! The scan: a tile of the haystack at a time, first the filter and what it lets pass, then the short patterns.

use super::tables::Group;
use super::{Compiled, stage1};
use fyke_core::{Block, Emitter, Scratch, Sink};
use std::ops::{ControlFlow, Range};

/// Haystack bytes that are filtered before their candidates are looked at: they are still in the first cache then. A
/// multiple of 64. Not swept.
pub(super) const TILE: usize = 8 << 10;

/// Ends of records count from a multiple of this, so that they fit 32 bits.
const PAGE: usize = 1 << 30;

/// What the vector loops find in a tile.
pub(super) struct Lists {
    pub(super) candidates: List,
    pub(super) marks: Marks,
}

/// Positions from the start of a tile. There is room for what a vector store writes beyond the last.
pub(super) struct List {
    pub(super) at: Box<[u16; TILE + 64]>,
    pub(super) len: usize,
}

/// Where short patterns begin: for 64 positions of a tile, 64 bits for each pattern of a group.
pub(super) struct Marks {
    pub(super) bits: Vec<(u16, [u64; 8])>,
}

impl Default for Lists {
    fn default() -> Self {
        let candidates = List { at: Box::new([0; TILE + 64]), len: 0 };
        Lists { candidates, marks: Marks { bits: Vec::with_capacity(TILE / 64) } }
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
        self.out.relieve()
    }

    fn count(&mut self, _matches: u64) {
        unreachable!("only where matches are counted");
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
        let mut at = block.lead - block.lead.min(self.reach);
        while at < block.bytes.len() {
            let tile = at..block.bytes.len().min(at + TILE);
            report.tile(at)?;
            if let Some((tables, _)) = &self.filter {
                lists.candidates.len = 0;
                stage1::filter(self.isa, tables, block.bytes, tile.clone(), &mut lists.candidates);
                *spent += lists.candidates.len as u64;
                self.confirm(block, at, &lists.candidates, report)?;
            }
            for group in &self.shorts {
                self.find_short(group, block, tile.clone(), &mut lists.marks, report)?;
            }
            at = tile.end;
        }
        ControlFlow::Continue(())
    }

    /// Looks at the candidates of a tile.
    fn confirm<R: Report>(
        &self,
        block: Block<'_>,
        tile: usize,
        list: &List,
        report: &mut R,
    ) -> ControlFlow<()> {
        let Some((_, confirm)) = &self.filter else { return ControlFlow::Continue(()) };
        for &at in &list.at[..list.len] {
            let at = tile + usize::from(at);
            for entry in confirm.candidates(block.bytes, at) {
                if let Some(end) = entry.end_at(&self.set, block.bytes, at)
                    && end > block.lead
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
        marks: &mut Marks,
        report: &mut R,
    ) -> ControlFlow<()> {
        let Some(last) = block.bytes.len().checked_sub(group.len) else {
            return ControlFlow::Continue(());
        };
        let first = block.lead.saturating_sub(group.len - 1).max(tile.start);
        let mut starts = first..tile.end.min(last + 1);
        if R::COUNTS
            && let Some(weights) = &group.weights
        {
            report.count(stage1::count(self.isa, group, weights, block.bytes, &mut starts));
        }
        while !starts.is_empty() {
            let some = starts.start..starts.end.min(starts.start + TILE);
            marks.bits.clear();
            stage1::mark(self.isa, group, block.bytes, some.clone(), marks);
            report_marks(group, some.start, marks, report)?;
            starts.start = some.end;
        }
        ControlFlow::Continue(())
    }
}

fn report_marks<R: Report>(
    group: &Group,
    base: usize,
    marks: &Marks,
    report: &mut R,
) -> ControlFlow<()> {
    for (at, bits) in &marks.bits {
        let end = base + usize::from(*at) + group.len;
        for ((&pattern, &ids), &bits) in group.patterns.iter().zip(&group.ids).zip(bits) {
            let mut bits = bits;
            while bits != 0 {
                report.add(end + bits.trailing_zeros() as usize, pattern, ids)?;
                bits &= bits - 1;
            }
        }
    }
    ControlFlow::Continue(())
}
