//! Teddy: finds literals by testing 64 positions at once with byte shuffles. Larger sets use a
//! table of byte pairs instead.
//!
//! Use it for up to 2,000 patterns with rare matches, and for short haystacks. It is the fastest
//! engine for `words/20`, `words/100`, `headers/min3`, `headers/min2` and 100 rules, most of all
//! with AVX-512. `qgram-filter` is faster from about 1,000 words, and `ac-dfa` is faster on a CPU
//! without vector instructions.
//!
//! # Windows and buckets
//! Each pattern has a window: three to six consecutive bytes, the rarest ones by a model of
//! typical data. Each pattern belongs to one of 8, 16 or 32 buckets. For each offset of a window,
//! a lookup table maps a byte to the set of buckets that have a pattern with this byte at this
//! offset. A position is a candidate if some bucket accepts all bytes of the window there:
//!
//! ```text
//! buckets  = table[0][h[i]] & table[1][h[i + 1]] & table[2][h[i + 2]] ..
//! ```
//!
//! With AVX-512 (VBMI) a table has 64 entries, indexed by the low six bits of a byte, and one
//! shuffle looks up 64 positions. NEON has the same tables and needs four shuffles. With AVX2 and
//! simd128 a table has 16 entries, indexed by the low nibble. Some offsets have a second table,
//! indexed by the high nibble. The choice of buckets decides how many false positives pass: see
//! `cluster.rs`.
//!
//! # Pairs
//! From about a hundred patterns on, the buckets accept many windows. Then the pair of bytes at
//! each position, or at every second one, is looked up by scalar loads, or by gathers where these
//! are fast, and vectors combine the pairs of a window: see `pairs.rs` and
//! `pair_lookup.rs`.
//!
//! # Candidates
//! The filter handles the haystack in tiles. It compresses the candidates of a tile into a list
//! without a branch per position, since mispredictions would take as long as the filter. A hash of
//! a candidate's window selects the patterns to verify. Eight bytes are compared first, then the
//! rest of a longer pattern.
//!
//! # Short patterns
//! Patterns of one or two frequent bytes would make too many positions candidates, so shuffles
//! match them exactly, one bit per pattern. A set of at most eight patterns of up to four bytes is
//! matched the same way. Counting adds up these bits in vectors. Short patterns of rare bytes, such
//! as file signatures, go through the filter like any other.
//!
//! # Single patterns
//! For a single pattern with rare bytes, the filter compares the two rarest bytes, without tables.
//! [`OnePattern`] compares the same bytes, without the engine, in calls that end at the first
//! match.
//!
//! The engine refuses sets for which the model expects too many candidates.
//!
//! Source: Teddy of Hyperscan (Wang et al., NSDI 2019) with its nibble tables. The 64-entry tables
//! and the choice of buckets and windows by frequency are ours.

mod candidates;
mod cluster;
mod confirm;
mod cost;
mod filter_plan;
mod find_next;
mod finder;
mod first;
mod grams;
mod loops;
mod one_pattern;
mod pair_lookup;
mod pairs;
mod plan;
mod scan;
mod shape;
mod short_patterns;
mod stage1;
mod tables;
mod text;

use crate::simd::Dispatch;
use crate::simd::gather::Gathers;
use confirm::Confirm;
use find_next::{FindNextFn, FindWordFn};
use fyke_core::{
    Block, Device, Draft, Engine, Family, First, FirstMatch, Footprint, Growth, Info, Match,
    Matcher, NextFirst, NextLimits, Options, PatternSet, Refusal, Scratch, Sink, check_memory,
};
pub use one_pattern::OnePattern;
use pairs::Positions;
use plan::TeddyPlan;
use std::ops::ControlFlow;
use std::sync::Arc;
use tables::{ShortGroup, ShuffleTables};

/// The registry entry.
pub static ENGINE: Teddy = Teddy;

static INFO: Info = Info {
    name: "teddy",
    device: Device::Cpu,
    family: Family::Product,
    growth: Growth::Flat,
    about: "Teddy, byte shuffles or look-ups of pairs over 64 positions at once: up to 2,000 patterns, rare matches, short haystacks",
    source: "Wang et al. 2019, Hyperscan (Teddy)",
    variants: &[
        "",
        "isa=scalar",
        "isa=avx2",
        "isa=neon",
        "isa=simd128",
        "pairs=small,gathers=scalar",
        "pairs=large,gathers=scalar",
        "pairs=small-even,gathers=scalar",
        "pairs=large-even,gathers=scalar",
        "pairs=large,gathers=vector",
        "pairs=small-even,gathers=vector",
        "isa=avx2,pairs=small,gathers=vector",
        "isa=avx2,pairs=large-even,gathers=vector",
    ],
};

/// Teddy.
#[derive(Debug)]
pub struct Teddy;

