//! Compiles a [`FindTrie`]: places the states in the double array.

use super::prefixes::Prefixes;
use super::{BASE_SHIFT, FindTrie, MOST_SLOTS, Node};
use crate::compact::{Edge, Edges, Placement};
use crate::find_states::States;
use crate::trie::{ROOT, Trie};
use fyke_core::{PatternId, PatternSet, Semantics};

/// The number of the root among those that are placed. Number 0 stores nothing.
const ROOT_NUMBER: u32 = 1;

/// Compiles a set. `None` if the trie exceeds `limit` bytes.
pub(super) fn compile(
    set: &PatternSet,
    trie: &Trie,
    semantics: Semantics,
    limit: u64,
) -> Option<FindTrie> {
    let states = States::unlinked(set, trie, semantics);
    let classes = states.classes();
    let slots = limit.saturating_sub(Prefixes::memory_for(set)) / size_of::<Node>() as u64;
    let slots = usize::try_from(slots).map_or(MOST_SLOTS, |slots| slots.min(MOST_SLOTS));
    let numbers = trie.len() + ROOT_NUMBER as usize;
    let edges = Edges::unshared(numbers, |number, edges| {
        let Some(state) = number.checked_sub(ROOT_NUMBER) else { return };
        let children = states.children(state).filter(|_| !states.is_final(state));
        let class = |child| classes.get(trie.label(child));
        edges.extend(children.map(|child| Edge { class: class(child), target: child }));
    });
    let placement = Placement::new(&edges, numbers, slots).ok()?;
    let label = |&label: &u8| Node { packed: u32::from(label), id: PatternId(0) };
    let mut nodes: Vec<Node> = placement.labels.iter().map(label).collect();
    for number in ROOT_NUMBER..numbers as u32 {
        for edge in edges.of(number) {
            let slot = placement.base[number as usize] ^ u32::from(edge.class);
            let node = &mut nodes[slot as usize];
            node.packed |= placement.base[(edge.target + ROOT_NUMBER) as usize] << BASE_SHIFT;
            if let Some(found) = states.matched(edge.target) {
                node.packed |= Node::MATCH;
                node.id = found.id;
            }
        }
    }
    let base = placement.base[(ROOT + ROOT_NUMBER) as usize];
    let root = Node { packed: base << BASE_SHIFT, id: PatternId(0) };
    let child = |node: Node, &byte: &u8| node.child(&nodes, classes.get(byte));
    let state_of = |bytes: &[u8]| bytes.iter().try_fold(root, child);
    Some(FindTrie {
        prefixes: Prefixes::new(set, &states, &classes, state_of),
        nodes,
        class: *classes.map(),
        root,
        earliest: semantics == Semantics::Standard,
        min_len: set.min_len(),
    })
}
