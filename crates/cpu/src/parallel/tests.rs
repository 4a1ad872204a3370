//! Threads must not change the result.

mod stops;
mod support;

use super::{Haystack, SEGMENT, fold, fold_each, scan};
use crate::engine::{ac_dfa, ac_nfa};
use fyke_core::{
    Block, Collect, Count, Engine, Fingerprint, Footprint, Info, Matcher, Options, PatternSet,
    Scratch, Sink, StreamMatch,
};
use std::collections::HashSet;
use std::io;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

fn haystack(len: usize) -> Vec<u8> {
    let mut x = 88172645463325252u64;
    let next = |_| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        b'a' + (x >> 33) as u8 % 3
    };
    (0..len).map(next).collect()
}

fn matcher(patterns: &[&str]) -> Arc<dyn Matcher> {
    ac_dfa::ENGINE.compile(&PatternSet::new(patterns).unwrap(), &Options::default()).unwrap()
}

fn ordered(m: &dyn Matcher, h: Haystack<'_>, threads: usize) -> Vec<StreamMatch> {
    let mut got = Vec::new();
    let flow = scan(m, h, threads, &mut |s| {
        got.extend(s.batch.matches());
        ControlFlow::Continue(())
    });
    assert!(flow.unwrap().is_continue());
    got
}

#[test]
fn any_number_of_threads_gives_the_same_in_order() {
    let bytes = haystack(5 * SEGMENT + 777);
    let m = matcher(&["abcab", "cc", "bacbacba"]);
    let mut whole = Collect::default();
    assert!(m.scan(Block::whole(&bytes), &mut Scratch::new(), &mut whole).is_continue());
    assert!(whole.matches.len() > 1000);
    for threads in [1, 2, 3, 8] {
        assert_eq!(ordered(&*m, Haystack::Slice(&bytes), threads), whole.matches);
    }
}

/// Every position matches several patterns: more records than a thread may hold.
#[test]
fn segments_with_too_many_records_report_in_parts() {
    let bytes = vec![b'a'; 4 * SEGMENT];
    let m = matcher(&["a", "aa", "aaa", "aaaa"]);
    let got = ordered(&*m, Haystack::Slice(&bytes), 2);
    assert_eq!(got.len(), 4 * bytes.len() - 6);
    assert!(got.is_sorted());
}

#[test]
fn folding_equals_scanning() {
    let bytes = haystack(8 * SEGMENT);
    let m = ac_nfa::ENGINE
        .compile(&PatternSet::new(["ab", "b", "cab"]).unwrap(), &Options::default())
        .unwrap();
    let sum = |threads| {
        let parts = fold(&*m, Haystack::Slice(&bytes), threads, Fingerprint::default).unwrap();
        let mut all = Fingerprint::default();
        parts.iter().for_each(|p| all.merge(p));
        (all.matches, all.distinct(), all.sum)
    };
    assert_eq!(sum(1), sum(4));
    assert_eq!(sum(4).0, ordered(&*m, Haystack::Slice(&bytes), 2).len() as u64);
}

/// A matcher that records the threads that scan with it.
struct RecordsThreads {
    inner: Arc<dyn Matcher>,
    threads: Mutex<HashSet<ThreadId>>,
}

impl Matcher for RecordsThreads {
    fn info(&self) -> &'static Info {
        self.inner.info()
    }

    fn set(&self) -> &PatternSet {
        self.inner.set()
    }

    fn scan(&self, b: Block<'_>, scratch: &mut Scratch, sink: &mut dyn Sink) -> ControlFlow<()> {
        self.threads.lock().unwrap().insert(std::thread::current().id());
        self.inner.scan(b, scratch, sink)
    }

    fn footprint(&self) -> Footprint {
        self.inner.footprint()
    }
}

/// One copy per thread, fewer, more, or one for all give the same result, and no copy is shared
/// without need.
#[test]
fn any_number_of_copies_gives_the_same() {
    let bytes = haystack(9 * SEGMENT + 5);
    let patterns = ["abcab", "cc", "bacbacba", "a"];
    let sum = |parts: &[Fingerprint]| {
        let mut all = Fingerprint::default();
        parts.iter().for_each(|p| all.merge(p));
        (all.matches, all.distinct(), all.sum)
    };
    let m = matcher(&patterns);
    let alone = fold(&*m, Haystack::Slice(&bytes), 1, Fingerprint::default).unwrap();
    assert!(sum(&alone).0 > SEGMENT as u64);
    for copies in [1, 2, 3, 4, 7] {
        let noted: Vec<_> = (0..copies)
            .map(|_| RecordsThreads { inner: matcher(&patterns), threads: Mutex::default() })
            .collect();
        let each: Vec<&dyn Matcher> = noted.iter().map(|n| n as &dyn Matcher).collect();
        let parts = fold_each(&each, Haystack::Slice(&bytes), 4, Fingerprint::default).unwrap();
        assert_eq!((parts.len(), sum(&parts)), (4, sum(&alone)), "{copies} copies");
        let users = noted.iter().map(|n| n.threads.lock().unwrap().len());
        assert!(users.max().unwrap() <= 4_usize.div_ceil(copies), "{copies} copies");
    }
}

#[test]
#[should_panic(expected = "different sets")]
fn copies_are_of_one_set() {
    let (one, other) = (matcher(&["a"]), matcher(&["b"]));
    let _ = fold_each(&[&*one, &*other], Haystack::Slice(b"ab"), 2, Count::default);
}

#[test]
fn reading_errors_come_after_what_was_before_them() {
    let bytes = haystack(4 * SEGMENT);
    let m = matcher(&["abcabc"]);
    let read = |at: u64, to: &mut [u8]| {
        if at > 2 * SEGMENT as u64 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        to.copy_from_slice(&bytes[at as usize..at as usize + to.len()]);
        Ok(())
    };
    let h = Haystack::ReadAt { len: bytes.len() as u64, read: &read };
    for threads in [1, 3] {
        let mut ends = Vec::new();
        let got = scan(&*m, h, threads, &mut |s| {
            ends.extend(s.last.then_some(s.block.offset + s.block.bytes.len() as u64));
            ControlFlow::Continue(())
        });
        assert_eq!(got.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(ends, [1, 2, 3].map(|i| i * SEGMENT as u64));
        assert!(fold(&*m, h, threads, Count::default).is_err());
    }
}

#[test]
fn a_break_ends_all_threads() {
    let bytes = haystack(16 * SEGMENT);
    let m = matcher(&["a"]);
    let mut seen = 0;
    let flow = scan(&*m, Haystack::Slice(&bytes), 4, &mut |_| {
        seen += 1;
        ControlFlow::Break(())
    });
    assert!(flow.unwrap().is_break());
    assert_eq!(seen, 1);
}

#[test]
fn nothing_is_scanned_of_nothing() {
    assert_eq!(ordered(&*matcher(&["a"]), Haystack::Slice(b""), 4), []);
}
