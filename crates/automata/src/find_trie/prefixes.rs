//! [`Prefixes`]: at which positions a pattern may begin.

use super::Node;
use super::bitmap::Bitmap;
use super::gram_pairs::{self, GramPairPositions, GramPairs};
use super::groups::Groups;
use super::starts::Starts;
use crate::classes::ByteClasses;
use crate::find_states::States;
use fyke_core::PatternSet;

/// The maximum number of bytes that are looked up.
pub(super) const MOST_LEN: usize = 8;

/// The minimum number of bytes that are hashed.
const LEAST_HASHED: usize = 4;

/// Finds the positions at which a pattern may begin, one after the other.
pub(super) trait StartPositions {
    /// The first such position from `at` on, or the length. `at` never decreases.
    fn next(&mut self, haystack: &[u8], at: usize) -> usize;

    /// The state that the first bytes from a position on lead to, and the number of these bytes.
    #[inline(always)]
    fn start(&self, root: Node, _haystack: &[u8], _at: usize) -> (Node, usize) {
        (root, 0)
    }
}

/// Finds the positions at which a pattern may begin, by the shortest pattern of the set.
#[derive(Debug)]
pub(super) enum Prefixes {
    Groups(Groups),
    Bitmap(Bitmap),
    GramPairs(GramPairs, Starts),
}

/// What to do with the positions of any kind.
pub(super) trait WithPositions {
    type Output;

    fn run(self, positions: impl StartPositions) -> Self::Output;
}

impl Prefixes {
    /// The maximum number of bytes of memory for a set.
    pub(super) fn memory_for(set: &PatternSet) -> u64 {
        let pairs = || GramPairs::memory_for(set) + Starts::memory_for(set.len());
        match set.min_len() {
            ..LEAST_HASHED => Groups::MEMORY,
            LEAST_HASHED..gram_pairs::LEAST => Bitmap::memory_for(set),
            _ => pairs().max(Bitmap::memory_for(set)),
        }
    }

    /// `state_of` returns the state that bytes lead to.
    pub(super) fn new(
        set: &PatternSet,
        states: &States<'_>,
        classes: &ByteClasses,
        state_of: impl Fn(&[u8]) -> Option<Node>,
    ) -> Prefixes {
        let (fold, len) = (states.trie.fold(), set.min_len().min(MOST_LEN));
        if len < LEAST_HASHED {
            return Prefixes::Groups(Groups::new(states, classes));
        }
        if len >= gram_pairs::LEAST {
            let heads = set.iter().map(|pattern| &pattern.bytes[..len]);
            let starts = heads.filter_map(|head| Some((head, state_of(head)?)));
            if let Some(starts) = Starts::new(starts, len, fold) {
                return Prefixes::GramPairs(GramPairs::new(set, fold), starts);
            }
        }
        Prefixes::Bitmap(Bitmap::new(set, fold))
    }

    /// Searches by the positions of the set.
    #[inline(always)]
    pub(super) fn search<S: WithPositions>(&self, search: S) -> S::Output {
        match self {
            Prefixes::Groups(groups) => search.run(groups),
            Prefixes::Bitmap(bitmap) => search.run(bitmap),
            Prefixes::GramPairs(grams, starts) => search.run(GramPairPositions::new(grams, starts)),
        }
    }

    /// Bytes of memory.
    pub(super) fn memory(&self) -> u64 {
        match self {
            Prefixes::Groups(_) => Groups::MEMORY,
            Prefixes::Bitmap(bitmap) => bitmap.memory(),
            Prefixes::GramPairs(grams, starts) => grams.memory() + starts.memory(),
        }
    }
}
