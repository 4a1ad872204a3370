//! What a set is expected to cost, by the probabilities of its windows.

use super::build::rarest;
use super::shape::Shape;
use crate::build::model::Model;
use crate::forecast::Forecast;
use crate::simd::Isa;
use fyke_core::{Options, PatternSet, Refusal};

/// Patterns whose windows are looked at; of more, so many spread over the set.
const SAMPLED: usize = 2_000;

/// Nanoseconds that things take in one form.
struct Unit {
    /// A byte in stage 1, for each of both strides, with short windows and without.
    byte: [[f32; 2]; 2],
    /// What a byte takes more at a stride of 1 for each doubling of the filter over 32 KiB.
    doubling: f32,
    /// A candidate that is looked up, a record that is compared.
    candidate: f32,
    record: f32,
}

/// Of the cells `words`, `elf` and `rules`, on a machine with other work.
const AVX512: Unit =
    Unit { byte: [[0.18, 0.26], [0.14, 0.15]], doubling: 0.04, candidate: 4.0, record: 3.5 };
const AVX2: Unit =
    Unit { byte: [[0.45, 0.55], [0.22, 0.26]], doubling: 0.05, candidate: 5.0, record: 4.5 };
const SCALAR: Unit =
    Unit { byte: [[6.0, 8.5], [5.0, 4.5]], doubling: 0.04, candidate: 20.0, record: 9.0 };

/// Real data repeat more than a chain of byte pairs says: each pattern is met so often at least. Of `words/99175`,
/// `golden/passwords` and the larger `rules` cells.
const MET_AT_LEAST: f32 = 5e-7;
/// What this comes to for all patterns, at most: a million random strings are no more frequent for being many.
/// Not swept.
const ALL_AT_LEAST: f32 = 0.05;
/// What runs of one byte are worth in a chain of pairs is far more than data have of them. Not swept.
const MET_AT_MOST: f32 = 0.003;
/// The share of haystacks that are taken to be made of the same letters as the patterns: all windows that these letters
/// allow are as frequent then. A guess that puts `dna/10000` and `golden/passwords` on the right side; not swept.
const SAME_LETTERS: f32 = 0.5;

/// Milliseconds for each thousand windows, with their anchors. At 99,175 words.
const BUILD_MS: f32 = 0.2;

/// What the model says of a set.
struct Pass {
    /// Candidates for each byte of haystack.
    candidates: f32,
    /// Records that are compared for each byte.
    records: f32,
}

pub(super) fn forecast(set: &PatternSet, opt: &Options) -> Result<Forecast, Refusal> {
    let shape = Shape::new(set, opt)?;
    let unit = match Isa::choose(opt, &Isa::ALL)? {
        Isa::Avx512 => AVX512,
        Isa::Avx2 => AVX2,
        Isa::Scalar => SCALAR,
    };
    let pass = Pass::new(set, &shape, &Model::of(opt));
    let byte = unit.byte[shape.stride - 1][usize::from(shape.short > 0)];
    let doublings = (shape.filter_words() as f32 / 8192.0).log2();
    let filter = byte + doublings * unit.doubling / shape.stride as f32;
    let ns = filter + pass.candidates * unit.candidate + pass.records * unit.record;
    let keys = shape.short_keys() + shape.long_keys();
    Ok(Forecast {
        ns_per_byte: ns,
        memory: shape.memory(),
        build_ms: 0.1 + keys as f32 / 1000.0 * BUILD_MS,
        why: format!(
            "stride {}, {:.2} % of bytes are expected to be looked up",
            shape.stride,
            100.0 * pass.candidates
        ),
    })
}

impl Pass {
    fn new(set: &PatternSet, shape: &Shape, model: &Model) -> Self {
        let every = set.len().div_ceil(SAMPLED).max(1);
        let mut pass = by_chance(shape);
        pass.candidates += SAME_LETTERS * by_letters(set, shape, every);
        for pattern in (0..set.len()).step_by(every) {
            let bytes = set.bytes(pattern as u32);
            let long = shape.is_long(bytes.len());
            let (window, _) = shape.seen(long);
            let anchor = rarest(bytes, model, shape);
            // Each window is met at one in `stride` of its positions, and there are as many windows.
            let met = model.probability(&bytes[anchor..anchor + window]);
            let whole = if long { met } else { model.probability(&bytes[anchor..]) };
            let least = MET_AT_LEAST.min(ALL_AT_LEAST / set.len() as f32);
            let really = |p: f32| p.min(MET_AT_MOST) + least;
            pass.candidates += every as f32 * really(met);
            pass.records += every as f32 * really(whole);
        }
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
        (keys as f32 / windows).min(1.0) / shape.stride as f32
    };
    met(shape.long_keys(), true) + met(shape.short_keys(), false)
}

/// What the filter lets pass by chance: each key of a kind clears a bit in each of two bytes of a word, or of four if
/// it has the word for itself.
fn by_chance(shape: &Shape) -> Pass {
    let words = shape.filter_words() as f32;
    let kind = |keys: usize, bytes: i32| {
        let load = keys as f32 / words;
        let clear = 1.0 - 0.875_f32.powf(load);
        (clear.powi(bytes) + load.min(1.0) * 0.125_f32.powi(bytes)).min(1.0)
    };
    let both = shape.short > 0;
    let long = kind(shape.long_keys(), if both { 2 } else { 4 });
    let short = kind(shape.short_keys(), 2);
    Pass { candidates: (long + short) / shape.stride as f32, records: 0.0 }
}
