//! The compile-time plan of a search: which patterns are short, and the filter for the others.

use super::confirm::BYTES_PER_WINDOW;
use super::cost::{bare_ns, exact_ns};
use super::filter_plan::{FilterPlan, LEAST_SHORT_PAIRED, Target};
use super::grams::Grams;
use super::pairs::{MOST_WINDOWS, PairShape};
#[cfg(test)]
use super::shape::FilterShape;
use super::shape::shapes;
use crate::costs::{costs, with_candidate};
use crate::simd::Isa;
use crate::simd::gather::Gathers;
use fyke_automata::model::PairModel;
use fyke_core::{Forecast, Options, Pattern, PatternSet, Refusal};

/// Patterns of up to this length are matched exactly by shuffles, one bit each, without
/// candidates.
pub(super) const SHORT: usize = 2;

/// The same limit for sets of at most eight patterns that are all this short. They need no filter.
pub(super) const SHORT_ALONE: usize = 4;

/// The maximum number of patterns that the scalar form takes. A larger set has so many candidates
/// that other filters are faster on all data (`words/1000`).
const PATTERNS: usize = 1024;

/// Most short patterns: all single bytes. A guess: no benchmark reaches it.
const SHORT_PATTERNS: usize = 256;

/// The filter finds short patterns, too, if at most this share of positions is expected to have
/// one. Otherwise their candidates cost more than an exact search. `headers/min2` has such
/// patterns.
const SHORT_PASS: f32 = 0.004;

/// The largest expected share of candidates.
const PASS_LIMIT: f32 = 0.15;

/// How the engine will search for a set.
pub(super) struct TeddyPlan {
    /// The instruction set.
    pub(super) isa: Isa,
    /// Dense indices of the short patterns, shortest first.
    pub(super) shorts: Vec<u32>,
    /// Nanoseconds per byte for these.
    short_ns: f32,
    /// The filter for the other patterns, if there are any.
    pub(super) filter: Option<FilterPlan>,
}

impl TeddyPlan {
    pub(super) fn new(set: &PatternSet, opt: &Options) -> Result<TeddyPlan, Refusal> {
        Gathers::asked(opt)?;
        if let Some(pairs) = PairShape::forced(opt)? {
            let [_scalar, vectors @ ..] = Isa::ALL;
            limit("patterns", set.len(), pairs.most_patterns())?;
            return Ok(TeddyPlan::with_pairs(set, opt, pairs, Isa::choose(opt, &vectors)?));
        }
        let isa = Isa::choose(opt, &Isa::ALL)?;
        let most = if isa == Isa::Scalar { PATTERNS } else { MOST_WINDOWS };
        limit("patterns", set.len(), most)?;
        if let Some(filter) = FilterPlan::of_two_bytes(set, &PairModel::of(opt), isa) {
            return Ok(TeddyPlan { isa, shorts: Vec::new(), short_ns: 0.0, filter: Some(filter) });
        }
        let alone = set.max_len() <= SHORT_ALONE && set.len() <= 8;
        let short = if alone { SHORT_ALONE } else { SHORT };
        let mut plan = TeddyPlan::rare(set, opt, isa, short)
            .unwrap_or_else(|| TeddyPlan::divided(set, opt, isa, short));
        if plan.shorts.len() >= LEAST_SHORT_PAIRED {
            // A pair table may find patterns of two bytes faster than an exact search does.
            let paired = TeddyPlan::divided(set, opt, isa, SHORT - 1);
            if paired.ns_per_byte() < plan.ns_per_byte() {
                plan = paired;
            }
        }
        limit("patterns of one or two bytes", plan.shorts.len(), SHORT_PATTERNS)?;
        let parts = |share: f32| (share * 1000.0) as usize;
        let pass = plan.filter.as_ref().map_or(0.0, |f| f.pass_in_general);
        limit("candidates expected in 1,000 bytes", parts(pass), parts(PASS_LIMIT))?;
        Ok(plan)
    }

