//! Aho-Corasick walked by many lanes of gathers over one haystack, on the smallest automaton that takes one step a byte.
//!
//! # The automaton
//! A walk is a chain of dependent loads, so what counts is which cache the automaton fits and how many loads a step
//! waits for. There are four forms; which is taken depends on the size of the tables:
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
//! down where they were when a state reported; as the counts say how many records each lane makes, the records of
//! hits are written where they belong, in order, by one masked store each and without sorting.
//!
//! # When
//! Measured with `fyke bench --quick` on one core of a Sapphire Rapids machine whose other core was busy, in nanoseconds
//! a byte; matches are counted, or written and read (`touch`):
//!
//! | cell | form | this engine | `ac-dfa` | best rival |
//! |---|---|---:|---:|---:|
//! | `words/20` | dense | 0.27 | 0.54 | 0.25 Hyperscan |
//! | `words/1000` | dense | 0.39 | 0.74 | 0.59 Hyperscan |
//! | `words/10000` | compact2 | 0.67 | 1.25 | 1.47 Hyperscan |
//! | `words/99175` | compact3 | 1.07 | 2.93 | 4.26 Hyperscan |
//! | `rules/et-1000` | compact2 | 0.56 | 0.81 | 0.57 Hyperscan |
//! | `rules/et-min4` | compact2 | 0.98 | 3.05 | 3.37 Hyperscan |
//! | `golden/snort-2.2.0-2004.all-zeek` | compact2 | 0.63 | 4.87 | 5.49 daachorse |
//! | `dna/1000` | dense | 0.58 | 0.94 | 8.31 Hyperscan |
//! | `density/100-touch` | compact2 | 1.85 | 4.15 | 5.59 daachorse |
//!
//! Hostile haystacks, made of the patterns themselves, counted and then written and read, in ranges of 8 MiB: 15,077 rule
//! strings 1.4 and 3.6 where `ac-dfa` takes 26; 99,175 words 2.2 and 4.4 where that takes 17.
//!
//! Loses: haystacks of less than 1,500 bytes, one a call (256 bytes take 2.4 times as long as with `ac-dfa`); any
//! set without AVX2, where the plain form takes up to four times as long as `ac-dfa`.
//! Refuses: sets of about eight million transitions, which the entries cannot name.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod build;
mod confirm;
mod edges;
mod forecast;
mod lanes;
mod place;
mod reports;
mod scan;
mod shape;
mod table;

use crate::forecast::Forecast;
use crate::simd::Isa;
use confirm::Confirm;
use fyke_core::{
    Block, Device, Engine, Family, Footprint, Growth, Info, Matcher, Options, Owner, PatternSet,
    Refusal, Scratch, Sink,
};
use std::ops::ControlFlow;
use std::sync::Arc;
use table::Table;

/// The entry of the registry.
pub static ENGINE: AutomatonLanes = AutomatonLanes;

static INFO: Info = Info {
    name: "automaton-lanes",
    device: Device::Cpu,
    family: Family::Product,
    growth: Growth::Flat,
    about: "a compact Aho-Corasick automaton walked by 64 gather lanes: large sets, dense matches, hostile haystacks and sets",
    source: "Aho and Corasick 1975; Aoe 1989, double array; defaults by context and lanes are our own",
    variants: &["", "form=compact2", "form=compact3", "form=linked", "isa=avx2", "isa=scalar"],
};

/// The engine.
#[derive(Debug)]
pub struct AutomatonLanes;

/// Instruction sets that there are lanes for.
const ISAS: [Isa; 3] = Isa::ALL;

/// What a set is expected to cost.
///
/// # Errors
/// The tables would be larger than the memory limit.
pub fn forecast(set: &PatternSet, opt: &Options) -> Result<Forecast, Refusal> {
    forecast::forecast(set, opt)
}

impl Engine for AutomatonLanes {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        opt.check_params(&["isa", "form"])?;
        let isa = Isa::choose(opt, &ISAS)?;
        Ok(Arc::new(Compiled {
            owner: Owner::new(),
            table: build::compile(set, isa, opt)?,
            confirm: Confirm::new(set),
            set: set.clone(),
            isa,
        }))
    }
}

/// A compiled set.
struct Compiled {
    owner: Owner,
    set: PatternSet,
    table: Table,
    confirm: Confirm,
    isa: Isa,
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

    fn census(&self) -> Vec<(String, u64)> {
        let t = &self.table;
        [
            ("states", t.states),
            ("stored transitions", t.stored),
            ("entries", t.lists as usize),
            ("words of report lists", t.reports.words.len()),
            ("bytes of a context", t.order as usize),
        ]
        .map(|(name, n)| (name.to_owned(), n as u64))
        .to_vec()
    }

    fn describe(&self) -> String {
        let t = &self.table;
        format!(
            "{} of {} states, {} stored transitions, contexts of {} bytes, {} bytes, {}",
            t.form.name(),
            t.states,
            t.stored,
            t.order,
            self.footprint().host,
            self.isa.name()
        )
    }
}
