//! [`Reporter`]: decides which occurrences of literals C gets as matches.
//!
//! Engines find all occurrences. Three rules decide, in this order:
//!
//! 1. The end has to be within the limits of the expression.
//! 2. An id with HS_FLAG_SINGLEMATCH is spent by its first match within limits.
//! 3. Expressions that share an id have one match per end.

use crate::abi::MatchHandler;
use crate::rules::{Rule, Terms};
use fyke::{PatternId, PatternSet};
use std::ffi::c_void;
use std::ops::ControlFlow;

/// No slot: the id may have any number of matches.
const NO_SLOT: u32 = u32::MAX;

/// What one expression reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    id: u32,
    /// Position among the ids with at most one match.
    slot: u32,
}

/// Least and greatest end of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    min: u64,
    max: u64,
}

/// What the expressions of a database report.
#[derive(Debug)]
pub(crate) struct Reports {
    each: Box<[Report]>,
    /// Empty if no expression has limits.
    limits: Box<[Limits]>,
    /// One bit per expression that reports starts; empty if none does.
    starts: Box<[u64]>,
    /// The number of ids with at most one match.
    slots: u32,
    /// Whether every expression has at most one match.
    all_single: bool,
    /// Whether expressions share an id.
    shares_ids: bool,
    /// No match ends after this.
    last_end: u64,
}

/// For each distinct pattern the id that its occurrences are reported with, or [`CHECKED`]. Empty
/// if all patterns have to be checked.
#[derive(Debug)]
pub(crate) struct Plain(Box<[u32]>);

/// The pattern belongs to several expressions, or to one with limits, starts, a slot, or an id that
/// others have too.
const CHECKED: u32 = u32::MAX;

impl Reports {
    /// The reports of rules, in their order.
    pub(crate) fn new(rules: &[Rule]) -> Self {
        let (each, slots, shares_ids) = reports(rules);
        let has_limits = |t: &Terms| t.min > 0 || t.max < u64::MAX;
        let limits = if rules.iter().any(|r| has_limits(&r.terms)) {
            rules.iter().map(|r| Limits { min: r.terms.min, max: r.terms.max }).collect()
        } else {
            Box::default()
        };
        Self {
            each,
            limits,
            starts: starts(rules),
            slots,
            all_single: rules.iter().all(|r| r.terms.is_single),
            shares_ids,
            last_end: rules.iter().map(|r| r.terms.max).max().unwrap_or(u64::MAX),
        }
    }

    /// The terms of a rule.
    pub(crate) fn terms(&self, rule: u32) -> Terms {
        let report = self.each[rule as usize];
        let none = Limits { min: 0, max: u64::MAX };
        let limits = self.limits.get(rule as usize).copied().unwrap_or(none);
        Terms {
            id: report.id,
            is_single: report.slot != NO_SLOT,
            has_start: self.has_start(rule),
            min: limits.min,
            max: limits.max,
        }
    }

    /// Which patterns of a set, whose ids are the positions of the rules, need no check.
    pub(crate) fn plain(&self, set: &PatternSet) -> Plain {
        if !self.limits.is_empty() || self.shares_ids {
            return Plain(Box::default());
        }
        let plain = |ids: &[PatternId]| match *ids {
            [PatternId(rule)] if !self.has_start(rule) => {
                let Report { id, slot } = self.each[rule as usize];
                if slot == NO_SLOT { id } else { CHECKED }
            }
            _ => CHECKED,
        };
        Plain(set.iter().map(|pattern| plain(pattern.ids)).collect())
    }

    fn has_start(&self, rule: u32) -> bool {
        let word = self.starts.get(rule as usize / 64).copied().unwrap_or(0);
        word >> (rule % 64) & 1 == 1
    }

    /// The number of rules.
    pub(crate) fn len(&self) -> usize {
        self.each.len()
    }

    /// The number of ids with at most one match.
    pub(crate) fn slots(&self) -> usize {
        self.slots as usize
    }

