//! Byte-pair statistics: estimates how rare a window of bytes is in a haystack.
//!
//! The model is a Markov chain of order one: the first byte counts by its own frequency, and each
//! further byte by how often it follows the byte before it. A filter looks for each pattern by the
//! window that the model rates rarest. The first bytes would not do: many patterns of binary data
//! begin with bytes that are frequent everywhere.
//!
//! The built-in table was trained on 13 MB of many kinds of files: English manuals, sources, web
//! pages, programs, pictures, archives. None of them is in the fixed corpora of the benchmarks;
//! corpora that a benchmark collects from the machine (`documents`, `elf`) may share files with
//! it. `fyke generate model` makes the table. With a sample of the haystack, the table only fills
//! in for pairs that the sample has too few of.
//!
//! Without a sample there is one more hint: people search for words in text and for genes in
//! genomes. So a window is also rated by the statistics of the patterns themselves, and counts as
//! rare only if it is rare by both.

use fyke_core::{Options, PatternSet};
use std::borrow::Cow;
use std::sync::OnceLock;

/// Units per bit.
const UNITS: f32 = 8.0;

/// If a byte occurs this often in a sample, the sample weighs as much as the built-in table. With
/// statistics of patterns, `qgram-filter` is as fast for 8 and 128 (`words`, `rules`, `dna`), and a
/// few percent slower on `elf`. No benchmark has a sample.
const PRIOR: f32 = 32.0;

/// Bytes of a sample that are counted, spread over it. Not measured: a guess. No benchmark has
/// a sample.
const SAMPLE_BYTES: usize = 2 << 20;

/// The maximum number of patterns of a set that are rated or counted; a larger set is sampled
/// evenly. `qgram-filter` is as fast with 5,000 and 80,000 (`words/99175`, `rules/et-min4`,
/// `elf/10000`).
const SAMPLED_PATTERNS: usize = 20_000;

/// The maximum number of bytes of a pattern that are counted. `qgram-filter` is as fast with 64
/// (`rules/et-min4`); no benchmark has many longer patterns than 256.
const PATTERN_BYTES: usize = 256;

/// Spans that the counted bytes of a sample are taken from.
const SAMPLE_SPANS: usize = 32;

/// `[256 * a + b]`: how rare `b` is after `a`. Then, for each byte, how rare it is by itself.
static BUILT_IN: &[u8; TABLE] = include_bytes!("model.bin");

const TABLE: usize = 256 * 256 + 256;

/// Rates windows by byte pairs, in eighths of a bit.
#[derive(Clone, Debug)]
pub struct PairModel {
    table: Cow<'static, [u8]>,
    own: Option<PatternStats>,
}

/// Prior that the haystack resembles the patterns, in bits (1 = one in two).
const PATTERN_PRIOR: u32 = 1;

impl PairModel {
    /// The model of the sample in the options, or the built-in one if there is none.
    pub fn of(opt: &Options) -> PairModel {
        match &opt.sample {
            Some(sample) => PairModel::sampled(sample),
            None => PairModel::built_in(),
        }
    }

    /// Like [`of`](Self::of); without a sample, the haystack may also resemble the patterns of the
    /// set.
    pub fn for_set(set: &PatternSet, opt: &Options) -> PairModel {
        let own = opt.sample.is_none().then(|| PatternStats::new(set));
        PairModel { own, ..PairModel::of(opt) }
    }

    /// Sets the prior that the haystack resembles the patterns to one in 2^`bits`. Rule sets get
    /// rarer windows with a small prior; for genes the patterns still decide.
    pub fn with_pattern_prior(mut self, bits: u32) -> PairModel {
        if let Some(own) = &mut self.own {
            own.rarer = bits * UNITS as u32;
        }
        self
    }

    /// The built-in model, of data in general.
    pub fn built_in() -> PairModel {
        PairModel { table: Cow::Borrowed(BUILT_IN), own: None }
    }

    /// The model of a sample, with the built-in one as its prior.
    pub fn sampled(sample: &[u8]) -> PairModel {
        let spans = sample_spans(sample, SAMPLE_BYTES);
        let pairs = count_pairs(spans, sample.len().min(SAMPLE_BYTES));
        PairModel { table: Cow::Owned(mixed_table(&pairs, BUILT_IN, PRIOR)), own: None }
    }

