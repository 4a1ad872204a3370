//! Haystacks that are each searched for one of several sets. `tests/batch.rs` compares every engine
//! and semantics with one call per haystack.

use fyke::{Device, PatternSet, Searcher, Semantics, registry};
use fyke_testkit::Suite;
use fyke_testkit::random::text;
use fyke_testkit::subject::{Scope, one_thread};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

fn groups() -> [PatternSet; 3] {
    let set = |patterns: &[&str]| PatternSet::new(patterns).unwrap();
    [set(&["ab", "b"]), set(&[]), set(&["bc", "ab"])]
}

#[test]
fn ids_are_those_of_the_group() {
    let searcher = Searcher::builder().build_groups(&groups()).unwrap();
    assert_eq!((searcher.groups(), searcher.device()), (3, Device::Cpu));
    assert_eq!(searcher.set(2).len(), 2);
    let mut found = Vec::new();
    let _ = searcher.scan_batch([(2, "abc"), (1, "abc"), (0, "abc")], |i, batch| {
        found.extend(batch.matches().map(|m| (i, m.end, m.pattern.0)));
        ControlFlow::Continue(())
    });
    found.sort_unstable();
    assert_eq!(found, [(0, 2, 1), (0, 3, 0), (2, 2, 0), (2, 2, 1)]);
}

#[test]
fn rounds_follow_each_other() {
    // More haystacks than a round holds, then more bytes.
    for (haystacks, len) in [(200_000, 10), (2_000, 9_000), (3, 6_000_000)] {
        let bytes = b"xabcx".repeat(haystacks * len / 5);
        let each = bytes.chunks(len).enumerate().map(|(i, h)| (i % 3, h));
        for semantics in [Semantics::All, Semantics::Once, Semantics::LeftmostLongest] {
            let builder = Searcher::builder().semantics(semantics);
            let searcher = builder.build_groups(&groups()).unwrap();
            let mut counts = Vec::new();
            searcher.count_batch(each.clone(), &mut counts);
            assert_eq!(counts.len(), haystacks);
            let of = |group: usize| match semantics {
                Semantics::All => [2, 0, 2][group] * (len as u64 / 5),
                Semantics::Once => [2, 0, 2][group],
                _ => [1, 0, 1][group] * (len as u64 / 5),
            };
            let wrong = counts.iter().enumerate().find(|(i, n)| **n != of(i % 3));
            assert_eq!(wrong, None, "{semantics} {haystacks}");
        }
    }
}

/// One searcher finds the matches of all groups, so it must drop those of others.
#[test]
fn gpu_engines_scan_a_haystack_that_is_too_long_for_a_pack() {
    let suite = Suite::new(registry::engines(), one_thread);
    let is_gpu = |device| device == Device::Gpu;
    let long = text(20, 9 << 20, 2);
    let groups = [["dddd", "efgh", "cdefg"], ["tsrq", "cdefg", "efgh"]].map(PatternSet::new);
    let groups = groups.map(Result::unwrap);
    let haystacks = || [(0, &long[..100_000]), (1, &long[..]), (0, &long[..]), (1, &long[5..70])];
    for subject in suite.subjects().into_iter().filter(|s| is_gpu(s.engine.info().device)) {
        if suite.compile(&subject, &groups[0]).unwrap().is_none() {
            continue;
        }
        for semantics in Semantics::ALL {
            let builder = Searcher::builder().semantics(semantics);
            let expected = builder.build_groups(&groups).unwrap();
            let on_gpu = builder.engine(subject.label()).build_groups(&groups).unwrap();
            assert!(is_gpu(on_gpu.device()));
            let (mut counts, mut wanted) = (Vec::new(), Vec::new());
            on_gpu.count_batch(haystacks(), &mut counts);
            expected.count_batch(haystacks(), &mut wanted);
            assert_eq!(counts, wanted, "{semantics} {on_gpu:?}");
            assert!(wanted[1] > 0 && wanted[1] != wanted[2] || semantics == Semantics::Once);
            suite.tally.checked(&subject.label());
        }
    }
    suite.conclude(Scope::Chosen).unwrap();
}

#[test]
fn a_break_ends_the_call() {
    let searcher = Searcher::builder().build_groups(&groups()).unwrap();
    let mut calls = 0;
    let flow = searcher.scan_batch([(2, "ab"), (0, "ab"), (0, "b")], |_, _| {
        calls += 1;
        ControlFlow::Break(())
    });
    assert!(flow.is_break() && calls == 1);
}

#[test]
fn nothing_to_search() {
    let searcher = Searcher::builder().build_groups(&[]).unwrap();
    let mut counts = vec![1];
    searcher.count_batch([(0, ""); 0], &mut counts);
    assert!(counts.is_empty() && searcher.groups() == 0);
    let searcher = Searcher::builder().build_groups(&groups()).unwrap();
    searcher.count_packed(b"", &[0, 0], &[2, 0], &mut counts);
    assert_eq!(counts, [0, 0]);
}

#[test]
fn wrong_numbers_panic_and_say_why() {
    let searcher = Searcher::builder().build_groups(&groups()).unwrap();
    let message = |run: &mut dyn FnMut()| {
        let panic = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
        panic.downcast::<String>().map(|s| *s).unwrap_or_default()
    };
    let mut counts = Vec::new();
    let said = message(&mut || searcher.count_batch([(3, "a")], &mut counts));
    assert_eq!(said, "group 3, but there are 3 groups");
    let said = message(&mut || searcher.count_packed(b"ab", &[1, 2], &[0], &mut counts));
    assert!(said.contains("each haystack needs a group"), "{said}");
    let said = message(&mut || searcher.count_packed(b"ab", &[1, 2], &[0, 9], &mut counts));
    assert_eq!(said, "group 9, but there are 3 groups");
}

#[test]
fn an_engine_that_refuses_one_group_refuses_all() {
    let refused = Searcher::builder().memory_limit(1).build_groups(&groups());
    let refused = refused.unwrap_err();
    assert!(refused.refusal().is_some() && refused.to_string().starts_with("group 0: engine auto"));
    let unknown = Searcher::builder().engine("none").build_groups(&groups());
    assert!(unknown.unwrap_err().to_string().contains("none"));
}
