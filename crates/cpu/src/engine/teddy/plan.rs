//! Compile-time choices of Teddy: each pattern's window, the filter's shape and the buckets.

use super::cluster::{Codes, cluster, unions};
use super::confirm::BYTES_PER_WINDOW;
use super::cost::{bare_ns, exact_ns, paired_ns};
use super::grams::{Grams, SmallAlphabet, codes, parts, variants};
use super::pairs::{Layout, MOST_WINDOWS, PairShape, divide};
use super::scan::TILE;
use super::shape::{FilterShape, TWO_BYTES_APART, shape, shapes, shuffles_ascii};
use crate::costs::{LookUps, costs, with_candidate};
use crate::simd::Isa;
use crate::simd::gather::Gathers;
use fyke_automata::model::PairModel;
use fyke_core::{Forecast, Options, Pattern, PatternSet, Refusal};

/// Patterns of up to this length are matched exactly by shuffles, one bit each, without
/// candidates.
const SHORT: usize = 2;

/// The same limit for sets of at most eight patterns that are all this short. They need no filter.
pub(super) const SHORT_ALONE: usize = 4;

/// The maximum number of patterns that the scalar form takes. A larger set has so many candidates
/// that other filters are faster on all data (`words/1000`).
const PATTERNS: usize = 1024;

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
const LEAST_SHORT_PAIRED: usize = 32;

/// Most short patterns: all single bytes. A guess: no benchmark reaches it.
const SHORT_PATTERNS: usize = 256;

/// The filter finds short patterns, too, if at most this share of positions is expected to have
/// one. Otherwise their candidates cost more than an exact search. `headers/min2` has such
/// patterns.
const SHORT_PASS: f32 = 0.004;

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
    pass_in_general: f32,
    /// Nanoseconds per byte without candidates.
    bare: f32,
}

/// What a filter is planned for.
#[derive(Clone, Copy)]
struct Target {
    isa: Isa,
    /// Whether no sample of the data is known.
    is_general: bool,
    /// Whether calls are known to be short.
    short_calls: bool,
    /// Nanoseconds per candidate of shuffles and of pair tables, to choose a filter. Forecasts use
    /// the cost in long calls for all calls, as other engines' forecasts do.
    candidate: [f32; 2],
    /// How pairs are looked up.
    pairs: LookUps,
}

impl Target {
    fn new(opt: &Options, isa: Isa) -> Target {
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
    fn fits(self, shape: FilterShape, patterns: usize) -> bool {
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

impl FilterPlan {
    /// Nanoseconds per byte if a candidate takes `candidate` nanoseconds.
    fn ns(&self, candidate: f32) -> f32 {
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
    fn new(
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
    fn paired(
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

    fn shaped(
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
