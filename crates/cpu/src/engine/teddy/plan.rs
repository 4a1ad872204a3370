//! What the filter of a set looks like: the window of each pattern, how many bytes of it are looked at, how many
//! buckets there are and which patterns share one.

use super::cluster::{self, Codes, Joint, cluster};
use crate::simd::Isa;
use fyke_automata::model::PairModel;
use fyke_core::{Forecast, Options, Pattern, PatternSet, Refusal};

/// Patterns up to this length are found exactly by shuffles, with a bit of their own and no candidates.
const SHORT: usize = 2;

/// The same where all patterns are as short, and eight at most: then there is no filter besides.
const SHORT_ALONE: usize = 4;

/// Most bytes of a window that are looked at.
pub(super) const OFFSETS: usize = 6;

/// Most patterns. Beyond it other filters are faster, in all data: of 500 English words in documents 2 % of the positions
/// are candidates, of 1,000 words 8 %.
const PATTERNS: usize = 512;

/// Most short patterns: all single bytes. Eight of two bytes take four shuffles for 64 bytes. Not swept.
const SHORT_PATTERNS: usize = 256;

/// The largest share of positions where short patterns may be expected for the filter to find them too. A group of them
/// takes 0.04 to 0.17 ns a byte, a candidate 4 ns. Not swept.
const SHORT_PASS: f32 = 0.004;

/// Offsets that are tried as a pattern's window: beyond, a rarer one is hardly found. Not swept.
const TRIED: usize = 190;

/// How far the two bytes of a pair may be apart.
pub(super) const PAIR_APART: usize = 16;

/// How much of each window is looked at, and by how many buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Bytes of a window.
    pub(super) offsets: usize,
    /// Of how many of these AVX2 looks at the high nibble too.
    pub(super) highs: usize,
    /// Sets of eight buckets.
    pub(super) sets: usize,
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Shape { offsets, highs, sets } = self;
        let nibbles = if highs < offsets { format!(" ({highs} high nibbles)") } else { "".into() };
        write!(f, "{offsets} offsets{nibbles}, {} buckets", 8 * sets)
    }
}

const fn shape(offsets: usize, sets: usize) -> Shape {
    Shape { offsets, highs: offsets, sets }
}

const fn nibbles(offsets: usize, highs: usize, sets: usize) -> Shape {
    Shape { offsets, highs, sets }
}

/// The shapes that a form has, cheapest first.
pub(super) fn shapes(isa: Isa) -> &'static [Shape] {
    match isa {
        Isa::Avx512 => {
            const { &[shape(4, 1), shape(5, 1), shape(4, 2), shape(5, 2), shape(5, 4), shape(6, 4)] }
        }
        Isa::Avx2 => {
            const {
                &[
                    nibbles(4, 2, 1),
                    nibbles(4, 4, 1),
                    nibbles(5, 1, 2),
                    nibbles(3, 3, 2),
                    nibbles(5, 2, 2),
                    nibbles(4, 4, 2),
                    nibbles(5, 2, 4),
                    nibbles(6, 2, 4),
                    nibbles(6, 4, 4),
                ]
            }
        }
        // All buckets are looked up at once.
        Isa::Scalar => const { &[shape(4, 4), shape(5, 4), shape(6, 4)] },
    }
}

/// Most patterns that a shape with one set of buckets is tried for; with two, four times as many, and so on. Not swept:
/// beyond it no estimate was best by more than a few per cent.
const CROWD: usize = 64;

/// Shapes are tried, cheapest first, until the next one without candidates would take this share of what the best takes.
const WORTH_TRYING: f32 = 0.9;

/// Bytes that come in runs, and how many of the positions have one, so that `FORESEEN` makes it half of what was met:
/// four zeros begin on 10 % of the positions in programs and 1 to 2 % in traffic, four spaces on 2 % in documents and
/// traffic.
const RUNS: [(u8, f32); 2] = [(0, 0.025), (b' ', 0.005)];

