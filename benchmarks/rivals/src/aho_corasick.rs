//! The `aho-corasick` crate: its three automata.
//!
//! They are used through the fastest of the documented ways to all occurrences, with
//! `MatchKind::Standard`: `try_find_overlapping`, or a loop over the [`Automaton`] trait where a
//! sample of the data has many matches. The loop is compiled for each type of automaton, without
//! the virtual calls of the crate's front type. Prefilters stay on, as by default.
//!
//! The crate has one case flag for a whole set. If only some patterns ignore case, the whole set
//! is searched without case, and case-sensitive patterns are compared again at each match, as a
//! user of the crate would do.

use std::sync::OnceLock;

use aho_corasick::automaton::{Automaton, OverlappingState};
use aho_corasick::{Anchored, BuildError, Input, MatchKind, dfa, nfa};
use fyke_core::PatternSet;

use crate::matches::{FindAll, MatchSink};
use crate::rival::{Built, Job, Memory, Refusal, Rival, Scanner};

/// One of the crate's automata.
#[derive(Debug)]
pub struct AhoCorasick {
    name: &'static str,
    about: &'static str,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Noncontiguous,
    Contiguous,
    Dfa,
}

/// The noncontiguous NFA: fastest to build, linked lists of transitions.
pub static NONCONTIGUOUS: AhoCorasick = AhoCorasick {
    name: "aho-corasick-nfa",
    about: "aho-corasick, noncontiguous NFA, Automaton trait",
    kind: Kind::Noncontiguous,
};

/// The contiguous NFA: the crate's choice for large sets.
pub static CONTIGUOUS: AhoCorasick = AhoCorasick {
    name: "aho-corasick-cnfa",
    about: "aho-corasick, contiguous NFA, Automaton trait",
    kind: Kind::Contiguous,
};

/// The DFA: the crate's fastest search.
pub static DFA: AhoCorasick = AhoCorasick {
    name: "aho-corasick-dfa",
    about: "aho-corasick, DFA with byte classes, Automaton trait",
    kind: Kind::Dfa,
};

impl Rival for AhoCorasick {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn version(&self) -> Result<String, Refusal> {
        Ok(env!("FYKE_AHO_CORASICK_VERSION").to_string())
    }

    fn build(&self, job: &Job<'_>) -> Result<Box<dyn Built>, Refusal> {
        let set = job.set;
        let nocase = set.nocase_count() > 0;
        if matches!(self.kind, Kind::Dfa) {
            check_dfa(set, job.memory_limit)?;
        }
        let nfa = noncontiguous(set, nocase).map_err(refuse)?;
        Ok(match self.kind {
            Kind::Noncontiguous => boxed(nfa, job),
            Kind::Contiguous => boxed(contiguous(&nfa, nocase).map_err(refuse)?, job),
            Kind::Dfa => boxed(dfa(&nfa, nocase).map_err(refuse)?, job),
        })
    }
}

fn refuse(error: BuildError) -> Refusal {
    Refusal(error.to_string())
}

fn boxed<A: Automaton + Send + Sync + 'static>(automaton: A, job: &Job<'_>) -> Box<dyn Built> {
    let set = job.set.clone();
    let mixed = set.nocase_count() > 0 && set.nocase_count() < set.len();
    let sample = job.sample[..job.sample.len().min(LOOK)].to_vec();
    Box::new(CompiledAutomaton { automaton, set, mixed, sample, dense: OnceLock::new() })
}

fn noncontiguous(set: &PatternSet, nocase: bool) -> Result<nfa::noncontiguous::NFA, BuildError> {
    nfa::noncontiguous::Builder::new()
        .match_kind(MatchKind::Standard)
        .ascii_case_insensitive(nocase)
        .build(set.iter().map(|p| p.bytes))
}

fn contiguous(
    nfa: &nfa::noncontiguous::NFA,
    nocase: bool,
) -> Result<nfa::contiguous::NFA, BuildError> {
    nfa::contiguous::Builder::new()
        .match_kind(MatchKind::Standard)
        .ascii_case_insensitive(nocase)
        .build_from_noncontiguous(nfa)
}

fn dfa(nfa: &nfa::noncontiguous::NFA, nocase: bool) -> Result<dfa::DFA, BuildError> {
    dfa::Builder::new()
        .match_kind(MatchKind::Standard)
        .ascii_case_insensitive(nocase)
        .build_from_noncontiguous(nfa)
}

