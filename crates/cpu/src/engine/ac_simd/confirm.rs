//! Verifies the reports of a folded automaton, for patterns that respect case in a set where
//! others ignore it.
//!
//! A record is kept or dropped without a branch: the last eight bytes before its end are compared
//! under a mask, which is empty for patterns that need no check. Only patterns of eight bytes and
//! more that pass are compared as a whole.

use fyke_automata::Trie;
use fyke_core::{PatternSet, Record};

/// Bytes compared at once.
const TAIL: usize = 8;

/// The required last bytes of a match.
#[derive(Clone, Copy)]
struct Tail {
    bytes: u64,
    mask: u64,
}

/// The tails of all patterns. Empty if every report is a match.
#[derive(Default)]
pub(super) struct Confirm {
    tails: Vec<Tail>,
}

impl Confirm {
    pub(super) fn new(set: &PatternSet) -> Confirm {
        let minds = Trie::must_confirm(set);
        if !minds.contains(&true) {
            return Confirm::default();
        }
        let tail = |(i, &minds): (usize, &bool)| {
            let pattern = set.bytes(i as u32);
            let (mut bytes, mut mask) = ([0; TAIL], [0; TAIL]);
            let len = if minds { pattern.len().min(TAIL) } else { 0 };
            bytes[TAIL - len..].copy_from_slice(&pattern[pattern.len() - len..]);
            mask[TAIL - len..].fill(0xff);
            Tail { bytes: u64::from_le_bytes(bytes), mask: u64::from_le_bytes(mask) }
        };
        Confirm { tails: minds.iter().enumerate().map(tail).collect() }
    }

    /// Whether every report is a match.
    pub(super) fn is_empty(&self) -> bool {
        self.tails.is_empty()
    }

    /// Whether a report at the end of `bytes` is a match.
    #[inline(always)]
    pub(super) fn holds(&self, set: &PatternSet, pattern: u32, bytes: &[u8]) -> bool {
        let Tail { bytes: wanted, mask } = self.tails[pattern as usize];
        let Some(last) = bytes.last_chunk::<TAIL>() else {
            return mask == 0 || bytes.ends_with(set.bytes(pattern));
        };
        let same = (u64::from_le_bytes(*last) ^ wanted) & mask == 0;
        same && (mask != u64::MAX || bytes.ends_with(set.bytes(pattern)))
    }

    /// Drops records that are no matches, and returns the number left. Their ends count from
    /// `base`.
    pub(super) fn keep(
        &self,
        set: &PatternSet,
        records: &mut [Record],
        bytes: &[u8],
        base: usize,
    ) -> usize {
        if self.is_empty() {
            return records.len();
        }
        let mut kept = 0;
        for i in 0..records.len() {
            let record = records[i];
            records[kept] = record;
            let holds = self.holds(set, record.pattern, &bytes[..base + record.end as usize]);
            kept += usize::from(holds);
        }
        kept
    }

    pub(super) fn memory(&self) -> u64 {
        (self.tails.len() * size_of::<Tail>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_core::PatternId;

    #[test]
    fn only_patterns_that_mind_case_are_compared() {
        let mut b = PatternSet::builder();
        for (bytes, nocase) in [("aB", false), ("ab", true), ("12", false), ("Abcdefghi", false)] {
            b.push_with(PatternId(0), bytes, nocase).unwrap();
        }
        let set = b.build();
        let confirm = Confirm::new(&set);
        let index = |bytes: &str| set.iter().find(|p| p.bytes == bytes.as_bytes()).unwrap().index;
        let holds = |text: &str, p: &str| confirm.holds(&set, index(p), text.as_bytes());
        for front in ["", "0123456789"] {
            let after = |text: &str| format!("{front}{text}");
            assert!(holds(&after("aB"), "aB") && !holds(&after("AB"), "aB"));
            assert!(holds(&after("AB"), "ab") && holds(&after("12"), "12"));
            assert!(holds(&after("Abcdefghi"), "Abcdefghi"));
            assert!(!holds(&after("abcdefghi"), "Abcdefghi"));
            assert!(!holds(&after("AbcdefghI"), "Abcdefghi"));
        }
        assert!(Confirm::new(&set.to_nocase()).is_empty());
    }
}
