//! The reversed trie and the bad-character function, which the engines with a window compare with.
//!
//! All patterns are aligned at their last bytes. So one walk from the end of a window to the left,
//! through the trie of the reversed patterns, compares all of them, whatever their lengths. A
//! state points to the list of the longest pattern on its path, which continues with the shorter
//! ones: one look-up at the end of a walk reports everything that ends there, in canonical order.
//!
//! A state takes 12 bytes and a label. Nearly every state has one child, whose label its parent
//! holds.
//!
//! The bad-character function of a set is the minimum over its patterns, B(c) = min Bi(c), where
//! Bi(c) is the distance of the last c from the end of pattern i, 1 for its last byte.
//!
//! Source: Zha (2010), sections 5.2 and 6.2.

use super::lists::{self, RuleLists};
use crate::cost::CostCounter;
use fyke_automata::trie::{self, CaseFold, Trie};
use fyke_core::{PatternSet, Refusal};

/// A state, in the form that scans use.
#[derive(Clone, Copy, Debug)]
struct Node {
    first_child: u32,
    /// The list of the patterns that end here, then of those on the path to here.
    list: u32,
    children: u16,
    /// The label of the first child.
    label: u8,
}

/// Bytes of a state: its node and the label of the edge into it.
const STATE_BYTES: u64 = size_of::<Node>() as u64 + 1;

/// Bytes of the tables with an entry per byte value: the children of the root, B, and the skips.
const TABLE_BYTES: u64 = 3 * 4 * 256;

/// The trie of the reversed patterns and the bad-character function of a set.
#[derive(Debug)]
pub struct ReverseTrie {
    fold: CaseFold,
    nodes: Vec<Node>,
    /// The label of the edge into each state.
    labels: Vec<u8>,
    lists: Vec<u8>,
    /// The child of the root for each unfolded byte, or the root.
    root: [u32; 256],
    /// B for each unfolded byte; the length of the shortest pattern plus 1 if the byte is in none.
    bad: [u32; 256],
    /// B - 1: how far a window that ends with the byte may move. 0 if a pattern ends with it.
    skip: [u32; 256],
}

/// Where a walk to the left ended.
#[derive(Clone, Copy, Debug)]
pub struct Descent {
    /// The last state.
    pub state: u32,
    /// The bytes that lead to it.
    pub depth: usize,
    /// The byte that stopped the walk; none if it reached the start of the text.
    pub mismatch: Option<u8>,
}

impl ReverseTrie {
    /// Packs the trie of a set that was read backward.
    ///
    /// # Errors
    /// There are more patterns than rule lists can name.
    pub fn new(set: &PatternSet, trie: &Trie) -> Result<ReverseTrie, Refusal> {
        let parents = trie.parents();
        let lists = RuleLists::linked(trie, |state| parents[state as usize])?;
        let node = |state: u32| Node {
            first_child: trie.children(state).start,
            list: lists.heads[state as usize],
            children: trie.children(state).len() as u16,
            label: trie.child_labels(state).first().copied().unwrap_or(0),
        };
        let fold = trie.fold();
        let bad = bad_characters(set);
        let child = |byte: u8| trie.child(trie::ROOT, fold.byte(byte)).unwrap_or(trie::ROOT);
        Ok(ReverseTrie {
            fold,
            nodes: (0..trie.len() as u32).map(node).collect(),
            labels: (0..trie.len() as u32).map(|state| trie.label(state)).collect(),
            root: std::array::from_fn(|byte| child(byte as u8)),
            bad,
            skip: bad.map(|distance| distance - 1),
            lists: lists.bytes,
        })
    }

    /// Bytes that it takes to build a reversed trie of `states` states, including the [`Trie`].
    pub fn memory_for(states: u64, set: &PatternSet) -> u64 {
        let lists = RuleLists::memory_for(set.len()) + 4 * states;
        let parents = 4 * states;
        Trie::memory_for(states, set) + lists + parents + states * STATE_BYTES + TABLE_BYTES
    }

    /// The number of states, including the root.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no pattern.
    pub fn is_empty(&self) -> bool {
        self.len() == 1
    }

    /// Bytes of the states.
    pub fn node_bytes(&self) -> u64 {
        self.len() as u64 * STATE_BYTES
    }

    /// Bytes of all tables.
    pub fn memory(&self) -> u64 {
        self.node_bytes() + self.lists.len() as u64 + TABLE_BYTES
    }

    /// B of a byte of the haystack.
    #[inline(always)]
    pub fn bad_character(&self, byte: u8) -> usize {
        self.bad[usize::from(byte)] as usize
    }

