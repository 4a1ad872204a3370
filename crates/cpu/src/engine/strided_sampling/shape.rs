//! The length of grams and the stride, chosen by what they are likely to cost.

use super::build::{Entry, rarest};
use super::hash::{Gram, MAX_GRAM};
use crate::Forecast;
use crate::build::Model;
use crate::simd::Isa;
use fyke_core::{Options, PatternSet, Refusal};

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

/// How a set is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) gram: Gram,
    /// One gram is looked up every so many bytes; each pattern is entered under so many.
    pub(super) stride: usize,
    pub(super) patterns: usize,
}

impl Shape {
    /// Grams of all patterns, counted as often as they are entered.
    pub(super) fn grams(&self) -> usize {
        self.patterns * self.stride
    }

    /// The bytes of a pattern that its grams cover.
    pub(super) fn region(&self) -> usize {
        self.gram.len + self.stride - 1
    }

    /// 2 to this power are the words of the bitmap: 16 to 32 bits a gram.
    pub(super) fn bitmap_bits(&self) -> u32 {
        let wanted = (self.grams() / 2).max(1).next_power_of_two().ilog2();
        wanted.clamp(*BITMAP_BITS.start(), *BITMAP_BITS.end())
    }

    /// 2 to this power are the buckets: one to two for a gram.
    pub(super) fn bucket_bits(&self) -> u32 {
        self.grams().max(LEAST_BUCKETS).next_power_of_two().ilog2()
    }

    fn bitmap_bytes(&self) -> u64 {
        4 << self.bitmap_bits()
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
        let rarity = Rarity::new(set, &Model::of(opt), asked.gram);
        let fold = if set.nocase_count() > 0 { 0x2020_2020_2020_2020 } else { 0 };
        let mut all = Vec::new();
        for len in MIN_GRAM..=MAX_GRAM.min(have.max(min)) {
            for stride in 1..=MAX_STRIDE.min(have.max(min) + 1 - len) {
                let shape = Shape { gram: Gram { len, fold }, stride, patterns: set.len() };
                if asked.allows(&shape) {
                    all.push((cost(&shape, isa, rarity.of(len)), shape));
                }
            }
        }
        all.sort_by(|a, b| a.0.ns_per_byte.total_cmp(&b.0.ns_per_byte));
        let least = all.iter().map(|(_, s)| s.memory()).min().ok_or_else(|| asked.refusal(have))?;
        opt.check_memory(least)?;
        all.retain(|(_, s)| opt.check_memory(s.memory()).is_ok());
        Ok(Choice { cost: all[0].0, shapes: all.into_iter().map(|(_, s)| s).collect() })
    }

    pub(super) fn forecast(&self, set: &PatternSet) -> Forecast {
        let shape = &self.shapes[0];
        let grams = shape.grams() as f64;
        let build = BUILD_NS_A_GRAM * grams + BUILD_NS_A_BYTE * set.total_bytes() as f64;
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
            gram: number(opt, "gram", MIN_GRAM, MAX_GRAM)?,
            stride: number(opt, "stride", 1, MAX_STRIDE)?,
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

fn number(opt: &Options, name: &str, min: usize, max: usize) -> Result<Option<usize>, Refusal> {
    match opt.param(name) {
        None | Some("auto") => Ok(None),
        Some(text) => match text.parse() {
            Ok(n) if (min..=max).contains(&n) => Ok(Some(n)),
            _ => Err(Refusal::BadOption(format!(
                "{name}={text}: take auto or a number from {min} to {max}"
            ))),
        },
    }
}

/// How likely a gram of a set is to be met at a position of a haystack: by the larger of two guesses.
struct Rarity {
    /// For each length, by the model of data in general, or of a sample.
    by_model: [f64; MAX_GRAM + 1],
    letters: Letters,
}

impl Rarity {
    fn new(set: &PatternSet, model: &Model, only: Option<usize>) -> Self {
        let step = set.len().div_ceil(PATTERNS_TRIED).max(1);
        let tried = || (0..set.len()).step_by(step).map(|i| set.bytes(i as u32));
        let tried = || tried().map(|p| &p[..p.len().min(BYTES_TRIED)]);
        let count = tried().count().max(1) as f64;
        let guess = |len: usize| {
            let possible = (MIN_GRAM..=set.min_len()).contains(&len);
            if !possible || only.is_some_and(|l| l != len) {
                return 0.0;
            }
            let stride = MAX_STRIDE.min(set.min_len() + 1 - len);
            let mean = |p: &[u8]| f64::from(rarest(model, p, len, stride).1) / stride as f64;
            tried().map(mean).sum::<f64>() / count
        };
        Rarity { by_model: std::array::from_fn(guess), letters: Letters::new(tried()) }
    }

    fn of(&self, len: usize) -> f64 {
        self.by_model[len].max(self.letters.equal(len))
    }
}

/// How often letters are equal: for data of the same kind as the patterns, such as DNA.
#[derive(Clone, Copy, Debug)]
struct Letters {
    /// The chance that two letters are equal.
    one: f64,
    /// The chance that two letters are, which follow equal ones.
    next: f64,
}

impl Letters {
    fn new<'a>(patterns: impl Iterator<Item = &'a [u8]>) -> Self {
        let (mut one, mut two) = (vec![0_u32; 1 << 8], vec![0_u32; 1 << 16]);
        for bytes in patterns {
            bytes.iter().for_each(|&b| one[usize::from(b)] += 1);
            let pair = |w: &[u8]| usize::from(w[0]) << 8 | usize::from(w[1]);
            bytes.windows(2).for_each(|w| two[pair(w)] += 1);
        }
        let (one, two) = (equal_pairs(&one), equal_pairs(&two));
        Letters { one, next: (two / one.max(1e-9)).min(1.0) }
    }

    /// The chance that two grams are equal.
    fn equal(&self, len: usize) -> f64 {
        self.one * self.next.powi(len as i32 - 1)
    }
}

/// The chance that two of the counted things are equal, drawn without putting back.
fn equal_pairs(counts: &[u32]) -> f64 {
    let all: f64 = counts.iter().map(|&n| f64::from(n)).sum();
    let equal: f64 = counts.iter().map(|&n| f64::from(n) * (f64::from(n) - 1.0)).sum();
    equal.max(0.0) / (all * (all - 1.0)).max(1.0)
}

const BUILD_NS_A_GRAM: f64 = 30.0;
const BUILD_NS_A_BYTE: f64 = 2.0;

/// Nanoseconds that reading a haystack takes for each byte, whatever is done with it.
const NS_A_BYTE: f64 = 0.06;

fn cost(shape: &Shape, isa: Isa, rarity: f64) -> Cost {
    let hits = (shape.grams() as f64 * rarity).min(1.0);
    let passed = (hits + shape.false_share()).min(1.0);
    let sample = match isa {
        Isa::Avx512 => 0.35,
        _ => 0.8,
    } + access(shape.bitmap_bytes(), 0.3);
    let candidate = 2.5 + access(shape.bucket_bytes(), 1.0);
    let hit = 6.0 + access(shape.bucket_bytes(), 1.0);
    let ns_per_byte = NS_A_BYTE + (sample + passed * candidate + hits * hit) / shape.stride as f64;
    Cost { ns_per_byte, hits, passed }
}

/// Nanoseconds for looking something up in a table of so many bytes, of which several overlap.
fn access(bytes: u64, from_second_level: f64) -> f64 {
    match bytes {
        0..=0x8000 => 0.0,
        0x8001..=0x10_0000 => from_second_level,
        0x10_0001..=0x100_0000 => 6.0 * from_second_level,
        _ => 20.0 * from_second_level,
    }
}
