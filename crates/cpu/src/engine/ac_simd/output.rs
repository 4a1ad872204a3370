//! From hits to records, and on to the sink.

use super::Compiled;
use super::trail::{STEPS, Trail};
use fyke_automata::compact::{COPY_LEN, MAX_FLAT_LEN, ReportList};
use fyke_core::{Batch, PatternSet, Record, Sink};
use std::ops::ControlFlow;

/// Records that are gathered before the sink is called: 16 KiB, so that it finds them in the first-level cache.
const BATCH: usize = 2048;

/// Hits that are picked before their records are written, at least.
const PICKED: usize = 256;

/// Records that all of them make, at most, and those that are written behind the last.
const ROOM: usize = (PICKED + STEPS) * MAX_FLAT_LEN as usize + COPY_LEN;

/// Where the bytes ended after which something is reported.
pub(super) struct Hits {
    pub(super) ends: [u32; PICKED + 2 * STEPS],
    pub(super) found: usize,
}

impl Default for Hits {
    fn default() -> Hits {
        Hits { ends: [0; PICKED + 2 * STEPS], found: 0 }
    }
}

impl Hits {
    /// Picks those of a word of bits, four at once. The first of its bytes ends at `first`.
    #[inline(always)]
    pub(super) fn pick(&mut self, mut bits: u64, first: u32) {
        let count = bits.count_ones() as usize;
        let ends: &mut [u32; STEPS] = self.ends[self.found..].first_chunk_mut().expect("room");
        for four in ends.as_chunks_mut::<4>().0.iter_mut().take(count.div_ceil(4)) {
            for end in four {
                *end = first + bits.trailing_zeros();
                bits &= bits.wrapping_sub(1);
            }
        }
        self.found += count;
    }
}

/// Where records go, many at once; or only their number.
pub(super) struct Out<'a> {
    pub(super) of: &'a Compiled,
    pub(super) set: &'a PatternSet,
    pub(super) sink: &'a mut dyn Sink,
    pub(super) records: &'a mut Vec<Record>,
    /// The block's bytes, and the position of the first in the haystack.
    pub(super) bytes: &'a [u8],
    pub(super) offset: u64,
    /// The byte of the block that record ends count from.
    pub(super) base: usize,
    /// Matches so far, if the sink only counts.
    pub(super) counted: Option<u64>,
}

