//! One sink per thread.

use super::{Haystack, OnDrop, ReadBuffer, Segmentation, Threads};
use fyke_core::{Matcher, Scratch, Sink};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Scans with one sink per thread and returns the sinks.
///
/// Each free thread takes the next segment, so a sink sees segments in ascending order, but not
/// all of them. If a sink breaks, all threads stop after their current segments.
///
/// # Errors
/// Reading the haystack fails.
///
/// # Panics
/// With the panic of a sink, of the matcher or of the function that reads. It stops all threads.
///
/// ```
/// use fyke_core::{Count, Engine, Options, PatternSet};
/// use fyke_cpu::{engine::ac_dfa, parallel::{Haystack, fold}};
/// let set = PatternSet::new(["ab", "b"])?;
/// let matcher = ac_dfa::ENGINE.compile(&set, &Options::default())?;
/// let haystack = b"ab".repeat(1 << 20);
/// let counts = fold(&*matcher, Haystack::Slice(&haystack), 2, Count::default)?;
/// assert_eq!(counts.iter().map(|c| c.matches).sum::<u64>(), 2 << 20);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fold<S: Sink + Send>(
    matcher: &dyn Matcher,
    haystack: Haystack<'_>,
    threads: usize,
    make: impl Fn() -> S + Sync,
) -> io::Result<Vec<S>> {
    fold_each(&[matcher], haystack, threads, make)
}

/// Like [`fold`], with several copies of a matcher: thread i scans with copy `i % matchers.len()`.
///
/// A matcher is immutable, so threads can share it; only its place in memory differs. Zha and
/// Sahni 2011 and Zha 2010 scan with one copy per thread, and this function measures the
/// difference.
///
/// # Errors
/// Reading the haystack fails.
///
/// # Panics
/// There is no matcher, or the matchers are of different sets. Also as [`fold`] does.
pub fn fold_each<S: Sink + Send>(
    matchers: &[&dyn Matcher],
    haystack: Haystack<'_>,
    threads: usize,
    make: impl Fn() -> S + Sync,
) -> io::Result<Vec<S>> {
    let set = matchers.first().expect("at least one matcher").set();
    assert!(
        matchers[1..].iter().all(|m| m.set().digest() == set.digest()),
        "matchers of different sets would find different things on each thread"
    );
    fold_segments(matchers, Segmentation::new(matchers[0], haystack), threads, make)
}

/// Scans segments of any size.
pub(super) fn fold_segments<S: Sink + Send>(
    matchers: &[&dyn Matcher],
    cut: Segmentation<'_>,
    threads: usize,
    make: impl Fn() -> S + Sync,
) -> io::Result<Vec<S>> {
    let (next, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let work = |thread: usize| {
        let stop_all = OnDrop(|| stop.store(true, Ordering::Relaxed));
        let mut sink = make();
        work(matchers[thread % matchers.len()], cut, &next, &stop, &mut sink)?;
        stop_all.disarm();
        Ok(sink)
    };
    let work = &work;
    let sinks: Vec<io::Result<S>> = std::thread::scope(|scope| {
        let others = Threads::start(scope, (1..cut.useful(threads)).map(|i| move || work(i)));
        let mine = work(0);
        std::iter::once(mine).chain(others.join()).collect()
    });
    sinks.into_iter().collect()
}

fn work(
    matcher: &dyn Matcher,
    cut: Segmentation<'_>,
    next: &AtomicU64,
    stop: &AtomicBool,
    sink: &mut dyn Sink,
) -> io::Result<()> {
    let (mut scratch, mut buffer) = (Scratch::new(), ReadBuffer::default());
    while let Some(i) = cut.take(next, stop) {
        cut.fill(matcher, i, &mut buffer)?;
        if matcher.scan(cut.view(i, &buffer), &mut scratch, sink).is_break() {
            stop.store(true, Ordering::Relaxed);
        }
    }
    Ok(())
}
