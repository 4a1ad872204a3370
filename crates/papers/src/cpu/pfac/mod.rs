//! Failureless Aho-Corasick (PFAC): a walk down the trie from every position.
//!
//! There are no failure links. The walk from a position finds the patterns that *begin* there and
//! ends where the trie has no child for the byte, which in most texts is after a byte or two. The
//! walks are independent. On a GPU, for which the algorithm was made, each position gets a thread.
//! Here they run in order, and the CPU overlaps the loads of neighboring walks where it predicts
//! the branches.
//!
//! A block owns the matches that end after its overlap, so walks begin up to `max_len - 1` bytes
//! before that end. Matches come by their start, so they are unordered. A walk goes down at most
//! `max_len` levels: n bytes take up to n `max_len` transitions and seldom fewer than n, where
//! Aho-Corasick takes n.
//!
//! One thing is added. After its first byte, and where a pattern ends, a walk looks ahead: it
//! continues only if the rest of the block has space for a pattern, and it passes a long chain
//! without branches by comparing strings (see the module `ahead`). The compared bytes count as
//! transitions. Walks that cannot end in a match stop early, so fewer transitions are counted than
//! the plain algorithm makes. Without the look-ahead a pattern of 65,535 bytes over a repetitive
//! text would be walked byte by byte from every position, and again in every block.
//!
//! Two forms: `nodes=list` searches the children in the trie, and `nodes=array` has a row for each
//! state with an entry for each byte class.
//!
//! Wins on texts that have little in common with the patterns, because the root rejects most
//! bytes, and with any number of cores. Loses on texts full of pattern prefixes: `aaaa` in a text
//! of the letter a takes four times the transitions of an automaton.
//!
//! Source: C.-H. Lin, C.-H. Liu, L.-S. Chien and S.-C. Chang, *Accelerating pattern matching using
//! a novel parallel algorithm on GPUs*, IEEE Trans. Computers, 2012; named as a rival by Bellekens
//! et al. 2013, IV, and Tran et al. 2012.

mod ahead;
mod array;
mod list;

use crate::cost::{Cost, CostCounter, Counted, Downcast, downcast};
use crate::passes::base_for;
use ahead::Chains;
use array::ArrayLayout;
use fyke_automata::Trie;
use fyke_automata::count::Uncounted;
use fyke_core::{
    Block, Device, Emitter, Engine, Family, Footprint, Growth, Info, Matcher, Options, PatternSet,
    Refusal, Scratch, Sink,
};
use list::ListLayout;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The entry of the registry.
pub static ENGINE: Pfac = Pfac;

static INFO: Info = Info {
    name: "pfac",
    device: Device::Cpu,
    family: Family::Paper,
    growth: Growth::Flat,
    about: "failureless Aho-Corasick: a walk down the trie from every position",
    source: "Lin et al. 2012, named in Bellekens et al. 2013 and Tran et al. 2012",
    variants: &["", "nodes=array"],
};

/// Counts the steps of its matchers.
pub(crate) const COUNTED: Downcast =
    |m| downcast::<PfacMatcher<ArrayLayout>>(m).or_else(|| downcast::<PfacMatcher<ListLayout>>(m));

/// The engine.
#[derive(Debug)]
pub struct Pfac;

impl Engine for Pfac {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        opt.check_params(&["nodes"])?;
        match opt.choice("nodes", &["list", "array"])? {
            "array" => {
                compile(set, opt, ArrayLayout::memory_for(set), |trie| ArrayLayout::new(trie))
            }
            _ => compile(set, opt, ListLayout::memory_for(set), ListLayout::new),
        }
    }
}

fn compile<N: TrieLayout>(
    set: &PatternSet,
    opt: &Options,
    need: u64,
    lay_out: impl FnOnce(&Arc<Trie>) -> Result<N, Refusal>,
) -> Result<Arc<dyn Matcher>, Refusal> {
    let confirm = Trie::must_confirm(set);
    opt.check_memory(need + confirm.len() as u64)?;
    let trie = Arc::new(Trie::new(set)?);
    let nodes = lay_out(&trie)?;
    let chains = Chains::new(&trie, nodes.scale());
    Ok(Arc::new(PfacMatcher { set: set.clone(), confirm, chains, nodes }))
}

