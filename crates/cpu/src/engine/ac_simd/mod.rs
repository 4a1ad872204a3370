//! Aho-Corasick walked by many lanes of gathers over one haystack, on the smallest automaton that takes one step a byte.
//!
//! # The automaton
//! A walk is a chain of dependent loads, so what counts is which cache the automaton fits and how many loads a step
//! waits for. There are these forms; which is taken depends on the size of the tables:
//!
//! * **dense**: a row for each state, a column for each byte class, and one for the state's list of reports.
//! * **compact2**: four bytes a transition. The state after most bytes is that of a short suffix of the text, so
//!   it is looked up by the classes of the last two bytes (more, where the alphabet is small): the *default by context*,
//!   whose load does not wait for the state. A state stores only what the context cannot tell: its children, and where
//!   its failure state goes deeper than a context, its *exceptions*. Stored transitions stand in a double array: entry
//!   `base ^ class` is this state's if its label is the class. So
//!
//!   ```text
//!   e = entries[base ^ class]    state = e if label(e) = class
//!   d = defaults[context]                d otherwise
//!   ```
//!   **compact1** is the same with contexts of a single byte: a state stores more, but nothing is as large as all pairs of
//!   bytes. A thousand short patterns of any bytes fit the first-level cache.
//! * **compact3**: the default of the byte before has stored transitions too. One more load, which does not wait for the
//!   state either, tells states one byte deeper, and exceptions become a third to a half.
//! * **linked**: hostile sets have exceptions in the square of their size. A state with too many stores none and is
//!   *partial*: what it does not store is looked up in its failure state, and so on. That is linear in memory and, as in
//!   the plain automaton, at most a step back for each byte read. No set is refused for its shape.
//!
//! A leaf stores what its failure state stores, so it takes that state's base.
//!
//! # The lanes
//! A window of the haystack is cut into 64 neighbouring segments, a lane each; 16 lanes are one vector (8 of 32 with
//! AVX2). Their bytes are loaded 64 at a time, transposed and mapped to classes once. A lane begins at the root up to 64
//! bytes before its segment, and is then nearly always where one long walk would be. Whether it is, the lane before
//! knows: where the two differ, both walk on until they agree, and what the lane missed is added.
//!
//! # Reports
//! An entry counts what its state reports. To count matches is therefore one addition a step. To report them, lanes write
//! down where they were after each step, and a bit where that reports something. Bits are turned into words of single
//! lanes, and read lane after lane: so records are written in order, some thousand at once, and the sink reads them from
//! the first-level cache. A lane's trail behind a seam is put right before it is read.
//!
//! # When
//! Measured with `fyke bench --quick` on one core of a Sapphire Rapids machine, in nanoseconds a byte; matches are counted,
//! or written and read (`touch`):
//!
//! | cell | form | this engine | AVX2 | `ac-dfa` | best rival |
//! |---|---|---:|---:|---:|---:|
//! | `words/20` | dense | 0.27 | 0.63 | 0.52 | 0.20 Hyperscan |
//! | `words/1000` | dense | 0.31 | 0.68 | 0.65 | 0.53 Hyperscan |
//! | `words/10000` | compact2 | 0.56 | 0.90 | 1.04 | 1.38 Hyperscan |
//! | `words/99175` | compact3 | 0.97 | 1.68 | 2.42 | 3.87 Hyperscan |
//! | `golden/snort-2.2.0-2004.all-zeek` | compact2 | 0.75 | 1.55 | 6.32 | 6.12 daachorse |
//! | `dna/1000` | dense | 0.35 | 0.70 | 0.69 | 5.41 aho-corasick |
//! | `density/100-touch` | compact1 | 1.44 | 1.81 | 3.45 | 5.55 daachorse |
//!
//! The `golden` row is of an earlier way to write matches, and takes 0.71 to 0.78 times as long now (BENCHMARKS.md has the
//! figures of today). The `density` row is of 16 MiB on two busy cores; there compact2 takes 1.96 and dense 2.12.
//!
//! Rule strings in traffic, with other work on the machine: `rules/et-1000` 0.7 times as long as with `ac-dfa` and 1.2
//! times as long as with Hyperscan, `rules/et-min4` 0.42 and 0.35 times, `rules/et-all` 0.22 times and 0.13 times as
//! long as with daachorse.
//!
//! Hostile haystacks, made of the patterns themselves, behind a filter: 1 to 3.3 (`hostile` in BENCHMARKS.md).
//!
//! Loses: haystacks of less than 1,500 bytes, one a call (256 bytes take 2.1 times as long as with `ac-dfa`); few
//! patterns and rare matches, where filters are faster; up to 1,000 words with AVX2, where `ac-dfa` takes as long; any
//! set without AVX2, where the plain form takes up to four times as long as `ac-dfa`.
//! Refuses: sets of about eight million transitions, which the entries cannot name.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod build;
mod confirm;
mod forecast;
mod lanes;
mod output;
mod scan;
mod table;
mod trail;