    /// Trains a table for [`built_in`](Self::built_in) on some files.
    pub fn train<'a>(files: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
        let pairs = count_pairs(files, usize::MAX);
        mixed_table(&pairs, &[8 * UNITS as u8; TABLE], PRIOR)
    }

    /// The probability that a haystack has these bytes at a given position.
    pub fn probability(&self, window: &[u8]) -> f32 {
        (-self.bits(window)).exp2()
    }

    /// Expected matches per byte of haystack. A large set is sampled.
    pub fn matches(&self, set: &PatternSet) -> f32 {
        let every = set.len().div_ceil(SAMPLED_PATTERNS).max(1);
        let sampled = (0..set.len()).step_by(every).map(|i| set.get(i as u32));
        let sum: f32 = sampled.map(|p| self.probability(p.bytes)).sum();
        sum * every as f32
    }

    /// How rare a window is, in bits: 8 is one position in 256.
    pub fn bits(&self, window: &[u8]) -> f32 {
        let Some(&first) = window.first() else { return 0.0 };
        let follow = |w: &[u8]| u32::from(self.table[256 * usize::from(w[0]) + usize::from(w[1])]);
        let rest: u32 = window.windows(2).map(follow).sum();
        let units = u32::from(self.table[256 * 256 + usize::from(first)]) + rest;
        let own = self.own.as_ref().map_or(u32::MAX, |own| own.units(window) + own.rarer);
        units.min(own) as f32 / UNITS
    }

    /// How rare `byte` is after `before`, in bits.
    pub fn bits_after(&self, before: u8, byte: u8) -> f32 {
        let units = u32::from(self.table[256 * usize::from(before) + usize::from(byte)]);
        let own = self.own.as_ref().map_or(u32::MAX, |own| own.follow(before, byte));
        units.min(own) as f32 / UNITS
    }

    /// How rare each byte is after `before`, in eighths of a bit.
    pub fn parts_after(&self, before: u8) -> [u8; 256] {
        let row = 256 * usize::from(before);
        let mut parts: [u8; 256] = *self.table[row..].first_chunk().expect("a table has 256 rows");
        if let Some(own) = &self.own {
            own.limit(before, &mut parts);
        }
        parts
    }
}

/// The statistics of the patterns of a set. They are computed for every set, so only for the pairs
/// that occur. Another pair is rated by the frequencies of its two bytes.
#[derive(Clone, Debug)]
struct PatternStats {
    /// `[256 * a + b]`: how rare `b` is after `a`; 0 if the pair does not occur.
    pairs: Vec<u8>,
    single: [u32; 256],
    /// By the first byte of a pair that does not occur: how much rarer its second byte is after it.
    unseen: [u32; 256],
    /// The prior that the haystack resembles the patterns, in units.
    rarer: u32,
}

impl PatternStats {
    fn new(set: &PatternSet) -> PatternStats {
        let every = set.len().div_ceil(SAMPLED_PATTERNS).max(1);
        let sampled = || (0..set.len()).step_by(every).map(|i| set.bytes(i as u32));
        let spans = || sampled().map(|bytes| &bytes[..bytes.len().min(PATTERN_BYTES)]);
        let mut singles = [0_u32; 256];
        spans().flatten().for_each(|&b| singles[usize::from(b)] += 1);
        let units = |share: f32| (-share.log2() * UNITS).round().max(0.0) as u32;
        let all: f32 = singles.iter().map(|&n| n as f32).sum();
        let single = |b: usize| (singles[b] as f32 + PRIOR * single_share(b)) / (all + PRIOR);
        let mut pairs = vec![0; 256 * 256];
        for (at, n) in count_pairs(spans(), all as usize) {
            let of = singles[at / 256] as f32 + PRIOR;
            // One less, because a pair that occurs once does not tell that it occurs elsewhere.
            let share = ((n - 1) as f32 + PRIOR * single(at % 256)) / of;
            pairs[at] = units(share).clamp(1, 255) as u8;
        }
        // Bytes that occur in no pattern are all rarer than in the built-in table by the same
        // factor.
        let rarer = units(PRIOR / (all + PRIOR));
        let absent = |b: usize| u32::from(BUILT_IN[256 * 256 + b]) + rarer;
        PatternStats {
            pairs,
            single: std::array::from_fn(
                |b| {
                    if singles[b] == 0 { absent(b) } else { units(single(b)) }
                },
            ),
            unseen: singles.map(|n| if n == 0 { 0 } else { units(PRIOR / (n as f32 + PRIOR)) }),
            rarer: PATTERN_PRIOR * UNITS as u32,
        }
    }

