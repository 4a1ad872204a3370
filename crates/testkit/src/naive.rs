//! The right answer, defined once more.
//!
//! `fyke_core::oracle` starts from a [`PatternSet`](fyke_core::PatternSet), which has already merged,
//! folded and numbered the patterns. This starts from what the caller wrote, and knows nothing of
//! sets, records or batches, so a mistake there shows. The semantics are written down the same way:
//! as what they mean, and not as anything that could run on a stream.

use crate::case::Entry;
use fyke_core::{Match, PatternId};
use std::collections::BTreeSet;

/// One occurrence, with the place of its pattern in [`canonical`]: two patterns may share an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Occurrence {
    /// Where, and the id.
    pub at: Match,
    /// Which pattern.
    pub pattern: usize,
}

/// What of the entries counts: insensitive ones folded, flags without letters dropped, none twice.
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
                    at: Match { end, start, pattern: PatternId(entry.id) },
                    pattern,
                });
            }
        }
    }
    found.sort();
    found
}

/// The matches alone.
pub fn all(found: &[Occurrence]) -> Vec<Match> {
    found.iter().map(|o| o.at).collect()
}

/// The first occurrence of every (id, pattern).
pub fn once(found: &[Occurrence]) -> Vec<Match> {
    let mut seen = BTreeSet::new();
    found.iter().filter(|o| seen.insert(o.pattern)).map(|o| o.at).collect()
}

/// Smallest start, then lowest id (then shortest, if one id has two patterns there); then on from its end.
pub fn leftmost_first(found: &[Occurrence]) -> Vec<Match> {
    leftmost(found, |m| (m.start, u64::from(m.pattern.0), m.end))
}

/// Smallest start, then longest, then lowest id; then on from its end.
pub fn leftmost_longest(found: &[Occurrence]) -> Vec<Match> {
    leftmost(found, |m| (m.start, u64::MAX - m.end, u64::from(m.pattern.0)))
}

fn leftmost(found: &[Occurrence], key: impl Fn(&Match) -> (u64, u64, u64)) -> Vec<Match> {
    let mut by_key = all(found);
    by_key.sort_by_key(key);
    let mut taken: Vec<Match> = Vec::new();
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
    fn equal_entries_count_once_and_flags_without_letters_say_nothing() {
        let found = occurrences(
            &entries(&[(1, "1", true), (1, "1", false), (2, "A", true), (2, "a", true)]),
            b"1A",
        );
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn leftmost_semantics_differ_in_the_tie() {
        let found = occurrences(&entries(&[(0, "ab", false), (1, "abc", false)]), b"abcab");
        let spans = |m: Vec<Match>| m.iter().map(|m| (m.start, m.end)).collect::<Vec<_>>();
        assert_eq!(spans(leftmost_first(&found)), [(0, 2), (3, 5)]);
        assert_eq!(spans(leftmost_longest(&found)), [(0, 3), (3, 5)]);
        assert_eq!(spans(once(&found)), [(0, 2), (0, 3)]);
    }
}
