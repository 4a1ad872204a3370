//! The compressed automaton of Tuck et al.: bitmaps and compressed paths in nodes of 52 bytes.
//!
//! A state with branches below it is a *bitmap node*: one bit per byte says whether there is a
//! child. The children of a node are neighbors in memory, so a child is found at the place of the
//! first child plus the *rank* of the byte, which is the number of bits set before it. Seven
//! *summaries* give the rank at every 32nd bit; up to 31 bits are added from there. States without
//! branches below them, which is most states, form *end-node sequences*. Five states of a sequence
//! share a *path node*. Both kinds take 52 bytes, because both may be children of the same node.
//! See [`node`] for the layouts.
//!
//! A failure pointer leads to a node and to a place in it: a 4-byte pointer and 3 bits. The state
//! of a walk has the same form. A byte takes at most two transitions on average, as in `ac-nfa`.
//!
//! Wins: bounded work without a table, and the child of any state in one step, without a search.
//! Loses: `ac-nfa` takes about as much memory, the `ac-bitmap` engines take less than both, and a
//! rank takes up to 31 additions on a CPU without a population count.
//!
//! # What the paper leaves open
//! The paper gives the sizes and fields of nodes but not their order; the order here is that of
//! [`node`]. A pointer is the offset of a node, so the nodes must end before 2^32; larger sets are
//! refused. The paper does not count rule lists; here they stand after the nodes, in the same
//! arena.
//!
//! Source: N. Tuck, T. Sherwood, B. Calder, G. Varghese, *Deterministic memory-efficient string
//! matching algorithms for intrusion detection*, INFOCOM 2004; Zha (2010), section 2.2, figures
//! 2-4 and 2-5.

mod build;
pub mod node;

use crate::build::{Arena, lists};
use crate::cost::{CostCounter, Downcast, downcast};
use fyke_automata::walk::{Automaton, Step, Walker};
use fyke_automata::{CaseFold, Trie};
use fyke_core::{
    Device, Engine, Family, Footprint, Growth, Info, Matcher, Options, PatternSet, Refusal,
};
use node::{NODE_BYTES, Node};
use std::sync::Arc;

/// The entry of the registry.
pub static ENGINE: AcTuck = AcTuck;

static INFO: Info = Info {
    name: "ac-tuck",
    device: Device::Cpu,
    family: Family::Paper,
    growth: Growth::Flat,
    about: "Aho-Corasick in bitmap and path nodes of 52 bytes: the baseline of the compressed automata",
    source: "Tuck et al. 2004; Zha 2010, 2.2",
    variants: &[""],
};

/// Counts the steps of its matchers.
pub(crate) const COUNTED: Downcast = downcast::<Walker<TuckAutomaton>>;

/// The engine.
#[derive(Debug)]
pub struct AcTuck;

impl AcTuck {
    /// Upper bound of the bytes of memory that the automaton of a set takes, as if no two states
    /// shared a node. Computed without building it.
    pub fn memory_for(set: &PatternSet) -> u64 {
        let nodes = Trie::count_states(set) * NODE_BYTES as u64;
        nodes + lists::RuleLists::memory_for(set.len()) + set.len() as u64
    }
}

impl Engine for AcTuck {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        opt.check_params(&[])?;
        opt.check_memory(Self::memory_for(set))?;
        Ok(Walker::matcher(set, build::compress(&Trie::new(set)?)?))
    }
}

/// A state is the offset of its node in the low 32 bits and its place in the node above them.
const PLACE: u32 = 32;
const ROOT: u64 = 0;

/// The nodes, the root first, and after them the rule lists.
struct TuckAutomaton {
    fold: CaseFold,
    arena: Arena,
    /// Where the rule lists begin.
    lists: usize,
    counts: Counts,
}

/// How many states and nodes were built.
struct Counts {
    states: u64,
    bitmap_nodes: u64,
    path_nodes: u64,
}

