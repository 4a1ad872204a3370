//! Panics of the functions and readers that a caller gives: they come through, nothing hangs, and
//! the next call is right.

#[path = "support/watchdog.rs"]
mod watchdog;

use fyke::{Batch, Count, ForEach, MatchKind, PatternSet, Searcher, Semantics, Sink};
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use watchdog::Watchdog;

/// What the functions of these tests panic with.
const WORD: &str = "a panic of the caller";

/// Bytes of a file: several segments for each of eight threads.
const FILE: usize = 3 << 20;

fn searcher(semantics: Semantics, threads: usize) -> Searcher {
    let set = PatternSet::new(["abab", "ab", "abc", "needle", "bab"]).unwrap();
    let builder = Searcher::builder().semantics(semantics).match_kind(MatchKind::LeftmostFirst);
    builder.threads(threads).build(&set).unwrap()
}

const SEMANTICS: [Semantics; 2] = [Semantics::All, Semantics::LeftmostFirst];

/// Panics at a call of a number, counted from 0.
struct Bomb {
    calls: u64,
    at: u64,
}

/// The sinks of these tests never stop a scan.
fn ignore(_: ControlFlow<()>) {}

fn explode() {
    std::panic::panic_any(WORD);
}

impl Bomb {
    fn at(at: u64) -> Self {
        Self { calls: 0, at }
    }

    fn tick(&mut self) {
        if self.calls == self.at {
            explode();
        }
        self.calls += 1;
    }
}

impl Sink for Bomb {
    /// A call for each match, because batches are cut differently from scan to scan.
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        batch.records.iter().for_each(|_| self.tick());
        ControlFlow::Continue(())
    }
}

/// Whether the call panicked with the word.
fn panics<T>(call: impl FnOnce() -> T) -> bool {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(_) => false,
        Err(word) => {
            assert_eq!(word.downcast_ref::<&str>(), Some(&WORD), "another panic");
            true
        }
    }
}

/// All that the calls of a searcher find, by calls that give no function of their own to panic.
fn results(searcher: &Searcher, haystack: &[u8]) -> impl PartialEq + std::fmt::Debug + use<> {
    let mut counts = Vec::new();
    searcher.count_batch(haystack.chunks(1000), &mut counts);
    let mut read = Count::default();
    let _ = searcher.scan_read(haystack, &mut read).unwrap();
    let mut scanned = Vec::new();
    searcher.scan(haystack, |m| scanned.push(m));
    let found: Vec<_> = searcher.find_iter(haystack).collect();
    let replaced = searcher.replace_all_bytes(haystack, &["1", "2", "3", "4", "5"]);
    let counted = (searcher.count(haystack), read.matches, searcher.is_match(haystack));
    (counts, counted, scanned, found, replaced)
}

/// Lets `call` panic at the first, some middle and the last of its calls, which `calls` is the
/// number of, and compares what this searcher and another find afterwards with what they found
/// before.
fn survives(searcher: &Searcher, haystack: &[u8], calls: u64, call: impl Fn(Bomb)) {
    assert!(calls > 0, "nothing would panic");
    let _watchdog = Watchdog::start();
    let other = Searcher::new(["ba", "c"]).unwrap();
    let text = b"abcabababcab needle ab";
    let short = (results(searcher, text), results(&other, text));
    let before = (haystack.len() < 100_000).then(|| results(searcher, haystack));
    for at in [0, 1, calls / 2, calls - 1] {
        let panicked = panics(|| call(Bomb::at(at.min(calls - 1))));
        assert!(panicked, "no panic at call {at} of {calls}");
        assert_eq!((results(searcher, text), results(&other, text)), short);
        if let Some(before) = &before {
            assert_eq!(&results(searcher, haystack), before);
        }
    }
    // Without a panic the calls end.
    assert!(!panics(|| call(Bomb::at(u64::MAX))));
}

