//! All matches in order on the calling thread, while other threads scan ahead.

use super::{Haystack, OnDrop, ReadBuffer, Segment, Segmentation, Threads};
use crate::channel::{Receiver, Sender, bounded};
use fyke_core::{Batch, Block, Matcher, PatternSet, Record, Scratch, Sink, SortBuffer, Sorter};
use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// The maximum number of records that a thread holds for a segment that is not next: 2 MiB.
const HELD_RECORDS: usize = 256 << 10;

/// Buffers in flight per thread.
const BUFFERS_PER_THREAD: usize = 3;

/// Receives segments in order.
type Each<'a> = dyn FnMut(Segment<'_>) -> ControlFlow<()> + 'a;

/// Scans, and calls `each` on this thread with the matches of the segments in order. Every segment
/// is passed at least once, even without matches; its last call has `last` set.
///
/// # Errors
/// Reading the haystack fails. Everything before the failure has been passed to `each`.
///
/// # Panics
/// With the panic of `each`, of the matcher or of the function that reads. It stops all threads.
pub fn scan(
    matcher: &dyn Matcher,
    haystack: Haystack<'_>,
    threads: usize,
    each: &mut Each<'_>,
) -> io::Result<ControlFlow<()>> {
    scan_segments(matcher, Segmentation::new(matcher, haystack), threads, HELD_RECORDS, each)
}

/// Scans segments of any size. A thread holds at most about `most_held` records for a segment that
/// is not next.
pub(super) fn scan_segments(
    matcher: &dyn Matcher,
    cut: Segmentation<'_>,
    threads: usize,
    most_held: usize,
    each: &mut Each<'_>,
) -> io::Result<ControlFlow<()>> {
    let threads = cut.useful(threads);
    if threads == 1 {
        return scan_alone(matcher, cut, each);
    }
    let shared = &SharedState::new(threads, cut, most_held);
    std::thread::scope(|scope| {
        let (done_to, done) = bounded(threads);
        let start = |_| {
            let done_to = done_to.clone();
            move || shared.work(matcher, &done_to)
        };
        let workers = Threads::start(scope, (0..threads).map(start));
        drop(done_to);
        if workers.0.is_empty() {
            return scan_alone(matcher, cut, each);
        }
        // Declared last, so dropped first if `each` panics: threads stop before they are joined.
        let (stop_all, done) = (OnDrop(|| shared.stop()), done);
        let flow = shared.collect(matcher.set(), &done, each);
        drop((done, stop_all));
        workers.join();
        flow
    })
}

/// What a thread writes to, segment after segment.
#[derive(Default)]
struct SegmentScratch {
    scan: Scratch,
    sort: SortBuffer,
}

/// The same on the calling thread alone.
fn scan_alone(
    matcher: &dyn Matcher,
    cut: Segmentation<'_>,
    each: &mut Each<'_>,
) -> io::Result<ControlFlow<()>> {
    let mut scratch = SegmentScratch { scan: Scratch::following(), sort: SortBuffer::default() };
    let mut buffer = ReadBuffer::default();
    for i in 0..cut.count() {
        cut.fill(matcher, i, &mut buffer)?;
        let block = cut.view(i, &buffer);
        if scan_segment(matcher, block, &mut scratch, &mut PassOn { block, each }).is_break()
            || each(end_of(block, matcher.set())).is_break()
        {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

fn scan_segment(
    matcher: &dyn Matcher,
    block: Block<'_>,
    scratch: &mut SegmentScratch,
    sink: &mut dyn Sink,
) -> ControlFlow<()> {
    let mut sorted = Sorter::new(matcher.set(), block.offset, &mut scratch.sort, sink);
    matcher.scan(block, &mut scratch.scan, &mut sorted)?;
    sorted.finish()
}

fn end_of<'a>(block: Block<'a>, set: &'a PatternSet) -> Segment<'a> {
    let batch = Batch { base: block.offset, records: &[], ordered: true, single: false, set };
    Segment { block, batch, last: true }
}

/// Passes batches on together with their block.
struct PassOn<'a, 'b> {
    block: Block<'a>,
    each: &'a mut Each<'b>,
}

impl Sink for PassOn<'_, '_> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        (self.each)(Segment { block: self.block, batch: *batch, last: false })
    }
}

/// What the threads share: segments to take, buffers to fill, and the segment to report next.
struct SharedState<'a> {
    cut: Segmentation<'a>,
    most_held: usize,
    next: AtomicU64,
    stop: AtomicBool,
    turn: Mutex<u64>,
    turned: Condvar,
    spare_to: Sender<Buffers>,
    spare: Receiver<Buffers>,
}

/// Buffers that circulate between the threads and the collector.
#[derive(Default)]
struct Buffers {
    bytes: Arc<ReadBuffer>,
    /// Records whose ends count from the segment's first byte, overlap included.
    records: Vec<Record>,
}

/// Records of segment `index` from a thread.
struct SegmentReport {
    index: u64,
    buffers: io::Result<Buffers>,
    last: bool,
}

impl<'a> SharedState<'a> {
    fn new(threads: usize, cut: Segmentation<'a>, most_held: usize) -> Self {
        let (spare_to, spare) = bounded(threads * BUFFERS_PER_THREAD);
        let shared = SharedState {
            cut,
            most_held,
            next: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            turn: Mutex::new(0),
            turned: Condvar::new(),
            spare_to,
            spare,
        };
        shared.fill_spare();
        shared
    }

    fn fill_spare(&self) {
        while self.spare_to.try_send(Buffers::default()).is_ok() {}
    }

