//! The engines that `auto` chooses from, and what they expect a set to cost.

use fyke_core::{Options, PatternSet, Refusal};
use fyke_cpu::Forecast;
use fyke_cpu::engine::{ac_dfa, ac_nfa, shuffle_buckets};

/// An engine that may be chosen.
pub(super) struct Candidate {
    pub(super) name: &'static str,
    /// Whether a haystack can deceive it, so that it wants an automaton behind it.
    pub(super) is_filter: bool,
    /// Whether it takes the option `isa`.
    pub(super) has_forms: bool,
    pub(super) forecast: Ask,
}

/// Every engine that may be chosen.
pub(super) static CANDIDATES: &[Candidate] = &[
    filter("shuffle-buckets", shuffle_buckets::forecast),
    automaton("ac-dfa", ac_dfa::forecast),
    automaton("ac-nfa", ac_nfa::forecast),
];

type Ask = fn(&PatternSet, &Options) -> Result<Forecast, Refusal>;

const fn filter(name: &'static str, forecast: Ask) -> Candidate {
    Candidate { name, is_filter: true, has_forms: true, forecast }
}

const fn automaton(name: &'static str, forecast: Ask) -> Candidate {
    Candidate { name, is_filter: false, has_forms: false, forecast }
}
