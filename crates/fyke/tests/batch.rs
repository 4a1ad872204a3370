//! A batch of haystacks has to give what a call for each of them gives: for every engine and semantics, copied
//! or in place.

use fyke::{Batch, Collect, Count, Match, PatternId, PatternSet, Searcher, Semantics, registry};
use fyke_testkit::random::{SplitMix, text};
use fyke_testkit::subject::variants;
use std::ops::ControlFlow;

/// Overlapping patterns, short ones among them, in either case, some under two ids.
fn set(min_len: usize) -> PatternSet {
    let mut b = PatternSet::builder();
    let words = ["a", "ba", "cab", "abcab", "CABBA", "bbbbbb", "aaaaaaaaaa", "cacacacaca", "abba"];
    for (i, word) in words.iter().enumerate().filter(|(_, w)| w.len() >= min_len) {
        b.push_with(PatternId(40 - i as u32), word, i % 3 == 1).unwrap();
        if i % 4 == 0 {
            b.push_with(PatternId(7), word, false).unwrap();
        }
    }
    b.build()
}

/// Cuts `bytes` into haystacks of 0 to `most` bytes; where each ends.
fn cut(bytes: &[u8], most: u64, seed: u64) -> Vec<usize> {
    let mut numbers = SplitMix::new(seed);
    let mut ends = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        at = bytes.len().min(at + numbers.below(most + 1) as usize);
        ends.push(at);
    }
    ends
}

fn cut_up<'a>(bytes: &'a [u8], ends: &[usize]) -> Vec<&'a [u8]> {
    let starts = std::iter::once(&0).chain(ends);
    starts.zip(ends).map(|(&start, &end)| &bytes[start..end]).collect()
}

/// What calls for each haystack find; the numbers of haystacks with it.
fn one_by_one(searcher: &Searcher, haystacks: &[&[u8]]) -> (Vec<(usize, Match)>, Vec<u64>) {
    let mut found = Vec::new();
    let mut counts = Vec::new();
    for (i, haystack) in haystacks.iter().enumerate() {
        let mut matches = Collect::default();
        let _ = searcher.scan(haystack, &mut matches);
        found.extend(matches.matches.into_iter().map(|m| (i, m)));
        let mut all = Count::default();
        let _ = searcher.matcher().scan(
            fyke::Block::whole(haystack),
            &mut fyke::Scratch::new(),
            &mut all,
        );
        let here = found.iter().filter(|(at, _)| *at == i).count() as u64;
        counts.push(if searcher.semantics() == Semantics::Count { all.matches } else { here });
    }
    (found, counts)
}

/// Takes the matches of all haystacks down.
fn note(found: &mut Vec<(usize, Match)>) -> impl FnMut(usize, &Batch<'_>) -> ControlFlow<()> {
    |i, batch| {
        assert!(batch.ordered && !batch.records.is_empty());
        found.extend(batch.matches().map(|m| (i, m)));
        ControlFlow::Continue(())
    }
}

/// Compares all forms of the call. What an engine finds first is its own affair if only existence is asked for.
fn check(searcher: &Searcher, bytes: &[u8], ends: &[usize]) {
    let haystacks = cut_up(bytes, ends);
    let (wanted, wanted_counts) = one_by_one(searcher, &haystacks);
    let comparable = |found: &[(usize, Match)]| match searcher.semantics() {
        Semantics::Exists => found.iter().map(|(i, _)| (*i, None)).collect::<Vec<_>>(),
        _ => found.iter().map(|(i, m)| (*i, Some(*m))).collect(),
    };
    let (mut copied, mut in_place, mut counts) = (Vec::new(), Vec::new(), vec![9]);
    assert!(searcher.scan_batch(&haystacks, note(&mut copied)).is_continue());
    assert!(searcher.scan_packed(bytes, ends, note(&mut in_place)).is_continue());
    assert_eq!(comparable(&copied), comparable(&wanted), "{searcher:?}");
    assert_eq!(comparable(&in_place), comparable(&wanted), "{searcher:?}");
    searcher.count_batch(&haystacks, &mut counts);
    assert_eq!(counts, wanted_counts, "{searcher:?}");
    searcher.count_packed(bytes, ends, &mut counts);
    assert_eq!(counts, wanted_counts, "{searcher:?}");
}

