//! [`Sorter`]: puts the matches of a block in canonical order.
//!
//! Filters find matches nearly in order, so insertion sort comes first. It gives up after a few
//! steps per match. Then the matches are cut into parts, each of which ends before the next begins
//! or at the same position. A radix sort takes each long part.

use crate::matches::{Batch, Record};
use crate::pattern::PatternSet;
use crate::sink::Sink;
use std::cmp::Reverse;
use std::ops::ControlFlow;

/// Sorts the matches of one block canonically before another sink gets them.
///
/// Ordered batches pass at once. From the first unordered batch on, all are held back until
/// [`settle`](Sink::settle), or [`finish`](Self::finish) at the end of the block, which must be
/// called. Matches of later blocks end later, so all matches of a haystack come out sorted.
pub struct Sorter<'a> {
    inner: &'a mut dyn Sink,
    buffer: &'a mut SortBuffer,
    set: &'a PatternSet,
    /// The ends of the held records count from here.
    base: u64,
}

/// The memory of a [`Sorter`], to be used again for the next block.
#[derive(Debug, Default)]
pub struct SortBuffer {
    held: Vec<Record>,
    /// The second buffer of the radix sort.
    other: Vec<Record>,
    /// For each value of a digit, how many records have it, then where the next one goes.
    counts: Vec<u32>,
    /// The least end from each record on.
    least: Vec<u32>,
    /// How many records of the last block had to be sorted.
    sorted: usize,
}

/// The maximum number of bits of a digit of the radix sort: 1,024 counters fit the L1 cache. Not
/// measured: a guess.
const DIGIT: u32 = 10;

/// Insertion sort gives up after this many steps per match. Not measured: a guess. Matches of words
/// in text take fewer than one.
const STEPS: usize = 4;

/// The maximum number of records of a part for an insertion sort. Not measured: a guess.
const FEW: usize = 16;

/// The maximum number of records with the same end for an insertion sort. Not measured: a guess.
const SAME_END: usize = 32;

impl SortBuffer {
    /// Starts a block.
    pub(crate) fn reset(&mut self) {
        self.held.clear();
        self.sorted = 0;
    }

    /// How many records of the last block had to be sorted.
    pub(crate) fn last_sorted(&self) -> usize {
        self.sorted
    }

    /// Bytes that it holds.
    pub fn memory(&self) -> usize {
        let records = self.held.capacity() + self.other.capacity();
        let numbers = self.counts.capacity() + self.least.capacity();
        records * size_of::<Record>() + numbers * size_of::<u32>()
    }
}

impl<'a> Sorter<'a> {
    /// A sorter for a block at `offset` of at most 4 GiB. It passes on to `inner`.
    pub fn new(
        set: &'a PatternSet,
        offset: u64,
        buffer: &'a mut SortBuffer,
        inner: &'a mut dyn Sink,
    ) -> Self {
        buffer.reset();
        Self { inner, buffer, set, base: offset }
    }

    /// Ends the block: sorts the matches that are held back and passes them on.
    pub fn finish(&mut self) -> ControlFlow<()> {
        if self.buffer.held.is_empty() {
            return ControlFlow::Continue(());
        }
        sort(self.buffer, self.set);
        self.buffer.sorted += self.buffer.held.len();
        let records = &self.buffer.held;
        let batch = Batch { base: self.base, records, ordered: true, single: false, set: self.set };
        let flow = self.inner.on_batch(&batch);
        self.buffer.held.clear();
        flow
    }

    fn hold(&mut self, batch: &Batch<'_>) {
        // The base of a batch lies in the block: it is the block's offset or that of a part of it.
        let shift = u32::try_from(batch.base - self.base).expect("a block of at most 4 GiB");
        let moved = |r: &Record| Record { end: r.end + shift, ..*r };
        self.buffer.held.extend(batch.records.iter().map(moved));
    }
}

impl Sink for Sorter<'_> {
    /// Counting needs no order.
    fn counter(&mut self) -> Option<&mut u64> {
        self.inner.counter()
    }

    fn wants_first(&self) -> bool {
        self.inner.wants_first()
    }

    fn wants_order(&self) -> bool {
        true
    }

    fn settle(&mut self) -> ControlFlow<()> {
        self.finish()
    }

    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        if batch.ordered && self.buffer.held.is_empty() {
            return self.inner.on_batch(batch);
        }
        self.hold(batch);
        ControlFlow::Continue(())
    }
}

