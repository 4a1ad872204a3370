//! The compile-time choice of the filter for a set: shuffles of a shape, pair tables, or two bytes
//! of a single pattern. It includes each pattern's window and bucket.

use super::cluster::{Codes, cluster, unions};
use super::cost::{bare_ns, paired_ns};
use super::grams::{Grams, SmallAlphabet, codes, parts, variants};
use super::pairs::{Layout, PairShape, divide};
use super::plan::SHORT;
use super::scan::TILE;
use super::shape::{FilterShape, TWO_BYTES_APART, shape, shapes, shuffles_ascii};
use crate::costs::{LookUps, costs};
use crate::simd::Isa;
use crate::simd::gather::Gathers;
use fyke_automata::model::PairModel;
use fyke_core::{Options, Pattern, PatternSet};

/// The maximum number of patterns for shuffles where pair tables are available. For larger sets,
/// the choice of buckets takes milliseconds, and pair tables are as fast (`replay`): with AVX-512,
/// whose shuffles look up six bits, from twice as many patterns on.
fn most_shuffled(isa: Isa) -> usize {
    match isa {
        Isa::Avx512 => 600,
        _ => 300,
    }
}

/// The minimum number of patterns for pair tables, which win for 100 rule strings (`replay`). For
/// fewer, shuffles are faster (`packets/100`), and in binary data more positions pass the tables
/// than the model expects (`headers/min3`).
const LEAST_PAIRED: usize = 100;

/// The minimum number of patterns of one or two bytes for the same. For fewer, an exact search is
/// faster. A guess.
pub(super) const LEAST_SHORT_PAIRED: usize = 32;

/// Offsets tried for a pattern's window. A guess: no benchmark depends on it, since few patterns
/// are so long.
pub(super) const TRIED: usize = 190;

/// The maximum number of patterns for a shape with one set of buckets; the limit grows with the
/// square of the sets. Beyond it, no shape is estimated to be more than a few per cent better than
/// those with more sets (`words`).
const CROWD: usize = 64;

/// The maximum number of patterns for windows of three bytes (`replay`). Each pattern then has a
/// bucket of its own. Such windows are for short calls only: they let more words pass than the
/// model expects (`words/20`, `calls`).
const FEW: usize = 8;

/// Shapes are tried, cheapest first. The search ends when the next shape's time without candidates
/// is at least this share of the best estimate.
const WORTH_TRYING: f32 = 0.9;

/// A single pattern is found by a pair of bytes if the pair's expected share of positions is at
/// most this. The limit is strict because the model knows typical data only: at ten times this
/// limit, "the" in the Bible is several times slower than by an exact comparison (`skip`).
const TWO_BYTES_PASS: f32 = 0.0001;

/// Corrects the model: the expected share of candidates is the estimate divided by this. The ratio
/// of estimated to measured candidates is 0.1 to 2.5 for all shapes (`headers`, `words`, `rules`),
/// and 0.3 to 5 for pair tables (`atoms`, `replay`), where [`Layout::expected`] limits it.
pub(super) const FORESEEN: f32 = 0.5;

/// The chosen filter.
pub(super) struct FilterPlan {
    /// For a single pattern: the distance of the two compared bytes. There are no tables then.
    pub(super) apart: Option<usize>,
    /// For a filter by pairs of bytes. There are no shuffles then.
    pub(super) pairs: Option<PairShape>,
    /// How pairs are looked up.
    pub(super) gathers: Gathers,
    pub(super) shape: FilterShape,
    /// Whether to look up by shuffles for ASCII: they take fewer instructions, windows have ASCII
    /// bytes only, and each ends inside its pattern.
    pub(super) ascii: bool,
    /// The windows of the patterns: two of each if only even positions are tested, else one.
    pub(super) windows: Vec<Window>,
    /// The expected share of positions that are candidates.
    pub(super) pass: f32,
    /// The same by the pair model alone, which decides whether the engine refuses the set.
    pub(super) pass_in_general: f32,
    /// Nanoseconds per byte without candidates.
    bare: f32,
}

/// What a filter is planned for.
#[derive(Clone, Copy)]
pub(super) struct Target {
    isa: Isa,
    /// Whether no sample of the data is known.
    pub(super) is_general: bool,
    /// Whether calls are known to be short.
    short_calls: bool,
    /// Nanoseconds per candidate of shuffles and of pair tables, to choose a filter. Forecasts use
    /// the cost in long calls for all calls, as other engines' forecasts do.
    candidate: [f32; 2],
    /// How pairs are looked up.
    pairs: LookUps,
}

impl Target {
    pub(super) fn new(opt: &Options, isa: Isa) -> Target {
        let machine = costs();
        let costs = machine.teddy.of(isa);
        let short_calls = opt.expected_call.is_some_and(|bytes| bytes <= TILE as u64);
        let of_short = costs.candidate_in_short_call;
        let candidate = if short_calls { of_short } else { [costs.candidate; 2] };
        // The caller has checked the option.
        let pairs = machine.pair_look_ups(isa, Gathers::asked(opt).unwrap_or_default());
        Target { isa, is_general: opt.sample.is_none(), short_calls, candidate, pairs }
    }

