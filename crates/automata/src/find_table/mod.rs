//! A transition table for short haystacks and dense matches: it finds matches that do not overlap.
//!
//! A transition leads to a row and may report matches. A walk reads each byte once, also where
//! matches overlap. Interleaved walks read a few bytes twice. No call sorts matches or drops
//! overlapping ones. Use the table for short haystacks and for dense matches. A filter is faster
//! where many bytes lie between two matches.
//!
//! With leftmost semantics, a match is *pending* while a better one may follow. The first
//! transition after which no better one can follow reports the pending match, and all matches
//! between it and the current position. The walk is then where the bytes after the last of them
//! lead to from the root.
//!
//! Sources: Aho and Corasick 1975, algorithm 4; the crate `aho-corasick` for leftmost semantics;
//! Mohri 1997, "Finite-state transducers in language and speech processing", for delayed reports.

mod bulk_walk;
mod first_walk;
mod match_walk;
mod states;
#[cfg(test)]
pub(crate) mod tests;
mod whole_walk;

use crate::classes::ByteClasses;
use crate::pairs::Pairs;
use crate::trie::{CaseFold, Trie};
pub use bulk_walk::BulkWalk;
pub(crate) use bulk_walk::last_position;
use fyke_core::{Match, PatternId, PatternSet, Semantics};
pub use match_walk::MatchWalk;
pub use whole_walk::{WHOLE_LEN, WholeWalk};

/// An automaton for one of the semantics of non-overlapping matches.
///
/// ```
/// use fyke_automata::find_table::FindTable;
/// use fyke_core::{PatternSet, Semantics};
///
/// let set = PatternSet::new(["Samwise", "Sam"])?;
/// let table = FindTable::new(&set, Semantics::LeftmostFirst, 1 << 20).unwrap();
/// let found = table.find(b"I am Sam, Samwise", 6, usize::MAX);
/// assert_eq!(found.unwrap().map(|m| m.range()), Some(10..17));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FindTable {
    /// Rows of `stride` entries, the root's first. An entry is the offset of the next row. The last
    /// entry of a row is the index of the report at the end of the haystack.
    rows: Vec<u32>,
    /// For each entry of `rows`, the index of the transition's report; [`NO_REPORT`] for the last
    /// entry of a row.
    reports: Vec<u16>,
    class: [u8; 256],
    stride: usize,
    /// The offset of the first row in which a match is pending, or to which a transition reports.
    pending: u32,
    /// The offset of the first row that only reporting transitions lead to. These rows are copies,
    /// so one comparison shows that a transition reported.
    reporting: u32,
    /// The matches of each report, one after the other. A report's index is that of its first.
    reported: Vec<Reported>,
    /// Skips positions at which no pattern begins, if there are few patterns.
    pairs: Option<Pairs>,
}

/// A match of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Reported {
    id: PatternId,
    len: u16,
    /// How many bytes ago the match ended.
    ago: u16,
    /// Whether it is the last match of its report.
    is_last: bool,
}

/// The index of no report.
const NO_REPORT: u16 = u16::MAX;

/// The search gave up without a result. The caller goes on in another way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undecided;

/// Bytes of an entry in `rows` and in `reports`.
const BYTES_PER_ENTRY: u64 = (size_of::<u32>() + size_of::<u16>()) as u64;

/// Where a walk stopped.
struct Stop {
    /// The position after the last byte that it read.
    end: usize,
    /// The rows before and after that byte.
    from: u32,
    row: u32,
}

impl FindTable {
    /// Estimates the bytes of the table of a set. There may be more, most of all with leftmost
    /// semantics, which copy more rows.
    pub fn memory_for(set: &PatternSet) -> u64 {
        let states = Trie::count_states(set);
        let mut used = [false; 256];
        set.iter().flat_map(|p| p.bytes).for_each(|&b| used[usize::from(b)] = true);
        states * BYTES_PER_ENTRY * (ByteClasses::new(&used).len() as u64 + 1)
            + (size_of::<Reported>() * set.len()) as u64
            + Pairs::MEMORY
    }

    /// A lower bound of [`memory_for`](Self::memory_for) that reads no pattern: each pattern has a
    /// state, unless folding case makes patterns equal, and a row has at least two entries.
    pub fn memory_at_least(set: &PatternSet) -> u64 {
        let mixed = set.nocase_count() > 0 && set.nocase_count() < set.len();
        let states = if mixed { 0 } else { set.len() as u64 };
        (size_of::<Reported>() * set.len()) as u64 + 2 * BYTES_PER_ENTRY * states
    }

    /// Compiles a set. `None` if the table exceeds `limit` bytes, if it reports too many matches,
    /// if only some of the patterns ignore case, or if the semantics report matches that overlap.
    pub fn new(set: &PatternSet, semantics: Semantics, limit: u64) -> Option<FindTable> {
        let single = matches!(
            semantics,
            Semantics::Standard | Semantics::LeftmostFirst | Semantics::LeftmostLongest
        );
        if !single || !Trie::must_confirm(set).is_empty() || Self::memory_for(set) > limit {
            return None;
        }
        let trie = Trie::new(set).ok()?;
        let pairs = Pairs::new(set, trie.fold() == CaseFold::Lower);
        let limit = limit.saturating_sub(if pairs.is_some() { Pairs::MEMORY } else { 0 });
        let table = states::compile(set, &trie, semantics, limit)?;
        Some(FindTable { pairs, ..table })
    }

