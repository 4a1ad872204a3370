//! Chooses the gram length and the stride with the lowest expected cost.

use super::build::{Entry, rarest};
use super::hash::{Gram, MAX_GRAM};
use crate::costs::costs;
use crate::simd::Isa;
use fyke_automata::PairModel;
use fyke_core::{Forecast, Options, PatternSet, Refusal, check_memory};

/// The minimum number of bytes of a gram.
const MIN_GRAM: usize = 3;

/// The minimum number of bytes of a pattern. Patterns of under eight bytes are seldom worth it; the
/// forecast says so.
const MIN_PATTERN: usize = 4;

/// Longest stride: eight grams span at most 128 bytes, which fit in two registers. With a longer
/// stride, reading the haystack from memory would be the bottleneck.
pub(super) const MAX_STRIDE: usize = 16;

/// Words of the bitmap, as a power of two: at least 16 KiB, which fits in an L1 cache, at most 16
/// MiB.
const BITMAP_BITS: std::ops::RangeInclusive<u32> = 12..=22;

/// Least buckets: with fewer, unrelated grams of a few long patterns would share one and look
/// crowded.
const LEAST_BUCKETS: usize = 1 << 10;

/// Patterns evaluated to estimate how rare grams are.
const PATTERNS_TRIED: usize = 128;

/// Bytes evaluated of each pattern.
const BYTES_TRIED: usize = 64;

/// Real data repeat more than a chain of byte pairs predicts, so its probabilities are multiplied
/// by this. Runs of one byte are the exception: the chain overestimates them.
const MET_MORE: f64 = 1.3;
const MET_AT_MOST: f64 = 0.01;

/// Expected matches per byte and pattern, and the most per byte for all patterns: patterns occur
/// more often than the model of data predicts. `dna` and `words` have a third of this, `elf` up to
/// twenty times as much.
const MATCHES: f64 = 5e-7;
const MATCHES_AT_MOST: f64 = 0.02;

/// How a set is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SamplingShape {
    pub(super) gram: Gram,
    /// The distance between samples, and the number of grams per pattern in the bitmap.
    pub(super) stride: usize,
    pub(super) patterns: usize,
    /// The number of bitmap words, as a power of two.
    pub(super) bitmap_bits: u32,
}

impl SamplingShape {
    /// Grams of all patterns, with repetitions.
    pub(super) fn grams(&self) -> usize {
        self.patterns * self.stride
    }

    /// This shape with a bitmap of 16 to 32 bits per gram, times 2 to the power of `more`.
    fn with_bitmap(self, more: u32) -> Self {
        let wanted = (self.grams() / 2).max(1).next_power_of_two().ilog2() + more;
        let bitmap_bits = wanted.clamp(*BITMAP_BITS.start(), *BITMAP_BITS.end());
        SamplingShape { bitmap_bits, ..self }
    }

    /// The number of buckets, as a power of two: one to two per gram.
    pub(super) fn bucket_bits(&self) -> u32 {
        self.grams().max(LEAST_BUCKETS).next_power_of_two().ilog2()
    }

    fn bitmap_bytes(&self) -> u64 {
        4 << self.bitmap_bits
    }

    fn bucket_bytes(&self) -> u64 {
        4 * ((1 << self.bucket_bits()) + 1) + (self.grams() * size_of::<Entry>()) as u64
    }

    /// Bytes of memory for the tables.
    pub(super) fn memory(&self) -> u64 {
        self.bitmap_bytes() + self.bucket_bytes()
    }

    /// The share of other grams that pass the bitmap.
    fn false_share(&self) -> f64 {
        let set = 2.0 * self.grams() as f64 / (8.0 * self.bitmap_bytes() as f64);
        (1.0 - (-set).exp()).powi(2)
    }
}

/// The shapes that a set may have, best first.
pub(super) struct RankedShapes {
    pub(super) shapes: Vec<SamplingShape>,
    cost: SamplingCost,
    isa: Isa,
}

/// The expected cost of a shape.
#[derive(Clone, Copy, Debug, Default)]
struct SamplingCost {
    ns_per_byte: f64,
    /// The share of samples that are grams of the set.
    hits: f64,
    /// The share of samples that pass the bitmap.
    passed: f64,
}

