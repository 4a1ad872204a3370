//! Packs: small haystacks laid one after the other and scanned as one.
//!
//! Engines need long haystacks: SIMD code tests many positions at once, and a call has a fixed
//! cost. A pack for a CPU fits the L2 cache; one for a GPU has several pieces of its pipeline. Each
//! match goes to the haystack that it ends in; a match that starts before that haystack is dropped.
//! So any engine serves, and no separator byte is needed that occurs in no pattern.
//!
//! An index finds the haystack of a match. For every 64 bytes of the pack, it has the haystack that
//! the first of these bytes belongs to. From there it is a few steps, unless many haystacks are
//! empty.
//!
//! Hyperscan's vectored mode is no alternative: it treats its pieces as one haystack and reports
//! matches across their boundaries.

use crate::groups::Union;
use fyke_core::{
    Batch, Device, PackedHaystacks, PatternSet, Record, SemanticsFilter, Sink, SortBuffer,
};
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU64, Ordering};

/// How large packs are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackSize {
    /// The maximum number of bytes of a pack.
    pub(crate) pack: usize,
    /// The maximum number of bytes that are copied to a pack, and whose matches are sorted
    /// together.
    pub(crate) held: usize,
    /// A haystack of more bytes than this is not copied.
    pub(crate) alone: usize,
}

/// On a CPU. With the tables of a small set a pack fits the L2 cache. Its size is not measured: a
/// guess. `alone` was measured with the calls of `replay` on Zen 3, from 256 bytes to 16 KiB.
const ON_CPU: PackSize = PackSize { pack: 128 << 10, held: 128 << 10, alone: 16 << 10 };

/// On a GPU. The engine copies and searches several pieces of a pack at the same time. `pack` was
/// measured on an H200 with packets of 53 and 1,400 bytes, with 64 and 256 MiB. The others are not
/// measured: guesses.
const ON_GPU: PackSize = PackSize { pack: 256 << 20, held: 64 << 20, alone: 8 << 20 };

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

/// A pack as an engine with several threads sees it.
pub(crate) struct SharedPack<'a> {
    pub(crate) pack: Pack<'a>,
    pub(crate) index: &'a [u32],
    pub(crate) sought: Sought<'a>,
    /// The matches of each haystack that threads have counted, if they are to be counted.
    pub(crate) taken: Option<&'a [AtomicU64]>,
}

impl PackedHaystacks for SharedPack<'_> {
    fn haystack(&self, at: u64) -> (usize, Range<u64>) {
        let i = self.pack.haystack_of(at as usize + 1, self.index);
        (i, self.pack.start(i) as u64..self.pack.end(i) as u64)
    }

    fn take(&self, haystack: usize, pattern: u32, matches: u64) -> bool {
        let ids = self.sought.ids(self.pack.group(haystack), pattern);
        let Some(taken) = self.taken else { return ids > 0 };
        if ids > 0 {
            taken[haystack].fetch_add(matches * ids, Ordering::Relaxed);
        }
        false
    }
}

/// A pack that haystacks are copied into.
#[derive(Default)]
pub(crate) struct PackBuffer {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    groups: Vec<usize>,
}

/// What scanning a pack writes to.
#[derive(Default)]
pub(crate) struct PackScratch {
    /// See [`Pack::fill_index`].
    pub(crate) index: Vec<u32>,
    /// Sorts the records of the pack.
    pub(crate) sort: SortBuffer,
    /// Records of one haystack.
    pub(crate) own: Vec<Record>,
    /// The matches of each haystack that an engine's threads have counted.
    pub(crate) taken: Vec<AtomicU64>,
}