    /// A plan whose filter finds short patterns, too. It exists if these are rare and their
    /// candidates cost less than an exact search.
    fn rare(set: &PatternSet, opt: &Options, isa: Isa, short: usize) -> Option<TeddyPlan> {
        let shorts: Vec<Pattern<'_>> = set.iter().filter(|p| p.bytes.len() <= short).collect();
        let (count, general) = (shorts.len(), PairModel::of(opt));
        let matches: f32 = shorts.iter().map(|p| general.probability(p.bytes)).sum();
        if count == 0 || count == set.len() || matches > SHORT_PASS {
            return None;
        }
        let plan = TeddyPlan::divided(set, opt, isa, 0);
        let (target, longs) = (Target::new(opt, isa), set.len() - count);
        let fitting = shapes(isa).iter().find(|shape| target.fits(**shape, longs));
        let cheapest = bare_ns(*fitting.unwrap_or(&shapes(isa)[0]), false, isa);
        (plan.filter_ns() < cheapest + exact_ns(shorts.iter().map(|p| p.bytes.len()), isa))
            .then_some(plan)
    }

    fn filter_ns(&self) -> f32 {
        let candidate = costs().teddy.of(self.isa).candidate;
        self.filter.as_ref().map_or(0.0, |filter| filter.ns(candidate))
    }

    /// A plan that keeps patterns of up to `short` bytes out of the filter.
    fn divided(set: &PatternSet, opt: &Options, isa: Isa, short: usize) -> TeddyPlan {
        let of_len = |len| set.iter().filter(move |p| p.bytes.len() == len).map(|p| p.index);
        let shorts: Vec<u32> = (1..=short).flat_map(of_len).collect();
        let longs: Vec<Pattern<'_>> = set.iter().filter(|p| p.bytes.len() > short).collect();
        let model = PairModel::for_set(set, opt);
        let target = Target::new(opt, isa);
        let grams = || Grams::new(&model, isa, target.is_general);
        let filter = (!longs.is_empty()).then(|| FilterPlan::new(&longs, &model, grams, target));
        let matches: f32 = shorts.iter().map(|&i| model.probability(set.bytes(i))).sum();
        let exact = exact_ns(shorts.iter().map(|&i| set.pattern_len(i)), isa);
        let short_ns = exact + costs().teddy.of(isa).short_hit * matches;
        TeddyPlan { isa, shorts, short_ns, filter }
    }

    /// A plan with a given pair table for all patterns.
    pub(super) fn with_pairs(
        set: &PatternSet,
        opt: &Options,
        pairs: PairShape,
        isa: Isa,
    ) -> TeddyPlan {
        let (patterns, model) = (set.iter().collect::<Vec<_>>(), PairModel::for_set(set, opt));
        let filter = (!patterns.is_empty())
            .then(|| FilterPlan::paired(&patterns, &model, pairs, Target::new(opt, isa)));
        TeddyPlan { isa, shorts: Vec::new(), short_ns: 0.0, filter }
    }

    /// A plan with a given shape.
    #[cfg(test)]
    pub(super) fn shaped(set: &PatternSet, shape: FilterShape, isa: Isa) -> TeddyPlan {
        let (patterns, model) = (set.iter().collect::<Vec<_>>(), PairModel::built_in());
        let (grams, target) =
            (Grams::new(&model, isa, true), Target::new(&Options::default(), isa));
        let filter = FilterPlan::shaped(&patterns, &model, &grams, shape, target, None);
        TeddyPlan { isa, shorts: Vec::new(), short_ns: 0.0, filter: Some(filter) }
    }

    /// Expected nanoseconds per byte of a scan.
    pub(super) fn ns_per_byte(&self) -> f32 {
        self.short_ns + self.filter_ns()
    }

    /// Bytes of memory for the tables.
    pub(super) fn memory(&self) -> u64 {
        let shorts = 2400 * self.shorts.len().div_ceil(8);
        let filter = |f: &FilterPlan| {
            f.pairs.map_or(0, PairShape::memory)
                + f.shape.offsets * (1024 + f.shape.sets * 96)
                + 64 * f.shape.sets
                + f.windows.len() * BYTES_PER_WINDOW
        };
        (shorts + self.filter.as_ref().map_or(0, filter)) as u64
    }

    /// The expected cost of a scan.
    pub(super) fn forecast(&self, call: Option<u64>) -> Forecast {
        let costs = costs().teddy.of(self.isa);
        // Short patterns are looked for in every call.
        let call = call.filter(|_| self.shorts.is_empty());
        let with_candidate = with_candidate(self.pass(), call);
        Forecast {
            ns_per_byte: self.ns_per_byte(),
            ns_per_call: costs.empty_call + with_candidate * costs.call_with_candidate,
            candidates: self.pass(),
            memory: self.memory(),
            build_ms: self.build_ms(),
            why: format!("{:.2} % of positions pass the filter", 100.0 * self.pass()),
        }
    }

