//! Verification: nobody is timed who does not find the same matches.
//!
//! Count and fingerprint of each contender are compared with the golden row if the cell is one,
//! else with those of the first contender. The sums do not depend on the order of the matches.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use fyke_rivals::{Refusal, Tally, Work};

use crate::data::Prepared;
use crate::lanes::Lane;
use crate::machine::cores;

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
    let mut verdict = |(lane, found): (&Lane<'_>, Result<Tally, Refusal>)| match found {
        Ok(found) => {
            let name = || (found, lane.contender.name.clone());
            let (right, by) = expected.get_or_insert_with(name);
            judge(found, *right, by)
        }
        Err(refusal) => Verdict::Refused(refusal),
    };
    lanes.iter().zip(scan_all(lanes, cell, threads)).map(&mut verdict).collect()
}

/// Scans with every contender, several at a time: nothing is timed here.
fn scan_all(lanes: &[Lane<'_>], cell: &Prepared, threads: usize) -> Vec<Result<Tally, Refusal>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut mine = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(lane) = lanes.get(i) else { return mine };
            mine.push((i, lane.scan(cell, threads, Work::Fingerprint)));
        }
    };
    let mut found: Vec<_> = thread::scope(|scope| {
        let running: Vec<_> = (0..cores()).map(|_| scope.spawn(work)).collect();
        running.into_iter().flat_map(|r| r.join().expect("scanning does not panic")).collect()
    });
    found.sort_by_key(|(i, _)| *i);
    found.into_iter().map(|(_, tally)| tally).collect()
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
