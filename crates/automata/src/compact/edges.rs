//! The transitions that each state of a compact automaton stores.
//!
//! A state at least as deep as a context stores its children and its *exceptions*. An exception is
//! a stored transition of its failure state that it has no child for and that no context gives. A
//! state without children would store exactly what its failure state stores, so it shares that
//! state's base and costs nothing.

use super::contexts::Contexts;
use crate::Trie;
use crate::trie::ROOT;

/// A stored transition.
#[derive(Clone, Copy)]
pub struct Edge {
    /// The class of the byte.
    pub class: u8,
    /// The state it leads to.
    pub target: u32,
}

/// Limit on stored transitions.
#[derive(Clone, Copy, Debug)]
pub enum EdgeLimit {
    /// At most this many stored transitions in all.
    Total(usize),
    /// At most this many exceptions per state. A state with more stores none and is *partial*: it
    /// leaves the rest to its failure states.
    PerState(usize),
}

/// The stored transitions of all states.
pub struct Edges {
    /// State `s` stores `edges[first[s]..first[s + 1]]`.
    first: Vec<u32>,
    /// The stored transitions, state by state.
    pub edges: Vec<Edge>,
    /// The state whose transitions a state uses: itself, the owner of its failure state, or the
    /// root if it uses none.
    pub owner: Vec<u32>,
    /// The partial states. Empty unless the limit is per state.
    pub partial: Vec<bool>,
}

impl Edges {
    /// The children of each state, and its exceptions that lead to states of more than `deepest`
    /// bytes: contexts give the others. `None` if there are more than a total limit.
    pub fn new(
        trie: &Trie,
        contexts: &Contexts,
        depths: &[u16],
        deepest: u32,
        limit: EdgeLimit,
    ) -> Option<Edges> {
        let states = trie.len();
        let mut all = Edges {
            first: Vec::with_capacity(states + 1),
            edges: Vec::with_capacity(states),
            owner: vec![ROOT; states],
            partial: Vec::new(),
        };
        if let EdgeLimit::PerState(_) = limit {
            all.partial.resize(states, false);
        }
        for s in 0..states as u32 {
            all.first.push(all.edges.len() as u32);
            if u32::from(depths[s as usize]) >= contexts.order {
                all.store(trie, contexts, depths, deepest, limit, s);
            }
            if matches!(limit, EdgeLimit::Total(most) if all.edges.len() > most) {
                return None;
            }
        }
        all.first.push(all.edges.len() as u32);
        Some(all)
    }

    /// The transitions of states that share none. `of` adds those of a state.
    pub fn unshared(states: usize, mut of: impl FnMut(u32, &mut Vec<Edge>)) -> Edges {
        let mut all = Edges {
            first: Vec::with_capacity(states + 1),
            edges: Vec::with_capacity(states),
            owner: vec![ROOT; states],
            partial: Vec::new(),
        };
        for s in 0..states as u32 {
            let before = all.edges.len();
            all.first.push(before as u32);
            of(s, &mut all.edges);
            if all.edges.len() > before {
                all.owner[s as usize] = s;
            }
        }
        all.first.push(all.edges.len() as u32);
        all
    }

    fn store(
        &mut self,
        trie: &Trie,
        contexts: &Contexts,
        depths: &[u16],
        deepest: u32,
        limit: EdgeLimit,
        s: u32,
    ) {
        let (state, fail) = (s as usize, trie.fail(s) as usize);
        let follows = !self.partial.is_empty() && self.partial[fail];
        if trie.children(s).is_empty() {
            self.owner[state] = self.owner[fail];
            if follows {
                self.partial[state] = true;
            }
            return;
        }
        self.owner[state] = s;
        let mut seen = [0u64; 4];
        for child in trie.children(s) {
            let class = contexts.class(trie.label(child));
            seen[usize::from(class / 64)] |= 1 << (class % 64);
            self.edges.push(Edge { class, target: child });
        }
        if follows {
            self.partial[state] = true;
            return;
        }
        let own = self.edges.len();
        let inherited = self.owner[fail] as usize;
        if inherited == ROOT as usize {
            return;
        }
        for i in self.first[inherited] as usize..self.first[inherited + 1] as usize {
            let edge = self.edges[i];
            let is_new = seen[usize::from(edge.class / 64)] >> (edge.class % 64) & 1 == 0;
            if is_new && u32::from(depths[edge.target as usize]) > deepest {
                self.edges.push(edge);
            }
        }
        if matches!(limit, EdgeLimit::PerState(most) if self.edges.len() - own > most) {
            self.edges.truncate(own);
            self.partial[state] = true;
        }
    }

    /// The transitions that a state stores.
    pub fn of(&self, state: u32) -> &[Edge] {
        let s = state as usize;
        &self.edges[self.first[s] as usize..self.first[s + 1] as usize]
    }

    /// Whether a state leaves transitions to its failure states.
    pub fn is_partial(&self, state: u32) -> bool {
        self.partial.get(state as usize).copied().unwrap_or(false)
    }

    /// The failure link of each partial state, in places of the double array instead of states.
    ///
    /// `of_place` has the state of each place. A partial state leaves its missing transitions to
    /// its nearest failure state that stores others, and the result has a place of that state. It
    /// is 0, the place of the root, for a state that stores nothing, as all states of less than
    /// `order` bytes. It is also 0 for a state that is not partial.
    pub fn failure_places(
        &self,
        trie: &Trie,
        depths: &[u16],
        order: u32,
        of_place: &[u32],
    ) -> Vec<u32> {
        let mut home = vec![0u32; trie.len()];
        for (place, &state) in of_place.iter().enumerate() {
            if u32::from(depths[state as usize]) >= order {
                home[state as usize] = place as u32;
            }
        }
        let mut next = vec![ROOT; trie.len()];
        for s in 1..trie.len() as u32 {
            let fail = trie.fail(s);
            let shares = self.owner[s as usize] == self.owner[fail as usize];
            next[s as usize] = if shares { next[fail as usize] } else { fail };
        }
        let follow =
            |&s: &u32| if self.is_partial(s) { home[next[s as usize] as usize] } else { 0 };
        of_place.iter().map(follow).collect()
    }
}
