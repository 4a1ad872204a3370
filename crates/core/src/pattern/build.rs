//! [`PatternSetBuilder`]: collects patterns, then sorts and merges them into a set.
//!
//! Comparing strings that are scattered in memory would take most of the time. So patterns first go
//! into 65,536 buckets by their first two bytes, without comparisons. Most buckets fit the L1
//! cache, even for a million patterns. A bucket is sorted by the next eight bytes as a number.
//! Large groups that are still equal are sorted by the bytes after these; small ones are compared
//! as strings. Each thread sorts some buckets and writes them out while they are in its cache.

use super::{Inner, PatternId, PatternSet};
use crate::error::PatternError;
use crate::table::Table;
use std::cmp::Ordering;
use std::num::NonZero;
use std::sync::{Arc, OnceLock};
use std::thread;

/// Fewest patterns that are put into buckets. Not measured: a guess.
const BUCKETS_FROM: u32 = 1 << 13;

/// Fewest patterns that several threads sort. Not measured: a guess.
const PARALLEL_FROM: usize = 1 << 16;

/// Fewest patterns with a common prefix that are sorted by their next word; fewer are compared.
const WORDS_FROM: usize = 32;

/// The maximum number of words that patterns are sorted by, one after the other; what is still
/// equal is compared.
const MOST_WORDS: usize = 16;

/// Collects patterns for a [`PatternSet`].
///
/// ```
/// use fyke_core::{PatternId, PatternSet};
/// let mut builder = PatternSet::builder();
/// builder.push("GET ")?; // id 0
/// builder.push_with(PatternId(700), "user-agent", true)?; // ignores ASCII case
/// let set = builder.build();
/// assert_eq!((set.len(), set.nocase_count()), (2, 1));
/// # Ok::<(), fyke_core::PatternError>(())
/// ```
#[derive(Default, Clone, Debug)]
pub struct PatternSetBuilder {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    nocase: bool,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    start: u32,
    len: u16,
    nocase: bool,
    /// Whether [`PatternSetBuilder::push_unrepeated`] added it. Of equal patterns with this flag,
    /// only the one with the lowest id is kept.
    spare: bool,
    id: PatternId,
}

impl PatternSetBuilder {
    /// Reserves memory for more patterns with a total length of `bytes`. It only saves time.
    pub fn reserve(&mut self, patterns: usize, bytes: usize) -> &mut Self {
        self.entries.reserve(patterns);
        self.bytes.reserve(bytes);
        self
    }

    /// Sets whether patterns that [`push`](Self::push) adds after this call ignore ASCII case.
    pub fn nocase(&mut self, yes: bool) -> &mut Self {
        self.nocase = yes;
        self
    }

    /// Adds a pattern under the next id: the number of patterns added before it.
    ///
    /// # Errors
    /// The pattern is empty or longer than [`MAX_LEN`](super::MAX_LEN), or the set is full.
    pub fn push<P: AsRef<[u8]>>(&mut self, pattern: P) -> Result<&mut Self, PatternError> {
        let id = PatternId(self.entries.len() as u32);
        self.push_with(id, pattern, self.nocase)
    }

