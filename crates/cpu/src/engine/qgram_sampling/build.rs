//! Builds the bitmap and the buckets of a set, and chooses each pattern's grams.

use super::hash::{self, Gram};
use super::shape::{MAX_STRIDE, RankedShapes, SamplingShape};
use fyke_automata::PairModel;
use fyke_core::{Pattern, PatternSet, Refusal};

/// Offsets tried for the grams of a pattern. A guess: no benchmark depends on it, since few
/// patterns are so long.
const OFFSETS: usize = 64;

/// The maximum number of entries of a bucket, and of bytes of their patterns, per byte of the
/// stride. They bound the work per byte of a hostile haystack. A guess: `hostile/dna-10000-full`
/// would show it.
pub(super) const ENTRIES_A_BYTE: usize = 8;
const PATTERN_BYTES_A_BYTE: usize = 8 << 10;

/// The maximum number of shapes to try before the set is refused. Each has a shorter stride or
/// longer grams than the one before.
const SHAPES_TRIED: usize = 10;

/// A pattern and one of its grams.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    /// Up to eight bytes of the pattern, folded as grams are.
    pub(super) value: u64,
    pub(super) pattern: u32,
    /// From the pattern's start to the gram.
    pub(super) offset: u16,
    /// From the gram to the bytes of `value`.
    pub(super) shift: i8,
    /// How many bytes of `value` are compared.
    pub(super) count: u8,
}

impl Entry {
    /// Takes the eight bytes after the gram, else those before it, else the last eight of the
    /// pattern.
    fn new(pattern: &Pattern<'_>, offset: usize, gram: Gram) -> Self {
        let len = pattern.bytes.len();
        let at = match offset + gram.len {
            end if end + 8 <= len => end,
            _ if offset >= 8 => offset - 8,
            _ => len.saturating_sub(8),
        };
        let count = len.min(8);
        let mask = u64::MAX >> (64 - 8 * count);
        Entry {
            value: gram.folded(hash::word(pattern.bytes, at)) & mask,
            pattern: pattern.index,
            offset: offset as u16,
            shift: (at as isize - offset as isize) as i8,
            count: count as u8,
        }
    }

    pub(super) fn mask(&self) -> u64 {
        u64::MAX >> (64 - 8 * u32::from(self.count))
    }
}

/// The tables of a compiled set.
pub(super) struct SamplingTables {
    pub(super) shape: SamplingShape,
    /// Two bits of a word are 1 for each gram. The number of words is a power of two.
    pub(super) bitmap: Vec<u32>,
    /// Bucket h is `entries[first[h]..first[h + 1]]`.
    pub(super) first: Vec<u32>,
    pub(super) entries: Vec<Entry>,
}

impl SamplingTables {
    /// Builds tables of the best shape that keeps the limits of a bucket. If a gram has too many
    /// entries, tries longer grams or a shorter stride.
    pub(super) fn new(
        set: &PatternSet,
        choice: &RankedShapes,
        model: &PairModel,
    ) -> Result<Self, Refusal> {
        let mut shape = choice.shapes[0];
        let mut result = Self::of_shape(set, shape, model);
        for _ in 1..SHAPES_TRIED {
            let other = |s: &&SamplingShape| {
                4 * s.stride <= 3 * shape.stride && s.gram.len >= shape.gram.len
                    || s.gram.len >= shape.gram.len + 2
            };
            match choice.shapes.iter().find(other) {
                Some(next) if result.is_err() => shape = *next,
                _ => break,
            }
            result = Self::of_shape(set, shape, model);
        }
        result
    }

    fn of_shape(
        set: &PatternSet,
        shape: SamplingShape,
        model: &PairModel,
    ) -> Result<Self, Refusal> {
        limit("grams", shape.grams(), u32::MAX as usize)?;
        let mut first = vec![0_u32; (1 << shape.bucket_bits()) + 1];
        let offsets = choose_offsets(set, &shape, model, &mut first[1..]);
        let most = first.iter().max().map_or(0, |&n| n as usize);
        limit("patterns with the same gram", most, ENTRIES_A_BYTE * shape.stride)?;
        (1..first.len()).for_each(|i| first[i] += first[i - 1]);
        let bitmap = vec![0; 1 << shape.bitmap_bits];
        let mut tables = SamplingTables { shape, bitmap, first, entries: Vec::new() };
        tables.fill_in(set, &offsets);
        tables.check_bytes(set)?;
        Ok(tables)
    }

