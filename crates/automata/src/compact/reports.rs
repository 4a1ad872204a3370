//! Report lists: which patterns end in each state, laid out to be copied.
//!
//! The list of a state holds its own patterns and then those of its nearest reporting suffix,
//! longest first. They are records that lack only their end. A scan copies four records at once,
//! and moves its output cursor by the length of the list. So few matches need a branch on the
//! length.
//!
//! Nested patterns (`a`, `aa`, `aaa` ...) would make flat lists as long as the square of the set.
//! A list of more than [`MAX_FLAT_LEN`] patterns is therefore a *long list*: its own patterns and
//! a link to the list that follows.

use crate::Trie;
use fyke_core::{Record, Refusal};

/// Bits of a [`ReportList`] that hold its length. The others hold its start.
const LEN_BITS: u32 = 5;

/// The length that marks a long list.
const LONG: u32 = (1 << LEN_BITS) - 1;

/// The maximum number of patterns of a flat list: what its length field can hold.
pub const MAX_FLAT_LEN: u32 = LONG - 1;

/// Records before the own patterns of a long list: its whole length, the length of its own part,
/// and the list that follows.
const HEADER: usize = 3;

/// Records that are copied at once. As many follow the last list as padding, so that a copy may
/// start anywhere in the lists.
pub const COPY_LEN: usize = 4;

/// The list of a state: where it starts, and its length. 0 for a state that reports nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportList(pub u32);

impl ReportList {
    fn new(start: usize, len: u32) -> ReportList {
        ReportList((start as u32) << LEN_BITS | len)
    }

    /// The index of its first record.
    #[inline(always)]
    pub fn start(self) -> usize {
        (self.0 >> LEN_BITS) as usize
    }

    /// The number of patterns of a flat list.
    #[inline(always)]
    pub fn short_len(self) -> usize {
        (self.0 & LONG) as usize
    }

    /// The number of patterns, if the list is flat.
    #[inline(always)]
    pub fn flat_len(self) -> Option<usize> {
        let len = self.0 & LONG;
        (len != LONG).then_some(len as usize)
    }
}

/// The records of all lists; their ends are 0.
#[derive(Debug, Default)]
pub struct Reports {
    /// The lists, one after the other.
    pub records: Vec<Record>,
}

fn record(pattern: u32) -> Record {
    Record { end: 0, pattern }
}

impl Reports {
    /// Builds the lists of a trie. Returns them and the list of each state.
    ///
    /// # Errors
    /// The records are more than a [`ReportList`] can address.
    pub fn new(trie: &Trie) -> Result<(Reports, Vec<ReportList>), Refusal> {
        let mut reports = Reports { records: Vec::with_capacity(trie.pattern_count() + COPY_LEN) };
        let mut of_state = vec![ReportList::default(); trie.len()];
        for state in 1..trie.len() as u32 {
            let follows = of_state[trie.output_link(state) as usize];
            of_state[state as usize] = match trie.own(state) {
                [] => follows,
                own => reports.add(own, follows)?,
            };
        }
        reports.records.extend([record(0); COPY_LEN]);
        Ok((reports, of_state))
    }

    fn add(&mut self, own: &[u32], follows: ReportList) -> Result<ReportList, Refusal> {
        let (start, total) = (self.records.len(), own.len() as u32 + self.len(follows));
        let (need, have) = (start as u64, u64::from(u32::MAX >> LEN_BITS));
        if need > have {
            return Err(Refusal::TooBig { what: "records of report lists", need, have });
        }
        if total <= MAX_FLAT_LEN {
            self.records.extend(own.iter().map(|&pattern| record(pattern)));
            let after = follows.start()..follows.start() + total as usize - own.len();
            self.records.extend_from_within(after);
            return Ok(ReportList::new(start, total));
        }
        self.records.extend([total, own.len() as u32, follows.0].map(record));
        self.records.extend(own.iter().map(|&pattern| record(pattern)));
        Ok(ReportList::new(start, LONG))
    }

    fn word(&self, at: usize) -> u32 {
        self.records[at].pattern
    }

    /// The number of patterns of a list.
    #[inline]
    pub fn len(&self, list: ReportList) -> u32 {
        list.flat_len().map_or_else(|| self.word(list.start()), |len| len as u32)
    }

    /// Calls `each` with the patterns of a list, longest first.
    #[inline(always)]
    pub fn each(&self, mut list: ReportList, mut each: impl FnMut(u32)) {
        loop {
            let (from, len, follows) = match list.flat_len() {
                Some(len) => (list.start(), len, None),
                None => {
                    let at = list.start();
                    (at + HEADER, self.word(at + 1) as usize, Some(ReportList(self.word(at + 2))))
                }
            };
            self.records[from..from + len].iter().for_each(|record| each(record.pattern));
            match follows {
                Some(next) => list = next,
                None => return,
            }
        }
    }

    /// Bytes of memory that the lists take.
    pub fn memory(&self) -> u64 {
        size_of::<Record>() as u64 * self.records.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trie::ROOT;
    use fyke_core::PatternSet;

    /// 300 patterns that are suffixes of one another have 45,150 reports in all. The lists stay
    /// linear.
    #[test]
    fn nested_patterns_do_not_blow_up_the_lists() {
        let nested: Vec<Vec<u8>> = (1..=300).map(|n| vec![b'a'; n]).collect();
        let set = PatternSet::new(&nested).unwrap();
        let trie = Trie::new(&set).unwrap();
        let (reports, of_state) = Reports::new(&trie).unwrap();
        let bound = (MAX_FLAT_LEN as usize + HEADER + 1) * 300 + COPY_LEN;
        assert!(reports.records.len() <= bound, "{}", reports.records.len());
        assert_eq!(of_state[ROOT as usize], ReportList::default());
        for n in 1..=300u32 {
            let mut got = Vec::new();
            reports.each(of_state[n as usize], |p| got.push(p));
            assert_eq!(got, (0..n).rev().collect::<Vec<_>>());
            assert_eq!(reports.len(of_state[n as usize]), n);
        }
    }
}