impl RankedShapes {
    pub(super) fn new(set: &PatternSet, opt: &Options, isa: Isa) -> Result<Self, Refusal> {
        let (have, min) = (set.min_len(), MIN_PATTERN);
        if have < min && !set.is_empty() {
            return Err(Refusal::TooShort { min, have });
        }
        let asked = ShapeOptions::new(opt)?;
        let fold = if set.nocase_count() > 0 { 0x2020_2020_2020_2020 } else { 0 };
        let rarity = Rarity::new(set, opt, fold);
        let mut all = Vec::new();
        for len in MIN_GRAM..=MAX_GRAM.min(have.max(min)) {
            for stride in 1..=longest_stride(have.max(min), len) {
                let gram = Gram { len, fold };
                let shape = SamplingShape { gram, stride, patterns: set.len(), bitmap_bits: 0 };
                if asked.allows(&shape) {
                    let sizes = (0..2).map(|more| shape.with_bitmap(more));
                    let hits = rarity.of(&shape, have.max(min));
                    all.extend(sizes.map(|shape| (cost(&shape, isa, hits), shape)));
                }
            }
        }
        all.sort_by(|a, b| a.0.ns_per_byte.total_cmp(&b.0.ns_per_byte));
        let Some((cost, _)) = all.first() else { return Err(asked.refusal(have)) };
        let shapes = all.iter().map(|(_, s)| *s).collect();
        let choice = RankedShapes { cost: *cost, shapes, isa };
        let choice = choice.within(opt.memory_limit)?;
        let best = all.iter().find(|(_, s)| *s == choice.shapes[0]);
        Ok(RankedShapes { cost: best.map_or(choice.cost, |(cost, _)| *cost), ..choice })
    }

    /// Drops the shapes that need more memory than a limit.
    pub(super) fn within(&self, limit: Option<u64>) -> Result<Self, Refusal> {
        let fits = |s: &&SamplingShape| check_memory(limit, s.memory()).is_ok();
        let shapes: Vec<SamplingShape> = self.shapes.iter().filter(fits).copied().collect();
        if shapes.is_empty() {
            let least = self.shapes.iter().map(SamplingShape::memory).min().unwrap_or(0);
            check_memory(limit, least)?;
        }
        Ok(RankedShapes { shapes, ..*self })
    }

    pub(super) fn forecast(&self, set: &PatternSet) -> Forecast {
        let shape = &self.shapes[0];
        let grams = shape.grams() as f64;
        let costs = costs().qgram_sampling.of(self.isa);
        let a_gram = f64::from(costs.build_gram[usize::from(grams > 1e6)]);
        let bytes = f64::from(costs.build_byte) * set.total_bytes() as f64;
        let build = f64::from(costs.build) + a_gram * grams + bytes;
        Forecast {
            ns_per_byte: self.cost.ns_per_byte as f32,
            ns_per_call: costs.call,
            candidates: (self.cost.passed + self.cost.hits) as f32 / shape.stride as f32,
            memory: shape.memory(),
            build_ms: (build / 1e6) as f32,
            why: format!(
                "one gram of {} bytes every {}; {:.2} % of them pass the bitmap, {:.2} % are of the set",
                shape.gram.len,
                shape.stride,
                100.0 * self.cost.passed,
                100.0 * self.cost.hits
            ),
        }
    }
}

/// The shape options of the caller.
struct ShapeOptions {
    gram: Option<usize>,
    stride: Option<usize>,
}

impl ShapeOptions {
    fn new(opt: &Options) -> Result<Self, Refusal> {
        Ok(ShapeOptions {
            gram: opt.number("gram", MIN_GRAM..=MAX_GRAM)?,
            stride: opt.number("stride", 1..=MAX_STRIDE)?,
        })
    }

    fn allows(&self, shape: &SamplingShape) -> bool {
        self.gram.is_none_or(|g| g == shape.gram.len)
            && self.stride.is_none_or(|s| s == shape.stride)
    }

