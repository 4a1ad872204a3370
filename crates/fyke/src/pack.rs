//! Packs: small haystacks laid one after the other and scanned as one.
//!
//! Engines need long haystacks: SIMD code tests many positions at once, and a call has a fixed
//! cost. A pack fits the L2 cache. Each match goes to the haystack that it ends in; a match that
//! starts before that haystack is dropped. So any engine serves, and no separator byte is needed
//! that occurs in no pattern.
//!
//! An index finds the haystack of a match. For every 64 bytes of the pack, it has the haystack that
//! the first of these bytes belongs to. From there it is a few steps, unless many haystacks are
//! empty.
//!
//! Hyperscan's vectored mode is no alternative: it takes its pieces for one haystack and reports
//! matches across their boundaries.

use fyke_core::{Batch, PatternSet, Record, SemanticsFilter, Sink};
use std::ops::ControlFlow;

/// The maximum number of bytes of a pack: with the tables of a small set it fits the L2 cache. Not
/// measured: a guess.
pub(crate) const PACK: usize = 128 << 10;

/// A haystack of more bytes than this is scanned by itself and not copied. Not measured: a guess.
pub(crate) const ALONE: usize = 16 << 10;

/// Bytes of a pack that share an entry of the index.
const ENTRY_BYTES: usize = 64;

/// Gets the number of a haystack and some of its matches.
pub(crate) type OnMatches<'a> = dyn FnMut(usize, &Batch<'_>) -> ControlFlow<()> + 'a;

/// Where results go.
pub(crate) enum Output<'a> {
    /// Matches go to a function.
    Matches(&'a mut OnMatches<'a>),
    /// The number of matches of each haystack.
    Counts(&'a mut Vec<u64>),
}

/// A pack that haystacks are copied into.
#[derive(Default)]
pub(crate) struct PackBuffer {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// What scanning a pack writes to.
#[derive(Default)]
pub(crate) struct PackScratch {
    /// See [`Pack::fill_index`].
    pub(crate) index: Vec<u32>,
    /// Unordered records of the pack.
    pub(crate) held: Vec<Record>,
    /// Records of one haystack.
    pub(crate) own: Vec<Record>,
}

/// Adjacent haystacks.
#[derive(Clone, Copy)]
pub(crate) struct Pack<'a> {
    pub(crate) bytes: &'a [u8],
    /// Where each haystack ends, counted from `before` bytes before the pack.
    pub(crate) ends: &'a [usize],
    /// Bytes before the pack that `ends` count, too.
    pub(crate) before: usize,
    /// The number of the first haystack.
    pub(crate) first: usize,
}

impl Pack<'_> {
    fn start(&self, i: usize) -> usize {
        i.checked_sub(1).map_or(0, |i| self.end(i))
    }

    fn end(&self, i: usize) -> usize {
        self.ends[i] - self.before
    }

    /// Writes, for every [`ENTRY_BYTES`] bytes, the haystack that the first of them belongs to.
    pub(crate) fn fill_index(&self, index: &mut Vec<u32>) {
        index.clear();
        for i in 0..self.ends.len() {
            let begun = self.end(i).div_ceil(ENTRY_BYTES);
            index.resize(index.len().max(begun), i as u32);
        }
    }

    /// The haystack that the byte before `end` belongs to.
    fn haystack_of(&self, end: usize, index: &[u32]) -> usize {
        let mut i = index[(end - 1) / ENTRY_BYTES] as usize;
        while self.end(i) < end {
            i += 1;
        }
        i
    }
}

impl PackScratch {
    /// Bytes that it holds.
    pub(crate) fn memory(&self) -> usize {
        4 * self.index.capacity() + 8 * (self.held.capacity() + self.own.capacity())
    }
}

impl PackBuffer {
    /// Bytes that it holds.
    pub(crate) fn memory(&self) -> usize {
        self.bytes.capacity() + size_of::<usize>() * self.ends.capacity()
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Whether a haystack of this many bytes can be added. If not, the pack is scanned first, so
    /// that results come in the order of the haystacks.
    pub(crate) fn has_room(&self, bytes: usize) -> bool {
        bytes <= ALONE && self.bytes.len() + bytes <= PACK
    }

    pub(crate) fn push(&mut self, haystack: &[u8]) {
        self.bytes.extend_from_slice(haystack);
        self.ends.push(self.bytes.len());
    }

    /// The pack, given that its last haystack has the number `count - 1`.
    pub(crate) fn pack(&self, count: usize) -> Pack<'_> {
        let first = count - self.ends.len();
        Pack { bytes: &self.bytes, ends: &self.ends, before: 0, first }
    }
}

impl Output<'_> {
    /// Makes room for the counts of the first `haystacks` haystacks.
    pub(crate) fn make_room(&mut self, haystacks: usize) {
        if let Output::Counts(counts) = self {
            counts.resize(haystacks, 0);
        }
    }
}

/// Counts the matches of each haystack of a pack. They may come in any order.
pub(crate) struct CountPerHaystack<'a> {
    pub(crate) pack: Pack<'a>,
    pub(crate) index: &'a [u32],
    pub(crate) set: &'a PatternSet,
    pub(crate) counts: &'a mut [u64],
}

