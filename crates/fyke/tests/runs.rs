//! Long runs of one byte, which `auto` cuts out of hostile haystacks: every call finds there what
//! the naive search finds.

use fyke::{Match, MatchKind, PatternId, PatternSet, Searcher, Semantics};
use std::ops::ControlFlow;

/// Forms of `auto` with pieces so small that a haystack of this test has many.
const FORMS: [&str; 4] = [
    "auto",
    "auto:engine=qgram-filter,piece=700",
    "auto:engine=teddy,piece=333",
    "auto:engine=qgram-sampling,piece=1000",
];

const KINDS: [MatchKind; 3] =
    [MatchKind::Standard, MatchKind::LeftmostFirst, MatchKind::LeftmostLongest];

/// Patterns that are runs, begin or end with one, and ignore case or not.
fn sets() -> [PatternSet; 2] {
    let nul = |len: usize| vec![0; len];
    let zeros = [nul(8), nul(12), nul(40), [nul(9), b"GIF87a".to_vec()].concat()];
    let mixed =
        [("aaaaaaaa", true), ("AAAAAAAAA", false), ("aaaaaaaaaB", true), ("baaaaaaaa", false)];
    let mut letters = PatternSet::builder();
    for (i, (bytes, nocase)) in mixed.into_iter().enumerate() {
        letters.push_with(PatternId(i as u32), bytes, nocase).unwrap();
        letters.push_with(PatternId(i as u32 + 10), bytes, nocase).unwrap();
    }
    letters.push_with(PatternId(99), [0; 10], false).unwrap();
    [PatternSet::new(zeros).unwrap(), letters.build()]
}

/// Runs of many lengths, from below what is cut out to many pieces, with other bytes between them.
fn haystack(bytes: usize) -> Vec<u8> {
    let between: [&[u8]; 6] = [b"GIF87a", b"b", b"xyz", b"Ba", b"A", b""];
    let lengths = [90, 127, 128, 135, 136, 137, 150, 168, 300, 1000, 7, 5000, 64, 2500];
    let mut haystack = vec![0; 5000];
    for i in 0.. {
        haystack.extend(vec![[0, b'a', b'A', b'b'][i * 7 % 4]; lengths[i * 5 % lengths.len()]]);
        haystack.extend(between[i % between.len()]);
        if haystack.len() > bytes {
            break;
        }
    }
    haystack
}

fn searcher(engine: &str, set: &PatternSet, semantics: Semantics, kind: MatchKind) -> Searcher {
    let builder = Searcher::builder().engine(engine).semantics(semantics).match_kind(kind);
    builder.build(set).unwrap()
}

fn scan(searcher: &Searcher, haystack: &[u8]) -> Vec<Match> {
    let mut found = Vec::new();
    searcher.scan(haystack, |m| found.push(m));
    found
}

#[test]
fn every_semantics_selects_the_same_matches() {
    let haystack = haystack(40_000);
    for set in sets() {
        for semantics in Semantics::ALL {
            let naive = searcher("naive", &set, semantics, MatchKind::default());
            let wanted = scan(&naive, &haystack);
            assert!(wanted.len() > 1);
            for form in FORMS {
                let searcher = searcher(form, &set, semantics, MatchKind::default());
                for _ in 0..2 {
                    assert!(scan(&searcher, &haystack) == wanted, "{form}, {semantics}");
                    assert_eq!(searcher.count(&haystack), wanted.len() as u64, "{form}");
                }
            }
        }
    }
}

#[test]
fn the_find_calls_agree() {
    let haystack = haystack(20_000);
    for set in sets() {
        for kind in KINDS {
            let spans = |engine| {
                let searcher = searcher(engine, &set, Semantics::All, kind);
                let spans: Vec<_> = searcher.find_iter(&haystack).collect();
                assert_eq!(searcher.find(&haystack), spans.first().copied());
                assert!(searcher.is_match(&haystack));
                spans
            };
            let wanted = spans("naive");
            assert!(wanted.len() > 100);
            for form in FORMS {
                assert!(spans(form) == wanted, "{form}, {kind:?}");
            }
        }
    }
}

#[test]
fn streams_may_cut_runs_anywhere() {
    let haystack = haystack(30_000);
    for set in sets() {
        for semantics in [Semantics::All, Semantics::LeftmostLongest] {
            let wanted = scan(&searcher("naive", &set, semantics, KINDS[0]), &haystack);
            for form in FORMS {
                let searcher = searcher(form, &set, semantics, KINDS[0]);
                for size in [97, 1024, 9999] {
                    let (mut stream, mut found) = (searcher.stream(), Vec::new());
                    let mut sink = fyke::ForEach(|m: fyke::StreamMatch| {
                        found.push(Match::in_memory(m));
                        ControlFlow::Continue(())
                    });
                    for chunk in haystack.chunks(size) {
                        assert!(stream.feed(chunk, &mut sink).is_continue());
                    }
                    assert!(stream.finish(&mut sink).is_continue());
                    assert!(found == wanted, "{form}, {semantics}, chunks of {size}");
                }
            }
        }
    }
}

#[test]
fn threads_share_a_haystack_of_runs() {
    let haystack = haystack(900_000);
    for set in sets() {
        let wanted = scan(&searcher("ac-dfa", &set, Semantics::All, KINDS[0]), &haystack);
        for form in FORMS {
            let builder = Searcher::builder().engine(form).threads(3);
            let searcher = builder.build(&set).unwrap();
            assert!(scan(&searcher, &haystack) == wanted, "{form}");
            assert_eq!(searcher.count(&haystack), wanted.len() as u64, "{form}");
        }
    }
}

/// A scan that ends within a run gave every match before that, in order.
#[test]
fn a_scan_may_end_within_a_run() {
    let (set, haystack) = (&sets()[0], haystack(20_000));
    let wanted = scan(&searcher("naive", set, Semantics::All, KINDS[0]), &haystack);
    for form in FORMS {
        let searcher = searcher(form, set, Semantics::All, KINDS[0]);
        for most in [1, 100, 3000, 9000] {
            let mut found = Vec::new();
            let flow = searcher.scan(&haystack, |m| {
                found.push(m);
                if found.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            assert!(flow.is_break() && found == wanted[..most], "{form}, {most}");
        }
    }
}