/// How often `call` calls.
fn calls_of(call: impl Fn(&mut Bomb)) -> u64 {
    let mut bomb = Bomb::at(u64::MAX);
    call(&mut bomb);
    bomb.calls
}

/// Haystacks with no gaps between matches, and with few matches.
fn haystacks(len: usize) -> [Vec<u8>; 2] {
    let mut sparse = vec![b'-'; len];
    for at in (5..len - 10).step_by(len / 7) {
        sparse[at..at + 6].copy_from_slice(b"needle");
    }
    [b"abab".repeat(len / 4), sparse]
}

#[test]
fn functions_of_scan_panic() {
    for semantics in SEMANTICS {
        let searcher = searcher(semantics, 1);
        for haystack in haystacks(5000) {
            let scan = |bomb: &mut Bomb| searcher.scan(&haystack, |_| bomb.tick());
            survives(&searcher, &haystack, calls_of(scan), |mut bomb| scan(&mut bomb));
            let once = |bomb: &mut Bomb| searcher.once(&haystack, |_| bomb.tick());
            survives(&searcher, &haystack, calls_of(once), |mut bomb| once(&mut bomb));
        }
    }
}

#[test]
fn sinks_of_scan_into_and_scan_read_panic() {
    for semantics in SEMANTICS {
        let searcher = searcher(semantics, 1);
        for haystack in haystacks(700_000) {
            let scan = |bomb: &mut Bomb| ignore(searcher.scan_into(&haystack, bomb));
            survives(&searcher, &haystack, calls_of(scan), |mut bomb| scan(&mut bomb));
            let read = |bomb: &mut Bomb| ignore(searcher.scan_read(&haystack[..], bomb).unwrap());
            survives(&searcher, &haystack, calls_of(read), |mut bomb| read(&mut bomb));
        }
    }
}

#[test]
fn sinks_of_several_threads_panic() {
    for haystack in haystacks(FILE) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&haystack).unwrap();
        for threads in [1, 2, 3, 8] {
            for semantics in SEMANTICS {
                let searcher = searcher(semantics, threads);
                let read = |bomb: &mut Bomb| {
                    let mut each = ForEach(|_| {
                        bomb.tick();
                        ControlFlow::Continue(())
                    });
                    ignore(searcher.scan_file(file.path(), &mut each).unwrap());
                };
                survives(&searcher, &haystack, calls_of(read), |mut bomb| read(&mut bomb));
                let scan = |bomb: &mut Bomb| ignore(searcher.scan_into(&haystack, bomb));
                survives(&searcher, &haystack, calls_of(scan), |mut bomb| scan(&mut bomb));
            }
        }
    }
}

#[test]
fn functions_of_batches_panic() {
    for semantics in SEMANTICS {
        let searcher = searcher(semantics, 1);
        for haystack in haystacks(90_000) {
            for size in [50, 1000, 20_000] {
                let scan = |bomb: &mut Bomb| {
                    let _ =
                        searcher.scan_batch(haystack.chunks(size), |_, batch| bomb.on_batch(batch));
                };
                survives(&searcher, &haystack, calls_of(scan), |mut bomb| scan(&mut bomb));
                // The iterator of the haystacks panics.
                let count = |bomb: &mut Bomb| {
                    let haystacks = haystack.chunks(size).inspect(|_| bomb.tick());
                    searcher.count_batch(haystacks, &mut Vec::new());
                };
                survives(&searcher, &haystack, calls_of(count), |mut bomb| count(&mut bomb));
            }
        }
    }
}

#[test]
fn sinks_of_streams_panic() {
    for semantics in SEMANTICS {
        let searcher = searcher(semantics, 1);
        for haystack in haystacks(20_000) {
            for size in [1, 100, 7000] {
                let feed = |bomb: &mut Bomb| {
                    let mut stream = searcher.stream();
                    haystack.chunks(size).for_each(|chunk| ignore(stream.feed(chunk, bomb)));
                    let _ = stream.finish(bomb);
                };
                survives(&searcher, &haystack, calls_of(feed), |mut bomb| feed(&mut bomb));
            }
        }
    }
}

