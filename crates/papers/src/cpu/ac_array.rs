//! Aho-Corasick with failure links, where a node is an array of pointers: one load per transition.
//!
//! A node has 256 success pointers and a failure pointer of four bytes each, so a state takes
//! 1,028 bytes. The pointer to the rule list stands apart. Zha calls this the natural way to store
//! the automaton, and measures the compressed forms against it.
//!
//! Source: Zha 2010, section 2.2.

use crate::build::RowOrder;
use crate::build::lists::{self, RuleLists};
use crate::cost::{CostCounter, Downcast, downcast};
use fyke_automata::Trie;
use fyke_automata::trie::ROOT;
use fyke_automata::walk::{Automaton, Step, Walker};
use fyke_core::{
    Device, Engine, Family, Footprint, Growth, Info, Matcher, Options, PatternSet, Refusal,
};
use std::sync::Arc;

/// The entry of the registry.
pub static ENGINE: AcArray = AcArray;

static INFO: Info = Info {
    name: "ac-array",
    device: Device::Cpu,
    family: Family::Paper,
    growth: Growth::Flat,
    about: "Aho-Corasick with failure links and 256 success pointers in every node",
    source: "Zha 2010, 2.2",
    variants: &[""],
};

/// Counts the steps of its matchers.
pub(crate) const COUNTED: Downcast = downcast::<Walker<ArrayAutomaton>>;

/// The engine.
#[derive(Debug)]
pub struct AcArray;

impl Engine for AcArray {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        opt.check_params(&[])?;
        opt.check_memory(memory_for(set))?;
        let (need, have) = (Trie::count_states(set), MOST_STATES);
        if need > have {
            return Err(Refusal::TooBig { what: "states", need, have });
        }
        Ok(Walker::matcher(set, ArrayAutomaton::new(&Trie::new(set)?)?))
    }
}

/// The index of the failure pointer, behind 256 success pointers.
const FAILURE: usize = 256;

/// Pointers of a node.
const WORDS: usize = FAILURE + 1;

/// Bytes of a node.
const NODE_BYTES: u64 = 4 * WORDS as u64;

/// A state is the index of its node's first pointer, in 32 bits.
const MOST_STATES: u64 = (1 << 32) / WORDS as u64;

/// The null pointer. No success transition leads to the root, whose node is the first.
const NULL: u32 = 0;

/// Bytes of memory the automaton takes while it is built.
fn memory_for(set: &PatternSet) -> u64 {
    let states = Trie::count_states(set);
    let list_heads = 2 * 4;
    states * (NODE_BYTES + RowOrder::BYTES_PER_STATE + list_heads)
        + Trie::memory_for(states, set)
        + RuleLists::memory_for(set.len())
}

/// The automaton. A state is the index of its node's first pointer.
struct ArrayAutomaton {
    words: Vec<u32>,
    /// States from here on report.
    first_reporting: u64,
    /// The rule list of each reporting state.
    heads: Vec<u32>,
    lists: Vec<u8>,
    stats: Vec<(String, u64)>,
}

impl ArrayAutomaton {
    fn new(trie: &Trie) -> Result<ArrayAutomaton, Refusal> {
        let lists = RuleLists::new(trie)?;
        let order = RowOrder::new(trie);
        let mut stats = trie.stats();
        stats.push(("node bytes".to_owned(), NODE_BYTES * trie.len() as u64));
        Ok(ArrayAutomaton {
            words: words(trie, &order),
            first_reporting: u64::from(order.first_reporting) * WORDS as u64,
            heads: order.of_reporting(&lists.heads),
            lists: lists.bytes,
            stats,
        })
    }
}

fn words(trie: &Trie, order: &RowOrder) -> Vec<u32> {
    let mut words = vec![NULL; WORDS * trie.len()];
    let node = |state: u32| WORDS * order.row[state as usize] as usize;
    for state in 0..trie.len() as u32 {
        words[node(state) + FAILURE] = node(trie.fail(state)) as u32;
        for child in trie.children(state) {
            for byte in trie.fold().spellings(trie.label(child)) {
                words[node(state) + usize::from(byte)] = node(child) as u32;
            }
        }
    }
    words
}

impl Automaton for ArrayAutomaton {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn root(&self) -> u64 {
        u64::from(ROOT)
    }

    #[inline(always)]
    fn is_output(&self, state: u64) -> bool {
        state >= self.first_reporting
    }

    fn outputs(&self, state: u64, each: impl FnMut(u32)) {
        let row = (state - self.first_reporting) as usize / WORDS;
        lists::each_of(&self.lists, self.heads[row], each);
    }

    fn footprint(&self) -> Footprint {
        let words = self.words.len() + self.heads.len();
        Footprint { host: (4 * words + self.lists.len()) as u64, device: 0 }
    }

    fn stats(&self) -> Vec<(String, u64)> {
        self.stats.clone()
    }

    fn describe(&self) -> String {
        let states = self.words.len() / WORDS;
        format!("{states} states of {NODE_BYTES} bytes, {} bytes", self.footprint().host)
    }
}

impl<C: CostCounter> Step<C> for ArrayAutomaton {
    #[inline(always)]
    fn step(&self, state: u64, byte: u8, counter: &mut C) -> u64 {
        let mut state = state as usize;
        loop {
            counter.transitions(1);
            match self.words[state + usize::from(byte)] {
                NULL if state == 0 => return 0,
                NULL => state = self.words[state + FAILURE] as usize,
                next => return u64::from(next),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::CostOf;
    use fyke_core::Block;
    use fyke_cpu::engine::ac_nfa;

    /// `ac-nfa` is the same automaton in another form: both make the same transitions.
    #[test]
    fn transitions_are_those_of_ac_nfa() {
        let set = PatternSet::new(["he", "she", "his", "hers", "aaab"]).unwrap();
        let cost = |engine: &dyn Engine| {
            let m = engine.compile(&set, &Options::default()).unwrap();
            m.cost(Block::whole(&b"ushers and his sheep, aaaaaac".repeat(9))).unwrap()
        };
        assert_eq!(cost(&ENGINE), cost(&ac_nfa::ENGINE));
    }

    #[test]
    fn a_node_has_1028_bytes_and_the_limit_counts_them() {
        let set = PatternSet::new(["abcdefgh"]).unwrap();
        let need = memory_for(&set);
        let compile = |limit| ENGINE.compile(&set, &Options::default().limited_to(limit));
        assert!(matches!(compile(need - 1), Err(Refusal::TooBig { need: n, .. }) if n == need));
        let m = compile(need).unwrap();
        assert!(m.footprint().host <= need);
        assert!(m.stats().contains(&("node bytes".to_owned(), 9 * 1028)));
    }

    /// The worst haystack leaves the deepest state as soon as it is reached.
    #[test]
    fn at_most_two_transitions_a_byte() {
        let deep = format!("{}b", "a".repeat(20));
        let set = PatternSet::new([deep.as_str(), "ab", "ca"]).unwrap();
        let m = ac_nfa::ENGINE.compile(&set, &Options::default()).unwrap();
        for haystack in ["a".repeat(1000), format!("{}c", "a".repeat(20)).repeat(50)] {
            let cost = m.cost(Block::whole(haystack.as_bytes())).unwrap();
            let bytes = haystack.len() as u64;
            assert!((bytes..=2 * bytes).contains(&cost.transitions), "{cost:?} for {bytes} bytes");
        }
    }
}