#[test]
fn every_engine_and_semantics_as_one_by_one() {
    let bytes = text(3, 3000, 1);
    for subject in registry::engines().into_iter().flat_map(variants) {
        let build = |semantics, set: &PatternSet| {
            Searcher::builder().engine(&subject.label()).semantics(semantics).build(set)
        };
        for semantics in Semantics::ALL {
            let searcher = (1..=5).find_map(|min_len| build(semantics, &set(min_len)).ok());
            let Some(searcher) = searcher else { continue };
            for (most, seed) in [(3, 1), (20, 2), (300, 3)] {
                check(&searcher, &bytes, &cut(&bytes, most, seed));
            }
        }
    }
}

#[test]
fn packs_and_haystacks_too_long_for_one() {
    let bytes = text(20, 1 << 20, 2);
    let patterns = ["ab", "abc", "dddd", "efgh", "h", "tsrq"];
    for engine in ["ac-dfa", "ac-nfa"] {
        for semantics in Semantics::ALL {
            let builder = Searcher::builder().engine(engine).semantics(semantics);
            let searcher = builder.build(&PatternSet::new(patterns).unwrap()).unwrap();
            for (most, seed) in [(100, 1), (40_000, 2), (400_000, 3)] {
                let ends = cut(&bytes, most, seed);
                let (haystacks, mut copied, mut packed) =
                    (cut_up(&bytes, &ends), Vec::new(), Vec::new());
                searcher.count_batch(&haystacks, &mut copied);
                searcher.count_packed(&bytes, &ends, &mut packed);
                let one_by_one: Vec<u64> = haystacks.iter().map(|h| searcher.count(h)).collect();
                assert_eq!((&copied, &packed), (&one_by_one, &one_by_one));
                let mut scanned = vec![0; haystacks.len()];
                let _ = searcher.scan_batch(&haystacks, |i, batch| {
                    scanned[i] += batch.count();
                    ControlFlow::Continue(())
                });
                assert!(semantics == Semantics::Count || scanned == one_by_one);
            }
        }
    }
}

#[test]
fn a_break_ends_the_batch() {
    let searcher = Searcher::new(["a"]).unwrap();
    let mut calls = 0;
    let flow = searcher.scan_batch(["ba", "a", "aaa"], |i, _| {
        calls += 1;
        if i == 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(flow.is_break() && calls == 2);
}

#[test]
fn nothing_and_empty_haystacks() {
    let searcher = Searcher::new(["a"]).unwrap();
    let mut counts = vec![1];
    searcher.count_batch([""; 0], &mut counts);
    assert!(counts.is_empty());
    searcher.count_batch(["", "", "aa", ""], &mut counts);
    assert_eq!(counts, [0, 0, 2, 0]);
    searcher.count_packed(b"aab", &[0, 0, 2, 3, 3], &mut counts);
    assert_eq!(counts, [0, 0, 2, 0, 0]);
}

#[test]
#[should_panic(expected = "beyond the bytes")]
fn ends_beyond_the_bytes() {
    Searcher::new(["a"]).unwrap().count_packed(b"aa", &[1, 3], &mut Vec::new());
}

#[test]
fn a_sink_may_search_with_the_same_searcher() {
    let searcher = Searcher::new(["a", "ba"]).unwrap();
    let mut inner = 0;
    let _ = searcher.scan_batch(["ba", "a"], |_, _| {
        inner += searcher.count("aba");
        ControlFlow::Continue(())
    });
    assert_eq!(inner, 6);
}
