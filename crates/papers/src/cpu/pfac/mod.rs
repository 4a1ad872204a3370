//! Failureless Aho-Corasick: a walk down the trie from every position.
//!
//! There are no failure links. The walk from a position finds the patterns that *begin* there, and ends
//! where the trie has no child for the byte at hand, which is after a byte or two for most positions of most
//! texts. No walk depends on another. On a graphics processor, for which this was made, each position
//! gets a thread; here they are taken in order, and the processor overlaps the loads of neighbouring walks where
//! the branches let it.
//!
//! A block owns the matches that end after its overlap, so walks begin up to `max_len - 1` bytes before that.
//! Matches come by their start, and so unordered. A walk goes down `max_len` levels at most: n bytes take up to
//! n `max_len` transitions, and hardly ever fewer than n, where Aho-Corasick takes n.
//!
//! One thing is added: after its first byte, and where a pattern ends, a walk looks ahead. It goes on only if
//! what is left of the block is long enough for a pattern, and it runs down a long way without a branch by comparing
//! strings (see the module `ahead`), whose bytes count as moves. A walk that cannot end in a match is not taken to
//! its end, so fewer moves are counted than the plain algorithm would make. Without it, a pattern of 65,535 bytes
//! over a text that repeats itself would be walked byte by byte from every position, in every block again.
//!
//! Two forms: `nodes=list`, the trie with its children searched, and `nodes=array`, a row for each state
//! with an entry for each byte class.
//!
//! Wins: texts that have little in common with the patterns, since the root answers for most bytes, and
//! any number of processors. Loses: texts that are full of beginnings of patterns; `aaaa` in a text of the
//! letter a takes four times the transitions of an automaton.
//!
//! C.-H. Lin, C.-H. Liu, L.-S. Chien and S.-C. Chang, *Accelerating pattern matching using a novel parallel
//! algorithm on GPUs*, IEEE Trans. Computers, 2012; named as the peer by Bellekens et al. 2013, IV, and
//! Tran et al. 2012.

mod ahead;
mod array;
mod list;

use crate::cost::CostCounter;
use crate::cost::{Cost, Counted};
use crate::cost::{Downcast, downcast};
use crate::passes::base_for;
use ahead::Chains;
use array::Array;
use fyke_automata::Trie;
use fyke_automata::count::Uncounted;
use fyke_core::{
    Block, Device, Emitter, Engine, Family, Footprint, Growth, Info, Matcher, Options, PatternSet,
    Refusal, Scratch, Sink,
};
use list::List;
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
    |m| downcast::<Compiled<Array>>(m).or_else(|| downcast::<Compiled<List>>(m));

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
            "array" => compile(set, opt, Array::memory_for(set), |trie| Array::new(trie)),
            _ => compile(set, opt, List::memory_for(set), List::new),
        }
    }
}

fn compile<N: Nodes>(
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
    Ok(Arc::new(Compiled { set: set.clone(), confirm, chains, nodes }))
}

/// A layout of the trie.
trait Nodes: Send + Sync + 'static {
    /// The number of a state is that of the trie times this.
    fn scale(&self) -> u32;

    /// The state without a byte read.
    fn root(&self) -> u32;

    /// The state after a byte, which was not folded, if there is one.
    fn child(&self, state: u32, byte: u8) -> Option<u32>;

    /// The patterns that end in a state, by dense index.
    fn own(&self, state: u32) -> &[u32];

    /// See [`ahead::rests`].
    fn rest(&self, state: u32) -> u16;

    /// Bytes it takes in memory.
    fn memory(&self) -> u64;

    /// See [`Matcher::stats`].
    fn stats(&self) -> Vec<(String, u64)>;
}

/// A compiled set.
struct Compiled<N> {
    set: PatternSet,
    /// See [`Trie::must_confirm`].
    confirm: Vec<bool>,
    chains: Chains,
    nodes: N,
}

impl<N: Nodes> Compiled<N> {
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

    /// Calls `found` with the length and the index of each pattern that `bytes` begin with.
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

impl<N: Nodes> Counted for Compiled<N> {
    /// The transition that ends a walk counts as well.
    fn count(&self, block: Block<'_>) -> Cost {
        Cost::of_scan(|scratch, sink, cost| self.run(block, scratch, sink, cost))
    }
}

impl<N: Nodes> Matcher for Compiled<N> {
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
