//! Batches against calls one by one, for any engines of the registry.

use fyke::{Batch, Collect, PatternId, PatternSet, Searcher, Semantics, StreamMatch};
use fyke_testkit::random::{SplitMix, text};
use fyke_testkit::subject::Scope;
use fyke_testkit::{Subject, Suite};
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
        }
    }
    suite.conclude(Scope::Everything).unwrap();
}
