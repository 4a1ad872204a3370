//! A panic or a break anywhere ends all threads, and a panic reaches the caller as it was.

use super::matcher;
use super::support::{Case, SEGMENTS, SIZE, caught, in_time, panic_at, start_of};
use crate::parallel::{Haystack, SEGMENT, Segment, fold, scan};
use fyke_core::{Batch, Collect, Count, Matcher, Sink, StreamMatch};
use std::io;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

const THREADS: std::ops::RangeInclusive<usize> = 1..=8;

/// Calls `check` with dense and with sparse matches, for every number of threads.
fn for_each_case(check: impl Fn(&mut Case, usize) + Send + 'static) {
    in_time(move || {
        for mut case in [Case::dense(), Case::sparse()] {
            THREADS.for_each(|threads| check(&mut case, threads));
        }
    });
}

/// Checks that the matcher still finds all matches.
fn finds_all(case: &Case, threads: usize) {
    let mut found = Vec::new();
    let flow = case.scan(case.slice(), threads, &mut |s| {
        found.extend(s.batch.matches());
        ControlFlow::Continue(())
    });
    assert!(flow.unwrap().is_continue());
    assert_eq!(found, case.expected, "{threads} threads");
}

#[test]
fn a_panic_at_any_batch_reaches_the_caller() {
    for_each_case(|case, threads| {
        let mut batches = 0;
        for last in 1.. {
            let mut seen = 0;
            let outcome = caught(|| {
                case.scan(case.slice(), threads, &mut |_| {
                    seen += 1;
                    if seen == last { panic_at(last) } else { ControlFlow::Continue(()) }
                })
            });
            match outcome {
                Err(position) => assert_eq!((position, seen), (last, last), "{threads} threads"),
                Ok(flow) => {
                    assert!(flow.unwrap().is_continue());
                    batches = seen;
                    break;
                }
            }
        }
        assert!(batches >= SEGMENTS, "{threads} threads: {batches}");
        finds_all(case, threads);
    });
}

