//! Verification: a contender is timed only if it finds the expected matches.
//!
//! Count and fingerprint are compared with the golden row if the cell has one, else with those of
//! the first contender. Neither depends on the order of the matches. A contender that promises an
//! order also counts the matches that break it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use fyke_rivals::{Refusal, Tally, Work};

use crate::data::store::Prepared;
use crate::entrant::Entrant;
use crate::machine::cores;

/// The result of verifying a contender.
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
        /// The source of the expected result.
        by: String,
    },
    /// Its scan failed.
    Refused(Refusal),
}

/// Compares the contenders of a cell.
pub fn verify(entrants: &[Entrant<'_>], cell: &Prepared, threads: usize) -> Vec<Verdict> {
    let mut expected = cell.golden.map(|tally| (tally, "the golden row".to_string()));
    let mut verdict = |(entrant, found): (&Entrant<'_>, Result<Tally, Refusal>)| match found {
        Ok(found) => {
            let name = || (found, entrant.contender.name.clone());
            let (right, by) = expected.get_or_insert_with(name);
            judge(found, *right, by)
        }
        Err(refusal) => Verdict::Refused(refusal),
    };
    entrants.iter().zip(scan_all(entrants, cell, threads)).map(&mut verdict).collect()
}

/// Scans with every contender, several at a time: nothing is timed here.
fn scan_all(
    entrants: &[Entrant<'_>],
    cell: &Prepared,
    threads: usize,
) -> Vec<Result<Tally, Refusal>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut mine = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(entrant) = entrants.get(i) else { return mine };
            mine.push((i, entrant.scan(cell, threads, Work::Fingerprint)));
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

/// The reason of a disagreement.
pub fn explain(found: Tally, expected: Tally, by: &str) -> String {
    if found.out_of_order > 0 {
        return format!("{} of {} matches are out of order", found.out_of_order, found.count);
    }
    format!(
        "finds {} matches with fingerprint {:016x}, but {by} has {} with {:016x}",
        found.count, found.sum, expected.count, expected.sum
    )
}
