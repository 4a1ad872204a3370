//! Compressed Aho-Corasick, made for a processor that has to hide its memory: interleaved walks.
//!
//! # The nodes
//! The trie with failure links, in nodes of two kinds. A state with several children is a **bitmap node**:
//! 256 bits say which bytes overlap on, the children are neighbours, and the rank of a bit is the child's
//! number. The rank is one summary (the bits in front of a 64-bit word) plus one population count, an
//! instruction where there used to be up to 31 additions. States with one child or none follow each other
//! in **path nodes** of up to 4, 8 or 12 (the *packing factor*), each with a failure pointer and a rule
//! pointer of its own. The paper packs only the sequences at the ends of patterns; here those between
//! two bitmap nodes are packed as well. All nodes have one size, see the module `nodes`.
//!
//! # The visits
//! In a path node the next bytes of the haystack are compared with the whole path at once, and the walk
//! goes as far as they agree. So a visit reads up to as many bytes as a node packs, and the more of the
//! haystack matches, the fewer visits it takes: nobody can slow the walk down by sending it patterns.
//!
//! # The walks
//! A walk is a chain of dependent loads from a memory that is far away. So several walks over neighbouring
//! segments of the haystack take turns, see the module `lanes`. On the Cell that paid for any set, because each
//! node was fetched from main memory by hand. Today's cores read ahead of a branch, and their
//! caches hold a megabyte or two: there the turns pay for sets that are larger than that, and cost for others.
//!
//! Wins: memory, 25 bytes a state for English words and 13 for random strings, with a speed that large
//! sets do not spoil. Loses: speed for sets whose transition table fits a cache.
//!
//! Source: Zha 2010, chapter 4 (the Cell processor), nodes after Tuck et al. 2004 (Zha 2010, 2.2).

mod build;
mod lanes;
mod nodes;
mod scan;
mod walk;

use crate::build::Arena;
use crate::cost::{Cost, Counted};
use crate::cost::{Downcast, downcast};
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
    about: "compressed Aho-Corasick: bitmap nodes, paths of 4, 8 or 12 states compared at once, several interleaved walks",
    source: "Zha 2010, chapter 4",
    variants: &["", "pack=8", "pack=12", "walks=1", "walks=2", "walks=4", "walks=8"],
};

/// Bytes of a state in the automaton that compression is measured against: 256 pointers and a rule list
/// pointer (Zha 2010, 2.2).
const ORIGINAL_BYTES_PER_STATE: u64 = 1028;

/// From so many bytes of nodes on, several walks take turns. With 1.2 MB (20,000 words), which a second-level
/// cache holds, two walks are 1.13 and 1.11 times as fast as one, with 0.7 MB (8,000 binary strings) 0.87 and 0.94 times,
/// with 20 MB (338,000 words) 1.56 times: table 4-2 of the benchmark room. Between these it is not measured.
const INTERLEAVE_FROM: usize = 4 << 20;

/// Walks that take turns then. Four and eight were slower than two in every row of that table.
const FAR_WALKS: usize = 2;

/// Counts the steps of its matchers.
pub(crate) const COUNTED: Downcast = |m| {
    let small = downcast::<Packed<4>>(m).or_else(|| downcast::<Packed<8>>(m));
    small.or_else(|| downcast::<Packed<12>>(m))
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
            "8" => Arc::new(Packed::<8>::new(set, walks, opt)?),
            "12" => Arc::new(Packed::<12>::new(set, walks, opt)?),
            _ => Arc::new(Packed::<4>::new(set, walks, opt)?),
        })
    }
}

/// A compiled set with packing factor C.
struct Packed<const C: usize> {
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
    /// Whether scans may use what [`scan::counts_bits`] asks for.
    #[cfg(target_arch = "x86_64")]
    counts_bits: bool,
}

impl<const C: usize> Packed<C> {
    fn new(set: &PatternSet, walks: Option<usize>, opt: &Options) -> Result<Self, Refusal> {
        let build::Built { arena, counts, root_table, lists } = build::compile(set, C, opt)?;
        let far = lists > INTERLEAVE_FROM;
        Ok(Self {
            owner: MatcherId::new(),
            set: set.clone(),
            fold: CaseFold::of(set),
            confirm: Trie::must_confirm(set),
            arena,
            counts,
            root_table,
            lists,
            walks: walks.unwrap_or(if far { FAR_WALKS } else { 1 }),
            #[cfg(target_arch = "x86_64")]
            counts_bits: scan::counts_bits(),
        })
    }

    fn nodes(&self) -> Nodes<'_, C> {
        Nodes::new(self.arena.tail(0), self.root_table)
    }
}

impl<const C: usize> Counted for Packed<C> {
    fn count(&self, block: Block<'_>) -> Cost {
        self.count_steps(block)
    }
}

impl<const C: usize> Matcher for Packed<C> {
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