#[test]
fn a_break_at_any_batch_ends_the_scan() {
    for_each_case(|case, threads| {
        for last in 1.. {
            let mut seen = 0;
            let flow = case.scan(case.slice(), threads, &mut |_| {
                seen += 1;
                if seen == last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            if flow.unwrap().is_continue() {
                assert!(seen >= SEGMENTS && seen < last, "{threads} threads: {seen}");
                break;
            }
            assert_eq!(seen, last, "{threads} threads");
        }
        finds_all(case, threads);
    });
}

/// The function that scans gets a segment's batches, one after the other, and then its end.
struct Segments<'a> {
    case: &'a Case,
    ended: usize,
    /// The batches of the unfinished segment.
    parts: usize,
    most_parts: usize,
    found: Vec<StreamMatch>,
}

impl<'a> Segments<'a> {
    fn new(case: &'a Case) -> Self {
        Segments { case, ended: 0, parts: 0, most_parts: 0, found: Vec::new() }
    }

    fn check(&mut self, s: Segment<'_>) -> ControlFlow<()> {
        let start = start_of(&s.block);
        assert_eq!(start, self.ended * SIZE, "the segment that is next");
        self.found.extend(s.batch.matches());
        self.parts += 1;
        self.most_parts = self.most_parts.max(self.parts);
        if s.last {
            let all = self.case.expected_of(start);
            assert!(self.found == all, "{} of {} at {start}", self.found.len(), all.len());
            self.found.clear();
            (self.ended, self.parts) = (self.ended + 1, 0);
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn the_end_of_a_segment_comes_after_its_batches() {
    for_each_case(|case, threads| {
        let mut segments = Segments::new(case);
        let flow = case.scan(case.slice(), threads, &mut |s| segments.check(s));
        assert!(flow.unwrap().is_continue());
        assert_eq!((segments.ended, segments.parts), (SEGMENTS, 0), "{threads} threads");
        let is_dense = case.expected.len() > case.bytes.len();
        assert!(!is_dense || segments.most_parts > 4, "{}", segments.most_parts);
    });
}

/// Also, a segment that the panic of another thread cut short must not pass for a complete one.
#[test]
fn a_panic_of_the_matcher_reaches_the_caller() {
    for_each_case(|case, threads| {
        for start in (0..SEGMENTS).map(|i| i * SIZE) {
            case.matcher.panics_at = Some(start);
            let mut segments = Segments::new(case);
            let each = &mut |s: Segment<'_>| segments.check(s);
            let scanned = caught(|| case.scan(case.slice(), threads, each));
            assert_eq!(scanned.err(), Some(start), "{threads} threads");
            assert!(segments.ended * SIZE <= start, "{threads} threads: {}", segments.ended);
            let folded = caught(|| case.fold(case.slice(), threads, Count::default).map(drop));
            assert_eq!(folded.err(), Some(start), "{threads} threads");
        }
        case.matcher.panics_at = None;
        finds_all(case, threads);
    });
}

#[test]
fn a_panic_while_reading_reaches_the_caller() {
    for_each_case(|case, threads| {
        let overlap = case.matcher.set().overlap();
        for start in (0..SEGMENTS).map(|i| i * SIZE) {
            let read = |at: u64, to: &mut [u8]| {
                let from = at as usize;
                if from == start.saturating_sub(overlap) {
                    panic_at(start);
                }
                to.copy_from_slice(&case.bytes[from..from + to.len()]);
                Ok(())
            };
            let haystack = Haystack::ReadAt { len: case.bytes.len() as u64, read: &read };
            let mut segments = Segments::new(case);
            let each = &mut |s: Segment<'_>| segments.check(s);
            let scanned = caught(|| case.scan(haystack, threads, each));
            assert_eq!(scanned.err(), Some(start), "{threads} threads");
            assert!(segments.ended * SIZE <= start, "{threads} threads: {}", segments.ended);
            let folded = caught(|| case.fold(haystack, threads, Count::default).map(drop));
            assert_eq!(folded.err(), Some(start), "{threads} threads");
        }
        finds_all(case, threads);
    });
}

/// Does something with each batch, on any thread.
struct Each<F>(F);

impl<F: Fn(&Batch<'_>)> Sink for Each<F> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        (self.0)(batch);
        ControlFlow::Continue(())
    }
}

#[test]
fn a_panic_of_a_thread_s_sink_reaches_the_caller() {
    for_each_case(|case, threads| {
        for last in 1.. {
            let seen = AtomicUsize::new(0);
            let count = |_: &Batch<'_>| {
                if seen.fetch_add(1, Ordering::Relaxed) + 1 == last {
                    panic_at(last);
                }
            };
            match caught(|| case.fold(case.slice(), threads, || Each(count)).map(drop)) {
                Err(position) => assert_eq!(position, last, "{threads} threads"),
                Ok(done) => {
                    done.unwrap();
                    break;
                }
            }
        }
        let sinks = case.fold(case.slice(), threads, Collect::default).unwrap();
        let mut found: Vec<StreamMatch> = sinks.into_iter().flat_map(|s| s.matches).collect();
        found.sort_unstable();
        assert_eq!(found, case.expected, "{threads} threads");
    });
}

/// Whichever thread panics, the caller's own or another, the rest scan no more than they have to.
#[test]
fn a_panic_of_one_sink_stops_the_others() {
    in_time(|| {
        let case = Case::dense();
        for callers in [true, false] {
            let (caller, scanned) = (std::thread::current().id(), Mutex::new(0));
            let panicked = AtomicBool::new(false);
            let each = |_: &Batch<'_>| {
                let is_callers = std::thread::current().id() == caller;
                if is_callers == callers && !panicked.swap(true, Ordering::Relaxed) {
                    panic_at(1);
                }
                *scanned.lock().unwrap() += 1;
                std::thread::sleep(Duration::from_millis(5));
            };
            let outcome = caught(|| case.fold(case.slice(), 2, || Each(each)).map(drop));
            assert_eq!(outcome.err(), Some(1));
            let scanned = *scanned.lock().unwrap();
            assert!(scanned < SIZE * SEGMENTS / 2, "{scanned} positions after the panic");
        }
    });
}

#[test]
fn a_panic_while_sinks_are_made_reaches_the_caller() {
    for_each_case(|case, threads| {
        let made = AtomicUsize::new(0);
        let make = || {
            let last = made.fetch_add(1, Ordering::Relaxed) + 1 == threads;
            if last { panic_at(threads) } else { Count::default() }
        };
        let outcome = caught(|| case.fold(case.slice(), threads, make).map(drop));
        assert_eq!(outcome.err(), Some(threads));
    });
}

/// Uses segments and buffers as large as outside of tests.
#[test]
fn large_segments_end_as_small_ones_do() {
    in_time(|| {
        let bytes = vec![b'a'; 8 * SEGMENT];
        let haystack = Haystack::Slice(&bytes);
        let m = matcher(&["a", "aa", "aaa", "aaaa"]);
        let run = |threads, last, stop: fn(usize) -> ControlFlow<()>| {
            let mut seen = 0;
            let outcome = caught(|| {
                scan(&*m, haystack, threads, &mut |_| {
                    seen += 1;
                    if seen == last { stop(last) } else { ControlFlow::Continue(()) }
                })
            });
            (outcome, seen)
        };
        for threads in [2, 4] {
            for last in [1, 2, 9] {
                let (panicked, seen) = run(threads, last, |last| panic_at(last));
                assert_eq!((panicked.err(), seen), (Some(last), last), "{threads} threads");
                let (broken, seen) = run(threads, last, |_| ControlFlow::Break(()));
                let flow: io::Result<ControlFlow<()>> = broken.unwrap();
                assert!(flow.unwrap().is_break() && seen == last, "{threads} threads");
            }
        }
        let counts = fold(&*m, haystack, 4, Count::default).unwrap();
        assert_eq!(counts.iter().map(|c| c.matches).sum::<u64>(), 4 * bytes.len() as u64 - 6);
    });
}