    /// No match ends after this.
    pub(crate) fn last_end(&self) -> u64 {
        self.last_end
    }

    /// Bytes on the heap.
    pub(crate) fn memory(&self) -> usize {
        size_of_val(&*self.each) + size_of_val(&*self.limits) + size_of_val(&*self.starts)
    }
}

impl Plain {
    /// The id of a pattern, if each of its occurrences is a match for this id and no other.
    #[inline]
    pub(crate) fn id(&self, pattern: u32) -> Option<u32> {
        self.0.get(pattern as usize).copied().filter(|&id| id != CHECKED)
    }

    /// Bytes on the heap.
    pub(crate) fn memory(&self) -> usize {
        size_of_val(&*self.0)
    }
}

/// The reports, the number of slots, and whether ids are shared.
fn reports(rules: &[Rule]) -> (Box<[Report]>, u32, bool) {
    let mut order: Vec<u32> = (0..rules.len() as u32).collect();
    let id = |&index: &u32| rules[index as usize].terms.id;
    order.sort_unstable_by_key(id);
    let mut each = vec![Report { id: 0, slot: NO_SLOT }; rules.len()];
    let (mut slots, mut shares_ids) = (0, false);
    for group in order.chunk_by(|a, b| id(a) == id(b)) {
        shares_ids |= group.len() > 1;
        let is_single = rules[group[0] as usize].terms.is_single;
        let slot = if is_single { slots } else { NO_SLOT };
        slots += u32::from(is_single);
        for &index in group {
            each[index as usize] = Report { id: id(&index), slot };
        }
    }
    (each.into(), slots, shares_ids)
}

fn starts(rules: &[Rule]) -> Box<[u64]> {
    if !rules.iter().any(|r| r.terms.has_start) {
        return Box::default();
    }
    let mut starts = vec![0; rules.len().div_ceil(64)];
    for (index, _) in rules.iter().enumerate().filter(|(_, r)| r.terms.has_start) {
        starts[index / 64] |= 1 << (index % 64);
    }
    starts.into()
}

/// The function of C that gets matches.
#[derive(Clone, Copy)]
pub(crate) struct Callback {
    handler: Option<MatchHandler>,
    context: *mut c_void,
}

impl Callback {
    /// A handler with the context that it is called with.
    ///
    /// # Safety
    /// The handler can be called with this context until the call that it was given to returns.
    pub(crate) unsafe fn new(handler: Option<MatchHandler>, context: *mut c_void) -> Self {
        Self { handler, context }
    }

    /// Whether somebody gets the matches.
    pub(crate) fn is_set(self) -> bool {
        self.handler.is_some()
    }

    #[inline]
    fn call(self, id: u32, start: u64, end: u64) -> ControlFlow<()> {
        let Some(handler) = self.handler else { return ControlFlow::Continue(()) };
        // SAFETY: `new` promises that the handler can be called with its context.
        let stop = unsafe { handler(id, start, end, 0, self.context) };
        if stop == 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// The slots whose id has had its only match.
pub(crate) enum Spent<'a> {
    /// For one call: a slot is spent if it holds the number of this call, so nothing has to be
    /// cleared between calls.
    Epochs {
        /// The call that spent each slot last.
        seen: &'a mut [u32],
        /// The number of this call.
        epoch: u32,
        /// Slots spent by this call.
        count: usize,
    },
    /// For a stream, one bit per slot.
    Bits(&'a mut [u8]),
}

impl Spent<'_> {
    /// Spends a slot. False if it was spent.
    #[inline]
    fn spend(&mut self, slot: u32) -> bool {
        match self {
            Spent::Epochs { seen, epoch, count } => {
                let last = std::mem::replace(&mut seen[slot as usize], *epoch);
                *count += usize::from(last != *epoch);
                last != *epoch
            }
            Spent::Bits(bits) => {
                let (byte, bit) = (&mut bits[slot as usize / 8], 1 << (slot % 8));
                let is_new = *byte & bit == 0;
                *byte |= bit;
                is_new
            }
        }
    }

    /// Whether this call spent that many slots. Always false for a stream.
    fn is_used_up(&self, slots: usize) -> bool {
        matches!(self, Spent::Epochs { count, .. } if *count == slots)
    }
}

/// The ids that were reported with one end.
#[derive(Default, Debug)]
pub(crate) struct SameEnd {
    end: u64,
    ids: Vec<(u32, bool)>,
}

impl SameEnd {
    /// Starts a scan.
    fn clear(&mut self) {
        self.end = 0;
        self.ids.clear();
    }

