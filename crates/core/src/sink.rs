//! [`Sink`]: where matches go. Counting, collecting, sorting and fingerprints are sinks.

use crate::matches::{Batch, Match, Record};
use crate::pattern::PatternSet;
use std::cmp::Reverse;
use std::ops::ControlFlow;

/// Takes matches in batches, so that there is no virtual call per match.
///
/// ```
/// use fyke_core::{Batch, Sink};
/// use std::ops::ControlFlow;
///
/// /// Remembers the longest match.
/// #[derive(Default)]
/// struct Longest(u64);
///
/// impl Sink for Longest {
///     fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
///         self.0 = batch.matches().map(|m| m.len()).fold(self.0, u64::max);
///         ControlFlow::Continue(())
///     }
/// }
/// ```
pub trait Sink {
    /// Takes some matches. `Break` asks the scan to stop.
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()>;

    /// The counter of a sink that does nothing but count. An engine may add to it and write no
    /// records. A pattern with several ids counts once for each id.
    fn counter(&mut self) -> Option<&mut u64> {
        None
    }
}

impl<S: Sink + ?Sized> Sink for &mut S {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        (**self).on_batch(batch)
    }

    fn counter(&mut self) -> Option<&mut u64> {
        (**self).counter()
    }
}

/// Counts matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Matches so far. A pattern with several ids counts once for each id.
    pub matches: u64,
}

impl Sink for Count {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        self.matches += batch.count();
        ControlFlow::Continue(())
    }

    fn counter(&mut self) -> Option<&mut u64> {
        Some(&mut self.matches)
    }
}

/// Finds out whether there is a match, and stops the scan at the first one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exists {
    /// Whether a match was seen.
    pub found: bool,
}

impl Sink for Exists {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        self.found |= !batch.records.is_empty();
        if self.found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Collects matches in a vector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collect {
    /// The matches, in the order of arrival.
    pub matches: Vec<Match>,
}

impl Collect {
    /// The matches in canonical order.
    pub fn sorted(mut self) -> Vec<Match> {
        self.matches.sort_unstable();
        self.matches
    }
}

impl Sink for Collect {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        self.matches.extend(batch.matches());
        ControlFlow::Continue(())
    }
}

/// Calls a function for each match.
#[derive(Clone, Debug)]
pub struct ForEach<F>(pub F);

impl<F: FnMut(Match) -> ControlFlow<()>> Sink for ForEach<F> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        batch.matches().try_for_each(&mut self.0)
    }
}

/// The initial value of the 64-bit FNV-1a hash.
pub const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x100_0000_01b3;

/// The FNV-1a hash of `bytes`, continued from the hash `h`.
#[inline]
pub fn fnv1a(bytes: &[u8], h: u64) -> u64 {
    bytes.iter().fold(h, |h, &b| (h ^ u64::from(b)).wrapping_mul(FNV_PRIME))
}

/// The fingerprint of one match: FNV-1a over `le64(end) ++ le64(rank)`. The rank is the dense
/// index: the position in the bytewise sorted list of distinct patterns.
#[inline]
pub fn fingerprint_of(end: u64, rank: u64) -> u64 {
    fnv1a(&rank.to_le_bytes(), fnv1a(&end.to_le_bytes(), FNV_BASIS))
}

/// Counts matches and distinct patterns, and computes a fingerprint of the whole result.
///
/// The fingerprint is a wrapping sum over all matches, so it does not depend on their order. It
/// compares the results of engines, thread counts and other libraries. Benchmarks verify with it
/// before they time anything.
#[derive(Clone, Debug, Default)]
pub struct Fingerprint {
    /// Matches so far. A pattern with several ids counts once for each id.
    pub matches: u64,
    /// Sum of [`fingerprint_of`] over all matches.
    pub sum: u64,
    seen: Vec<u64>,
}

impl Fingerprint {
    /// The number of distinct patterns that were found.
    pub fn distinct(&self) -> u64 {
        self.seen.iter().map(|w| u64::from(w.count_ones())).sum()
    }