impl Sink for CountPerHaystack<'_> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        let several_ids = self.set.id_count() > self.set.len();
        for &record in batch.records {
            let end = batch.end(record) as usize;
            let i = self.pack.haystack_of(end, self.index);
            if end - self.pack.start(i) < self.set.pattern_len(record.pattern) {
                continue;
            }
            let ids = if several_ids { self.set.ids(record.pattern).len() } else { 1 };
            self.counts[i] += ids as u64;
        }
        ControlFlow::Continue(())
    }
}

/// Gives each haystack of a pack its matches, in canonical order.
pub(crate) struct SplitByHaystack<'a, 't> {
    pub(crate) pack: Pack<'a>,
    pub(crate) index: &'a [u32],
    pub(crate) set: &'a PatternSet,
    /// Unordered records, held back until the end of the pack.
    pub(crate) held: &'a mut Vec<Record>,
    pub(crate) own: &'a mut Vec<Record>,
    pub(crate) filter: &'a mut SemanticsFilter,
    pub(crate) output: &'a mut Output<'t>,
    /// The haystack that the filter works on.
    pub(crate) current: Option<usize>,
}

impl SplitByHaystack<'_, '_> {
    /// Ends the pack: passes on the records that were held back.
    pub(crate) fn finish(mut self) -> ControlFlow<()> {
        let mut held = std::mem::take(self.held);
        sort(&mut held, self.set);
        let given = self.give(&held, 0);
        *self.held = held;
        given?;
        self.leave()
    }

    /// Passes on ordered records, haystack by haystack.
    fn give(&mut self, records: &[Record], base: usize) -> ControlFlow<()> {
        let mut rest = records;
        while let Some(first) = rest.first() {
            let i = self.pack.haystack_of(base + first.end as usize, self.index);
            let (start, end) = (self.pack.start(i), self.pack.end(i));
            let count = rest.iter().take_while(|r| base + r.end as usize <= end).count();
            let (here, later) = rest.split_at(count);
            self.own.clear();
            self.own.extend(here.iter().filter_map(|&record| {
                let end = base + record.end as usize - start;
                let whole = end >= self.set.pattern_len(record.pattern);
                whole.then_some(Record { end: end as u32, ..record })
            }));
            self.give_own(i)?;
            rest = later;
        }
        ControlFlow::Continue(())
    }

    /// Passes on the records of haystack `i`.
    fn give_own(&mut self, i: usize) -> ControlFlow<()> {
        if self.own.is_empty() {
            return ControlFlow::Continue(());
        }
        if self.current != Some(i) {
            self.leave()?;
            self.current = Some(i);
        }
        let records = &self.own[..];
        let batch = Batch { base: 0, records, ordered: true, single: false, set: self.set };
        let mut out =
            HaystackSink { output: self.output, number: self.pack.first + i, stopped: false };
        // A break by the semantics ends this haystack, not the call.
        let _ = self.filter.apply(&batch, &mut out);
        out.flow()
    }

    /// Ends the current haystack.
    fn leave(&mut self) -> ControlFlow<()> {
        let Some(i) = self.current.take() else { return ControlFlow::Continue(()) };
        let mut out =
            HaystackSink { output: self.output, number: self.pack.first + i, stopped: false };
        let _ = self.filter.finish(self.set, &mut out);
        self.filter.restart(self.filter.semantics(), self.set);
        out.flow()
    }
}

impl Sink for SplitByHaystack<'_, '_> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        let base = batch.base as usize;
        if batch.ordered && self.held.is_empty() {
            return self.give(batch.records, base);
        }
        let moved = |r: &Record| Record { end: r.end + base as u32, ..*r };
        self.held.extend(batch.records.iter().map(moved));
        ControlFlow::Continue(())
    }
}

/// Sorts records canonically: first by end and pattern, then those with the same end by start. Few
/// have the same end.
fn sort(records: &mut [Record], set: &PatternSet) {
    records.sort_unstable_by_key(|r| u64::from(r.end) << 32 | u64::from(r.pattern));
    for same in records.chunk_by_mut(|a, b| a.end == b.end).filter(|same| same.len() > 1) {
        same.sort_by_key(|r| std::cmp::Reverse(set.pattern_len(r.pattern)));
    }
}

/// Passes on the results of one haystack.
pub(crate) struct HaystackSink<'a, 't> {
    pub(crate) output: &'a mut Output<'t>,
    pub(crate) number: usize,
    /// Whether the user's function returned `Break`.
    pub(crate) stopped: bool,
}

impl HaystackSink<'_, '_> {
    pub(crate) fn flow(&self) -> ControlFlow<()> {
        if self.stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Sink for HaystackSink<'_, '_> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        let flow = match &mut self.output {
            Output::Matches(each) => each(self.number, batch),
            Output::Counts(counts) => {
                counts[self.number] += batch.count();
                ControlFlow::Continue(())
            }
        };
        self.stopped |= flow.is_break();
        flow
    }
}
