//! Gram statistics: how rare a window of bytes is likely to be in a haystack.
//!
//! A first byte by its own frequency, each further one by how often it follows the byte before it: a Markov
//! chain of order one. Filters know each pattern by the window that this model takes for the rarest;
//! patterns of binary data tend to begin with what all binary data is full of.
//!
//! The built-in statistics are those of 13 MB of files of many kinds: English manuals, sources in several
//! languages, web pages, programs, pictures, archives. None is of the benchmarks' fixed corpora; what a benchmark
//! collects from the files of a machine (`documents`, `elf`) may have some of the same files in it. With a
//! sample of the haystack they only fill in for what the sample has too little of. `fyke generate model`
//! makes the table.
//!
//! Without a sample there is one more hint: people look for words in text and for genes in genomes. So a
//! window is also weighed by the statistics of the patterns themselves, and counts as rare only if it is
//! rare by both.

use fyke_core::{Options, PatternSet};
use std::borrow::Cow;
use std::sync::OnceLock;

/// Bits are counted in parts of so many.
const PARTS: f32 = 8.0;

/// How many times a byte has to be met in a sample for the sample to count as much as what is built in. Not swept.
const PRIOR: f32 = 32.0;

/// Bytes of a sample that are looked at, spread over it. Not swept.
const SAMPLE_BYTES: usize = 2 << 20;

/// Patterns of a set that are asked how likely they are. Not swept.
const ASKED: usize = 20_000;

/// Bytes of a pattern that its statistics are made of. Not swept.
const ASKED_BYTES: usize = 256;

/// Spans that these bytes are taken from.
const SAMPLE_SPANS: usize = 32;

/// `[256 * a + b]`: what `b` is worth after `a`. After these, what each byte is worth by itself.
static BUILT_IN: &[u8; TABLE] = include_bytes!("model.bin");

const TABLE: usize = 256 * 256 + 256;

/// How rare windows are: eighths of a bit for each byte and the byte before it.
#[derive(Clone, Debug)]
pub struct PairModel {
    table: Cow<'static, [u8]>,
    own: Option<Own>,
}

/// Haystacks that are like the patterns are so much rarer than all: one in two. In bits.
const LIKE_PATTERNS: u32 = 1;

impl PairModel {
    /// The model that the options ask for: of the sample, if there is one.
    pub fn of(opt: &Options) -> PairModel {
        match &opt.sample {
            Some(sample) => PairModel::sampled(sample),
            None => PairModel::built_in(),
        }
    }

    /// The same for the patterns of a set: without a sample, haystacks may also be like these.
    pub fn for_set(set: &PatternSet, opt: &Options) -> PairModel {
        let own = opt.sample.is_none().then(|| Own::new(set));
        PairModel { own, ..PairModel::of(opt) }
    }

    /// The same if one haystack in 2^`bits` is like the patterns. A set of rules is told better what its rare windows are if
    /// not everything that rules have counts as likely; for genes it is still the patterns that tell.
    pub fn with_pattern_prior(mut self, bits: u32) -> PairModel {
        if let Some(own) = &mut self.own {
            own.rarer = bits * PARTS as u32;
        }
        self
    }

    /// The statistics of data in general.
    pub fn built_in() -> PairModel {
        PairModel { table: Cow::Borrowed(BUILT_IN), own: None }
    }

    /// The statistics of a sample of a haystack, with those of data in general behind them.
    pub fn sampled(sample: &[u8]) -> PairModel {
        let spans = sample_spans(sample, SAMPLE_BYTES);
        let pairs = count_pairs(spans, sample.len().min(SAMPLE_BYTES));
        PairModel { table: Cow::Owned(mixed_table(&pairs, BUILT_IN, PRIOR)), own: None }
    }

