//! The expected cost of a set, from the probabilities of its windows.

use super::build::rarest;
use super::shape::{MAX_STRIDE, SHORTEST, WindowShape};
use crate::simd::Isa;
use fyke_automata::model::PairModel;
use fyke_core::Forecast;
use fyke_core::PatternSet;

/// Most patterns to evaluate, spread evenly over the set.
const SAMPLED: usize = 2_000;

/// Offsets tried for each. A guess: no benchmark tells it apart.
const OFFSETS: usize = 24;

/// Unit costs of one instruction set, in nanoseconds.
struct UnitCosts {
    /// Stage 1 per byte for each stride: without short windows; joined, or with short windows;
    /// with short windows of three bytes.
    long: [f32; 3],
    joined: f32,
    short: [f32; 2],
    three: f32,
    /// What stage 1 takes more per byte at a stride of 1 for each doubling of the filter beyond 32
    /// KiB.
    doubling: f32,
    /// A candidate that is looked up; a record that is compared.
    candidate: f32,
    record: f32,
}

/// Stage 1 is fitted to 1,000 patterns of `alphabet/256`, `words` and `rules` in random bytes, the
/// rest to the cells of `words`, `elf` and `rules`.
const AVX512: UnitCosts = UnitCosts {
    long: [0.22, 0.115, 0.065],
    joined: 0.145,
    short: [0.25, 0.15],
    three: 0.16,
    doubling: 0.045,
    candidate: 5.0,
    record: 3.5,
};
const AVX2: UnitCosts = UnitCosts {
    long: [0.275, 0.15, 0.085],
    joined: 0.195,
    short: [0.36, 0.22],
    three: 0.24,
    doubling: 0.05,
    candidate: 6.0,
    record: 4.5,
};
const SCALAR: UnitCosts = UnitCosts {
    long: [4.0, 2.5, 1.7],
    joined: 3.5,
    short: [5.5, 4.0],
    three: 4.0,
    doubling: 1.0,
    candidate: 20.0,
    record: 9.0,
};