/// Which patterns each haystack is searched for.
#[derive(Clone, Copy)]
pub(crate) enum Sought<'a> {
    /// Those of the matcher's set.
    Set(&'a PatternSet),
    /// Those of one group. The matcher's set is the union of all groups.
    Group(&'a Union),
}

impl<'a> Sought<'a> {
    /// The patterns of a group, or of the matcher if there are no groups.
    pub(crate) fn set(self, group: usize) -> &'a PatternSet {
        match self {
            Sought::Set(set) => set,
            Sought::Group(union) => union.set(group),
        }
    }

    /// The number of matches that one record stands for: one for each id that the pattern has in
    /// the group, 0 if the pattern is not sought.
    fn ids(self, group: usize, pattern: u32) -> u64 {
        let Some(index) = self.index(group, pattern) else { return 0 };
        let set = self.set(group);
        let several = set.id_count() > set.len();
        if several { set.ids(index).len() as u64 } else { 1 }
    }

    /// The dense index in [`set`](Self::set) of a pattern of the matcher. `None` if the pattern is
    /// not sought.
    pub(crate) fn index(self, group: usize, pattern: u32) -> Option<u32> {
        match self {
            Sought::Set(_) => Some(pattern),
            Sought::Group(union) => union.index(group, pattern),
        }
    }
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
    /// The group of each haystack. Empty for [`Sought::Set`].
    pub(crate) groups: &'a [usize],
}

impl PackSize {
    /// The sizes for an engine of a device.
    pub(crate) fn on(device: Device) -> PackSize {
        match device {
            Device::Cpu => ON_CPU,
            Device::Gpu => ON_GPU,
        }
    }
}

impl Pack<'_> {
    fn start(&self, i: usize) -> usize {
        i.checked_sub(1).map_or(0, |i| self.end(i))
    }

    fn end(&self, i: usize) -> usize {
        self.ends[i] - self.before
    }

    fn group(&self, i: usize) -> usize {
        self.groups.get(i).copied().unwrap_or(0)
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
        let wide = self.own.capacity() + self.taken.capacity();
        4 * self.index.capacity() + self.sort.memory() + 8 * wide
    }
}

impl PackBuffer {
    /// Bytes that it holds.
    pub(crate) fn memory(&self) -> usize {
        let numbers = self.ends.capacity() + self.groups.capacity();
        self.bytes.capacity() + size_of::<usize>() * numbers
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.groups.clear();
    }

    /// Whether a haystack of this many bytes can be added. If not, the pack is scanned first, so
    /// that results come in the order of the haystacks.
    #[inline]
    pub(crate) fn has_room(&self, bytes: usize, size: PackSize) -> bool {
        bytes <= size.alone && self.bytes.len() + bytes <= size.held
    }

    /// Adds a haystack. Inlined: with a call, a pack of haystacks of a few bytes takes longer
    /// (`packets`).
    #[inline]
    pub(crate) fn push(&mut self, haystack: &[u8], group: Option<usize>) {
        self.bytes.extend_from_slice(haystack);
        self.ends.push(self.bytes.len());
        self.groups.extend(group);
    }

    /// The pack, given that its last haystack has the number `count - 1`.
    pub(crate) fn pack(&self, count: usize) -> Pack<'_> {
        let first = count - self.ends.len();
        Pack { bytes: &self.bytes, ends: &self.ends, before: 0, first, groups: &self.groups }
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
    pub(crate) sought: Sought<'a>,
    pub(crate) counts: &'a mut [u64],
}

impl Sink for CountPerHaystack<'_> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        for &record in batch.records {
            let end = batch.end(record) as usize;
            let i = self.pack.haystack_of(end, self.index);
            if end - self.pack.start(i) < batch.set.pattern_len(record.pattern) {
                continue;
            }
            self.counts[i] += self.sought.ids(self.pack.group(i), record.pattern);
        }
        ControlFlow::Continue(())
    }
}

