//! What the filter of a set looks like: the window of each pattern, how many bytes of it are looked at, how many
//! buckets there are and which patterns share one.

use super::cluster::{Codes, Frequencies, cluster};
use crate::build::model::Model;
use crate::simd::Isa;
use fyke_core::{Options, Pattern, PatternSet, Refusal};

/// Patterns up to this length are found exactly by shuffles, with a bit of their own and no candidates.
const SHORT: usize = 2;

/// The same where all patterns are as short, and eight at most: then there is no filter besides.
const SHORT_ALONE: usize = 4;

/// Most bytes of a window that are looked at.
pub(super) const OFFSETS: usize = 6;

/// Most patterns. Beyond it other filters are faster: of 300 English words in documents 1.9 % of the positions are
/// candidates, of 1,000 words 6 %.
const PATTERNS: usize = 1024;

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
    /// Sets of eight buckets.
    pub(super) sets: usize,
}

/// A shape in short.
const fn shape(offsets: usize, sets: usize) -> Shape {
    Shape { offsets, sets }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} offsets, {} buckets", self.offsets, 8 * self.sets)
    }
}

/// The shapes that vectors have, cheapest first.
const VECTORS: &[Shape] = &[
    shape(3, 1),
    shape(4, 1),
    shape(5, 1),
    shape(4, 2),
    shape(5, 2),
    shape(4, 4),
    shape(5, 4),
    shape(6, 4),
];

/// Those of the plain form, which looks up all buckets at once.
const PLAIN: &[Shape] = &[shape(4, 4), shape(5, 4), shape(6, 4)];

/// The shapes that a form has, cheapest first.
pub(super) fn shapes(isa: Isa) -> &'static [Shape] {
    match isa {
        Isa::Scalar => PLAIN,
        Isa::Avx2 | Isa::Avx512 => VECTORS,
    }
}

/// Patterns in a bucket that are worth a try: a shape with more of them is passed over.
const CROWD: usize = 24;

/// A set of one pattern is known by two of its bytes, compared and not looked up, if no more of the positions than this
/// are expected to pass. It is far below what candidates may cost, because the model knows data in general: at ten times
/// as many, "the" in the Bible took five times as long as by exact comparison.
const PAIR_PASS: f32 = 0.0001;

/// Nanoseconds of a candidate: 3 to 4 for 100 and 300 English words in documents. The model foresees half to two thirds
/// of them.
const CANDIDATE_NS: f32 = 4.0;

