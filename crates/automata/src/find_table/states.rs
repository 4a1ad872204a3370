//! Compiles a [`FindTable`]: the states of the trie, their transitions and reports, and the order
//! of the rows.
//!
//! In leftmost semantics, a state at or below one where a pattern ends has no failure link, because
//! that would lead to a match that starts later. Where such a state has no child for a byte, its
//! pending match is reported. The walk goes on as if it had read the bytes after the last reported
//! match from the root on.

use super::{BYTES_PER_ENTRY, FindTable, NO_REPORT, Reported};
use crate::classes::ByteClasses;
use crate::trie::{CaseFold, ROOT, Trie};
use fyke_core::{PatternId, PatternSet, Semantics};
use std::collections::HashMap;
use std::ops::Range;

/// The failure link of a state that has none: see the module head.
const NO_STATE: u32 = u32::MAX;

/// The match index of a state without a match.
const NO_MATCH: u32 = u32::MAX;

/// The maximum number of matches in a report. It bounds the time to compile a set in which many
/// short matches may follow a pending one. Not measured: a guess.
const MOST_MATCHES: usize = 32;

/// Compiles a set. `None` if the table exceeds `limit` bytes.
pub(super) fn compile(
    set: &PatternSet,
    trie: &Trie,
    semantics: Semantics,
    limit: u64,
) -> Option<FindTable> {
    let mut states = States::new(set, trie, semantics);
    states.link();
    let limit = limit.min(BYTES_PER_ENTRY * u64::from(u32::MAX));
    Transitions::new(&states, limit)?.into_table(limit)
}

/// The states of the trie with the matches that they report.
struct States<'a> {
    trie: &'a Trie,
    semantics: Semantics,
    /// The matches of the states. Each ends at its state, so `ago` is 0.
    found: Vec<Reported>,
    /// The index in `found` of the match that ends at the state: its own, or else that of its
    /// failure link.
    matched: Vec<u32>,
    /// Whether the state or a descendant of it in the trie has a match.
    alive: Vec<bool>,
    fail: Vec<u32>,
}

impl<'a> States<'a> {
    /// The states with their own matches, without those that the semantics never report.
    fn new(set: &PatternSet, trie: &'a Trie, semantics: Semantics) -> States<'a> {
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
                states.found.push(Reported { id, len: depth as u16, ago: 0, is_last: true });
            }
            let now = before.into_iter().chain(own).min();
            trie.children(state).for_each(|child| lowest[child as usize] = now);
        }
        states.mark_alive();
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

    fn children(&self, state: u32) -> impl Iterator<Item = u32> {
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

    /// Whether the match of a state is reported as soon as the state is reached. Such a state needs
    /// no row.
    fn is_final(&self, state: u32) -> bool {
        let ends = self.semantics == Semantics::Standard || self.children(state).next().is_none();
        self.matched[state as usize] != NO_MATCH && ends
    }

    /// The failure link of a state, if it has a row.
    fn fail_with_row(&self, state: u32) -> Option<u32> {
        let fail = self.fail[state as usize];
        (fail != NO_STATE && !self.is_final(fail)).then_some(fail)
    }

    /// The states with rows, parents first.
    fn with_rows(&self) -> impl Iterator<Item = u32> {
        let has_row = |s: u32| s == ROOT || (self.alive[s as usize] && !self.is_final(s));
        (0..self.trie.len() as u32).filter(move |&s| has_row(s))
    }

    fn classes(&self) -> ByteClasses {
        let classes = ByteClasses::new(&self.trie.used_bytes());
        if self.trie.fold() == CaseFold::Lower { classes.fold_case() } else { classes }
    }
}

/// A transition: the state that it leads to, and the index of its report, or [`NO_REPORT`].
#[derive(Clone, Copy)]
struct Transition {
    to: u32,
    report: u16,
}

/// What is still to be reported at a state.
#[derive(Clone)]
struct Pending {
    /// The pending match, and the matches after it that end at or before the position.
    matches: Vec<Reported>,
    /// The state that the bytes after the last of these matches lead to, from the root on.
    resume: u32,
}

/// The transitions of the states with rows.
struct Transitions {
    classes: ByteClasses,
    /// Each state's number among those with rows.
    number: Vec<u32>,
    /// By number, the states.
    states: Vec<u32>,
    /// By number, the transitions, one per class.
    transitions: Vec<Transition>,
    /// By number, what is still to be reported at the state.
    pending: Vec<Option<Pending>>,
    /// By number, the index of the report at the end of the haystack.
    at_end: Vec<u16>,
    reports: Reports,
}

/// The distinct reports.
#[derive(Default)]
struct Reports {
    found: Vec<Reported>,
    indexes: HashMap<Vec<Reported>, u16>,
}

impl Reports {
    /// The index of a report, which is added if it is new. `None` if it has too many matches, or if
    /// all reports together have.
    fn index_of(&mut self, matches: &[Reported]) -> Option<u16> {
        if matches.is_empty() {
            return Some(NO_REPORT);
        }
        if let Some(&index) = self.indexes.get(matches) {
            return Some(index);
        }
        let index = self.found.len();
        let fits = index + matches.len() <= usize::from(NO_REPORT);
        if !fits || matches.len() > MOST_MATCHES {
            return None;
        }
        self.found.extend_from_slice(matches);
        for (i, reported) in self.found[index..].iter_mut().enumerate() {
            reported.is_last = i + 1 == matches.len();
        }
        self.indexes.insert(matches.to_vec(), index as u16);
        Some(index as u16)
    }