/// Gives each haystack of a pack its matches. They have to come in canonical order.
pub(crate) struct SplitByHaystack<'a, 't> {
    pub(crate) pack: Pack<'a>,
    pub(crate) index: &'a [u32],
    pub(crate) sought: Sought<'a>,
    pub(crate) own: &'a mut Vec<Record>,
    pub(crate) filter: &'a mut SemanticsFilter,
    pub(crate) output: &'a mut Output<'t>,
    /// The haystack that the filter works on.
    pub(crate) current: Option<usize>,
}

impl SplitByHaystack<'_, '_> {
    /// Passes on the matches of haystack `i` among the records of a batch, which all end there.
    fn give(&mut self, i: usize, records: &[Record], batch: &Batch<'_>) -> ControlFlow<()> {
        let (start, group) = (self.pack.start(i), self.pack.group(i));
        self.own.clear();
        self.own.extend(records.iter().filter_map(|&record| {
            let end = batch.end(record) as usize - start;
            let is_whole = end >= batch.set.pattern_len(record.pattern);
            let pattern = is_whole.then(|| self.sought.index(group, record.pattern))??;
            Some(Record { end: end as u32, pattern })
        }));
        if self.own.is_empty() {
            return ControlFlow::Continue(());
        }
        self.enter(i)?;
        let (set, records) = (self.sought.set(group), &self.own[..]);
        let batch = Batch { base: 0, records, ordered: true, single: false, set };
        let number = self.pack.first + i;
        let mut out = HaystackSink { output: self.output, number, stopped: false };
        // A break by the semantics ends this haystack, not the call.
        let _ = self.filter.apply(&batch, &mut out);
        out.flow()
    }

    /// Ends the haystack before and begins haystack `i`, if it has not begun yet.
    fn enter(&mut self, i: usize) -> ControlFlow<()> {
        if self.current == Some(i) {
            return ControlFlow::Continue(());
        }
        self.leave()?;
        self.current = Some(i);
        self.filter.restart(self.filter.semantics(), self.sought.set(self.pack.group(i)));
        ControlFlow::Continue(())
    }

    /// Ends the current haystack.
    pub(crate) fn leave(&mut self) -> ControlFlow<()> {
        let Some(i) = self.current.take() else { return ControlFlow::Continue(()) };
        let number = self.pack.first + i;
        let mut out = HaystackSink { output: self.output, number, stopped: false };
        let _ = self.filter.finish(self.sought.set(self.pack.group(i)), &mut out);
        out.flow()
    }
}

impl Sink for SplitByHaystack<'_, '_> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        let mut rest = batch.records;
        while let Some(&first) = rest.first() {
            let i = self.pack.haystack_of(batch.end(first) as usize, self.index);
            let end = self.pack.end(i) as u64;
            let count = rest.iter().take_while(|&&r| batch.end(r) <= end).count();
            let (here, later) = rest.split_at(count);
            self.give(i, here, batch)?;
            rest = later;
        }
        ControlFlow::Continue(())
    }
}

/// Passes on the matches of one haystack that belong to its group.
pub(crate) struct OfGroup<'a, 't> {
    pub(crate) union: &'a Union,
    pub(crate) group: usize,
    pub(crate) own: &'a mut Vec<Record>,
    pub(crate) filter: &'a mut SemanticsFilter,
    pub(crate) out: HaystackSink<'a, 't>,
}

impl OfGroup<'_, '_> {
    /// Ends the haystack.
    pub(crate) fn finish(mut self) -> ControlFlow<()> {
        self.out.flow()?;
        let _ = self.filter.finish(self.union.set(self.group), &mut self.out);
        self.out.flow()
    }
}

impl Sink for OfGroup<'_, '_> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        self.own.clear();
        self.own.extend(batch.records.iter().filter_map(|r| {
            let pattern = self.union.index(self.group, r.pattern)?;
            Some(Record { pattern, ..*r })
        }));
        if self.own.is_empty() {
            return ControlFlow::Continue(());
        }
        let (records, set) = (&self.own[..], self.union.set(self.group));
        self.filter.apply(&Batch { records, set, ..*batch }, &mut self.out)
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
