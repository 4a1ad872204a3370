//! Scans of small segments in small batches, and what ends them early.

use super::matcher;
use crate::parallel::fold::fold_segments;
use crate::parallel::ordered::scan_segments;
use crate::parallel::{Haystack, Segment, Segmentation};
use fyke_core::{
    Batch, Block, Footprint, Info, Matcher, PatternSet, Scratch, Sink, StreamMatch, oracle,
};
use std::any::Any;
use std::io;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// Bytes that a segment owns.
pub(super) const SIZE: usize = 32;
/// Segments of a haystack: enough for eight threads.
pub(super) const SEGMENTS: usize = 16;
/// The maximum number of records that a thread holds for a segment that is not next.
const MOST_HELD: usize = 16;

/// The payload of the panics of these tests.
#[derive(Debug, PartialEq)]
struct Position(usize);

/// Panics without a message on standard error.
pub(super) fn panic_at(position: usize) -> ! {
    resume_unwind(Box::new(Position(position)))
}

/// What `body` returns, or the position of its [`panic_at`].
pub(super) fn caught<T>(body: impl FnOnce() -> T) -> Result<T, usize> {
    let position = |panic: Box<dyn Any + Send>| match panic.downcast::<Position>() {
        Ok(position) => position.0,
        Err(other) => resume_unwind(other),
    };
    catch_unwind(AssertUnwindSafe(body)).map_err(position)
}

/// Far longer than any test takes on a busy machine under an emulator.
const HANGS: Duration = Duration::from_secs(300);

/// Runs `body` on another thread and fails if it hangs.
pub(super) fn in_time<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> T {
    let (to, from) = mpsc::channel();
    let thread = std::thread::spawn(move || to.send(catch_unwind(AssertUnwindSafe(body))));
    let outcome = from.recv_timeout(HANGS).expect("no thread hangs");
    thread.join().unwrap().unwrap();
    outcome.unwrap_or_else(|panic| resume_unwind(panic))
}

/// A haystack with its matcher and its matches.
pub(super) struct Case {
    pub(super) bytes: Vec<u8>,
    pub(super) matcher: SmallBatches,
    pub(super) expected: Vec<StreamMatch>,
}

/// Passes on batches of one position each, and panics where a block begins.
pub(super) struct SmallBatches {
    inner: Arc<dyn Matcher>,
    /// Offset of the first owned byte of the block that it panics at.
    pub(super) panics_at: Option<usize>,
}

impl Case {
    fn new(bytes: Vec<u8>, patterns: &[&str]) -> Self {
        let inner = matcher(patterns);
        let expected = oracle::find_all(inner.set(), &bytes);
        Case { bytes, matcher: SmallBatches { inner, panics_at: None }, expected }
    }

    /// Several matches at every position: segments report in parts.
    pub(super) fn dense() -> Self {
        Case::new(vec![b'a'; SIZE * SEGMENTS], &["a", "aa", "aaa", "aaaa"])
    }

    /// Few matches, one of them across every border of segments.
    pub(super) fn sparse() -> Self {
        let mut bytes = vec![b'.'; SIZE * SEGMENTS];
        (1..SEGMENTS).for_each(|i| bytes[i * SIZE - 1..i * SIZE + 1].copy_from_slice(b"ab"));
        bytes[SIZE / 2] = b'b';
        Case::new(bytes, &["ab", "b"])
    }

    pub(super) fn slice(&self) -> Haystack<'_> {
        Haystack::Slice(&self.bytes)
    }

    fn cut<'a>(&self, haystack: Haystack<'a>) -> Segmentation<'a> {
        let overlap = self.matcher.set().overlap() as u64;
        Segmentation { haystack, size: SIZE as u64, overlap, most_threads: usize::MAX }
    }

    pub(super) fn scan(
        &self,
        haystack: Haystack<'_>,
        threads: usize,
        each: &mut dyn FnMut(Segment<'_>) -> ControlFlow<()>,
    ) -> io::Result<ControlFlow<()>> {
        scan_segments(&self.matcher, self.cut(haystack), threads, MOST_HELD, each)
    }

    pub(super) fn fold<S: Sink + Send>(
        &self,
        haystack: Haystack<'_>,
        threads: usize,
        make: impl Fn() -> S + Sync,
    ) -> io::Result<Vec<S>> {
        fold_segments(&[&self.matcher], self.cut(haystack), threads, make)
    }

    /// The matches that the segment with this first owned byte owns.
    pub(super) fn expected_of(&self, start: usize) -> Vec<StreamMatch> {
        let owned = start as u64 + 1..=(start + SIZE) as u64;
        self.expected.iter().filter(|m| owned.contains(&m.end)).copied().collect()
    }
}

/// The first byte that a block owns.
pub(super) fn start_of(block: &Block<'_>) -> usize {
    block.offset as usize + block.overlap
}

impl Matcher for SmallBatches {
    fn info(&self) -> &'static Info {
        self.inner.info()
    }

    fn set(&self) -> &PatternSet {
        self.inner.set()
    }

    fn scan(&self, b: Block<'_>, scratch: &mut Scratch, sink: &mut dyn Sink) -> ControlFlow<()> {
        let start = start_of(&b);
        self.inner.scan(b, scratch, &mut OnePosition(sink))?;
        if self.panics_at == Some(start) { panic_at(start) } else { ControlFlow::Continue(()) }
    }

    fn footprint(&self) -> Footprint {
        self.inner.footprint()
    }
}

/// Cuts batches.
struct OnePosition<'a>(&'a mut dyn Sink);

impl Sink for OnePosition<'_> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        let mut positions = batch.records.chunk_by(|a, b| a.end == b.end);
        positions.try_for_each(|records| self.0.on_batch(&Batch { records, ..*batch }))
    }
}