    /// Adds the matches of another part of the same haystack, for the same set.
    pub fn merge(&mut self, other: &Fingerprint) {
        self.matches += other.matches;
        self.sum = self.sum.wrapping_add(other.sum);
        self.seen.resize(self.seen.len().max(other.seen.len()), 0);
        for (mine, theirs) in self.seen.iter_mut().zip(&other.seen) {
            *mine |= theirs;
        }
    }

    fn add(&mut self, end: u64, pattern: u32, ids: u64) {
        self.matches += ids;
        self.sum = self.sum.wrapping_add(fingerprint_of(end, u64::from(pattern)).wrapping_mul(ids));
        self.seen[pattern as usize / 64] |= 1 << (pattern % 64);
    }
}

impl Sink for Fingerprint {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        if self.seen.is_empty() {
            self.seen = vec![0; batch.set.len().div_ceil(64)];
        }
        for &r in batch.records {
            let ids = if batch.single { 1 } else { batch.set.ids(r.pattern).len() as u64 };
            self.add(batch.end(r), r.pattern, ids);
        }
        ControlFlow::Continue(())
    }
}

/// Sorts the matches of each block canonically before another sink gets them.
///
/// Ordered batches pass at once. Unordered ones are held back until [`finish`](Self::finish),
/// which must be called after each block. Matches of later blocks end later, so all matches come
/// out sorted.
pub struct Sorter<'a> {
    inner: &'a mut dyn Sink,
    /// End and pattern.
    held: Vec<(u64, u32)>,
    set: Option<PatternSet>,
}

/// Bits of a digit of the radix sort: 1,024 counters fit a first-level cache. Not measured: a
/// guess.
const DIGIT: u32 = 10;

/// Steps per match after which insertion sort gives up. Not measured: a guess. Words in text take
/// fewer than one.
const STEPS: usize = 4;

/// Most digits for the radix sort. Matches with more are sorted by comparison.
const DIGITS: u32 = 3;

impl<'a> Sorter<'a> {
    /// A sorter that passes on to `inner`.
    pub fn new(inner: &'a mut dyn Sink) -> Self {
        Self { inner, held: Vec::new(), set: None }
    }

    /// Ends a block: sorts the matches that were held back and passes them on.
    pub fn finish(&mut self) -> ControlFlow<()> {
        let (Some(set), inner) = (&self.set, &mut self.inner) else {
            return ControlFlow::Continue(());
        };
        sort(&mut self.held, set);
        let flow = emit_sorted(&self.held, set, inner, false);
        self.held.clear();
        flow
    }
}

/// Sorts matches by end, then start, then pattern. Few end at the same position; those are sorted
/// by comparison.
fn sort(held: &mut Vec<(u64, u32)>, set: &PatternSet) {
    if !insert_sort(held) {
        digit_sort(held);
    }
    for same in held.chunk_by_mut(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
        // The longer one starts earlier.
        same.sort_unstable_by_key(|m| (Reverse(set.pattern_len(m.1)), m.1));
    }
}

/// Insertion sort by end, which is fast because filters find matches nearly in order. Returns
/// false, with the matches in any order, if it gave up after [`STEPS`] steps per match.
fn insert_sort(held: &mut [(u64, u32)]) -> bool {
    let mut steps = STEPS * held.len();
    for i in 1..held.len() {
        let m = held[i];
        let mut to = i;
        while to > 0 && held[to - 1].0 > m.0 && i - to < steps {
            held[to] = held[to - 1];
            to -= 1;
        }
        held[to] = m;
        if i - to == steps {
            return false;
        }
        steps -= i - to;
    }
    true
}

/// Radix sort by end, last digit first.
fn digit_sort(held: &mut Vec<(u64, u32)>) {
    let (least, most) = held.iter().fold((u64::MAX, 0), |(l, m), &(e, _)| (l.min(e), m.max(e)));
    let bits = u64::BITS - most.saturating_sub(least).leading_zeros();
    let digits = bits.div_ceil(DIGIT);
    if digits > DIGITS {
        held.sort_unstable_by_key(|m| m.0);
    } else if !held.is_sorted_by_key(|m| m.0) {
        let digit = bits.div_ceil(digits);
        let mut other = vec![(0, 0); held.len()];
        for i in 0..digits {
            spread(held, &mut other, |end| (end - least) >> (i * digit) & ((1 << digit) - 1));
            std::mem::swap(held, &mut other);
        }
    }
}

