//! The engines that `auto` chooses from, and what they expect a set to cost.

use fyke_core::{Options, PatternSet, Refusal};
use fyke_cpu::Forecast;
use fyke_cpu::engine::{ac_dfa, ac_nfa};

/// An engine that may be chosen.
pub(super) struct Candidate {
    pub(super) name: &'static str,
    /// Whether a haystack can deceive it, so that it wants an automaton behind it.
    pub(super) is_filter: bool,
    /// Whether it takes the option `isa`.
    pub(super) has_forms: bool,
    pub(super) forecast: fn(&PatternSet, &Options) -> Result<Forecast, Refusal>,
}

/// Every engine that may be chosen.
pub(super) static CANDIDATES: &[Candidate] = &[
    Candidate { name: "ac-dfa", is_filter: false, has_forms: false, forecast: ac_dfa::forecast },
    Candidate { name: "ac-nfa", is_filter: false, has_forms: false, forecast: ac_nfa::forecast },
];