/// A set of one pattern is known by two of its bytes, compared and not looked up, if no more of the positions than this
/// are expected to pass. It is far below what candidates may cost, because the model knows data in general: at ten times
/// as many, "the" in the Bible took five times as long as by exact comparison.
const PAIR_PASS: f32 = 0.0001;

/// Nanoseconds of a candidate: 3 to 4 for 100 and 300 English words in documents.
const CANDIDATE_NS: f32 = 5.0;

/// How many of the candidates the model foresees: 0.1 to 2.5 of them for headers in programs and traffic, words in
/// documents and rules in traffic, in all shapes.
const FORESEEN: f32 = 0.5;

/// Nanoseconds a byte that reading takes where the haystack is in no cache.
const MEMORY_NS: f32 = 0.08;

/// The largest share of positions that may be expected to pass.
const PASS_LIMIT: f32 = 0.15;

/// A set as the engine sees it.
pub(super) struct Plan {
    /// The instructions that it is made for.
    pub(super) isa: Isa,
    /// Dense indices of the short patterns, shortest first.
    pub(super) shorts: Vec<u32>,
    /// Nanoseconds a byte that these take.
    short_ns: f32,
    /// The filter for the others, if there are any.
    pub(super) filter: Option<Filter>,
}

/// Nanoseconds for each match of one or two bytes that is written: roughly, of rules in traffic.
const SHORT_MATCH_NS: f32 = 2.0;

/// The shape of a filter.
pub(super) struct Filter {
    /// From the byte that a single pattern's window begins with to the other one that is compared: no tables then.
    pub(super) apart: Option<usize>,
    pub(super) shape: Shape,
    /// Where each pattern's window begins, and its bucket.
    pub(super) windows: Vec<Window>,
    /// The share of positions that pass, by the model.
    pub(super) pass: f32,
    /// Nanoseconds a byte that it takes.
    ns: f32,
}

/// A pattern under its window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) pattern: u32,
    pub(super) offset: u16,
    pub(super) bucket: u8,
}

impl Plan {
    pub(super) fn new(set: &PatternSet, opt: &Options) -> Result<Plan, Refusal> {
        let isa = Isa::choose(opt, &Isa::ALL)?;
        limit("patterns", set.len(), PATTERNS)?;
        if let Some(filter) = Filter::pair(set, &PairModel::of(opt), isa) {
            return Ok(Plan { isa, shorts: Vec::new(), short_ns: 0.0, filter: Some(filter) });
        }
        let alone = set.max_len() <= SHORT_ALONE && set.len() <= 8;
        let short = if alone { SHORT_ALONE } else { SHORT };
        let plan =
            Plan::rare(set, opt, isa, short).unwrap_or_else(|| Plan::divided(set, opt, isa, short));
        limit("patterns of one or two bytes", plan.shorts.len(), SHORT_PATTERNS)?;
        let parts = |share: f32| (share * 1000.0) as usize;
        limit("candidates expected in 1,000 bytes", parts(plan.pass()), parts(PASS_LIMIT))?;
        Ok(plan)
    }

    /// A plan whose filter finds short patterns too: if they are rare in data in general, and candidates do not cost
    /// more than finding them apart.
    fn rare(set: &PatternSet, opt: &Options, isa: Isa, short: usize) -> Option<Plan> {
        let shorts: Vec<Pattern<'_>> = set.iter().filter(|p| p.bytes.len() <= short).collect();
        let (count, general) = (shorts.len(), PairModel::of(opt));
        let matches: f32 = shorts.iter().map(|p| general.probability(p.bytes)).sum();
        if count == 0 || count == set.len() || matches > SHORT_PASS {
            return None;
        }
        let plan = Plan::divided(set, opt, isa, 0);
        let cheapest = bare_ns(shapes(isa)[0], isa);
        (plan.filter_ns() < cheapest + short_ns(count, set.min_len(), isa)).then_some(plan)
    }

    fn filter_ns(&self) -> f32 {
        self.filter.as_ref().map_or(0.0, |filter| filter.ns)
    }