    /// A filter of pair tables without candidates, in nanoseconds per byte.
    fn paired_ns(self, pairs: PairShape) -> f32 {
        paired_ns(pairs, self.isa) * self.pairs.times
    }

    /// Whether a shape is tried for a number of patterns.
    pub(super) fn fits(self, shape: FilterShape, patterns: usize) -> bool {
        match (shape.offsets, shape.sets) {
            (3, 1) => patterns <= FEW && self.short_calls,
            (_, sets) => patterns <= CROWD * sets * sets,
        }
    }
}

/// A pattern's window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) pattern: u32,
    /// Where it begins in the pattern: at -1 it begins a byte before it.
    pub(super) offset: i16,
    pub(super) bucket: u8,
}

impl FilterPlan {
    /// Nanoseconds per byte if a candidate takes `candidate` nanoseconds.
    pub(super) fn ns(&self, candidate: f32) -> f32 {
        self.bare + self.pass * candidate
    }

    /// Nanoseconds per byte, to choose a filter for a target.
    fn choice_ns(&self, target: Target) -> f32 {
        self.ns(target.candidate[usize::from(self.pairs.is_some())])
    }

    /// A filter by the two rarest bytes of a single pattern, if the pair is rare enough.
    pub(super) fn of_two_bytes(
        set: &PatternSet,
        model: &PairModel,
        isa: Isa,
    ) -> Option<FilterPlan> {
        if set.len() != 1 || isa == Isa::Scalar {
            return None;
        }
        let pattern = set.get(0);
        let tried = pattern.bytes.len().min(TRIED);
        let share = |at: usize| -> f32 {
            variants(&pattern, at).map(|byte| model.probability(&[byte])).sum()
        };
        let share_of_two = |at: usize| -> f32 {
            let second = |first| variants(&pattern, at + 1).map(move |byte| [first, byte]);
            variants(&pattern, at).flat_map(second).map(|two| model.probability(&two)).sum()
        };
        let shares: Vec<f32> = (0..tried).map(share).collect();
        // Adjacent bytes depend on each other: "wh" is more frequent than its letters suggest.
        let adjacent: Vec<f32> = (1..tried).map(|end| share_of_two(end - 1)).collect();
        let last = |i: usize| tried.min(i + TWO_BYTES_APART + 1);
        let pairs = (0..tried).flat_map(|i| (i + 1..last(i)).map(move |j| (i, j)));
        let pass = |&(i, j): &(usize, usize)| {
            let independent = shares[i] * shares[j];
            if j == i + 1 { independent.max(adjacent[i]) } else { independent }
        };
        let best = pairs.min_by(|a, b| pass(a).total_cmp(&pass(b)))?;
        let costs = costs().teddy.of(isa);
        (pass(&best) <= TWO_BYTES_PASS).then(|| FilterPlan {
            apart: Some(best.1 - best.0),
            pairs: None,
            gathers: Gathers::Scalar,
            shape: shape(0, 0),
            ascii: false,
            windows: vec![Window { pattern: 0, offset: best.0 as i16, bucket: 0 }],
            pass: pass(&best),
            pass_in_general: pass(&best),
            bare: costs.two_bytes,
        })
    }

