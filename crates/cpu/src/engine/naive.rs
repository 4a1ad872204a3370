//! Naive search: compares patterns at every position. It is the oracle as an engine.
//!
//! Use it to check the other engines, or for haystacks of a few bytes. Its work grows with the
//! number of patterns, so it is slower everywhere else.
//!
//! At each end position it compares every pattern with that last byte, longest first. The list of
//! patterns by last byte is its only optimization over [`fyke_core::oracle`]. It makes rule sets
//! on real traffic feasible.

use fyke_automata::naive;
use fyke_core::{Device, Engine, Family, Growth, Info, Matcher, Options, PatternSet, Refusal};
use std::sync::Arc;

/// The registry entry.
pub static ENGINE: Naive = Naive;

static INFO: Info = Info {
    name: "naive",
    device: Device::Cpu,
    family: Family::Oracle,
    growth: Growth::PerPattern,
    about: "compares every pattern at every position: the definition of right",
    source: "-",
    variants: &[""],
};

/// The naive engine.
#[derive(Debug)]
pub struct Naive;

impl Engine for Naive {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        opt.check_params(&[])?;
        naive::compile(&INFO, set, opt)
    }
}