/// Nanoseconds a byte below which reading memory is what takes the time.
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
        if let Some(filter) = Filter::pair(set, &Model::of(opt), isa) {
            return Ok(Plan { isa, shorts: Vec::new(), short_ns: 0.0, filter: Some(filter) });
        }
        let alone = set.max_len() <= SHORT_ALONE && set.len() <= 8;
        let apart = Plan::divided(set, opt, isa, if alone { SHORT_ALONE } else { SHORT });
        // Short patterns that are rare in data in general may be candidates like others.
        let general = Model::of(opt);
        let matches: f32 = apart.shorts.iter().map(|&i| general.probability(set.bytes(i))).sum();
        let rare = apart.filter.is_some() && !apart.shorts.is_empty() && matches <= SHORT_PASS;
        let together = rare.then(|| Plan::divided(set, opt, isa, 0));
        let plan = match together {
            Some(together) if together.ns_per_byte() < apart.ns_per_byte() => together,
            _ => apart,
        };
        limit("patterns of one or two bytes", plan.shorts.len(), SHORT_PATTERNS)?;
        let parts = |share: f32| (share * 1000.0) as usize;
        limit("candidates expected in 1,000 bytes", parts(plan.pass()), parts(PASS_LIMIT))?;
        Ok(plan)
    }

    /// A plan that leaves patterns up to a length to no filter.
    fn divided(set: &PatternSet, opt: &Options, isa: Isa, short: usize) -> Plan {
        let of_len = |len| set.iter().filter(move |p| p.bytes.len() == len).map(|p| p.index);
        let shorts: Vec<u32> = (1..=short).flat_map(of_len).collect();
        let longs: Vec<Pattern<'_>> = set.iter().filter(|p| p.bytes.len() > short).collect();
        let model = Model::for_set(set, opt);
        let filter = (!longs.is_empty()).then(|| Filter::new(&longs, &model, isa));
        let same = |a: &u32, b: &u32| set.pattern_len(*a) == set.pattern_len(*b);
        let ns = |same: &[u32]| short_ns(same.len(), set.pattern_len(same[0]), isa);
        let matches: f32 = shorts.iter().map(|&i| model.probability(set.bytes(i))).sum();
        let short_ns = shorts.chunk_by(same).map(ns).sum::<f32>() + SHORT_MATCH_NS * matches;
        Plan { isa, shorts, short_ns, filter }
    }

    /// A plan with a shape of choice, for tests.
    #[cfg(test)]
    pub(super) fn shaped(set: &PatternSet, shape: Shape, isa: Isa) -> Plan {
        let (patterns, model) = (set.iter().collect::<Vec<_>>(), Model::built_in());
        let filter = Filter::shaped(&patterns, &model, &Chain::new(&model), shape, isa);
        Plan { isa, shorts: Vec::new(), short_ns: 0.0, filter: Some(filter) }
    }

    /// Nanoseconds a byte that a scan is expected to take.
    pub(super) fn ns_per_byte(&self) -> f32 {
        (self.short_ns + self.filter.as_ref().map_or(0.0, |f| f.ns)).max(MEMORY_NS)
    }

    /// Bytes of memory that the tables take.
    pub(super) fn memory(&self) -> u64 {
        let shorts = 2400 * self.shorts.len().div_ceil(8);
        let filter = |f: &Filter| {
            f.shape.offsets * (1024 + f.shape.sets * 96) + 64 * f.shape.sets + f.windows.len() * 96
        };
        (shorts + self.filter.as_ref().map_or(0, filter)) as u64
    }

    /// Milliseconds that compiling takes: each pattern is tried in each bucket.
    pub(super) fn build_ms(&self) -> f32 {
        let filter = |f: &Filter| 0.3 + f.windows.len() as f32 * 0.01;
        self.filter.as_ref().map_or(0.01, filter)
    }

    /// What decides.
    pub(super) fn why(&self) -> String {
        format!("{:.2} % of positions pass the filter", 100.0 * self.pass())
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
    fn pair(set: &PatternSet, model: &Model, isa: Isa) -> Option<Filter> {
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
            ns: pass(&best) * CANDIDATE_NS,
        })
    }

    /// The shape that is expected to be fastest.
    fn new(patterns: &[Pattern<'_>], model: &Model, isa: Isa) -> Filter {
        let chain = Chain::new(model);
        let (last, shapes) = shapes(isa).split_last().expect("there are several");
        let fits = |shape: &&Shape| patterns.len() <= CROWD * 8 * shape.sets;
        let mut best: Option<Filter> = None;
        for &shape in shapes.iter().filter(fits).chain([last]) {
            if best.as_ref().is_some_and(|b| b.ns <= kernel_ns(shape, isa)) {
                break;
            }
            let filter = Filter::shaped(patterns, model, &chain, shape, isa);
            if best.as_ref().is_none_or(|b| filter.ns < b.ns) {
                best = Some(filter);
            }
        }
        best.expect("the last shape is tried if no other is")
    }

    fn shaped(
        patterns: &[Pattern<'_>],
        model: &Model,
        chain: &Chain<'_>,
        shape: Shape,
        isa: Isa,
    ) -> Filter {
        let Shape { offsets, sets } = shape;
        let mut rarest: Vec<(&Pattern<'_>, usize)> =
            patterns.iter().map(|p| (p, rarest_window(p.bytes, offsets, model))).collect();
        rarest.sort_by_key(|&(p, at)| &p.bytes[at..p.bytes.len().min(at + offsets)]);
        let codes: Vec<Codes> = rarest.iter().map(|&(p, at)| codes(p, at, offsets)).collect();
        let home = cluster(&codes, 8 * sets, &vec![chain.frequencies; offsets]);
        let mut classes = vec![[[0; 4]; OFFSETS]; 8 * sets];
        let mut windows = Vec::with_capacity(patterns.len());
        for (&(p, at), &bucket) in rarest.iter().zip(&home) {
            windows.push(Window { pattern: p.index, offset: at as u16, bucket });
            let class = &mut classes[usize::from(bucket)][..offsets];
            class.iter_mut().zip(at..).for_each(|(class, at)| allow(class, p, at));
        }
        let passes =
            |class: &[Bytes; OFFSETS]| chain.passes(&class.map(|set| blurred(set, isa))[..offsets]);
        let pass = classes.iter().map(passes).sum::<f32>().min(1.0);
        Filter {
            apart: None,
            shape,
            windows,
            pass,
            ns: kernel_ns(shape, isa) + pass * CANDIDATE_NS,
        }
    }
}

/// Nanoseconds a byte of a filter that lets nothing pass: lines through what all shapes took for a haystack of 64 KiB
/// without candidates, at about 2.9 GHz beside other programs.
fn kernel_ns(shape: Shape, isa: Isa) -> f32 {
    let Shape { offsets, sets } = shape;
    let (offsets, shuffles) = (offsets as f32, (offsets * sets) as f32);
    match isa {
        Isa::Avx512 => 0.0185 + 0.0053 * shuffles,
        Isa::Avx2 => 0.012 + 0.011 * offsets + 0.0165 * shuffles,
        Isa::Scalar => 0.35 * offsets,
    }
}

/// The same for short patterns of one length: lines through what one to eight of two bytes and four of three took.
fn short_ns(patterns: usize, len: usize, isa: Isa) -> f32 {
    let (eights, patterns, len) = (patterns.div_ceil(8) as f32, patterns as f32, len as f32);
    match isa {
        Isa::Avx512 => eights * (0.01 + 0.016 * len) + 0.0065 * patterns,
        Isa::Avx2 => eights * (0.007 + 0.02 * len) + 0.015 * patterns,
        Isa::Scalar => eights,
    }
}

fn rarest_window(bytes: &[u8], len: usize, model: &Model) -> usize {
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

/// What a pattern allows at each offset of its window; beyond its end, everything.
fn codes(pattern: &Pattern<'_>, window: usize, offsets: usize) -> Codes {
    let mut codes = [u64::MAX; OFFSETS];
    let end = pattern.bytes.len().min(window + offsets);
    for (codes, at) in codes.iter_mut().zip(window..end) {
        *codes = allowed(pattern, at).iter().fold(0, |set, &byte| set | 1 << code(byte));
    }
    codes
}

/// A set of bytes.
type Bytes = [u64; 4];

/// Adds what a pattern allows at a place, which is everything beyond its end.
fn allow(set: &mut Bytes, pattern: &Pattern<'_>, at: usize) {
    if at >= pattern.bytes.len() {
        *set = [u64::MAX; 4];
        return;
    }
    allowed(pattern, at).iter().for_each(|b| set[usize::from(b / 64)] |= 1 << (b % 64));
}

/// What a table that allows some bytes allows besides, because its shuffle does not tell them apart.
fn blurred(set: Bytes, isa: Isa) -> Bytes {
    match isa {
        Isa::Scalar => set,
        Isa::Avx512 => [set[0] | set[1] | set[2] | set[3]; 4],
        Isa::Avx2 => {
            let quarter = |high: usize| set[high / 4] >> (16 * (high % 4)) & 0xffff;
            let lows = (0..16).fold(0, |lows, high| lows | quarter(high));
            let with = |high: usize| if quarter(high) == 0 { 0 } else { lows << (16 * (high % 4)) };
            std::array::from_fn(|word| (4 * word..4 * word + 4).fold(0, |set, h| set | with(h)))
        }
    }
}

fn bytes_of(set: &Bytes) -> impl Iterator<Item = u8> {
    (0..=255u8).filter(|&b| set[usize::from(b / 64)] >> (b % 64) & 1 == 1)
}

/// The model as probabilities.
struct Chain<'a> {
    model: &'a Model,
    /// Of each byte, at first.
    first: [f32; 256],
    frequencies: Frequencies,
}

impl Chain<'_> {
    fn new(model: &Model) -> Chain<'_> {
        let first: [f32; 256] = std::array::from_fn(|b| model.probability(&[b as u8]));
        let mut frequencies = [0.0; 64];
        (0..=255u8).for_each(|b| frequencies[code(b)] += first[usize::from(b)]);
        Chain { model, first, frequencies }
    }

    /// The share of positions where each byte is in the set at its offset: a walk of the chain, which knows that
    /// the bytes of text go together better than a product of frequencies does.
    fn passes(&self, sets: &[Bytes]) -> f32 {
        if sets.contains(&[0; 4]) {
            return 0.0;
        }
        let first = |b: u8| (b, self.first[usize::from(b)]);
        let mut reached: Vec<(u8, f32)> = bytes_of(&sets[0]).map(first).collect();
        for set in &sets[1..] {
            if *set == [u64::MAX; 4] {
                // Anything goes here, and what comes after does not depend on what was before.
                let all: f32 = reached.iter().map(|r| r.1).sum();
                reached = (0..=255).map(|b| (b, all * self.first[usize::from(b)])).collect();
                continue;
            }
            let step = |a: u8, b: u8| (-self.model.bits_after(a, b)).exp2();
            let into = |b: u8| (b, reached.iter().map(|&(a, share)| share * step(a, b)).sum());
            reached = bytes_of(set).map(into).collect();
        }
        reached.iter().map(|r| r.1).sum()
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
    fn the_chain_passes_what_is_frequent() {
        let model = Model::built_in();
        let chain = Chain::new(&model);
        let of = |text: &[u8]| -> f32 {
            let mut sets = vec![[0; 4]; text.len()];
            sets.iter_mut()
                .zip(text)
                .for_each(|(set, b)| set[usize::from(b / 64)] |= 1 << (b % 64));
            chain.passes(&sets)
        };
        assert!(of(b"the ") > 10.0 * of(b"xqzj"));
        assert!((chain.passes(&[[u64::MAX; 4]; 3]) - 1.0).abs() < 0.2);
        assert_eq!(chain.passes(&[[0; 4], [1; 4], [1; 4]]), 0.0);
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
    fn a_blurred_set_is_what_the_shuffle_allows() {
        let set = |bytes: &[u8]| {
            let mut set = [0; 4];
            bytes.iter().for_each(|b| set[usize::from(b / 64)] |= 1 << (b % 64));
            set
        };
        let some = set(&[0x61, 0x72, 0x05]);
        let all = |isa| bytes_of(&blurred(some, isa)).collect::<Vec<_>>();
        assert_eq!(all(Isa::Scalar), [0x05, 0x61, 0x72]);
        assert_eq!(all(Isa::Avx2), [0x01, 0x02, 0x05, 0x61, 0x62, 0x65, 0x71, 0x72, 0x75]);
        let low_bits = |b: &u8| [0x21, 0x32, 0x05].contains(&(b & 63));
        assert_eq!(all(Isa::Avx512), (0..=255).filter(low_bits).collect::<Vec<_>>());
    }

    #[test]
    fn what_lets_everything_pass_is_refused() {
        let letter = |i: usize| b" etaoinshr"[i % 10];
        let random: Vec<[u8; 3]> =
            (0..1000).map(|i| [letter(i), letter(i / 10), letter(i / 100)]).collect();
        let set = PatternSet::new(&random).unwrap();
        let refusal = Plan::new(&set, &Options::default()).err().unwrap();
        assert!(refusal.to_string().contains("candidates expected"), "{refusal}");
    }
}