/// Refuses a DFA over the limit before it is allocated.
fn check_dfa(set: &PatternSet, limit: u64) -> Result<(), Refusal> {
    let need = states(set) * classes(set).next_power_of_two() * size_of::<u32>() as u64;
    if need > limit {
        let (need, limit) = (need >> 20, limit >> 20);
        return Err(Refusal(format!("its table would take {need} MiB, the limit is {limit} MiB")));
    }
    Ok(())
}

/// Nodes of the trie: patterns are sorted, so each adds the bytes it does not share with the last
/// one.
fn states(set: &PatternSet) -> u64 {
    let shared = |i: u32| {
        let before = i.checked_sub(1).map_or(&[][..], |b| set.bytes(b));
        before.iter().zip(set.bytes(i)).take_while(|(a, b)| a == b).count()
    };
    1 + set.iter().map(|p| (p.bytes.len() - shared(p.index)) as u64).sum::<u64>()
}

/// Byte classes: each byte of a pattern, and one class of all others.
fn classes(set: &PatternSet) -> u64 {
    let mut used = [false; 256];
    set.iter().for_each(|p| p.bytes.iter().for_each(|&b| used[usize::from(b)] = true));
    1 + used.iter().filter(|&&u| u).count() as u64
}

/// Bytes of the sample that choose the loop.
const LOOK: usize = 16 << 10;
/// The loop over the trait is faster with more than one match in this many bytes (cells
/// `golden/scalpel2-literals-pcpp` and `golden/dict1000-kjv`).
const DENSE: usize = 100;

struct CompiledAutomaton<A> {
    automaton: A,
    set: PatternSet,
    mixed: bool,
    sample: Vec<u8>,
    /// Whether matches are frequent; determined when the first scanner is made.
    dense: OnceLock<bool>,
}

impl<A: Automaton + Send + Sync> Built for CompiledAutomaton<A> {
    fn scanner(&self) -> Result<Box<dyn Scanner + '_>, Refusal> {
        self.dense.get_or_init(|| self.is_dense());
        Ok(Box::new(self))
    }

    fn memory(&self) -> Option<Memory> {
        Some(Memory { bytes: self.automaton.memory_usage() as u64, from: "memory_usage()" })
    }
}

impl<A: Automaton> FindAll for &CompiledAutomaton<A> {
    fn find_all<S: MatchSink>(&mut self, haystack: &[u8], sink: &mut S) -> Result<(), Refusal> {
        if !self.mixed {
            return self.each(haystack, |_, end, index| sink.on(end as u64, index));
        }
        self.each(haystack, |start, end, index| {
            let pattern = self.set.get(index);
            if pattern.nocase || pattern.bytes == &haystack[start..end] {
                sink.on(end as u64, index);
            }
        })
    }
}

impl<A: Automaton> CompiledAutomaton<A> {
    fn is_dense(&self) -> bool {
        let mut matches = 0;
        let looked = self.skipping(&self.sample, |_, _, _| matches += 1);
        looked.is_ok() && matches * DENSE >= self.sample.len()
    }

    #[inline(always)]
    fn each(&self, haystack: &[u8], on: impl FnMut(usize, usize, u32)) -> Result<(), Refusal> {
        match self.dense.get() {
            Some(true) => self.stepping(haystack, on),
            _ => self.skipping(haystack, on),
        }
    }

    /// The crate's own loop, which uses its prefilter if there is one.
    #[inline(always)]
    fn skipping(
        &self,
        haystack: &[u8],
        mut on: impl FnMut(usize, usize, u32),
    ) -> Result<(), Refusal> {
        let input = Input::new(haystack);
        let mut state = OverlappingState::start();
        loop {
            let found = self.automaton.try_find_overlapping(&input, &mut state);
            found.map_err(|e| Refusal(e.to_string()))?;
            let Some(m) = state.get_match() else { return Ok(()) };
            on(m.start(), m.end(), m.pattern().as_u32());
        }
    }

    /// A loop over the trait, as its documentation shows.
    #[inline(always)]
    fn stepping(
        &self,
        haystack: &[u8],
        mut on: impl FnMut(usize, usize, u32),
    ) -> Result<(), Refusal> {
        let automaton = &self.automaton;
        let start = automaton.start_state(Anchored::No);
        let mut state = start.map_err(|e| Refusal(e.to_string()))?;
        for (at, &byte) in haystack.iter().enumerate() {
            state = automaton.next_state(Anchored::No, state, byte);
            if automaton.is_special(state) && automaton.is_match(state) {
                for i in 0..automaton.match_len(state) {
                    let pattern = automaton.match_pattern(state, i);
                    on(at + 1 - automaton.pattern_len(pattern), at + 1, pattern.as_u32());
                }
            }
        }
        Ok(())
    }
}