impl Out<'_> {
    /// Hands over what there is, without what a folded automaton finds too often.
    pub(super) fn flush(&mut self) -> ControlFlow<()> {
        let kept = self.of.confirm.keep(self.set, self.records, self.bytes, self.base);
        let (records, base) = (&self.records[..kept], self.offset + self.base as u64);
        let batch = Batch { base, records, ordered: true, single: false, set: self.set };
        let flow = if kept == 0 { ControlFlow::Continue(()) } else { self.sink.on_batch(&batch) };
        self.records.clear();
        flow
    }

    #[inline(always)]
    fn flush_if_full(&mut self) -> ControlFlow<()> {
        if self.records.len() >= BATCH { self.flush() } else { ControlFlow::Continue(()) }
    }

    /// Reports the patterns of a place, longest first, or counts them.
    #[inline(always)]
    pub(super) fn report(&mut self, place: u32, end: usize) -> ControlFlow<()> {
        let list = self.of.table.list(place);
        if let Some(counted) = &mut self.counted {
            *counted += u64::from(self.of.table.reports.len(list));
            return ControlFlow::Continue(());
        }
        self.push(list, (end - self.base) as u32);
        self.flush_if_full()
    }

    fn push(&mut self, list: ReportList, end: u32) {
        self.of.table.reports.each(list, |pattern| self.records.push(Record { end, pattern }));
    }

    /// Reports all of a window whose first byte ends at `first`, in order. `pick` picks the hits of a word.
    #[inline(always)]
    pub(super) fn write_all<const WIDTH: usize>(
        &mut self,
        trail: &Trail,
        hits: &mut Hits,
        first: u32,
        pick: impl Fn(&mut Hits, u64, u32),
    ) -> ControlFlow<()> {
        let cut = trail.cut();
        assert!(cut.width == WIDTH);
        hits.found = 0;
        for lane in 0..cut.lanes {
            let mut end = first + (lane * cut.size) as u32;
            // Places count from where ends do.
            let places = trail.places(lane).wrapping_sub(end as usize * WIDTH);
            for &bits in trail.bits(lane) {
                pick(hits, bits, end);
                if hits.found >= PICKED {
                    self.write_some::<WIDTH>(places, hits)?;
                }
                end += STEPS as u32;
            }
            self.write_some::<WIDTH>(places, hits)?;
        }
        ControlFlow::Continue(())
    }

    /// Writes the records of some hits of a lane, whose places count from where ends do.
    #[inline(always)]
    fn write_some<const WIDTH: usize>(
        &mut self,
        places: *const u32,
        hits: &mut Hits,
    ) -> ControlFlow<()> {
        let table = &self.of.table;
        let lists = table.words.as_ptr().wrapping_add(table.lists as usize);
        let reports = table.reports.records.as_ptr();
        self.records.reserve(ROOM);
        // SAFETY: behind the last record.
        let mut to = unsafe { self.records.as_mut_ptr().add(self.records.len()) };
        let found = std::mem::take(&mut hits.found);
        for &end in &hits.ends[..found] {
            // SAFETY: the place of a step that reports something.
            let place = unsafe { places.wrapping_add(end as usize * WIDTH).read() };
            // SAFETY: every place has a list, by the invariant of `Table`.
            let list = ReportList(unsafe { lists.wrapping_add(place as usize).read() });
            let (count, from) = (list.short_len(), reports.wrapping_add(list.start()));
            // SAFETY: lists are followed by padding, and so is the room for the records of these hits.
            unsafe { copy(from, end, to) };
            if count > COPY_LEN {
                if list.flat_len().is_none() {
                    to = self.push_long(list, end, to);
                    continue;
                }
                for i in (COPY_LEN..count).step_by(COPY_LEN) {
                    // SAFETY: `i` is below `count`, so the list and the room reach COPY_LEN records behind
                    // it, with their padding.
                    unsafe { copy(from.wrapping_add(i), end, to.wrapping_add(i)) };
                }
            }
            to = to.wrapping_add(count);
        }
        self.wrote(to);
        self.flush_if_full()
    }

    /// Takes up the records before `to`.
    #[inline(always)]
    fn wrote(&mut self, to: *mut Record) {
        let bytes = to.addr() - self.records.as_ptr().addr();
        // SAFETY: so many were written.
        unsafe { self.records.set_len(bytes / size_of::<Record>()) };
    }

    /// Writes the records of a long list to `to`, and makes room for those of other hits again. Returns where these go.
    #[cold]
    #[inline(never)]
    fn push_long(&mut self, list: ReportList, end: u32, to: *mut Record) -> *mut Record {
        self.wrote(to);
        self.push(list, end);
        self.records.reserve(ROOM);
        // SAFETY: behind the last record.
        unsafe { self.records.as_mut_ptr().add(self.records.len()) }
    }
}

/// Copies some records, all with this end.
///
/// # Safety
/// `COPY_LEN` records can be read and written.
#[inline(always)]
unsafe fn copy(from: *const Record, end: u32, to: *mut Record) {
    // SAFETY: COPY_LEN records can be read, by this function's contract.
    let some = unsafe { from.cast::<[u64; COPY_LEN]>().read_unaligned() };
    let end = word_of(Record { end, pattern: 0 });
    // SAFETY: COPY_LEN records can be written, by this function's contract.
    unsafe { to.cast::<[u64; COPY_LEN]>().write_unaligned(some.map(|record| record | end)) };
}

/// A record as one word.
#[inline(always)]
fn word_of(record: Record) -> u64 {
    // SAFETY: two words of 32 bits and nothing between.
    unsafe { std::mem::transmute(record) }
}
