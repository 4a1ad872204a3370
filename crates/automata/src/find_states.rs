//! The states of the trie for one of the semantics of non-overlapping matches: which match ends in
//! each state, and the failure links.
//!
//! In leftmost semantics, a state at or below one where a pattern ends has no failure link, because
//! that would lead to a match that starts later. Where such a state has no child for a byte, its
//! pending match is reported. The walk goes on as if it had read the bytes after the last reported
//! match from the root on.
//!
//! Source: the crate `aho-corasick`, for leftmost semantics.

use crate::classes::ByteClasses;
use crate::trie::{CaseFold, ROOT, Trie};
use fyke_core::{PatternId, PatternSet, Semantics};

/// The failure link of a state that has none: see the module head.
pub(crate) const NO_STATE: u32 = u32::MAX;

/// The match index of a state without a match.
const NO_MATCH: u32 = u32::MAX;

/// A match that ends at a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StateMatch {
    pub(crate) id: PatternId,
    pub(crate) len: u16,
}

/// The states of the trie with the matches that they report.
pub(crate) struct States<'a> {
    pub(crate) trie: &'a Trie,
    semantics: Semantics,
    found: Vec<StateMatch>,
    /// The index in `found` of the match that ends at the state: its own, or else that of its
    /// failure link. Without links, its own only.
    matched: Vec<u32>,
    /// Whether the state or a descendant of it in the trie has a match.
    alive: Vec<bool>,
    fail: Vec<u32>,
}

impl<'a> States<'a> {
    /// The states of a set's trie.
    pub(crate) fn new(set: &PatternSet, trie: &'a Trie, semantics: Semantics) -> States<'a> {
        let mut states = Self::unlinked(set, trie, semantics);
        states.link();
        states
    }

    /// The states without failure links, and so with their own matches only.
    pub(crate) fn unlinked(set: &PatternSet, trie: &'a Trie, semantics: Semantics) -> States<'a> {
        let mut states = Self::with_own(set, trie, semantics);
        states.mark_alive();
        states
    }

    /// The states with their own matches, without those that the semantics never report.
    fn with_own(set: &PatternSet, trie: &'a Trie, semantics: Semantics) -> States<'a> {
        let count = trie.len();
        let mut states = States {
            trie,
            semantics,
            found: Vec::with_capacity(set.len()),
            matched: vec![NO_MATCH; count],
            alive: vec![false; count],
            fail: vec![ROOT; count],
        };
        // The lowest id of the patterns that end in a proper ancestor of each state.
        let mut lowest = vec![None; count];
        for (state, depth) in (0..count as u32).zip(trie.depths()) {
            let s = state as usize;
            let own = trie.own(state).iter().map(|&p| set.ids(p)[0]).min();
            let before: Option<PatternId> = lowest[s];
            let reported = own.is_some_and(|own| match semantics {
                Semantics::Standard => before.is_none(),
                Semantics::LeftmostFirst => before.is_none_or(|before| own < before),
                _ => true,
            });
            if let (Some(id), true) = (own, reported) {
                states.matched[s] = states.found.len() as u32;
                states.found.push(StateMatch { id, len: depth as u16 });
            }
            let now = before.into_iter().chain(own).min();
            trie.children(state).for_each(|child| lowest[child as usize] = now);
        }
        states
    }

    fn mark_alive(&mut self) {
        for state in (0..self.trie.len() as u32).rev() {
            let by_child = self.trie.children(state).any(|child| self.alive[child as usize]);
            self.alive[state as usize] = by_child || self.matched[state as usize] != NO_MATCH;
        }
    }

    /// The child of a state for a byte, if a match can be reached through it.
    fn child(&self, state: u32, byte: u8) -> Option<u32> {
        self.trie.child(state, byte).filter(|&child| self.alive[child as usize])
    }

    pub(crate) fn children(&self, state: u32) -> impl Iterator<Item = u32> {
        self.trie.children(state).filter(|&child| self.alive[child as usize])
    }

    /// Sets the failure links, and the matches that states inherit by them.
    fn link(&mut self) {
        let leftmost = self.semantics != Semantics::Standard;
        for parent in 0..self.trie.len() as u32 {
            for child in self.trie.children(parent) {
                let has_own = self.matched[child as usize] != NO_MATCH;
                let fail = match parent {
                    _ if leftmost && has_own => NO_STATE,
                    ROOT => ROOT,
                    _ => self.fail_of(self.fail[parent as usize], self.trie.label(child)),
                };
                self.fail[child as usize] = fail;
                if !has_own && fail != NO_STATE {
                    self.matched[child as usize] = self.matched[fail as usize];
                }
            }
        }
    }

    /// The state after a byte, by children and failure links. [`NO_STATE`] if no better match than
    /// the pending one can follow.
    fn fail_of(&self, mut state: u32, byte: u8) -> u32 {
        while state != NO_STATE {
            if let Some(child) = self.child(state, byte) {
                return child;
            }
            if state == ROOT {
                return ROOT;
            }
            state = self.fail[state as usize];
        }
        NO_STATE
    }

    /// The match that ends at a state, if there is one.
    pub(crate) fn matched(&self, state: u32) -> Option<StateMatch> {
        self.found.get(self.matched[state as usize] as usize).copied()
    }

    /// Whether a state has a failure link.
    pub(crate) fn has_fail(&self, state: u32) -> bool {
        self.fail[state as usize] != NO_STATE
    }

    /// Whether the match of a state is reported as soon as the state is reached. Such a state needs
    /// no row.
    pub(crate) fn is_final(&self, state: u32) -> bool {
        let ends = self.semantics == Semantics::Standard || self.children(state).next().is_none();
        self.matched[state as usize] != NO_MATCH && ends
    }

    /// The failure link of a state, if it has a row.
    pub(crate) fn fail_with_row(&self, state: u32) -> Option<u32> {
        let fail = self.fail[state as usize];
        (fail != NO_STATE && !self.is_final(fail)).then_some(fail)
    }

    /// The states with rows, parents first.
    pub(crate) fn with_rows(&self) -> impl Iterator<Item = u32> {
        let has_row = |s: u32| s == ROOT || (self.alive[s as usize] && !self.is_final(s));
        (0..self.trie.len() as u32).filter(move |&s| has_row(s))
    }

    pub(crate) fn classes(&self) -> ByteClasses {
        let classes = ByteClasses::new(&self.trie.used_bytes());
        if self.trie.fold() == CaseFold::Lower { classes.fold_case() } else { classes }
    }
}
