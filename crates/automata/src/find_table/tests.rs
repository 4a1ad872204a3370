use super::bulk_walk::PART;
use super::whole_walk::{MOST_REPORTS, WALKS};
use super::*;
use fyke_core::{StreamMatch, oracle};
use std::cmp::Reverse;

pub(crate) const SEMANTICS: [Semantics; 3] =
    [Semantics::Standard, Semantics::LeftmostFirst, Semantics::LeftmostLongest];

/// The first match that begins at or after `from`, by definition.
pub(crate) fn first(all: &[StreamMatch], from: usize, semantics: Semantics) -> Option<Match> {
    let candidates = all.iter().filter(|m| m.start >= from as u64);
    let best = match semantics {
        Semantics::Standard => candidates.min(),
        Semantics::LeftmostFirst => candidates.min_by_key(|m| (m.start, m.pattern, m.end)),
        _ => candidates.min_by_key(|m| (m.start, Reverse(m.end), m.pattern)),
    };
    best.map(|&m| Match::in_memory(m))
}

/// Checks the walk over all matches.
fn check_all(table: &FindTable, all: &[StreamMatch], haystack: &[u8], semantics: Semantics) {
    let (mut bulk, mut found) = (BulkWalk::default(), Vec::new());
    while !bulk.is_at_end() {
        table.next_matches(haystack, &mut bulk, usize::MAX, &mut found).unwrap();
    }
    let mut from = 0;
    for &m in &found {
        assert_eq!(Some(m), first(all, from, semantics), "{semantics} {haystack:?} {table:?}");
        from = m.end;
    }
    assert_eq!(first(all, from, semantics), None, "{semantics} {haystack:?} {table:?}");
    assert_eq!((bulk.found(), bulk.last()), (found.len(), from));
    let mut walk = MatchWalk::default();
    for &m in &found {
        assert_eq!(table.next_match(haystack, &mut walk, usize::MAX), Ok(Some(m)));
    }
    assert_eq!(table.next_match(haystack, &mut walk, usize::MAX), Ok(None));
    if WHOLE_LEN.contains(&haystack.len()) {
        check_whole(table, haystack, &found);
    }
}

/// Checks the walk over a whole short haystack.
fn check_whole(table: &FindTable, haystack: &[u8], found: &[Match]) {
    let mut walk = WholeWalk::default();
    for &m in found {
        match table.next_of_whole(haystack, &mut walk) {
            // The table may make too many reports, which shows in the first call.
            Err(Undecided) if m == found[0] && found.len() >= MOST_REPORTS => return,
            next => assert_eq!(next, Ok(Some(m)), "{haystack:?} {table:?}"),
        }
    }
    assert_eq!(table.next_of_whole(haystack, &mut walk), Ok(None));
    assert_eq!(table.next_of_whole(haystack, &mut walk), Ok(None));
}