    /// The index of a report of some matches and those of another report.
    fn index_of_two(&mut self, before: &[Reported], after: u16) -> Option<u16> {
        if after == NO_REPORT {
            return self.index_of(before);
        }
        let matches: Vec<Reported> = before.iter().copied().chain(self.matches(after)).collect();
        self.index_of(&matches)
    }

    /// The matches of a report.
    fn matches(&self, index: u16) -> impl Iterator<Item = Reported> {
        let report = self.found.get(usize::from(index)..).unwrap_or_default();
        let len = report.iter().position(|found| found.is_last).map_or(0, |last| last + 1);
        report[..len].iter().map(|&found| Reported { is_last: true, ..found })
    }
}

impl Pending {
    /// What is to be reported a byte later, without what that byte adds.
    fn a_byte_later(&self) -> Vec<Reported> {
        self.matches.iter().map(|found| Reported { ago: found.ago + 1, ..*found }).collect()
    }
}

impl Transitions {
    /// `None` if they exceed `limit` bytes.
    fn new(states: &States<'_>, limit: u64) -> Option<Transitions> {
        let mut number = vec![NO_STATE; states.trie.len()];
        (0..).zip(states.with_rows()).for_each(|(n, state)| number[state as usize] = n);
        let mut all = Transitions {
            classes: states.classes(),
            number,
            states: states.with_rows().collect(),
            transitions: Vec::new(),
            pending: Vec::new(),
            at_end: Vec::new(),
            reports: Reports::default(),
        };
        let parents = states.trie.parents();
        for state in states.with_rows() {
            all.add_row(states, state, parents[state as usize])?;
            if BYTES_PER_ENTRY * all.transitions.len() as u64 > limit {
                return None;
            }
        }
        Some(all)
    }

    /// Adds the row of a state. Those of its parent and of all states of lower depth exist. `None`
    /// if there are too many reports.
    fn add_row(&mut self, states: &States<'_>, state: u32, parent: u32) -> Option<()> {
        let pending = self.pending_at(states, state, parent);
        self.add_without_children(states, state, pending.as_ref())?;
        let at_end = match &pending {
            None => NO_REPORT,
            Some(Pending { matches, resume }) => {
                let after = self.at_end[self.number_of(*resume)];
                self.reports.index_of_two(matches, after)?
            }
        };
        self.at_end.push(at_end);
        self.pending.push(pending);
        let first = self.number_of(state) * self.classes.len();
        for child in states.children(state) {
            let class = self.classes.get(states.trie.label(child));
            self.transitions[first + usize::from(class)] = if states.is_final(child) {
                let found = states.found[states.matched[child as usize] as usize];
                Transition { to: ROOT, report: self.reports.index_of(&[found])? }
            } else {
                Transition { to: child, report: NO_REPORT }
            };
        }
        Some(())
    }

    /// What is to be reported at a state, if a match is pending.
    fn pending_at(&self, states: &States<'_>, state: u32, parent: u32) -> Option<Pending> {
        if state == ROOT {
            return None;
        }
        let matched = states.matched[state as usize];
        if matched != NO_MATCH {
            let matches = vec![states.found[matched as usize]];
            return Some(Pending { matches, resume: ROOT });
        }
        if states.fail[state as usize] != NO_STATE {
            let fail = states.fail_with_row(state)?;
            return self.pending[self.number_of(fail)].clone();
        }
        let before = self.pending[self.number_of(parent)].as_ref()?;
        let Transition { to, report } = self.get(before.resume, states.trie.label(state));
        let mut matches = before.a_byte_later();
        matches.extend(self.reports.matches(report));
        Some(Pending { matches, resume: to })
    }