    /// Lowers the rarity of each byte after `before` to that in the patterns.
    fn limit(&self, before: u8, parts: &mut [u8; 256]) {
        let (row, unseen) = (256 * usize::from(before), self.unseen[usize::from(before)]);
        let own = self.pairs[row..].iter().zip(&self.single);
        for (parts, (&seen, &single)) in parts.iter_mut().zip(own) {
            let own = if seen == 0 { single + unseen } else { u32::from(seen) };
            *parts = own.min(u32::from(*parts)) as u8;
        }
    }

    fn units(&self, window: &[u8]) -> u32 {
        let first = window.first().map_or(0, |&b| self.single[usize::from(b)]);
        first + window.windows(2).map(|w| self.follow(w[0], w[1])).sum::<u32>()
    }

    fn follow(&self, before: u8, byte: u8) -> u32 {
        match self.pairs[256 * usize::from(before) + usize::from(byte)] {
            0 => self.single[usize::from(byte)] + self.unseen[usize::from(before)],
            seen => u32::from(seen),
        }
    }
}

/// Spans of a sample, spread evenly over it, with at most `bytes` bytes in all.
pub fn sample_spans(sample: &[u8], bytes: usize) -> impl Iterator<Item = &[u8]> {
    let spans = if sample.len() <= bytes { 1 } else { SAMPLE_SPANS };
    let len = sample.len().min(bytes) / spans;
    let gap = (sample.len() - len) / spans.max(2).saturating_sub(1);
    (0..spans).map(move |i| &sample[i * gap..][..len])
}

/// Up to this many bytes, pairs are sorted to count them: a table of all pairs would cost more to
/// clear and read.
const SORT_UP_TO: usize = 4096;

/// Counts the pairs of bytes in some spans of `bytes` bytes in all. The pair (a, b) is given as
/// `256 * a + b`.
fn count_pairs<'a>(spans: impl Iterator<Item = &'a [u8]>, bytes: usize) -> Vec<(usize, u32)> {
    if bytes > SORT_UP_TO {
        let mut counts = Counts::default();
        spans.for_each(|span| counts.add(span));
        let seen = counts.0.iter().enumerate().filter(|(_, n)| **n > 0);
        return seen.map(|(at, &n)| (at, n)).collect();
    }
    let pair = |w: &[u8]| u16::from_be_bytes([w[0], w[1]]);
    let mut all: Vec<u16> = spans.flat_map(|span| span.windows(2).map(pair)).collect();
    all.sort_unstable();
    all.chunk_by(|a, b| a == b).map(|same| (usize::from(same[0]), same.len() as u32)).collect()
}

/// The share of a byte in data in general.
fn single_share(byte: usize) -> f32 {
    static SHARES: OnceLock<[f32; 256]> = OnceLock::new();
    let share = |b: usize| (-f32::from(BUILT_IN[256 * 256 + b]) / UNITS).exp2();
    SHARES.get_or_init(|| std::array::from_fn(share))[byte]
}

/// How often each pair of bytes occurs.
struct Counts(Vec<u32>);

impl Default for Counts {
    fn default() -> Counts {
        Counts(vec![0; 256 * 256])
    }
}

impl Counts {
    fn add(&mut self, bytes: &[u8]) {
        for pair in bytes.windows(2) {
            let count = &mut self.0[256 * usize::from(pair[0]) + usize::from(pair[1])];
            *count = count.saturating_add(1);
        }
    }
}

