//! Aho-Corasick with failure links, walked in the trie itself.
//!
//! The smallest automaton: about 17 bytes per state. It is the engine `ac-nfa`, and GPU engines
//! scan with it when their device fails.

use crate::count::Counter;
use crate::trie::{ROOT, Trie};
use crate::walk::{Automaton, Step, Walker};
use fyke_core::{Footprint, Info, Matcher, Options, PatternSet, Refusal};
use std::sync::Arc;

const ROOT_TABLE_BYTES: u64 = 4 * 256;

/// The trie with its failure links.
#[derive(Debug)]
pub struct Nfa {
    info: &'static Info,
    trie: Trie,
    /// The goto function of the root, where the walk is for most bytes of most haystacks.
    root: [u32; 256],
}

impl Automaton for Nfa {
    fn info(&self) -> &'static Info {
        self.info
    }

    fn root(&self) -> u64 {
        u64::from(ROOT)
    }

    #[inline(always)]
    fn is_output(&self, state: u64) -> bool {
        self.trie.is_output(state as u32)
    }

    fn outputs(&self, state: u64, mut each: impl FnMut(u32)) {
        let mut state = state as u32;
        while state != ROOT {
            self.trie.own(state).iter().for_each(|&pattern| each(pattern));
            state = self.trie.output_link(state);
        }
    }

    fn footprint(&self) -> Footprint {
        Footprint { host: self.trie.memory() + ROOT_TABLE_BYTES, device: 0 }
    }

    fn stats(&self) -> Vec<(String, u64)> {
        self.trie.stats()
    }

    fn describe(&self) -> String {
        format!("{} states with failure links, {} bytes", self.trie.len(), self.footprint().host)
    }
}

impl<C: Counter> Step<C> for Nfa {
    #[inline(always)]
    fn step(&self, state: u64, byte: u8, counter: &mut C) -> u64 {
        let folded = self.trie.fold().byte(byte);
        let mut state = state as u32;
        while state != ROOT {
            counter.transitions(1);
            if let Some(child) = self.trie.child(state, folded) {
                return u64::from(child);
            }
            state = self.trie.fail(state);
        }
        counter.transitions(1);
        u64::from(self.root[usize::from(byte)])
    }
}

impl Nfa {
    /// Bytes of memory that the automaton of a set takes, computed without building it.
    pub fn memory_for(set: &PatternSet) -> u64 {
        Trie::memory_for(Trie::count_states(set), set) + ROOT_TABLE_BYTES
    }

    /// Compiles a set for the engine of `info`.
    ///
    /// # Errors
    /// The automaton would exceed the memory limit, or have more than 2^32 - 2 states.
    pub fn compile(
        info: &'static Info,
        set: &PatternSet,
        opt: &Options,
    ) -> Result<Arc<dyn Matcher>, Refusal> {
        opt.check_memory(Self::memory_for(set))?;
        let trie = Trie::new(set)?;
        let mut root = [ROOT; 256];
        for byte in 0..=255 {
            root[usize::from(byte)] = trie.next(ROOT, trie.fold().byte(byte));
        }
        Ok(Walker::matcher(set, Nfa { info, trie, root }))
    }
}
