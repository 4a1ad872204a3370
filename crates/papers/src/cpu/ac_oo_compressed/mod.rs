//! The object-oriented NFA in bitmap, path and copy nodes of 48 bytes.
//!
//! The automaton is that of `ac-oo`: no failure links, copied transitions of suffixes, and a
//! look-up at the root for everything else. The nodes are Tuck's without the failure fields: a
//! bitmap of the bytes that lead on, the children side by side and found by rank, and path nodes
//! for states with a single way to a leaf. A state that a copied transition leads to cannot be
//! among the children of two nodes. So each copied transition has a *copy node*, which points to
//! the original. A byte takes at most two transitions, one in the state and one at the root.
//!
//! # Links
//! With `copies=links` a node reaches all its children by links of four bytes, and a child may
//! stand anywhere. A copied transition then takes four bytes instead of a node, and as many loads
//! as any other.
//!
//! Wins: with links it takes a seventh to a tenth of the memory of `ac-oo` on English words, at
//! the same number of transitions. Loses: with copy nodes it takes half the memory of `ac-oo` or
//! more, because a node has as many copies as `ac-oo` has copied transitions; and `ac-tuck` is
//! smaller than both, because one failure pointer replaces all the transitions that are copied
//! here.
//!
//! # What the paper leaves open
//! It gives the fields but not the sizes. Its table 3-2 is 52 bytes times the nodes of table 3-3,
//! minus 48, for this form, and 56 bytes times the nodes, plus 4, for the form with failure
//! pointers. (The headings of table 3-2 are not in the order of its columns, as table 3-4 shows.)
//! Here a node takes 48 bytes, which a bitmap node needs, and a path node then holds eight states;
//! see the module `node`. A pointer is the offset of a node, so the nodes must end before 2^32.
//! Rule lists stand after the nodes, in the same arena.
//!
//! Source: X. Zha, *Multi-pattern string matching algorithms*, dissertation, 2010, section 3.2; N.
//! Tuck et al., *Deterministic memory-efficient string matching algorithms for intrusion
//! detection*, INFOCOM 2004.

mod build;
mod node;

use crate::build::Arena;
use crate::build::lists;
use crate::cost::{CostCounter, Downcast, downcast};
use fyke_automata::CaseFold;
use fyke_automata::walk::{Automaton, Step, Walker};
use fyke_core::{
    Device, Engine, Family, Footprint, Growth, Info, Matcher, Options, PatternSet, Refusal,
};
use node::{LINK_BYTES, NODE_BYTES, State};
use std::sync::Arc;

/// The entry of the registry.
pub static ENGINE: AcOoCompressed = AcOoCompressed;

static INFO: Info = Info {
    name: "ac-oo-compressed",
    device: Device::Cpu,
    family: Family::Paper,
    growth: Growth::Flat,
    about: "object-oriented NFA in bitmap, path and copy nodes of 48 bytes",
    source: "Zha 2010, 3.2",
    variants: &["", "copies=links"],
};

/// Counts the steps of its matchers.
pub(crate) const COUNTED: Downcast = |m| {
    downcast::<Walker<CompressedGraph<true>>>(m)
        .or_else(|| downcast::<Walker<CompressedGraph<false>>>(m))
};

/// The engine.
#[derive(Debug)]
pub struct AcOoCompressed;

impl Engine for AcOoCompressed {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        opt.check_params(&["copies"])?;
        Ok(match opt.choice("copies", &["nodes", "links"])? {
            "links" => Walker::matcher(set, build::compile::<true>(set, opt)?),
            _ => Walker::matcher(set, build::compile::<false>(set, opt)?),
        })
    }
}

/// How many states, nodes and links were built.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    states: u64,
    bitmaps: u64,
    paths: u64,
    copy_nodes: u64,
    links: u64,
}

impl Counts {
    fn node_bytes(self) -> u64 {
        (self.bitmaps + self.paths + self.copy_nodes) * NODE_BYTES as u64
    }

    fn link_bytes(self) -> u64 {
        self.links * LINK_BYTES as u64
    }
}

/// The automaton: nodes, links if there are any, and rule lists in one arena. The root is the
/// first node.
struct CompressedGraph<const LINKS: bool> {
    arena: Arena,
    lists_at: usize,
    fold: CaseFold,
    counts: Counts,
}

impl<const LINKS: bool> Automaton for CompressedGraph<LINKS> {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn root(&self) -> u64 {
        u64::from(State::ROOT.0)
    }

    #[inline(always)]
    fn is_output(&self, state: u64) -> bool {
        State(state as u32).reports()
    }

    fn outputs(&self, state: u64, each: impl FnMut(u32)) {
        let head = node::rules(&self.arena, State(state as u32));
        lists::each_of(self.arena.tail(self.lists_at), head, each);
    }

    fn footprint(&self) -> Footprint {
        Footprint { host: self.arena.len() as u64, device: 0 }
    }

    fn stats(&self) -> Vec<(String, u64)> {
        let counts = self.counts;
        let mut stats = vec![
            ("states", counts.states),
            ("bitmap nodes", counts.bitmaps),
            ("path nodes", counts.paths),
            ("copy nodes", counts.copy_nodes),
            ("node bytes", counts.node_bytes()),
            ("rule list bytes", (self.arena.len() - self.lists_at) as u64),
            ("arena bytes", self.arena.len() as u64),
        ];
        if LINKS {
            stats.push(("links", counts.links));
        }
        stats.into_iter().map(|(name, count)| (name.to_owned(), count)).collect()
    }

