use super::*;
use crate::cost::CostOf;
use fyke_core::{Collect, PatternId, StreamMatch, oracle};

const PACKS: [&str; 3] = ["pack=4", "pack=8", "pack=12"];

fn compile(set: &PatternSet, params: &str) -> Arc<dyn Matcher> {
    ENGINE.compile(set, &Options::with_params(params).unwrap()).unwrap()
}

fn scan(matcher: &dyn Matcher, haystack: &[u8]) -> Vec<StreamMatch> {
    let mut got = Collect::default();
    assert!(matcher.scan(Block::whole(haystack), &mut Scratch::new(), &mut got).is_continue());
    got.matches
}

/// Scans with every variant.
fn check(set: &PatternSet, haystack: &[u8]) {
    let expected = oracle::find_all(set, haystack);
    for params in INFO.variants {
        assert!(scan(&*compile(set, params), haystack) == expected, "{params}: {set:?}");
    }
}

fn number(matcher: &dyn Matcher, key: &str) -> u64 {
    matcher.stats().iter().find(|(name, _)| name == key).unwrap().1
}

/// Bytes without a period, so that no two places of a path are equal.
fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let mut x = seed;
    let mut next = || {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (x >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}

#[test]
fn ushers() {
    check(&PatternSet::new(["he", "she", "his", "hers"]).unwrap(), b"ushers, his and hers");
}

/// All states of "abcdefghi" but the root are in paths. "abcde" and "abxyz" branch at "ab".
#[test]
fn paths_are_packed() {
    let nodes = |patterns: &[&str], params| {
        let m = compile(&PatternSet::new(patterns).unwrap(), params);
        let states = number(&*m, "states");
        assert_eq!(number(&*m, "original bytes"), 1028 * states);
        let (bitmaps, paths) = (number(&*m, "bitmap nodes"), number(&*m, "path nodes"));
        let size = [("pack=4", 48), ("pack=8", 80), ("pack=12", 112)];
        let size = size.iter().find(|(p, _)| *p == params).unwrap().1;
        assert_eq!(number(&*m, "node bytes"), (bitmaps + paths) * size + nodes::ROOT_TABLE as u64);
        (states, bitmaps, paths)
    };
    assert_eq!(PACKS.map(|p| nodes(&["abcdefghi"], p)), [(10, 1, 3), (10, 1, 2), (10, 1, 1)]);
    // The root and "ab" are bitmap nodes; "a" is a path of one state, and two paths have three
    // states.
    assert_eq!(nodes(&["abcde", "abxyz"], "pack=4"), (9, 2, 3));
    assert_eq!(nodes(&[], "pack=4"), (1, 1, 0));
}

/// A haystack that leaves a path, and enters it by failure, at every place, with and without rules
/// on the path.
#[test]
fn every_place_of_a_path() {
    let path = bytes(1, 30);
    for rules in [vec![], vec![3], (1..30).collect(), (1..30).step_by(4).collect()] {
        // Every suffix of a prefix leads, by failure, into the middle of "path" from another
        // pattern's path.
        let inner = (1..8).map(|at| [b"#".as_slice(), &path[..at * 3], b"!"].concat());
        let mut patterns: Vec<Vec<u8>> = inner.collect();
        patterns.extend(rules.iter().map(|&len: &usize| path[..len].to_vec()));
        patterns.push(path.clone());
        let set = PatternSet::new(&patterns).unwrap();
        let mut haystack = Vec::new();
        for len in 0..=path.len() {
            haystack.extend([b"#".as_slice(), &path[..len], &path].concat());
            haystack.extend([&path[..len], b"~".as_slice()].concat());
        }
        check(&set, &haystack);
    }
}

/// Failure chains as deep as the patterns, through several path nodes.
#[test]
fn deep_failure_chains() {
    let a = "a".repeat(40);
    let set =
        PatternSet::new([format!("{a}b"), format!("{}c", &a[..20]), "aac".into(), "ca".into()]);
    check(&set.unwrap(), format!("{a}{a}c{a}b{}c{}", &a[..21], &a[..3]).as_bytes());
}

/// Long enough for tiles of every size, with matches longer than a segment.
#[test]
fn matches_over_seams() {
    let long = bytes(2, 3000);
    let patterns = [&long[..], &long[1..2999], &long[500..900], &long[40..44], &long[2998..]];
    let set = PatternSet::new(patterns).unwrap();
    let mut haystack = Vec::new();
    for cut in (0..3000).step_by(71) {
        haystack.extend_from_slice(&long[..cut]);
        haystack.extend_from_slice(&long);
    }
    let expected = scan(&*compile(&set, "walks=1"), &haystack);
    assert!(expected.len() > 200 && expected.is_sorted());
    for params in INFO.variants {
        assert!(scan(&*compile(&set, params), &haystack) == expected, "{params}");
    }
}

#[test]
fn case_sensitive_patterns_are_confirmed() {
    let mut b = PatternSet::builder();
    let patterns = [("AbCdEf", false), ("abcdefgh", true), ("cD", false), ("CDE", true)];
    for (id, (bytes, nocase)) in patterns.into_iter().enumerate() {
        b.push_with(PatternId(id as u32), bytes, nocase).unwrap();
    }
    check(&b.build(), b"AbCdEf ABCDEFGH abcdefgh xcDe AbCdEfGhcd");
}

#[test]
fn the_memory_limit_is_checked_before_building() {
    let set = PatternSet::new(["abcdefgh", "abcxyz", "q"]).unwrap();
    for params in PACKS {
        let within =
            |limit| ENGINE.compile(&set, &Options::with_params(params).unwrap().limited_to(limit));
        let Err(Refusal::TooBig { need, .. }) = within(0) else { panic!("no limit") };
        assert!(matches!(within(need - 1), Err(Refusal::TooBig { need: n, .. }) if n == need));
        assert!(within(need).unwrap().footprint().host <= need);
    }
}

/// Sets whose arena comes close to the bound: only branches, only short paths, or only long ones.
#[test]
fn the_arena_is_within_its_bound() {
    let pairs = (0..=255).flat_map(|a| [vec![a], vec![a, a], vec![a, 0, 1, 2, a], vec![a, 0, 3]]);
    let long = (0..20).map(|seed| bytes(seed, 97 + seed as usize));
    for patterns in [pairs.collect::<Vec<_>>(), long.collect(), vec![]] {
        let set = PatternSet::new(&patterns).unwrap();
        for pack in [4, 8, 12] {
            let m = compile(&set, &format!("pack={pack}"));
            let bound = build::arena_bound(number(&*m, "states"), pack, &set);
            assert!(number(&*m, "arena bytes") <= bound, "{bound}");
        }
    }
}

/// The worst haystack leaves the deepest state as soon as it is reached.
#[test]
fn at_most_two_transitions_a_byte() {
    let deep = format!("{}b", "a".repeat(20));
    let set = PatternSet::new([deep.as_str(), "ab", "ca"]).unwrap();
    for params in PACKS {
        for haystack in ["a".repeat(1000), format!("{}c", "a".repeat(20)).repeat(50)] {
            let cost = compile(&set, params).cost(Block::whole(haystack.as_bytes())).unwrap();
            let bytes = haystack.len() as u64;
            assert!((bytes..=2 * bytes).contains(&cost.transitions), "{cost:?} for {bytes} bytes");
        }
    }
}

/// A visit compares as many bytes as a path node packs. Leaving a bitmap node takes one addition.
#[test]
fn a_match_takes_a_visit_for_each_node() {
    let set = PatternSet::new(["abcdefghijkl"]).unwrap();
    let cost = |params| compile(&set, params).cost(Block::whole(b"abcdefghijkl")).unwrap();
    let visits = PACKS.map(|p| (cost(p).popcount_additions, cost(p).comparisons));
    assert_eq!(visits, [(1, 3), (1, 2), (1, 1)]);
    assert_eq!(cost("pack=4").transitions, 12);
}