/// Sorts records by end, then start, then pattern. Few end at the same position; those are sorted
/// by comparison.
fn sort(buffer: &mut SortBuffer, set: &PatternSet) {
    if !insert_sort(&mut buffer.held, STEPS) {
        sort_parts(buffer);
    }
    let held = &mut buffer.held;
    for same in held.chunk_by_mut(|a, b| a.end == b.end).filter(|same| same.len() > 1) {
        sort_same_end(same, set);
    }
}

/// The rank of a pattern among those that end at the same position. The longest comes first, as it
/// starts first.
#[inline]
pub fn rank(set: &PatternSet, pattern: u32) -> (Reverse<usize>, u32) {
    (Reverse(set.pattern_len(pattern)), pattern)
}

/// Sorts records with the same end by their [`rank`]. Few are out of order, so this is an insertion
/// sort. The sort of the standard library would look up each length many times.
fn sort_same_end(same: &mut [Record], set: &PatternSet) {
    if same.len() > SAME_END {
        same.sort_by_cached_key(|r| rank(set, r.pattern));
        return;
    }
    for i in 1..same.len() {
        let (record, mut to) = (same[i], i);
        let own = rank(set, record.pattern);
        while to > 0 && rank(set, same[to - 1].pattern) > own {
            same[to] = same[to - 1];
            to -= 1;
        }
        same[to] = record;
    }
}

/// Insertion sort by end. Returns false, with the records in any order, if it gave up after
/// `per_record` steps per record sorted so far.
fn insert_sort(held: &mut [Record], per_record: usize) -> bool {
    let mut steps = per_record;
    for i in 1..held.len() {
        let record = held[i];
        steps += per_record;
        let mut to = i;
        while to > 0 && held[to - 1].end > record.end && i - to < steps {
            held[to] = held[to - 1];
            to -= 1;
        }
        held[to] = record;
        if i - to == steps {
            return false;
        }
        steps -= i - to;
    }
    true
}

/// Sorts records part by part. No record of a part ends before one of the parts before it, so the
/// parts of nearly sorted records are short.
fn sort_parts(buffer: &mut SortBuffer) {
    let SortBuffer { held, other, counts, least, .. } = buffer;
    other.resize(held.len(), Record { end: 0, pattern: 0 });
    least.resize(held.len(), 0);
    let mut end = u32::MAX;
    for (least, record) in least.iter_mut().zip(&*held).rev() {
        end = end.min(record.end);
        *least = end;
    }
    let (mut from, mut most) = (0, 0);
    for i in 0..held.len() {
        most = most.max(held[i].end);
        if least.get(i + 1).is_none_or(|&least| least >= most) {
            sort_part(&mut held[from..=i], other, counts);
            from = i + 1;
        }
    }
}

/// Sorts a part by end: a few records by insertion.
fn sort_part(part: &mut [Record], other: &mut [Record], counts: &mut Vec<u32>) {
    if part.len() <= FEW {
        let is_sorted = insert_sort(part, FEW);
        debug_assert!(is_sorted, "a record moves past fewer than FEW others");
    } else {
        digit_sort(part, other, counts);
    }
}

/// Radix sort by end, last digit first. `other` has as many records or more.
fn digit_sort(held: &mut [Record], other: &mut [Record], counts: &mut Vec<u32>) {
    debug_assert!(u32::try_from(held.len()).is_ok(), "a piece is small");
    let (least, most) = held.iter().fold((u32::MAX, 0), |(l, m), r| (l.min(r.end), m.max(r.end)));
    let bits = u32::BITS - most.saturating_sub(least).leading_zeros();
    let digits = digits(held.len(), bits);
    let digit = bits.div_ceil(digits);
    counts.resize(1 << digit, 0);
    let other = &mut other[..held.len()];
    let (mut from, mut to) = (&mut *held, &mut *other);
    for i in 0..digits {
        spread(from, to, counts, |end| (end - least) >> (i * digit));
        std::mem::swap(&mut from, &mut to);
    }
    if digits % 2 == 1 {
        held.copy_from_slice(other);
    }
}

/// How many digits to sort ends of some bits by. A digit takes two passes over the records and about
/// one over its counters, since clearing them is fast.
fn digits(records: usize, bits: u32) -> u32 {
    let fits = |digits: &u32| bits.div_ceil(*digits) <= DIGIT;
    let passes = |digits: &u32| *digits as usize * (2 * records + (1 << bits.div_ceil(*digits)));
    (1..=u32::BITS.div_ceil(DIGIT)).filter(fits).min_by_key(passes).expect("the last number fits")
}

