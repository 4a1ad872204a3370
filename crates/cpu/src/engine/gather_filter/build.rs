//! The filter and the buckets of a set, and the choice of each pattern's window.

use super::hash;
use super::model::Model;
use fyke_core::{Options, Pattern, PatternSet, Refusal};

/// Bytes of a short window.
pub(super) const SHORT: usize = 4;

/// Up to this many patterns, none under five bytes, every second position is enough; beyond it short windows
/// at two offsets each crowd the buckets. It comes from a prototype with other buckets and is not swept for these.
const STRIDE_UP_TO: usize = 15_000;

/// With all patterns this long, windows are long ones, and there is no such limit.
const ALL_LONG: usize = 8;

/// Words of the filter: at least 32 KiB, where a gather is as fast as it gets, at most 4 MiB. Not swept yet.
const FILTER_WORDS: std::ops::RangeInclusive<usize> = 1 << 13..=1 << 20;

/// Offsets that are tried as a pattern's window: beyond, a rarer one is hardly found. Not swept.
const OFFSETS: usize = 190;

/// Most entries of a bucket, and most pattern bytes in it: what one position of a hostile haystack can cost. Not swept:
/// larger ones take more sets and bound the cost less.
const BUCKET_ENTRIES: usize = 64;
const BUCKET_BYTES: usize = 16 << 10;

/// What windows there are and where they are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Every `stride`-th position is looked at, and each pattern is entered at so many offsets.
    pub(super) stride: usize,
    /// Patterns with a short window.
    pub(super) short: usize,
    /// Patterns with a long one.
    pub(super) long: usize,
    /// 0x20 in each byte if windows are folded. Coarser than ASCII folding; the patterns are compared later.
    pub(super) fold: u64,
}

impl Shape {
    pub(super) fn new(set: &PatternSet, opt: &Options) -> Result<Self, Refusal> {
        let (have, min) = (set.min_len(), SHORT);
        if have < min && !set.is_empty() {
            return Err(Refusal::TooShort { min, have });
        }
        let sparse = have > SHORT && set.len() <= STRIDE_UP_TO || have >= ALL_LONG;
        let stride = match opt.choice("stride", &["auto", "1", "2"])? {
            "2" if have > SHORT => 2,
            "2" if !set.is_empty() => return Err(Refusal::TooShort { min: SHORT + 1, have }),
            "auto" if sparse => 2,
            _ => 1,
        };
        let fold = if set.nocase_count() > 0 { 0x2020_2020_2020_2020 } else { 0 };
        let mut shape = Shape { stride, short: 0, long: 0, fold };
        shape.long = set.iter().filter(|p| shape.is_long(p.bytes.len())).count();
        shape.short = set.len() - shape.long;
        Ok(shape)
    }

    /// Bytes of a long window.
    pub(super) fn long_window(&self) -> usize {
        9 - self.stride
    }

    /// The bytes of a long window that count.
    pub(super) fn long_mask(&self) -> u64 {
        u64::MAX >> (64 - 8 * self.long_window())
    }

    fn is_long(&self, len: usize) -> bool {
        len >= self.long_window() + self.stride - 1
    }

    fn keys(&self) -> usize {
        (self.short + self.long) * self.stride
    }

    fn filter_words(&self) -> usize {
        let wanted = (self.keys() + self.keys() / 4).next_power_of_two();
        wanted.clamp(*FILTER_WORDS.start(), *FILTER_WORDS.end())
    }

    /// Bytes of memory that the tables take.
    pub(super) fn memory(&self) -> u64 {
        let buckets = |patterns: usize| (1_u64 << bucket_bits(patterns * self.stride)) + 1;
        let entries = (self.keys() * size_of::<Entry>()) as u64;
        4 * (self.filter_words() as u64 + buckets(self.short) + buckets(self.long)) + entries
    }
}

/// Twice as many buckets as keys, at least.
fn bucket_bits(keys: usize) -> u32 {
    (2 * keys).max(2).next_power_of_two().ilog2()
}

/// A pattern under one of its windows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    /// Up to eight bytes of the pattern, folded.
    pub(super) value: u64,
    pub(super) pattern: u32,
    pub(super) len: u16,
    /// From the pattern's start to its window.
    pub(super) offset: u16,
    /// From the bytes of `value` to the window.
    pub(super) back: u16,
    /// How many bytes of `value` count.
    pub(super) count: u8,
    /// Whether these are the whole pattern as it has to be in the haystack.
    pub(super) exact: bool,
}

impl Entry {
    fn new(pattern: &Pattern<'_>, offset: usize, fold: u64) -> Self {
        let len = pattern.bytes.len();
        let at = offset.min(len.saturating_sub(8));
        let count = len.min(8);
        let mask = u64::MAX >> (64 - 8 * count);
        Entry {
            value: (hash::word(pattern.bytes, at) | fold) & mask,
            pattern: pattern.index,
            len: len as u16,
            offset: offset as u16,
            back: (offset - at) as u16,
            count: count as u8,
            exact: len <= 8 && fold == 0,
        }
    }
}

/// The entries of all windows of one length, by the hash of the window.
pub(super) struct Buckets {
    pub(super) bits: u32,
    /// Bucket h is `entries[first[h]..first[h + 1]]`.
    pub(super) first: Vec<u32>,
    pub(super) entries: Vec<Entry>,
}

impl Buckets {
    fn new(bits: u32, keys: &[(u32, Entry)]) -> Self {
        let mut first = vec![0_u32; (1 << bits) + 1];
        keys.iter().for_each(|(bucket, _)| first[*bucket as usize + 1] += 1);
        (1..first.len()).for_each(|i| first[i] += first[i - 1]);
        let mut next = first.clone();
        let mut entries = vec![Entry::default(); keys.len()];
        for (bucket, entry) in keys {
            let place = &mut next[*bucket as usize];
            entries[*place as usize] = *entry;
            *place += 1;
        }
        Self { bits, first, entries }
    }

