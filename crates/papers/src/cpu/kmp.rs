//! Knuth-Morris-Pratt, one pass per pattern.
//!
//! The search remembers how many bytes of the pattern it has just read. If the next byte does not
//! continue the pattern, the failure table gives the longest shorter prefix that was also read,
//! and the comparison continues from there. No byte of the text is read again, so n bytes take at
//! most 2n comparisons. The failure table is also followed after an occurrence, so overlapping
//! occurrences are found.
//!
//! Wins for one repetitive pattern in a repetitive text. Loses everywhere else: it reads every
//! byte where [Boyer-Moore](super::bm) skips most, and 1,000 patterns take 1,000 passes.
//!
//! Source: D. E. Knuth, J. H. Morris and V. R. Pratt, *Fast pattern matching in strings*, SIAM J.
//! Computing 6(2), 1977; Bellekens et al. 2013, II and III.

use crate::cost::{CostCounter, Downcast, downcast};
use crate::passes::{Passes, Read, Search, Task};
use fyke_automata::count::Uncounted;
use fyke_core::{Device, Engine, Family, Growth, Info, Matcher, Options, PatternSet, Refusal};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The entry of the registry.
pub static ENGINE: Kmp = Kmp;

static INFO: Info = Info {
    name: "kmp",
    device: Device::Cpu,
    family: Family::Paper,
    growth: Growth::PerPattern,
    about: "Knuth-Morris-Pratt: a failure table and one pass per pattern",
    source: "Knuth, Morris and Pratt 1977; Bellekens et al. 2013, II-III",
    variants: &[""],
};

/// Counts the steps of its matchers.
pub(crate) const COUNTED: Downcast = downcast::<Passes<FailureTable>>;

/// The engine.
#[derive(Debug)]
pub struct Kmp;

impl Engine for Kmp {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        Passes::<FailureTable>::compile(&INFO, set, opt)
    }
}

/// The failure table of a pattern, for engines on other devices.
///
/// # Panics
/// The pattern is empty.
pub fn failures(pattern: &[u8]) -> Vec<u16> {
    FailureTable::new(pattern).0.into_vec()
}

/// The failure table. Entry i is the length of the longest proper prefix of `pattern[..=i]` that
/// is also its suffix. It is less than the length of a pattern, so 16 bits hold it.
#[derive(Debug)]
struct FailureTable(Box<[u16]>);

impl FailureTable {
    /// The bytes of the pattern that are read after one more byte.
    #[inline(always)]
    fn step<C: CostCounter>(
        failures: &[u16],
        pattern: &[u8],
        mut read: usize,
        byte: u8,
        counter: &mut C,
    ) -> usize {
        if read == pattern.len() {
            read = usize::from(failures[read - 1]);
        }
        loop {
            counter.comparisons(1);
            if pattern[read] == byte {
                return read + 1;
            }
            if read == 0 {
                return 0;
            }
            read = usize::from(failures[read - 1]);
        }
    }
}

impl Search for FailureTable {
    /// Builds the table by a search for the pattern in itself, from its second byte.
    fn new(pattern: &[u8]) -> Self {
        let mut table = Vec::with_capacity(pattern.len());
        table.push(0);
        let mut read = 0;
        for &byte in &pattern[1..] {
            read = Self::step(&table, pattern, read, byte, &mut Uncounted);
            table.push(read as u16);
        }
        FailureTable(table.into_boxed_slice())
    }

    fn table_bytes(len: usize) -> u64 {
        2 * len as u64
    }

    #[inline]
    fn find<R: Read, C: CostCounter>(
        &self,
        task: Task<'_, R>,
        counter: &mut C,
        found: &mut impl FnMut(usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut read = 0;
        for at in 0..task.text.len() {
            read = Self::step(&self.0, task.pattern, read, task.byte(at), counter);
            if read == task.pattern.len() {
                found(at + 1)?;
            }
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::Cost;
    use crate::passes::Exact;

    fn search(pattern: &str, text: &str) -> (Vec<usize>, Cost) {
        let (mut ends, mut cost) = (Vec::new(), Cost::default());
        let task = Task { pattern: pattern.as_bytes(), text: text.as_bytes(), read: Exact };
        let flow = FailureTable::new(task.pattern).find(task, &mut cost, &mut |end| {
            ends.push(end);
            ControlFlow::Continue(())
        });
        assert!(flow.is_continue());
        (ends, cost)
    }

    /// Bellekens et al. 2013, table I.
    #[test]
    fn the_failure_table_of_the_paper() {
        assert_eq!(*FailureTable::new(b"ACAACTC").0, [0, 0, 1, 1, 2, 0, 0]);
    }

    /// Bellekens et al. 2013, fig. 2: the machine of CACG, state by state, over its alphabet.
    #[test]
    fn the_state_machine_of_the_paper() {
        let pattern = b"CACG";
        let table = FailureTable::new(pattern).0;
        assert_eq!(*table, [0, 0, 1, 0]);
        let row = |state| {
            let next = |&byte| FailureTable::step(&table, pattern, state, byte, &mut Uncounted);
            b"ACGT".iter().map(next).collect::<Vec<_>>()
        };
        assert_eq!(row(0), [0, 1, 0, 0]);
        assert_eq!(row(1), [2, 1, 0, 0]);
        assert_eq!(row(2), [0, 3, 0, 0]);
        assert_eq!(row(3), [2, 1, 4, 0]); // "CACA" ends with "CA", which counts as read
        assert_eq!(row(4), [0, 1, 0, 0]);
    }

    #[test]
    fn overlapping_occurrences_are_found() {
        assert_eq!(search("aba", "ababaxaba").0, [3, 5, 9]);
        assert_eq!(search("aa", "aaaa").0, [2, 3, 4]);
        assert_eq!(search("abc", "ab").0, [0; 0]);
    }

    #[test]
    fn at_most_two_comparisons_a_byte() {
        for (pattern, text) in [
            ("aaaaaaaab", "a".repeat(1000)),
            ("aaaaaaaa", "aaaaaaab".repeat(100)),
            ("abcab", "abcaabcab".repeat(100)),
        ] {
            let (_, cost) = search(pattern, &text);
            let bytes = text.len() as u64;
            assert!((bytes..=2 * bytes).contains(&cost.comparisons), "{pattern}: {cost:?}");
        }
    }
}
