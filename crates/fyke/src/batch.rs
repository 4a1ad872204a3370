//! Many small haystacks in one call: packets, log lines, keys, cells of a table.
//!
//! An engine is at its best where there is much to scan: vectors look at 64 places at once, lanes walk 64
//! pieces at once, and a call costs as much as some hundred bytes. So haystacks are laid one after the other
//! into a **pack** that fits the second-level cache, and the pack is scanned as if it were one haystack, by
//! any engine. What is found is then given back to the haystack in which it ends; what starts before that
//! haystack, in the one in front of it, is no match and is dropped. That is exact, whatever the patterns are:
//! no separator has to be found that is in none of them.
//!
//! To find the haystack of a match there is a table with an entry for each 64 bytes of the pack: the haystack
//! that the first of these bytes is in. From there it is a few steps at most, unless haystacks are empty.
//!
//! Hyperscan's answer to the same question is a vectored call, which takes its pieces for one haystack and
//! finds what straddles them; packets that do not belong together take a call each.

use crate::Searcher;
use fyke_core::{Batch, Block, Filter, PatternSet, Record, Scratch, Semantics, Sink};
use std::ops::ControlFlow;

/// Bytes of a pack: with the tables of a small set it stays in a second-level cache. Not swept.
const PACK: usize = 128 << 10;

/// A haystack longer than this is not copied but scanned by itself. Not swept.
const ALONE: usize = 16 << 10;

/// Bytes of a pack that share an entry of the table.
const LINE: usize = 64;

/// Takes the matches of a haystack: its number, and some of its matches.
pub(crate) type Each<'a> = dyn FnMut(usize, &Batch<'_>) -> ControlFlow<()> + 'a;

/// Where results go.
pub(crate) enum To<'a> {
    /// Matches, to a function.
    Each(&'a mut Each<'a>),
    /// How many each haystack has.
    Counts(&'a mut Vec<u64>),
}

/// Buffers that haystacks are packed in, kept from call to call.
#[derive(Default)]
pub(crate) struct Store {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// Buffers for what is found.
#[derive(Default)]
pub(crate) struct Room {
    lines: Vec<u32>,
    held: Vec<Record>,
    own: Vec<Record>,
}

/// What scans packs.
pub(crate) struct Run<'a, 't> {
    pub(crate) searcher: &'a Searcher,
    pub(crate) scratch: &'a mut Scratch,
    pub(crate) filter: &'a mut Filter,
    pub(crate) room: &'a mut Room,
    pub(crate) to: &'a mut To<'t>,
}

/// Haystacks that lie one after the other.
#[derive(Clone, Copy)]
struct Pack<'a> {
    bytes: &'a [u8],
    /// Where each ends.
    ends: &'a [usize],
    /// What the ends count from lies so many bytes before the pack.
    before: usize,
    /// The number of the first haystack.
    first: usize,
}

impl Pack<'_> {
    fn start(&self, i: usize) -> usize {
        i.checked_sub(1).map_or(0, |i| self.end(i))
    }

    fn end(&self, i: usize) -> usize {
        self.ends[i] - self.before
    }

    /// Notes the haystack that the first byte of each line is in.
    fn fill_lines(&self, lines: &mut Vec<u32>) {
        lines.clear();
        for i in 0..self.ends.len() {
            let begun = self.end(i).div_ceil(LINE);
            lines.resize(lines.len().max(begun), i as u32);
        }
    }

    /// The haystack that the byte before `end` is in.
    fn haystack_of(&self, end: usize, lines: &[u32]) -> usize {
        let mut i = lines[(end - 1) / LINE] as usize;
        while self.end(i) < end {
            i += 1;
        }
        i
    }
}

impl Run<'_, '_> {
    /// Packs haystacks and scans the packs.
    pub(crate) fn copied<H: AsRef<[u8]>>(
        &mut self,
        haystacks: impl IntoIterator<Item = H>,
        store: &mut Store,
    ) -> ControlFlow<()> {
        store.clear();
        let mut count = 0;
        for haystack in haystacks {
            let haystack = haystack.as_ref();
            if !store.has_room(haystack.len()) {
                self.pack(store.pack(count))?;
                store.clear();
            }
            if haystack.len() > ALONE {
                self.alone(count, haystack)?;
            } else {
                store.push(haystack);
            }
            count += 1;
        }
        self.pack(store.pack(count))
    }

    /// Scans haystacks that are packed already.
    pub(crate) fn in_place(&mut self, bytes: &[u8], ends: &[usize]) -> ControlFlow<()> {
        let mut first = 0;
        while first < ends.len() {
            let before = first.checked_sub(1).map_or(0, |i| ends[i]);
            let fits = ends[first..].partition_point(|&end| end - before <= PACK);
            let ends = &ends[first..first + fits.max(1)];
            let bytes = &bytes[before..ends[ends.len() - 1]];
            if fits == 0 {
                self.alone(first, bytes)?;
            } else {
                self.pack(Pack { bytes, ends, before, first })?;
            }
            first += ends.len();
        }
        ControlFlow::Continue(())
    }