/// Copies matches sorted by one digit of their ends. The sort is stable.
fn spread(from: &[(u64, u32)], to: &mut [(u64, u32)], digit: impl Fn(u64) -> u64) {
    let mut next = [0_usize; 1 << DIGIT];
    from.iter().for_each(|&(end, _)| next[digit(end) as usize] += 1);
    let mut start = 0;
    next.iter_mut().for_each(|n| start += std::mem::replace(n, start));
    for &m in from {
        let place = &mut next[digit(m.0) as usize];
        to[*place] = m;
        *place += 1;
    }
}

/// Passes on sorted pairs of end and pattern, in batches that do not split a position.
pub(crate) fn emit_sorted(
    sorted: &[(u64, u32)],
    set: &PatternSet,
    sink: &mut dyn Sink,
    single: bool,
) -> ControlFlow<()> {
    let mut records: Vec<Record> =
        Vec::with_capacity(sorted.len().min(crate::scratch::BATCH_RECORDS));
    let mut base = 0;
    let mut emit = |records: &mut Vec<Record>, base: u64| {
        let flow = sink.on_batch(&Batch { base, records, ordered: true, single, set });
        records.clear();
        flow
    };
    for position in sorted.chunk_by(|a, b| a.0 == b.0) {
        let end = position[0].0;
        let full =
            records.len() >= crate::scratch::BATCH_RECORDS || end - base > u64::from(u32::MAX);
        if full && !records.is_empty() {
            emit(&mut records, base)?;
        }
        if records.is_empty() {
            base = end;
        }
        records.extend(position.iter().map(|m| Record { end: (end - base) as u32, pattern: m.1 }));
    }
    if records.is_empty() { ControlFlow::Continue(()) } else { emit(&mut records, base) }
}

impl Sink for Sorter<'_> {
    /// Counting needs no order.
    fn counter(&mut self) -> Option<&mut u64> {
        self.inner.counter()
    }

    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        if batch.ordered && self.held.is_empty() {
            return self.inner.on_batch(batch);
        }
        self.set.get_or_insert_with(|| batch.set.clone());
        self.held.extend(batch.records.iter().map(|&r| (batch.end(r), r.pattern)));
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fingerprint_is_the_published_hash() {
        // FNV-1a-64 of sixteen zero bytes, computed apart.
        assert_eq!(fingerprint_of(0, 0), 0x8820_1fb9_60ff_6465);
        assert_eq!(fnv1a(b"a", FNV_BASIS), 0xaf63_dc4c_8601_ec8c);
    }

    #[test]
    fn the_sorter_orders_a_block() {
        let set = PatternSet::new(["abc", "c"]).unwrap();
        let records = [
            Record { end: 9, pattern: 0 },
            Record { end: 3, pattern: 1 },
            Record { end: 3, pattern: 0 },
        ];
        let mut got = Collect::default();
        let mut sorter = Sorter::new(&mut got);
        let batch =
            Batch { base: 100, records: &records, ordered: false, single: false, set: &set };
        assert!(sorter.on_batch(&batch).is_continue() && sorter.finish().is_continue());
        let spans: Vec<_> = got.matches.iter().map(|m| (m.start, m.end)).collect();
        assert_eq!(spans, [(100, 103), (102, 103), (106, 109)]);
        assert_eq!(got.clone().sorted(), got.matches);
    }

    #[test]
    fn any_order_and_any_distance_is_sorted() {
        let set = PatternSet::new(["a", "aa", "b", "ba", "bba"]).unwrap();
        for (count, span) in [(0, 1), (10, 5), (500, 40), (500, 1 << 14), (5000, 1 << 40)] {
            let mut state = 1_u64;
            let mut below = |n: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 20) % n
            };
            let mut held: Vec<_> = (0..count).map(|_| (below(span), below(5) as u32)).collect();
            let start = |&(end, p): &(u64, u32)| 10 + end - set.pattern_len(p) as u64;
            let mut wanted = held.clone();
            wanted.sort_by_key(|m| (m.0, start(m), m.1));
            sort(&mut held, &set);
            assert_eq!(held, wanted);
            sort(&mut held, &set);
            assert_eq!(held, wanted);
        }
    }
}