    /// The filter with the lowest expected cost.
    pub(super) fn new(
        patterns: &[Pattern<'_>],
        model: &PairModel,
        grams: impl Fn() -> Grams,
        target: Target,
    ) -> FilterPlan {
        let isa = target.isa;
        let shuffled = (isa == Isa::Scalar || patterns.len() <= most_shuffled(isa))
            .then(|| FilterPlan::shuffled(patterns, model, &grams(), target));
        let shorts = patterns.iter().filter(|p| p.bytes.len() <= SHORT).count();
        let many = patterns.len() >= LEAST_PAIRED || shorts >= LEAST_SHORT_PAIRED;
        let can_pair = isa != Isa::Scalar && many;
        let mut best = shuffled;
        for pairs in PairShape::ALL.into_iter().filter(|_| can_pair) {
            let is_better =
                |cost| best.as_ref().is_none_or(|best: &FilterPlan| cost < best.choice_ns(target));
            if patterns.len() <= pairs.most_patterns() && is_better(target.paired_ns(pairs)) {
                let paired = FilterPlan::paired(patterns, model, pairs, target);
                if is_better(paired.choice_ns(target)) {
                    best = Some(paired);
                }
            }
        }
        best.expect("each number of patterns has a filter")
    }

    /// A filter of pair tables.
    pub(super) fn paired(
        patterns: &[Pattern<'_>],
        model: &PairModel,
        pairs: PairShape,
        target: Target,
    ) -> FilterPlan {
        let (windows, pass) = divide(patterns, model, target.is_general, pairs);
        let pass = pass.min(1.0);
        FilterPlan {
            apart: None,
            pairs: Some(pairs),
            gathers: target.pairs.gathers,
            shape: shape(Layout::of(pairs.positions).window(), 0),
            ascii: false,
            windows,
            pass,
            pass_in_general: pass,
            bare: target.paired_ns(pairs),
        }
    }

    /// The shape of shuffles with the lowest expected cost.
    fn shuffled(
        patterns: &[Pattern<'_>],
        model: &PairModel,
        grams: &Grams,
        target: Target,
    ) -> FilterPlan {
        let (last, shapes) = shapes(target.isa).split_last().expect("each ISA has shapes");
        let fits = |shape: &&FilterShape| target.fits(**shape, patterns.len());
        let mut best: Option<FilterPlan> = None;
        let letters = if target.is_general { SmallAlphabet::new(patterns) } else { None };
        for &shape in shapes.iter().filter(fits).chain([last]) {
            let ns = |filter: &FilterPlan| filter.choice_ns(target);
            // If all windows of the best shape are ASCII, those of the next one probably are too.
            let bare = |ascii: bool| bare_ns(shape, ascii, target.isa);
            if best.as_ref().is_some_and(|b| ns(b) * WORTH_TRYING <= bare(b.ascii)) {
                break;
            }
            let filter =
                FilterPlan::shaped(patterns, model, grams, shape, target, letters.as_ref());
            if best.as_ref().is_none_or(|b| ns(&filter) < ns(b)) {
                best = Some(filter);
            }
        }
        best.expect("the last shape is always tried")
    }

    pub(super) fn shaped(
        patterns: &[Pattern<'_>],
        model: &PairModel,
        grams: &Grams,
        shape: FilterShape,
        target: Target,
        letters: Option<&SmallAlphabet>,
    ) -> FilterPlan {
        let mut rarest: Vec<(&Pattern<'_>, usize)> =
            patterns.iter().map(|p| (p, rarest_window(p.bytes, shape.offsets, model))).collect();
        rarest.sort_by_key(|&(p, at)| &p.bytes[at..p.bytes.len().min(at + shape.offsets)]);
        let parts = parts(shape, target.isa);
        let codes: Vec<Codes> = rarest.iter().map(|&(p, at)| codes(p, at, &parts)).collect();
        let (home, foreseen) = cluster(&codes, 8 * shape.sets, &grams.tables(&parts));
        let is_ascii = |&(p, at): &(&Pattern<'_>, usize)| {
            p.bytes.get(at..at + shape.offsets).is_some_and(<[u8]>::is_ascii)
        };
        let ascii = shuffles_ascii(target.isa) && rarest.iter().all(is_ascii);
        let window = |(&(p, at), &bucket): (&(&Pattern<'_>, usize), &u8)| Window {
            pattern: p.index,
            offset: at as i16,
            bucket,
        };
        let in_general = (foreseen / FORESEEN).min(1.0);
        let of_letters = |l: &SmallAlphabet| l.pass(&unions(&codes, &home, 8 * shape.sets), &parts);
        FilterPlan {
            apart: None,
            pairs: None,
            gathers: Gathers::Scalar,
            shape,
            ascii,
            windows: rarest.iter().zip(&home).map(window).collect(),
            pass: letters.map_or(0.0, of_letters).clamp(in_general, 1.0),
            pass_in_general: in_general,
            bare: bare_ns(shape, ascii, target.isa),
        }
    }
}

pub(super) fn rarest_window(bytes: &[u8], len: usize, model: &PairModel) -> usize {
    let windows = bytes.windows(len.min(bytes.len())).take(TRIED).map(|w| model.bits(w));
    let rarest = windows.enumerate().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
    rarest.map_or(0, |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_offsets_are_for_a_few_patterns_in_short_calls() {
        let fits = |call, offsets, patterns| {
            let target = Target::new(&Options::default().in_calls(call), Isa::Avx2);
            target.fits(shape(offsets, 1), patterns)
        };
        let short = Some(1000);
        assert!(fits(short, 3, FEW) && !fits(short, 3, FEW + 1) && fits(short, 4, FEW + 1));
        assert!(!fits(Some(1 << 20), 3, 2) && !fits(None, 3, 2) && fits(None, 4, 2));
    }

    #[test]
    fn what_is_frequent_is_expected_to_pass() {
        let model = PairModel::built_in();
        for isa in Isa::ALL {
            let grams = Grams::new(&model, isa, true);
            let of = |text: &str| {
                let set = PatternSet::new([text]).unwrap();
                let one: Vec<Pattern<'_>> = set.iter().collect();
                let target = Target::new(&Options::default(), isa);
                FilterPlan::shaped(&one, &model, &grams, shapes(isa)[0], target, None).pass
            };
            assert!(of("the ") > 10.0 * of("xqzj"), "{isa:?}");
            assert!(of("\0\0\0\0") > 0.01, "{isa:?}");
        }
    }
}