    /// A plan that leaves patterns up to a length to no filter.
    fn divided(set: &PatternSet, opt: &Options, isa: Isa, short: usize) -> Plan {
        let of_len = |len| set.iter().filter(move |p| p.bytes.len() == len).map(|p| p.index);
        let shorts: Vec<u32> = (1..=short).flat_map(of_len).collect();
        let longs: Vec<Pattern<'_>> = set.iter().filter(|p| p.bytes.len() > short).collect();
        let model = PairModel::for_set(set, opt);
        let grams = || Grams::new(&model, isa, opt.sample.is_none());
        let filter = (!longs.is_empty()).then(|| Filter::new(&longs, &model, &grams(), isa));
        let same = |a: &u32, b: &u32| set.pattern_len(*a) == set.pattern_len(*b);
        let ns = |same: &[u32]| short_ns(same.len(), set.pattern_len(same[0]), isa);
        let matches: f32 = shorts.iter().map(|&i| model.probability(set.bytes(i))).sum();
        let short_ns = shorts.chunk_by(same).map(ns).sum::<f32>() + SHORT_MATCH_NS * matches;
        Plan { isa, shorts, short_ns, filter }
    }

    /// A plan with a shape of choice, for tests.
    #[cfg(test)]
    pub(super) fn shaped(set: &PatternSet, shape: Shape, isa: Isa) -> Plan {
        let (patterns, model) = (set.iter().collect::<Vec<_>>(), PairModel::built_in());
        let filter = Filter::shaped(&patterns, &model, &Grams::new(&model, isa, true), shape, isa);
        Plan { isa, shorts: Vec::new(), short_ns: 0.0, filter: Some(filter) }
    }

    /// Nanoseconds a byte that a scan is expected to take. Not less than memory: without that floor `auto` took this
    /// engine for `dna/10`, which is no data in general, and 0.30 where `qgram-sampling` takes 0.09. A pair of rare bytes
    /// of a single pattern has none: that is the fastest there is (`count/1`).
    pub(super) fn ns_per_byte(&self) -> f32 {
        let pair = self.filter.as_ref().is_some_and(|f| f.apart.is_some());
        (self.short_ns + self.filter_ns()).max(if pair { 0.0 } else { MEMORY_NS })
    }

    /// Bytes of memory that the tables take.
    pub(super) fn memory(&self) -> u64 {
        let shorts = 2400 * self.shorts.len().div_ceil(8);
        let filter = |f: &Filter| {
            f.shape.offsets * (1024 + f.shape.sets * 96) + 64 * f.shape.sets + f.windows.len() * 96
        };
        (shorts + self.filter.as_ref().map_or(0, filter)) as u64
    }

    /// What a scan is expected to cost.
    pub(super) fn forecast(&self) -> Forecast {
        Forecast {
            ns_per_byte: self.ns_per_byte(),
            memory: self.memory(),
            build_ms: self.build_ms(),
            why: format!("{:.2} % of positions pass the filter", 100.0 * self.pass()),
        }
    }

    /// Milliseconds that compiling takes: each pattern is tried in each bucket.
    fn build_ms(&self) -> f32 {
        let filter = |f: &Filter| 0.3 + f.windows.len() as f32 * 0.01;
        self.filter.as_ref().map_or(0.01, filter)
    }

    /// The share of positions that are expected to pass.
    pub(super) fn pass(&self) -> f32 {
        self.filter.as_ref().map_or(0.0, |f| f.pass)
    }
}

pub(super) fn limit(what: &'static str, need: usize, have: usize) -> Result<(), Refusal> {
    let (need, have) = (need as u64, have as u64);
    if need > have { Err(Refusal::TooBig { what, need, have }) } else { Ok(()) }
}

