//! What a set is expected to cost, by the probabilities of its windows.

use super::build::rarest;
use super::shape::{MAX_STRIDE, SHORTEST, Shape};
use crate::simd::Isa;
use fyke_automata::model::PairModel;
use fyke_core::Forecast;
use fyke_core::PatternSet;

/// Patterns whose windows are looked at; of more, so many spread over the set.
const SAMPLED: usize = 2_000;

/// Offsets that are tried for each: that is enough to tell. Not swept.
const OFFSETS: usize = 24;

/// Nanoseconds that things take in one form.
struct Unit {
    /// A byte in stage 1, for each stride, without short windows; the same joined, and with short windows; with such of
    /// three bytes.
    long: [f32; 3],
    joined: f32,
    short: [f32; 2],
    three: f32,
    /// What a byte takes more at a stride of 1 for each doubling of the filter over 32 KiB.
    doubling: f32,
    /// A candidate that is looked up, a record that is compared.
    candidate: f32,
    record: f32,
}

/// Stage 1 by 1,000 patterns of `alphabet/256`, `words` and `rules` in random bytes, the rest by the cells `words`, `elf` and
/// `rules`.
const AVX512: Unit = Unit {
    long: [0.22, 0.115, 0.065],
    joined: 0.145,
    short: [0.25, 0.15],
    three: 0.16,
    doubling: 0.045,
    candidate: 5.0,
    record: 3.5,
};
const AVX2: Unit = Unit {
    long: [0.275, 0.15, 0.085],
    joined: 0.195,
    short: [0.36, 0.22],
    three: 0.24,
    doubling: 0.05,
    candidate: 6.0,
    record: 4.5,
};
const SCALAR: Unit = Unit {
    long: [4.0, 2.5, 1.7],
    joined: 3.5,
    short: [5.5, 4.0],
    three: 4.0,
    doubling: 1.0,
    candidate: 20.0,
    record: 9.0,
};

impl Unit {
    fn of(isa: Isa) -> &'static Unit {
        match isa {
            Isa::Avx512 => &AVX512,
            Isa::Avx2 => &AVX2,
            Isa::Scalar => &SCALAR,
        }
    }

    /// A byte in stage 1.
    fn stage1(&self, shape: &Shape) -> f32 {
        let doublings = (shape.filter_words() as f32 / 8192.0).log2();
        let step = shape.stride.ilog2() as usize;
        let byte = match (shape.short, shape.joined) {
            (0, false) => self.long[step],
            (0, true) => self.joined,
            _ if shape.short_window == SHORTEST => self.three,
            _ => self.short[step],
        };
        byte + doublings * self.doubling / shape.stride as f32
    }
}

/// Real data repeat more than a chain of byte pairs says: each pattern is met so often at least. Of `words/99175`,
/// `golden/passwords` and the larger `rules` cells.
const MET_AT_LEAST: f32 = 5e-7;
/// What this comes to for all patterns, at most: a million random strings are no more frequent for being many.
/// Not swept.
const ALL_AT_LEAST: f32 = 0.05;
/// What runs of one byte are worth in a chain of pairs is far more than data have of them. Not swept.
const MET_AT_MOST: f32 = 0.003;
/// At the longest stride windows are short, and data repeat what is short more than a chain of pairs says: so many times.
/// Of `words`, `elf` and `rules` without patterns of under 8 and 10 bytes, where it was 1 to 6 times.
const MORE_FAR: f32 = 2.0;
/// Windows that are frequent share the words of the filter that are looked up most, and more pass there: this share of bytes,
/// as more windows than [`CROWD`] are expected to be in the word of a position. Of `words`, `rules` and `golden/passwords` with a
/// stride of 2, where words are chosen by three and four bytes.
const CROWDED: f32 = 0.09;
const CROWD: f32 = 1.3;
/// The share of haystacks that are taken to be made of the same letters as the patterns: all windows that these letters
/// allow are as frequent then. A guess that puts `dna/10000` and `golden/passwords` on the right side; not swept.
const SAME_LETTERS: f32 = 0.5;

/// Milliseconds for each thousand windows, with their anchors. At 99,175 words.
const BUILD_MS: f32 = 0.2;

/// What a shape is expected to cost.
pub(super) struct Cost {
    pub(super) ns: f32,
    /// Candidates for each byte of haystack.
    candidates: f32,
}