    /// Refuses what would make a position of a hostile haystack too dear.
    fn check(&self) -> Result<(), Refusal> {
        for range in self.first.windows(2) {
            let bucket = &self.entries[range[0] as usize..range[1] as usize];
            let bytes: usize = bucket.iter().map(|e| usize::from(e.len)).sum();
            limit("patterns with the same window", bucket.len(), BUCKET_ENTRIES)?;
            limit("bytes of patterns with the same window", bytes, BUCKET_BYTES)?;
        }
        Ok(())
    }

    fn memory(&self) -> u64 {
        (4 * self.first.len() + size_of_val(&*self.entries)) as u64
    }
}

fn limit(what: &'static str, need: usize, have: usize) -> Result<(), Refusal> {
    let (need, have) = (need as u64, have as u64);
    if need > have { Err(Refusal::TooBig { what, need, have }) } else { Ok(()) }
}

/// What a set is compiled to.
pub(super) struct Tables {
    pub(super) shape: Shape,
    /// A bit that is 0 may belong to a window. A power of two words.
    pub(super) filter: Vec<u32>,
    pub(super) short: Buckets,
    pub(super) long: Buckets,
}

impl Tables {
    pub(super) fn new(set: &PatternSet, shape: Shape) -> Result<Self, Refusal> {
        let mut builder = Builder::new(shape);
        set.iter().for_each(|pattern| builder.add(&pattern));
        let tables = Tables {
            shape,
            filter: builder.filter,
            short: Buckets::new(builder.short.bits, &builder.short.keys),
            long: Buckets::new(builder.long.bits, &builder.long.keys),
        };
        tables.short.check()?;
        tables.long.check()?;
        Ok(tables)
    }

    pub(super) fn memory(&self) -> u64 {
        4 * self.filter.len() as u64 + self.short.memory() + self.long.memory()
    }

    /// The share of bits that let a window pass, in thousandths.
    pub(super) fn fill(&self) -> u64 {
        let zeros: u64 = self.filter.iter().map(|w| u64::from(w.count_zeros())).sum();
        zeros * 1000 / (32 * self.filter.len() as u64)
    }
}

/// The windows of one length while they are chosen.
struct Class {
    bits: u32,
    /// Entries that each bucket has so far.
    load: Vec<u32>,
    keys: Vec<(u32, Entry)>,
}

impl Class {
    fn new(keys: usize) -> Self {
        let bits = bucket_bits(keys);
        Self { bits, load: vec![0; 1 << bits], keys: Vec::with_capacity(keys) }
    }
}

struct Builder {
    shape: Shape,
    model: Model,
    filter: Vec<u32>,
    short: Class,
    long: Class,
}

impl Builder {
    fn new(shape: Shape) -> Self {
        Self {
            shape,
            model: Model::new(),
            filter: vec![u32::MAX; shape.filter_words()],
            short: Class::new(shape.short * shape.stride),
            long: Class::new(shape.long * shape.stride),
        }
    }

    fn add(&mut self, pattern: &Pattern<'_>) {
        let long = self.shape.is_long(pattern.bytes.len());
        let offset = self.anchor(pattern.bytes, long);
        for offset in offset..offset + self.shape.stride {
            let word = hash::word(pattern.bytes, offset) | self.shape.fold;
            self.let_pass(word, long);
            let mask = if long { self.shape.long_mask() } else { u64::from(u32::MAX) };
            let class = if long { &mut self.long } else { &mut self.short };
            let bucket = hash::bucket(word & mask, class.bits);
            class.load[bucket] += 1;
            class.keys.push((bucket as u32, Entry::new(pattern, offset, self.shape.fold)));
        }
    }

    /// The offset whose windows cost least: how often they are met, times what is compared then.
    fn anchor(&self, bytes: &[u8], long: bool) -> usize {
        let window = if long { self.shape.long_window() } else { SHORT };
        let last = bytes.len() + 1 - window - self.shape.stride;
        let cost = |at: usize| -> f32 {
            let one = |at: usize| self.cost(&bytes[at..at + window], long);
            (at..at + self.shape.stride).map(one).sum()
        };
        let costs = (0..=last.min(OFFSETS)).map(|at| (at, cost(at)));
        costs.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(at, _)| at)
    }

    fn cost(&self, window: &[u8], long: bool) -> f32 {
        let class = if long { &self.long } else { &self.short };
        // The long mask is that of the window's own length: nothing of `word` is beyond it.
        let fold = self.shape.fold & (u64::MAX >> (64 - 8 * window.len()));
        let load = class.load[hash::bucket(hash::word(window, 0) | fold, class.bits)];
        let crowded = if load as usize >= BUCKET_ENTRIES / 2 { load as f32 } else { 0.0 };
        self.model.probability(window) * (1 + load) as f32 + crowded
    }

    fn let_pass(&mut self, word: u64, long: bool) {
        let mask = self.shape.long_mask();
        let (low, high) = (hash::low(word), hash::high(word & mask));
        let both = self.shape.short > 0;
        let (hash, bits) = match (both, long) {
            (false, _) => (low.wrapping_add(high), hash::bits(high, u32::MAX)),
            (true, true) => (low, hash::bits(high, hash::LONG_BYTES)),
            (true, false) => (low, hash::bits(low, hash::SHORT_BYTES)),
        };
        let words = self.filter.len();
        self.filter[(hash >> hash::INDEX_SHIFT) as usize & (words - 1)] &= !bits;
    }
}