    /// A table for [`built_in`](Self::built_in): the statistics of some files, all of which count the same.
    pub fn train<'a>(files: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
        let pairs = count_pairs(files, usize::MAX);
        mixed_table(&pairs, &[8 * PARTS as u8; TABLE], PRIOR)
    }

    /// How likely it is that a haystack goes on with these bytes at some position.
    pub fn probability(&self, window: &[u8]) -> f32 {
        (-self.bits(window)).exp2()
    }

    /// How many matches a byte of haystack ends, by this model. Of a large set some patterns stand for all.
    pub fn matches(&self, set: &PatternSet) -> f32 {
        let every = set.len().div_ceil(ASKED).max(1);
        let asked = (0..set.len()).step_by(every).map(|i| set.get(i as u32));
        let sum: f32 = asked.map(|p| self.probability(p.bytes)).sum();
        sum * every as f32
    }

    /// The same as bits: 8 is one position in 256.
    pub fn bits(&self, window: &[u8]) -> f32 {
        let Some(&first) = window.first() else { return 0.0 };
        let follow = |w: &[u8]| u32::from(self.table[256 * usize::from(w[0]) + usize::from(w[1])]);
        let rest: u32 = window.windows(2).map(follow).sum();
        let parts = u32::from(self.table[256 * 256 + usize::from(first)]) + rest;
        let own = self.own.as_ref().map_or(u32::MAX, |own| own.parts(window) + own.rarer);
        parts.min(own) as f32 / PARTS
    }

    /// What `byte` is worth after `before`, in bits.
    pub fn bits_after(&self, before: u8, byte: u8) -> f32 {
        let parts = u32::from(self.table[256 * usize::from(before) + usize::from(byte)]);
        let own = self.own.as_ref().map_or(u32::MAX, |own| own.follow(before, byte));
        parts.min(own) as f32 / PARTS
    }
}

/// The statistics of the patterns of a set. Made for every set, however small, so it computes no more than the
/// pairs that there are: a pair that was not met is worth what its bytes are worth apart.
#[derive(Clone, Debug)]
struct Own {
    /// `[256 * a + b]`: what `b` is worth after `a`; 0 if that was not met.
    pairs: Vec<u8>,
    single: [u32; 256],
    /// What an unmet pair is rarer by for its first byte, the oftener that was met.
    unmet: [u32; 256],
    /// What windows of the patterns are rarer by in a haystack of which it is not known whether it is like them.
    rarer: u32,
}

impl Own {
    fn new(set: &PatternSet) -> Own {
        let every = set.len().div_ceil(ASKED).max(1);
        let asked = || (0..set.len()).step_by(every).map(|i| set.bytes(i as u32));
        let spans = || asked().map(|bytes| &bytes[..bytes.len().min(ASKED_BYTES)]);
        let mut singles = [0_u32; 256];
        spans().flatten().for_each(|&b| singles[usize::from(b)] += 1);
        let parts = |share: f32| (-share.log2() * PARTS).round().max(0.0) as u32;
        let all: f32 = singles.iter().map(|&n| n as f32).sum();
        let single = |b: usize| (singles[b] as f32 + PRIOR * single_share(b)) / (all + PRIOR);
        let mut pairs = vec![0; 256 * 256];
        for (at, n) in count_pairs(spans(), all as usize) {
            let of = singles[at / 256] as f32 + PRIOR;
            let share = (n as f32 + PRIOR * single(at % 256)) / of;
            pairs[at] = parts(share).clamp(1, 255) as u8;
        }
        // A byte that no pattern has is rarer than in general by the same factor as all others.
        let rarer = parts(PRIOR / (all + PRIOR));
        let absent = |b: usize| u32::from(BUILT_IN[256 * 256 + b]) + rarer;
        Own {
            pairs,
            single: std::array::from_fn(
                |b| {
                    if singles[b] == 0 { absent(b) } else { parts(single(b)) }
                },
            ),
            unmet: singles.map(|n| if n == 0 { 0 } else { parts(PRIOR / (n as f32 + PRIOR)) }),
            rarer: LIKE_PATTERNS * PARTS as u32,
        }
    }

    fn parts(&self, window: &[u8]) -> u32 {
        let first = window.first().map_or(0, |&b| self.single[usize::from(b)]);
        first + window.windows(2).map(|w| self.follow(w[0], w[1])).sum::<u32>()
    }

    fn follow(&self, before: u8, byte: u8) -> u32 {
        match self.pairs[256 * usize::from(before) + usize::from(byte)] {
            0 => self.single[usize::from(byte)] + self.unmet[usize::from(before)],
            met => u32::from(met),
        }
    }
}