/// Copies records sorted by the low bits of `shifted`, which index `counts`. The sort is stable. The
/// length of `counts` is a power of two.
fn spread(from: &[Record], to: &mut [Record], counts: &mut [u32], shifted: impl Fn(u32) -> u32) {
    let mask = counts.len() - 1;
    let digit = |r: &Record| shifted(r.end) as usize & mask;
    counts.fill(0);
    from.iter().for_each(|r| counts[digit(r)] += 1);
    let mut start = 0;
    counts.iter_mut().for_each(|n| start += std::mem::replace(n, start));
    for record in from {
        let place = &mut counts[digit(record)];
        to[*place as usize] = *record;
        *place += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::Collect;

    #[test]
    fn the_sorter_orders_a_block() {
        let set = PatternSet::new(["abc", "c"]).unwrap();
        let records = [
            Record { end: 9, pattern: 0 },
            Record { end: 3, pattern: 1 },
            Record { end: 3, pattern: 0 },
        ];
        let (mut got, mut buffer) = (Collect::default(), SortBuffer::default());
        let mut sorter = Sorter::new(&set, 90, &mut buffer, &mut got);
        let batch =
            Batch { base: 100, records: &records, ordered: false, single: false, set: &set };
        assert!(sorter.on_batch(&batch).is_continue() && sorter.finish().is_continue());
        let spans: Vec<_> = got.matches.iter().map(|m| (m.start, m.end)).collect();
        assert_eq!(spans, [(100, 103), (102, 103), (106, 109)]);
        assert_eq!(got.clone().sorted(), got.matches);
    }

    #[test]
    fn what_is_settled_is_passed_on_and_counted() {
        let set = PatternSet::new(["c"]).unwrap();
        let records = [Record { end: 9, pattern: 0 }, Record { end: 3, pattern: 0 }];
        let (mut got, mut buffer) = (Collect::default(), SortBuffer::default());
        let mut sorter = Sorter::new(&set, 0, &mut buffer, &mut got);
        let batch =
            |base, ordered, records| Batch { base, records, ordered, single: true, set: &set };
        assert!(sorter.on_batch(&batch(0, false, &records)).is_continue());
        assert!(sorter.settle().is_continue());
        assert!(sorter.on_batch(&batch(10, true, &records[..1])).is_continue());
        assert!(sorter.on_batch(&batch(20, false, &records)).is_continue());
        assert!(sorter.finish().is_continue());
        assert_eq!(got.matches.iter().map(|m| m.end).collect::<Vec<_>>(), [3, 9, 19, 23, 29]);
        assert_eq!(buffer.last_sorted(), 4);
    }

    /// Numbers below `n`, by a linear congruential generator.
    fn below(state: &mut u64, n: u64) -> u32 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((*state >> 20) % n) as u32
    }

    /// Sorts records in a buffer that may have been used, and compares them with those that the
    /// standard library sorts.
    fn check(buffer: &mut SortBuffer, held: Vec<Record>) {
        let set = PatternSet::new(["a", "aa", "b", "ba", "bba"]).unwrap();
        let start = |r: &Record| 10 + r.end as usize - set.pattern_len(r.pattern);
        let mut wanted = held.clone();
        wanted.sort_by_key(|r| (r.end, start(r), r.pattern));
        buffer.held = held;
        for _ in 0..2 {
            sort(buffer, &set);
            assert_eq!(buffer.held, wanted);
        }
    }

    #[test]
    fn any_order_and_any_distance_is_sorted() {
        let (mut state, mut buffer) = (1, SortBuffer::default());
        let spans = [(5000, 31), (500, 24), (500, 14), (500, 5), (500, 0), (10, 2), (1, 0), (0, 0)];
        for (count, bits) in spans {
            let record =
                |_| Record { end: below(&mut state, 1 << bits), pattern: below(&mut state, 5) };
            check(&mut buffer, (0..count).map(record).collect());
        }
    }

    #[test]
    fn nearly_sorted_records_are_sorted_part_by_part() {
        let (mut state, mut buffer) = (1, SortBuffer::default());
        for (far, calm) in [(2, 1), (100, 1), (100, 9), (1000, 300)] {
            // Of every `calm` stretches of 500 records, only the first is far out of order.
            let mut end = |i| {
                let distance = if i / 500 % calm == 0 { far } else { 3 };
                i + below(&mut state, distance)
            };
            let held = (0..9000).map(|i| Record { end: end(i), pattern: i % 5 }).collect();
            check(&mut buffer, held);
        }
    }
}