use crate::simd::{Dispatch, Isa};
use confirm::Confirm;
use fyke_core::{
    Block, Device, Draft, Engine, Family, Footprint, Growth, Info, Matcher, MatcherId, Options,
    PatternSet, Refusal, Scratch, Sink,
};
use std::ops::ControlFlow;
use std::sync::Arc;
use table::Table;

/// The entry of the registry.
pub static ENGINE: AcSimd = AcSimd;

static INFO: Info = Info {
    name: "ac-simd",
    device: Device::Cpu,
    family: Family::Product,
    growth: Growth::Flat,
    about: "a compact Aho-Corasick automaton walked by 64 gather lanes: large sets, dense matches, hostile haystacks and sets",
    source: "Aho and Corasick 1975; Aoe 1989, double array; defaults by context and lanes are our own",
    variants: &[
        "",
        "form=compact1",
        "form=compact2",
        "form=compact3",
        "form=linked",
        "isa=avx2",
        "isa=scalar",
    ],
};

/// The engine.
#[derive(Debug)]
pub struct AcSimd;

/// Instruction sets that there are lanes for.
const ISAS: [Isa; 3] = Isa::ALL;

impl Engine for AcSimd {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn draft(&'static self, set: &PatternSet, opt: &Options) -> Result<Draft, Refusal> {
        let (cost, set, options) = (forecast::forecast(set, opt)?, set.clone(), opt.clone());
        Ok(Draft::new(cost, opt, move |memory_limit| {
            self.compile(&set, &options.clone().within(memory_limit))
        }))
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        opt.check_params(&["isa", "form"])?;
        let isa = Isa::choose(opt, &ISAS)?;
        Ok(Arc::new(Compiled {
            owner: MatcherId::new(),
            table: build::compile(set, isa, opt)?,
            confirm: Confirm::new(set),
            set: set.clone(),
            dispatch: isa.dispatch()?,
        }))
    }
}

/// A compiled set.
struct Compiled {
    owner: MatcherId,
    set: PatternSet,
    table: Table,
    confirm: Confirm,
    dispatch: Dispatch,
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
        Footprint { host: self.table.memory() + self.confirm.memory(), device: 0 }
    }

    fn stats(&self) -> Vec<(String, u64)> {
        let t = &self.table;
        [
            ("states", t.states),
            ("stored transitions", t.stored),
            ("entries", t.lists as usize),
            ("records of report lists", t.reports.records.len()),
            ("bytes of a context", t.order as usize),
        ]
        .map(|(name, n)| (name.to_owned(), n as u64))
        .to_vec()
    }

    fn options(&self) -> String {
        format!("isa={},form={}", self.dispatch.isa().name(), self.table.name())
    }

    fn describe(&self) -> String {
        let t = &self.table;
        format!(
            "{} of {} states, {} stored transitions, contexts of {} bytes, {} bytes, {}",
            t.name(),
            t.states,
            t.stored,
            t.order,
            self.footprint().host,
            self.dispatch.isa().name()
        )
    }
}
