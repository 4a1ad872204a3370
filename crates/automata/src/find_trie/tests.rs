use super::*;
use crate::find_table::tests::{Numbers, SEMANTICS, first};
use fyke_core::oracle;

/// Checks all searches. Returns how many matches there are.
fn check(set: &PatternSet, haystack: &[u8]) -> usize {
    let all = oracle::find_all(set, haystack);
    let mut count = 0;
    for semantics in SEMANTICS {
        let trie = FindTrie::new(set, semantics, u64::MAX).unwrap();
        let (mut walk, mut found) = (TrieWalk::default(), Vec::new());
        while !walk.is_at_end() {
            trie.next_matches(haystack, &mut walk, usize::MAX, &mut found).unwrap();
        }
        let mut from = 0;
        for &m in &found {
            assert_eq!(Some(m), first(&all, from, semantics), "{semantics} {set:?} {haystack:?}");
            from = m.end;
        }
        assert_eq!(first(&all, from, semantics), None, "{semantics} {set:?} {haystack:?}");
        assert_eq!((walk.found(), walk.last()), (found.len(), from));
        // Searches that give up have found the first matches.
        for gap in 0..9 {
            let (mut walk, mut some) = (TrieWalk::default(), Vec::new());
            while !walk.is_at_end()
                && trie.next_matches(haystack, &mut walk, gap, &mut some).is_ok()
            {}
            assert!(some[..] == found[..some.len()] && walk.found() == some.len());
            assert_eq!(walk.last(), some.last().map_or(0, |m| m.end));
            assert!(!walk.is_at_end() || some.len() == found.len());
        }
        for most in 0..9 {
            let (mut walk, mut some) = (TrieWalk::default(), Vec::new());
            while !walk.is_at_end() {
                some.extend(trie.next_match(haystack, &mut walk, most).unwrap_or_default());
            }
            assert_eq!(some, found, "{semantics} {most}");
        }
        let mut walk = TrieWalk::default();
        for &m in &found {
            assert_eq!(trie.next_match(haystack, &mut walk, usize::MAX), Ok(Some(m)));
        }
        assert_eq!(trie.next_match(haystack, &mut walk, usize::MAX), Ok(None));
        assert_eq!(trie.next_match(haystack, &mut walk, usize::MAX), Ok(None));
        let any = trie.any_end(haystack, usize::MAX).unwrap();
        assert_eq!(any.is_some(), !all.is_empty());
        assert!(any.is_none_or(|end| all.iter().any(|m| m.end == end as u64)));
        count += found.len();
    }
    count
}

#[test]
fn random_sets_match_the_definition() {
    let (mut numbers, mut found) = (Numbers(5), 0);
    for round in 0..3000 {
        let letters: &[u8] = match round % 4 {
            0 => b"aAbB",
            1 => b"abcdefgh",
            _ => b"ab",
        };
        let mut set = PatternSet::builder();
        for _ in 0..1 + numbers.below(12) {
            // Four bytes and more are looked up by their hash.
            let least = if round % 3 == 0 { 1 + round / 3 % 9 } else { 1 };
            let len = least + numbers.below(if round % 5 == 0 { 20 } else { 6 });
            let bytes = numbers.text(letters, len);
            // Ids in any order, some of them equal.
            let id = PatternId(numbers.below(9) as u32);
            set.push_with(id, bytes, round % 8 == 0).unwrap();
        }
        let len = numbers.below(70);
        found += check(&set.build(), &numbers.text(letters, len));
    }
    assert!(found > 10_000, "{found}");
}

/// Bytes after the end of a haystack are no zeros that a pattern may end with.
#[test]
fn nothing_is_found_beyond_the_end() {
    for len in 4..12 {
        let patterns = (0..300_usize).map(|n| {
            let letters = (1..len).map(|i| b"abcdefgh"[(n >> (3 * (i % 3)) & 7) % 8]);
            letters.chain([0]).collect::<Vec<_>>()
        });
        let set = PatternSet::new(patterns).unwrap();
        let haystack = [&[b'.'; 80][..], set.bytes(7)].concat();
        for cut in 0..=2 {
            for from in 0..80 {
                check(&set, &haystack[from..haystack.len() - cut]);
            }
        }
    }
}

/// All sizes of tables, with and without case.
#[test]
fn sets_of_all_sizes_match_the_definition() {
    let mut numbers = Numbers(11);
    for (words, nocase) in [(900, false), (900, true), (5000, true), (20_000, false)] {
        let mut set = PatternSet::builder();
        for i in 0..words {
            let len = 6 + i % 5;
            set.push_with(PatternId(i as u32), numbers.text(b"abcdABCD", len), nocase).unwrap();
        }
        let set = set.build();
        let some = (0..set.len() as u32).step_by(set.len() / 50);
        let haystack: Vec<_> = some.flat_map(|i| [set.bytes(i), b"aB"].concat()).collect();
        assert!(check(&set, &haystack) > 100);
    }
}

/// Words with one hash, and words with one hash after the other. The factor is the inverse of that
/// of the hash.
#[test]
fn words_that_share_a_row_are_looked_up_otherwise() {
    for shift in [0, 51] {
        let hashes = (0..4000_u64).map(|n| (n << shift) | (n * 7919 % 4001));
        let words = hashes.map(|hash| hash.wrapping_mul(0xf1de_83e1_9937_733d).to_le_bytes());
        let set = PatternSet::new(words.clone()).unwrap();
        let trie = FindTrie::new(&set, Semantics::Standard, u64::MAX).unwrap();
        assert!(matches!(trie.prefixes, Prefixes::Bitmap(_)));
        let haystack: Vec<u8> = words.step_by(100).flatten().collect();
        assert!(check(&set, &haystack) >= 40);
    }
}

