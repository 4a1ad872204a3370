//! The object-oriented NFA with bitmap, path and copy nodes.
//!
//! The automaton is that of `ac-oo`: no failure links; the transitions of suffixes are copied in, and what is
//! not there goes by the root. The nodes are Tuck's without the fields for failure: a bitmap of the
//! bytes that lead on and the children side by side, found by rank; what is nothing but one way to a leaf
//! shares path nodes. A state that a copied transition leads to cannot stand among the children of two
//! states, so for each copied transition a *copy node* does, a soft link to the original. A byte takes at most two
//! transitions, in the state and at the root.
//!
//! Wins: nothing but the comparison with `ac-oo`. Loses: memory, to the compressed automaton with failure links
//! (`ac-tuck`). One failure pointer stands for all the transitions of a suffix that are copied here, each as a whole
//! node, and hardly a state is left with a single transition, so that there are few path nodes.
//!
//! # What the source leaves open
//! It gives the fields and not the sizes. Its table 3-2 is 52 bytes times the nodes of table 3-3, less 48, for
//! every set: it omitted the failure fields and kept the size of the nodes. Here a node takes 48 bytes, what a
//! bitmap node needs, and a path node then holds eight states; see the module `node`. (The headings of table 3-2
//! stand in another order than its columns: table 3-4 tells.) A pointer is the byte that a node begins with, so the
//! nodes have to end before 2^32. Rule lists stand behind the nodes, in the same arena.
//!
//! X. Zha, *Multi-pattern string matching algorithms*, dissertation, 2010, section 3.2; N. Tuck and others,
//! *Deterministic memory-efficient string matching algorithms for intrusion detection*, INFOCOM 2004.

mod build;
mod node;

use crate::build::lists::{self, NO_LIST};
use crate::build::{Arena, Fold};
use crate::count::Counter;
use crate::walk::{Automaton, Walker};
use fyke_core::{
    Device, Engine, Family, Footprint, Growth, Info, Matcher, Options, PatternSet, Refusal,
};
use node::{NODE_BYTES, State};
use std::sync::Arc;

/// The entry of the registry.
pub static ENGINE: AcOoCompressed = AcOoCompressed;

static INFO: Info = Info {
    name: "ac-oo-compressed",
    device: Device::Cpu,
    family: Family::Paper,
    growth: Growth::Flat,
    about: "Object-oriented NFA in bitmap, path and copy nodes of 48 bytes",
    source: "Zha 2010, 3.2",
    variants: &[""],
};

/// The engine.
#[derive(Debug)]
pub struct AcOoCompressed;

impl Engine for AcOoCompressed {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        opt.check_params(&[])?;
        Ok(Walker::matcher(set, build::compile(set, opt)?))
    }
}

/// What was built, by kinds.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    states: u64,
    bitmaps: u64,
    paths: u64,
    copies: u64,
}

impl Counts {
    fn node_bytes(self) -> u64 {
        (self.bitmaps + self.paths + self.copies) * NODE_BYTES as u64
    }
}

/// The automaton: nodes and rule lists in one arena. The root is the first node.
struct Nodes {
    arena: Arena,
    lists_at: usize,
    fold: Fold,
    counts: Counts,
}

impl Automaton for Nodes {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn root(&self) -> u64 {
        0
    }

    #[inline(always)]
    fn step<C: Counter>(&self, state: u64, byte: u8, counter: &mut C) -> u64 {
        let byte = self.fold.byte(byte);
        counter.transitions(1);
        if let Some(next) = node::follow(&self.arena, State(state), byte, counter) {
            return next.0;
        }
        if state == self.root() {
            return state;
        }
        counter.transitions(1);
        node::follow(&self.arena, State(self.root()), byte, counter).map_or(self.root(), |s| s.0)
    }

    #[inline(always)]
    fn is_output(&self, state: u64) -> bool {
        node::rules(&self.arena, State(state)) != NO_LIST
    }

    fn outputs(&self, state: u64, each: impl FnMut(u32)) {
        let head = node::rules(&self.arena, State(state));
        lists::each_of(self.arena.tail(self.lists_at), head, each);
    }

    fn footprint(&self) -> Footprint {
        Footprint { host: self.arena.len() as u64, device: 0 }
    }

