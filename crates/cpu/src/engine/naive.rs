//! Compare at every position: the oracle as an engine.
//!
//! At each end position every pattern whose last byte fits is compared, longest first. The one liberty
//! taken over [`fyke_core::oracle`] is that list by last byte; without it a rule set over real traffic
//! would take an hour. Wins: never, but for haystacks of a few bytes. Loses: everywhere else, its work
//! grows with the number of patterns. It is here so that every other engine has something to equal.

use fyke_automata::naive;
use fyke_core::{Device, Engine, Family, Growth, Info, Matcher, Options, PatternSet, Refusal};
use std::sync::Arc;

/// The entry of the registry.
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