impl Engine for Teddy {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn draft(&'static self, set: &PatternSet, opt: &Options) -> Result<Draft, Refusal> {
        opt.check_params(&["isa", "pairs", "gathers"])?;
        let plan = TeddyPlan::new(set, opt)?;
        let set = set.clone();
        Ok(Draft::new(plan.forecast(opt.expected_call), opt, move |limit| {
            check_memory(limit, plan.memory())?;
            Ok(Arc::new(TeddyMatcher::new(&set, &plan)?))
        }))
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        ENGINE.draft(set, opt)?.compile()
    }
}

/// A compiled set.
struct TeddyMatcher {
    set: PatternSet,
    filter: Option<(ShuffleTables, Confirm)>,
    shorts: Vec<ShortGroup>,
    /// How many bytes before the owned bytes the window of an owned match may begin.
    reach: usize,
    /// How many bytes before its window a pattern may begin.
    lead: usize,
    dispatch: Dispatch,
    /// Finds the next candidates, for searches that end soon.
    find_next: FindNextFn,
    /// The candidates of 64 positions. `None` for pairs, and if there are short patterns.
    find_word: Option<FindWordFn>,
    /// The expected share of positions that are candidates.
    pass: f32,
}

impl TeddyMatcher {
    fn new(set: &PatternSet, plan: &TeddyPlan) -> Result<TeddyMatcher, Refusal> {
        let filter = match &plan.filter {
            Some(filter) => Some((ShuffleTables::new(set, filter), Confirm::new(set, filter)?)),
            None => None,
        };
        let shorts = ShortGroup::all(set, &plan.shorts);
        let reach = shorts.last().map_or(0, |group| group.len - 1);
        let reach = filter.as_ref().map_or(reach, |(_, confirm)| confirm.reach.max(reach));
        let windows = plan.filter.iter().flat_map(|filter| &filter.windows);
        let lead = windows.map(|w| w.offset.max(0) as usize).max().unwrap_or(0);
        let (dispatch, pass) = (plan.isa.dispatch()?, plan.pass());
        let find_next = filter.as_ref().map(|(t, _)| find_next::find_next_fn(dispatch, t));
        let find_next = find_next.unwrap_or(stage1::find_next);
        let find_word = filter.as_ref().and_then(|(t, _)| find_next::find_word_fn(dispatch, t));
        let find_word = find_word.filter(|_| shorts.is_empty());
        let set = set.clone();
        Ok(TeddyMatcher { set, filter, shorts, reach, lead, dispatch, find_next, find_word, pass })
    }
}

impl Matcher for TeddyMatcher {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn set(&self) -> &PatternSet {
        &self.set
    }

    fn scan(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        self.scan_block(block, scratch, sink)
    }

    fn first_candidate(&self, haystack: &[u8]) -> usize {
        self.find_candidate(haystack)
    }

    fn find_first(&self, haystack: &[u8], first: First) -> FirstMatch {
        self.find_directly(haystack, first)
    }

    fn find_next(&self, haystack: &[u8], first: First, next: &mut NextFirst) -> FirstMatch {
        self.find_next_directly(haystack, first, next)
    }

    fn candidates_in_short(&self, haystack: &[u8]) -> Option<u64> {
        self.find_candidates_in_short(haystack)
    }

    fn find_next_limits(&self) -> Option<NextLimits> {
        self.limits_of_words()
    }

    fn find_first_min_len(&self) -> Option<usize> {
        self.find_directly_min_len()
    }

    fn find_several(&self, haystack: &[u8], first: First, found: &mut Vec<Match>) -> Option<bool> {
        self.find_in_turn(haystack, first, found)
    }

    fn footprint(&self) -> Footprint {
        let filter = self.filter.as_ref().map_or(0, |(t, c)| t.memory() + c.memory());
        let shorts: u64 = self.shorts.iter().map(ShortGroup::memory).sum();
        Footprint { host: filter + shorts, device: 0 }
    }

    fn options(&self) -> String {
        let isa = self.dispatch.isa().name();
        match &self.filter {
            Some((t, _)) if t.pairs.is_some() => format!("isa={isa},gathers={}", t.gathers.name()),
            _ => format!("isa={isa}"),
        }
    }

    fn describe(&self) -> String {
        let shape = match &self.filter {
            Some((t, _)) if t.two_bytes.is_some() => "two bytes compared".to_owned(),
            Some((t @ ShuffleTables { pairs: Some(table), .. }, _)) => {
                let positions = match table.shape().positions {
                    Positions::All => "",
                    Positions::Even => " at even positions",
                };
                format!(
                    "pairs of bytes{positions} in a table of {} entries, by {}",
                    table.shape().size.entries(),
                    match t.gathers {
                        Gathers::Vector => "gathers",
                        Gathers::Scalar => "scalar loads",
                    }
                )
            }
            Some((t, _)) => t.shape.to_string(),
            None => "no filter".to_owned(),
        };
        let shorts: usize = self.shorts.iter().map(|g| g.patterns.len()).sum();
        format!(
            "{shape}, {:.2} % of positions expected to pass, {shorts} short patterns; {}; {} bytes",
            100.0 * self.pass,
            self.dispatch.isa().name(),
            self.footprint().host
        )
    }
}

#[cfg(test)]
mod tests;