    /// Milliseconds to compile. The time grows with the number of patterns, because each pattern is
    /// tried in each bucket.
    fn build_ms(&self) -> f32 {
        let filter = |f: &FilterPlan| 0.3 + f.windows.len() as f32 * 0.01;
        self.filter.as_ref().map_or(0.01, filter)
    }

    /// The expected share of positions that are candidates.
    pub(super) fn pass(&self) -> f32 {
        self.filter.as_ref().map_or(0.0, |f| f.pass)
    }
}

pub(super) fn limit(what: &'static str, need: usize, have: usize) -> Result<(), Refusal> {
    let (need, have) = (need as u64, have as u64);
    if need > have { Err(Refusal::TooBig { what, need, have }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(patterns: &[&[u8]]) -> TeddyPlan {
        TeddyPlan::new(&PatternSet::new(patterns).unwrap(), &Options::default()).unwrap()
    }

    #[test]
    fn windows_are_the_rarest_and_short_patterns_have_none() {
        let plan = plan(&[b"\0\0\0\0\0zq#8\0\0\0", b"ab", b"c", b"xyz"]);
        // In bytewise order these are the third and the second pattern.
        assert_eq!(plan.shorts, [2, 1]);
        let filter = plan.filter.unwrap();
        let window = filter.windows.iter().find(|w| w.pattern == 0).unwrap();
        assert!((4..=6).contains(&window.offset), "{window:?}");
        assert!(filter.pass < 0.01, "{}", filter.pass);
    }

    #[test]
    fn patterns_of_few_letters_are_expected_often_but_not_refused() {
        let gene = |i: u64| -> Vec<u8> {
            let letter = |n: u64| b"ACGT"[(n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 62) as usize];
            (20 * i..20 * i + 20).map(|n| letter(n * n)).collect()
        };
        let set = PatternSet::new((0..100).map(gene)).unwrap();
        let pass = |opt| TeddyPlan::new(&set, &opt).unwrap().pass();
        let general = pass(Options::default());
        let sampled = pass(Options::default().sampled(b"plain words only ".repeat(9999)));
        assert!(general > 10.0 * sampled, "{general} {sampled}");
    }

    #[test]
    fn short_patterns_are_candidates_where_they_are_rare() {
        let set = PatternSet::new([&b"an"[..], b"\xf7\xe9", b"needle", b"haystack"]).unwrap();
        let shorts = |sample: &[u8]| {
            let opt = Options::default().sampled(sample.to_vec());
            TeddyPlan::new(&set, &opt).unwrap().shorts.len()
        };
        assert_eq!(shorts(&b"banana and ".repeat(9999)), 2);
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        let random: Vec<u8> = (0..1 << 20).map(|_| next()).collect();
        assert_eq!(shorts(&random), 0);
    }

    #[test]
    fn a_single_pattern_is_known_by_its_rarest_bytes() {
        let one = |pattern: &str, isa: &str| {
            let opt = Options::with_params(isa).unwrap();
            let filter = TeddyPlan::new(&PatternSet::new([pattern]).unwrap(), &opt).unwrap().filter;
            filter.map(|f| (f.windows[0].offset, f.apart))
        };
        assert_eq!(one("the zqueue", "isa=scalar").map(|f| f.1), Some(None));
        if crate::testing::isas(&crate::engine::teddy::ENGINE).contains(&Isa::Avx2) {
            assert_eq!(one("the zqueue", "isa=avx2"), Some((4, Some(1))));
            let apart = one("wherefore", "isa=avx2");
            assert_eq!(apart, Some((0, Some(5))), "w and f, because wh is frequent");
            assert_eq!(one("e", "isa=avx2"), None);
        }
    }

    #[test]
    fn what_lets_everything_pass_is_refused() {
        let letter = |i: usize| b" etaoinshr"[i % 10];
        let triples: Vec<[u8; 3]> =
            (0..1000).map(|i| [letter(i), letter(i / 10), letter(i / 100)]).collect();
        let set = PatternSet::new(&triples).unwrap();
        let refusal = TeddyPlan::new(&set, &Options::default()).err().unwrap();
        assert!(refusal.to_string().contains("candidates expected"), "{refusal}");
    }
}
