//! Tests of both layouts: the matches and the counted steps.

use super::*;
use crate::cost::CostOf;
use fyke_core::{Collect, PatternId, oracle};
use fyke_cpu::engine::ac_dfa;

fn compile(set: &PatternSet, params: &str) -> Arc<dyn Matcher> {
    ENGINE.compile(set, &Options::with_params(params).unwrap()).unwrap()
}

fn both(set: &PatternSet) -> [Arc<dyn Matcher>; 2] {
    ["nodes=list", "nodes=array"].map(|params| compile(set, params))
}

fn scan(m: &dyn Matcher, block: Block<'_>) -> Collect {
    let mut got = Collect::default();
    assert!(m.scan(block, &mut Scratch::new(), &mut got).is_continue());
    got
}

#[test]
fn ushers() {
    let set = PatternSet::new(["he", "she", "his", "hers"]).unwrap();
    for m in both(&set) {
        let got = scan(&*m, Block::whole(b"ushers"));
        let starts: Vec<_> = got.matches.iter().map(|m| (m.start, m.end)).collect();
        assert_eq!(starts, [(1, 4), (2, 4), (2, 6)]); // by start
        assert_eq!(got.sorted(), oracle::find_all(&set, b"ushers"));
        // u has no child, nothing is below she and hers, e and r have no child, nothing is left
        // after s.
        assert_eq!(m.cost(Block::whole(b"ushers")).unwrap().transitions, 1 + 3 + 4 + 1 + 1 + 1);
    }
}

#[test]
fn matches_that_end_in_the_overlap_belong_to_the_block_before() {
    let set = PatternSet::new(["ab", "abcd", "b", "cde", "e"]).unwrap();
    for m in both(&set) {
        let block = Block { bytes: b"abcde", overlap: 2, offset: 7 };
        let ends: Vec<_> = scan(&*m, block).sorted().iter().map(|m| (m.start, m.end)).collect();
        assert_eq!(ends, [(7, 11), (9, 12), (11, 12)]);
    }
}

#[test]
fn case_sensitive_patterns_are_confirmed() {
    let mut b = PatternSet::builder();
    for (bytes, nocase) in [("AbC", false), ("abc", true), ("aBC", false), ("12", false)] {
        b.push_with(PatternId(b.len() as u32), bytes, nocase).unwrap();
    }
    let set = b.build();
    for m in both(&set) {
        let text = b"AbC aBC ABC 12";
        let got = scan(&*m, Block::whole(text)).sorted();
        assert_eq!((got.len(), got), (6, oracle::find_all(&set, text)));
    }
}

/// The work depends on how far walks get, not on the number of patterns.
#[test]
fn a_walk_ends_where_the_trie_does() {
    let text = [b'a'; 1000];
    for count in [1, 10, 100] {
        let set = PatternSet::new((0..count).map(|i| format!("aaa{i}"))).unwrap();
        for m in both(&set) {
            let cost = m.cost(Block::whole(&text)).unwrap();
            assert_eq!(cost.transitions, 4 * 997 + 3); // the last three have no space for a pattern
            assert_eq!(cost.comparisons, 0);
        }
        let dfa = ac_dfa::ENGINE.compile(&set, &Options::default()).unwrap();
        assert_eq!(dfa.cost(Block::whole(&text)).unwrap().transitions, 1000);
    }
}

#[test]
fn the_longest_pattern_is_walked_through() {
    let long = [b'a'; 65_535];
    let set = PatternSet::new([&long[..], b"ba"]).unwrap();
    let text = [b"b", &long[..], b"ba"].concat();
    for m in both(&set) {
        let block = Block { bytes: &text, overlap: 65_534, offset: 0 };
        let ends: Vec<_> = scan(&*m, block).sorted().iter().map(|m| (m.start, m.end)).collect();
        assert_eq!(ends, [(1, 65_536), (65_536, 65_538)]);
    }
}

#[test]
fn the_memory_limit_is_checked_before_building() {
    let set = PatternSet::new(["abcdefgh", "abxy"]).unwrap();
    for (params, need) in
        [("", ListLayout::memory_for(&set)), ("nodes=array", ArrayLayout::memory_for(&set))]
    {
        let limited =
            |limit| ENGINE.compile(&set, &Options::with_params(params).unwrap().limited_to(limit));
        assert!(matches!(limited(need - 1), Err(Refusal::TooBig { need: n, .. }) if n == need));
        assert!(limited(need).unwrap().footprint().host <= need);
    }
}

#[test]
fn the_stats_count_states_and_the_bytes_of_rows() {
    let set = PatternSet::new(["ab", "ac"]).unwrap();
    let count = |m: &dyn Matcher, name: &str| {
        m.stats().into_iter().find(|(key, _)| key == name).map(|(_, count)| count)
    };
    let [list, array] = both(&set);
    assert_eq!((count(&*list, "states"), count(&*list, "node bytes")), (Some(4), None));
    // The classes of a, b, c and of all other bytes, and the columns of rests and lists.
    assert_eq!(
        (count(&*array, "states"), count(&*array, "node bytes")),
        (Some(4), Some(4 * 4 * 6))
    );
}

/// Patterns with long chains, in texts that leave the chains at every place.
#[test]
fn long_chains_are_compared_in_either_case() {
    let (a, b) = ("Ab".repeat(40), "bA".repeat(25));
    let mut set = PatternSet::builder();
    for (pattern, nocase) in [
        (&a, false),
        (&a, true),
        (&format!("{a}{b}"), false),
        (&format!("{a}{b}c"), true),
        (&b, true),
    ] {
        set.push_with(PatternId(0), pattern, nocase).unwrap();
    }
    let mixed = set.build();
    let exact = PatternSet::new([&a, &b, &format!("{a}{b}c")]).unwrap();
    let whole = format!("{a}{b}c");
    let text: String =
        (0..whole.len()).map(|i| format!("{}{}", &whole[..i], &whole[i / 2..])).collect();
    let text = format!("{text}{}", text.to_ascii_lowercase());
    for set in [mixed, exact] {
        for m in both(&set) {
            let got = scan(&*m, Block::whole(text.as_bytes())).sorted();
            assert!(got == oracle::find_all(&set, text.as_bytes()));
        }
    }
}

/// Comparing a chain counts the transitions of walking it.
#[test]
fn compared_bytes_count_as_transitions() {
    let set = PatternSet::new(["a".repeat(100)]).unwrap();
    let text = [&[b'a'; 99], b"b".as_slice(), &[b'c'; 99]].concat();
    for m in both(&set) {
        let to_the_b: u64 = (1..=99).map(|left| left + 1).sum();
        assert_eq!(m.cost(Block::whole(&text)).unwrap().transitions, to_the_b + 100);
    }
}

/// Only the first two positions have space for the pattern, whatever the overlap.
#[test]
fn long_patterns_are_not_walked_where_they_do_not_fit() {
    let set = PatternSet::new(["a".repeat(1000)]).unwrap();
    let text = [b'a'; 1001];
    for m in both(&set) {
        let cost = m.cost(Block { bytes: &text, overlap: 999, offset: 0 }).unwrap();
        assert_eq!(cost.transitions, 2 * 1000 + 999);
    }
}
