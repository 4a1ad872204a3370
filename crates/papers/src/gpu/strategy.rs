//! Host-to-host strategies: pinned text goes to the device in segments, and the states of its
//! automaton come back.
//!
//! Module [`model`](crate::model) defines the strategies and predicts their times by the papers'
//! theorems. Here they run, on engines that write a state for each byte ([`States`]), because the
//! theorems assume that all segments take the same time.
//!
//! Three queues work side by side: one writes segments to the device, one processes them, one
//! reads results back. A segment is processed after it was written, and read back after it was
//! processed; what else has to wait is what makes a [`Strategy`]. A segment begins with an
//! overlap, so that matches across its border are found.
//!
//! It is never the fastest way: four bytes come back for each that goes. The product overlaps
//! copies and searches in `fyke_gpu`'s pipeline instead.
//!
//! Source: X. Zha, *Multi-pattern string matching algorithms*, dissertation, 2010, section 6.4.1,
//! figures 6-6 and 6-7; X. Zha and S. Sahni, *Multipattern string matching on a GPU*, 2011,
//! section V. The papers' strategy A has a queue (a stream) for each segment and leaves the order
//! of equal tasks to the device; here they are in order. Zero-copy is that of N.-P. Tran et al.,
//! *Cache-conscious Aho-Corasick on a GPU*, 2012, section 4.1.

use crate::model::{BadLoad, Load};
use fyke_core::{Block, Matcher, Record, Sink};
use fyke_gpu::device::{Buffer, Device, Event, Fault, Pinned, Queue};
use fyke_gpu::matcher::{GpuMatcher, PAD, States, Tile};
use std::fmt;
use std::ops::{ControlFlow, Range};
use std::time::Instant;

/// All segments but the last are a multiple of this many bytes.
const GRAIN: usize = 4096;

/// Measurements of each stage of a segment; the median is used.
const SAMPLES: usize = 5;

/// The order in which segments are written, processed and read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// All writes are queued, then all processing, then all reads. Needs memory for every segment
    /// and its results.
    A,
    /// Two buffers for segments, two for results. Each round waits for its write, its processing
    /// and its read.
    B,
    /// This many buffers of each kind; tasks wait only for a free buffer or for data.
    Ring(usize),
    /// Kernels read host memory; only results are copied, from two buffers in turn.
    ZeroCopy,
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Strategy::A => f.write_str("A"),
            Strategy::B => f.write_str("B"),
            Strategy::Ring(buffers) => write!(f, "ring of {buffers}"),
            Strategy::ZeroCopy => f.write_str("zero-copy"),
        }
    }
}

/// Why a strategy cannot run.
#[derive(Debug)]
pub enum CannotRun {
    /// The engine does not write a state for each byte.
    NoStates(&'static str),
    /// There is nothing to do.
    Load(BadLoad),
    /// The device failed, or has not enough memory.
    Fault(Fault),
}

impl fmt::Display for CannotRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CannotRun::NoStates(engine) => write!(
                f,
                "{engine} does not write a state for each byte: take one of gpu-ac0 to gpu-ac4"
            ),
            CannotRun::Load(why) => why.fmt(f),
            CannotRun::Fault(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for CannotRun {}

impl From<Fault> for CannotRun {
    fn from(fault: Fault) -> Self {
        CannotRun::Fault(fault)
    }
}

/// Buffers on the device for a segment and its results.
struct SegmentBuffers {
    text: Buffer,
    states: Buffer,
}

/// A text in pinned memory that goes through a device segment by segment, and its results.
///
/// The queues copy from `text`, which never changes, and to `states`. Every access to `states`
/// waits for the queues first (`settle`), and so does dropping both.
pub struct HostToHost<'a> {
    matcher: &'a GpuMatcher,
    search: &'a dyn States,
    text: Pinned,
    states: Pinned,
    /// Bytes of the text.
    bytes: usize,
    /// Bytes of a segment.
    segment: usize,
    /// Bytes of overlap, a multiple of 16.
    overlap: usize,
    slots: Vec<SegmentBuffers>,
    writes: Queue,
    kernels: Queue,
    reads: Queue,
}

impl<'a> HostToHost<'a> {
    /// Repeats a text until it has `bytes` bytes, and cuts it into `segments` segments; into fewer
    /// if they would be shorter than 4096 bytes.
    ///
    /// # Errors
    /// The engine does not write states, there is no text, or there is not enough memory.
    pub fn new(
        matcher: &'a GpuMatcher,
        text: &[u8],
        bytes: usize,
        segments: usize,
    ) -> Result<Self, CannotRun> {
        let search = matcher.search().states().ok_or(CannotRun::NoStates(matcher.info().name))?;
        if segments == 0 || bytes == 0 || text.is_empty() {
            return Err(CannotRun::Load(BadLoad::NoSegments));
        }
        let device = matcher.device();
        let mut pinned = device.pinned(PAD + bytes.next_multiple_of(PAD) + PAD)?;
        let (head, _) = pinned[PAD..].split_at_mut(bytes);
        head.chunks_mut(text.len()).for_each(|part| part.copy_from_slice(&text[..part.len()]));
        Ok(Self {
            matcher,
            search,
            text: pinned,
            states: device.pinned(bytes * 4)?,
            bytes,
            segment: bytes.div_ceil(segments).next_multiple_of(GRAIN),
            overlap: matcher.set().overlap().next_multiple_of(16),
            slots: Vec::new(),
            writes: device.queue()?,
            kernels: device.queue()?,
            reads: device.queue()?,
        })
    }