    /// Adds a pattern under an id of your choice. With `nocase`, ASCII letters match in either
    /// case.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn push_with<P: AsRef<[u8]>>(
        &mut self,
        id: PatternId,
        pattern: P,
        nocase: bool,
    ) -> Result<&mut Self, PatternError> {
        self.push_entry(id, pattern.as_ref(), nocase, false)
    }

    /// As [`push_with`](Self::push_with), for lists in which a repeated line has no meaning. Of
    /// equal patterns that this function adds, only the one with the lowest id is kept.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn push_unrepeated<P: AsRef<[u8]>>(
        &mut self,
        id: PatternId,
        pattern: P,
        nocase: bool,
    ) -> Result<&mut Self, PatternError> {
        self.push_entry(id, pattern.as_ref(), nocase, true)
    }

    fn push_entry(
        &mut self,
        id: PatternId,
        pattern: &[u8],
        nocase: bool,
        spare: bool,
    ) -> Result<&mut Self, PatternError> {
        let position = self.entries.len();
        if pattern.is_empty() {
            return Err(PatternError::empty(position));
        }
        let len = u16::try_from(pattern.len())
            .map_err(|_| PatternError::too_long(position, pattern.len()))?;
        if position >= u32::MAX as usize {
            return Err(PatternError::too_many(position));
        }
        let start = u32::try_from(self.bytes.len() + pattern.len())
            .map_err(|_| PatternError::too_many_bytes(position))?
            - u32::from(len);
        // Without a letter the flag has no effect; dropping it lets equal patterns merge.
        let nocase = nocase && pattern.iter().any(u8::is_ascii_alphabetic);
        self.bytes.extend_from_slice(pattern);
        if nocase {
            self.bytes[start as usize..].make_ascii_lowercase();
        }
        self.entries.push(Entry { start, len, nocase, spare, id });
        Ok(self)
    }

    /// The number of patterns that were added, duplicates included.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no pattern was added.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Sorts the patterns and merges equal ones. All cores sort a large set.
    pub fn build(self) -> PatternSet {
        let lists = sorted(&self);
        drop(self);
        PatternSet(Arc::new(lists.measured()))
    }

    fn text(&self, index: u32) -> &[u8] {
        let entry = &self.entries[index as usize];
        &self.bytes[entry.start as usize..][..usize::from(entry.len)]
    }

    /// Up to eight bytes of a pattern from `depth` on, as a number that sorts as the bytes do.
    /// Missing bytes are 0.
    fn word(&self, index: u32, depth: usize) -> u64 {
        let entry = &self.entries[index as usize];
        let have = usize::from(entry.len).saturating_sub(depth).min(8);
        let rest = self.bytes.get(entry.start as usize + depth..).unwrap_or_default();
        match rest.first_chunk() {
            _ if have == 0 => 0,
            Some(word) => u64::from_be_bytes(*word) & u64::MAX << (64 - 8 * have),
            None => rest[..have].iter().rev().fold(0, |w, &b| w >> 8 | u64::from(b) << 56),
        }
    }

    /// The order of a set: by bytes, then flag, then id.
    fn compare(&self, a: u32, b: u32) -> Ordering {
        let (x, y) = (&self.entries[a as usize], &self.entries[b as usize]);
        let flags = || x.nocase.cmp(&y.nocase).then(x.id.cmp(&y.id));
        self.text(a).cmp(self.text(b)).then_with(flags)
    }

    fn is_same(&self, a: u32, b: u32) -> bool {
        let nocase = |index: u32| self.entries[index as usize].nocase;
        nocase(a) == nocase(b) && self.text(a) == self.text(b)
    }
}

/// The patterns in order.
fn sorted(from: &PatternSetBuilder) -> Lists {
    let (mut order, ends) = buckets(from);
    let threads = match order.len() {
        ..PARALLEL_FROM => 1,
        _ => thread::available_parallelism().map_or(1, NonZero::get),
    };
    let mut shares = shares(&mut order, &ends, threads).into_iter();
    let first = shares.next().unwrap_or_default();
    thread::scope(|scope| {
        let others: Vec<_> = shares.map(|s| scope.spawn(|| s.sorted(from, 0, 0))).collect();
        // This thread's list has room for all patterns; those of the others are appended to it.
        let mut set = first.sorted(from, from.entries.len(), from.bytes.len());
        for other in others {
            set.append(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        set
    })
}

/// Patterns grouped into buckets by their first two bytes, and where each bucket ends. Small sets
/// have one bucket.
fn buckets(from: &PatternSetBuilder) -> (Vec<u32>, Vec<u32>) {
    let count = from.entries.len() as u32;
    if count < BUCKETS_FROM {
        return ((0..count).collect(), vec![count]);
    }
    let bucket = |i: u32| (from.word(i, 0) >> 48) as usize;
    let mut next = vec![0; 1 << 16];
    (0..count).for_each(|i| next[bucket(i)] += 1);
    let mut start = 0;
    next.iter_mut().for_each(|n| start += std::mem::replace(n, start));
    let mut order = vec![0; count as usize];
    for i in 0..count {
        let place = &mut next[bucket(i)];
        order[*place as usize] = i;
        *place += 1;
    }
    (order, next)
}

/// Adjacent buckets, for one thread.
#[derive(Default)]
struct Share<'a> {
    order: &'a mut [u32],
    /// Where each bucket ends, counted from the same origin as `begin`.
    ends: &'a [u32],
    begin: u32,
}

/// Divides the buckets into shares of about the same number of patterns.
fn shares<'a>(mut order: &'a mut [u32], mut ends: &'a [u32], count: usize) -> Vec<Share<'a>> {
    let (total, mut begin) = (order.len(), 0);
    let mut shares = Vec::new();
    for i in 1..=count {
        let goal = (total * i / count) as u32;
        let (mine, later) = ends.split_at(ends.partition_point(|&end| end <= goal));
        let end = mine.last().copied().unwrap_or(begin);
        let (here, rest) = order.split_at_mut((end - begin) as usize);
        shares.push(Share { order: here, ends: mine, begin });
        (order, ends, begin) = (rest, later, end);
    }
    shares
}

impl Share<'_> {
    fn sorted(self, from: &PatternSetBuilder, patterns: usize, bytes: usize) -> Lists {
        let depth = if from.entries.len() < BUCKETS_FROM as usize { 0 } else { 2 };
        let mut set = Lists::with_room(patterns.max(self.order.len()), bytes);
        let (mut rest, mut begin, mut keys) = (self.order, self.begin, Vec::new());
        for &end in self.ends {
            let (bucket, later) = rest.split_at_mut((end - begin) as usize);
            sort(from, bucket, depth, &mut keys);
            bucket.chunk_by(|&a, &b| from.is_same(a, b)).for_each(|group| set.add(from, group));
            (rest, begin) = (later, end);
        }
        set
    }
}

