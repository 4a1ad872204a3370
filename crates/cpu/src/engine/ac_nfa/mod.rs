//! Aho-Corasick with failure links: the unoptimised automaton.
//!
//! The trie itself is walked. Where a state has no child for the byte at hand, its failure link leads to
//! the longest suffix that is a state, until one has a child or the root is reached. Every failure
//! transition makes the state shallower and every goto transition deeper by one, so n bytes take at
//! most 2n transitions, whatever the patterns are.
//!
//! Wins: memory. The trie takes some 17 bytes a state where a table takes hundreds, so it is the form for
//! sets whose table would not fit. Loses: speed. A byte costs a search among the children and often
//! several dependent loads.
//!
//! `nodes=array` is the form the literature measures against: 256 success pointers and a failure pointer,
//! 1,028 bytes a state, so that a transition is one load. See the module `array`.
//!
//! A. V. Aho and M. J. Corasick, *Efficient string matching: an aid to bibliographic search*, CACM 18(6),
//! 1975, algorithms 1-3; Zha (2010), section 2.1.

mod array;

use crate::build::{Trie, trie};
use crate::count::Counter;
use crate::forecast::Forecast;
use crate::walk::{Automaton, Walker};
use fyke_core::{
    Device, Engine, Family, Footprint, Growth, Info, Matcher, Options, PatternSet, Refusal,
};
use std::sync::Arc;

/// The entry of the registry.
pub static ENGINE: AcNfa = AcNfa;

static INFO: Info = Info {
    name: "ac-nfa",
    device: Device::Cpu,
    family: Family::Product,
    growth: Growth::Flat,
    about: "Aho-Corasick with failure links: least memory, at most two transitions a byte",
    source: "Aho and Corasick 1975; Zha 2010, 2.1",
    variants: &["", "nodes=array"],
};

/// The engine.
#[derive(Debug)]
pub struct AcNfa;

impl AcNfa {
    /// Bytes of memory the automaton of a set takes, without building it.
    pub fn memory_for(set: &PatternSet) -> u64 {
        Trie::memory_for(Trie::count_states(set), set) + ROOT_TABLE_BYTES
    }
}

/// Nanoseconds a byte with links of a few megabytes, and what each doubling beyond adds: 20 times `ac-dfa` in the
/// `pattern-count` benchmark definition at 10,000 patterns, 6.5 times at 100,000.
const NS: (f32, f32) = (20.0, 4.0);

/// What a set is expected to cost.
///
/// # Errors
/// None; the signature is that of all engines.
pub fn forecast(set: &PatternSet, _: &Options) -> Result<Forecast, Refusal> {
    let states = Trie::count_states(set);
    let memory = AcNfa::memory_for(set);
    let doublings = (memory as f32 / 2e6).max(1.0).log2();
    Ok(Forecast {
        ns_per_byte: NS.0 + NS.1 * doublings,
        memory,
        build_ms: states as f32 * 1e-4,
        why: format!("{states} states with failure links"),
    })
}

const ROOT_TABLE_BYTES: u64 = 4 * 256;

impl Engine for AcNfa {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        opt.check_params(&["nodes"])?;
        match opt.choice("nodes", &["list", "array"])? {
            "array" => array::compile(set, opt),
            _ => Self::compile_list(set, opt),
        }
    }
}

impl AcNfa {
    fn compile_list(set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        opt.check_memory(Self::memory_for(set))?;
        let trie = Trie::new(set)?;
        let mut root = [trie::ROOT; 256];
        for byte in 0..=255 {
            root[usize::from(byte)] = trie.next(trie::ROOT, trie.fold().byte(byte));
        }
        Ok(Walker::matcher(set, Linked { trie, root }))
    }
}

/// The trie and its links.
struct Linked {
    trie: Trie,
    /// The goto function of the root, where most bytes of most haystacks are read.
    root: [u32; 256],
}

impl Automaton for Linked {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn root(&self) -> u64 {
        u64::from(trie::ROOT)
    }

    #[inline(always)]
    fn step<C: Counter>(&self, state: u64, byte: u8, counter: &mut C) -> u64 {
        let folded = self.trie.fold().byte(byte);
        let mut state = state as u32;
        while state != trie::ROOT {
            counter.transitions(1);
            if let Some(child) = self.trie.child(state, folded) {
                return u64::from(child);
            }
            state = self.trie.fail(state);
        }
        counter.transitions(1);
        u64::from(self.root[usize::from(byte)])
    }

    #[inline(always)]
    fn is_output(&self, state: u64) -> bool {
        self.trie.is_output(state as u32)
    }

    fn outputs(&self, state: u64, mut each: impl FnMut(u32)) {
        let mut state = state as u32;
        while state != trie::ROOT {
            self.trie.own(state).iter().for_each(|&pattern| each(pattern));
            state = self.trie.output_link(state);
        }
    }

    fn footprint(&self) -> Footprint {
        Footprint { host: self.trie.memory() + ROOT_TABLE_BYTES, device: 0 }
    }

    fn census(&self) -> Vec<(String, u64)> {
        self.trie.census()
    }

    fn describe(&self) -> String {
        format!("{} states with failure links, {} bytes", self.trie.len(), self.footprint().host)
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
        let need = AcNfa::memory_for(&set);
        let compile = |limit| ENGINE.compile(&set, &Options::default().limited_to(limit));
        assert!(matches!(compile(need - 1), Err(Refusal::TooBig { need: n, .. }) if n == need));
        assert!(compile(need).unwrap().footprint().host <= need);
    }

    /// The worst haystack leaves the deepest state at every byte but as many as it takes to get there.
    #[test]
    fn at_most_two_transitions_a_byte() {
        let deep = format!("{}b", "a".repeat(20));
        let set = PatternSet::new([deep.as_str(), "ab", "ca"]).unwrap();
        let m = ENGINE.compile(&set, &Options::default()).unwrap();
        for haystack in ["a".repeat(1000), format!("{}c", "a".repeat(20)).repeat(50)] {
            let cost = m.cost(Block::whole(haystack.as_bytes())).unwrap();
            let bytes = haystack.len() as u64;
            assert!((bytes..=2 * bytes).contains(&cost.transitions), "{cost:?} for {bytes} bytes");
        }
    }
}
