//! Aho-Corasick with failure links: the unoptimized automaton.
//!
//! Use it to save memory, for sets whose transition table would not fit: the trie takes about 17
//! bytes per state, a table hundreds. It is slow: each byte takes a search among the children and
//! often several dependent loads.
//!
//! The walk follows the trie. If a state has no child for the next byte, the walk follows failure
//! links until a state has one or the root is reached. A failure link leads to the state of the
//! longest proper suffix. Each failure transition makes the state shallower and each goto
//! transition makes it one deeper, so n bytes take at most 2n transitions for any patterns.
//!
//! Source: A. V. Aho and M. J. Corasick, *Efficient string matching: an aid to bibliographic
//! search*, CACM 18(6), 1975, algorithms 1-3; Zha (2010), section 2.1.

use crate::costs::costs;
use fyke_automata::Trie;
use fyke_automata::nfa::Nfa;
use fyke_core::Forecast;
use fyke_core::{
    Device, Draft, Engine, Family, Growth, Info, Matcher, Options, PatternSet, Refusal,
};
use std::sync::Arc;

/// The registry entry.
pub static ENGINE: AcNfa = AcNfa;

static INFO: Info = Info {
    name: "ac-nfa",
    device: Device::Cpu,
    family: Family::Product,
    growth: Growth::Flat,
    about: "Aho-Corasick with failure links: least memory, at most two transitions a byte",
    source: "Aho and Corasick 1975; Zha 2010, 2.1",
    variants: &[""],
};

/// The engine.
#[derive(Debug)]
pub struct AcNfa;

/// The expected cost of a set.
///
/// # Errors
/// None; all engines share the signature.
fn forecast(set: &PatternSet, _: &Options) -> Result<Forecast, Refusal> {
    let states = Trie::count_states(set);
    let memory = Nfa::memory_for(set);
    let doublings = (memory as f32 / 2e6).max(1.0).log2();
    let costs = &costs().ac_nfa;
    Ok(Forecast {
        ns_per_byte: costs.byte + costs.doubling * doublings,
        ns_per_call: 0.0,
        candidates: 0.0,
        memory,
        build_ms: states as f32 * costs.build * 1e-6,
        why: format!("{states} states with failure links"),
    })
}

impl Engine for AcNfa {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn draft(&'static self, set: &PatternSet, opt: &Options) -> Result<Draft, Refusal> {
        let (cost, set, options) = (forecast(set, opt)?, set.clone(), opt.clone());
        Ok(Draft::new(cost, opt, move |memory_limit| {
            self.compile(&set, &options.clone().within(memory_limit))
        }))
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        opt.check_params(&[])?;
        Nfa::compile(&INFO, set, opt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_core::{Block, Collect, Scratch, oracle};

    #[test]
    fn ushers() {
        let set = PatternSet::new(["he", "she", "his", "hers"]).unwrap();
        let m = ENGINE.compile(&set, &Options::default()).unwrap();
        let mut got = Collect::default();
        assert!(m.scan(Block::whole(b"ushers"), &mut Scratch::new(), &mut got).is_continue());
        assert_eq!(got.matches, oracle::find_all(&set, b"ushers"));
    }

    #[test]
    fn the_memory_limit_is_checked_before_building() {
        let set = PatternSet::new(["abcdefgh"]).unwrap();
        let need = Nfa::memory_for(&set);
        let compile = |limit| ENGINE.compile(&set, &Options::default().limited_to(limit));
        assert!(matches!(compile(need - 1), Err(Refusal::TooBig { need: n, .. }) if n == need));
        assert!(compile(need).unwrap().footprint().host <= need);
    }
}
