//! Chooses each pattern's window and builds the tables of a set.

use super::buckets::{self, CacheLineBuckets, Key, RecordList, Records};
use super::hash;
use super::shape::{MAX_STRIDE, SHORT, SHORTEST, WindowShape, ones};
use fyke_automata::model::PairModel;
use fyke_core::PatternSet;
use fyke_core::table::Table;

/// Offsets tried for a pattern's window. They must fit in a byte. A guess: no benchmark depends on
/// it, since few patterns are so long.
const OFFSETS: usize = 190;

/// A pattern avoids a bucket with more keys than this if it has another window. A guess:
/// `words/99175` would show it.
const CROWDED: u32 = 12;

/// Added to the cost of a window in a crowded bucket. It exceeds any probability.
const CROWDED_COST: f32 = 10.0;

/// The cost of comparing a record, in bucket lookups. A guess: `words/99175` would show it.
const RECORD_COST: f32 = 2.7;

/// Patterns per thread at build time.
const PER_THREAD: usize = 10_000;

/// The tables of a compiled set.
pub(super) struct FilterTables {
    pub(super) shape: WindowShape,
    /// The filter words; their number is a power of two. Each window clears four bits of its word.
    pub(super) filter: Table<u32>,
    pub(super) short: CacheLineBuckets,
    pub(super) long: CacheLineBuckets,
    pub(super) records: Records,
    /// [`WindowShape::class_masks`].
    pub(super) masks: [u64; 8],
}

impl FilterTables {
    pub(super) fn new(set: &PatternSet, model: &PairModel, shape: WindowShape) -> Self {
        let anchors = Anchors::choose(set, model, &shape);
        let mut records = RecordList::default();
        records.reserve(shape.units());
        let mut buckets = |long: bool| {
            let each = |put: &mut dyn FnMut(u64, Key)| anchors.keys(long, put);
            CacheLineBuckets::new(shape.keys(long), each, set, &mut records)
        };
        let (long, short) = (buckets(true), buckets(false));
        let records = records.finish();
        let mut filter = vec![u32::MAX; shape.filter_words()];
        anchors.let_pass(&mut filter);
        FilterTables {
            shape,
            filter: filter.into(),
            short,
            long,
            records,
            masks: shape.class_masks(),
        }
    }

    pub(super) fn memory(&self) -> u64 {
        let filter = 4 * self.filter.len() as u64;
        filter + self.short.memory() + self.long.memory() + self.records.memory()
    }

    /// The share of bits that are 0 and let a window pass, in thousandths.
    pub(super) fn fill(&self) -> u64 {
        let zeros: u64 = self.filter.iter().map(|w| u64::from(w.count_zeros())).sum();
        zeros * 1000 / (32 * self.filter.len() as u64)
    }
}

/// For each pattern of a set, its anchor: the offset of its first window.
struct Anchors<'a> {
    set: &'a PatternSet,
    shape: &'a WindowShape,
    offsets: Vec<u8>,
}

impl<'a> Anchors<'a> {
    /// Chooses the rarest window of each pattern, in parallel; then moves patterns out of crowded
    /// buckets.
    fn choose(set: &'a PatternSet, model: &PairModel, shape: &'a WindowShape) -> Self {
        let mut anchors = Anchors { set, shape, offsets: vec![0; set.len()] };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let each = set.len().div_ceil(threads).max(PER_THREAD);
        let rarest = |first: usize, offsets: &mut [u8]| {
            for (i, offset) in offsets.iter_mut().enumerate() {
                *offset = rarest(set.bytes((first + i) as u32), model, shape, OFFSETS) as u8;
            }
        };
        match anchors.offsets.chunks_mut(each) {
            chunks if chunks.len() < 2 => chunks.for_each(|chunk| rarest(0, chunk)),
            chunks => std::thread::scope(|scope| {
                chunks.enumerate().for_each(|(i, chunk)| {
                    scope.spawn(move || rarest(i * each, chunk));
                });
            }),
        }
        anchors.spread(false, model);
        anchors.spread(true, model);
        anchors
    }