/// The parts of a sample that are looked at: so many bytes, from all over it.
pub fn sample_spans(sample: &[u8], bytes: usize) -> impl Iterator<Item = &[u8]> {
    let spans = if sample.len() <= bytes { 1 } else { SAMPLE_SPANS };
    let len = sample.len().min(bytes) / spans;
    let gap = (sample.len() - len) / spans.max(2).saturating_sub(1);
    (0..spans).map(move |i| &sample[i * gap..][..len])
}

/// Up to this many bytes, pairs are sorted; counting them in a table of all pairs takes 20 us.
const SORT_UP_TO: usize = 4096;

/// The pairs of bytes in some spans of `bytes` bytes in all, each as `256 * a + b` with how often it was met.
fn count_pairs<'a>(spans: impl Iterator<Item = &'a [u8]>, bytes: usize) -> Vec<(usize, u32)> {
    if bytes > SORT_UP_TO {
        let mut counts = Counts::default();
        spans.for_each(|span| counts.add(span));
        let met = counts.0.iter().enumerate().filter(|(_, n)| **n > 0);
        return met.map(|(at, &n)| (at, n)).collect();
    }
    let pair = |w: &[u8]| u16::from_be_bytes([w[0], w[1]]);
    let mut all: Vec<u16> = spans.flat_map(|span| span.windows(2).map(pair)).collect();
    all.sort_unstable();
    all.chunk_by(|a, b| a == b).map(|same| (usize::from(same[0]), same.len() as u32)).collect()
}

/// How often a byte is met in data in general.
fn single_share(byte: usize) -> f32 {
    static SHARES: OnceLock<[f32; 256]> = OnceLock::new();
    let share = |b: usize| (-f32::from(BUILT_IN[256 * 256 + b]) / PARTS).exp2();
    SHARES.get_or_init(|| std::array::from_fn(share))[byte]
}

/// How often each pair of bytes was met.
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

/// The table of a model from how often pairs were met, mixed with another model's table that counts
/// as much as `prior` bytes.
fn mixed_table(met: &[(usize, u32)], other: &[u8; TABLE], prior: f32) -> Vec<u8> {
    let mut rows = [0.0_f32; 256];
    met.iter().for_each(|&(at, n)| rows[at / 256] += n as f32);
    let all: f32 = rows.iter().sum();
    let parts = |share: f32| (-share.log2() * PARTS).round();
    let mixed = |count: f32, of: f32, at: usize| {
        let expected = (-f32::from(other[at]) / PARTS).exp2();
        parts((count + prior * expected) / (of + prior)).clamp(0.0, 255.0) as u8
    };
    let mut table = other.to_vec();
    for (row, &of) in table.chunks_mut(256).zip(&rows).filter(|(_, of)| **of > 0.0) {
        // A pair that was not met is rarer than in the other model by the same factor as all others.
        let rarer = parts(prior / (of + prior)) as u32;
        row.iter_mut().for_each(|bits| *bits = (u32::from(*bits) + rarer).min(255) as u8);
    }
    met.iter().for_each(|&(at, n)| table[at] = mixed(n as f32, rows[at / 256], at));
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
    fn rare_windows_are_worth_more() {
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
            let all: f32 = (0..=255u8).map(|b| (-model.bits_after(before, b)).exp2()).sum();
            assert!((0.9..1.1).contains(&all), "after {before}: {all}");
        }
        let all: f32 = (0..=255u8).map(|b| model.probability(&[b])).sum();
        assert!((0.9..1.1).contains(&all), "{all}");
    }

    #[test]
    fn what_is_common_among_the_patterns_is_not_rare() {
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
    fn a_sample_counts_more_than_what_is_built_in() {
        let sample: Vec<u8> = b"ACGT".iter().copied().cycle().take(5 << 20).collect();
        let model = PairModel::of(&Options::default().sampled(sample));
        assert!((model.bits(b"A") - 2.0).abs() < 0.2 && model.bits(b"AC") < 2.3);
        assert!(model.bits(b"AA") > 10.0);
        assert!(
            PairModel::sampled(b"").bits(b"e") < 8.0 && PairModel::sampled(b"a").bits(b"e") < 8.0
        );
    }
}
