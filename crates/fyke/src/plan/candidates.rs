//! The engines that `auto` chooses from.

use super::subset::Lengths;
use fyke_core::{Draft, Engine, Forecast, Options, PatternSet, Refusal};
use fyke_cpu::engine::{ac_dfa, ac_nfa, ac_simd, qgram_filter, qgram_sampling, teddy};
use fyke_cpu::simd::{Isa, gather};

/// An engine that may be chosen.
pub(super) struct Candidate {
    pub(super) engine: &'static dyn Engine,
    /// Whether it takes the option `isa`.
    pub(super) has_forms: bool,
    /// Nanoseconds to look up a candidate that is no match; 0 for an automaton, which has no
    /// candidates. Measured roughly by the `hostile` benchmark definition.
    pub(super) candidate_ns: f32,
    /// The least instruction set whose form gathers.
    gathers_from: Option<Isa>,
    /// Most patterns that it is asked about.
    pub(super) most_patterns: usize,
    /// Most bytes of memory that it takes unless its name is given.
    most_memory: u64,
    /// Nanoseconds per byte that no set takes less than, by its lengths: asking is skipped where
    /// another engine is known to be as fast.
    at_best: fn(&Lengths) -> f32,
}

/// A draft, and the nanoseconds per byte that it is expected to take on this machine.
#[derive(Clone, Debug)]
pub(super) struct Priced {
    pub(super) draft: Draft,
    pub(super) cost: Forecast,
}

/// Most patterns that Teddy is asked about. With AVX-512, in documents and traffic, it takes 0.75 to
/// 0.85 times as long as `qgram-filter` for 300 words or rules, 1.1 times for 512 (`words`, `rules`).
const TEDDY_UP_TO: usize = 400;

/// Most bytes of a transition table that is taken unasked. It bounds memory, not speed: in
/// `pattern-count` the table is 20 times as fast as failure links at 10,000 patterns, 6.5 times at
/// 100,000 (101 MB), for 6.4 times their memory.
const TABLE_UP_TO: u64 = 1 << 30;

/// Every engine that may be chosen. Automata come first: they forecast in microseconds, take every
/// set, and their costs tell which filters are worth asking.
pub(super) static CANDIDATES: &[Candidate] = &[
    Candidate { most_memory: TABLE_UP_TO, ..automaton(&ac_dfa::ENGINE) },
    automaton(&ac_nfa::ENGINE),
    Candidate { has_forms: true, ..automaton(&ac_simd::ENGINE) }.gathering_from(Isa::Avx2),
    filter(&qgram_sampling::ENGINE, 20.0, sampling_at_best).gathering_from(Isa::Avx512),
    filter(&qgram_filter::ENGINE, 5.0, filter_at_best).gathering_from(Isa::Avx2),
    Candidate { most_patterns: TEDDY_UP_TO, ..filter(&teddy::ENGINE, 5.0, teddy_at_best) },
];

/// A sample takes at least 0.4 ns, and one is taken at every `min_len - 2` bytes at most.
fn sampling_at_best(lengths: &Lengths) -> f32 {
    let stride = lengths.min_len.saturating_sub(2).clamp(1, 16);
    0.013 + 0.4 / stride as f32
}

/// Strides of 1, 2 and 4 take patterns of at least 3, 4 and 8 bytes.
fn filter_at_best(lengths: &Lengths) -> f32 {
    match lengths.min_len {
        0..=3 => 0.22,
        4..=7 => 0.11,
        _ => 0.06,
    }
}

/// A single pattern may be found by two rare bytes; several take at least what memory takes.
fn teddy_at_best(lengths: &Lengths) -> f32 {
    if lengths.patterns == 1 { 0.0 } else { 0.08 }
}

impl Candidate {
    pub(super) fn name(&self) -> &'static str {
        self.engine.info().name
    }

    /// Whether a haystack can deceive it, so that it needs an automaton as its fallback.
    pub(super) fn is_filter(&self) -> bool {
        self.candidate_ns > 0.0
    }

    /// The least that it takes, in nanoseconds per byte.
    pub(super) fn at_best(&self, lengths: &Lengths) -> f32 {
        if lengths.patterns > self.most_patterns { f32::INFINITY } else { (self.at_best)(lengths) }
    }

    /// Drafts a set, with the cost on this machine. For a filter the speed of gathers counts only if
    /// it would beat `best` with fast ones.
    pub(super) fn draft(
        &self,
        set: &PatternSet,
        opt: &Options,
        best: f32,
    ) -> Result<Priced, Refusal> {
        let draft = self.limited(set, opt)?;
        let mut cost =
            draft.cost().cloned().ok_or_else(|| Refusal::NoEngine(self.name().into()))?;
        if !self.is_filter() || cost.ns_per_byte < best {
            self.slow_gathers(&mut cost, opt)?;
        }
        Ok(Priced { draft, cost })
    }

    fn limited(&self, set: &PatternSet, opt: &Options) -> Result<Draft, Refusal> {
        if set.len() > self.most_patterns {
            let (need, have) = (set.len() as u64, self.most_patterns as u64);
            return Err(Refusal::TooBig { what: "patterns", need, have });
        }
        if self.most_memory == u64::MAX {
            return self.engine.draft(set, opt);
        }
        let limit = opt.memory_limit.unwrap_or(u64::MAX).min(self.most_memory);
        self.engine.draft(set, &opt.clone().limited_to(limit))
    }

    /// Multiplies the cost by how much slower this machine's gathers are than usual.
    fn slow_gathers(&self, cost: &mut Forecast, opt: &Options) -> Result<(), Refusal> {
        let Some(least) = self.gathers_from else { return Ok(()) };
        let isa = Isa::choose(opt, &Isa::ALL)?;
        let slower = if isa >= least { gather::slowness(isa) } else { 1.0 };
        if slower > 1.0 {
            cost.ns_per_byte *= slower;
            cost.why += &format!("; gathers take {slower:.0} times as long as usual");
        }
        Ok(())
    }

    const fn gathering_from(self, least: Isa) -> Candidate {
        Candidate { gathers_from: Some(least), ..self }
    }
}

const fn automaton(engine: &'static dyn Engine) -> Candidate {
    Candidate {
        engine,
        has_forms: false,
        candidate_ns: 0.0,
        gathers_from: None,
        most_patterns: usize::MAX,
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
