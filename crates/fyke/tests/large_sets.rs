//! The `find` calls with sets of thousands of patterns answer what the definition says. On short
//! haystacks, a trie finds their matches.

use fyke::{Match, MatchKind, PatternSet, Searcher};
use fyke_core::{StreamMatch, oracle};
use std::cmp::Reverse;

const KINDS: [MatchKind; 3] =
    [MatchKind::Standard, MatchKind::LeftmostFirst, MatchKind::LeftmostLongest];

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % n
    }

    fn word(&mut self, least: usize, most: usize) -> Vec<u8> {
        let len = least + self.below(most - least + 1);
        (0..len).map(|_| b'a' + self.below(26) as u8).collect()
    }

    /// Parts of patterns, whole ones among them, and other letters.
    fn haystack(&mut self, patterns: &[Vec<u8>], len: usize) -> Vec<u8> {
        let mut haystack = Vec::new();
        while haystack.len() < len {
            let pattern = &patterns[self.below(patterns.len())];
            match self.below(3) {
                0 => haystack.extend_from_slice(pattern),
                1 => haystack.extend_from_slice(&pattern[..1 + self.below(pattern.len())]),
                _ => haystack.extend(self.word(1, 6)),
            }
        }
        haystack.truncate(len);
        haystack
    }
}

/// The first match that begins at or after `from`, by definition.
fn first(all: &[StreamMatch], from: usize, kind: MatchKind) -> Option<Match> {
    let candidates = all.iter().filter(|m| m.start >= from as u64);
    let best = match kind {
        MatchKind::LeftmostFirst => candidates.min_by_key(|m| (m.start, m.pattern, m.end)),
        MatchKind::LeftmostLongest => candidates.min_by_key(|m| (m.start, Reverse(m.end))),
        _ => candidates.min(),
    };
    best.map(|&m| Match::in_memory(m))
}

/// Checks all `find` calls for some haystacks. Returns the number of matches.
fn check(least: usize, most: usize, eager: bool) -> usize {
    let mut numbers = Numbers(least as u64);
    let patterns: Vec<_> = (0..12_000).map(|_| numbers.word(least, most)).collect();
    let set = PatternSet::new(&patterns).unwrap();
    let build = |kind| Searcher::builder().match_kind(kind).short_haystacks(eager).build(&set);
    let searchers = KINDS.map(|kind| build(kind).unwrap());
    let mut count = 0;
    for len in [0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 31, 63, 64, 65, 100, 150, 256, 300, 700] {
        let haystack = numbers.haystack(&patterns, len);
        let all = oracle::find_all(&set, &haystack);
        for (searcher, kind) in searchers.iter().zip(KINDS) {
            assert_eq!(searcher.is_match(&haystack), !all.is_empty(), "{kind:?} {len}");
            assert_eq!(searcher.find(&haystack), first(&all, 0, kind), "{kind:?} {len}");
            let mut from = 0;
            for m in searcher.find_iter(&haystack) {
                assert_eq!(Some(m), first(&all, from, kind), "{kind:?} {len}");
                from = m.end;
                count += 1;
            }
            assert_eq!(first(&all, from, kind), None, "{kind:?} {len}");
        }
    }
    count
}

#[test]
fn short_patterns_are_among_them() {
    assert!(check(1, 12, true) > 300);
    assert!(check(2, 20, true) > 300);
}

#[test]
fn long_patterns_are_looked_up_by_their_hash() {
    assert!(check(4, 12, true) > 100);
    assert!(check(9, 30, true) > 50);
}

#[test]
fn before_the_trie_is_compiled_the_matcher_finds_the_same() {
    assert!(check(3, 14, false) > 100);
}
