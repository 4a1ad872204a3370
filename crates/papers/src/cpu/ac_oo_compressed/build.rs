//! Compile time: decides which transitions are copied and where each node stands.
//!
//! A first pass over the states in breadth-first order finds the transitions of each state, as
//! sets of bytes, from those of its failure state. So the nodes are counted, and their memory is
//! known, before any is built. A second pass builds them. It finds the target of a copied
//! transition in the nodes of the failure state, which exist by then, so it follows no chain of
//! failure links.

use super::node::{self, ByteSet, CAPACITY, LINK_BYTES, NODE_BYTES, State};
use super::{CompressedGraph, Counts};
use crate::build::Arena;
use crate::build::lists::RuleLists;
use fyke_automata::Trie;
use fyke_automata::count::Uncounted;
use fyke_automata::trie::ROOT;
use fyke_core::{Options, PatternSet, Refusal};

/// Bytes of nodes and links that 32 bits can address.
const MOST_BYTES: u64 = 1 << 32;

/// Bytes of a plan for each state.
const PLAN_BYTES: u64 = size_of::<ByteSet>() as u64 + 1;

/// Bytes of memory that it takes to count the nodes.
pub(super) fn memory_to_count(set: &PatternSet) -> u64 {
    let states = Trie::count_states(set);
    let list_heads = 4;
    Trie::memory_for(states, set)
        + RuleLists::memory_for(set.len())
        + states * (list_heads + PLAN_BYTES)
}

/// Checks the memory limit twice: before the nodes are counted, and before they are built.
pub(super) fn compile<const LINKS: bool>(
    set: &PatternSet,
    opt: &Options,
) -> Result<CompressedGraph<LINKS>, Refusal> {
    let counting = memory_to_count(set);
    opt.check_memory(counting)?;
    let trie = Trie::new(set)?;
    let lists = RuleLists::new(&trie)?;
    let plan = NodePlan::new(&trie, LINKS);
    let (need, have) = (plan.counts.node_bytes() + plan.counts.link_bytes(), MOST_BYTES);
    let states = size_of::<State>() * trie.len();
    opt.check_memory(counting + need + (lists.bytes.len() + states) as u64)?;
    if need > have {
        return Err(Refusal::TooBig { what: "bytes of nodes", need, have });
    }
    Ok(Builder::<LINKS>::new(&trie, &plan, &lists).build())
}

/// The kind of node of each state.
struct NodePlan {
    /// The bytes of the transitions of each state, including copied ones.
    bytes: Vec<ByteSet>,
    /// Whether a state is in an end-node sequence: it has a single way, to a leaf.
    on_path: Vec<bool>,
    counts: Counts,
}

impl NodePlan {
    fn new(trie: &Trie, links: bool) -> NodePlan {
        let bytes = transitions(trie);
        let on_path = paths(trie, &bytes);
        let mut plan = NodePlan { bytes, on_path, counts: Counts::default() };
        plan.count(trie);
        let unused = if links { &mut plan.counts.copy_nodes } else { &mut plan.counts.links };
        *unused = 0;
        plan
    }

    fn count(&mut self, trie: &Trie) {
        let counts = &mut self.counts;
        counts.states = trie.len() as u64;
        for state in (0..trie.len()).filter(|&state| !self.on_path[state]) {
            let (children, all) = (trie.children(state as u32), node::size(&self.bytes[state]));
            counts.bitmaps += 1;
            counts.links += all as u64;
            counts.copy_nodes += (all - children.len()) as u64;
            for head in children.filter(|&child| self.on_path[child as usize]) {
                counts.paths += path_from(trie, head).count().div_ceil(CAPACITY) as u64;
            }
        }
    }
}

/// The bytes of the transitions of each state, without those that the root provides.
fn transitions(trie: &Trie) -> Vec<ByteSet> {
    let mut bytes = vec![ByteSet::default(); trie.len()];
    for state in 0..trie.len() as u32 {
        let suffix = trie.fail(state);
        let mut set = if suffix == ROOT { ByteSet::default() } else { bytes[suffix as usize] };
        trie.child_labels(state).iter().for_each(|&label| node::insert(&mut set, label));
        bytes[state as usize] = set;
    }
    bytes
}

/// Marks the end-node sequences, from the leaves up. Children have greater numbers than parents.
fn paths(trie: &Trie, bytes: &[ByteSet]) -> Vec<bool> {
    let mut on_path = vec![false; trie.len()];
    for state in (1..trie.len()).rev() {
        let mut children = trie.children(state as u32);
        on_path[state] = match (node::size(&bytes[state]), children.next()) {
            (0, _) => true,
            (1, Some(child)) => on_path[child as usize],
            _ => false,
        };
    }
    on_path
}

/// The states from one on an end-node sequence to its leaf.
fn path_from(trie: &Trie, head: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(head), |&state| trie.children(state).next())
}

