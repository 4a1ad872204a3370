//! A transition table for short haystacks and dense matches: it finds matches that do not overlap.
//!
//! A transition leads to a row, and may report matches. A walk never goes back in the haystack: it
//! goes on from the match that it reports. So a call needs no scratch, no sorting and no filter of
//! overlapping matches.
//! It wins on short haystacks and where matches are dense. A filter wins where many bytes lie
//! between two matches.
//!
//! Leftmost semantics are part of the automaton ([`states`]). A match is pending while a better one
//! may follow. Then the walk is in a row from [`FindTable::pending`] on, and the transition that
//! rules a better match out reports it, with all matches between it and the current position.
//!
//! Sources: Aho and Corasick 1975, algorithm 4; the crate `aho-corasick` for leftmost semantics;
//! Mohri 1997, "Finite-state transducers in language and speech processing", for delayed reports.

mod one_by_one;
mod several;
mod states;
#[cfg(test)]
mod tests;

use crate::classes::ByteClasses;
use crate::pairs::Pairs;
use crate::trie::{CaseFold, Trie};
use fyke_core::{Match, PatternId, PatternSet, Semantics};
pub use one_by_one::OneByOne;
pub use several::Place;

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
    /// Row after row of `stride` entries, the root's first: for each class, the place of the row to
    /// go to, and then the place in `found` of what the end of the haystack reports.
    rows: Vec<u32>,
    /// For each entry of `rows` but the last of a row, the place in `found` of what the transition
    /// reports.
    reports: Vec<u16>,
    class: [u8; 256],
    stride: usize,
    /// In rows from this place on, a match is pending, or the transition to the row reports.
    pending: u32,
    /// Transitions to rows from this place on report matches. These rows are copies of others.
    reporting: u32,
    /// The matches of each report, one after the other. [`NOTHING`] is the place of none.
    found: Vec<Found>,
    /// Skips positions at which no pattern begins, if there are few patterns.
    pairs: Option<Pairs>,
}

/// A match of a report. The next one in `found` is the next match of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Found {
    id: PatternId,
    len: u16,
    /// How many bytes ago the match ended.
    ago: u16,
    is_last: bool,
}

/// The place of no report.
const NOTHING: u16 = u16::MAX;

/// The search reached its limit of bytes, and there are more, but it saw no match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undecided;

/// Bytes of an entry of a row, with what it reports.
const BYTES_PER_ENTRY: u64 = 6;

/// Where a walk stopped.
struct Stop {
    /// The position behind the last byte that it read.
    end: usize,
    /// The rows before and after that byte.
    from: u32,
    row: u32,
}

impl FindTable {
    /// Estimates the bytes of the table of a set. With leftmost semantics, there may be more.
    pub fn memory_for(set: &PatternSet) -> u64 {
        let states = Trie::count_states(set);
        let mut used = [false; 256];
        set.iter().flat_map(|p| p.bytes).for_each(|&b| used[usize::from(b)] = true);
        states * BYTES_PER_ENTRY * (ByteClasses::new(&used).len() as u64 + 1)
            + (size_of::<Found>() * set.len()) as u64
            + Pairs::MEMORY
    }

    /// A lower bound of [`memory_for`](Self::memory_for) that reads no pattern: each pattern has a
    /// state, unless folding case makes patterns equal, and a row has at least two entries.
    pub fn memory_at_least(set: &PatternSet) -> u64 {
        let mixed = set.nocase_count() > 0 && set.nocase_count() < set.len();
        let states = if mixed { 0 } else { set.len() as u64 };
        (size_of::<Found>() * set.len()) as u64 + 2 * BYTES_PER_ENTRY * states
    }

    /// Compiles a set. `None` if the table exceeds `limit` bytes, if only some of the patterns
    /// ignore case, or if the semantics report matches that overlap.
    pub fn new(set: &PatternSet, semantics: Semantics, limit: u64) -> Option<FindTable> {
        let single = matches!(
            semantics,
            Semantics::Standard | Semantics::LeftmostFirst | Semantics::LeftmostLongest
        );
        if !single || !Trie::must_confirm(set).is_empty() || Self::memory_for(set) > limit {
            return None;
        }
        let trie = Trie::new(set).ok()?;
        let table = states::compile(set, &trie, semantics, limit)?;
        Some(FindTable { pairs: Pairs::new(set, trie.fold() == CaseFold::Lower), ..table })
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

    /// Where the first match ends.
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
            None => self.walk(head, at, 0, self.pending),
        };
        match stop {
            stop if stop.row >= self.pending => Ok(Some(stop)),
            _ if head.len() == haystack.len() => Ok(None),
            _ => Err(Undecided),
        }
    }

    /// Walks from `row` to the first row at or behind `until`, or to the end.
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

    /// The best match from where the first match ends.
    #[inline]
    fn best_match(&self, haystack: &[u8], mut stop: Stop) -> Match {
        if stop.row < self.reporting {
            stop = self.walk(haystack, stop.end, stop.row, self.reporting);
        }
        let report = match stop.row >= self.reporting {
            true => self.report(stop.from, haystack[stop.end - 1]),
            false => self.at_end(stop.row),
        };
        self.found[usize::from(report)].at(stop.end)
    }

    /// The place of what the transition from a row by a byte reports.
    #[inline(always)]
    fn report(&self, row: u32, byte: u8) -> u16 {
        self.reports[row as usize + usize::from(self.class[usize::from(byte)])]
    }

    /// The place of what is reported if the haystack ends in a row.
    #[inline(always)]
    fn at_end(&self, row: u32) -> u16 {
        self.rows[row as usize + self.stride - 1] as u16
    }

    /// Bytes of memory.
    pub fn memory(&self) -> u64 {
        let pairs = if self.pairs.is_some() { Pairs::MEMORY } else { 0 };
        BYTES_PER_ENTRY * self.rows.len() as u64 + size_of_val(&*self.found) as u64 + pairs
    }

    /// The row after a byte.
    #[inline(always)]
    fn next(&self, row: u32, byte: u8) -> u32 {
        self.rows[row as usize + usize::from(self.class[usize::from(byte)])]
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

impl Found {
    /// The match, if it is reported at `end`.
    #[inline(always)]
    fn at(self, end: usize) -> Match {
        let end = end - usize::from(self.ago);
        Match { start: end - usize::from(self.len), end, pattern: self.id }
    }
}