    /// Finds the first match from `at` on, as if the haystack began there.
    ///
    /// # Errors
    /// [`Undecided`] if no match ends in the first `most` bytes from `at` on, and the haystack has
    /// more.
    ///
    /// # Panics
    /// `at` is beyond the end of the haystack.
    #[inline]
    pub fn find(
        &self,
        haystack: &[u8],
        at: usize,
        most: usize,
    ) -> Result<Option<Match>, Undecided> {
        let stop = self.first_match(haystack, at, most)?;
        Ok(stop.map(|stop| self.best_match(haystack, stop)))
    }

    /// The end of the match that ends first, if it lies in the first `most` bytes.
    ///
    /// # Errors
    /// [`Undecided`] if there is none, and the haystack has more bytes.
    #[inline]
    pub fn first_end(&self, haystack: &[u8], most: usize) -> Result<Option<usize>, Undecided> {
        Ok(self.first_match(haystack, 0, most)?.map(|stop| stop.end))
    }

    /// The end of the match that ends first. With leftmost semantics, the match to report may end
    /// later.
    #[inline(always)]
    fn first_match(
        &self,
        haystack: &[u8],
        at: usize,
        most: usize,
    ) -> Result<Option<Stop>, Undecided> {
        let head = &haystack[..haystack.len().min(at.saturating_add(most))];
        let stop = match &self.pairs {
            Some(pairs) => self.walk_and_skip(head, at, pairs),
            None => self.walk_to_first(head, at),
        };
        match stop {
            stop if stop.row >= self.pending => Ok(Some(stop)),
            _ if head.len() == haystack.len() => Ok(None),
            _ => Err(Undecided),
        }
    }

    /// Walks from `row` to the first row at or after `until`, or to the end.
    #[inline(always)]
    fn walk(&self, haystack: &[u8], at: usize, row: u32, until: u32) -> Stop {
        let mut stop = Stop { end: at, from: row, row };
        for &byte in &haystack[at..] {
            stop.step(self, byte);
            if stop.row >= until {
                break;
            }
        }
        stop
    }

    /// Walks from the root to the first match, and skips ahead whenever it is at the root.
    #[inline(always)]
    fn walk_and_skip(&self, haystack: &[u8], at: usize, pairs: &Pairs) -> Stop {
        let mut stop = Stop { end: pairs.next(haystack, at), from: 0, row: 0 };
        while let Some(&byte) = haystack.get(stop.end) {
            stop.step(self, byte);
            if stop.row >= self.pending {
                break;
            }
            if stop.row == 0 {
                stop.end = pairs.next(haystack, stop.end);
            }
        }
        stop
    }

    /// Goes on from the end of the first match to the match that the semantics report.
    #[inline]
    fn best_match(&self, haystack: &[u8], mut stop: Stop) -> Match {
        if stop.row < self.reporting {
            stop = self.walk(haystack, stop.end, stop.row, self.reporting);
        }
        let report = match stop.row >= self.reporting {
            true => self.report(stop.from, haystack[stop.end - 1]),
            false => self.at_end(stop.row),
        };
        self.reported[usize::from(report)].at(stop.end)
    }

    /// The index of what the transition from a row by a byte reports.
    #[inline(always)]
    fn report(&self, row: u32, byte: u8) -> u16 {
        self.reports[self.entry(row, byte)]
    }

    /// The index of what is reported if the haystack ends in a row.
    #[inline(always)]
    fn at_end(&self, row: u32) -> u16 {
        self.rows[row as usize + self.stride - 1] as u16
    }

    /// Bytes of memory.
    pub fn memory(&self) -> u64 {
        let pairs = if self.pairs.is_some() { Pairs::MEMORY } else { 0 };
        BYTES_PER_ENTRY * self.rows.len() as u64 + size_of_val(&*self.reported) as u64 + pairs
    }

    /// The row after a byte.
    #[inline(always)]
    fn next(&self, row: u32, byte: u8) -> u32 {
        self.rows[self.entry(row, byte)]
    }

    /// The index of the entry for a byte.
    #[inline(always)]
    fn entry(&self, row: u32, byte: u8) -> usize {
        row as usize + usize::from(self.class[usize::from(byte)])
    }

    /// The first match of a report that is made at `end`, and the index of the report's rest.
    #[inline(always)]
    fn first_of(&self, report: u16, end: usize) -> (Match, u16) {
        let reported = self.reported[usize::from(report)];
        (reported.at(end), if reported.is_last { NO_REPORT } else { report + 1 })
    }
}

impl Stop {
    /// Reads a byte.
    #[inline(always)]
    fn step(&mut self, table: &FindTable, byte: u8) {
        self.end += 1;
        self.from = self.row;
        self.row = table.next(self.row, byte);
    }
}

impl Reported {
    /// The match, if it is reported at `end`.
    #[inline(always)]
    fn at(self, end: usize) -> Match {
        let end = end - usize::from(self.ago);
        Match { start: end - usize::from(self.len), end, pattern: self.id }
    }
}
