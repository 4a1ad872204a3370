//! Shuffles that sort the bytes of a haystack into buckets of patterns: a filter for few patterns.
//!
//! # Windows and buckets
//! Each pattern is known by a window of three to six of its bytes: those that a model of data in general takes for the
//! rarest. The patterns are divided among 8, 16 or 32 buckets, a bit each. For each offset of a window there is a
//! table: which buckets have a pattern with this byte there. A position is a candidate if some bucket has all bytes:
//!
//! ```text
//! buckets  = table[0][h[i]] & table[1][h[i + 1]] & table[2][h[i + 2]] ..
//! ```
//!
//! A vector shuffle looks up 64 positions at once, if a table has no more than 64 entries: for AVX-512 by the low
//! six bits of a byte. AVX2 has shuffles of 16 entries and looks up low nibbles, and high nibbles where they tell
//! more. Which patterns share a bucket decides how many positions pass: see `cluster.rs`.
//!
//! Haystacks in no cache are read at memory's pace if each line is fetched ahead: by itself a processor stops at the
//! end of each page.
//!
//! # Candidates
//! The positions of a tile are compressed into a list, without a branch that a candidate decides: with branches, 100
//! words in documents took twice as long. The hash of the bytes there leads to patterns, of which eight
//! bytes are compared, and a longer pattern then as a whole.
//!
//! # Short patterns
//! One or two bytes that are frequent are no filter for anything, and found by themselves, as are up to four bytes if
//! there is nothing else: a pattern is a bit, and a table of nibbles is exact for it. If they are only counted, the
//! bits are added up in vectors and never looked at one by one. Two bytes that are rare, such as marks of file formats,
//! are candidates like others.
//!
//! A single pattern with rare bytes is known by the two rarest of them, which are compared and not looked up.
//!
//! Wins: with AVX-512, 3.5 times as fast as the best rival for 20 English words in documents, 6.0 times for 100, 3.3 times
//! for 69 headers and footers of file formats in programs, 3.1 times with four of two bytes among them, 2.4 to 5.4 times
//! for 100 rules in packets. With AVX2 1.1, 1.3, 1.5 and 1.5 times, and 0.8 to 2.7 times. (BENCHMARKS.md and
//! benchmarks/avx2.md.) Loses: single strings of rare letters, where all who are fast wait
//! for memory; 1,000 words, where `qgram-filter` is faster; without vectors, where `ac-dfa` is faster.
//!
//! Refuses: more patterns than buckets can tell apart, by the model's estimate of how many positions pass.
//!
//! Source: the shuffle filter is Teddy of Hyperscan (Wang et al., NSDI 2019), with its nibbles; tables of 64
//! entries and the choice of buckets and windows by frequencies are our own.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod cluster;
mod confirm;
#[cfg(target_arch = "x86_64")]
mod loops;
mod plan;
mod scan;
mod stage1;
mod tables;

use crate::simd::Dispatch;
use confirm::Confirm;
use fyke_core::{
    Block, Device, Draft, Engine, Family, Footprint, Growth, Info, Matcher, Options, PatternSet,
    Refusal, Scratch, Sink, check_memory,
};
use plan::Plan;
use std::ops::ControlFlow;
use std::sync::Arc;
use tables::{Group, Tables};

/// The entry of the registry.
pub static ENGINE: Teddy = Teddy;

static INFO: Info = Info {
    name: "teddy",
    device: Device::Cpu,
    family: Family::Product,
    growth: Growth::Flat,
    about: "bytes shuffled into buckets of patterns, 64 positions at once: up to a few hundred patterns of any length, rare matches, short haystacks",
    source: "Wang et al. 2019, Hyperscan (Teddy)",
    variants: &["", "isa=scalar", "isa=avx2"],
};

/// The engine.
#[derive(Debug)]
pub struct Teddy;

impl Engine for Teddy {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn draft(&'static self, set: &PatternSet, opt: &Options) -> Result<Draft, Refusal> {
        opt.check_params(&["isa"])?;
        let plan = Plan::new(set, opt)?;
        let set = set.clone();
        Ok(Draft::new(plan.forecast(), opt, move |limit| {
            check_memory(limit, plan.memory())?;
            Ok(Arc::new(Compiled::new(&set, &plan)?))
        }))
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        ENGINE.draft(set, opt)?.compile()
    }
}

/// A compiled set.
struct Compiled {
    set: PatternSet,
    filter: Option<(Tables, Confirm)>,
    shorts: Vec<Group>,
    /// A match that a block owns may have its window so many bytes before the owned bytes.
    reach: usize,
    dispatch: Dispatch,
    /// The share of positions that pass, by the model.
    pass: f32,
}

impl Compiled {
    fn new(set: &PatternSet, plan: &Plan) -> Result<Compiled, Refusal> {
        let filter = match &plan.filter {
            Some(filter) => Some((Tables::new(set, filter), Confirm::new(set, filter)?)),
            None => None,
        };
        let shorts = Group::all(set, &plan.shorts);
        let reach = shorts.last().map_or(0, |group| group.len - 1);
        let reach = filter.as_ref().map_or(reach, |(_, confirm)| confirm.reach.max(reach));
        let (dispatch, pass) = (plan.isa.dispatch()?, plan.pass());
        Ok(Compiled { set: set.clone(), filter, shorts, reach, dispatch, pass })
    }
}

impl Matcher for Compiled {
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

    fn footprint(&self) -> Footprint {
        let filter = self.filter.as_ref().map_or(0, |(t, c)| t.memory() + c.memory());
        let shorts: u64 = self.shorts.iter().map(Group::memory).sum();
        Footprint { host: filter + shorts, device: 0 }
    }

    fn options(&self) -> String {
        format!("isa={}", self.dispatch.isa().name())
    }

    fn describe(&self) -> String {
        let shape = match &self.filter {
            Some((t, _)) if t.pair.is_some() => "two bytes compared".to_owned(),
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