/// The table of a model from counted pairs, mixed with the table of another model, which weighs as
/// much as `prior` bytes.
fn mixed_table(pairs: &[(usize, u32)], other: &[u8; TABLE], prior: f32) -> Vec<u8> {
    let mut rows = [0.0_f32; 256];
    pairs.iter().for_each(|&(at, n)| rows[at / 256] += n as f32);
    let all: f32 = rows.iter().sum();
    let units = |share: f32| (-share.log2() * UNITS).round();
    let mixed = |count: f32, of: f32, at: usize| {
        let expected = (-f32::from(other[at]) / UNITS).exp2();
        units((count + prior * expected) / (of + prior)).clamp(0.0, 255.0) as u8
    };
    let mut table = other.to_vec();
    for (row, &of) in table.chunks_mut(256).zip(&rows).filter(|(_, of)| **of > 0.0) {
        // Pairs of a row that do not occur are all rarer than in the other model by the same
        // factor.
        let rarer = units(prior / (of + prior)) as u32;
        row.iter_mut().for_each(|bits| *bits = (u32::from(*bits) + rarer).min(255) as u8);
    }
    pairs.iter().for_each(|&(at, n)| table[at] = mixed(n as f32, rows[at / 256], at));
    for (byte, &count) in rows.iter().enumerate() {
        table[256 * 256 + byte] = mixed(count, all, 256 * 256 + byte);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted_alike_by_sorting_and_in_a_table() {
        let text = b"the quick brown fox jumps over the lazy dog, then rests".repeat(3);
        let spans = || text.chunks(7);
        assert_eq!(count_pairs(spans(), text.len()), count_pairs(spans(), SORT_UP_TO + 1));
    }

    #[test]
    fn rare_windows_have_more_bits() {
        let model = PairModel::of(&Options::default());
        let p = |window: &[u8]| model.probability(window);
        assert!(p(b"xylo") < p(b"tion") && p(b"zzqj") < p(b"    "));
        assert!(p(&[0x8b, 0x45, 0xfc, 0x89]) < p(&[0, 0, 0, 1]));
        assert!(model.bits(b"") == 0.0 && p(b"q") > p(b"qu"));
    }

    #[test]
    fn the_built_in_table_is_a_distribution() {
        let model = PairModel::built_in();
        for before in 0..=255u8 {
            let share = |parts: u8| (-f32::from(parts) / UNITS).exp2();
            let all: f32 = model.parts_after(before).into_iter().map(share).sum();
            assert!((0.9..1.1).contains(&all), "after {before}: {all}");
        }
        let all: f32 = (0..=255u8).map(|b| model.probability(&[b])).sum();
        assert!((0.9..1.1).contains(&all), "{all}");
    }

    #[test]
    fn a_pair_that_occurs_once_is_not_common() {
        let pair = |i: u32| (i.wrapping_mul(0x9e37_79b9) >> 16).to_be_bytes()[2..].to_vec();
        let set = PatternSet::new((0..300).map(pair)).unwrap();
        let by = |model: PairModel| model.matches(&set);
        let more = by(PairModel::for_set(&set, &Options::default())) - by(PairModel::built_in());
        let in_random_bytes = set.len() as f32 / 65536.0;
        assert!(more < 2.0 * in_random_bytes, "{more} beside {in_random_bytes}");
    }

    #[test]
    fn windows_common_in_the_patterns_are_not_rare() {
        let letter = |n: u64| b"ACGT"[(n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 62) as usize];
        let pattern = |i: u64| (20 * i..20 * i + 20).map(|n| letter(n * n)).collect::<Vec<u8>>();
        let set = PatternSet::new((0..200).map(pattern));
        let model = PairModel::for_set(&set.unwrap(), &Options::default());
        let bits = model.bits(b"GATTACAC");
        assert!((15.0..20.0).contains(&bits), "{bits}");
        assert!(PairModel::built_in().bits(b"GATTACAC") > 40.0);
        assert!(model.bits(b"the ") <= PairModel::built_in().bits(b"the "));
        let rarer = model.clone().with_pattern_prior(4).bits(b"GATTACAC");
        assert!((2.9..3.1).contains(&(rarer - bits)), "{rarer}, {bits}");
        let empty = PairModel::for_set(&PatternSet::new([""; 0]).unwrap(), &Options::default());
        assert!(empty.bits(b"the ") > 8.0);
    }

    #[test]
    fn a_sample_outweighs_the_built_in_table() {
        let sample: Vec<u8> = b"ACGT".iter().copied().cycle().take(5 << 20).collect();
        let model = PairModel::of(&Options::default().sampled(sample));
        assert!((model.bits(b"A") - 2.0).abs() < 0.2 && model.bits(b"AC") < 2.3);
        assert!(model.bits(b"AA") > 10.0);
        assert!(
            PairModel::sampled(b"").bits(b"e") < 8.0 && PairModel::sampled(b"a").bits(b"e") < 8.0
        );
    }
}
