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

/// Offsets that are tried as a pattern's window: beyond, a rarer one is hardly found. Not swept.
const TRIED: usize = 190;

/// How far the two bytes of a pair may be apart.
const PAIR_APART: usize = 16;

/// Bytes looked at, and sets of eight buckets, cheapest first.
pub(super) const SHAPES: [(usize, usize); 7] =
    [(3, 1), (4, 1), (4, 2), (5, 2), (4, 4), (5, 4), (6, 4)];

/// Where the plain form begins: it looks up all buckets at once.
const PLAIN_SHAPES: usize = 4;

/// Patterns in a bucket that are worth a try: a shape with more of them is passed over.
const CROWD: usize = 24;

/// A set of one pattern is known by two of its bytes, compared and not looked up, if no more of the positions than this
/// are expected to pass. It is far below what candidates may cost, because the model knows data in general: at ten times
/// as many, "the" in the Bible took five times as long as by exact comparison.
const PAIR_PASS: f32 = 0.0001;

/// Nanoseconds of a candidate: 3 to 4 for 100 and 300 English words in documents. The model foresees half to two thirds
/// of them.
const CANDIDATE_NS: f32 = 5.0;

/// Nanoseconds a byte below which reading memory is what takes the time.
const MEMORY_NS: f32 = 0.065;

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
    /// Bytes of each window that are looked at.
    pub(super) offsets: usize,
    /// Sets of eight buckets.
    pub(super) sets: usize,
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
        let short = if alone { SHORT_ALONE } else { SHORT };
        let of_len = |len| set.iter().filter(move |p| p.bytes.len() == len).map(|p| p.index);
        let shorts: Vec<u32> = (1..=short).flat_map(of_len).collect();
        limit("patterns of one or two bytes", shorts.len(), SHORT_PATTERNS)?;
        let longs: Vec<Pattern<'_>> = set.iter().filter(|p| p.bytes.len() > short).collect();
        let model = Model::for_set(set, opt);
        let filter = (!longs.is_empty()).then(|| Filter::new(&longs, &model, isa));
        if let Some(filter) = &filter {
            let parts = |share: f32| (share * 1000.0) as usize;
            let what = "candidates expected in 1,000 bytes";
            limit(what, parts(filter.pass), parts(PASS_LIMIT))?;
        }
        let same = |a: &u32, b: &u32| set.pattern_len(*a) == set.pattern_len(*b);
        let eights = |same: &[u32]| same.len().div_ceil(8) as f32;
        let ns = |same: &[u32]| eights(same) * short_ns(set.pattern_len(same[0]), isa);
        let matches: f32 = shorts.iter().map(|&i| model.probability(set.bytes(i))).sum();
        let short_ns = shorts.chunk_by(same).map(ns).sum::<f32>() + SHORT_MATCH_NS * matches;
        Ok(Plan { isa, shorts, short_ns, filter })
    }

    /// A plan with a shape of choice, for tests.
    #[cfg(test)]
    pub(super) fn shaped(set: &PatternSet, shape: (usize, usize), isa: Isa) -> Plan {
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
        let filter = |f: &Filter| f.offsets * (1024 + f.sets * 96) + f.windows.len() * 96;
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
    ///
    /// Both are found in one vector, so what follows where the second byte would lie in the next one passes.
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
        let pass = |&(i, j): &(usize, usize)| shares[i] * (shares[j] + (j - i) as f32 / 64.0);
        let best = pairs.min_by(|a, b| pass(a).total_cmp(&pass(b)))?;
        (pass(&best) <= PAIR_PASS).then(|| Filter {
            apart: Some(best.1 - best.0),
            offsets: 0,
            sets: 0,
            windows: vec![Window { pattern: 0, offset: best.0 as u16, bucket: 0 }],
            pass: pass(&best),
            ns: MEMORY_NS + pass(&best) * CANDIDATE_NS,
        })
    }

    /// The shape that is expected to be fastest.
    fn new(patterns: &[Pattern<'_>], model: &Model, isa: Isa) -> Filter {
        let chain = Chain::new(model);
        let shapes = if isa == Isa::Scalar { &SHAPES[PLAIN_SHAPES..] } else { &SHAPES };
        let (last, shapes) = shapes.split_last().expect("there are several");
        let fits = |shape: &&(usize, usize)| patterns.len() <= CROWD * 8 * shape.1;
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
        shape: (usize, usize),
        isa: Isa,
    ) -> Filter {
        let (offsets, sets) = shape;
        let mut rarest: Vec<(&Pattern<'_>, usize)> =
            patterns.iter().map(|p| (p, rarest_window(p.bytes, offsets, model))).collect();
        rarest.sort_by_key(|&(p, at)| &p.bytes[at..p.bytes.len().min(at + offsets)]);
        let codes: Vec<Codes> = rarest.iter().map(|&(p, at)| codes(p, at, offsets)).collect();
        let home = cluster(&codes, offsets, 8 * sets, &chain.frequencies);
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
            offsets,
            sets,
            windows,
            pass,
            ns: kernel_ns(shape, isa) + pass * CANDIDATE_NS,
        }
    }
}

/// Nanoseconds a byte of a filter that lets nothing pass: lines through what all shapes took for 20 to 300 English words
/// in documents, at about 3.6 GHz beside other programs.
fn kernel_ns((offsets, sets): (usize, usize), isa: Isa) -> f32 {
    let shuffles = (offsets * sets) as f32;
    match isa {
        Isa::Avx512 => (0.03 + 0.0055 * shuffles).max(MEMORY_NS),
        Isa::Avx2 => 0.028 * offsets as f32 + 0.016 * shuffles,
        Isa::Scalar => 0.35 * offsets as f32,
    }
}

/// The same for eight short patterns: estimated by their shuffles.
fn short_ns(len: usize, isa: Isa) -> f32 {
    match isa {
        Isa::Avx512 => 0.015 + 0.008 * len as f32,
        Isa::Avx2 => 0.03 + 0.03 * len as f32,
        Isa::Scalar => 1.0,
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
