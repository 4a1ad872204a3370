//! The engines that `auto` chooses from, with what the planner knows about each.
//!
//! A *candidate* here is an engine. In a filter it is a position that has to be confirmed.

use super::costs::{FILTER_CANDIDATE, SAMPLING_CANDIDATE, TEDDY_CANDIDATE};
use super::subset::Lengths;
use fyke_core::{Draft, Engine, Forecast, Options, PatternSet, Refusal};
use fyke_cpu::engine::{ac_dfa, ac_nfa, ac_simd, qgram_filter, qgram_sampling, teddy};
use fyke_cpu::simd::Isa;

/// An engine that may be chosen.
pub(super) struct Candidate {
    pub(super) engine: &'static dyn Engine,
    /// Whether it takes the option `isa`: it has one implementation per instruction set.
    pub(super) has_forms: bool,
    /// Nanoseconds to confirm or reject a position that passed the filter: the mean over the cells
    /// of `hostile` for which the planner takes this engine. 0 for an automaton, which has no such
    /// positions.
    pub(super) candidate_ns: f32,
    /// Whether it scans a small block as fast as a transition table, if no pattern is very short.
    pub(super) starts_fast: bool,
    /// The maximum number of patterns that it is asked about unless an option names it.
    most_patterns: fn(Isa) -> usize,
    /// The maximum number of bytes that it may take unless an option names it.
    most_memory: u64,
    /// The best case in nanoseconds per byte, by the lengths of the patterns. The engine is not
    /// asked if another one is known to be as fast.
    at_best: fn(&Lengths) -> f32,
}

/// A draft and its cost on this machine.
#[derive(Clone, Debug)]
pub(super) struct Priced {
    /// The engine's name.
    pub(super) engine: &'static str,
    pub(super) draft: Draft,
    pub(super) cost: Forecast,
    /// Nanoseconds per byte in calls of the expected size.
    pub(super) ns: f32,
    /// Bytes of an expected call.
    pub(super) call: Option<u64>,
}

/// The maximum number of patterns that `teddy` is asked about: with more, too many positions pass
/// its pair tables (`replay`). The bound without vectors is a guess.
fn teddy_up_to(isa: Isa) -> usize {
    if isa == Isa::Scalar { 700 } else { 2000 }
}

/// The maximum number of bytes of a transition table unless an option names `ac-dfa`. It limits
/// memory, not speed: the table is faster than failure links at any size (`pattern-count`).
const TABLE_UP_TO: u64 = 1 << 30;

/// Every engine that may be chosen. Automata come first: they forecast in microseconds, and their
/// costs rule out slower filters.
pub(super) static CANDIDATES: &[Candidate] = &[
    Candidate { most_memory: TABLE_UP_TO, ..automaton(&ac_dfa::ENGINE) },
    automaton(&ac_nfa::ENGINE),
    Candidate { has_forms: true, ..automaton(&ac_simd::ENGINE) },
    filter(&qgram_sampling::ENGINE, SAMPLING_CANDIDATE, sampling_at_best),
    filter(&qgram_filter::ENGINE, FILTER_CANDIDATE, filter_at_best),
    Candidate {
        most_patterns: teddy_up_to,
        starts_fast: true,
        ..filter(&teddy::ENGINE, TEDDY_CANDIDATE, teddy_at_best)
    },
];

/// A sample takes at least 0.4 ns. There is one per stride, which is at most `min_len - 2` bytes.
fn sampling_at_best(lengths: &Lengths) -> f32 {
    let stride = lengths.min_len.saturating_sub(2).clamp(1, 16);
    0.013 + 0.4 / stride as f32
}

/// Strides of 1, 2 and 4 need patterns of at least 3, 4 and 8 bytes.
fn filter_at_best(lengths: &Lengths) -> f32 {
    match lengths.min_len {
        0..=3 => 0.22,
        4..=7 => 0.11,
        _ => 0.06,
    }
}

/// One pattern with two rare bytes costs almost nothing. Several patterns need some byte shuffles.
fn teddy_at_best(lengths: &Lengths) -> f32 {
    if lengths.patterns == 1 { 0.0 } else { 0.035 }
}

impl Candidate {
    pub(super) fn name(&self) -> &'static str {
        self.engine.info().name
    }

    /// Whether it is a filter. A hostile haystack slows a filter down, so it needs an automaton as
    /// its fallback.
    pub(super) fn is_filter(&self) -> bool {
        self.candidate_ns > 0.0
    }

    /// Its best case in nanoseconds per byte; infinite if there are too many patterns.
    pub(super) fn at_best(&self, lengths: &Lengths, isa: Isa) -> f32 {
        let takes = lengths.patterns <= (self.most_patterns)(isa);
        if takes { (self.at_best)(lengths) } else { f32::INFINITY }
    }

    /// Whether it is asked about few patterns only.
    pub(super) fn is_for_few(&self) -> bool {
        (self.most_patterns)(Isa::Avx512) < usize::MAX
    }

    /// The same without limits: for an engine that the options name.
    pub(super) fn unlimited(&self) -> Candidate {
        Candidate { most_patterns: |_| usize::MAX, most_memory: u64::MAX, ..*self }
    }

    /// Drafts a set, with the cost on this machine.
    pub(super) fn draft(&self, set: &PatternSet, opt: &Options) -> Result<Priced, Refusal> {
        let draft = self.limited(set, opt)?;
        let cost = draft.cost().cloned().ok_or_else(|| Refusal::NoEngine(self.name().into()))?;
        let call = opt.expected_call;
        let ns = cost.ns_in_calls(call);
        Ok(Priced { engine: self.name(), draft, cost, ns, call })
    }

    fn limited(&self, set: &PatternSet, opt: &Options) -> Result<Draft, Refusal> {
        let most = (self.most_patterns)(Isa::choose(opt, &Isa::ALL).unwrap_or(Isa::Scalar));
        if set.len() > most {
            let (need, have) = (set.len() as u64, most as u64);
            return Err(Refusal::TooBig { what: "patterns", need, have });
        }
        if self.most_memory == u64::MAX {
            return self.engine.draft(set, opt);
        }
        let limit = opt.memory_limit.unwrap_or(u64::MAX).min(self.most_memory);
        self.engine.draft(set, &opt.clone().limited_to(limit))
    }
}

const fn automaton(engine: &'static dyn Engine) -> Candidate {
    Candidate {
        engine,
        has_forms: false,
        candidate_ns: 0.0,
        starts_fast: false,
        most_patterns: |_| usize::MAX,
        most_memory: u64::MAX,
        at_best: |_| 0.0,
    }
}

const fn filter(
    engine: &'static dyn Engine,
    candidate_ns: f32,
    at_best: fn(&Lengths) -> f32,
) -> Candidate {
    Candidate { has_forms: true, candidate_ns, at_best, ..automaton(engine) }
}