/// Sorts patterns with a common prefix of `depth` bytes: by the next eight bytes as a number, then
/// recursively what is still equal.
fn sort(from: &PatternSetBuilder, run: &mut [u32], depth: usize, keys: &mut Vec<(u64, u32)>) {
    if run.len() < 2 {
        return;
    }
    keys.clear();
    keys.extend(run.iter().map(|&i| (from.word(i, depth), i)));
    keys.sort_unstable_by_key(|key| key.0);
    run.iter_mut().zip(&*keys).for_each(|(i, key)| *i = key.1);
    let mut rest = run;
    for same in keys.chunk_by(|a, b| a.0 == b.0) {
        let (run, later) = rest.split_at_mut(same.len());
        match run.len() {
            1 => {}
            ..WORDS_FROM => run.sort_unstable_by(|&a, &b| from.compare(a, b)),
            _ if depth > MOST_WORDS * 8 => run.sort_unstable_by(|&a, &b| from.compare(a, b)),
            _ => sort(from, run, depth + 8, &mut Vec::new()),
        }
        rest = later;
    }
}

/// The lists of a set while they are filled, as in [`Inner`], with none left out.
#[derive(Default)]
struct Lists {
    bytes: Vec<u8>,
    starts: Vec<u32>,
    nocase: Vec<u8>,
    ids: Vec<PatternId>,
    id_starts: Vec<u32>,
}

impl Lists {
    fn with_room(patterns: usize, bytes: usize) -> Self {
        let mut set = Lists::default();
        set.bytes.reserve_exact(bytes);
        set.starts.reserve_exact(patterns + 1);
        set.nocase.reserve_exact(patterns);
        set.ids.reserve_exact(patterns);
        set.id_starts.reserve_exact(patterns + 1);
        set.starts.push(0);
        set.id_starts.push(0);
        set
    }

    /// Adds one distinct pattern: a group of equal entries, sorted by id.
    fn add(&mut self, from: &PatternSetBuilder, group: &[u32]) {
        self.bytes.extend_from_slice(from.text(group[0]));
        self.starts.push(self.bytes.len() as u32);
        self.nocase.push(u8::from(from.entries[group[0] as usize].nocase));
        let (first, mut spare) = (self.ids.len(), false);
        for &i in group {
            let entry = &from.entries[i as usize];
            let repeated = entry.spare && std::mem::replace(&mut spare, true);
            if !repeated && self.ids[first..].last() != Some(&entry.id) {
                self.ids.push(entry.id);
            }
        }
        self.id_starts.push(self.ids.len() as u32);
    }