    /// Moves patterns of one kind out of crowded buckets.
    fn spread(&mut self, long: bool, model: &PairModel) {
        let bits = buckets::bucket_bits(self.shape.keys(long));
        let mut load = vec![0_u32; 1 << bits];
        self.keys(long, &mut |hash, _| load[buckets::place(hash, bits)] += 1);
        if load.iter().all(|&keys| keys <= CROWDED) {
            return;
        }
        for pattern in 0..self.set.len() {
            let bytes = self.set.bytes(pattern as u32);
            if self.shape.is_long(bytes.len()) != long {
                continue;
            }
            let at = |offset: usize, step: usize| {
                buckets::place(self.shape.hash(hash::word(bytes, offset + step, 0), long), bits)
            };
            let steps = 0..self.shape.seen(long).1;
            let old = usize::from(self.offsets[pattern]);
            if steps.clone().all(|step| load[at(old, step)] <= CROWDED) {
                continue;
            }
            steps.clone().for_each(|step| load[at(old, step)] -= 1);
            let crowd = |offset: usize| -> f32 {
                let loads = steps.clone().map(|step| load[at(offset, step)]);
                let dear = loads.filter(|&keys| keys >= CROWDED);
                dear.map(|keys| CROWDED_COST + keys as f32).sum()
            };
            let new = cheapest(bytes, model, self.shape, OFFSETS, crowd);
            steps.for_each(|step| load[at(new, step)] += 1);
            self.offsets[pattern] = new as u8;
        }
    }

    /// Calls `each` for every pattern of one kind and every step: the pattern's index, its bytes,
    /// its anchor, and the step from the anchor.
    fn windows(
        &self,
        long: bool,
        steps: usize,
    ) -> impl Iterator<Item = (u32, &'a [u8], usize, usize)> {
        let (set, shape) = (self.set, self.shape);
        self.offsets.iter().enumerate().flat_map(move |(i, &offset)| {
            let bytes = set.bytes(i as u32);
            let steps = if shape.is_long(bytes.len()) == long { steps } else { 0 };
            (0..steps).map(move |step| (i as u32, bytes, usize::from(offset), step))
        })
    }

    fn keys(&self, long: bool, put: &mut dyn FnMut(u64, Key)) {
        let shape = self.shape;
        let masks = shape.class_masks();
        for (pattern, bytes, anchor, step) in self.windows(long, shape.seen(long).1) {
            let offset = anchor + step;
            let text = hash::word(bytes, offset, 0);
            let hash = shape.hash(text, long);
            let (fingerprint, class) = if long {
                (hash as u32, 0)
            } else {
                let class = shape.class(bytes.len() - anchor);
                (hash::fingerprint(shape.folded(text) & masks[class]), class)
            };
            put(hash, Key::new(fingerprint, class, pattern, offset));
        }
    }

    fn let_pass(&self, filter: &mut [u32]) {
        let wrap = filter.len() - 1;
        let shape = self.shape;
        for long in [false, true] {
            for (_, bytes, anchor, step) in self.windows(long, shape.stride) {
                let around = Around::new(shape, bytes, anchor + step);
                let bits = hash::bits(shape.choice(long, around, step));
                filter[shape.index(around) & wrap] &= !bits;
            }
        }
    }
}

/// Eight bytes at a position and eight at the position before it, folded if the shape folds.
#[derive(Clone, Copy)]
pub(super) struct Around {
    here: u64,
    before: u64,
}

impl Around {
    #[inline(always)]
    pub(super) fn new(shape: &WindowShape, bytes: &[u8], at: usize) -> Self {
        let word = |back| shape.folded(hash::word(bytes, at, back));
        let (here, before) = (word(0), word(1));
        Around { here, before }
    }
}

/// The hashes of the filter; the vector forms compute the same.
impl WindowShape {
    /// The word of the filter, before it wraps around.
    #[inline(always)]
    pub(super) fn index(&self, around: Around) -> usize {
        let window = around.here;
        let whole = |bytes: usize| {
            hash::first(window).wrapping_add(hash::last(window >> (8 * (bytes - 4))))
        };
        let hash = match (self.short, self.short_window) {
            (0, _) => whole(self.window),
            (_, SHORTEST) => hash::first(window & ones(SHORTEST)),
            (_, SHORT) => hash::first(window),
            (_, bytes) => whole(bytes),
        };
        (hash >> hash::INDEX_SHIFT) as usize
    }