impl UnitCosts {
    fn of(isa: Isa) -> &'static UnitCosts {
        match isa {
            Isa::Avx512 => &AVX512,
            Isa::Avx2 => &AVX2,
            Isa::Scalar => &SCALAR,
        }
    }

    /// Stage 1 per byte.
    fn stage1(&self, shape: &WindowShape) -> f32 {
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

/// The lowest probability of a pattern: real data repeat more than a chain of byte pairs predicts.
/// Fitted to `words/99175`, `golden/passwords-az-random26` and the larger `rules` cells.
const MET_AT_LEAST: f32 = 5e-7;
/// The most that this adds up to: a million random strings are no more frequent for being many. A
/// guess: `count/1000000` would show it.
const ALL_AT_LEAST: f32 = 0.05;
/// The highest probability of a window: a chain of byte pairs overestimates runs of one byte. A
/// guess: `rules` and `elf` would show it.
const MET_AT_MOST: f32 = 0.003;
/// A factor for the short windows of the longest stride: data repeat short strings more than a
/// chain of pairs predicts. Measured 1 to 6 times for `words`, `elf` and `rules` without patterns
/// of under 8 and 10 bytes.
const MORE_FAR: f32 = 2.0;
/// Frequent windows share the filter words that are looked up most, and more passes there: this
/// share of bytes for each window beyond [`CROWD`] expected in the word of a position. Fitted to
/// `words`, `rules` and `golden/passwords-az-random26` with a stride of 2, where three and four
/// bytes choose the word.
const CROWDED: f32 = 0.09;
const CROWD: f32 = 1.3;
/// The assumed share of haystacks that use only the patterns' letters. There all windows of these
/// letters are equally frequent. Any value that ranks the engines right for `dna/10000` and
/// `golden/passwords-az-random26` will do.
const SAME_LETTERS: f32 = 0.5;

/// Nanoseconds per call of about a kilobyte; what each pattern adds, because calls of traffic have
/// more candidates than the model expects; and the most (`replay`).
const NS_A_CALL: f32 = 130.0;
const NS_A_CALL_AND_PATTERN: f32 = 0.35;
const NS_A_CALL_AT_MOST: f32 = 550.0;

/// Milliseconds per thousand windows and their anchors (`words/99175`).
const BUILD_MS: f32 = 0.2;

/// The expected cost of a shape.
pub(super) struct ShapeCost {
    pub(super) ns: f32,
    /// Candidates per byte.
    candidates: f32,
}

/// Estimates the cost of a shape by the model.
pub(super) fn cost(
    set: &PatternSet,
    shape: &WindowShape,
    model: &PairModel,
    isa: Isa,
) -> ShapeCost {
    let unit = UnitCosts::of(isa);
    let pass = ExpectedCandidates::new(set, shape, model);
    let looked_up = pass.candidates * unit.candidate + pass.records * unit.record;
    ShapeCost { ns: unit.stage1(shape) + looked_up, candidates: pass.candidates }
}

/// What the model expects of a set.
struct ExpectedCandidates {
    /// Candidates per byte.
    candidates: f32,
    /// Compared records per byte.
    records: f32,
}

/// The expected cost of a set with a given shape.
pub(super) fn forecast(
    set: &PatternSet,
    shape: &WindowShape,
    model: &PairModel,
    isa: Isa,
) -> Forecast {
    let cost = cost(set, shape, model, isa);
    let keys = shape.keys(false) + shape.keys(true);
    Forecast {
        ns_per_byte: cost.ns,
        ns_per_call: (NS_A_CALL + NS_A_CALL_AND_PATTERN * set.len() as f32).min(NS_A_CALL_AT_MOST),
        memory: shape.memory(),
        build_ms: 0.1 + keys as f32 / 1000.0 * BUILD_MS,
        why: format!(
            "stride {}, {:.2} % of bytes are expected to be looked up",
            shape.stride,
            100.0 * cost.candidates
        ),
    }
}

impl ExpectedCandidates {
    fn new(set: &PatternSet, shape: &WindowShape, model: &PairModel) -> Self {
        let every = set.len().div_ceil(SAMPLED).max(1);
        let mut pass = ExpectedCandidates { candidates: by_chance(shape), records: 0.0 };
        let letters = SAME_LETTERS * by_letters(set, shape, every);
        pass.candidates += letters;
        pass.records += letters;
        let mut company = 0.0;
        for pattern in (0..set.len()).step_by(every) {
            let bytes = set.bytes(pattern as u32);
            let long = shape.is_long(bytes.len());
            let (window, steps) = shape.seen(long);
            let anchor = rarest(bytes, model, shape, OFFSETS);
            // A window is met at one in `stride` of its positions, and there are `stride`
            // windows.
            let met = model.probability(&bytes[anchor..anchor + window]);
            let chosen_by = |step: usize| &bytes[anchor + step..][..shape.chosen_by()];
            let kept = |step: usize| model.probability(chosen_by(step)).min(MET_AT_MOST);
            company += every as f32 * (0..shape.stride).map(kept).sum::<f32>();
            let whole = if long { met } else { model.probability(&bytes[anchor..]) };
            let least = MET_AT_LEAST.min(ALL_AT_LEAST / set.len() as f32);
            let more = if shape.stride == MAX_STRIDE { MORE_FAR } else { 1.0 };
            let really = |p: f32| more * (p.min(MET_AT_MOST) + least);
            pass.candidates += every as f32 * really(met);
            // A window by itself is shorter than a gram, so several patterns share it, and about
            // `steps` times as many records are compared.
            pass.records += every as f32 * really(whole) * steps as f32;
        }
        pass.candidates += CROWDED * (1.0 - (-company / CROWD).exp());
        ExpectedCandidates { candidates: pass.candidates.min(1.0), records: pass.records.min(8.0) }
    }
}

/// The share of positions with a window of the set in random text of the patterns' letters.
fn by_letters(set: &PatternSet, shape: &WindowShape, every: usize) -> f32 {
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

/// The share of false positives of the filter: each key clears a bit in each of the four bytes of
/// a word.
fn by_chance(shape: &WindowShape) -> f32 {
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
