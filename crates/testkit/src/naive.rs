//! The correct result, defined a second time.
//!
//! `fyke_core::oracle` starts from a [`PatternSet`](fyke_core::PatternSet), which has already
//! merged, folded and numbered the patterns. This module starts from the caller's entries and uses
//! no sets, records or batches, so a mistake in those shows as a difference. Each semantics is
//! written as its definition over all occurrences, not as an algorithm that could run on a stream.

use crate::case::Entry;
use fyke_core::{PatternId, StreamMatch};
use std::collections::BTreeSet;

/// One occurrence, with the index of its pattern in [`canonical`]: two patterns may share an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Occurrence {
    /// Position and id.
    pub at: StreamMatch,
    /// The index of the pattern.
    pub pattern: usize,
}

/// The distinct patterns of the entries: insensitive ones folded, flags without letters dropped.
pub fn canonical(entries: &[Entry]) -> Vec<Entry> {
    let mut all: Vec<Entry> = entries.iter().map(Entry::folded).collect();
    all.sort();
    all.dedup();
    all
}

/// Every occurrence of every entry, in canonical order.
pub fn occurrences(entries: &[Entry], haystack: &[u8]) -> Vec<Occurrence> {
    let folded = haystack.to_ascii_lowercase();
    let mut found = Vec::new();
    for (pattern, entry) in canonical(entries).iter().enumerate() {
        let text = if entry.nocase { &folded } else { haystack };
        for (start, window) in text.windows(entry.bytes.len()).enumerate() {
            if window == entry.bytes {
                let (start, end) = (start as u64, (start + window.len()) as u64);
                found.push(Occurrence {
                    at: StreamMatch { end, start, pattern: PatternId(entry.id) },
                    pattern,
                });
            }
        }
    }
    found.sort();
    found
}

/// The matches without the indices of their patterns.
pub fn all(found: &[Occurrence]) -> Vec<StreamMatch> {
    found.iter().map(|o| o.at).collect()
}

/// The first occurrence of every (id, pattern).
pub fn once(found: &[Occurrence]) -> Vec<StreamMatch> {
    let mut seen = BTreeSet::new();
    found.iter().filter(|o| seen.insert(o.pattern)).map(|o| o.at).collect()
}

/// Repeatedly, of the matches that start at or after the end of the last one taken: the smallest
/// start, then the lowest id, then the shortest.
pub fn leftmost_first(found: &[Occurrence]) -> Vec<StreamMatch> {
    disjoint(found, |m| (m.start, u64::from(m.pattern.0), m.end))
}

/// Repeatedly, of the matches that start at or after the end of the last one taken: the smallest
/// start, then the longest, then the lowest id.
pub fn leftmost_longest(found: &[Occurrence]) -> Vec<StreamMatch> {
    disjoint(found, |m| (m.start, u64::MAX - m.end, u64::from(m.pattern.0)))
}

/// aho-corasick's `MatchKind::Standard` without overlap, which fyke does not offer. Repeatedly, of
/// the matches that start at or after the end of the last one taken: the smallest end, then the
/// longest, then the lowest id.
pub fn standard(found: &[Occurrence]) -> Vec<StreamMatch> {
    disjoint(found, |m| (m.end, m.start, u64::from(m.pattern.0)))
}

/// Takes matches in the order of `key`, leaving out those that overlap the last one taken.
fn disjoint(
    found: &[Occurrence],
    key: impl Fn(&StreamMatch) -> (u64, u64, u64),
) -> Vec<StreamMatch> {
    let mut by_key = all(found);
    by_key.sort_by_key(key);
    let mut taken: Vec<StreamMatch> = Vec::new();
    for m in by_key {
        if taken.last().is_none_or(|last| m.start >= last.end) {
            taken.push(m);
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(patterns: &[(u32, &str, bool)]) -> Vec<Entry> {
        patterns.iter().map(|&(id, b, nocase)| Entry { bytes: b.into(), nocase, id }).collect()
    }

    #[test]
    fn ushers() {
        let found = occurrences(
            &entries(&[(0, "he", false), (1, "she", false), (3, "hers", false)]),
            b"ushers",
        );
        let ids: Vec<_> = found.iter().map(|o| (o.at.pattern.0, o.at.start, o.at.end)).collect();
        assert_eq!(ids, [(1, 1, 4), (0, 2, 4), (3, 2, 6)]);
        assert_eq!(all(&found)[..1], leftmost_first(&found)[..]);
    }

    #[test]
    fn equal_entries_count_once_and_flags_without_letters_are_dropped() {
        let found = occurrences(
            &entries(&[(1, "1", true), (1, "1", false), (2, "A", true), (2, "a", true)]),
            b"1A",
        );
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn leftmost_semantics_differ_in_the_tie() {
        let found = occurrences(&entries(&[(0, "ab", false), (1, "abc", false)]), b"abcab");
        let spans = |m: Vec<StreamMatch>| m.iter().map(|m| (m.start, m.end)).collect::<Vec<_>>();
        assert_eq!(spans(leftmost_first(&found)), [(0, 2), (3, 5)]);
        assert_eq!(spans(leftmost_longest(&found)), [(0, 3), (3, 5)]);
        assert_eq!(spans(once(&found)), [(0, 2), (0, 3)]);
        assert_eq!(spans(standard(&found)), [(0, 2), (3, 5)]);
    }
}