    /// The hash that chooses the bits of the word for a window of this kind, `step` bytes after
    /// its pattern's anchor.
    #[inline(always)]
    pub(super) fn choice(&self, long: bool, around: Around, step: usize) -> u32 {
        let from = |byte: usize| around.here >> (8 * byte);
        hash::choice(match (long, self.short > 0) {
            (true, true) => from(self.window - 4),
            (true, false) if !self.joined => from(0),
            // The last or the first four bytes of the gram: they include what the window lacks.
            _ if self.stride == 1 => from(0),
            _ if step == 0 => from(self.gram() - 4),
            _ => around.before,
        })
    }
}

impl WindowShape {
    /// The hash of a window that leads to its bucket.
    #[inline(always)]
    pub(super) fn hash(&self, word: u64, long: bool) -> u64 {
        let word = self.folded(word) & ones(self.seen(long).0);
        if long { hash::long(word) } else { hash::short(word) }
    }
}

/// The offset with the rarest windows among the first `offsets`.
pub(super) fn rarest(
    bytes: &[u8],
    model: &PairModel,
    shape: &WindowShape,
    offsets: usize,
) -> usize {
    cheapest(bytes, model, shape, offsets, |_| 0.0)
}

/// The offset with the cheapest windows: their probability and what `more` adds.
fn cheapest(
    bytes: &[u8],
    model: &PairModel,
    shape: &WindowShape,
    offsets: usize,
    more: impl Fn(usize) -> f32,
) -> usize {
    let long = shape.is_long(bytes.len());
    let (window, steps) = shape.seen(long);
    let last = (bytes.len() + 1 - window - steps).min(offsets);
    let mut seen = Sum::new(Follow::new(model, bytes, window), steps);
    let mut best = (0, f32::INFINITY);
    for offset in 0..=last {
        let mut cost = seen.from(offset);
        if !long {
            // The window leads to the bucket, but only the bytes after it lead to the record.
            cost += RECORD_COST * exp2(-model.bits(&bytes[offset..]));
        }
        cost += more(offset);
        if cost < best.1 {
            best = (offset, cost);
        }
    }
    best.0
}

/// The sum of the probabilities of consecutive windows.
struct Sum<'a> {
    follow: Follow<'a>,
    steps: usize,
    met: [f32; MAX_STRIDE],
}

impl<'a> Sum<'a> {
    fn new(mut follow: Follow<'a>, steps: usize) -> Self {
        let mut met = [0.0; MAX_STRIDE];
        for met in &mut met[..steps - 1] {
            *met = follow.probability();
            follow.advance();
        }
        Sum { follow, steps, met }
    }

    /// The sum from an offset on. Call it with ascending offsets from 0.
    fn from(&mut self, offset: usize) -> f32 {
        if offset > 0 {
            self.follow.advance();
        }
        self.met[(offset + self.steps - 1) % MAX_STRIDE] = self.follow.probability();
        (offset..offset + self.steps).map(|at| self.met[at % MAX_STRIDE]).sum()
    }
}

/// The probability of a window that slides over a pattern.
struct Follow<'a> {
    model: &'a PairModel,
    bytes: &'a [u8],
    window: usize,
    at: usize,
    /// The bits of the window after its first byte.
    bits: f32,
}

impl<'a> Follow<'a> {
    fn new(model: &'a PairModel, bytes: &'a [u8], window: usize) -> Self {
        let pairs = bytes[..window].windows(2);
        let bits = pairs.map(|pair| model.bits_after(pair[0], pair[1])).sum();
        Follow { model, bytes, window, at: 0, bits }
    }

    fn advance(&mut self) {
        let pair = |at: usize| self.model.bits_after(self.bytes[at], self.bytes[at + 1]);
        self.bits += pair(self.at + self.window - 1) - pair(self.at);
        self.at += 1;
    }

    fn probability(&self) -> f32 {
        exp2(-(self.bits + self.model.bits(&self.bytes[self.at..=self.at])))
    }
}

/// 2^x with an error of a few per cent, which is enough to compare costs.
fn exp2(x: f32) -> f32 {
    f32::from_bits(((x.max(-120.0) + 127.0) * 8_388_608.0) as u32)
}