impl Filter {
    /// The two rarest bytes of a single pattern, if they are rare enough.
    fn pair(set: &PatternSet, model: &PairModel, isa: Isa) -> Option<Filter> {
        if set.len() != 1 || isa == Isa::Scalar {
            return None;
        }
        let pattern = set.get(0);
        let share = |at: usize| -> f32 {
            let [byte, other] = allowed(&pattern, at);
            let both = if byte == other { 0.0 } else { model.probability(&[other]) };
            model.probability(&[byte]) + both
        };
        let shares: Vec<f32> = (0..pattern.bytes.len().min(TRIED)).map(share).collect();
        let last = |i: usize| shares.len().min(i + PAIR_APART + 1);
        let pairs = (0..shares.len()).flat_map(|i| (i + 1..last(i)).map(move |j| (i, j)));
        let pass = |&(i, j): &(usize, usize)| shares[i] * shares[j];
        let best = pairs.min_by(|a, b| pass(a).total_cmp(&pass(b)))?;
        (pass(&best) <= PAIR_PASS).then(|| Filter {
            apart: Some(best.1 - best.0),
            shape: shape(0, 0),
            windows: vec![Window { pattern: 0, offset: best.0 as u16, bucket: 0 }],
            pass: pass(&best),
            ns: half_cached(if isa == Isa::Avx2 { 0.041 } else { 0.029 })
                + pass(&best) * CANDIDATE_NS,
        })
    }