    /// Moves a window by its last byte until a pattern ends with that byte, or until it ends past
    /// `bytes`. Returns its end.
    #[inline(always)]
    pub fn skip<C: CostCounter>(&self, bytes: &[u8], mut end: usize, counter: &mut C) -> usize {
        while let Some(&last) = bytes.get(end - 1) {
            counter.comparisons(1);
            match self.skip[usize::from(last)] {
                0 => break,
                shift => end += shift as usize,
            }
        }
        end
    }

    /// Walks from the end of a text to the left while some pattern matches.
    #[inline(always)]
    pub fn descend<C: CostCounter>(&self, text: &[u8], counter: &mut C) -> Descent {
        let mut state = trie::ROOT;
        for (depth, &byte) in text.iter().rev().enumerate() {
            counter.comparisons(u64::from(depth > 0)); // the skip has counted the last byte
            match self.child(state, byte) {
                Some(child) => state = child,
                None => return Descent { state, depth, mismatch: Some(byte) },
            }
            counter.transitions(1);
        }
        Descent { state, depth: text.len(), mismatch: None }
    }

    #[inline(always)]
    fn child(&self, state: u32, byte: u8) -> Option<u32> {
        if state == trie::ROOT {
            let child = self.root[usize::from(byte)];
            return (child != trie::ROOT).then_some(child);
        }
        let (node, byte) = (self.nodes[state as usize], self.fold.byte(byte));
        match node.children {
            0 => None,
            1 => (node.label == byte).then_some(node.first_child),
            _ => self.sibling(node, byte),
        }
    }

    fn sibling(&self, node: Node, byte: u8) -> Option<u32> {
        let first = node.first_child as usize;
        let labels = &self.labels[first..first + usize::from(node.children)];
        labels.binary_search(&byte).ok().map(|place| node.first_child + place as u32)
    }

    /// Calls `each` with the patterns on the path to a state, longest first and in order within a
    /// length.
    #[inline(always)]
    pub fn outputs(&self, state: u32, each: impl FnMut(u32)) {
        lists::each_of(&self.lists, self.nodes[state as usize].list, each);
    }
}

/// B for every unfolded byte. Only the last `min_len` bytes of a pattern count, because no window
/// moves further.
pub fn bad_characters(set: &PatternSet) -> [u32; 256] {
    let fold = CaseFold::of(set);
    let mut folded = [set.min_len() as u32 + 1; 256];
    for pattern in set.iter() {
        for (distance, &byte) in (1..=set.min_len() as u32).zip(pattern.bytes.iter().rev()) {
            let nearest = &mut folded[usize::from(fold.byte(byte))];
            *nearest = distance.min(*nearest);
        }
    }
    std::array::from_fn(|byte| folded[usize::from(fold.byte(byte as u8))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::Cost;
    use fyke_automata::Direction;

    fn reverse(patterns: &[&str]) -> ReverseTrie {
        let set = PatternSet::new(patterns).unwrap();
        let trie = Trie::read(&set, Direction::Backward).unwrap();
        let reverse = ReverseTrie::new(&set, &trie).unwrap();
        assert!(reverse.memory() <= ReverseTrie::memory_for(trie.len() as u64, &set));
        reverse
    }

    /// Zha 2010, section 5.1: B of abcabcd.
    #[test]
    fn bad_characters_count_from_the_end() {
        let t = reverse(&["abcabcd"]);
        assert_eq!(b"abcd".map(|c| t.bad_character(c)), [4, 3, 2, 1]);
        assert_eq!(t.bad_character(b'x'), 8);
        let t = reverse(&["abcabcd", "xxxa"]);
        assert_eq!(b"abcdxy".map(|c| t.bad_character(c)), [1, 3, 2, 1, 2, 5]);
    }

    #[test]
    fn a_descent_compares_all_patterns_at_once() {
        let t = reverse(&["she", "e", "ushe", "he", "his"]);
        let mut cost = Cost::default();
        let d = t.descend(b"cashe", &mut cost);
        assert_eq!((d.depth, d.mismatch), (3, Some(b'a')));
        assert_eq!((cost.transitions, cost.comparisons), (3, 3));
        let mut found = Vec::new();
        t.outputs(d.state, |p| found.push(p));
        assert_eq!(found, [3, 1, 0], "she, he, e");
        assert_eq!(t.descend(b"he", &mut cost).mismatch, None);
    }

    #[test]
    fn a_skip_stops_at_last_bytes_or_past_the_text() {
        let t = reverse(&["abcd", "xyzcd"]);
        let mut cost = Cost::default();
        assert_eq!(t.skip(b"......d..", 4, &mut cost), 12);
        assert_eq!(t.skip(b"......d..", 5, &mut cost), 13);
        assert_eq!(t.skip(b"......d..", 7, &mut cost), 7);
    }
}