    /// The refusal for a shortest pattern that is too short for the options.
    fn refusal(&self, have: usize) -> Refusal {
        let min = self.gram.unwrap_or(MIN_GRAM) + self.stride.unwrap_or(1) - 1;
        Refusal::TooShort { min, have }
    }
}

/// Estimates the share of samples that are grams of the set. Uses the statistics of a sample of the
/// haystack. Without a sample, takes the higher of two estimates: by typical data and by the
/// patterns themselves.
struct Rarity {
    /// For each gram length, at the longest stride.
    hits: [f64; MAX_GRAM + 1],
}

impl Rarity {
    fn new(set: &PatternSet, opt: &Options, fold: u64) -> Self {
        let step = set.len().div_ceil(PATTERNS_TRIED).max(1);
        let tried: Vec<&[u8]> = (0..set.len())
            .step_by(step)
            .map(|i| set.bytes(i as u32))
            .map(|p| &p[..p.len().min(BYTES_TRIED)])
            .collect();
        let scale = set.len() as f64 / tried.len().max(1) as f64;
        let mut models = vec![PairModel::of(opt)];
        if opt.sample.is_none() {
            models.push(PairModel::sampled(&tried.concat()));
        }
        let hits = |len: usize| match len {
            MIN_GRAM.. if len <= set.min_len() => {
                let gram = Gram { len, fold };
                expected_hits(&tried, &models, gram, longest_stride(set.min_len(), len), scale)
            }
            _ => 0.0,
        };
        Rarity { hits: std::array::from_fn(hits) }
    }

    fn of(&self, shape: &SamplingShape, min_len: usize) -> f64 {
        let longest = longest_stride(min_len, shape.gram.len) as f64;
        (self.hits[shape.gram.len] * shape.stride as f64 / longest).min(1.0)
    }
}

/// The longest stride for patterns of at least `min_len` bytes.
fn longest_stride(min_len: usize, gram: usize) -> usize {
    MAX_STRIDE.min(min_len + 1 - gram)
}

/// The probability that a gram of the set begins at a position of a haystack. Each tried pattern
/// stands for `scale` of them, and grams that several patterns have count once.
fn expected_hits(
    tried: &[&[u8]],
    models: &[PairModel],
    gram: Gram,
    stride: usize,
    scale: f64,
) -> f64 {
    let mut grams: Vec<(u64, f32)> = Vec::with_capacity(tried.len() * stride);
    for bytes in tried {
        let first = rarest(&models[0], bytes, gram.len, stride);
        for at in first..first + stride {
            let window = &bytes[at..at + gram.len];
            let chance = models.iter().map(|m| m.probability(window)).fold(0.0, f32::max);
            grams.push((gram.hash(bytes, at), chance));
        }
    }
    grams.sort_unstable_by_key(|g| g.0);
    let same = grams.chunk_by(|a, b| a.0 == b.0);
    let really = |chance: f32| (MET_MORE * f64::from(chance)).min(MET_AT_MOST);
    same.map(|g| really(g[0].1) * if g.len() > 1 { 1.0 } else { scale }).sum()
}

/// The expected cost of a shape.
fn cost(shape: &SamplingShape, isa: Isa, hits: f64) -> SamplingCost {
    let costs = costs().qgram_sampling.of(isa);
    let passed = (hits + shape.false_share()).min(1.0);
    let sample = sample_times(isa) * f64::from(costs.sample.of(shape.bitmap_bytes()));
    let candidate = f64::from(costs.candidate.of(shape.bucket_bytes()));
    let hit = f64::from(costs.hit.of(shape.bucket_bytes()));
    let matches = (MATCHES * shape.patterns as f64).min(MATCHES_AT_MOST);
    let sampled = (sample + passed * candidate + hits * hit) / shape.stride as f64;
    let ns_per_byte = f64::from(costs.byte) + sampled + matches * hit;
    SamplingCost { ns_per_byte, hits, passed }
}

/// The time of a sample relative to fast gathers. Only the AVX-512 form gathers.
fn sample_times(isa: Isa) -> f64 {
    if isa == Isa::Avx512 { f64::from(costs().gather_times(isa, 1.0)) } else { 1.0 }
}