    /// Appends a set whose patterns all sort after these.
    fn append(&mut self, later: Lists) {
        let (bytes, ids) = (self.bytes.len() as u32, self.ids.len() as u32);
        self.bytes.extend_from_slice(&later.bytes);
        self.starts.extend(later.starts[1..].iter().map(|start| bytes + start));
        self.nocase.extend_from_slice(&later.nocase);
        self.ids.extend_from_slice(&later.ids);
        self.id_starts.extend(later.id_starts[1..].iter().map(|start| ids + start));
    }

    /// Computes what derives from the patterns, and drops lists that carry no information.
    fn measured(mut self) -> Inner {
        let lens = || self.starts.windows(2).map(|w| (w[1] - w[0]) as usize);
        let (min_len, max_len) = (lens().min().unwrap_or(0), lens().max().unwrap_or(0));
        let nocase_count = self.nocase.iter().filter(|&&flag| flag != 0).count();
        if self.ids.len() == self.starts.len() - 1 {
            self.id_starts = Vec::new();
        }
        let mut set = Inner {
            bytes: self.bytes.into(),
            starts: self.starts.into(),
            nocase: self.nocase.into(),
            ids: self.ids.into(),
            id_starts: self.id_starts.into(),
            min_len,
            max_len,
            nocase_count,
            span_shared: false,
            digest: OnceLock::new(),
        };
        set.span_shared = set.any_shared_span();
        if nocase_count == 0 {
            set.nocase = Table::default();
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sorts as the definition says, without tricks.
    fn plainly(from: &PatternSetBuilder) -> Vec<(Vec<u8>, bool, Vec<u32>)> {
        let mut all = std::collections::BTreeMap::<(Vec<u8>, bool), Vec<(bool, u32)>>::new();
        for (i, e) in from.entries.iter().enumerate() {
            let ids = all.entry((from.text(i as u32).to_vec(), e.nocase)).or_default();
            ids.push((e.spare, e.id.0));
        }
        let ids = |mut given: Vec<(bool, u32)>| {
            given.sort();
            let first_spare = given.iter().position(|(spare, _)| *spare);
            given.truncate(first_spare.map_or(given.len(), |i| i + 1));
            let mut ids: Vec<u32> = given.into_iter().map(|(_, id)| id).collect();
            ids.sort();
            ids.dedup();
            ids
        };
        all.into_iter().map(|((bytes, nocase), given)| (bytes, nocase, ids(given))).collect()
    }

    fn check(builder: PatternSetBuilder) {
        let wanted = plainly(&builder);
        let set = builder.build();
        assert_eq!(set.len(), wanted.len());
        for (p, (bytes, nocase, ids)) in set.iter().zip(&wanted) {
            let found: Vec<u32> = p.ids.iter().map(|id| id.0).collect();
            assert_eq!((p.bytes, p.nocase, &found), (&bytes[..], *nocase, ids));
        }
    }

    /// Patterns of few symbols, so that many are equal or have long beginnings in common; some of
    /// zeros, which the words that are compared are filled up with.
    fn builder(count: u32, symbols: u64, most: u64) -> PatternSetBuilder {
        let mut builder = PatternSetBuilder::default();
        let mut state = 7_u64;
        let mut below = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % n
        };
        for i in 0..count {
            let len = 1 + below(most);
            let common = below(3) * 10;
            let pattern: Vec<u8> = (0..common + len)
                .map(|at| if at < common { b'x' } else { below(symbols) as u8 })
                .collect();
            let id = PatternId(below(u64::from(count)) as u32);
            match i % 3 {
                0 => builder.push_unrepeated(id, pattern, false).unwrap(),
                kind => builder.push_with(id, pattern, kind == 1).unwrap(),
            };
        }
        builder
    }

    #[test]
    fn sets_of_all_sizes_are_sorted_and_merged() {
        check(builder(0, 2, 1));
        check(builder(200, 2, 3));
        check(builder(2000, 200, 40));
        check(builder(BUCKETS_FROM + 1000, 3, 9));
        check(builder(BUCKETS_FROM + 1000, 250, 90));
    }

    #[test]
    fn large_sets_are_sorted_by_several_threads() {
        check(builder(PARALLEL_FROM as u32 + 5, 200, 9));
        check(builder(PARALLEL_FROM as u32 + 5, 1, 2));
    }
}
