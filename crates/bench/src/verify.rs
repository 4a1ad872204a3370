//! Verification: nobody is timed who does not find the same matches.
//!
//! Count and fingerprint of each contender are compared with the golden row if the cell is one,
//! else with those of the first contender. The sums do not depend on the order of the matches.

use fyke_rivals::{Refusal, Tally, Work};

use crate::data::Prepared;
use crate::lanes::Lane;

/// What verification says about a contender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It finds what is expected.
    Same(Tally),
    /// It finds something else.
    Other {
        /// What it finds.
        found: Tally,
        /// What is right.
        expected: Tally,
        /// Who says so.
        by: String,
    },
    /// It gave up.
    Refused(Refusal),
}

/// Compares the contenders of a cell.
pub fn verify(lanes: &[Lane<'_>], cell: &Prepared, threads: usize) -> Vec<Verdict> {
    let mut expected = cell.golden.map(|tally| (tally, "the golden row".to_string()));
    let mut verdict = |lane: &Lane<'_>| {
        let found = match lane.scan(cell, threads, Work::Fingerprint) {
            Ok(found) => found,
            Err(refusal) => return Verdict::Refused(refusal),
        };
        let (right, by) = expected.get_or_insert_with(|| (found, lane.contender.name.clone()));
        judge(found, *right, by)
    };
    lanes.iter().map(&mut verdict).collect()
}

fn judge(found: Tally, expected: Tally, by: &str) -> Verdict {
    if found == expected {
        return Verdict::Same(found);
    }
    Verdict::Other { found, expected, by: by.into() }
}

/// A disagreement in words.
pub fn explain(found: Tally, expected: Tally, by: &str) -> String {
    format!(
        "finds {} matches with fingerprint {:016x}, but {by} has {} with {:016x}",
        found.count, found.sum, expected.count, expected.sum
    )
}
