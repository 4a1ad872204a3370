//! The trie itself, whose children are searched.

use super::TrieLayout;
use super::ahead::{Chains, rests};
use fyke_automata::{Trie, trie};
use fyke_core::{PatternSet, Refusal};
use std::sync::Arc;

/// The trie, and the goto function of its root, where most walks end.
pub(super) struct ListLayout {
    trie: Arc<Trie>,
    root: [u32; 256],
    rests: Vec<u16>,
}

const ROOT_TABLE_BYTES: u64 = 4 * 256;

impl ListLayout {
    /// Bytes of memory that a set takes, computed without building it.
    pub(super) fn memory_for(set: &PatternSet) -> u64 {
        let states = Trie::count_states(set);
        Trie::memory_for(states, set) + 4 * states + Chains::memory_for(states) + ROOT_TABLE_BYTES
    }

    pub(super) fn new(trie: &Arc<Trie>) -> Result<ListLayout, Refusal> {
        let mut root = [trie::ROOT; 256];
        for byte in 0..=255 {
            let child = trie.child(trie::ROOT, trie.fold().byte(byte));
            root[usize::from(byte)] = child.unwrap_or(trie::ROOT);
        }
        Ok(ListLayout { rests: rests(trie), trie: trie.clone(), root })
    }
}

impl TrieLayout for ListLayout {
    fn scale(&self) -> u32 {
        1
    }

    fn root(&self) -> u32 {
        trie::ROOT
    }

    #[inline(always)]
    fn child(&self, state: u32, byte: u8) -> Option<u32> {
        if state == trie::ROOT {
            let child = self.root[usize::from(byte)];
            return (child != trie::ROOT).then_some(child);
        }
        self.trie.child(state, self.trie.fold().byte(byte))
    }

    #[inline(always)]
    fn own(&self, state: u32) -> &[u32] {
        self.trie.own(state)
    }

    #[inline(always)]
    fn rest(&self, state: u32) -> u16 {
        self.rests[state as usize]
    }

    fn memory(&self) -> u64 {
        self.trie.memory() + 2 * self.rests.len() as u64 + ROOT_TABLE_BYTES
    }

    fn stats(&self) -> Vec<(String, u64)> {
        self.trie.stats()
    }
}
