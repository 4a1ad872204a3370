//! What each state of a compact automaton has to store.
//!
//! A state as deep as a context stores its children, and its *exceptions*: the stored transitions of its failure
//! state which it has no child for and which a context cannot tell. A state without children would store
//! just what its failure state does, so it takes that state's base: it costs nothing.

use super::contexts::Contexts;
use crate::Trie;
use crate::trie::ROOT;

/// A stored transition.
#[derive(Clone, Copy)]
pub struct Edge {
    /// The class it is under.
    pub class: u8,
    /// The state it leads to.
    pub target: u32,
}

/// Exceptions that a set may have.
#[derive(Clone, Copy, Debug)]
pub enum EdgeLimit {
    /// So many transitions in all.
    Total(usize),
    /// So many exceptions a state; a state that has more stores none, and is *partial*.
    PerState(usize),
}

/// The stored transitions of all states.
pub struct Edges {
    /// Those of state `s` are `edges[first[s]..first[s + 1]]`.
    first: Vec<u32>,
    /// All of them.
    pub edges: Vec<Edge>,
    /// The state whose transitions a state uses: itself, that of its failure state, or the root for none.
    pub owner: Vec<u32>,
    /// States that leave something to their failure states. Empty if there is none.
    pub partial: Vec<bool>,
}

impl Edges {
    /// The transitions that are not told by contexts of `deepest` bytes. `None` if they are more than the cap.
    pub fn new(
        trie: &Trie,
        shape: &Contexts,
        depths: &[u16],
        deepest: u32,
        cap: EdgeLimit,
    ) -> Option<Edges> {
        let states = trie.len();
        let mut all = Edges {
            first: Vec::with_capacity(states + 1),
            edges: Vec::with_capacity(states),
            owner: vec![ROOT; states],
            partial: Vec::new(),
        };
        if let EdgeLimit::PerState(_) = cap {
            all.partial.resize(states, false);
        }
        for s in 0..states as u32 {
            all.first.push(all.edges.len() as u32);
            if u32::from(depths[s as usize]) >= shape.order {
                all.store(trie, shape, depths, deepest, cap, s);
            }
            if matches!(cap, EdgeLimit::Total(most) if all.edges.len() > most) {
                return None;
            }
        }
        all.first.push(all.edges.len() as u32);
        Some(all)
    }

    fn store(
        &mut self,
        trie: &Trie,
        shape: &Contexts,
        depths: &[u16],
        deepest: u32,
        cap: EdgeLimit,
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
            let class = shape.class(trie.label(child));
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
        if matches!(cap, EdgeLimit::PerState(most) if self.edges.len() - own > most) {
            self.edges.truncate(own);
            self.partial[state] = true;
        }
    }

    /// What a state stores.
    pub fn of(&self, state: u32) -> &[Edge] {
        let s = state as usize;
        &self.edges[self.first[s] as usize..self.first[s + 1] as usize]
    }

    /// Whether a state leaves something to its failure states.
    pub fn is_partial(&self, state: u32) -> bool {
        self.partial.get(state as usize).copied().unwrap_or(false)
    }

    /// For the place of each partial state, a place of the state that the rest is left to: the nearest failure state
    /// that stores other transitions. The root's place, 0, stands for all states that store none. `of_place` has the
    /// state of each place; states of less than `order` bytes store nothing.
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
