//! Compile time: which states are copied, and where each node stands.
//!
//! One pass over the states in breadth-first order finds the transitions of each from those of its failure
//! state, as sets of bytes. So the nodes are counted, and the memory they take is known, before any is made.
//! A second pass makes them. A copied transition is looked up in the failure state's nodes, which are
//! there: no chain of failure links is followed, and the work is that of writing the nodes.

use super::node::{self, ByteSet, CAPACITY, NODE_BYTES, State};
use super::{Counts, Nodes};
use crate::build::lists::Lists;
use crate::build::trie::ROOT;
use crate::build::{Arena, Trie};
use crate::count::Uncounted;
use fyke_core::{Options, PatternSet, Refusal};

/// Nodes are addressed by 32 bits.
const MOST_BYTES: u64 = 1 << 32;

/// Bytes of a plan for each state.
const PLAN_BYTES: u64 = size_of::<ByteSet>() as u64 + 1;

/// Bytes of memory that it takes to count the nodes.
pub(super) fn memory_to_count(set: &PatternSet) -> u64 {
    let states = Trie::count_states(set);
    let list_heads = 4;
    Trie::memory_for(states, set)
        + Lists::memory_for(set.len())
        + states * (list_heads + PLAN_BYTES)
}

/// Checks the memory limit twice: before the nodes are counted, and before they are made.
pub(super) fn compile(set: &PatternSet, opt: &Options) -> Result<Nodes, Refusal> {
    let counting = memory_to_count(set);
    opt.check_memory(counting)?;
    let trie = Trie::new(set)?;
    let lists = Lists::new(&trie)?;
    let plan = Plan::new(&trie);
    let node_bytes = plan.counts.node_bytes();
    let states = size_of::<State>() * trie.len();
    opt.check_memory(counting + node_bytes + (lists.bytes.len() + states) as u64)?;
    if node_bytes > MOST_BYTES {
        return Err(Refusal::TooBig { what: "bytes of nodes", need: node_bytes, have: MOST_BYTES });
    }
    Ok(Builder::new(&trie, &plan, &lists).build())
}

/// What kinds of node there will be.
struct Plan {
    /// The bytes of each state's transitions, copied ones among them.
    bytes: Vec<ByteSet>,
    /// Whether a state is part of an end-node sequence: nothing but one way to a leaf.
    on_path: Vec<bool>,
    counts: Counts,
}

impl Plan {
    fn new(trie: &Trie) -> Plan {
        let bytes = transitions(trie);
        let on_path = paths(trie, &bytes);
        let mut plan = Plan { bytes, on_path, counts: Counts::default() };
        plan.count(trie);
        plan
    }

    fn count(&mut self, trie: &Trie) {
        let counts = &mut self.counts;
        counts.states = trie.len() as u64;
        for state in (0..trie.len()).filter(|&state| !self.on_path[state]) {
            let children = trie.children(state as u32);
            counts.bitmaps += 1;
            counts.copies += (node::size(&self.bytes[state]) - children.len()) as u64;
            for head in children.filter(|&child| self.on_path[child as usize]) {
                counts.paths += path_from(trie, head).count().div_ceil(CAPACITY) as u64;
            }
        }
    }
}

/// The bytes of the transitions of each state that do not go by the root.
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

/// Marks the end-node sequences, from the leaves up: children have greater numbers than parents.
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

/// The states from one to the leaf below it, if that is the only one.
fn path_from(trie: &Trie, head: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(head), |&state| trie.children(state).next())
}

struct Builder<'a> {
    trie: &'a Trie,
    plan: &'a Plan,
    lists: &'a Lists,
    arena: Arena,
    /// Where each state stands, once its parent's node is made.
    places: Vec<State>,
    /// The end of the nodes so far.
    end: usize,
}

impl<'a> Builder<'a> {
    fn new(trie: &'a Trie, plan: &'a Plan, lists: &'a Lists) -> Builder<'a> {
        let node_bytes = plan.counts.node_bytes() as usize;
        let arena = Arena::zeroed(node_bytes + lists.bytes.len());
        let places = vec![State::first_of(0); trie.len()];
        Builder { trie, plan, lists, arena, places, end: NODE_BYTES }
    }

    fn build(mut self) -> Nodes {
        for state in 0..self.trie.len() as u32 {
            if !self.plan.on_path[state as usize] {
                self.put_bitmap(state);
            }
        }
        debug_assert_eq!(self.end as u64, self.plan.counts.node_bytes(), "as many as were counted");
        let (lists_at, fold, counts) = (self.end, self.trie.fold(), self.plan.counts);
        self.arena.put(lists_at, &self.lists.bytes);
        Nodes { arena: self.arena, lists_at, fold, counts }
    }

    fn take(&mut self, nodes: usize) -> usize {
        self.end += nodes * NODE_BYTES;
        self.end - nodes * NODE_BYTES
    }

    /// Makes the node of a state that is not on a path, and settles the places of its children.
    fn put_bitmap(&mut self, state: u32) {
        let set = &self.plan.bytes[state as usize];
        let first = self.take(node::size(set));
        let at = self.places[state as usize].0 as usize;
        let rules = self.lists.heads[state as usize];
        node::put_bitmap(&mut self.arena, at, rules, first as u32, set);
        for (rank, byte) in node::members(set).enumerate() {
            let at = first + rank * NODE_BYTES;
            match self.trie.child(state, byte) {
                Some(child) if self.plan.on_path[child as usize] => self.put_path(child, at),
                Some(child) => self.places[child as usize] = State::first_of(at as u32),
                None => self.put_copy(self.trie.fail(state), byte, at),
            }
        }
    }

    /// The target of a copied transition is that of the longest suffix, itself copied or not.
    fn put_copy(&mut self, suffix: u32, byte: u8, at: usize) {
        let place = self.places[suffix as usize];
        let original = node::follow(&self.arena, place, byte, &mut Uncounted)
            .expect("the suffix is complete and has the transition");
        node::put_copy(&mut self.arena, at, original);
    }

    fn put_path(&mut self, head: u32, mut at: usize) {
        let states: Vec<u32> = path_from(self.trie, head).collect();
        let last = states.len().div_ceil(CAPACITY) - 1;
        for (i, part) in states.chunks(CAPACITY).enumerate() {
            let next = if i == last { 0 } else { self.take(1) };
            let entry = |&state: &u32| {
                let leads_on = self.trie.child_labels(state).first().copied();
                (self.lists.heads[state as usize], leads_on.unwrap_or(0))
            };
            let entries: Vec<_> = part.iter().map(entry).collect();
            node::put_path(&mut self.arena, at, &entries, next as u32);
            for (place, &state) in part.iter().enumerate() {
                self.places[state as usize] = State::at(at as u32, place);
            }
            at = next;
        }
    }
}