    /// Adds the transitions of a state, as if it had no children. `None` if there are too many
    /// reports.
    fn add_without_children(
        &mut self,
        states: &States<'_>,
        state: u32,
        pending: Option<&Pending>,
    ) -> Option<()> {
        let fail = states.fail_with_row(state).filter(|_| state != ROOT);
        let Some(from) = fail.or(pending.map(|pending| pending.resume)) else {
            assert!(state == ROOT, "a state without a failure link has a pending match");
            let nowhere = Transition { to: ROOT, report: NO_REPORT };
            self.transitions.resize(self.transitions.len() + self.classes.len(), nowhere);
            return Some(());
        };
        let first = self.transitions.len();
        self.transitions.extend_from_within(self.row_of(from));
        match pending {
            Some(pending) if fail.is_none() => self.report_before(first, &pending.a_byte_later()),
            _ => Some(()),
        }
    }

    /// Puts `matches` before the report of each transition from `first` on. `None` if there are too
    /// many reports.
    fn report_before(&mut self, first: usize, matches: &[Reported]) -> Option<()> {
        // Most transitions of a row report the same.
        let mut last: Option<(u16, u16)> = None;
        for transition in &mut self.transitions[first..] {
            let old = transition.report;
            let new = match last {
                Some((of, new)) if of == old => new,
                _ => self.reports.index_of_two(matches, old)?,
            };
            last = Some((old, new));
            transition.report = new;
        }
        Some(())
    }

    fn number_of(&self, state: u32) -> usize {
        self.number[state as usize] as usize
    }

    /// The range of a state's transitions in `transitions`.
    fn row_of(&self, state: u32) -> Range<usize> {
        let (number, classes) = (self.number_of(state), self.classes.len());
        number * classes..(number + 1) * classes
    }

    fn get(&self, state: u32, byte: u8) -> Transition {
        self.transitions[self.row_of(state).start + usize::from(self.classes.get(byte))]
    }

    /// Lays the rows out. `None` if the table exceeds `limit` bytes.
    fn into_table(self, limit: u64) -> Option<FindTable> {
        let order = Order::new(&self);
        let stride = order.stride;
        let entries = order.states.len() * stride;
        if BYTES_PER_ENTRY * entries as u64 > limit {
            return None;
        }
        let (mut rows, mut reports) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
        for &state in &order.states {
            let row = &self.transitions[self.row_of(state)];
            rows.extend(row.iter().map(|&transition| order.entry(&self, transition)));
            rows.push(u32::from(self.at_end[self.number_of(state)]));
            reports.extend(row.iter().map(|transition| transition.report).chain([NO_REPORT]));
        }
        let table = FindTable {
            rows,
            reports,
            class: *self.classes.map(),
            stride,
            pending: order.pending,
            reporting: order.reporting,
            reported: self.reports.found,
            pairs: None,
        };
        (table.memory() <= limit).then_some(table)
    }
}

/// The order of the rows: states without a pending match, states with one, then copies of the
/// states that reporting transitions lead to.
struct Order {
    /// The state of each row.
    states: Vec<u32>,
    /// By number, the offsets of a state's row and of its copy, if it has one.
    offset: Vec<u32>,
    copy: Vec<u32>,
    /// See [`FindTable`].
    pending: u32,
    reporting: u32,
    stride: usize,
}

impl Order {
    fn new(all: &Transitions) -> Order {
        let count = all.states.len();
        let stride = all.classes.len() + 1;
        let is_pending = |state: &u32| all.pending[all.number_of(*state)].is_some();
        let (pending, plain): (Vec<u32>, Vec<u32>) = all.states.iter().partition(|s| is_pending(s));
        let mut copied = vec![false; count];
        let reporting = all.transitions.iter().filter(|t| t.report != NO_REPORT);
        reporting.for_each(|t| copied[all.number_of(t.to)] = true);
        let copies = all.states.iter().copied().filter(|&state| copied[all.number_of(state)]);
        let mut order = Order {
            pending: (plain.len() * stride) as u32,
            reporting: (count * stride) as u32,
            states: plain.into_iter().chain(pending).chain(copies).collect(),
            offset: vec![0; count],
            copy: vec![0; count],
            stride,
        };
        for (row, &state) in order.states.iter().enumerate() {
            let offsets = if row < count { &mut order.offset } else { &mut order.copy };
            offsets[all.number_of(state)] = (row * stride) as u32;
        }
        order
    }

    /// The offset of the row that a transition leads to.
    fn entry(&self, all: &Transitions, transition: Transition) -> u32 {
        let offsets = if transition.report == NO_REPORT { &self.offset } else { &self.copy };
        offsets[all.number_of(transition.to)]
    }
}