/// A layout of the trie.
trait TrieLayout: Send + Sync + 'static {
    /// The factor between the number of a state here and in the trie.
    fn scale(&self) -> u32;

    /// The state before any byte was read.
    fn root(&self) -> u32;

    /// The child of a state for an unfolded byte, if there is one.
    fn child(&self, state: u32, byte: u8) -> Option<u32>;

    /// The dense indices of the patterns that end in a state.
    fn own(&self, state: u32) -> &[u32];

    /// See [`ahead::rests`].
    fn rest(&self, state: u32) -> u16;

    /// Bytes of memory that it takes.
    fn memory(&self) -> u64;

    /// See [`Matcher::stats`].
    fn stats(&self) -> Vec<(String, u64)>;
}

/// The walk from every position over a layout of the trie.
struct PfacMatcher<N> {
    set: PatternSet,
    /// See [`Trie::must_confirm`].
    confirm: Vec<bool>,
    chains: Chains,
    nodes: N,
}

impl<N: TrieLayout> PfacMatcher<N> {
    fn run<C: CostCounter>(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
        counter: &mut C,
    ) -> ControlFlow<()> {
        let (bytes, max_len) = (block.bytes, self.set.max_len());
        let mut out = Emitter::new(&self.set, sink, scratch.records(), block.offset, false);
        let mut base = 0;
        for start in block.overlap.saturating_sub(self.set.overlap())..bytes.len() {
            let furthest = bytes.len().min(start + max_len);
            base = base_for(base, start, furthest);
            out.rebase(block.offset + base as u64)?;
            self.walk(&bytes[start..furthest], counter, |len, pattern| {
                if start + len > block.overlap {
                    out.push((start + len - base) as u32, pattern);
                }
            });
            out.flush_if_full()?;
        }
        out.flush()
    }

    /// Calls `found` with the length and the index of each pattern that is a prefix of `bytes`.
    #[inline(always)]
    fn walk<C: CostCounter>(
        &self,
        bytes: &[u8],
        counter: &mut C,
        mut found: impl FnMut(usize, u32),
    ) {
        let (mut state, mut read) = (self.nodes.root(), 0);
        while let Some(&byte) = bytes.get(read) {
            counter.transitions(1);
            let Some(child) = self.nodes.child(state, byte) else { return };
            (state, read) = (child, read + 1);
            let own = self.nodes.own(state);
            for &pattern in own {
                if self.is_sure(pattern) || self.set.bytes(pattern) == &bytes[..read] {
                    found(read, pattern);
                }
            }
            if read == 1 || !own.is_empty() {
                let (set, rest) = (&self.set, self.nodes.rest(state));
                let ahead = self.chains.look_ahead(set, (state, read), rest, bytes, counter);
                let Some(further) = ahead else { return };
                (state, read) = further;
            }
        }
    }

    fn is_sure(&self, pattern: u32) -> bool {
        !self.confirm.get(pattern as usize).copied().unwrap_or(false)
    }
}

impl<N: TrieLayout> Counted for PfacMatcher<N> {
    /// Counts the failed transition that ends a walk, too.
    fn count(&self, block: Block<'_>) -> Cost {
        Cost::of_scan(|scratch, sink, cost| self.run(block, scratch, sink, cost))
    }
}

impl<N: TrieLayout> Matcher for PfacMatcher<N> {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn set(&self) -> &PatternSet {
        &self.set
    }

    fn scan(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        self.run(block, scratch, sink, &mut Uncounted)
    }

    fn footprint(&self) -> Footprint {
        Footprint {
            host: self.nodes.memory() + self.chains.memory() + self.confirm.len() as u64,
            device: 0,
        }
    }

    fn stats(&self) -> Vec<(String, u64)> {
        self.nodes.stats()
    }

    fn describe(&self) -> String {
        let states = self.nodes.stats()[0].1;
        format!("{states} states without failure links, {} bytes", self.footprint().host)
    }
}

#[cfg(test)]
mod tests;