struct Builder<'a, const LINKS: bool> {
    trie: &'a Trie,
    plan: &'a NodePlan,
    lists: &'a RuleLists,
    arena: Arena,
    /// Where each state stands, once the node of its parent is built.
    places: Vec<State>,
    /// The end of the nodes so far.
    end: usize,
    /// The end of the links so far. They stand after the nodes.
    links_end: usize,
}

impl<'a, const LINKS: bool> Builder<'a, LINKS> {
    fn new(trie: &'a Trie, plan: &'a NodePlan, lists: &'a RuleLists) -> Self {
        let links_end = plan.counts.node_bytes() as usize;
        let lists_at = links_end + plan.counts.link_bytes() as usize;
        let arena = Arena::zeroed(lists_at + lists.bytes.len());
        let places = vec![State::ROOT; trie.len()];
        Builder { trie, plan, lists, arena, places, end: NODE_BYTES, links_end }
    }

    fn build(mut self) -> CompressedGraph<LINKS> {
        for state in 0..self.trie.len() as u32 {
            if !self.plan.on_path[state as usize] {
                self.put_bitmap(state);
            }
        }
        let (lists_at, fold, counts) = (self.links_end, self.trie.fold(), self.plan.counts);
        debug_assert_eq!(self.end as u64, counts.node_bytes(), "every counted node was built");
        self.arena.put(lists_at, &self.lists.bytes);
        CompressedGraph { arena: self.arena, lists_at, fold, counts }
    }

    fn take_nodes(&mut self, count: usize) -> usize {
        self.end += count * NODE_BYTES;
        self.end - count * NODE_BYTES
    }

    fn take_links(&mut self, count: usize) -> usize {
        self.links_end += count * LINK_BYTES;
        self.links_end - count * LINK_BYTES
    }

    /// Builds the node of a state that is not on a path, and places its children.
    fn put_bitmap(&mut self, state: u32) {
        let set = &self.plan.bytes[state as usize];
        let count = node::size(set);
        let first = if LINKS { self.take_links(count) } else { self.take_nodes(count) };
        let rules = self.lists.heads[state as usize];
        node::put_bitmap(&mut self.arena, self.places[state as usize].node(), rules, first, set);
        for (rank, byte) in node::members(set).enumerate() {
            if LINKS {
                self.put_link(state, byte, first + rank * LINK_BYTES);
            } else {
                self.put_child(state, byte, first + rank * NODE_BYTES);
            }
        }
    }

    /// Puts the child, or a copy node, at its rank among the siblings.
    fn put_child(&mut self, state: u32, byte: u8, at: usize) {
        match self.trie.child(state, byte) {
            Some(child) => self.settle(child, at),
            None => {
                let original = self.copied(state, byte);
                node::put_copy(&mut self.arena, at, original);
            }
        }
    }

    /// Puts the child in a node of its own, and a link to it at its rank.
    fn put_link(&mut self, state: u32, byte: u8, at: usize) {
        let to = if let Some(child) = self.trie.child(state, byte) {
            let node = self.take_nodes(1);
            self.settle(child, node);
            self.places[child as usize]
        } else {
            self.copied(state, byte)
        };
        node::put_link(&mut self.arena, at, to);
    }

    /// The target of a copied transition: that of the longest suffix, which may itself be a copy.
    fn copied(&self, state: u32, byte: u8) -> State {
        let suffix = self.places[self.trie.fail(state) as usize];
        node::follow::<LINKS, _>(&self.arena, suffix, byte, &mut Uncounted)
            .expect("the node of the suffix is built and has the transition")
    }

    fn settle(&mut self, child: u32, at: usize) {
        if self.plan.on_path[child as usize] {
            self.put_path(child, at);
        } else {
            self.place(child, at, 0);
            node::begin_bitmap(&mut self.arena, at, self.places[child as usize].reports());
        }
    }

    fn place(&mut self, state: u32, node: usize, place: usize) {
        let reports = self.trie.is_output(state);
        self.places[state as usize] = State::at(node, place, reports);
    }

    /// Builds the path nodes from a state to its leaf, the first of them at `at`.
    fn put_path(&mut self, head: u32, at: usize) {
        let states: Vec<u32> = path_from(self.trie, head).collect();
        let parts = states.chunks(CAPACITY);
        let others = self.take_nodes(parts.len() - 1);
        let node = |part: usize| if part == 0 { at } else { others + (part - 1) * NODE_BYTES };
        for (i, part) in parts.clone().enumerate() {
            (0..).zip(part).for_each(|(place, &state)| self.place(state, node(i), place));
        }
        for (i, part) in parts.enumerate() {
            let entries: Vec<_> = part.iter().map(|&state| self.entry(state)).collect();
            let next = states.get((i + 1) * CAPACITY).map(|&state| self.places[state as usize]);
            node::put_path(&mut self.arena, node(i), &entries, next.unwrap_or(State::NONE));
        }
    }

    /// The rule list of a state on a path, and the byte of its transition.
    fn entry(&self, state: u32) -> (u32, u8) {
        let leads_on = self.trie.child_labels(state).first().copied();
        (self.lists.heads[state as usize], leads_on.unwrap_or(0))
    }
}
