//! The length of grams and the stride, chosen by what they are likely to cost.

use super::build::{Entry, rarest};
use super::hash::{Gram, MAX_GRAM};
use crate::simd::Isa;
use fyke_automata::PairModel;
use fyke_core::{Forecast, Options, PatternSet, Refusal, check_memory};

/// Fewest bytes of a gram.
const MIN_GRAM: usize = 3;

/// Fewest bytes of a pattern. Under eight it seldom pays; the forecast says so.
const MIN_PATTERN: usize = 4;

/// Longest stride: eight grams lie in 128 bytes then, which two registers hold. Beyond it memory is the bound.
pub(super) const MAX_STRIDE: usize = 16;

/// Words of the bitmap, as a power of two: at least 16 KiB, which a first-level cache holds, at most 16 MiB.
const BITMAP_BITS: std::ops::RangeInclusive<u32> = 12..=22;

/// Fewest buckets: with less, different grams of a few long patterns share one, and these count as dear.
const LEAST_BUCKETS: usize = 1 << 10;

/// Patterns that are looked at to tell how rare grams are.
const PATTERNS_TRIED: usize = 128;

/// Bytes of a pattern that are looked at for the same.
const BYTES_TRIED: usize = 64;

/// Real data repeat more than chains of byte pairs say: what they say of a gram is taken so many times, but runs of
/// one byte are rarer than these have them.
const MET_MORE: f64 = 1.3;
const MET_AT_MOST: f64 = 0.01;

/// Matches that are expected for each byte and pattern, for patterns are looked for because they are met, and for each
/// byte at most. In DNA and words it is a third of this, in a program up to twenty times as much.
const MATCHES: f64 = 5e-7;
const MATCHES_AT_MOST: f64 = 0.02;

/// How a set is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) gram: Gram,
    /// One gram is looked up every so many bytes; each pattern is entered under so many.
    pub(super) stride: usize,
    pub(super) patterns: usize,
    /// 2 to this power are the words of the bitmap.
    pub(super) bitmap_bits: u32,
}

impl Shape {
    /// Grams of all patterns, counted as often as they are entered.
    pub(super) fn grams(&self) -> usize {
        self.patterns * self.stride
    }

    /// The same with a bitmap of 16 to 32 bits for each gram, times 2 to the power of `more`.
    fn with_bitmap(self, more: u32) -> Self {
        let wanted = (self.grams() / 2).max(1).next_power_of_two().ilog2() + more;
        let bitmap_bits = wanted.clamp(*BITMAP_BITS.start(), *BITMAP_BITS.end());
        Shape { bitmap_bits, ..self }
    }

    /// 2 to this power are the buckets: one to two for a gram.
    pub(super) fn bucket_bits(&self) -> u32 {
        self.grams().max(LEAST_BUCKETS).next_power_of_two().ilog2()
    }

    fn bitmap_bytes(&self) -> u64 {
        4 << self.bitmap_bits
    }

    fn bucket_bytes(&self) -> u64 {
        4 * ((1 << self.bucket_bits()) + 1) + (self.grams() * size_of::<Entry>()) as u64
    }

    /// Bytes of memory that the tables take.
    pub(super) fn memory(&self) -> u64 {
        self.bitmap_bytes() + self.bucket_bytes()
    }

    /// The share of other grams that the bitmap lets pass.
    fn false_share(&self) -> f64 {
        let set = 2.0 * self.grams() as f64 / (8.0 * self.bitmap_bytes() as f64);
        (1.0 - (-set).exp()).powi(2)
    }
}

/// The shapes that a set may have, best first.
pub(super) struct Choice {
    pub(super) shapes: Vec<Shape>,
    cost: Cost,
}

/// What a shape is likely to cost.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    ns_per_byte: f64,
    /// The share of samples that are grams of the set.
    hits: f64,
    /// The share of samples that the bitmap lets pass.
    passed: f64,
}

impl Choice {
    pub(super) fn new(set: &PatternSet, opt: &Options, isa: Isa) -> Result<Self, Refusal> {
        let (have, min) = (set.min_len(), MIN_PATTERN);
        if have < min && !set.is_empty() {
            return Err(Refusal::TooShort { min, have });
        }
        let asked = Asked::new(opt)?;
        let fold = if set.nocase_count() > 0 { 0x2020_2020_2020_2020 } else { 0 };
        let rarity = Rarity::new(set, opt, fold);
        let mut all = Vec::new();
        for len in MIN_GRAM..=MAX_GRAM.min(have.max(min)) {
            for stride in 1..=longest_stride(have.max(min), len) {
                let gram = Gram { len, fold };
                let shape = Shape { gram, stride, patterns: set.len(), bitmap_bits: 0 };
                if asked.allows(&shape) {
                    let sizes = (0..2).map(|more| shape.with_bitmap(more));
                    let hits = rarity.of(&shape, have.max(min));
                    all.extend(sizes.map(|shape| (cost(&shape, isa, hits), shape)));
                }
            }
        }
        all.sort_by(|a, b| a.0.ns_per_byte.total_cmp(&b.0.ns_per_byte));
        let Some((cost, _)) = all.first() else { return Err(asked.refusal(have)) };
        let choice = Choice { cost: *cost, shapes: all.iter().map(|(_, s)| *s).collect() };
        let choice = choice.within(opt.memory_limit)?;
        let best = all.iter().find(|(_, s)| *s == choice.shapes[0]);
        Ok(Choice { cost: best.map_or(choice.cost, |(cost, _)| *cost), ..choice })
    }