    fn pack(&mut self, pack: Pack<'_>) -> ControlFlow<()> {
        let Room { lines, held, own } = &mut *self.room;
        pack.fill_lines(lines);
        self.scratch.forget();
        let (matcher, set) = (self.searcher.matcher(), self.searcher.set());
        let block = Block::whole(pack.bytes);
        self.to.make_room(pack.first + pack.ends.len());
        let semantics = self.filter.semantics();
        if let (false, To::Counts(counts)) = (semantics.needs_order(), &mut *self.to) {
            let counts = &mut counts[pack.first..];
            let exists = semantics == Semantics::Exists;
            let mut tally = Tally { pack, lines, set, counts, exists };
            return matcher.scan(block, self.scratch, &mut tally);
        }
        held.clear();
        let (filter, to) = (&mut *self.filter, &mut *self.to);
        let mut split = Split { pack, lines, set, held, own, filter, to, current: None };
        matcher.scan(block, self.scratch, &mut split)?;
        split.finish()
    }

    /// Scans a haystack that is too long to be packed.
    fn alone(&mut self, index: usize, haystack: &[u8]) -> ControlFlow<()> {
        self.to.make_room(index + 1);
        if let To::Counts(counts) = self.to {
            counts[index] = self.searcher.count(haystack);
            return ControlFlow::Continue(());
        }
        let mut out = Out { to: self.to, index, stopped: false };
        // That a haystack is through does not end the batch.
        let _ = self.searcher.scan(haystack, &mut out);
        out.flow()
    }
}

impl Store {
    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Whether so many bytes more can be packed. What is scanned alone comes after all that is packed.
    fn has_room(&self, bytes: usize) -> bool {
        bytes <= ALONE && self.bytes.len() + bytes <= PACK
    }

    fn push(&mut self, haystack: &[u8]) {
        self.bytes.extend_from_slice(haystack);
        self.ends.push(self.bytes.len());
    }

    /// The pack, whose last haystack is the one before number `count`.
    fn pack(&self, count: usize) -> Pack<'_> {
        let first = count - self.ends.len();
        Pack { bytes: &self.bytes, ends: &self.ends, before: 0, first }
    }
}

impl To<'_> {
    /// A count for each haystack so far.
    fn make_room(&mut self, haystacks: usize) {
        if let To::Counts(counts) = self {
            counts.resize(haystacks, 0);
        }
    }
}

/// Counts the matches of each haystack of a pack, in whatever order they come.
struct Tally<'a> {
    pack: Pack<'a>,
    lines: &'a [u32],
    set: &'a PatternSet,
    counts: &'a mut [u64],
    /// One match is as good as any number.
    exists: bool,
}

impl Sink for Tally<'_> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        let several_ids = self.set.id_count() > self.set.len();
        for &record in batch.records {
            let end = batch.end(record) as usize;
            let i = self.pack.haystack_of(end, self.lines);
            if end - self.pack.start(i) < self.set.pattern_len(record.pattern) {
                continue;
            }
            let count = &mut self.counts[i];
            *count = match () {
                () if self.exists => 1,
                () if several_ids => *count + self.set.ids(record.pattern).len() as u64,
                () => *count + 1,
            };
        }
        ControlFlow::Continue(())
    }
}

/// Gives each haystack of a pack its matches, in order.
struct Split<'a, 't> {
    pack: Pack<'a>,
    lines: &'a [u32],
    set: &'a PatternSet,
    /// Records that came out of order, until the pack is through.
    held: &'a mut Vec<Record>,
    own: &'a mut Vec<Record>,
    filter: &'a mut Filter,
    to: &'a mut To<'t>,
    /// The haystack that the filter is at.
    current: Option<usize>,
}

impl Split<'_, '_> {
    fn finish(mut self) -> ControlFlow<()> {
        let mut held = std::mem::take(self.held);
        sort(&mut held, self.set);
        let given = self.give(&held, 0);
        *self.held = held;
        given?;
        self.leave()
    }

    /// Gives records on, which are in order: those of one haystack after those of another.
    fn give(&mut self, records: &[Record], base: usize) -> ControlFlow<()> {
        let mut rest = records;
        while let Some(first) = rest.first() {
            let i = self.pack.haystack_of(base + first.end as usize, self.lines);
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

    /// Gives haystack `i` its own records.
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
        let mut out = Out { to: self.to, index: self.pack.first + i, stopped: false };
        // That a haystack is through does not end the batch.
        let _ = self.filter.apply(&batch, &mut out);
        out.flow()
    }

    /// Ends the haystack at hand.
    fn leave(&mut self) -> ControlFlow<()> {
        let Some(i) = self.current.take() else { return ControlFlow::Continue(()) };
        let mut out = Out { to: self.to, index: self.pack.first + i, stopped: false };
        let _ = self.filter.finish(&mut out);
        self.filter.restart();
        out.flow()
    }
}

impl Sink for Split<'_, '_> {
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

/// Puts records into canonical order. Few end at the same place, so the order of starts is seen to last.
fn sort(records: &mut [Record], set: &PatternSet) {
    records.sort_unstable_by_key(|r| u64::from(r.end) << 32 | u64::from(r.pattern));
    for same in records.chunk_by_mut(|a, b| a.end == b.end).filter(|same| same.len() > 1) {
        same.sort_by_key(|r| std::cmp::Reverse(set.pattern_len(r.pattern)));
    }
}

/// Gives results on under the number of their haystack.
struct Out<'a, 't> {
    to: &'a mut To<'t>,
    index: usize,
    stopped: bool,
}

impl Out<'_, '_> {
    fn flow(&self) -> ControlFlow<()> {
        if self.stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Sink for Out<'_, '_> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        let flow = match &mut self.to {
            To::Each(each) => each(self.index, batch),
            To::Counts(counts) => {
                counts[self.index] += batch.count();
                ControlFlow::Continue(())
            }
        };
        self.stopped |= flow.is_break();
        flow
    }
}