    /// The number of segments.
    pub fn segments(&self) -> usize {
        self.bytes.div_ceil(self.segment)
    }

    /// Bytes of a segment; the last may have fewer.
    pub fn segment(&self) -> usize {
        self.segment
    }

    /// The text.
    pub fn text(&self) -> &[u8] {
        &self.text[PAD..PAD + self.bytes]
    }

    /// Measures the stages of the first segment one by one, which are the input of the model.
    ///
    /// # Errors
    /// The device failed.
    pub fn load(&mut self) -> Result<Load, CannotRun> {
        self.make_room(1)?;
        let mut stages = [const { Vec::new() }; 3];
        for _ in 0..SAMPLES {
            let timed =
                [self.writes.time(|| self.write(0, 0))?, self.kernels.time(|| self.process(0, 0))?];
            let first = self.reads.record()?;
            self.read(0, 0)?;
            let read = self.reads.record()?.seconds_since(&first)?;
            stages.iter_mut().zip(timed.into_iter().chain([read])).for_each(|(all, t)| all.push(t));
        }
        let [write, process, read] = stages.map(|mut samples| {
            samples.sort_unstable_by(f64::total_cmp);
            samples[SAMPLES / 2]
        });
        Load::new(self.segments() as u64, write, process, read).map_err(CannotRun::Load)
    }

    /// Runs a strategy; returns its seconds on the host's clock.
    ///
    /// # Errors
    /// The device failed, or has not enough memory.
    pub fn run(&mut self, strategy: Strategy) -> Result<f64, CannotRun> {
        let segments = self.segments();
        match strategy {
            Strategy::A => self.make_room(segments)?,
            Strategy::B | Strategy::ZeroCopy => self.make_room(2)?,
            Strategy::Ring(buffers) => self.make_room(buffers.clamp(1, segments))?,
        }
        let start = Instant::now();
        match strategy {
            Strategy::A => self.run_ring(segments)?,
            Strategy::B => self.run_rounds()?,
            Strategy::Ring(buffers) => self.run_ring(buffers.clamp(1, segments))?,
            Strategy::ZeroCopy => self.run_mapped()?,
        }
        Ok(start.elapsed().as_secs_f64())
    }

    /// Clears the results, so that those of a run are not mistaken for those of the next.
    pub fn forget(&mut self) {
        let _ = self.settle();
        self.states.fill(0);
    }

    /// Passes the matches of the last run to a sink.
    pub fn deliver(&self, sink: &mut dyn Sink) -> ControlFlow<()> {
        let _ = self.settle();
        let (mut buffer, mut records) = (Vec::<Record>::new(), Vec::new());
        for i in 0..self.segments() {
            let (range, overlap) = self.place(i);
            records.clear();
            let states = &self.states[(range.start + overlap) * 4..range.end * 4];
            self.search.records(overlap as u32, states, &mut records);
            let block =
                Block { bytes: &self.text()[range.clone()], overlap, offset: range.start as u64 };
            self.matcher.emit(block, &mut buffer, &records, sink)?;
        }
        ControlFlow::Continue(())
    }