    fn describe(&self) -> String {
        let Counts { states, bitmaps, paths, copy_nodes, links } = self.counts;
        let apart =
            if LINKS { format!("{links} links") } else { format!("{copy_nodes} copy nodes") };
        let bytes = self.arena.len();
        format!(
            "{states} states in {bitmaps} bitmap and {paths} path nodes, {apart}, {bytes} bytes"
        )
    }
}

impl<const LINKS: bool, C: CostCounter> Step<C> for CompressedGraph<LINKS> {
    #[inline(always)]
    fn step(&self, state: u64, byte: u8, counter: &mut C) -> u64 {
        let (state, byte) = (State(state as u32), self.fold.byte(byte));
        counter.transitions(1);
        let mut next = node::follow::<LINKS, _>(&self.arena, state, byte, counter);
        if next.is_none() && state != State::ROOT {
            counter.transitions(1);
            next = node::follow::<LINKS, _>(&self.arena, State::ROOT, byte, counter);
        }
        u64::from(next.unwrap_or(State::ROOT).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::CostOf;
    use fyke_core::{Block, Collect, Scratch, oracle};

    fn compile(patterns: &[&str], params: &str) -> Arc<dyn Matcher> {
        let set = PatternSet::new(patterns).unwrap();
        ENGINE.compile(&set, &Options::with_params(params).unwrap()).unwrap()
    }

    fn stats(patterns: &[&str], params: &str) -> Vec<u64> {
        compile(patterns, params).stats().into_iter().map(|(_, count)| count).collect()
    }

    /// Zha 2010, fig. 3-5: hers, his, sh and she have a copied transition each, so no leaf is left
    /// for a path.
    #[test]
    fn the_nodes_of_the_figures() {
        let figures = ["hers", "his", "she"];
        assert_eq!(stats(&figures, "")[..5], [10, 10, 0, 4, 14 * 48]);
        let links = stats(&figures, "copies=links");
        assert_eq!((&links[..5], links[7]), ([10, 10, 0, 0, 10 * 48].as_slice(), 13));
        assert_eq!(links[6], 10 * 48 + 13 * 4 + links[5]);
    }

    /// The root and c are bitmap nodes. One path node holds a and ab, two hold cd and nine x, one
    /// ce.
    #[test]
    fn end_node_sequences_share_path_nodes() {
        assert_eq!(stats(&["ab", "cdxxxxxxxxx", "ce"], "")[..5], [15, 2, 4, 0, 6 * 48]);
    }

    /// Tran et al. 2012, fig. 1.
    #[test]
    fn ushers() {
        let m = compile(&["he", "she", "his", "hers", "u"], "");
        let mut got = Collect::default();
        assert!(m.scan(Block::whole(b"ushers"), &mut Scratch::new(), &mut got).is_continue());
        assert_eq!(got.matches, oracle::find_all(m.set(), b"ushers"));
    }

    /// All forms make the same transitions, and those with bitmaps the same additions.
    #[test]
    fn counts_are_those_of_the_uncompressed_form() {
        let patterns = ["he", "she", "his", "hers", "aaab", "ca", "bcdefghijklmnop"];
        let haystack = b"ushers and his sheep, caaabcdefghijklmnopaac".repeat(9);
        let set = PatternSet::new(patterns).unwrap();
        let graph = super::super::ac_oo::ENGINE.compile(&set, &Options::default()).unwrap();
        let plain = graph.cost(Block::whole(&haystack)).unwrap();
        let [ours, links] = ["", "copies=links"]
            .map(|params| compile(&patterns, params).cost(Block::whole(&haystack)).unwrap());
        assert_eq!(ours, links);
        assert_eq!(ours.transitions, plain.transitions);
        assert!(ours.transitions <= 2 * haystack.len() as u64 && ours.popcount_additions > 0);
    }

    /// Two refusals: the memory to count the nodes, and the memory to build them.
    #[test]
    fn the_memory_limit_is_checked_before_counting_and_before_building() {
        let set = PatternSet::new(["abcdefgh", "bcd"]).unwrap();
        for params in ["", "copies=links"] {
            let compile = |limit| {
                ENGINE.compile(&set, &Options::with_params(params).unwrap().limited_to(limit))
            };
            let need = |limit| match compile(limit).map(|m| m.footprint().host) {
                Err(Refusal::TooBig { need, .. }) => need,
                other => panic!("{other:?}"),
            };
            let counting = need(0);
            assert_eq!(counting, build::memory_to_count(&set));
            let making = need(counting);
            assert!(making > counting && need(making - 1) == making);
            assert!(compile(making).unwrap().footprint().host <= making);
        }
    }

    /// Every state has all shorter states as suffixes. Nothing may take quadratic time.
    #[test]
    fn one_byte_many_times() {
        let m = compile(&["a".repeat(65_535).as_str()], "");
        let copies = m.stats().into_iter().find(|(name, _)| name == "copy nodes").unwrap().1;
        // The last state alone has no edge of its own.
        assert_eq!(copies, 1);
    }
}
