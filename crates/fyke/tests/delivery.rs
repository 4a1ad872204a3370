//! When matches arrive: as soon as the semantics allow, and no call reads on after its result.

use fyke::{
    Batch, Collect, Device, Input, Match, MatchKind, PatternSet, Searcher, Semantics, Sink,
    StreamMatch, registry,
};
use fyke_testkit::random::text;
use std::cell::Cell;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Bytes of the chunks that are fed or read.
const CHUNKS: [usize; 5] = [1, 3, 64, 100, 1000];

const KINDS: [MatchKind; 3] =
    [MatchKind::Standard, MatchKind::LeftmostFirst, MatchKind::LeftmostLongest];

/// CPU engines that take the patterns.
fn searchers(patterns: &[&str], semantics: Semantics, kind: MatchKind) -> Vec<Searcher> {
    let set = PatternSet::new(patterns).unwrap();
    let on_cpu = registry::engines().into_iter().filter(|e| e.info().device == Device::Cpu);
    let build = |engine| {
        let builder = Searcher::builder().engine(engine).semantics(semantics).match_kind(kind);
        builder.short_haystacks(true).build(&set).ok()
    };
    let names = on_cpu.map(|e| e.info().name).chain(["ac-dfa:skip=no"]);
    let built: Vec<_> = names.filter_map(build).collect();
    assert!(built.len() > 3, "few engines take {patterns:?}");
    built
}

/// Patterns of which some begin as others do, so that leftmost semantics have to wait.
const PATTERNS: [&str; 6] =
    ["abca", "bcab", "cabcabc", "abcabcabcabcab", "aabb", "ccccbbbbaaaabbbbcccc"];

/// The position up to which a haystack must be known before a match is decided: its end, or under
/// leftmost semantics the end of the longest match that may begin where it begins.
fn decided_at(m: &StreamMatch, semantics: Semantics, max_len: usize) -> u64 {
    match semantics {
        Semantics::LeftmostFirst | Semantics::LeftmostLongest => m.start + max_len as u64,
        _ => m.end,
    }
}

/// Checks that matches arrived with the chunk that decided them, or at the end of the haystack.
fn check_arrivals(
    what: &str,
    arrivals: &[(StreamMatch, u64)],
    (semantics, max_len): (Semantics, usize),
    (chunk, len): (usize, usize),
) {
    assert!(arrivals.len() > 1, "{what}: few matches");
    for (m, at) in arrivals {
        let decided = decided_at(m, semantics, max_len);
        let chunk_end = decided.next_multiple_of(chunk as u64).min(len as u64);
        assert!(*at <= chunk_end, "{what}: {m:?} arrived after {at} bytes, not {chunk_end}");
    }
}

/// Notes after how many bytes each match arrives.
struct Clock<'a> {
    bytes: &'a Cell<u64>,
    arrivals: Vec<(StreamMatch, u64)>,
}

impl Sink for Clock<'_> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        self.arrivals.extend(batch.matches().map(|m| (m, self.bytes.get())));
        ControlFlow::Continue(())
    }
}

/// A reader that gives chunks and counts what it gave.
struct Metered<'a> {
    rest: &'a [u8],
    chunk: usize,
    bytes: &'a Cell<u64>,
}

impl Read for Metered<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let n = self.chunk.min(self.rest.len()).min(to.len());
        to[..n].copy_from_slice(&self.rest[..n]);
        self.rest = &self.rest[n..];
        self.bytes.set(self.bytes.get() + n as u64);
        Ok(n)
    }
}

#[test]
fn streams_pass_on_what_is_decided() {
    let haystack = text(3, 3000, 1);
    for semantics in Semantics::ALL {
        for searcher in searchers(&PATTERNS, semantics, MatchKind::Standard) {
            for chunk in CHUNKS {
                let bytes = Cell::new(0);
                let mut clock = Clock { bytes: &bytes, arrivals: Vec::new() };
                let mut stream = searcher.stream();
                for part in haystack.chunks(chunk) {
                    bytes.set(bytes.get() + part.len() as u64);
                    let _ = stream.feed(part, &mut clock);
                }
                let _ = stream.finish(&mut clock);
                let what = format!("stream in chunks of {chunk}, {searcher:?}");
                let max_len = searcher.set().max_len();
                let sizes = (chunk, haystack.len());
                check_arrivals(&what, &clock.arrivals, (semantics, max_len), sizes);
            }
        }
    }
}