    /// A counting sort: `first` holds the start of each bucket, then its end, and is corrected at
    /// the end.
    fn fill_in(&mut self, set: &PatternSet, offsets: &[u16]) {
        let (shape, bucket_bits) = (self.shape, self.shape.bucket_bits());
        let bitmap_bits = shape.bitmap_bits;
        self.entries = vec![Entry::default(); shape.grams()];
        for (pattern, &offset) in set.iter().zip(offsets) {
            let offset = usize::from(offset);
            for offset in offset..offset + shape.stride {
                let hash = shape.gram.hash(pattern.bytes, offset);
                let spot = hash::spot(hash, bitmap_bits);
                self.bitmap[spot.word] |= spot.bits.iter().fold(0, |bits, b| bits | 1 << b);
                let place = &mut self.first[hash::bucket(hash, bucket_bits)];
                self.entries[*place as usize] = Entry::new(&pattern, offset, shape.gram);
                *place += 1;
            }
        }
        let buckets = self.first.len() - 1;
        self.first.copy_within(0..buckets, 1);
        self.first[0] = 0;
    }

    /// Refuses buckets that would make a sample of a hostile haystack too expensive.
    fn check_bytes(&self, set: &PatternSet) -> Result<(), Refusal> {
        let most = PATTERN_BYTES_A_BYTE * self.shape.stride;
        for range in self.first.windows(2) {
            let bucket = &self.entries[range[0] as usize..range[1] as usize];
            if bucket.len() * set.max_len() > most {
                let bytes = bucket.iter().map(|e| set.pattern_len(e.pattern)).sum();
                limit("bytes of patterns with the same gram", bytes, most)?;
            }
        }
        Ok(())
    }

    pub(super) fn memory(&self) -> u64 {
        (4 * (self.bitmap.len() + self.first.len()) + size_of_val(&*self.entries)) as u64
    }

    /// The share of bits that are set, in thousandths.
    pub(super) fn fill(&self) -> u64 {
        let ones: u64 = self.bitmap.iter().map(|w| u64::from(w.count_ones())).sum();
        ones * 1000 / (32 * self.bitmap.len() as u64)
    }
}

fn limit(what: &'static str, need: usize, have: usize) -> Result<(), Refusal> {
    let (need, have) = (need as u64, have as u64);
    if need > have { Err(Refusal::TooBig { what, need, have }) } else { Ok(()) }
}

/// Chooses where the grams of each pattern begin, and counts the entries of each bucket.
fn choose_offsets(
    set: &PatternSet,
    shape: &SamplingShape,
    model: &PairModel,
    load: &mut [u32],
) -> Vec<u16> {
    let bits = shape.bucket_bits();
    let choose = |pattern: Pattern<'_>| {
        let bytes = pattern.bytes;
        let bucket = |at: usize| hash::bucket(shape.gram.hash(bytes, at), bits);
        let crowd = |at: usize| load[bucket(at)];
        let offset = rarest_of(model, bytes, shape.gram.len, shape.stride, crowd);
        (offset..offset + shape.stride).for_each(|at| load[bucket(at)] += 1);
        offset as u16
    };
    set.iter().map(choose).collect()
}

/// The offset whose `stride` grams have the lowest total probability.
pub(super) fn rarest(model: &PairModel, bytes: &[u8], gram: usize, stride: usize) -> usize {
    rarest_of(model, bytes, gram, stride, |_| 0)
}

/// The same, where grams in crowded buckets cost more.
fn rarest_of(
    model: &PairModel,
    bytes: &[u8],
    gram: usize,
    stride: usize,
    crowd: impl Fn(usize) -> u32,
) -> usize {
    let last = (bytes.len() + 1 - gram - stride).min(OFFSETS);
    if last == 0 {
        return 0;
    }
    let most = ENTRIES_A_BYTE * stride;
    let cost = |at: usize| {
        let crowd = crowd(at) as usize;
        let full = if crowd + stride > most { crowd as f32 } else { 0.0 };
        model.probability(&bytes[at..at + gram]) * (1 + crowd) as f32 + full
    };
    let mut costs = [0.0; OFFSETS + MAX_STRIDE];
    (0..last + stride).for_each(|at| costs[at] = cost(at));
    let sums = costs[..last + stride].windows(stride).map(|w| w.iter().sum::<f32>()).enumerate();
    sums.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(at, _)| at)
}
