//! Aho-Corasick on a compact automaton, walked by many lanes of gathers over one haystack.
//!
//! # The automaton
//! Exactly one step a byte and four bytes a transition. The state after most bytes is that of a short suffix
//! of the text, so it is looked up by the classes of the last two bytes (more, where the alphabet is
//! small): the *default by context*, whose load does not wait for the state. A state stores only what the
//! context cannot tell: its children, and where its failure state goes deeper than a context, its
//! *exceptions*. Stored transitions stand in a double array: entry `base ^ class` is this state's if its
//! label is the class. So
//!
//! ```text
//! e = entries[base ^ class]    state = e if label(e) = class
//! d = defaults[context]                d otherwise
//! ```
//!
//! # The walks
//! A walk is a chain of dependent loads. A window of the haystack is cut into 64 neighbouring segments, a
//! lane each, and 16 lanes are one vector: two gathers a step. The lanes begin in the root with the context of
//! the text before them; the seams are put right afterwards from the true state, as in `ac-dfa`. Without
//! AVX-512 eight plain walks take turns.
//!
//! Lanes write down where they were when a state reports, which is then put in order lane by lane.
//!
//! Wins: large sets where matches are rare, above all on hostile haystacks: 12,000 rule strings over
//! themselves take a third of the time of `ac-dfa`, and a 17th of its memory. Loses: dense matches, because lists
//! of reports are followed a pattern at a time, up to three times as slow as `ac-dfa`; short haystacks; any
//! set without AVX-512, where the plain form is mostly slower than `ac-dfa`.
//! Refuses: sets whose exceptions outgrow the automaton.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod build;
mod edges;
mod lanes;
mod place;
mod reports;
mod scan;
mod shape;
mod table;

use crate::build::Trie;
use crate::simd::Isa;
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
    about: "a compact Aho-Corasick automaton walked by 64 gather lanes: large sets, rare matches, hostile haystacks",
    source: "Aho and Corasick 1975; Aoe 1989, double array; defaults by context and lanes are our own",
    variants: &["", "form=compact2", "form=compact3", "form=linked", "isa=scalar"],
};

/// The engine.
#[derive(Debug)]
pub struct AutomatonLanes;

impl AutomatonLanes {
    /// Bytes of memory that compiling a set takes at most before its exceptions are counted; the tables,
    /// which depend on them, are checked against the limit once they are.
    pub fn memory_for(set: &PatternSet) -> u64 {
        build::memory(Trie::count_states(set), set)
    }
}

impl Engine for AutomatonLanes {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        opt.check_params(&["isa", "form"])?;
        let isa = Isa::choose(opt, &[Isa::Avx512, Isa::Scalar])?;
        Ok(Arc::new(Compiled {
            owner: Owner::new(),
            table: build::compile(set, opt)?,
            confirm: Trie::must_confirm(set),
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
    confirm: Vec<bool>,
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
        Footprint { host: self.table.memory() + self.confirm.len() as u64, device: 0 }
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
