//! A transition table for short haystacks: it finds matches that do not overlap, one at a time.
//!
//! Every entry of a row is the row to go to, or says that the search ends. So a call needs no
//! scratch, no sorting and no filter of overlapping matches. It wins on short haystacks and where
//! matches are dense. A filter wins where many bytes lie between two matches.
//!
//! Leftmost semantics are part of the automaton. A state at or below one where a pattern ends has
//! no failure link, because that would lead to a match that starts later. The search ends there,
//! with the last match as its result.
//!
//! Sources: Aho and Corasick 1975, algorithm 4; the crate `aho-corasick` for leftmost semantics.

use crate::classes::ByteClasses;
use crate::pairs::Pairs;
use crate::trie::{CaseFold, ROOT, Trie};
use fyke_core::{Match, PatternId, PatternSet, Semantics};

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
    /// Row after row of `stride` entries, the root's first. The last entry of a row is the index of
    /// its match.
    rows: Vec<u32>,
    class: [u8; 256],
    found: Vec<Found>,
    stride: usize,
    /// Skips positions at which no pattern begins, if there are few patterns.
    pairs: Option<Pairs>,
}

/// The match that ends at a state.
#[derive(Clone, Copy, Debug)]
struct Found {
    len: u32,
    id: PatternId,
}

/// The search reached its limit of bytes, and there are more, but it saw no match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undecided;

/// Entry bit: there is a match, and a better one may follow. The other bits are the row.
const MATCH: u32 = 1 << 30;

/// Entry bit: the search ends with this match. The other bits are its index.
const FINAL: u32 = 1 << 31;

/// Entry: the search ends without a new match.
const DEAD: u32 = u32::MAX;

/// The failure link of a state that has none: see the module head.
const NO_STATE: u32 = u32::MAX;

/// The match index of a row without a match.
const NO_MATCH: u32 = u32::MAX;

impl FindTable {
    /// Upper bound of the bytes of the table of a set.
    pub fn memory_for(set: &PatternSet) -> u64 {
        let states = Trie::count_states(set);
        let mut used = [false; 256];
        set.iter().flat_map(|p| p.bytes).for_each(|&b| used[usize::from(b)] = true);
        states * 4 * (ByteClasses::new(&used).len() as u64 + 1)
            + (size_of::<Found>() * set.len()) as u64
            + Pairs::MEMORY
    }

    /// A lower bound of [`memory_for`](Self::memory_for) that reads no pattern: each pattern has a
    /// state, unless folding case makes patterns equal, and a row has at least two entries.
    pub fn memory_at_least(set: &PatternSet) -> u64 {
        let mixed = set.nocase_count() > 0 && set.nocase_count() < set.len();
        let states = if mixed { 0 } else { set.len() };
        (size_of::<Found>() * set.len() + 8 * states) as u64
    }

    /// Compiles a set. `None` if the table exceeds `limit` bytes, if only some of the patterns
    /// ignore case, or if the semantics report matches that overlap.
    pub fn new(set: &PatternSet, semantics: Semantics, limit: u64) -> Option<FindTable> {
        let single = matches!(
            semantics,
            Semantics::Standard | Semantics::LeftmostFirst | Semantics::LeftmostLongest
        );
        let limit = limit.min(4 * u64::from(MATCH));
        if !single || !Trie::must_confirm(set).is_empty() || Self::memory_for(set) > limit {
            return None;
        }
        let trie = Trie::new(set).ok()?;
        let mut states = States::new(set, &trie, semantics);
        states.link(semantics != Semantics::Standard);
        let pairs = Pairs::new(set, trie.fold() == CaseFold::Lower);
        Some(FindTable { pairs, ..states.into_table(semantics) })
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
        // Only rows at or below a match lead to `DEAD`, so it is never the first entry.
        match self.first_match(haystack, at, most)? {
            Some((end, entry)) if entry & FINAL != 0 => {
                Ok(Some(self.found_at(end, entry & !FINAL)))
            }
            Some((end, entry)) => Ok(Some(self.best_match(haystack, end, entry & !MATCH))),
            None => Ok(None),
        }
    }

    /// The end of the match that ends first, if it lies in the first `most` bytes.
    ///
    /// # Errors
    /// [`Undecided`] if there is none, and the haystack has more bytes.
    #[inline]
    pub fn first_end(&self, haystack: &[u8], most: usize) -> Result<Option<usize>, Undecided> {
        Ok(self.first_match(haystack, 0, most)?.map(|(end, _)| end))
    }

