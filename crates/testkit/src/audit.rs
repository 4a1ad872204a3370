//! A sink that checks every batch of an engine and then compares the matches with the expected
//! ones.
//!
//! For each batch it checks that the set is the right one, that every pattern is in the set, that
//! every match ends in the owned part of the block and starts in the block, and that a batch
//! marked as ordered is in order.

use fyke_core::{Batch, Block, PatternSet, Sink, StreamMatch};
use std::ops::ControlFlow;

/// Matches shown per list when a result is wrong.
const SHOWN: usize = 5;

/// Collects matches and keeps the first mistake found in a batch.
pub struct Audit<'a> {
    set: &'a PatternSet,
    /// A match must end after the first position and at or before the second.
    ends: (u64, u64),
    /// A match must not start before this position.
    floor: u64,
    found: Vec<StreamMatch>,
    unordered: bool,
    last_batch_end: Option<u64>,
    problem: Option<String>,
}

impl<'a> Audit<'a> {
    /// An audit of the scan of one block.
    pub fn of_block(set: &'a PatternSet, block: &Block<'_>) -> Self {
        let end = block.offset + block.bytes.len() as u64;
        Self::new(set, (block.owned_offset(), end), block.offset)
    }

    /// An audit of a whole haystack, in blocks of any size.
    pub fn of_haystack(set: &'a PatternSet, len: usize) -> Self {
        Self::new(set, (0, len as u64), 0)
    }

    fn new(set: &'a PatternSet, ends: (u64, u64), floor: u64) -> Self {
        Self {
            set,
            ends,
            floor,
            found: Vec::new(),
            unordered: false,
            last_batch_end: None,
            problem: None,
        }
    }

    /// Compares with the expected matches. Order matters if the engine claimed it.
    ///
    /// # Errors
    /// The first mistake in a batch, or the first differences.
    pub fn finish(self, expected: &[StreamMatch]) -> Result<(), String> {
        self.checked_matches().and_then(|found| same(expected, &found))
    }

    /// Like [`finish`](Self::finish), but the batches must be ordered, as after a sorter, from a
    /// stream or from a parallel scan.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn finish_ordered(self, expected: &[StreamMatch]) -> Result<(), String> {
        if self.unordered {
            return Err("batches are not ordered, but must be here".into());
        }
        self.finish(expected)
    }

    /// The matches in canonical order.
    ///
    /// # Errors
    /// The first mistake in a batch.
    pub fn checked_matches(mut self) -> Result<Vec<StreamMatch>, String> {
        if self.unordered {
            self.found.sort_unstable();
        }
        self.problem.map_or(Ok(self.found), Err)
    }

    fn note(&mut self, problem: String) {
        self.problem.get_or_insert(problem);
    }

    fn check_records(&mut self, batch: &Batch<'_>) -> bool {
        let patterns = batch.set.len();
        let bad = batch.records.iter().find(|r| {
            let end = batch.end(**r);
            let owned = self.ends.0 < end && end <= self.ends.1;
            !owned
                || r.pattern as usize >= patterns
                || end - self.floor < batch.set.pattern_len(r.pattern) as u64
        });
        if let Some(r) = bad {
            let (ends, floor) = (self.ends, self.floor);
            self.note(format!(
                "out of bounds: {r:?} with base {} in a set of {patterns}; ends must be in {ends:?}, starts at or after {floor}",
                batch.base
            ));
        }
        bad.is_none()
    }

    fn check_order(&mut self, batch: &Batch<'_>, first_new: usize) {
        if !batch.ordered {
            self.unordered = true;
        } else if self.unordered {
            self.note("an ordered batch follows an unordered one".into());
        } else if !self.found[first_new.saturating_sub(1)..].is_sorted() {
            self.note(format!(
                "claims to be ordered but is not: {:?}",
                show(&self.found[first_new..])
            ));
        } else if self.last_batch_end.is_some()
            && self.last_batch_end == self.found.get(first_new).map(|m| m.end)
        {
            self.note(format!(
                "matches that end at {:?} are spread over two batches",
                self.last_batch_end
            ));
        }
        self.last_batch_end = self.found.last().map(|m| m.end);
    }
}

