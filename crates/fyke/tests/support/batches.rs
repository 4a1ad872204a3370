//! Batches against calls one by one, for any engines of the registry.

use fyke::{
    Batch, Collect, PatternId, PatternSet, Searcher, SearcherBuilder, Semantics, StreamMatch,
};
use fyke_testkit::random::{SplitMix, text};
use fyke_testkit::subject::Scope;
use fyke_testkit::{Subject, Suite};
use std::ops::ControlFlow;

/// Overlapping patterns, short ones among them, in either case, some under two ids.
fn set(min_len: usize) -> PatternSet {
    subset(min_len, |_| true)
}

/// Some of these patterns, by number.
fn subset(min_len: usize, wanted: impl Fn(usize) -> bool) -> PatternSet {
    let mut b = PatternSet::builder();
    let words = ["a", "ba", "cab", "abcab", "CABBA", "bbbbbb", "aaaaaaaaaa", "cacacacaca", "abba"];
    let long = words.iter().enumerate().filter(|(_, w)| w.len() >= min_len);
    for (i, word) in long.filter(|(i, _)| wanted(*i)) {
        b.push_with(PatternId(40 - i as u32), word, i % 3 == 1).unwrap();
        if i % 4 == 0 {
            b.push_with(PatternId(7), word, false).unwrap();
        }
    }
    b.build()
}

/// Cuts `bytes` into haystacks of 0 to `most` bytes. Returns where each ends.
pub(crate) fn cut(bytes: &[u8], most: u64, seed: u64) -> Vec<usize> {
    let mut numbers = SplitMix::new(seed);
    let mut ends = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        at = bytes.len().min(at + numbers.below(most + 1) as usize);
        ends.push(at);
    }
    ends
}

pub(crate) fn cut_up<'a>(bytes: &'a [u8], ends: &[usize]) -> Vec<&'a [u8]> {
    let starts = std::iter::once(&0).chain(ends);
    starts.zip(ends).map(|(&start, &end)| &bytes[start..end]).collect()
}

/// The matches that one call per haystack finds, with the number of the haystack, and the counts.
fn one_by_one(searcher: &Searcher, haystacks: &[&[u8]]) -> (Vec<(usize, StreamMatch)>, Vec<u64>) {
    let mut found = Vec::new();
    let mut counts = Vec::new();
    for (i, haystack) in haystacks.iter().enumerate() {
        let mut matches = Collect::default();
        let _ = searcher.scan_into(haystack, &mut matches);
        found.extend(matches.matches.into_iter().map(|m| (i, m)));
        counts.push(found.iter().filter(|(at, _)| *at == i).count() as u64);
    }
    (found, counts)
}

/// Appends the matches of all haystacks.
fn note(found: &mut Vec<(usize, StreamMatch)>) -> impl FnMut(usize, &Batch<'_>) -> ControlFlow<()> {
    |i, batch| {
        assert!(batch.ordered && !batch.records.is_empty());
        found.extend(batch.matches().map(|m| (i, m)));
        ControlFlow::Continue(())
    }
}

/// Compares all four batch calls with one call per haystack.
fn check(searcher: &Searcher, bytes: &[u8], ends: &[usize]) {
    let haystacks = cut_up(bytes, ends);
    let (wanted, wanted_counts) = one_by_one(searcher, &haystacks);
    let (mut copied, mut in_place, mut counts) = (Vec::new(), Vec::new(), vec![9]);
    assert!(searcher.scan_batch(&haystacks, note(&mut copied)).is_continue());
    assert!(searcher.scan_packed(bytes, ends, note(&mut in_place)).is_continue());
    assert_eq!(copied, wanted, "{searcher:?}");
    assert_eq!(in_place, wanted, "{searcher:?}");
    searcher.count_batch(&haystacks, &mut counts);
    assert_eq!(counts, wanted_counts, "{searcher:?}");
    searcher.count_packed(bytes, ends, &mut counts);
    assert_eq!(counts, wanted_counts, "{searcher:?}");
}

/// Compares the calls of a group searcher with one call per haystack of a searcher for its group.
fn check_groups(builder: &SearcherBuilder, sets: &[PatternSet], bytes: &[u8], ends: &[usize]) {
    let grouped = builder.build_groups(sets).unwrap();
    let apart: Vec<Searcher> = sets.iter().map(|set| builder.build(set).unwrap()).collect();
    assert_eq!(grouped.groups(), sets.len());
    let mut numbers = SplitMix::new(ends.len() as u64);
    let groups: Vec<usize> =
        ends.iter().map(|_| numbers.below(sets.len() as u64) as usize).collect();
    let haystacks = cut_up(bytes, ends);
    let jobs = || groups.iter().copied().zip(&haystacks);
    let (mut wanted, mut wanted_counts) = (Vec::new(), Vec::new());
    for (i, (group, haystack)) in jobs().enumerate() {
        let (found, count) = one_by_one(&apart[group], &[haystack]);
        wanted.extend(found.into_iter().map(|(_, m)| (i, m)));
        wanted_counts.extend(count);
    }
    let (mut copied, mut in_place, mut counts) = (Vec::new(), Vec::new(), vec![9]);
    assert!(grouped.scan_batch(jobs(), note(&mut copied)).is_continue());
    assert!(grouped.scan_packed(bytes, ends, &groups, note(&mut in_place)).is_continue());
    for mut found in [copied, in_place] {
        // Haystacks come in any order, the matches of one in theirs.
        found.sort_by_key(|(i, _)| *i);
        assert_eq!(found, wanted, "{grouped:?}");
    }
    grouped.count_batch(jobs(), &mut counts);
    assert_eq!(counts, wanted_counts, "{grouped:?}");
    grouped.count_packed(bytes, ends, &groups, &mut counts);
    assert_eq!(counts, wanted_counts, "{grouped:?}");
}

/// The smallest minimum length of patterns that an engine takes. Refusals are counted; `None`
/// means that the engine refused every set.
fn shortest(suite: &Suite, subject: &Subject) -> Option<usize> {
    (1..=5).find(|&min_len| suite.compile(subject, &set(min_len)).unwrap().is_some())
}

/// Compares batches with one call per haystack, for every engine and semantics of a suite.
pub(crate) fn every_semantics(suite: &Suite) {
    let bytes = text(3, 3000, 1);
    for subject in suite.subjects() {
        let label = subject.label();
        let Some(min_len) = shortest(suite, &subject) else { continue };
        for semantics in Semantics::ALL {
            let builder = Searcher::builder().engine(&label).semantics(semantics);
            let searcher = builder.build(&set(min_len)).unwrap();
            for (most, seed) in [(3, 1), (20, 2), (300, 3)] {
                check(&searcher, &bytes, &cut(&bytes, most, seed));
                suite.tally.checked(&label);
            }
            let groups = [
                subset(min_len, |i| i % 2 == 0),
                set(min_len).to_nocase(),
                subset(min_len, |i| i > 4),
            ];
            for (most, seed) in [(9, 4), (300, 5)] {
                check_groups(&builder, &groups, &bytes, &cut(&bytes, most, seed));
                suite.tally.checked(&label);
            }
        }
    }
    suite.conclude(Scope::Everything).unwrap();
}