    /// The work of a thread. If it panics, the other threads stop.
    fn work(&self, matcher: &dyn Matcher, to: &Sender<SegmentReport>) {
        let stop_all = OnDrop(|| self.stop());
        self.scan_free_segments(matcher, to);
        stop_all.disarm();
    }

    /// The loop of a thread: take buffers, then a segment, scan, report. Taking the buffers first
    /// guarantees that the next segment to report has some.
    fn scan_free_segments(&self, matcher: &dyn Matcher, to: &Sender<SegmentReport>) {
        let mut scratch = SegmentScratch::default();
        while let Ok(buffers) = self.spare.recv() {
            let Some(index) = self.cut.take(&self.next, &self.stop) else { return };
            let buffers = self.scan_one(matcher, index, buffers, &mut scratch, to);
            let failed = buffers.is_err();
            // A segment that a stop cut short must not pass for a complete one.
            if self.is_stopped()
                || to.send(SegmentReport { index, buffers, last: true }).is_err()
                || failed
            {
                return;
            }
        }
    }

    fn scan_one(
        &self,
        matcher: &dyn Matcher,
        index: u64,
        mut buffers: Buffers,
        scratch: &mut SegmentScratch,
        to: &Sender<SegmentReport>,
    ) -> io::Result<Buffers> {
        let mut bytes = Arc::try_unwrap(buffers.bytes).unwrap_or_default();
        self.cut.fill(matcher, index, &mut bytes)?;
        let bytes = Arc::new(bytes);
        let block = self.cut.view(index, &bytes);
        buffers.records.clear();
        let mut hold = SegmentBuffer {
            shared: self,
            index,
            bytes: &bytes,
            offset: block.offset,
            records: buffers.records,
            to,
        };
        // A break means that the scan was stopped, so no one reads the rest.
        let _ = scan_segment(matcher, block, scratch, &mut hold);
        let records = hold.records;
        Ok(Buffers { bytes, records })
    }

    /// Sorts the reports by segment and passes them on.
    fn collect(
        &self,
        set: &PatternSet,
        from: &Receiver<SegmentReport>,
        each: &mut Each<'_>,
    ) -> io::Result<ControlFlow<()>> {
        let mut waiting: BTreeMap<u64, SegmentReport> = BTreeMap::new();
        for turn in 0..self.cut.count() {
            self.begin_turn(turn);
            let mut last = false;
            while !last {
                let report = next_report(turn, &mut waiting, from)?;
                last = report.last;
                if self.hand_on(set, report, each)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn hand_on(
        &self,
        set: &PatternSet,
        report: SegmentReport,
        each: &mut Each<'_>,
    ) -> io::Result<ControlFlow<()>> {
        let buffers = report.buffers?;
        let block = self.cut.view(report.index, &buffers.bytes);
        let records = &buffers.records;
        let batch = Batch { base: block.offset, records, ordered: true, single: false, set };
        let flow = each(Segment { block, batch, last: report.last });
        if report.last {
            let _ = self.spare_to.try_send(buffers);
        }
        Ok(flow)
    }

    fn begin_turn(&self, turn: u64) {
        *self.turn.lock().unwrap_or_else(PoisonError::into_inner) = turn;
        self.turned.notify_all();
    }

    /// Waits until segment `index` is next to be reported. Returns false if the scan was stopped.
    fn await_turn(&self, index: u64) -> bool {
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        while *turn < index && !self.is_stopped() {
            turn = self.turned.wait(turn).unwrap_or_else(PoisonError::into_inner);
        }
        !self.is_stopped()
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Stops all threads, including those that wait for their turn or for buffers.
    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.begin_turn(u64::MAX);
        self.fill_spare();
    }
}

/// The next report of segment `turn`. Reports of later segments are set aside. They are complete,
/// because only the next segment may report in parts.
fn next_report(
    turn: u64,
    waiting: &mut BTreeMap<u64, SegmentReport>,
    from: &Receiver<SegmentReport>,
) -> io::Result<SegmentReport> {
    if let Some(report) = waiting.remove(&turn) {
        return Ok(report);
    }
    loop {
        let report = from.recv().map_err(|_| io::Error::other("a scanning thread ended early"))?;
        if report.index == turn {
            return Ok(report);
        }
        waiting.insert(report.index, report);
    }
}

/// Holds the records of a segment until it is complete. If there are too many, reports them in
/// parts once the segment is next.
struct SegmentBuffer<'a> {
    shared: &'a SharedState<'a>,
    index: u64,
    bytes: &'a Arc<ReadBuffer>,
    offset: u64,
    records: Vec<Record>,
    to: &'a Sender<SegmentReport>,
}

impl SegmentBuffer<'_> {
    fn report(&mut self) -> ControlFlow<()> {
        let records =
            std::mem::replace(&mut self.records, Vec::with_capacity(self.shared.most_held));
        let buffers = Ok(Buffers { bytes: self.bytes.clone(), records });
        let stopped = !self.shared.await_turn(self.index);
        if stopped
            || self.to.send(SegmentReport { index: self.index, buffers, last: false }).is_err()
        {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

impl Sink for SegmentBuffer<'_> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        let shift = (batch.base - self.offset) as u32;
        let moved = |r: &Record| Record { end: r.end + shift, pattern: r.pattern };
        self.records.extend(batch.records.iter().map(moved));
        if self.shared.is_stopped() {
            return ControlFlow::Break(());
        }
        let is_full = self.records.len() >= self.shared.most_held;
        if is_full { self.report() } else { ControlFlow::Continue(()) }
    }
}