/// A reader that panics.
struct Explosive<'a>(&'a [u8], &'a mut Bomb);

impl Read for Explosive<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.1.tick();
        let n = to.len().min(1000);
        self.0.read(&mut to[..n])
    }
}

#[test]
fn readers_panic() {
    for semantics in SEMANTICS {
        let searcher = searcher(semantics, 1);
        for haystack in haystacks(20_000) {
            let scan = |bomb: &mut Bomb| {
                ignore(
                    searcher.scan_read(Explosive(&haystack, bomb), &mut Count::default()).unwrap(),
                );
            };
            survives(&searcher, &haystack, calls_of(scan), |mut bomb| scan(&mut bomb));
            let find = |bomb: &mut Bomb| {
                let found = searcher.stream_find_iter(Explosive(&haystack, bomb));
                assert!(found.map(Result::unwrap).count() > 0);
            };
            survives(&searcher, &haystack, calls_of(find), |mut bomb| find(&mut bomb));
            let replace = |bomb: &mut Bomb| {
                let by = ["x"; 5];
                searcher.stream_replace_all(Explosive(&haystack, bomb), io::sink(), &by).unwrap();
            };
            survives(&searcher, &haystack, calls_of(replace), |mut bomb| replace(&mut bomb));
        }
    }
}

#[test]
fn functions_of_replacements_and_users_of_iterators_panic() {
    for semantics in SEMANTICS {
        let searcher = searcher(semantics, 1);
        for haystack in haystacks(20_000) {
            let text = std::str::from_utf8(&haystack).unwrap();
            let replace = |bomb: &mut Bomb| {
                searcher.replace_all_with(text, &mut String::new(), |_, _, _| {
                    bomb.tick();
                    true
                });
            };
            survives(&searcher, &haystack, calls_of(replace), |mut bomb| replace(&mut bomb));
            let copy = |bomb: &mut Bomb| {
                let with = |_: &_, _: &[u8], _: &mut _| {
                    bomb.tick();
                    Ok(())
                };
                searcher.stream_replace_all_with(&haystack[..], io::sink(), with).unwrap();
            };
            survives(&searcher, &haystack, calls_of(copy), |mut bomb| copy(&mut bomb));
            let iterate = |bomb: &mut Bomb| searcher.find_iter(text).for_each(|_| bomb.tick());
            survives(&searcher, &haystack, calls_of(iterate), |mut bomb| iterate(&mut bomb));
        }
    }
}

/// A call within a call takes a state of its own, and a panic of the inner one, caught within the
/// outer one, leaves the outer one as it was.
#[test]
fn a_panic_within_a_call_within_a_call() {
    let _watchdog = Watchdog::start();
    let searcher = searcher(Semantics::LeftmostFirst, 1);
    let text = "abababcab needle abc".repeat(300);
    let mut expected = Vec::new();
    searcher.scan(&text, |m| expected.push(m));
    let mut found = Vec::new();
    searcher.scan(&text, |m| {
        found.push(m);
        assert!(panics(|| searcher.scan(&text, |_| explode())));
        assert!(panics(|| searcher.find_iter(&text).for_each(|_| explode())));
    });
    assert_eq!(found, expected);
}

#[test]
fn calls_within_calls_deeper_than_states_are_kept() {
    fn count(searcher: &Searcher, depth: usize) -> u64 {
        let mut sum = 0;
        searcher.scan("ab ab", |_| {
            sum += 1 + if depth > 0 { count(searcher, depth - 1) } else { 0 };
        });
        sum
    }
    let _watchdog = Watchdog::start();
    let searcher = searcher(Semantics::All, 1);
    assert_eq!(count(&searcher, 7), 2 * ((1 << 8) - 1));
    assert_eq!(count(&searcher, 7), 2 * ((1 << 8) - 1));
}
