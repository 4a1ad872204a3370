//! Classes of states, section 2.4.1: they decide how a state is stored.
//!
//! By its number of children a state is B (more than 8), L (2 to 8) or O. Siblings must stand side
//! by side in nodes of the same size, so the largest of them decides for all. The first letter of
//! a class is that of the largest sibling, the second that of the state itself.

use fyke_automata::{Trie, trie};
use std::ops::Range;

/// Most children of a low-degree node.
pub const LOW_DEGREE: usize = 8;

/// The size of node that a state needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Size {
    /// Zero or one child.
    O,
    /// Two to eight children.
    L,
    /// More than eight children.
    B,
}

impl Size {
    fn of(degree: usize) -> Size {
        match degree {
            0 | 1 => Size::O,
            2..=LOW_DEGREE => Size::L,
            _ => Size::B,
        }
    }
}

/// The class of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// The size for the largest sibling, including the state itself.
    pub group: Size,
    /// The size for the state.
    pub own: Size,
}

/// The class of states in path nodes whose siblings are all in path nodes.
pub const OO: Class = Class { group: Size::O, own: Size::O };

/// The classes of a trie.
#[derive(Debug)]
pub struct Classes(Vec<Class>);

impl Classes {
    /// Classifies the states of a trie.
    pub fn new(trie: &Trie) -> Classes {
        let own = |state| Size::of(trie.children(state).len());
        let mut classes = vec![OO; trie.len()];
        for group in groups(trie) {
            let largest = group.clone().map(own).max().unwrap_or(Size::O);
            for state in group {
                classes[state as usize] = Class { group: largest, own: own(state) };
            }
        }
        Classes(classes)
    }

    /// The class of a state.
    #[inline]
    pub fn of(&self, state: u32) -> Class {
        self.0[state as usize]
    }

    /// The number of states of each class, under the names of the paper.
    pub fn stats(&self) -> Vec<(String, u64)> {
        use Size::{B, L, O};
        let names =
            [("BB", B, B), ("BL", B, L), ("BO", B, O), ("LL", L, L), ("LO", L, O), ("OO", O, O)];
        let count = |class| self.0.iter().filter(|&&c| c == class).count() as u64;
        names
            .into_iter()
            .map(|(name, group, own)| (name.to_owned(), count(Class { group, own })))
            .collect()
    }
}

/// The groups of siblings of a trie, from the root down.
pub fn groups(trie: &Trie) -> impl Iterator<Item = Range<u32>> + '_ {
    let below = (0..trie.len() as u32).map(|s| trie.children(s)).filter(|group| !group.is_empty());
    std::iter::once(trie::ROOT..trie::ROOT + 1).chain(below)
}

/// The child of a state that has exactly one.
#[inline]
pub fn only_child(trie: &Trie, state: u32) -> Option<u32> {
    let children = trie.children(state);
    (children.len() == 1).then_some(children.start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_core::PatternSet;

    #[test]
    fn the_largest_sibling_decides() {
        let nine = (b'0'..=b'8').map(|b| vec![b'a', b]);
        let others = ["b1", "b2", "c1", "dxyz", "a0q", "a0r", "b1s"];
        let patterns = nine.chain(others.iter().map(|p| p.as_bytes().to_vec()));
        let trie = Trie::new(&PatternSet::new(patterns).unwrap()).unwrap();
        let stats = Classes::new(&trie).stats();
        let counts: Vec<_> = stats.iter().map(|(name, n)| (name.as_str(), *n)).collect();
        // The root is L and alone; a is B, b is L, c and d are O; a0 is L, a1 to a8 are O; the
        // rest is OO.
        let expected = [("BB", 1), ("BL", 1), ("BO", 2), ("LL", 2), ("LO", 8), ("OO", 9)];
        assert_eq!(counts, expected);
    }
}