    /// Whether this end was not yet reported for the id, with or without a start.
    fn is_new(&mut self, end: u64, id: u32, has_start: bool) -> bool {
        if end != self.end {
            self.end = end;
            self.ids.clear();
        }
        let is_new = !self.ids.contains(&(id, has_start));
        if is_new {
            self.ids.push((id, has_start));
        }
        is_new
    }
}

/// Reports the matches of one scan.
pub(crate) struct Reporter<'a> {
    callback: Callback,
    spent: Spent<'a>,
    same_end: &'a mut SameEnd,
    /// Whether the handler ended the scan.
    stopped: bool,
}

impl<'a> Reporter<'a> {
    /// A reporter at the start of a scan.
    pub(crate) fn new(callback: Callback, spent: Spent<'a>, same_end: &'a mut SameEnd) -> Self {
        same_end.clear();
        Self { callback, spent, same_end, stopped: false }
    }

    /// Whether the handler ended the scan.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// An occurrence of the literal of a rule. Occurrences come in order of their ends, and those
    /// with one end by their starts. `Break` ends the scan.
    #[inline]
    pub(crate) fn occurrence(
        &mut self,
        reports: &Reports,
        rule: u32,
        (start, end): (u64, u64),
    ) -> ControlFlow<()> {
        if let Some(limits) = reports.limits.get(rule as usize)
            && !(limits.min..=limits.max).contains(&end)
        {
            return ControlFlow::Continue(());
        }
        let report = reports.each[rule as usize];
        if report.slot != NO_SLOT && !self.spent.spend(report.slot) {
            return ControlFlow::Continue(());
        }
        let has_start = reports.has_start(rule);
        if reports.shares_ids && !self.same_end.is_new(end, report.id, has_start) {
            return ControlFlow::Continue(());
        }
        self.pass(report.id, if has_start { start } else { 0 }, end)?;
        // Once every id has had its only match, no other can come.
        let done = reports.all_single && self.spent.is_used_up(reports.slots());
        if done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// A match that needs no check.
    #[inline]
    pub(crate) fn plain(&mut self, id: u32, end: u64) -> ControlFlow<()> {
        self.pass(id, 0, end)
    }

    /// An occurrence of the only literal of a database. `Engine::scan` has cut off what lies beyond
    /// the greatest end.
    #[inline]
    pub(crate) fn only(&mut self, terms: &Terms, (start, end): (u64, u64)) -> ControlFlow<()> {
        if end < terms.min || (terms.is_single && !self.spent.spend(0)) {
            return ControlFlow::Continue(());
        }
        self.pass(terms.id, if terms.has_start { start } else { 0 }, end)?;
        // The literal has no further match.
        if terms.is_single { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Passes a match on. The handler is not called again after it ended the scan.
    #[inline]
    fn pass(&mut self, id: u32, start: u64, end: u64) -> ControlFlow<()> {
        if self.stopped {
            return ControlFlow::Break(());
        }
        let flow = self.callback.call(id, start, end);
        self.stopped = flow.is_break();
        flow
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::rule;
    use std::ffi::{c_int, c_uint, c_ulonglong};

    unsafe extern "C" fn collect(
        id: c_uint,
        start: c_ulonglong,
        end: c_ulonglong,
        _flags: c_uint,
        context: *mut c_void,
    ) -> c_int {
        // SAFETY: the tests below pass a vector, which outlives the reporter.
        let found = unsafe { &mut *context.cast::<Vec<(u32, u64, u64)>>() };
        found.push((id, start, end));
        c_int::from(found.len() == 4)
    }

    /// What is reported of occurrences: rule, start and end.
    fn run(rules: &[Rule], occurrences: &[(u32, u64, u64)]) -> Vec<(u32, u64, u64)> {
        let reports = Reports::new(rules);
        let mut found = Vec::new();
        let context = (&raw mut found).cast();
        // SAFETY: `collect` takes a pointer to such a vector.
        let callback = unsafe { Callback::new(Some(collect), context) };
        let mut seen = vec![0; reports.slots()];
        let spent = Spent::Epochs { seen: &mut seen, epoch: 1, count: 0 };
        let mut same_end = SameEnd::default();
        let mut reporter = Reporter::new(callback, spent, &mut same_end);
        for &(rule, start, end) in occurrences {
            let _ = reporter.occurrence(&reports, rule, (start, end));
        }
        found
    }

    #[test]
    fn a_single_match_is_spent_within_limits() {
        let mut once = rule("ab", 8, 7);
        (once.terms.min, once.terms.max) = (5, 9);
        let found = run(&[once, rule("c", 0, 1)], &[(0, 0, 2), (0, 4, 6), (1, 5, 6), (0, 6, 8)]);
        assert_eq!(found, [(7, 0, 6), (1, 0, 6)]);
    }

    #[test]
    fn a_shared_id_has_one_match_per_end() {
        let rules = [rule("ab", 0, 1), rule("b", 0, 1), rule("b", 256, 1), rule("ab", 256, 1)];
        let occurrences = [(0, 1, 3), (3, 1, 3), (1, 2, 3), (2, 2, 3), (1, 3, 4)];
        assert_eq!(run(&rules, &occurrences), [(1, 0, 3), (1, 1, 3), (1, 0, 4)]);
    }

    #[test]
    fn the_handler_is_not_called_after_it_ended_the_scan() {
        let occurrences: Vec<_> = (1..9).map(|end| (0, end - 1, end)).collect();
        assert_eq!(run(&[rule("a", 0, 1)], &occurrences).len(), 4);
    }

    #[test]
    fn plain_patterns_need_no_check() {
        let plain = |rules: &[Rule]| {
            let mut set = PatternSet::builder();
            for (index, rule) in (0..).zip(rules) {
                set.push_with(PatternId(index), &rule.literal.bytes, false).unwrap();
            }
            let set = set.build();
            let plain = Reports::new(rules).plain(&set);
            (0..set.len() as u32).map(|pattern| plain.id(pattern)).collect::<Vec<_>>()
        };
        let mut rules = vec![rule("a", 0, 3), rule("b", 256, 9), rule("c", 8, 2)];
        rules.extend([rule("d", 0, 5), rule("d", 0, 6), rule("e", 0, u32::MAX), rule("f", 0, 0)]);
        assert_eq!(plain(&rules), [Some(3), None, None, None, None, Some(0)]);
        rules[0].terms.max = 40;
        assert_eq!(plain(&rules), [None; 6]);
        assert_eq!(plain(&[rule("a", 0, 1), rule("b", 0, 1)]), [None; 2]);
    }

    #[test]
    fn terms_are_kept() {
        let mut rules = vec![rule("a", 8, 3), rule("b", 256, 9), rule("c", 0, 2)];
        rules[2].terms.max = 40;
        let reports = Reports::new(&rules);
        for (index, rule) in rules.iter().enumerate() {
            assert_eq!(reports.terms(index as u32), rule.terms);
        }
        assert_eq!((reports.slots(), reports.len()), (1, 3));
    }
}
