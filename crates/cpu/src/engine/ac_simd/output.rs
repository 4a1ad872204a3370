//! Turns hits into records and passes them to the sink.

use super::AcSimdMatcher;
use super::trail::{STEPS, Trail};
use fyke_automata::compact::{COPY_LEN, MAX_FLAT_LEN, ReportList};
use fyke_core::{Batch, PatternSet, Record, Sink};
use std::ops::ControlFlow;

/// Records per call of the sink: 16 KiB, which stay in the L1 cache.
const BATCH: usize = 2048;

/// Hits that are collected before their records are written.
const PICKED: usize = 256;

/// The maximum number of records of these hits, plus those that a copy writes past the last.
const ROOM: usize = (PICKED + STEPS) * MAX_FLAT_LEN as usize + COPY_LEN;

/// The ends of matches, in ascending order: positions after which a lane reports something.
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
    /// Appends the hits of a word of bits, four at a time. The byte of bit 0 ends at `first`.
    #[inline(always)]
    pub(super) fn pick(&mut self, mut bits: u64, first: u32) {
        let count = bits.count_ones() as usize;
        let ends: &mut [u32; STEPS] =
            self.ends[self.found..].first_chunk_mut().expect("fewer than PICKED hits are pending");
        for four in ends.as_chunks_mut::<4>().0.iter_mut().take(count.div_ceil(4)) {
            for end in four {
                *end = first + bits.trailing_zeros();
                bits &= bits.wrapping_sub(1);
            }
        }
        self.found += count;
    }
}

/// Where records go, or their number.
pub(super) struct MatchOutput<'a> {
    pub(super) of: &'a AcSimdMatcher,
    pub(super) set: &'a PatternSet,
    pub(super) sink: &'a mut dyn Sink,
    pub(super) records: &'a mut Vec<Record>,
    /// The block's bytes, and the position of the first in the haystack.
    pub(super) bytes: &'a [u8],
    pub(super) offset: u64,
    /// The block offset from which record ends count.
    pub(super) base: usize,
    /// The matches so far, if the sink only counts.
    pub(super) counted: Option<u64>,
    /// Whether the sink wants the first match of a small block: lanes and batches would delay it.
    pub(super) first: bool,
}

impl MatchOutput<'_> {
    /// Flushes the records, without the false reports of a folded automaton.
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
        let full = self.first || self.records.len() >= BATCH;
        if full { self.flush() } else { ControlFlow::Continue(()) }
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

    /// Reports all hits of a window in order. Its first byte ends at `first`. `pick` collects the
    /// hits of a word.
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
            // Rebased so that `end * WIDTH` is the index of the place of a hit.
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

    /// Writes the records of the collected hits of a lane. `places` is indexed by their ends.
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
        // SAFETY: the length of a `Vec` is at most its capacity, so the result is in or one past
        // its allocation.
        let mut to = unsafe { self.records.as_mut_ptr().add(self.records.len()) };
        let found = std::mem::take(&mut hits.found);
        for &end in &hits.ends[..found] {
            // SAFETY: `end` is the end of a step of this lane whose bit is set, and the lane
            // wrote the place of each such step to the trail.
            let place = unsafe { places.wrapping_add(end as usize * WIDTH).read() };
            debug_assert!(((table.lists + place) as usize) < table.words.len());
            // SAFETY: by the invariant of `AcSimdTable`, `words[lists + p]` is the list of place
            // `p`.
            let list = ReportList(unsafe { lists.wrapping_add(place as usize).read() });
            debug_assert!(list.start() + COPY_LEN <= table.reports.records.len());
            let (count, from) = (list.short_len(), reports.wrapping_add(list.start()));
            // SAFETY: `Reports` pads its records with COPY_LEN more, so that many can be read at
            // the start of any list. ROOM reserves MAX_FLAT_LEN records for each hit and COPY_LEN
            // past the last.
            unsafe { copy(from, end, to) };
            if count > COPY_LEN {
                if list.flat_len().is_none() {
                    to = self.push_long(list, end, to);
                    continue;
                }
                for i in (COPY_LEN..count).step_by(COPY_LEN) {
                    // SAFETY: `i` is below `count`, which is at most MAX_FLAT_LEN. So COPY_LEN
                    // records follow it in the padded list, and in ROOM.
                    unsafe { copy(from.wrapping_add(i), end, to.wrapping_add(i)) };
                }
            }
            to = to.wrapping_add(count);
        }
        self.wrote(to);
        self.flush_if_full()
    }

    /// Sets the length to include the records before `to`.
    #[inline(always)]
    fn wrote(&mut self, to: *mut Record) {
        let bytes = to.addr() - self.records.as_ptr().addr();
        debug_assert!(bytes / size_of::<Record>() <= self.records.capacity());
        // SAFETY: `to` is in the reserved capacity, as asserted above, and the callers have written
        // all records before it.
        unsafe { self.records.set_len(bytes / size_of::<Record>()) };
    }

    /// Writes the records of a long list to `to`, reserves ROOM for those of other hits, and
    /// returns where these go.
    #[cold]
    #[inline(never)]
    fn push_long(&mut self, list: ReportList, end: u32, to: *mut Record) -> *mut Record {
        self.wrote(to);
        self.push(list, end);
        self.records.reserve(ROOM);
        // SAFETY: the length of a `Vec` is at most its capacity, so the result is in or one past
        // its allocation.
        unsafe { self.records.as_mut_ptr().add(self.records.len()) }
    }
}

/// Copies COPY_LEN records, and sets the end of each.
///
/// # Safety
/// COPY_LEN records can be read at `from` and written at `to`.
#[inline(always)]
unsafe fn copy(from: *const Record, end: u32, to: *mut Record) {
    // SAFETY: the caller guarantees COPY_LEN readable records; the read is unaligned.
    let some = unsafe { from.cast::<[u64; COPY_LEN]>().read_unaligned() };
    let end = word_of(Record { end, pattern: 0 });
    // SAFETY: the caller guarantees room for COPY_LEN records; the write is unaligned.
    unsafe { to.cast::<[u64; COPY_LEN]>().write_unaligned(some.map(|record| record | end)) };
}

/// A record as one word.
#[inline(always)]
fn word_of(record: Record) -> u64 {
    // SAFETY: a `Record` is two `u32` without padding, and any bits are a valid `u64`;
    // `transmute` checks the size.
    unsafe { std::mem::transmute(record) }
}
