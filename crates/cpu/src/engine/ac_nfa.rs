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
//! A. V. Aho and M. J. Corasick, *Efficient string matching: an aid to bibliographic search*, CACM 18(6),
//! 1975, algorithms 1-3; Zha (2010), section 2.1.

use crate::build::{Trie, trie};
use fyke_core::{
    Block, Device, Emitter, Engine, Family, Footprint, Growth, Info, Matcher, Options, Owner,
    PatternSet, Refusal, Scratch, Sink,
};
use std::ops::ControlFlow;
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
    variants: &[""],
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

const ROOT_TABLE_BYTES: u64 = 4 * 256;

impl Engine for AcNfa {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        opt.check_params(&[])?;
        opt.check_memory(Self::memory_for(set))?;
        let trie = Trie::new(set)?;
        let mut root = [trie::ROOT; 256];
        for byte in 0..=255 {
            root[usize::from(byte)] = trie.next(trie::ROOT, trie.fold().byte(byte));
        }
        Ok(Arc::new(Compiled {
            confirm: Trie::must_confirm(set),
            trie,
            root,
            set: set.clone(),
            owner: Owner::new(),
        }))
    }
}

struct Compiled {
    owner: Owner,
    set: PatternSet,
    trie: Trie,
    /// The goto function of the root, where most bytes of most haystacks are read.
    root: [u32; 256],
    confirm: Vec<bool>,
}

impl Compiled {
    #[inline(always)]
    fn step(&self, state: u32, byte: u8) -> u32 {
        let folded = self.trie.fold().byte(byte);
        let mut state = state;
        while state != trie::ROOT {
            if let Some(child) = self.trie.child(state, folded) {
                return child;
            }
            state = self.trie.fail(state);
        }
        self.root[usize::from(byte)]
    }

    /// The state where the owned bytes begin: left by the block before, or found by walking the lead.
    fn enter(&self, block: &Block<'_>, scratch: &Scratch) -> u32 {
        let lead = || block.bytes[..block.lead].iter().fold(trie::ROOT, |s, &b| self.step(s, b));
        scratch.resume(self.owner, block).unwrap_or_else(lead)
    }

    /// Writes the patterns that end with `state` after `bytes`: its own, then those of its suffixes.
    fn report(&self, state: u32, bytes: &[u8], end: u32, out: &mut Emitter<'_>) {
        let mut state = state;
        while state != trie::ROOT {
            for &index in self.trie.own(state) {
                if self.is_match(index, bytes) {
                    out.push(end, index);
                }
            }
            state = self.trie.output_link(state);
        }
    }

    fn is_match(&self, index: u32, bytes: &[u8]) -> bool {
        if self.confirm.get(index as usize) != Some(&true) {
            return true;
        }
        bytes.ends_with(self.set.bytes(index))
    }
}

impl Matcher for Compiled {
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
        let mut state = self.enter(&block, scratch);
        let bytes = block.bytes;
        let mut out = Emitter::new(&self.set, sink, scratch.records(), block.offset, true);
        let mut base = 0;
        for (i, &byte) in bytes.iter().enumerate().skip(block.lead) {
            state = self.step(state, byte);
            if self.trie.is_output(state) {
                let end = i + 1;
                if end - base > u32::MAX as usize {
                    base = end;
                    out.rebase(block.offset + base as u64)?;
                }
                self.report(state, &bytes[..end], (end - base) as u32, &mut out);
                out.relieve()?;
            }
        }
        out.flush()?;
        scratch.leave(self.owner, block.offset + bytes.len() as u64, state);
        ControlFlow::Continue(())
    }

    fn footprint(&self) -> Footprint {
        Footprint {
            host: self.trie.memory() + ROOT_TABLE_BYTES + self.confirm.len() as u64,
            device: 0,
        }
    }

    fn describe(&self) -> String {
        format!("{} states with failure links, {} bytes", self.trie.len(), self.footprint().host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_core::{Collect, oracle};

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
}