impl TuckAutomaton {
    /// The node of a state and the state's place in it.
    #[inline(always)]
    fn node(&self, state: u64) -> (Node<'_>, usize) {
        let bytes = self.arena.slice(state as u32 as usize, NODE_BYTES);
        (Node(bytes.try_into().expect("as long as asked for")), (state >> PLACE) as usize)
    }

    /// The child of a state for a byte.
    #[inline(always)]
    fn child<C: CostCounter>(
        (node, place): (Node<'_>, usize),
        state: u64,
        byte: u8,
        counter: &mut C,
    ) -> Option<u64> {
        if !node.is_path() {
            return node.child(byte, counter).map(u64::from);
        }
        counter.comparisons(1);
        let fits = node.char(place) == byte;
        if place + 1 < node.size() {
            return fits.then_some(state + (1 << PLACE));
        }
        (fits && node.next() != 0).then_some(u64::from(node.next()))
    }
}

impl Automaton for TuckAutomaton {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn root(&self) -> u64 {
        ROOT
    }

    #[inline(always)]
    fn is_output(&self, state: u64) -> bool {
        let (node, place) = self.node(state);
        node.rules(place) != lists::NO_LIST
    }

    fn outputs(&self, state: u64, each: impl FnMut(u32)) {
        let (node, place) = self.node(state);
        lists::each_of(self.arena.tail(self.lists), node.rules(place), each);
    }

    fn footprint(&self) -> Footprint {
        Footprint { host: self.arena.len() as u64, device: 0 }
    }

    fn stats(&self) -> Vec<(String, u64)> {
        let arena = self.arena.len() as u64;
        let counts = [
            ("states", self.counts.states),
            ("bitmap nodes", self.counts.bitmap_nodes),
            ("path nodes", self.counts.path_nodes),
            ("node bytes", self.lists as u64),
            ("rule list bytes", arena - self.lists as u64),
            ("arena bytes", arena),
        ];
        let counts = counts.into_iter().map(|(name, count)| (name.to_owned(), count));
        counts.chain(node::model()).collect()
    }