    /// The end of the first match, and the entry that says so.
    #[inline(always)]
    fn first_match(
        &self,
        haystack: &[u8],
        at: usize,
        most: usize,
    ) -> Result<Option<(usize, u32)>, Undecided> {
        let head = &haystack[..haystack.len().min(at.saturating_add(most))];
        let found = match &self.pairs {
            Some(pairs) => self.walk_and_skip(head, at, pairs),
            None => self.walk(head, at, 0),
        };
        if found.is_some() || head.len() == haystack.len() { Ok(found) } else { Err(Undecided) }
    }

    /// Walks from a row to the first entry that is not just a row.
    #[inline(always)]
    fn walk(&self, head: &[u8], at: usize, mut row: u32) -> Option<(usize, u32)> {
        for (end, &byte) in (at + 1..).zip(&head[at..]) {
            row = self.next(row, byte);
            if row >= MATCH {
                return Some((end, row));
            }
        }
        None
    }

    /// As [`walk`](Self::walk) from the root, but skips ahead whenever it is there.
    #[inline(always)]
    fn walk_and_skip(&self, head: &[u8], at: usize, pairs: &Pairs) -> Option<(usize, u32)> {
        let mut at = pairs.next(head, at);
        let mut row = 0;
        while let Some(&byte) = head.get(at) {
            row = self.next(row, byte);
            at += 1;
            if row >= MATCH {
                return Some((at, row));
            }
            if row == 0 {
                at = pairs.next(head, at);
            }
        }
        None
    }

    /// Walks from a row whose match ends at `end` to the best match.
    fn best_match(&self, haystack: &[u8], mut end: usize, mut row: u32) -> Match {
        loop {
            let best = self.found_at(end, self.rows[row as usize + self.stride - 1]);
            match self.walk(haystack, end, row) {
                None | Some((_, DEAD)) => return best,
                Some((last, entry)) if entry & FINAL != 0 => {
                    return self.found_at(last, entry & !FINAL);
                }
                Some((next, entry)) => (end, row) = (next, entry & !MATCH),
            }
        }
    }

    /// Bytes of memory.
    pub fn memory(&self) -> u64 {
        let pairs = if self.pairs.is_some() { Pairs::MEMORY } else { 0 };
        (4 * self.rows.len() + size_of_val(&*self.found)) as u64 + pairs
    }

    /// The entry for a byte.
    #[inline(always)]
    fn next(&self, row: u32, byte: u8) -> u32 {
        self.rows[row as usize + usize::from(self.class[usize::from(byte)])]
    }

    /// The match of an index that ends at `end`.
    #[inline(always)]
    fn found_at(&self, end: usize, index: u32) -> Match {
        let Found { len, id } = self.found[index as usize];
        Match { start: end - len as usize, end, pattern: id }
    }
}

/// The states of the trie while the table is built.
struct States<'a> {
    trie: &'a Trie,
    found: Vec<Found>,
    /// The index in `found` of the match that ends at the state: its own, or else that of its
    /// failure link.
    matched: Vec<u32>,
    /// Whether the state or a descendant of it in the trie has a match.
    alive: Vec<bool>,
    fail: Vec<u32>,
}

