//! The correct result, defined a second time.
//!
//! `fyke_core::oracle` starts from a [`PatternSet`](fyke_core::PatternSet), which has already
//! merged, folded and numbered the patterns. This module starts from the caller's entries and uses
//! no sets, records or batches, so a mistake in those shows as a difference. Each semantics is
//! written as its definition over all occurrences, not as an algorithm that could run on a stream.

use crate::case::Entry;
use fyke_core::{PatternId, Semantics, StreamMatch};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

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

/// The occurrences that lie in a span as a whole. Positions still count from the haystack's start.
pub fn within(found: &[Occurrence], span: &Range<u64>) -> Vec<Occurrence> {
    let lies_in = |o: &&Occurrence| span.start <= o.at.start && o.at.end <= span.end;
    found.iter().filter(lies_in).copied().collect()
}

/// The matches under one semantics.
pub fn under(found: &[Occurrence], semantics: Semantics) -> Vec<StreamMatch> {
    match semantics {
        Semantics::All => all(found),
        Semantics::Once => once(found),
        Semantics::LeftmostFirst => leftmost_first(found),
        Semantics::LeftmostLongest => leftmost_longest(found),
        Semantics::Standard => standard(found),
        other => panic!("no naive search for {other}"),
    }
}

/// Anchored matches, which adjoin: repeatedly, of the matches that start where the last one taken
/// ended, at first at `start`, the one that the semantics prefer. All matches that start at `start`
/// under [`Semantics::All`].
pub fn anchored(found: &[Occurrence], start: u64, semantics: Semantics) -> Vec<StreamMatch> {
    let mut by_start: BTreeMap<u64, Vec<Occurrence>> = BTreeMap::new();
    found.iter().for_each(|o| by_start.entry(o.at.start).or_default().push(*o));
    let from = |at: u64| by_start.get(&at).map_or(&[][..], |here| here);
    if semantics == Semantics::All {
        return all(from(start));
    }
    let next = |at: u64| under(from(at), semantics).first().copied();
    std::iter::successors(next(start), |last| next(last.end)).collect()
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

/// Repeatedly, of the matches that start at or after the end of the last one taken: the smallest
/// end, then the longest, then the lowest id.
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
    #[test]
    fn spans_and_anchors_leave_matches_out() {
        let found = occurrences(&entries(&[(0, "ab", false), (1, "abab", false)]), b"abababxab");
        let spans = |m: Vec<StreamMatch>| m.iter().map(|m| (m.start, m.end)).collect::<Vec<_>>();
        assert_eq!(spans(all(&within(&found, &(1..6)))), [(2, 4), (2, 6), (4, 6)]);
        assert_eq!(spans(anchored(&found, 0, Semantics::Standard)), [(0, 2), (2, 4), (4, 6)]);
        assert_eq!(spans(anchored(&found, 0, Semantics::LeftmostLongest)), [(0, 4), (4, 6)]);
        assert_eq!(spans(anchored(&found, 2, Semantics::All)), [(2, 4), (2, 6)]);
        assert!(anchored(&found, 1, Semantics::LeftmostFirst).is_empty());
    }
}