    fn describe(&self) -> String {
        let Counts { states, bitmap_nodes, path_nodes } = self.counts;
        format!("{states} states in {bitmap_nodes} bitmap and {path_nodes} path nodes of 52 bytes")
    }
}

impl<C: CostCounter> Step<C> for TuckAutomaton {
    #[inline(always)]
    fn step(&self, state: u64, byte: u8, counter: &mut C) -> u64 {
        let byte = self.fold.byte(byte);
        let mut state = state;
        let mut entered_here = false;
        loop {
            let (node, place) = self.node(state);
            let child = Self::child((node, place), state, byte, counter);
            counter.transitions(1);
            counter.accesses(|| node.accesses(place, byte, child.is_some(), entered_here));
            match child {
                Some(child) => return child,
                None if state == ROOT => return ROOT,
                None => state = node.fail(place),
            }
            entered_here = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::{Cost, CostOf};
    use fyke_core::{Block, Collect, Scratch, oracle};

    fn compile(patterns: &[&str]) -> Arc<dyn Matcher> {
        ENGINE.compile(&PatternSet::new(patterns).unwrap(), &Options::default()).unwrap()
    }

    fn count(m: &dyn Matcher, name: &str) -> u64 {
        m.stats().into_iter().find(|(n, _)| n == name).unwrap_or_else(|| panic!("no {name}")).1
    }

    fn cost(m: &dyn Matcher, haystack: &[u8]) -> Cost {
        m.cost(Block::whole(haystack)).unwrap()
    }

    /// The set of figure 2-1. The root, `a` and `b` have bitmaps. Below them are end-node
    /// sequences of 8, 7 and 5, 5, 7 states.
    #[test]
    fn the_set_of_figure_2_1() {
        let m =
            compile(&["abcaabb", "abcaabbcc", "acb", "acbccabb", "ccabb", "bccabc", "bbccabca"]);
        let names = ["states", "bitmap nodes", "path nodes", "node bytes"];
        assert_eq!(names.map(|name| count(&*m, name)), [35, 3, 8, 11 * 52]);
        let haystack = b"abcaabbccabbccabcacbccabb";
        let mut got = Collect::default();
        assert!(m.scan(Block::whole(haystack), &mut Scratch::new(), &mut got).is_continue());
        assert_eq!(got.matches, oracle::find_all(m.set(), haystack));
    }

    /// "An end-node sequence with 31 states will use 7 nodes", 2.4.2.3: the root is the first of
    /// them.
    #[test]
    fn thirty_one_states_take_seven_path_nodes() {
        let m = compile(&["abcdefghijklmnopqrstuvwxyz0123"]);
        assert_eq!((count(&*m, "states"), count(&*m, "path nodes")), (31, 7));
        assert_eq!(count(&*m, "node bytes"), 7 * 52);
        assert_eq!(count(&*m, "arena bytes"), m.footprint().host);
    }

    /// Position 203 is the 11th of its block: the summary of 192 bits and 11 bits are added.
    #[test]
    fn a_rank_adds_the_bits_of_a_block() {
        let set = PatternSet::new((0..=255).map(|b| [b, b])).unwrap();
        let m = ENGINE.compile(&set, &Options::default()).unwrap();
        for (byte, additions) in [(203, 11), (31, 31), (32, 0), (255, 31)] {
            assert_eq!(cost(&*m, &[byte]).popcount_additions, additions, "{byte}");
        }
        assert_eq!((cost(&*m, &[7, 7]).transitions, cost(&*m, &[7, 8]).transitions), (2, 3));
    }

    /// Tables 2-3 and 2-4, rows TB and TO: match and mismatch for W = 32, 64, 128, 1024.
    #[test]
    fn accesses_are_those_of_the_paper_except_for_the_cells_named() {
        let m = compile(&["a"]);
        let span = |w, what: &str| {
            let bound = |b| count(&*m, &format!("accesses W={w} {what} {b}"));
            (bound("min"), bound("max"))
        };
        let row = |what: &str| [32, 64, 128, 1024].map(|w| span(w, what));
        assert_eq!(row("TB match"), [(4, 5), (3, 3), (2, 2), (1, 1)]);
        // The paper has 3 for W = 64. Kind and summaries fill one block of 64 bits; of the three
        // pointers one is in a third, and here it is the failure node.
        assert_eq!(row("TB mismatch"), [(4, 4), (4, 4), (3, 3), (1, 1)]);
        assert_eq!(row("TO match"), [(8, 8), (4, 4), (2, 2), (1, 1)]);
        // The paper has 3, 3+i for W = 32, 2+ceil(i/2) for W = 64, i = 1..5, and 2 for W = 128:
        // there the rule lists and failure pointers of the last three states lie in blocks of
        // their own here.
        assert_eq!(row("TO mismatch"), [(3, 8), (3, 5), (2, 3), (1, 1)]);
    }

    /// A visit to a path node costs what the model says, no matter how the walk reaches the node.
    #[test]
    fn accesses_are_counted_once_for_each_visit() {
        let m = compile(&["abcdefghij"]);
        assert_eq!(cost(&*m, b"abcde").accesses, [8, 4, 2, 1]);
        assert_eq!(cost(&*m, b"x").accesses, [3, 3, 2, 1]);
    }

    #[test]
    fn the_memory_limit_is_checked_before_building() {
        let set = PatternSet::new(["abcdefgh"]).unwrap();
        let need = AcTuck::memory_for(&set);
        let compile = |limit| ENGINE.compile(&set, &Options::default().limited_to(limit));
        assert!(matches!(compile(need - 1), Err(Refusal::TooBig { need: n, .. }) if n == need));
        assert!(compile(need).unwrap().footprint().host <= need);
    }
}
