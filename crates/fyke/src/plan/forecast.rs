//! The engines that `auto` chooses from, and what they expect a set to cost.

use fyke_automata::Forecast;
use fyke_core::{Options, PatternSet, Refusal};
use fyke_cpu::engine::{ac_dfa, ac_nfa, ac_simd, qgram_filter, qgram_sampling, teddy};
use fyke_cpu::simd::{Isa, gather};

/// An engine that may be chosen.
pub(super) struct Candidate {
    pub(super) name: &'static str,
    /// Whether it takes the option `isa`.
    pub(super) has_forms: bool,
    /// Nanoseconds for a candidate that is looked up, compared and found to be no match; 0 for an automaton, which
    /// no haystack deceives. Roughly, of the `hostile` benchmark definition.
    pub(super) candidate_ns: f32,
    /// The least form that is as slow as the machine's gathers.
    gathers: Option<Isa>,
    forecast: Ask,
}

impl Candidate {
    /// Whether a haystack can deceive it, so that it wants an automaton behind it.
    pub(super) fn is_filter(&self) -> bool {
        self.candidate_ns > 0.0
    }

    /// What it expects of a set on this machine.
    pub(super) fn forecast(&self, set: &PatternSet, opt: &Options) -> Result<Forecast, Refusal> {
        let mut forecast = (self.forecast)(set, opt)?;
        let isa = Isa::choose(opt, &Isa::ALL)?;
        let slower = match self.gathers {
            Some(least) if isa >= least => gather::slowness(isa),
            _ => 1.0,
        };
        if slower > 1.0 {
            forecast.ns_per_byte *= slower;
            forecast.why += &format!("; gathers take {slower:.0} times what is usual");
        }
        Ok(forecast)
    }

    const fn with_gathers(self, least: Isa) -> Candidate {
        Candidate { gathers: Some(least), ..self }
    }
}

type Ask = fn(&PatternSet, &Options) -> Result<Forecast, Refusal>;

/// Every engine that may be chosen.
pub(super) static CANDIDATES: &[Candidate] = &[
    filter("teddy", 5.0, few),
    filter("qgram-sampling", 20.0, qgram_sampling::forecast).with_gathers(Isa::Avx512),
    filter("qgram-filter", 5.0, qgram_filter::forecast).with_gathers(Isa::Avx2),
    Candidate { has_forms: true, ..automaton("ac-simd", ac_simd::forecast) }
        .with_gathers(Isa::Avx2),
    automaton("ac-dfa", table),
    automaton("ac-nfa", ac_nfa::forecast),
];

/// Up to this many patterns shuffles are asked. With AVX-512, in documents and traffic, they take 0.75 to 0.85 times as
/// long as gathers for 300 words or rules, for 400 words 0.9 to 1.0 times, for 512 words 1.1 times; and to divide more
/// among buckets takes 10 ms.
const FEW: usize = 400;

fn few(set: &PatternSet, opt: &Options) -> Result<Forecast, Refusal> {
    if set.len() > FEW {
        let (need, have) = (set.len() as u64, FEW as u64);
        return Err(Refusal::TooBig { what: "patterns", need, have });
    }
    teddy::forecast(set, opt)
}

/// Largest transition table that is taken without being asked for, in bytes. A bound on memory and not on
/// speed: in the `pattern-count` benchmark definition the table is 20 times as fast as failure links at
/// 10,000 patterns and 6.5 times at 100,000 (101 MB), for 6.4 times their memory.
const TABLE_UP_TO: u64 = 1 << 30;

fn table(set: &PatternSet, opt: &Options) -> Result<Forecast, Refusal> {
    let limit = opt.memory_limit.unwrap_or(u64::MAX).min(TABLE_UP_TO);
    ac_dfa::forecast(set, &opt.clone().limited_to(limit))
}

const fn filter(name: &'static str, candidate_ns: f32, forecast: Ask) -> Candidate {
    Candidate { name, has_forms: true, candidate_ns, gathers: None, forecast }
}

const fn automaton(name: &'static str, forecast: Ask) -> Candidate {
    Candidate { name, has_forms: false, candidate_ns: 0.0, gathers: None, forecast }
}
