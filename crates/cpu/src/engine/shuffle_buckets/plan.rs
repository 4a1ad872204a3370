//! What the filter of a set looks like: the window of each pattern, how many bytes of it are looked at, how many
//! buckets there are and which patterns share one.

use super::cluster::{Codes, Frequencies, cluster};
use crate::build::model::Model;
use fyke_core::{Options, Pattern, PatternSet, Refusal};

/// Patterns up to this length are found exactly by shuffles, with a bit of their own and no candidates.
pub(super) const SHORT: usize = 2;

/// Most bytes of a window that are looked at.
pub(super) const OFFSETS: usize = 6;

/// Most patterns. Beyond it no set of the benchmarks has a pass rate that the limit below admits.
const PATTERNS: usize = 2048;

/// Most short patterns: all single bytes. Eight of two bytes take four shuffles for 64 bytes. Not swept.
const SHORT_PATTERNS: usize = 256;

/// Offsets that are tried as a pattern's window: beyond, a rarer one is hardly found. Not swept.
const TRIED: usize = 190;

/// Bytes looked at, and sets of eight buckets, cheapest first.
const SHAPES: [(usize, usize); 7] = [(3, 1), (4, 1), (4, 2), (5, 2), (4, 4), (5, 4), (6, 4)];

/// Nanoseconds a byte: of a filter without shuffles, and of each shuffle for 64 bytes.
const BASE_NS: f32 = 0.02;
const SHUFFLE_NS: f32 = 0.004;

/// Nanoseconds of a candidate.
const CANDIDATE_NS: f32 = 4.0;

/// Nanoseconds a byte of each eight short patterns.
const SHORT_NS: f32 = 0.03;

/// The largest share of positions that may be expected to pass.
const PASS_LIMIT: f32 = 0.15;

/// A set as the engine sees it.
pub(super) struct Plan {
    /// Dense indices of the short patterns, shortest first.
    pub(super) shorts: Vec<u32>,
    /// The filter for the others, if there are any.
    pub(super) filter: Option<Filter>,
}

