//! Compressed Aho-Corasick for memory with high latency: packed paths and interleaved walks.
//!
//! # Nodes
//! The trie with failure links, in nodes of two kinds. A state with several children is a **bitmap
//! node**: 256 bits say which bytes lead on, the children are neighbors, and the rank of a bit is
//! the number of the child. The rank is one summary (the bits before a 64-bit word) plus one
//! population count, which replaces up to 31 additions. States with at most one child follow each
//! other in **path nodes** of up to 4, 8 or 12 states (the *packing factor*), each with its own
//! failure pointer and rule pointer. The paper packs only the sequences at the ends of patterns;
//! this engine also packs those between two bitmap nodes. All nodes have one size, see the module
//! `nodes`.
//!
//! # Visits
//! In a path node the next bytes of the haystack are compared with the whole path at once, and the
//! walk advances as far as they agree. So a visit reads up to as many bytes as a node packs. The
//! more of the haystack matches, the fewer visits it takes, so an attacker cannot slow the walk
//! down with matches.
//!
//! # Walks
//! A walk is a chain of dependent loads. To hide their latency, several walks over neighboring
//! segments of the haystack are interleaved, see the module `interleave`. On the Cell, which
//! fetched each node from main memory explicitly, that paid for any set. On a CPU with caches and
//! speculation it pays for sets that exceed the L2 cache, and costs for others.
//!
//! Wins memory, with a speed that depends little on the size of the set. Loses speed for sets
//! whose transition table fits the cache.
//!
//! Source: Zha 2010, chapter 4 (the Cell processor); nodes after Tuck et al. 2004 (Zha 2010, 2.2).

mod build;
mod interleave;
#[cfg(target_arch = "x86_64")]
mod isa;
mod nodes;
mod scan;
mod walk;

use crate::build::Arena;
use crate::cost::{Cost, Counted, Downcast, downcast};
use fyke_automata::{CaseFold, Trie};
use fyke_core::{
    Block, Device, Engine, Family, Footprint, Growth, Info, Matcher, MatcherId, Options,
    PatternSet, Refusal, Scratch, Sink,
};
use nodes::Nodes;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The entry of the registry.
pub static ENGINE: AcPacked = AcPacked;

static INFO: Info = Info {
    name: "ac-packed",
    device: Device::Cpu,
    family: Family::Paper,
    growth: Growth::Flat,
    about: "compressed Aho-Corasick: bitmap nodes, paths of 4, 8 or 12 states compared at once, interleaved walks",
    source: "Zha 2010, chapter 4",
    variants: &["", "pack=8", "pack=12", "walks=1", "walks=2", "walks=4", "walks=8"],
};

/// Bytes of a state in the uncompressed automaton: 256 success pointers and one pointer more (Zha
/// 2010, 2.2).
const ORIGINAL_BYTES_PER_STATE: u64 = 1028;

/// Bytes of nodes from which walks are interleaved: sets that exceed the L2 cache. Set by
/// `bench paper D-4-2`, which has sets below 2 MB and one of 20 MB.
const INTERLEAVE_FROM: usize = 4 << 20;

/// Interleaved walks for such sets. Set by `bench paper D-4-2`.
const LARGE_SET_WALKS: usize = 2;

/// Counts the steps of its matchers.
pub(crate) const COUNTED: Downcast = |m| {
    let small = downcast::<PackedMatcher<4>>(m).or_else(|| downcast::<PackedMatcher<8>>(m));
    small.or_else(|| downcast::<PackedMatcher<12>>(m))
};

/// The engine.
#[derive(Debug)]
pub struct AcPacked;

impl Engine for AcPacked {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        opt.check_params(&["pack", "walks"])?;
        let walks = opt.choice("walks", &["auto", "1", "2", "4", "8"])?.parse().ok();
        Ok(match opt.choice("pack", &["4", "8", "12"])? {
            "8" => Arc::new(PackedMatcher::<8>::new(set, walks, opt)?),
            "12" => Arc::new(PackedMatcher::<12>::new(set, walks, opt)?),
            _ => Arc::new(PackedMatcher::<4>::new(set, walks, opt)?),
        })
    }
}

/// The automaton of a set with packing factor C.
struct PackedMatcher<const C: usize> {
    owner: MatcherId,
    set: PatternSet,
    fold: CaseFold,
    /// See [`Trie::must_confirm`].
    confirm: Vec<bool>,
    arena: Arena,
    counts: build::Counts,
    root_table: usize,
    lists: usize,
    walks: usize,
    /// The bit-counting instructions, if the CPU has them.
    #[cfg(target_arch = "x86_64")]
    bit_counting: Option<isa::BitCounting>,
}

impl<const C: usize> PackedMatcher<C> {
    fn new(set: &PatternSet, walks: Option<usize>, opt: &Options) -> Result<Self, Refusal> {
        let build::Built { arena, counts, root_table, lists } = build::compile(set, C, opt)?;
        let is_large = lists > INTERLEAVE_FROM;
        Ok(Self {
            owner: MatcherId::new(),
            set: set.clone(),
            fold: CaseFold::of(set),
            confirm: Trie::must_confirm(set),
            arena,
            counts,
            root_table,
            lists,
            walks: walks.unwrap_or(if is_large { LARGE_SET_WALKS } else { 1 }),
            #[cfg(target_arch = "x86_64")]
            bit_counting: isa::BitCounting::detect(),
        })
    }

    fn nodes(&self) -> Nodes<'_, C> {
        Nodes::new(self.arena.tail(0), self.root_table)
    }
}

impl<const C: usize> Counted for PackedMatcher<C> {
    fn count(&self, block: Block<'_>) -> Cost {
        self.count_steps(block)
    }
}

impl<const C: usize> Matcher for PackedMatcher<C> {
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
        self.scan_block(block, scratch, sink)
    }

    fn footprint(&self) -> Footprint {
        Footprint { host: (self.arena.len() + self.confirm.len()) as u64, device: 0 }
    }

    fn stats(&self) -> Vec<(String, u64)> {
        let counts = self.counts;
        [
            ("states", counts.states),
            ("bitmap nodes", counts.bitmap_nodes),
            ("path nodes", counts.path_nodes),
            ("node bytes", self.lists as u64),
            ("rule list bytes", (self.arena.len() - self.lists) as u64),
            ("arena bytes", self.arena.len() as u64),
            ("original bytes", counts.states * ORIGINAL_BYTES_PER_STATE),
        ]
        .map(|(name, number)| (name.to_owned(), number))
        .to_vec()
    }

    fn describe(&self) -> String {
        let counts = self.counts;
        format!(
            "{} states in {} bitmap and {} path nodes of {} bytes (packing factor {C}), {} bytes, {} interleaved walks",
            counts.states,
            counts.bitmap_nodes,
            counts.path_nodes,
            nodes::size(C),
            self.footprint().host,
            self.walks
        )
    }
}

#[cfg(test)]
mod tests;