    fn census(&self) -> Vec<(String, u64)> {
        let counts = self.counts;
        [
            ("states", counts.states),
            ("bitmap nodes", counts.bitmaps),
            ("path nodes", counts.paths),
            ("copy nodes", counts.copies),
            ("node bytes", counts.node_bytes()),
            ("rule list bytes", self.arena.len() as u64 - counts.node_bytes()),
            ("arena bytes", self.arena.len() as u64),
        ]
        .map(|(name, count)| (name.to_owned(), count))
        .into()
    }

    fn describe(&self) -> String {
        let Counts { states, bitmaps, paths, copies } = self.counts;
        format!(
            "{states} states in {bitmaps} bitmap, {paths} path and {copies} copy nodes, {} bytes",
            self.arena.len()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_core::{Block, Collect, Scratch, oracle};

    fn compile(patterns: &[&str]) -> Arc<dyn Matcher> {
        ENGINE.compile(&PatternSet::new(patterns).unwrap(), &Options::default()).unwrap()
    }

    fn census(patterns: &[&str]) -> Vec<u64> {
        compile(patterns).census().into_iter().map(|(_, count)| count).collect()
    }

    /// Zha 2010, fig. 3-5: hers, his, sh and she have a copied transition each, so no leaf is left for a path.
    #[test]
    fn the_nodes_of_the_figures() {
        assert_eq!(census(&["hers", "his", "she"])[..5], [10, 10, 0, 4, 14 * 48]);
    }

    /// Bitmap nodes are the root and c; a path node holds a and ab, two hold cd and its nine x, one ce.
    #[test]
    fn ways_to_a_leaf_share_path_nodes() {
        assert_eq!(census(&["ab", "cdxxxxxxxxx", "ce"])[..5], [15, 2, 4, 0, 6 * 48]);
    }

    /// Tran et al. 2012, fig. 1.
    #[test]
    fn ushers() {
        let m = compile(&["he", "she", "his", "hers", "u"]);
        let mut got = Collect::default();
        assert!(m.scan(Block::whole(b"ushers"), &mut Scratch::new(), &mut got).is_continue());
        assert_eq!(got.matches, oracle::find_all(m.set(), b"ushers"));
    }

    /// The two forms make the same transitions.
    #[test]
    fn counts_are_those_of_the_uncompressed_form() {
        let patterns = ["he", "she", "his", "hers", "aaab", "ca", "bcdefghijklmnop"];
        let haystack = b"ushers and his sheep, caaabcdefghijklmnopaac".repeat(9);
        let set = PatternSet::new(patterns).unwrap();
        let graph = super::super::ac_oo::ENGINE.compile(&set, &Options::default()).unwrap();
        let plain = graph.cost(Block::whole(&haystack)).unwrap();
        let ours = compile(&patterns).cost(Block::whole(&haystack)).unwrap();
        assert_eq!(ours.transitions, plain.transitions);
        assert!(ours.transitions <= 2 * haystack.len() as u64 && ours.popcount_additions > 0);
    }

    /// Two refusals: what it takes to count the nodes, and what it takes to make them.
    #[test]
    fn the_memory_limit_is_checked_before_counting_and_before_making() {
        let set = PatternSet::new(["abcdefgh", "bcd"]).unwrap();
        let refused = |limit| match ENGINE.compile(&set, &Options::default().limited_to(limit)) {
            Err(Refusal::TooBig { need, .. }) => need,
            Err(other) => panic!("{other}"),
            Ok(m) => {
                assert!(m.footprint().host <= limit);
                0
            }
        };
        let counting = refused(0);
        assert_eq!(counting, build::memory_to_count(&set));
        let making = refused(counting);
        assert!(making > counting);
        assert_eq!((refused(making - 1), refused(making)), (making, 0));
    }

    /// Every state has the whole chain of its suffixes; nothing may be quadratic.
    #[test]
    fn one_byte_many_times() {
        let m = compile(&["a".repeat(65_535).as_str()]);
        let copies = m.census().into_iter().find(|(name, _)| name == "copy nodes").unwrap().1;
        // The last state alone has no edge of its own.
        assert_eq!(copies, 1);
    }
}
