//! The trie against small examples.

use super::*;

fn trie(patterns: &[&str]) -> Trie {
    Trie::new(&PatternSet::new(patterns).unwrap()).unwrap()
}

fn walk(t: &Trie, bytes: &str) -> u32 {
    bytes.bytes().fold(ROOT, |s, b| t.child(s, b).unwrap())
}

#[test]
fn children_are_found_among_few_and_many() {
    for count in [1, 2, 7, 8, 9, 256] {
        let patterns: Vec<Vec<u8>> =
            (0..count).map(|i| vec![b'-', (i * 255 / count) as u8]).collect();
        let t = Trie::new(&PatternSet::new(&patterns).unwrap()).unwrap();
        let parent = t.child(ROOT, b'-').unwrap();
        for byte in 0..=255 {
            let child = t.child(parent, byte).map(|child| t.label(child));
            let wanted = patterns.iter().any(|p| p[1] == byte).then_some(byte);
            assert_eq!(child, wanted, "{count} children");
        }
    }
}

#[test]
fn failure_links_of_the_classic_example() {
    let t = trie(&["he", "she", "his", "hers"]);
    assert_eq!(t.len(), 10);
    assert_eq!(t.fail(walk(&t, "she")), walk(&t, "he"));
    assert_eq!(t.fail(walk(&t, "hers")), walk(&t, "s"));
    assert_eq!(t.fail(walk(&t, "his")), walk(&t, "s"));
    assert_eq!(t.output_link(walk(&t, "she")), walk(&t, "he"));
    assert!(!t.is_output(walk(&t, "her")) && t.is_output(walk(&t, "his")));
}

/// Zha 2010, figures 2-1 and 2-2: 35 states, and a failure link leads to the longest proper
/// suffix that is a state. Figure 2-3: `next` leads to the longest suffix of everything read.
#[test]
fn the_automata_of_seven_strings() {
    let patterns = ["abcaabb", "abcaabbcc", "acb", "acbccabb", "ccabb", "bccabc", "bbccabca"];
    let t = trie(&patterns);
    let prefixes = patterns.iter().flat_map(|p| (0..=p.len()).map(|end| &p[..end]));
    let state_of = |word: &str| prefixes.clone().any(|p| p == word).then(|| walk(&t, word));
    let longest = |word: &str, from| (from..=word.len()).find_map(|i| state_of(&word[i..]));
    assert_eq!(t.len(), 35);
    for prefix in prefixes.clone().filter(|p| !p.is_empty()) {
        let state = walk(&t, prefix);
        assert_eq!(Some(t.fail(state)), longest(prefix, 1), "{prefix}");
        for byte in ["a", "b", "c", "d"] {
            let word = format!("{prefix}{byte}");
            assert_eq!(Some(t.next(state, byte.as_bytes()[0])), longest(&word, 0), "{word}");
        }
    }
    let named = [("abcaabbcc", "bbcc"), ("acbccabb", "ccabb"), ("bbccabca", "abca")];
    assert!(named.iter().all(|(state, fail)| t.fail(walk(&t, state)) == walk(&t, fail)));
}

#[test]
fn states_are_breadth_first_and_counted_without_building() {
    let set = PatternSet::new(["abc", "abd", "b", "bcd", "abc"]).unwrap();
    let t = Trie::new(&set).unwrap();
    assert_eq!(Trie::count_states(&set), t.len() as u64);
    assert_eq!(t.depths().collect::<Vec<_>>(), [0, 1, 1, 2, 2, 3, 3, 3]);
    assert!((1..t.len() as u32).all(|s| t.fail(s) < s));
}

#[test]
fn read_backward_it_shares_suffixes() {
    let set = PatternSet::new(["cac", "acbacc", "cba", "bbaca", "cbaca"]).unwrap();
    let t = Trie::read(&set, Direction::Backward).unwrap();
    assert_eq!(Trie::count_states_of(&set, Direction::Backward), t.len() as u64);
    assert_eq!(t.len(), 17);
    let own = |reversed| t.own(walk(&t, reversed)).iter().map(|&i| set.bytes(i));
    assert!(own("cac").eq([b"cac"]) && own("acabc").eq([b"cbaca"]) && own("aca").eq([b""; 0]));
    assert_eq!(t.fail(walk(&t, "acab")), walk(&t, "ab"), "a suffix of the reversed word");
    assert_eq!(t.parents()[walk(&t, "acab") as usize], walk(&t, "aca"));
}

#[test]
fn mixed_case_shares_states_and_is_confirmed() {
    let mut b = PatternSet::builder();
    for (bytes, nocase) in [("AbC", false), ("abd", true), ("12", false)] {
        b.push_with(fyke_core::PatternId(0), bytes, nocase).unwrap();
    }
    let set = b.build();
    let t = Trie::new(&set).unwrap();
    assert_eq!(t.len() as u64, Trie::count_states(&set));
    assert_eq!(t.len(), 7);
    let confirm = Trie::must_confirm(&set);
    assert_eq!(
        set.iter().map(|p| confirm[p.index as usize]).collect::<Vec<_>>(),
        [false, true, false]
    );
}

#[test]
fn a_set_of_mixed_case_is_sorted_as_it_is_folded() {
    let mut b = PatternSet::builder();
    for (pattern, nocase) in [
        ("b", true),
        ("A\0", false),
        ("a", false),
        ("A", true),
        ("a\0b", false),
        ("LongerThanEight", true),
        ("longerthanEIGHTb", false),
        ("longertha", false),
        ("\u{e9}", false),
        ("a", true),
    ] {
        b.nocase(nocase).push(pattern).unwrap();
    }
    let set = b.build();
    assert!(set.nocase_count() > 0 && set.nocase_count() < set.len());
    let order = folded_order(&set, Direction::Forward);
    let mut wanted: Vec<u32> = (0..set.len() as u32).collect();
    wanted.sort_by_key(|&i| (set.bytes(i).to_ascii_lowercase(), i));
    assert_eq!(order, wanted);
}

#[test]
fn the_stats_count_children() {
    let counts = trie(&["he", "she", "his", "hers"]).stats();
    let counts: Vec<_> = counts.iter().map(|(name, n)| (name.as_str(), *n)).collect();
    assert_eq!(counts, [("states", 10), ("degree 0", 3), ("degree 1", 5), ("degree 2", 2)]);
}

#[test]
fn an_empty_set_has_a_root() {
    let t = trie(&[]);
    assert_eq!((t.len(), t.is_empty(), t.next(ROOT, b'x')), (1, true, ROOT));
}