#[test]
fn readers_are_read_no_further_than_matches_need() {
    let haystack = text(3, 3000, 2);
    for semantics in Semantics::ALL {
        for searcher in searchers(&PATTERNS, semantics, MatchKind::Standard) {
            for chunk in CHUNKS {
                let bytes = Cell::new(0);
                let mut clock = Clock { bytes: &bytes, arrivals: Vec::new() };
                let reader = Metered { rest: &haystack, chunk, bytes: &bytes };
                let _ = searcher.scan_read(reader, &mut clock).unwrap();
                let what = format!("scan_read in chunks of {chunk}, {searcher:?}");
                let max_len = searcher.set().max_len();
                let sizes = (chunk, haystack.len());
                check_arrivals(&what, &clock.arrivals, (semantics, max_len), sizes);
            }
        }
    }
}

#[test]
fn iterators_over_readers_read_as_far_as_they_are_asked() {
    let haystack = text(3, 3000, 3);
    for kind in KINDS {
        for searcher in searchers(&PATTERNS, Semantics::All, kind) {
            for chunk in CHUNKS {
                let bytes = Cell::new(0);
                let found =
                    searcher.stream_find_iter(Metered { rest: &haystack, chunk, bytes: &bytes });
                let arrivals: Vec<_> = found.map(|m| (m.unwrap(), bytes.get())).collect();
                let what = format!("stream_find_iter in chunks of {chunk}, {searcher:?}");
                let max_len = searcher.set().max_len();
                let sizes = (chunk, haystack.len());
                check_arrivals(&what, &arrivals, (kind.semantics(), max_len), sizes);
            }
        }
    }
}

/// The shortest time of a few calls, because another process may have the core in between.
fn shortest<T: PartialEq + std::fmt::Debug>(expected: T, call: impl Fn() -> T) -> Duration {
    let time = |_| {
        let start = Instant::now();
        let got = call();
        let took = start.elapsed();
        assert_eq!(got, expected);
        took
    };
    (0..5).map(time).min().unwrap()
}

#[test]
fn calls_for_the_first_match_end_there() {
    const LIMIT: Duration = Duration::from_millis(1);
    let mut haystack = vec![b'-'; 64 << 20];
    haystack[32..38].copy_from_slice(b"needle");
    let spans = |found: Option<Match>| found.map(|m| m.range());
    for kind in KINDS {
        for searcher in searchers(&["needle", "haystack", "pattern"], Semantics::All, kind) {
            let input = || Input::new(&haystack);
            let from = || input().span(32..).anchored(true);
            for took in [
                shortest(true, || searcher.is_match(input())),
                shortest(Some(32..38), || spans(searcher.find(input()))),
                shortest(Some(32..38), || spans(searcher.earliest(input()))),
                shortest(Some(32..38), || spans(searcher.find_iter(input()).next())),
                shortest(Some(32..38), || spans(searcher.find_overlapping_iter(input()).next())),
                shortest(Some(32..38), || spans(searcher.find(from()))),
                shortest(None, || spans(searcher.find(input().anchored(true)))),
                shortest(false, || searcher.is_match(input().anchored(true))),
            ] {
                assert!(took < LIMIT, "{took:?} for the first match, {searcher:?}");
            }
        }
    }
}

#[test]
fn a_scan_that_is_stopped_ends_there() {
    const LIMIT: Duration = Duration::from_millis(20);
    let mut haystack = vec![b'-'; 64 << 20];
    haystack[32..38].copy_from_slice(b"needle");
    for semantics in [Semantics::All, Semantics::Standard] {
        for searcher in searchers(&["needle", "pattern"], semantics, MatchKind::Standard) {
            let stop = || searcher.scan(&haystack, |_| ControlFlow::Break(()));
            let took = shortest(ControlFlow::Break(()), stop);
            assert!(took < LIMIT, "{took:?} until the scan stopped, {searcher:?}");
        }
    }
}

/// Wants each match at once, and does not stop.
#[derive(Default)]
struct Eager(Collect);

impl Sink for Eager {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        self.0.on_batch(batch)
    }

    fn wants_first(&self) -> bool {
        true
    }
}

#[test]
fn a_sink_that_wants_the_first_match_and_goes_on_gets_each_match_once() {
    for haystack in [&b"abcabcaabb"[..], &text(3, 200, 5), &text(3, 5000, 6)] {
        for searcher in searchers(&PATTERNS, Semantics::All, MatchKind::Standard) {
            let (mut eager, mut all) = (Eager::default(), Collect::default());
            assert!(searcher.scan_into(haystack, &mut eager).is_continue());
            assert!(searcher.scan_into(haystack, &mut all).is_continue());
            assert_eq!(eager.0.matches, all.matches, "{searcher:?}");
        }
    }
}