impl<'a> States<'a> {
    /// The states with their own matches, without those that the semantics never report.
    fn new(set: &PatternSet, trie: &'a Trie, semantics: Semantics) -> States<'a> {
        let count = trie.len();
        let mut states = States {
            trie,
            found: Vec::with_capacity(set.len()),
            matched: vec![NO_MATCH; count],
            alive: vec![false; count],
            fail: vec![ROOT; count],
        };
        // The lowest id of the patterns that end in a proper ancestor of each state.
        let mut lowest = vec![None; count];
        for (state, depth) in (0..count as u32).zip(trie.depths()) {
            let s = state as usize;
            let own = trie.own(state).iter().map(|&p| set.ids(p)[0]).min();
            let before: Option<PatternId> = lowest[s];
            let reported = own.is_some_and(|own| match semantics {
                Semantics::Standard => before.is_none(),
                Semantics::LeftmostFirst => before.is_none_or(|before| own < before),
                _ => true,
            });
            if let (Some(id), true) = (own, reported) {
                states.matched[s] = states.found.len() as u32;
                states.found.push(Found { len: depth, id });
            }
            let now = before.into_iter().chain(own).min();
            trie.children(state).for_each(|child| lowest[child as usize] = now);
        }
        states.mark_alive();
        states
    }

    fn mark_alive(&mut self) {
        for state in (0..self.trie.len() as u32).rev() {
            let by_child = self.trie.children(state).any(|child| self.alive[child as usize]);
            self.alive[state as usize] = by_child || self.matched[state as usize] != NO_MATCH;
        }
    }

    /// The child of a state for a byte, if a match can be reached through it.
    fn child(&self, state: u32, byte: u8) -> Option<u32> {
        self.trie.child(state, byte).filter(|&child| self.alive[child as usize])
    }

    fn children(&self, state: u32) -> impl Iterator<Item = u32> {
        self.trie.children(state).filter(|&child| self.alive[child as usize])
    }

    /// Sets the failure links, and the matches that states inherit by them.
    fn link(&mut self, leftmost: bool) {
        for parent in 0..self.trie.len() as u32 {
            for child in self.trie.children(parent) {
                let has_own = self.matched[child as usize] != NO_MATCH;
                let fail = match parent {
                    _ if leftmost && has_own => NO_STATE,
                    ROOT => ROOT,
                    _ => self.fail_of(self.fail[parent as usize], self.trie.label(child)),
                };
                self.fail[child as usize] = fail;
                if !has_own && fail != NO_STATE {
                    self.matched[child as usize] = self.matched[fail as usize];
                }
            }
        }
    }

    /// The state after a byte, by children and failure links; [`NO_STATE`] if the search ends.
    fn fail_of(&self, mut state: u32, byte: u8) -> u32 {
        while state != NO_STATE {
            if let Some(child) = self.child(state, byte) {
                return child;
            }
            if state == ROOT {
                return ROOT;
            }
            state = self.fail[state as usize];
        }
        NO_STATE
    }

    /// For each state, the entry that leads to it.
    fn entries(&self, semantics: Semantics, stride: usize) -> Vec<u32> {
        let mut rows = 0;
        let mut entry = |state: u32| {
            let matched = self.matched[state as usize];
            let ends = semantics == Semantics::Standard || self.children(state).next().is_none();
            if matched != NO_MATCH && ends {
                return FINAL | matched;
            }
            let row = rows * stride as u32;
            rows += 1;
            if matched == NO_MATCH { row } else { MATCH | row }
        };
        let alive = |state: u32| state == ROOT || self.alive[state as usize];
        (0..self.trie.len() as u32).map(|s| if alive(s) { entry(s) } else { DEAD }).collect()
    }

    fn into_table(self, semantics: Semantics) -> FindTable {
        let used = self.trie.used_bytes();
        let mut classes = ByteClasses::new(&used);
        if self.trie.fold() == CaseFold::Lower {
            classes = classes.fold_case();
        }
        let stride = classes.len() + 1;
        let entries = self.entries(semantics, stride);
        let mut rows = Vec::new();
        for (s, &entry) in entries.iter().enumerate().filter(|(_, e)| **e & FINAL == 0) {
            let row = rows.len();
            debug_assert_eq!(row, (entry & !MATCH) as usize);
            match (s as u32, self.fail[s]) {
                (ROOT, _) => rows.resize(stride, 0),
                (_, fail) if fail != NO_STATE && entries[fail as usize] & FINAL == 0 => {
                    let from = (entries[fail as usize] & !MATCH) as usize;
                    rows.extend_from_within(from..from + stride);
                }
                _ => rows.resize(row + stride, DEAD),
            }
            for child in self.children(s as u32) {
                let column = classes.get(self.trie.label(child));
                rows[row + usize::from(column)] = entries[child as usize];
            }
            rows[row + stride - 1] = self.matched[s];
        }
        rows.shrink_to_fit();
        FindTable { rows, class: *classes.map(), stride, found: self.found, pairs: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_core::{StreamMatch, oracle};
    use std::cmp::Reverse;

    const SEMANTICS: [Semantics; 3] =
        [Semantics::Standard, Semantics::LeftmostFirst, Semantics::LeftmostLongest];

    /// The first match that begins at or after `from`, by definition.
    fn first(all: &[StreamMatch], from: usize, semantics: Semantics) -> Option<Match> {
        let candidates = all.iter().filter(|m| m.start >= from as u64);
        let best = match semantics {
            Semantics::Standard => candidates.min(),
            Semantics::LeftmostFirst => candidates.min_by_key(|m| (m.start, m.pattern, m.end)),
            _ => candidates.min_by_key(|m| (m.start, Reverse(m.end), m.pattern)),
        };
        best.map(|&m| Match::in_memory(m))
    }

    fn check(set: &PatternSet, haystack: &[u8]) -> usize {
        let all = oracle::find_all(set, haystack);
        let mut found = 0;
        for semantics in SEMANTICS {
            let table = FindTable::new(set, semantics, u64::MAX).unwrap();
            for from in 0..=haystack.len() {
                let wanted = first(&all, from, semantics);
                let got = table.find(haystack, from, usize::MAX);
                assert_eq!(got, Ok(wanted), "{semantics} {from} {set:?} {haystack:?}");
                let end = table.first_end(&haystack[from..], usize::MAX);
                let earliest = first(&all, from, Semantics::Standard);
                assert_eq!(end, Ok(earliest.map(|m| m.end - from)));
                found += usize::from(wanted.is_some());
                for most in 0..=haystack.len() - from {
                    let seen = earliest.is_some_and(|m| m.end <= from + most);
                    let decided = seen || from + most == haystack.len();
                    let outcome = if decided { Ok(wanted) } else { Err(Undecided) };
                    assert_eq!(table.find(haystack, from, most), outcome);
                }
            }
        }
        found
    }

    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, n: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 33) % n
        }

        fn text(&mut self, letters: &[u8], len: u64) -> Vec<u8> {
            (0..len).map(|_| letters[self.below(letters.len() as u64) as usize]).collect()
        }
    }

