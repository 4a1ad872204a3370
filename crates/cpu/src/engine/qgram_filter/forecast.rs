//! The expected cost of a set, from the probabilities of its windows.

use super::build::rarest;
use super::scan::is_searched;
use super::shape::{MAX_STRIDE, SHORTEST, WindowShape};
use crate::costs::{FilterCosts, LookUps, costs, with_candidate};
use crate::simd::Isa;
use crate::simd::gather::Gathers;
use fyke_automata::model::PairModel;
use fyke_core::{Forecast, Options, PatternSet, Refusal};

/// The maximum number of patterns to evaluate, spread evenly over the set.
const SAMPLED: usize = 2_000;

/// Offsets tried for each pattern. A guess: no benchmark depends on it.
const OFFSETS: usize = 24;

/// A form of the engine.
pub(super) struct Form {
    pub(super) isa: Isa,
    pub(super) gathers: Gathers,
    /// The time of stage 1 over that with fast gathers.
    times: f32,
}

impl Form {
    /// The form that the options ask for, by default the fastest.
    ///
    /// # Errors
    /// This CPU has no such form.
    pub(super) fn new(opt: &Options) -> Result<Form, Refusal> {
        let isa = Isa::choose(opt, &Isa::ALL)?;
        let LookUps { gathers, times } = costs().filter_look_ups(isa, Gathers::asked(opt)?);
        Ok(Form { isa, gathers, times })
    }
}

impl FilterCosts {
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

/// Added to the probability of a pattern, because real data repeat more than a chain of byte pairs
/// predicts. Fitted to `words/99175`, `golden/passwords-az-random26` and the larger `rules` cells.
const MET_AT_LEAST: f32 = 5e-7;
/// The most that this adds for all patterns together: random strings are no more frequent because
/// there are many. A guess: `count/1000000` would show it.
const ALL_AT_LEAST: f32 = 0.05;
/// The highest probability of a window: a chain of byte pairs overestimates runs of one byte. A
/// guess: `rules` and `elf` would show it.
const MET_AT_MOST: f32 = 0.003;
/// A factor for the short windows of the longest stride: data repeat short strings more than a
/// chain of pairs predicts. Measured ratios are 1 to 6 for `words`, `elf` and `rules` without
/// patterns of under 8 and under 10 bytes.
const MORE_FAR: f32 = 2.0;
/// Frequent windows crowd the filter words that are looked up most, and such words let more pass.
/// With `w` windows expected in the word of a position, the share of candidates grows by
/// `CROWDED * (1 - exp(-w / CROWD))`. Fitted to `words`, `rules` and
/// `golden/passwords-az-random26` with a stride of 2, where three and four bytes choose the word.
const CROWDED: f32 = 0.09;
const CROWD: f32 = 1.3;
/// The assumed share of haystacks that consist of the patterns' letters only, in random order. Any
/// value will do that ranks the engines right for `dna/10000` and `golden/passwords-az-random26`.
const SAME_LETTERS: f32 = 0.5;

/// The expected cost of a shape.
pub(super) struct ShapeCost {
    pub(super) ns: f32,
    /// Candidates per byte, and compared records per byte.
    candidates: f32,
    records: f32,
}

/// Estimates the cost of a shape by the model.
pub(super) fn cost(
    set: &PatternSet,
    shape: &WindowShape,
    model: &PairModel,
    form: &Form,
) -> ShapeCost {
    let costs = costs().qgram_filter.of(form.isa);
    let pass = ExpectedCandidates::new(set, shape, model);
    let looked_up = pass.candidates * costs.candidate + pass.records * costs.record;
    let ns = form.times * costs.stage1(shape) + looked_up;
    ShapeCost { ns, candidates: pass.candidates, records: pass.records }
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
    form: &Form,
    call: Option<u64>,
) -> Forecast {
    let cost = cost(set, shape, model, form);
    let costs = costs().qgram_filter.of(form.isa);
    let bytes = call.and_then(|bytes| usize::try_from(bytes).ok());
    let searched = bytes.filter(|&bytes| form.isa != Isa::Scalar && is_searched(bytes, set.len()));
    let with_candidate = with_candidate(cost.candidates, searched.map(|bytes| bytes as u64));
    let patterns = (costs.call_and_pattern * set.len() as f32).min(costs.patterns_at_most);
    let share_of_kilobyte = call.map_or(1.0, |bytes| (bytes as f32 / 1024.0).min(1.0));
    let keys = shape.keys(false) + shape.keys(true);
    Forecast {
        ns_per_byte: cost.ns,
        ns_per_call: costs.empty_call
            + with_candidate * costs.call_with_candidate
            + patterns * share_of_kilobyte,
        candidates: cost.candidates + cost.records,
        memory: shape.memory(),
        build_ms: 0.1 + 1e-6 * costs.build * keys as f32,
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
