//! The options of `auto`.

use super::candidates::{CANDIDATES, Candidate};
use crate::registry::NO_GPU;
use fyke_core::pattern::MAX_LEN;
use fyke_core::{Options, Refusal};
use fyke_cpu::simd::Isa;
use std::ops::RangeInclusive;

/// Values of the option `cut`. Every pattern has at least one byte, so a cut at 1 divides no set.
const CUT_RANGE: RangeInclusive<usize> = 2..=MAX_LEN;

/// Values of the option `piece`. The upper bound, 1 GiB, keeps sums of piece sizes from
/// overflowing.
const PIECE_RANGE: RangeInclusive<usize> = 1..=1 << 30;

/// What the options of `auto` say.
#[derive(Clone, Debug)]
pub(super) struct AutoOptions {
    /// The instruction set, for engines that have several implementations.
    isa: Option<String>,
    /// Use this engine for all patterns that it takes, and refuse the set if it takes none.
    pub(super) engine: Option<String>,
    /// Cut the set at this length, even if it is slower.
    pub(super) cut: Option<usize>,
    /// Bytes of a piece. Filter and fallback may take turns after each.
    pub(super) piece: Option<usize>,
    /// Whether a GPU may be taken.
    gpu: bool,
}

impl AutoOptions {
    pub(super) fn new(opt: &Options) -> Result<AutoOptions, Refusal> {
        opt.check_params(&["isa", "engine", "cut", "piece", "gpu"])?;
        opt.choice("isa", Isa::OPTIONS)?;
        let engine = opt.param("engine").map(str::to_owned);
        if let Some(name) = engine.as_ref().filter(|n| CANDIDATES.iter().all(|c| c.name() != **n)) {
            return Err(Refusal::NoEngine(name.clone()));
        }
        let isa = opt.param("isa").map(str::to_owned);
        if !cfg!(feature = "gpu") && opt.param("gpu").is_some() {
            return Err(Refusal::BadOption(format!("gpu: {NO_GPU}, or leave the option out")));
        }
        let gpu = opt.choice("gpu", &["auto", "no"])? == "auto";
        let (cut, piece) = (opt.number("cut", CUT_RANGE)?, opt.number("piece", PIECE_RANGE)?);
        Ok(AutoOptions { isa, engine, cut, piece, gpu })
    }

    /// Whether the options rule a GPU out: directly, or because one of them concerns CPU engines.
    pub(super) fn excludes_gpu(&self) -> bool {
        let of_cpu = self.isa.is_some() || self.engine.is_some();
        !self.gpu || of_cpu || self.cut.is_some() || self.piece.is_some()
    }

    /// Whether this is the engine that the options name.
    pub(super) fn names(&self, candidate: &Candidate) -> bool {
        self.engine.as_ref().is_some_and(|name| *name == candidate.name())
    }

    /// Whether this is another engine than the one that the options name.
    pub(super) fn names_another(&self, name: &str) -> bool {
        self.engine.as_ref().is_some_and(|named| named != name)
    }

    /// The options that a candidate gets.
    pub(super) fn for_candidate(
        &self,
        candidate: &Candidate,
        opt: &Options,
    ) -> Result<Options, Refusal> {
        let params = match &self.isa {
            Some(isa) if candidate.has_forms => format!("isa={isa}"),
            _ => String::new(),
        };
        opt.clone().params(&params)
    }
}