    #[test]
    fn random_sets_match_the_definition() {
        let (mut numbers, mut found) = (Numbers(7), 0);
        for round in 0..600 {
            let letters: &[u8] = if round % 3 == 0 { b"aAbB" } else { b"abc" };
            let count = 1 + numbers.below(8);
            let mut set = PatternSet::builder();
            for _ in 0..count {
                let len = 1 + numbers.below(5);
                let bytes = numbers.text(letters, len);
                // Ids in any order, some of them equal.
                let id = PatternId(numbers.below(6) as u32);
                set.push_with(id, bytes, round % 2 == 0).unwrap();
            }
            let len = numbers.below(24);
            found += check(&set.build(), &numbers.text(letters, len));
        }
        assert!(found > 1000, "{found}");
    }

    #[test]
    fn a_search_ends_with_the_byte_that_decides() {
        let set = PatternSet::new(["abcd", "b", "abx"]).unwrap();
        let table = FindTable::new(&set, Semantics::LeftmostFirst, u64::MAX).unwrap();
        let ends = |haystack: &[u8]| {
            let found = table.find(haystack, 0, usize::MAX).unwrap().unwrap();
            (found.start, found.end)
        };
        assert_eq!(ends(b"abcx"), (1, 2));
        assert_eq!(ends(b"abcd"), (0, 4));
        assert_eq!(ends(b"abx"), (0, 3));
        assert_eq!(ends(b"ab"), (1, 2));
        // The first byte after a final match need not be there.
        let head = table.find(b"-abcd---", 0, 5);
        assert_eq!(head.unwrap().map(|m| m.range()), Some(1..5));
    }

    #[test]
    fn what_it_refuses() {
        let mut mixed = PatternSet::builder();
        mixed.push_with(PatternId(0), "a", true).unwrap();
        mixed.push_with(PatternId(1), "b", false).unwrap();
        let mixed = mixed.build();
        let plain = PatternSet::new(["ab", "b"]).unwrap();
        let table = |set, semantics, limit| FindTable::new(set, semantics, limit).is_some();
        assert!(!table(&mixed, Semantics::Standard, u64::MAX));
        assert!(!table(&plain, Semantics::All, u64::MAX));
        assert!(!table(&plain, Semantics::Once, u64::MAX));
        assert!(!table(&plain, Semantics::Standard, 8));
        assert!(table(&plain, Semantics::Standard, 1 << 14));
        let found = FindTable::new(&plain, Semantics::Standard, u64::MAX).unwrap();
        assert!(found.memory() <= FindTable::memory_for(&plain));
    }

    #[test]
    fn an_empty_set_finds_nothing() {
        let set = PatternSet::new(Vec::<&str>::new()).unwrap();
        assert_eq!(check(&set, b"abc"), 0);
    }
}
