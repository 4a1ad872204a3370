//! [`Prefixes`]: at which positions a pattern may begin.

use super::Node;
use super::bitmap::Bitmap;
use super::grams::{self, GramPositions, Grams};
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
pub(super) trait Positions {
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
    Grams(Grams, Starts),
}

/// What to do with the positions of any kind.
pub(super) trait WithPositions {
    type Output;

    fn run(self, positions: impl Positions) -> Self::Output;
}

impl Prefixes {
    /// The maximum number of bytes of memory for a set.
    pub(super) fn memory_for(set: &PatternSet) -> u64 {
        match set.min_len() {
            ..LEAST_HASHED => Groups::MEMORY,
            LEAST_HASHED..grams::LEAST => Bitmap::memory_for(set),
            _ => Grams::memory_for(set) + Starts::memory_for(set.len()),
        }
    }

    /// `state_of` returns the state that bytes lead to.
    pub(super) fn new(
        set: &PatternSet,
        states: &States<'_>,
        classes: &ByteClasses,
        state_of: impl Fn(&[u8]) -> Option<Node>,
    ) -> Prefixes {
        let fold = states.trie.fold();
        match set.min_len() {
            ..LEAST_HASHED => Prefixes::Groups(Groups::new(states, classes)),
            LEAST_HASHED..grams::LEAST => Prefixes::Bitmap(Bitmap::new(set, fold)),
            min_len => {
                let len = min_len.min(MOST_LEN);
                let heads = set.iter().map(|pattern| &pattern.bytes[..len]);
                let starts = heads.filter_map(|head| Some((head, state_of(head)?)));
                Prefixes::Grams(Grams::new(set, fold), Starts::new(starts, len, fold))
            }
        }
    }

    /// Searches by the positions of the set.
    #[inline(always)]
    pub(super) fn search<S: WithPositions>(&self, search: S) -> S::Output {
        match self {
            Prefixes::Groups(groups) => search.run(groups),
            Prefixes::Bitmap(bitmap) => search.run(bitmap),
            Prefixes::Grams(grams, starts) => search.run(GramPositions::new(grams, starts)),
        }
    }

    /// Bytes of memory.
    pub(super) fn memory(&self) -> u64 {
        match self {
            Prefixes::Groups(_) => Groups::MEMORY,
            Prefixes::Bitmap(bitmap) => bitmap.memory(),
            Prefixes::Grams(grams, starts) => grams.memory() + starts.memory(),
        }
    }
}