fn check(set: &PatternSet, haystack: &[u8]) -> usize {
    let all = oracle::find_all(set, haystack);
    let mut found = 0;
    for semantics in SEMANTICS {
        let table = FindTable::new(set, semantics, u64::MAX).unwrap();
        check_all(&table, &all, haystack, semantics);
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

/// Checks searches for the first match from some positions on.
fn check_first(table: &FindTable, all: &[StreamMatch], haystack: &[u8], semantics: Semantics) {
    for from in (0..=haystack.len()).step_by(23) {
        let wanted = first(all, from, semantics);
        assert_eq!(table.find(haystack, from, usize::MAX), Ok(wanted), "{semantics} {from}");
        let earliest = first(all, from, Semantics::Standard).map(|m| m.end - from);
        assert_eq!(table.first_end(&haystack[from..], usize::MAX), Ok(earliest));
        for most in [100, 300] {
            let seen = earliest.is_some_and(|end| end <= most);
            let decided = seen || from + most >= haystack.len();
            let outcome = if decided { Ok(wanted) } else { Err(Undecided) };
            assert_eq!(table.find(haystack, from, most), outcome, "{semantics} {from} {most}");
        }
    }
}

/// Haystacks of any length: longer ones are walked in parts.
#[test]
fn parts_match_the_definition() {
    let (mut numbers, mut found) = (Numbers(11), 0);
    for round in 0..300 {
        let letters: &[u8] = if round % 2 == 0 { b"ab" } else { b"abcdefgh" };
        let patterns: Vec<Vec<u8>> = (0..1 + numbers.below(30))
            .map(|_| {
                // Long patterns are rare, and longer than what a walk reads before its part.
                let least = if round % 5 == 0 { 9 } else { 1 };
                let len = least + numbers.below(if round % 3 == 0 { 14 } else { 5 });
                numbers.text(letters, len)
            })
            .collect();
        let set = PatternSet::new(patterns).unwrap();
        let len = numbers.below(900);
        let haystack = numbers.text(letters, len);
        let all = oracle::find_all(&set, &haystack);
        for semantics in SEMANTICS {
            let table = FindTable::new(&set, semantics, u64::MAX).unwrap();
            check_all(&table, &all, &haystack, semantics);
            let short = &haystack[..haystack.len().min(numbers.below(65) as usize)];
            check_all(&table, &oracle::find_all(&set, short), short, semantics);
            check_first(&table, &all, &haystack, semantics);
            let table = FindTable { pairs: None, ..table };
            check_first(&table, &all, &haystack, semantics);
        }
        found += all.len();
    }
    assert!(found > 1000, "{found}");
}

/// In runs of one letter, a row depends on more bytes than a walk reads before its part.
#[test]
fn whole_walks_recover_from_each_wrong_guess() {
    let (mut numbers, mut right) = (Numbers(13), [0; WALKS + 1]);
    for _ in 0..300 {
        let mut patterns: Vec<Vec<u8>> =
            (0..1 + numbers.below(3)).map(|_| vec![b'a'; 2 + numbers.below(9) as usize]).collect();
        patterns.push(b"ab".to_vec());
        let set = PatternSet::new(patterns).unwrap();
        let len = 32 + numbers.below(33);
        let haystack = numbers.text(b"aaaaaaaaaaab", len);
        let all = oracle::find_all(&set, &haystack);
        for semantics in SEMANTICS {
            let table = FindTable::new(&set, semantics, u64::MAX).unwrap();
            check_all(&table, &all, &haystack, semantics);
            right[table.walk_interleaved(&haystack, &mut [0; PART + 1])] += 1;
        }
    }
    assert!(right[0] == 0 && right[1..].iter().all(|&times| times > 20), "{right:?}");
}

/// Each byte after the long pattern's `a`s would add a report of hundreds of matches.
#[test]
fn too_long_reports_are_refused() {
    let long = format!("x{}bcdefghijklmnopqrstuvwyz0123456789", "a".repeat(300));
    let set = PatternSet::new(["x", "a", &long]).unwrap();
    assert!(FindTable::new(&set, Semantics::LeftmostLongest, u64::MAX).is_none());
    assert!(FindTable::new(&set, Semantics::LeftmostFirst, u64::MAX).is_some());
}

#[test]
fn walks_give_up_where_matches_are_far_apart() {
    let set = PatternSet::new(["ab", "cd"]).unwrap();
    let table = FindTable::new(&set, Semantics::Standard, u64::MAX).unwrap();
    let haystack = [&b"abcd"[..], &[b'-'; 2000], b"ab"].concat();
    let (mut bulk, mut found) = (BulkWalk::default(), Vec::new());
    assert_eq!(table.next_matches(&haystack, &mut bulk, 10, &mut found), Ok(()));
    assert_eq!((found.len(), bulk.last()), (2, 4));
    assert_eq!(table.next_matches(&haystack, &mut bulk, 10, &mut found), Err(Undecided));
    let mut walk = MatchWalk::default();
    for end in [2, 4] {
        let found = table.next_match(&haystack, &mut walk, 100);
        assert_eq!(found.unwrap().map(|m| m.end), Some(end));
    }
    assert_eq!(table.next_match(&haystack, &mut walk, 100), Err(Undecided));
    assert_eq!(table.next_match(&haystack, &mut walk, 9999).unwrap().map(|m| m.end), Some(2006));
}

pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % n
    }

    pub(crate) fn text(&mut self, letters: &[u8], len: u64) -> Vec<u8> {
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