    /// The shape that is expected to be fastest.
    fn new(patterns: &[Pattern<'_>], model: &PairModel, grams: &Grams, isa: Isa) -> Filter {
        let (last, shapes) = shapes(isa).split_last().expect("there are several");
        let fits = |shape: &&Shape| patterns.len() <= CROWD * shape.sets * shape.sets;
        let mut best: Option<Filter> = None;
        for &shape in shapes.iter().filter(fits).chain([last]) {
            if best.as_ref().is_some_and(|b| b.ns * WORTH_TRYING <= bare_ns(shape, isa)) {
                break;
            }
            let filter = Filter::shaped(patterns, model, grams, shape, isa);
            if best.as_ref().is_none_or(|b| filter.ns < b.ns) {
                best = Some(filter);
            }
        }
        best.expect("the last shape is tried if no other is")
    }

    fn shaped(
        patterns: &[Pattern<'_>],
        model: &PairModel,
        grams: &Grams,
        shape: Shape,
        isa: Isa,
    ) -> Filter {
        let mut rarest: Vec<(&Pattern<'_>, usize)> =
            patterns.iter().map(|p| (p, rarest_window(p.bytes, shape.offsets, model))).collect();
        rarest.sort_by_key(|&(p, at)| &p.bytes[at..p.bytes.len().min(at + shape.offsets)]);
        let parts = parts(shape, isa);
        let codes: Vec<Codes> = rarest.iter().map(|&(p, at)| codes(p, at, &parts)).collect();
        let (home, foreseen) = cluster(&codes, 8 * shape.sets, &grams.tables(&parts));
        let window = |(&(p, at), &bucket): (&(&Pattern<'_>, usize), &u8)| Window {
            pattern: p.index,
            offset: at as u16,
            bucket,
        };
        let pass = (foreseen / FORESEEN).min(1.0);
        Filter {
            apart: None,
            shape,
            windows: rarest.iter().zip(&home).map(window).collect(),
            pass,
            ns: bare_ns(shape, isa) + pass * CANDIDATE_NS,
        }
    }
}

/// Nanoseconds a byte where half of the haystacks are in a cache, from what it takes there.
fn half_cached(cached: f32) -> f32 {
    (cached + cached.max(MEMORY_NS)) / 2.0
}

/// Nanoseconds a byte of a filter that lets nothing pass.
fn bare_ns(shape: Shape, isa: Isa) -> f32 {
    half_cached(cached_ns(shape, isa))
}

/// The same in a cache: lines through what all shapes took for 64 KiB at about 2.9 GHz.
fn cached_ns(shape: Shape, isa: Isa) -> f32 {
    let Shape { offsets, highs, sets } = shape;
    match isa {
        Isa::Avx512 => 0.0185 + 0.0053 * (offsets * sets) as f32,
        // By operations: nibbles are taken apart once, then each is looked up in each set.
        Isa::Avx2 => {
            0.0036 * (6 + offsets + 2 * highs + (2 * offsets + 2 * highs + 1) * sets) as f32
        }
        Isa::Scalar => 0.35 * offsets as f32,
    }
}

/// Nanoseconds a byte for short patterns of one length: lines through what one to eight of two bytes and four of three took.
fn short_ns(patterns: usize, len: usize, isa: Isa) -> f32 {
    let (eights, patterns, len) = (patterns.div_ceil(8) as f32, patterns as f32, len as f32);
    match isa {
        Isa::Avx512 => eights * (0.01 + 0.016 * len) + 0.0065 * patterns,
        Isa::Avx2 => eights * (0.007 + 0.02 * len) + 0.015 * patterns,
        Isa::Scalar => eights,
    }
}

fn rarest_window(bytes: &[u8], len: usize, model: &PairModel) -> usize {
    let windows = bytes.windows(len.min(bytes.len())).take(TRIED).map(|w| model.bits(w));
    let rarest = windows.enumerate().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
    rarest.map_or(0, |(at, _)| at)
}

/// The six bits of a byte that a shuffle looks at.
pub(super) fn code(byte: u8) -> usize {
    usize::from(byte & 63)
}

/// The bytes that a pattern allows at a place: one, or two if it is a letter and case does not count.
pub(super) fn allowed(pattern: &Pattern<'_>, at: usize) -> [u8; 2] {
    let byte = pattern.bytes[at];
    [byte, if pattern.nocase { byte.to_ascii_uppercase() } else { byte }]
}

/// What a table is indexed by: some bits of the byte at an offset.
type Part = (usize, Bits);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bits {
    /// What shuffles of 64 entries look at.
    Six,
    /// What shuffles of 16 entries look at, one or the other.
    Low,
    High,
}

impl Bits {
    fn code(self, byte: u8) -> usize {
        match self {
            Bits::Six => code(byte),
            Bits::Low => usize::from(byte % 16),
            Bits::High => usize::from(byte / 16),
        }
    }

    fn all(self) -> u64 {
        if self == Bits::Six { u64::MAX } else { 0xffff }
    }
}

/// The tables of a shape.
fn parts(shape: Shape, isa: Isa) -> Vec<Part> {
    if isa != Isa::Avx2 {
        return (0..shape.offsets).map(|at| (at, Bits::Six)).collect();
    }
    let of = |at: usize| [(at < shape.highs).then_some((at, Bits::High)), Some((at, Bits::Low))];
    (0..shape.offsets).flat_map(of).flatten().collect()
}

/// What a pattern allows in each table; beyond its end, everything.
fn codes(pattern: &Pattern<'_>, window: usize, parts: &[Part]) -> Codes {
    let mut codes = [0; cluster::TABLES];
    for (codes, &(at, bits)) in codes.iter_mut().zip(parts) {
        *codes = if window + at < pattern.bytes.len() {
            let allowed = allowed(pattern, window + at);
            allowed.iter().fold(0, |set, &byte| set | 1 << bits.code(byte))
        } else {
            bits.all()
        };
    }
    codes
}

/// The codes of a run of a byte.
fn run(byte: u8, parts: &[Part]) -> Codes {
    let mut codes = [0; cluster::TABLES];
    codes.iter_mut().zip(parts).for_each(|(codes, (_, bits))| *codes = 1 << bits.code(byte));
    codes
}

/// How often the codes of tables are met, by the model.
struct Grams {
    /// Each byte.
    bytes: [f32; 256],
    /// From a table of some bits to the next: those of the same byte, or of the next one.
    links: Vec<(Bits, Bits, bool, Joint)>,
    /// Runs of a byte that are met besides.
    runs: &'static [(u8, f32)],
}

impl Grams {
    /// `general`: whether the model is of data in general and not of a sample.
    fn new(model: &PairModel, isa: Isa, general: bool) -> Grams {
        let bytes: [f32; 256] = std::array::from_fn(|b| model.probability(&[b as u8]));
        // The model counts in eighths of a bit.
        let shares: Vec<f32> = (0..2048).map(|parts| (parts as f32 / -8.0).exp2()).collect();
        let pair = |ab: u16| {
            let [a, b] = ab.to_be_bytes();
            let parts = (8.0 * model.bits_after(a, b)) as usize;
            bytes[usize::from(a)] * shares[parts.min(shares.len() - 1)]
        };
        let pairs: Vec<f32> = (0..=u16::MAX).map(pair).collect();
        let within = |a: Bits, b: Bits| {
            let pair = |byte: u8| (a.code(byte), b.code(byte), bytes[usize::from(byte)]);
            (a, b, true, Joint::new((0..=255).map(pair)))
        };
        let next = |a: Bits, b: Bits| {
            let pair =
                |(ab, &share): (usize, &f32)| (a.code((ab >> 8) as u8), b.code(ab as u8), share);
            (a, b, false, Joint::new(pairs.iter().enumerate().map(pair)))
        };
        let links = if isa == Isa::Avx2 {
            let (high, low) = (Bits::High, Bits::Low);
            vec![within(high, low), next(low, high), next(low, low)]
        } else {
            vec![next(Bits::Six, Bits::Six)]
        };
        Grams { bytes, links, runs: if general { &RUNS } else { &[] } }
    }

    fn tables(&self, parts: &[Part]) -> cluster::Tables<'_> {
        let frequencies = |&(_, bits): &Part| {
            let mut of = [0.0; 64];
            (0..=255u8).for_each(|b| of[bits.code(b)] += self.bytes[usize::from(b)]);
            let all: f32 = of.iter().sum();
            of.map(|share| share / all)
        };
        let link = |pair: &[Part]| {
            let wanted = (pair[0].1, pair[1].1, pair[0].0 == pair[1].0);
            let link = self.links.iter().find(|l| (l.0, l.1, l.2) == wanted);
            &link.expect("all that shapes need are there").3
        };
        cluster::Tables {
            frequencies: parts.iter().map(frequencies).collect(),
            links: parts.windows(2).map(link).collect(),
            all: parts.iter().map(|part| part.1.all()).collect(),
            runs: self.runs.iter().map(|&(byte, share)| (run(byte, parts), share)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(patterns: &[&[u8]]) -> Plan {
        Plan::new(&PatternSet::new(patterns).unwrap(), &Options::default()).unwrap()
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
    fn short_patterns_are_candidates_where_they_are_rare() {
        let set = PatternSet::new([&b"an"[..], b"\xf7\xe9", b"needle", b"haystack"]).unwrap();
        let shorts = |sample: &[u8]| {
            let opt = Options::default().sampled(sample.to_vec());
            Plan::new(&set, &opt).unwrap().shorts.len()
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
                Filter::shaped(&one, &model, &grams, shapes(isa)[0], isa).pass
            };
            assert!(of("the ") > 10.0 * of("xqzj"), "{isa:?}");
            assert!(of("\0\0\0\0") > 0.01, "{isa:?}");
        }
    }

    #[test]
    fn a_single_pattern_is_known_by_its_rarest_bytes() {
        let one = |pattern: &str, isa: &str| {
            let opt = Options::with_params(isa).unwrap();
            let filter = Plan::new(&PatternSet::new([pattern]).unwrap(), &opt).unwrap().filter;
            filter.map(|f| (f.windows[0].offset, f.apart))
        };
        assert_eq!(one("the zqueue", "isa=scalar").map(|f| f.1), Some(None));
        if Isa::Avx2.available() {
            assert_eq!(one("the zqueue", "isa=avx2"), Some((4, Some(1))));
            assert_eq!(one("e", "isa=avx2"), None);
        }
    }

    #[test]
    fn what_lets_everything_pass_is_refused() {
        let letter = |i: usize| b" etaoinshr"[i % 10];
        let random: Vec<[u8; 3]> =
            (0..500).map(|i| [letter(i), letter(i / 10), letter(i / 100)]).collect();
        let set = PatternSet::new(&random).unwrap();
        let refusal = Plan::new(&set, &Options::default()).err().unwrap();
        assert!(refusal.to_string().contains("candidates expected"), "{refusal}");
    }
}
