//! A batch of haystacks must give what one call per haystack gives, for every engine and
//! semantics, copied or in place.

#[path = "support/batches.rs"]
mod batches;

use batches::{cut, cut_up};
use fyke::{PatternSet, Searcher, Semantics, registry};
use fyke_testkit::Suite;
use fyke_testkit::random::text;
use fyke_testkit::subject::one_thread;
use std::ops::ControlFlow;

#[test]
fn every_engine_and_semantics_as_one_by_one() {
    batches::every_semantics(&Suite::new(registry::engines(), one_thread));
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
                assert_eq!(scanned, one_by_one);
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