    /// Strategy A, and rings: tasks wait only for a free slot or for data.
    fn run_ring(&mut self, slots: usize) -> Result<(), Fault> {
        let (mut processed, mut back): (Vec<Event>, Vec<Event>) = (Vec::new(), Vec::new());
        for i in 0..self.segments() {
            let slot = i % slots;
            if let Some(free) = i.checked_sub(slots) {
                self.writes.follow(&processed[free])?;
                self.kernels.follow(&back[free])?;
            }
            self.write(i, slot)?;
            self.kernels.follow(&self.writes.record()?)?;
            self.process(i, slot)?;
            processed.push(self.kernels.record()?);
            self.reads.follow(&processed[i])?;
            self.read(i, slot)?;
            back.push(self.reads.record()?);
        }
        self.finish()
    }

    /// Strategy B: in round i segment i is processed, the next one is written and the previous one
    /// is read.
    fn run_rounds(&mut self) -> Result<(), Fault> {
        let segments = self.segments();
        self.write(0, 0)?;
        self.finish()?;
        for i in 0..=segments {
            if i + 1 < segments {
                self.write(i + 1, (i + 1) % 2)?;
            }
            if i < segments {
                self.process(i, i % 2)?;
            }
            if let Some(before) = i.checked_sub(1) {
                self.read(before, before % 2)?;
            }
            self.finish()?;
        }
        Ok(())
    }

    /// Zero-copy: kernels read the text in host memory.
    fn run_mapped(&mut self) -> Result<(), Fault> {
        // SAFETY: `map` requires that the pinned memory outlives the buffer, a local, and the work
        // that uses it, which `drop` waits for; and that nothing writes to the text while kernels
        // read it: it never changes after `new`, and kernels only read texts.
        let text = unsafe { self.text.map()? };
        let mut back: Vec<Event> = Vec::new();
        for i in 0..self.segments() {
            let (range, overlap) = self.place(i);
            if let Some(free) = i.checked_sub(2) {
                self.kernels.follow(&back[free])?;
            }
            let tile = Tile::new(&text, PAD + range.start, range.len(), overlap);
            self.search.launch(&self.kernels, tile, &self.slots[i % 2].states)?;
            self.reads.follow(&self.kernels.record()?)?;
            self.read(i, i % 2)?;
            back.push(self.reads.record()?);
        }
        self.finish()
    }

    /// The range of a segment in the text, with its overlap, and the length of the overlap.
    fn place(&self, i: usize) -> (Range<usize>, usize) {
        let start = i * self.segment;
        let overlap = self.overlap.min(start);
        (start - overlap..self.bytes.min(start + self.segment), overlap)
    }

    fn write(&self, i: usize, slot: usize) -> Result<(), Fault> {
        let (range, _) = self.place(i);
        let range = PAD + range.start..PAD + range.end;
        // SAFETY: `write_later` requires that the text stays until the queue was waited for: it
        // never changes after `new`, and `drop` waits before it is released.
        unsafe { self.writes.write_later(&self.slots[slot].text, PAD, &self.text, range) }
    }

    fn process(&self, i: usize, slot: usize) -> Result<(), Fault> {
        let (range, overlap) = self.place(i);
        let SegmentBuffers { text, states } = &self.slots[slot];
        let tile = Tile::new(text, PAD, range.len(), overlap);
        self.search.launch(&self.kernels, tile, states)
    }

    fn read(&mut self, i: usize, slot: usize) -> Result<(), Fault> {
        let (range, overlap) = self.place(i);
        let to = (range.start + overlap) * 4..range.end * 4;
        // SAFETY: `read_later` requires that nothing accesses the states until the queue was
        // waited for: `forget` and `deliver`, the only accesses, call `settle` first, and `drop`
        // waits before they are released.
        unsafe {
            self.reads.read_later(&self.slots[slot].states, overlap * 4, &mut self.states, to)
        }
    }

    /// Waits for all queues, whichever fails.
    fn finish(&self) -> Result<(), Fault> {
        let ends = [&self.writes, &self.kernels, &self.reads].map(Queue::finish);
        ends.into_iter().collect()
    }

