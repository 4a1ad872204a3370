//! Builds the nodes from the trie: first a place for each state, then the fields.

use super::node::{CAPACITY, NODE_BYTES, Writer};
use super::{Counts, TuckAutomaton};
use crate::build::Arena;
use crate::build::lists::RuleLists;
use fyke_automata::Trie;
use fyke_core::Refusal;

/// Bytes that a 4-byte pointer can address.
const REACH: u64 = 1 << 32;

/// Compresses the automaton of a trie.
///
/// # Errors
/// The nodes take more bytes than pointers can address.
pub(super) fn compress(trie: &Trie) -> Result<TuckAutomaton, Refusal> {
    let plan = NodePlaces::new(trie)?;
    let rules = RuleLists::new(trie)?;
    let lists = plan.nodes as usize * NODE_BYTES;
    let mut arena = Arena::zeroed(lists);
    for state in 0..trie.len() as u32 {
        plan.write(trie, state, rules.heads[state as usize], &mut arena);
    }
    arena.append(&rules.bytes);
    let bitmap_nodes = plan.in_path.iter().filter(|&&path| !path).count() as u64;
    let counts = Counts {
        states: trie.len() as u64,
        bitmap_nodes,
        path_nodes: u64::from(plan.nodes) - bitmap_nodes,
    };
    Ok(TuckAutomaton { fold: trie.fold(), arena, lists, counts })
}

/// The node and the place of each state.
struct NodePlaces {
    /// Whether a state belongs to an end-node sequence.
    in_path: Vec<bool>,
    /// The number of the node of each state, in order of the nodes in memory.
    node: Vec<u32>,
    /// The place of each state in its path node, or 0.
    place: Vec<u8>,
    /// The number of nodes.
    nodes: u32,
}

impl NodePlaces {
    fn new(trie: &Trie) -> Result<NodePlaces, Refusal> {
        let in_path = end_node_sequences(trie);
        let mut plan =
            NodePlaces { node: vec![0; trie.len()], place: vec![0; trie.len()], in_path, nodes: 1 };
        for state in 0..trie.len() as u32 {
            trie.children(state).for_each(|child| plan.put(state, child));
        }
        let need = u64::from(plan.nodes) * NODE_BYTES as u64;
        if need > REACH {
            return Err(Refusal::TooBig { what: "bytes of nodes", need, have: REACH });
        }
        Ok(plan)
    }

    /// Gives a child its node. Children come one after the other, so those of a bitmap node become
    /// neighbors.
    fn put(&mut self, parent: u32, child: u32) {
        let (parent, child) = (parent as usize, child as usize);
        let place = self.place[parent] + 1;
        if self.in_path[parent] && usize::from(place) < CAPACITY {
            self.node[child] = self.node[parent];
            self.place[child] = place;
        } else {
            self.node[child] = self.nodes;
            self.nodes += 1;
        }
    }

    fn at(&self, state: u32) -> usize {
        self.node[state as usize] as usize * NODE_BYTES
    }

    fn write(&self, trie: &Trie, state: u32, rules: u32, arena: &mut Arena) {
        let mut node = Writer { arena, at: self.at(state) };
        let fail = trie.fail(state);
        let (fail, fail_place) = (self.at(fail) as u32, self.place[fail as usize]);
        let place = usize::from(self.place[state as usize]);
        let children = trie.children(state);
        let child = if children.is_empty() { 0 } else { self.at(children.start) };
        if self.in_path[state as usize] {
            node.path_state(place, rules, (fail, fail_place));
            if let Some(label) = trie.child_labels(state).first() {
                node.path_goto(place, *label, (child != node.at).then_some(child as u32));
            }
        } else {
            node.bitmap_state(rules, (fail, fail_place), child as u32);
            node.bitmap(trie.child_labels(state));
        }
    }
}

/// Marks the states without a branch below them. Children have greater numbers, so one pass from
/// the end finds them.
fn end_node_sequences(trie: &Trie) -> Vec<bool> {
    let mut in_path = vec![false; trie.len()];
    for state in (0..trie.len() as u32).rev() {
        let children = trie.children(state);
        in_path[state as usize] = match children.len() {
            0 => true,
            1 => in_path[children.start as usize],
            _ => false,
        };
    }
    in_path
}