impl Sink for Audit<'_> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        if batch.set.digest() != self.set.digest() {
            self.note("the batch names a different set".into());
        } else if self.check_records(batch) {
            let first_new = self.found.len();
            self.found.extend(batch.matches());
            if batch.count() != (self.found.len() - first_new) as u64 {
                self.note(format!(
                    "Batch::count says {} for {} matches",
                    batch.count(),
                    self.found.len() - first_new
                ));
            }
            self.check_order(batch, first_new);
        }
        if self.problem.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Compares two results.
///
/// # Errors
/// The first matches that are missing and that are extra.
pub fn same(expected: &[StreamMatch], got: &[StreamMatch]) -> Result<(), String> {
    if expected == got {
        return Ok(());
    }
    let (missing, extra) = (minus(expected, got), minus(got, expected));
    Err(format!(
        "expected {} matches: {}\n      got {} matches: {}\n      missing {}: {}\n      extra {}: {}",
        expected.len(),
        show(expected),
        got.len(),
        show(got),
        missing.len(),
        show(&missing),
        extra.len(),
        show(&extra)
    ))
}

/// The multiset difference `a` minus `b`.
fn minus(a: &[StreamMatch], b: &[StreamMatch]) -> Vec<StreamMatch> {
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    a.sort_unstable();
    b.sort_unstable();
    let mut b = b.into_iter().peekable();
    a.retain(|m| {
        while b.next_if(|other| other < m).is_some() {}
        b.next_if_eq(m).is_none()
    });
    a
}

fn show(matches: &[StreamMatch]) -> String {
    let one = |m: &StreamMatch| format!("[{}, {}, {}]", m.pattern, m.start, m.end);
    let mut shown: Vec<String> = matches.iter().take(SHOWN).map(one).collect();
    if matches.len() > SHOWN {
        shown.push("...".into());
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_core::{PatternId, Record};

    /// The result of an audit of batches of (end, pattern) over the set {"ab", "b"} in a haystack
    /// of eight bytes.
    fn verdict(
        batches: &[(&[(u32, u32)], bool)],
        expected: &[(u32, u64, u64)],
    ) -> Result<(), String> {
        let set = PatternSet::new(["ab", "b"]).unwrap();
        let mut audit = Audit::of_haystack(&set, 8);
        for &(records, ordered) in batches {
            let records: Vec<Record> =
                records.iter().map(|&(end, pattern)| Record { end, pattern }).collect();
            let batch = Batch { base: 0, records: &records, ordered, single: false, set: &set };
            if audit.on_batch(&batch).is_break() {
                break;
            }
        }
        let expected: Vec<StreamMatch> = expected
            .iter()
            .map(|&(id, start, end)| StreamMatch { end, start, pattern: PatternId(id) })
            .collect();
        audit.finish(&expected)
    }

    #[track_caller]
    fn blames(result: Result<(), String>, part: &str) {
        let e = result.unwrap_err();
        assert!(e.contains(part), "{e}");
    }

    #[test]
    fn correct_batches_pass() {
        let expected = [(0, 0, 2), (1, 1, 2), (1, 4, 5)];
        assert_eq!(verdict(&[(&[(2, 0), (2, 1)], true), (&[(5, 1)], true)], &expected), Ok(()));
        assert_eq!(verdict(&[(&[(5, 1), (2, 1), (2, 0)], false)], &expected), Ok(()));
    }

    #[test]
    fn mistakes_are_found() {
        blames(verdict(&[(&[(2, 1), (2, 0)], true)], &[]), "claims to be ordered");
        blames(verdict(&[(&[(2, 0)], true), (&[(2, 1)], true)], &[]), "spread over two batches");
        blames(verdict(&[(&[(2, 0)], false), (&[(3, 1)], true)], &[]), "an ordered batch follows");
        blames(verdict(&[(&[(9, 1)], true)], &[]), "out of bounds");
        blames(verdict(&[(&[(0, 1)], true)], &[]), "out of bounds");
        blames(verdict(&[(&[(1, 0)], true)], &[]), "out of bounds");
        blames(verdict(&[(&[(2, 2)], true)], &[]), "out of bounds");
        blames(verdict(&[(&[(2, 1)], true)], &[]), "extra 1: [1, 1, 2]");
        blames(verdict(&[(&[(2, 1), (2, 1)], true)], &[(1, 1, 2)]), "extra 1: [1, 1, 2]");
        blames(verdict(&[], &[(1, 1, 2)]), "missing 1: [1, 1, 2]");
    }
}