    /// As `finish`, without calls of the driver if all was waited for.
    fn settle(&self) -> Result<(), Fault> {
        let ends = [&self.writes, &self.kernels, &self.reads].map(Queue::settle);
        ends.into_iter().collect()
    }

    fn make_room(&mut self, slots: usize) -> Result<(), Fault> {
        let most = self.overlap + self.segment.min(self.bytes);
        let device: &Device = self.matcher.device();
        while self.slots.len() < slots {
            let text = device.allocate(PAD + most.next_multiple_of(PAD) + PAD)?;
            self.writes.zero(&text, 0..text.len())?;
            self.slots.push(SegmentBuffers { text, states: device.allocate(most * 4)? });
        }
        self.slots.truncate(slots);
        self.writes.finish()
    }
}

impl Drop for HostToHost<'_> {
    fn drop(&mut self) {
        // After a fault copies may be in flight. Errors in Drop are ignored.
        let _ = self.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::ENGINES;
    use crate::gpu::testing;
    use fyke_core::{Engine, Fingerprint, Options, PatternSet, Scratch};

    const STRATEGIES: [Strategy; 6] = [
        Strategy::A,
        Strategy::B,
        Strategy::Ring(1),
        Strategy::Ring(2),
        Strategy::Ring(3),
        Strategy::ZeroCopy,
    ];

    fn fingerprint(matcher: &dyn Matcher, text: &[u8]) -> (u64, u64) {
        let mut sum = Fingerprint::default();
        let _ = matcher.scan(Block::whole(text), &mut Scratch::new(), &mut sum);
        (sum.matches, sum.sum)
    }

    #[test]
    fn every_strategy_finds_every_match_in_segments_of_any_number() {
        let mut builder = PatternSet::builder();
        for (i, pattern) in ["she", "he", "hers", "s she sells", "a"].iter().enumerate() {
            builder.push_with(fyke_core::PatternId(i as u32), pattern.as_bytes(), i == 1).unwrap();
        }
        let set = builder.build();
        let words = b"She sells sea shells; hers are seashells she sells. ";
        testing::each_backend(|backend, tests| {
            let opt = Options::with_params(&format!("backend={backend}")).unwrap();
            let engine = ENGINES.iter().find(|e| e.info().name == "gpu-ac3").unwrap();
            let compiled = engine.compile_for_device(&set, &opt);
            let Some(matcher) = tests.on_backend(backend, compiled) else { return };
            for (bytes, segments) in [(1, 1), (5_000, 9), (40_000, 1), (40_000, 4), (70_001, 7)] {
                check(&matcher, words, bytes, segments);
                tests.checked(format!("{:?}", matcher.device()));
            }
        });
    }

    /// Runs all strategies on a text that is repeated.
    fn check(matcher: &GpuMatcher, words: &[u8], bytes: usize, segments: usize) {
        let mut run = HostToHost::new(matcher, words, bytes, segments).unwrap();
        let expected = fingerprint(matcher, run.text());
        assert_eq!(run.text().len(), bytes);
        let load = run.load().unwrap();
        assert_eq!(load.segments(), run.segments() as u64);
        for strategy in STRATEGIES {
            run.forget();
            assert!(run.run(strategy).unwrap() > 0.0);
            let mut found = Fingerprint::default();
            let _ = run.deliver(&mut found);
            let found = (found.matches, found.sum);
            assert_eq!(found, expected, "{strategy}, {bytes} bytes, {segments} segments");
        }
    }

    #[test]
    fn engines_without_states_are_refused() {
        let set = PatternSet::new(["abc"]).unwrap();
        let engine = ENGINES.iter().find(|e| e.info().name == "gpu-pfac").unwrap();
        testing::each_backend(|backend, tests| {
            let opt = Options::with_params(&format!("backend={backend}")).unwrap();
            let compiled = engine.compile_for_device(&set, &opt);
            let Some(matcher) = tests.on_backend(backend, compiled) else { return };
            let refused = HostToHost::new(&matcher, b"abc", 3, 1).err().unwrap();
            assert!(refused.to_string().contains("gpu-pfac does not write a state"), "{refused}");
            tests.checked(format!("{:?}", matcher.device()));
        });
    }
}
