//! Verification: a contender is timed only if it finds the expected matches.
//!
//! Count and fingerprint are compared with the golden row if the cell has one, else with those of
//! the first contender. Neither depends on the order of the matches. A contender that promises an
//! order also counts the matches that break it.

use fyke_rivals::{Refusal, Tally, Work};

use crate::data::store::Prepared;
use crate::entrant::Entrant;
use crate::parallel;

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
    let found = parallel::map(entrants, |e| e.scan(cell, threads, Work::Fingerprint));
    entrants.iter().zip(found).map(&mut verdict).collect()
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