/// By the model.
pub(super) fn cost(set: &PatternSet, shape: &Shape, model: &PairModel, isa: Isa) -> Cost {
    let unit = Unit::of(isa);
    let pass = Pass::new(set, shape, model);
    let looked_up = pass.candidates * unit.candidate + pass.records * unit.record;
    Cost { ns: unit.stage1(shape) + looked_up, candidates: pass.candidates }
}

/// What the model says of a set.
struct Pass {
    /// Candidates for each byte of haystack.
    candidates: f32,
    /// Records that are compared for each byte.
    records: f32,
}

/// What a set is expected to cost in a shape.
pub(super) fn forecast(set: &PatternSet, shape: &Shape, model: &PairModel, isa: Isa) -> Forecast {
    let cost = cost(set, shape, model, isa);
    let keys = shape.keys(false) + shape.keys(true);
    Forecast {
        ns_per_byte: cost.ns,
        memory: shape.memory(),
        build_ms: 0.1 + keys as f32 / 1000.0 * BUILD_MS,
        why: format!(
            "stride {}, {:.2} % of bytes are expected to be looked up",
            shape.stride,
            100.0 * cost.candidates
        ),
    }
}

impl Pass {
    fn new(set: &PatternSet, shape: &Shape, model: &PairModel) -> Self {
        let every = set.len().div_ceil(SAMPLED).max(1);
        let mut pass = Pass { candidates: by_chance(shape), records: 0.0 };
        let letters = SAME_LETTERS * by_letters(set, shape, every);
        pass.candidates += letters;
        pass.records += letters;
        let mut company = 0.0;
        for pattern in (0..set.len()).step_by(every) {
            let bytes = set.bytes(pattern as u32);
            let long = shape.is_long(bytes.len());
            let (window, steps) = shape.seen(long);
            let anchor = rarest(bytes, model, shape, OFFSETS);
            // Each window is met at one in `stride` of its positions, and there are as many windows.
            let met = model.probability(&bytes[anchor..anchor + window]);
            let chosen_by = |step: usize| &bytes[anchor + step..][..shape.chosen_by()];
            let kept = |step: usize| model.probability(chosen_by(step)).min(MET_AT_MOST);
            company += every as f32 * (0..shape.stride).map(kept).sum::<f32>();
            let whole = if long { met } else { model.probability(&bytes[anchor..]) };
            let least = MET_AT_LEAST.min(ALL_AT_LEAST / set.len() as f32);
            let more = if shape.stride == MAX_STRIDE { MORE_FAR } else { 1.0 };
            let really = |p: f32| more * (p.min(MET_AT_MOST) + least);
            pass.candidates += every as f32 * really(met);
            // Windows by themselves are shorter, and several patterns have the same: so many times as many records are
            // compared, about, as of grams.
            pass.records += every as f32 * really(whole) * steps as f32;
        }
        pass.candidates += CROWDED * (1.0 - (-company / CROWD).exp());
        Pass { candidates: pass.candidates.min(1.0), records: pass.records.min(8.0) }
    }
}

/// The share of bytes whose window is one of the set if it is made of random letters, as many as the patterns have.
fn by_letters(set: &PatternSet, shape: &Shape, every: usize) -> f32 {
    let mut counts = [0_u32; 256];
    for pattern in (0..set.len()).step_by(every) {
        set.bytes(pattern as u32).iter().for_each(|&b| counts[usize::from(b)] += 1);
    }
    let all: f32 = counts.iter().map(|&n| n as f32).sum();
    let bits = |&n: &u32| if n == 0 { 0.0 } else { -(n as f32 / all).log2() * n as f32 / all };
    let letter: f32 = counts.iter().map(bits).sum();
    let met = |keys: usize, long: bool| {
        let windows = (letter * shape.seen(long).0 as f32).exp2();
        (keys as f32 / windows).min(1.0) / shape.seen(long).1 as f32
    };
    met(shape.keys(true), true) + met(shape.keys(false), false)
}

/// What the filter lets pass by chance: each key clears a bit in each of the four bytes of a word.
fn by_chance(shape: &Shape) -> f32 {
    let load = shape.windows() as f32 / shape.filter_words() as f32;
    let clear = 1.0 - 0.875_f32.powf(load);
    let passes = (clear.powi(4) + load.min(1.0) * 0.125_f32.powi(4)).min(1.0);
    let tests = match (shape.short, shape.joined) {
        (0, false) => 1,
        (0, true) => 2,
        _ => shape.stride + 1,
    };
    tests as f32 * passes / shape.stride as f32
}