/// The shape of a filter.
pub(super) struct Filter {
    /// Bytes of each window that are looked at.
    pub(super) offsets: usize,
    /// Sets of eight buckets.
    pub(super) sets: usize,
    /// Where each pattern's window begins, and its bucket.
    pub(super) windows: Vec<Window>,
    /// The share of positions that pass, by the model.
    pub(super) pass: f32,
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
        limit("patterns", set.len(), PATTERNS)?;
        let of_len = |len| set.iter().filter(move |p| p.bytes.len() == len).map(|p| p.index);
        let shorts: Vec<u32> = (1..=SHORT).flat_map(of_len).collect();
        limit("patterns of one or two bytes", shorts.len(), SHORT_PATTERNS)?;
        let longs: Vec<Pattern<'_>> = set.iter().filter(|p| p.bytes.len() > SHORT).collect();
        let filter = (!longs.is_empty()).then(|| Filter::new(&longs, &Model::of(opt)));
        if let Some(filter) = &filter {
            let parts = |share: f32| (share * 1000.0) as usize;
            let what = "candidates expected in 1,000 bytes";
            limit(what, parts(filter.pass), parts(PASS_LIMIT))?;
        }
        Ok(Plan { shorts, filter })
    }

    /// Nanoseconds a byte that a scan is expected to take.
    pub(super) fn ns_per_byte(&self) -> f32 {
        let shorts = self.shorts.len().div_ceil(8) as f32 * SHORT_NS;
        shorts + self.filter.as_ref().map_or(0.0, Filter::ns_per_byte)
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
    /// The shape that is expected to be fastest.
    fn new(patterns: &[Pattern<'_>], model: &Model) -> Filter {
        let chain = Chain::new(model);
        let mut best: Option<Filter> = None;
        for (offsets, sets) in SHAPES {
            let floor = kernel_ns(offsets, sets);
            if best.as_ref().is_some_and(|b| b.ns_per_byte() <= floor) {
                break;
            }
            let filter = Filter::shaped(patterns, model, &chain, offsets, sets);
            if best.as_ref().is_none_or(|b| filter.ns_per_byte() < b.ns_per_byte()) {
                best = Some(filter);
            }
        }
        best.expect("there is a first shape")
    }

    fn shaped(
        patterns: &[Pattern<'_>],
        model: &Model,
        chain: &Chain,
        offsets: usize,
        sets: usize,
    ) -> Filter {
        let mut rarest: Vec<(&Pattern<'_>, usize)> =
            patterns.iter().map(|p| (p, rarest_window(p.bytes, offsets, model))).collect();
        rarest.sort_by_key(|&(p, at)| &p.bytes[at..p.bytes.len().min(at + offsets)]);
        let codes: Vec<Codes> = rarest.iter().map(|&(p, at)| codes(p, at, offsets)).collect();
        let home = cluster(&codes, offsets, 8 * sets, &chain.frequencies);
        let window = |(&(p, at), &bucket): (&(&Pattern<'_>, usize), &u8)| Window {
            pattern: p.index,
            offset: at as u16,
            bucket,
        };
        let mut classes = vec![[0; OFFSETS]; 8 * sets];
        for (codes, &bucket) in codes.iter().zip(&home) {
            let class = &mut classes[usize::from(bucket)];
            class.iter_mut().zip(codes).for_each(|(class, code)| *class |= code);
        }
        Filter {
            offsets,
            sets,
            windows: rarest.iter().zip(&home).map(window).collect(),
            pass: classes.iter().map(|class| chain.passes(&class[..offsets])).sum::<f32>().min(1.0),
        }
    }

    fn ns_per_byte(&self) -> f32 {
        kernel_ns(self.offsets, self.sets) + self.pass * CANDIDATE_NS
    }
}

fn kernel_ns(offsets: usize, sets: usize) -> f32 {
    BASE_NS + SHUFFLE_NS * (offsets * sets) as f32
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

/// The model as probabilities.
struct Chain {
    /// Of each byte, at first.
    first: [f32; 256],
    /// Of each byte after each.
    next: Vec<[f32; 256]>,
    frequencies: Frequencies,
}

impl Chain {
    fn new(model: &Model) -> Chain {
        let first: [f32; 256] = std::array::from_fn(|b| model.probability(&[b as u8]));
        let row = |a: u8| std::array::from_fn(|b| (-model.bits_after(a, b as u8)).exp2());
        let mut frequencies = [0.0; 64];
        (0..=255u8).for_each(|b| frequencies[code(b)] += first[usize::from(b)]);
        Chain { first, next: (0..=255).map(row).collect(), frequencies }
    }

    /// The share of positions where each byte has a code of the class at its offset: a walk of the chain, which
    /// knows that the bytes of text go together better than a product of frequencies does.
    fn passes(&self, classes: &[u64]) -> f32 {
        if classes.contains(&0) {
            return 0.0;
        }
        let bytes_of = |class: u64| (0..=255u8).filter(move |&b| class >> code(b) & 1 == 1);
        let first = |b: u8| (b, self.first[usize::from(b)]);
        let mut reached: Vec<(u8, f32)> = bytes_of(classes[0]).map(first).collect();
        for &class in &classes[1..] {
            if class == u64::MAX {
                // Anything goes here, and what comes after does not depend on what was before.
                let all: f32 = reached.iter().map(|r| r.1).sum();
                reached = (0..=255).map(|b| (b, all * self.first[usize::from(b)])).collect();
                continue;
            }
            let into = |b: u8| {
                let from =
                    |&(a, share): &(u8, f32)| share * self.next[usize::from(a)][usize::from(b)];
                (b, reached.iter().map(from).sum())
            };
            reached = bytes_of(class).map(into).collect();
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
        let chain = Chain::new(&Model::built_in());
        let of = |text: &[u8]| -> f32 {
            let classes: Vec<u64> = text.iter().map(|&b| 1 << code(b)).collect();
            chain.passes(&classes)
        };
        assert!(of(b"the ") > 10.0 * of(b"xqzj"));
        assert!((chain.passes(&[u64::MAX; 3]) - 1.0).abs() < 0.2);
        assert_eq!(chain.passes(&[0, 1, 1]), 0.0);
    }

    #[test]
    fn what_lets_everything_pass_is_refused() {
        let letter = |i: usize| b" etaoinshrdl"[i % 12];
        let random: Vec<[u8; 3]> =
            (0..1728).map(|i| [letter(i), letter(i / 12), letter(i / 144)]).collect();
        let set = PatternSet::new(&random).unwrap();
        let refusal = Plan::new(&set, &Options::default()).err().unwrap();
        assert!(refusal.to_string().contains("candidates expected"), "{refusal}");
    }
}
