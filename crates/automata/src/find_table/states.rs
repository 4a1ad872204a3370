//! Compiles a [`FindTable`]: the transitions and reports of the [`States`], and the order of the
//! rows.

use super::{BYTES_PER_ENTRY, FindTable, NO_REPORT, Reported};
use crate::classes::ByteClasses;
use crate::find_states::{NO_STATE, StateMatch, States};
use crate::trie::{ROOT, Trie};
use fyke_core::{PatternSet, Semantics};
use std::collections::HashMap;
use std::ops::Range;

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
    let states = States::new(set, trie, semantics);
    let limit = limit.min(BYTES_PER_ENTRY * u64::from(u32::MAX));
    Transitions::new(&states, limit)?.into_table(limit)
}

/// A match that ends at the position where it is reported.
impl From<StateMatch> for Reported {
    fn from(StateMatch { id, len }: StateMatch) -> Reported {
        Reported { id, len, ago: 0, is_last: true }
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
            let found = states.matched(child).filter(|_| states.is_final(child));
            self.transitions[first + usize::from(class)] = match found {
                Some(found) => {
                    Transition { to: ROOT, report: self.reports.index_of(&[found.into()])? }
                }
                None => Transition { to: child, report: NO_REPORT },
            };
        }
        Some(())
    }

    /// What is to be reported at a state, if a match is pending.
    fn pending_at(&self, states: &States<'_>, state: u32, parent: u32) -> Option<Pending> {
        if state == ROOT {
            return None;
        }
        if let Some(found) = states.matched(state) {
            return Some(Pending { matches: vec![found.into()], resume: ROOT });
        }
        if states.has_fail(state) {
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