    /// The same without the shapes that take more memory than a limit.
    pub(super) fn within(&self, limit: Option<u64>) -> Result<Self, Refusal> {
        let fits = |s: &&Shape| check_memory(limit, s.memory()).is_ok();
        let shapes: Vec<Shape> = self.shapes.iter().filter(fits).copied().collect();
        if shapes.is_empty() {
            let least = self.shapes.iter().map(Shape::memory).min().unwrap_or(0);
            check_memory(limit, least)?;
        }
        Ok(Choice { cost: self.cost, shapes })
    }

    pub(super) fn forecast(&self, set: &PatternSet) -> Forecast {
        let shape = &self.shapes[0];
        let grams = shape.grams() as f64;
        let a_gram = BUILD_NS_A_GRAM[usize::from(grams > 1e6)];
        let build = BUILD_NS + a_gram * grams + BUILD_NS_A_BYTE * set.total_bytes() as f64;
        Forecast {
            ns_per_byte: self.cost.ns_per_byte as f32,
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

/// What the options ask for.
struct Asked {
    gram: Option<usize>,
    stride: Option<usize>,
}

impl Asked {
    fn new(opt: &Options) -> Result<Self, Refusal> {
        Ok(Asked {
            gram: opt.number("gram", MIN_GRAM..=MAX_GRAM)?,
            stride: opt.number("stride", 1..=MAX_STRIDE)?,
        })
    }

    fn allows(&self, shape: &Shape) -> bool {
        self.gram.is_none_or(|g| g == shape.gram.len)
            && self.stride.is_none_or(|s| s == shape.stride)
    }

    /// No shape is allowed: the shortest pattern is too short for what was asked for.
    fn refusal(&self, have: usize) -> Refusal {
        let min = self.gram.unwrap_or(MIN_GRAM) + self.stride.unwrap_or(1) - 1;
        Refusal::TooShort { min, have }
    }
}

/// How many samples are grams of the set, by the statistics of a sample of the haystack, or, without one, by
/// those of data in general and by those of the patterns themselves, whichever say more.
struct Rarity {
    /// For each length, and for as many grams of a pattern as its stride allows.
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

    fn of(&self, shape: &Shape, min_len: usize) -> f64 {
        let longest = longest_stride(min_len, shape.gram.len) as f64;
        (self.hits[shape.gram.len] * shape.stride as f64 / longest).min(1.0)
    }
}

/// The longest stride that patterns of `min_len` bytes and more allow.
fn longest_stride(min_len: usize, gram: usize) -> usize {
    MAX_STRIDE.min(min_len + 1 - gram)
}

/// The chance that a position of a haystack begins with a gram of the set. Each pattern that is tried
/// stands for `scale` of them; grams that several have are taken to be the same in all of these.
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

/// Nanoseconds that compiling takes for the statistics of any set, for each entry, in caches and beyond them, and for
/// each byte of a pattern. Of 20-mers: 1.5 ms for 10 of them, 20 ms for 100,000, 650 ms for 1,000,000.
const BUILD_NS: f64 = 1.5e6;
const BUILD_NS_A_GRAM: [f64; 2] = [35.0, 120.0];
const BUILD_NS_A_BYTE: f64 = 2.0;

/// Nanoseconds that reading a haystack takes for each byte, whatever is done with it: what `dna/10` (0.060 in all) and
/// `dna/1000` (0.108) leave. With 0.04 `auto` took `qgram-filter` for `dna/10`, at 0.085.
const NS_A_BYTE: f64 = 0.013;

/// Unit costs were fitted, roughly, to cells of 10 to 100,000 patterns in DNA, words and programs.
fn cost(shape: &Shape, isa: Isa, hits: f64) -> Cost {
    let passed = (hits + shape.false_share()).min(1.0);
    let sample = match isa {
        Isa::Avx512 => 0.4,
        _ => 1.3,
    } + access(shape.bitmap_bytes(), [0.0, 0.2, 0.6, 4.0]);
    let candidate = 8.0 + access(shape.bucket_bytes(), [0.0, 2.0, 6.0, 15.0]);
    let hit = 20.0 + access(shape.bucket_bytes(), [0.0, 10.0, 30.0, 60.0]);
    let matches = (MATCHES * shape.patterns as f64).min(MATCHES_AT_MOST);
    let sampled = (sample + passed * candidate + hits * hit) / shape.stride as f64;
    let ns_per_byte = NS_A_BYTE + sampled + matches * hit;
    Cost { ns_per_byte, hits, passed }
}

/// Nanoseconds for looking something up in a table of so many bytes: in caches of the first, second and third
/// level, and in memory.
fn access(bytes: u64, ns: [f64; 4]) -> f64 {
    match bytes {
        0..=0xc000 => ns[0],
        0xc001..=0x8_0000 => ns[1],
        0x8_0001..=0x100_0000 => ns[2],
        _ => ns[3],
    }
}