/// More classes than groups of bytes.
#[test]
fn all_bytes_can_be_used() {
    let mut numbers = Numbers(3);
    let letters: Vec<u8> = (0..=255).collect();
    let patterns = (0..3000).map(|i| numbers.text(&letters, 2 + i % 3));
    let patterns: Vec<_> = patterns.chain(letters[..9].iter().map(|&b| vec![b])).collect();
    let set = PatternSet::new(patterns).unwrap();
    let haystack = Numbers(9).text(&letters, 4000);
    assert!(check(&set, &haystack) > 300);
}

/// Every position begins a walk of hundreds of bytes.
#[test]
fn it_gives_up_where_walks_find_nothing() {
    let set = PatternSet::new(["a".repeat(300) + "b", "cd".to_owned()]).unwrap();
    let haystack = ["cd".to_owned(), "a".repeat(2000), "cd".to_owned()].concat();
    for semantics in SEMANTICS {
        let trie = FindTrie::new(&set, semantics, u64::MAX).unwrap();
        let (mut walk, mut found) = (TrieWalk::default(), Vec::new());
        let next = |walk: &mut _| trie.next_match(haystack.as_bytes(), walk, usize::MAX);
        assert_eq!(next(&mut walk).unwrap().map(|m| m.end), Some(2));
        assert_eq!(next(&mut walk), Err(Undecided));
        assert_eq!((walk.last(), walk.found()), (2, 1));
        let mut walk = TrieWalk::default();
        let mut more = || trie.next_matches(haystack.as_bytes(), &mut walk, usize::MAX, &mut found);
        assert_eq!((more(), more()), (Ok(()), Err(Undecided)));
        assert_eq!(found.len(), 1);
        assert_eq!(trie.any_end(&haystack.as_bytes()[2..], usize::MAX), Err(Undecided));
    }
}

/// Walks that find a match read far beyond it, or look for one that ends sooner.
#[test]
fn it_gives_up_where_walks_to_matches_read_too_much() {
    let haystack = "a".repeat(5000);
    let long = "a".repeat(3000) + "b";
    let longest = PatternSet::new(["a", &long]).unwrap();
    let standard = PatternSet::new(["a".repeat(600).as_str(), "b"]).unwrap();
    for (set, semantics) in
        [(&longest, Semantics::LeftmostLongest), (&standard, Semantics::Standard)]
    {
        let trie = FindTrie::new(set, semantics, u64::MAX).unwrap();
        let mut walk = TrieWalk::default();
        while trie.next_match(haystack.as_bytes(), &mut walk, usize::MAX).is_ok() {}
        assert!(!walk.is_at_end() && walk.read < 10_000, "{semantics}: {}", walk.read);
        assert_eq!(walk.last(), walk.found());
    }
}

#[test]
fn the_limit_is_not_exceeded() {
    for len in [5, 6, 9] {
        let set = PatternSet::new((0..3000).map(|n| format!("{n:0len$}"))).unwrap();
        let sizes = (0..80).filter_map(|k| {
            let limit = k * 4000;
            let trie = FindTrie::new(&set, Semantics::Standard, limit)?;
            assert!(trie.memory() <= limit);
            Some(trie.memory())
        });
        assert!(sizes.count() > 3);
    }
}

#[test]
fn it_gives_up_where_matches_are_far_apart() {
    let set = PatternSet::new(["abx", "cdx"]).unwrap();
    let trie = FindTrie::new(&set, Semantics::Standard, u64::MAX).unwrap();
    let haystack = format!("abxcdx{}abx", "abc".repeat(700));
    let (haystack, len) = (haystack.as_bytes(), haystack.len());
    let (mut bulk, mut found) = (TrieWalk::default(), Vec::new());
    assert_eq!(trie.next_matches(haystack, &mut bulk, 10, &mut found), Ok(()));
    assert_eq!((found.len(), bulk.last()), (2, 6));
    assert_eq!(trie.next_matches(haystack, &mut bulk, 10, &mut found), Err(Undecided));
    let mut walk = TrieWalk::default();
    for end in [3, 6] {
        let found = trie.next_match(haystack, &mut walk, 100);
        assert_eq!(found.unwrap().map(|m| m.end), Some(end));
    }
    assert_eq!(trie.next_match(haystack, &mut walk, 100), Err(Undecided));
    assert_eq!(trie.next_match(haystack, &mut walk, 9999).unwrap().map(|m| m.end), Some(len));
    assert_eq!(trie.any_end(&haystack[6..], 100), Err(Undecided));
}

#[test]
fn what_it_refuses() {
    let mut mixed = PatternSet::builder();
    mixed.push_with(PatternId(0), "a", true).unwrap();
    mixed.push_with(PatternId(1), "b", false).unwrap();
    let mixed = mixed.build();
    let plain = PatternSet::new(["ab", "b"]).unwrap();
    let trie = |set, semantics, limit| FindTrie::new(set, semantics, limit).is_some();
    assert!(!trie(&mixed, Semantics::Standard, u64::MAX));
    assert!(!trie(&plain, Semantics::All, u64::MAX));
    assert!(!trie(&plain, Semantics::Once, u64::MAX));
    assert!(!trie(&plain, Semantics::Standard, 8));
    assert!(trie(&plain, Semantics::Standard, 1 << 16));
}

#[test]
fn an_empty_set_finds_nothing() {
    let set = PatternSet::new(Vec::<&str>::new()).unwrap();
    assert_eq!(check(&set, b"abc"), 0);
}
