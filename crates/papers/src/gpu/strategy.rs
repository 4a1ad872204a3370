//! Host-to-host strategies: pinned text goes to the device in segments, the states of its automaton come back.
//!
//! Module [`model`](crate::model) says what they are and how long they take by the papers' theorems. Here they run, so
//! that the two can be compared: on engines that write a state for each byte ([`States`]), whose segments all take the
//! same time, as the theorems suppose.
//!
//! Each of the three workers has a queue: one writes segments to the device, one processes them, one reads results back.
//! Segment i is processed when it was written, and read back when it was processed; what else has to be waited for is what
//! makes a [`Strategy`]. A segment begins with the bytes of an overlap, so that matches across its edge are found.
//!
//! Source: X. Zha, *Multi-pattern string matching algorithms*, dissertation, 2010, section 6.4.1, figures 6-6 and 6-7; X. Zha
//! and S. Sahni, *Multipattern string matching on a GPU*, 2011, section V. Strategy A of the papers has a queue (a stream) for
//! each segment, and leaves the order of equal tasks to the device; here they are in order. Zero-copy is that of N.-P. Tran
//! et al., *Cache-conscious Aho-Corasick on a GPU*, 2012, section 4.1.
//!
//! Wins nowhere: four bytes come back for each that goes. What the product does instead is in module `pipeline`.

use crate::model::{BadLoad, Load};
use fyke_core::{Block, Matcher, Record, Sink};
use fyke_gpu::device::{Buffer, Device, Fault, Mark, Pinned, Queue};
use fyke_gpu::matcher::{GpuMatcher, PAD, States, Tile};
use std::fmt;
use std::ops::{ControlFlow, Range};
use std::time::Instant;

/// Bytes that a segment is a multiple of, but for the last.
const GRAIN: usize = 4096;

/// Times that each stage of a segment is measured; the median counts.
const SAMPLES: usize = 5;

/// In which order segments are written, processed and read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// All writes are queued, all processing, all reads: room for every segment and its results.
    A,
    /// Two buffers for segments, two for results; each round ends when its write, its processing and its read have.
    B,
    /// So many buffers of each kind, and nothing waits but for a buffer or for data.
    Ring(usize),
    /// Kernels read the host's memory; only results are copied, to two buffers in turn.
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

/// Why there is nothing to run.
#[derive(Debug)]
pub enum Refused {
    /// The engine's results have no known size.
    NoStates(&'static str),
    /// There is no such load.
    Load(BadLoad),
    /// The device failed, or has not the room.
    Fault(Fault),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::NoStates(engine) => write!(
                f,
                "{engine} does not write a state for each byte: take one of gpu-ac0 to gpu-ac4"
            ),
            Refused::Load(why) => why.fmt(f),
            Refused::Fault(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for Refused {}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        Refused::Fault(fault)
    }
}

/// Buffers on the device for a segment and its results.
struct Slot {
    text: Buffer,
    states: Buffer,
}

/// A text in pinned memory that goes through a device segment by segment, and its results.
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
    slots: Vec<Slot>,
    writer: Queue,
    processor: Queue,
    reader: Queue,
}

impl<'a> HostToHost<'a> {
    /// Repeats a text until there are so many bytes, and cuts them into so many segments: fewer where the text is too
    /// short for segments of 4096 bytes.
    ///
    /// # Errors
    /// The engine writes no states, there is no text, or there is not enough memory.
    pub fn new(
        matcher: &'a GpuMatcher,
        text: &[u8],
        bytes: usize,
        segments: usize,
    ) -> Result<Self, Refused> {
        let search = matcher.search().states().ok_or(Refused::NoStates(matcher.info().name))?;
        if segments == 0 || bytes == 0 || text.is_empty() {
            return Err(Refused::Load(BadLoad::NoSegments));
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
            writer: device.queue()?,
            processor: device.queue()?,
            reader: device.queue()?,
        })
    }

    /// How many segments there are.
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

    /// Measures the stages of the first segment, each by itself: what the model wants to know.
    ///
    /// # Errors
    /// The device failed.
    pub fn load(&mut self) -> Result<Load, Refused> {
        self.make_room(1)?;
        let mut stages = [const { Vec::new() }; 3];
        for _ in 0..SAMPLES {
            let timed = [
                self.writer.time(|| self.write(0, 0))?,
                self.processor.time(|| self.process(0, 0))?,
            ];
            let first = self.reader.mark()?;
            self.read(0, 0)?;
            let read = self.reader.mark()?.seconds_since(&first)?;
            stages.iter_mut().zip(timed.into_iter().chain([read])).for_each(|(all, t)| all.push(t));
        }
        let [write, process, read] = stages.map(|mut samples| {
            samples.sort_unstable_by(f64::total_cmp);
            samples[SAMPLES / 2]
        });
        Load::new(self.segments() as u64, write, process, read).map_err(Refused::Load)
    }

    /// Runs a strategy, and says how many seconds it took on the host's clock.
    ///
    /// # Errors
    /// The device failed, or has not the room.
    pub fn run(&mut self, strategy: Strategy) -> Result<f64, Refused> {
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

    /// Forgets what runs found so far: it must not pass for what the next one finds.
    pub fn forget(&mut self) {
        self.states.fill(0);
    }

    /// Gives the matches of the last run to a sink.
    pub fn deliver(&self, sink: &mut dyn Sink) -> ControlFlow<()> {
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

    /// Strategy A, and rings: nothing waits but for a slot or for data.
    fn run_ring(&mut self, slots: usize) -> Result<(), Fault> {
        let (mut processed, mut back): (Vec<Mark>, Vec<Mark>) = (Vec::new(), Vec::new());
        for i in 0..self.segments() {
            let slot = i % slots;
            if let Some(free) = i.checked_sub(slots) {
                self.writer.follow(&processed[free])?;
                self.processor.follow(&back[free])?;
            }
            self.write(i, slot)?;
            self.processor.follow(&self.writer.mark()?)?;
            self.process(i, slot)?;
            processed.push(self.processor.mark()?);
            self.reader.follow(&processed[i])?;
            self.read(i, slot)?;
            back.push(self.reader.mark()?);
        }
        self.finish()
    }

    /// Strategy B: in round i segment i is processed, the next one is written and the one before it is read.
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

    /// Zero-copy: kernels read the text where it is.
    fn run_mapped(&mut self) -> Result<(), Fault> {
        let text = self.text.map()?;
        let mut back: Vec<Mark> = Vec::new();
        for i in 0..self.segments() {
            let (range, overlap) = self.place(i);
            if let Some(free) = i.checked_sub(2) {
                self.processor.follow(&back[free])?;
            }
            let tile = Tile {
                text: &text,
                at: (PAD + range.start) as u64,
                bytes: range.len() as u32,
                overlap: overlap as u32,
            };
            self.search.launch(&self.processor, tile, &self.slots[i % 2].states)?;
            self.reader.follow(&self.processor.mark()?)?;
            self.read(i, i % 2)?;
            back.push(self.reader.mark()?);
        }
        self.finish()
    }

    /// Where a segment is in the text, with its overlap, and how long that is.
    fn place(&self, i: usize) -> (Range<usize>, usize) {
        let start = i * self.segment;
        let overlap = self.overlap.min(start);
        (start - overlap..self.bytes.min(start + self.segment), overlap)
    }

    fn write(&self, i: usize, slot: usize) -> Result<(), Fault> {
        let (range, _) = self.place(i);
        let range = PAD + range.start..PAD + range.end;
        // SAFETY: nothing changes the text, and it is dropped after the queues are waited for.
        unsafe { self.writer.write_later(&self.slots[slot].text, PAD, &self.text, range) }
    }

    fn process(&self, i: usize, slot: usize) -> Result<(), Fault> {
        let (range, overlap) = self.place(i);
        let Slot { text, states } = &self.slots[slot];
        let tile =
            Tile { text, at: PAD as u64, bytes: range.len() as u32, overlap: overlap as u32 };
        self.search.launch(&self.processor, tile, states)
    }

    fn read(&mut self, i: usize, slot: usize) -> Result<(), Fault> {
        let (range, overlap) = self.place(i);
        let to = (range.start + overlap) * 4..range.end * 4;
        // SAFETY: the states are looked at after the queues were waited for, and dropped after that.
        unsafe {
            self.reader.read_later(&self.slots[slot].states, overlap * 4, &mut self.states, to)
        }
    }

    /// Waits for all workers, whichever fails.
    fn finish(&self) -> Result<(), Fault> {
        let ends = [&self.writer, &self.processor, &self.reader].map(Queue::finish);
        ends.into_iter().collect()
    }

    fn make_room(&mut self, slots: usize) -> Result<(), Fault> {
        let most = self.overlap + self.segment.min(self.bytes);
        let device: &Device = self.matcher.device();
        while self.slots.len() < slots {
            let text = device.allocate(PAD + most.next_multiple_of(PAD) + PAD)?;
            self.writer.zero(&text, 0..text.len())?;
            self.slots.push(Slot { text, states: device.allocate(most * 4)? });
        }
        self.slots.truncate(slots);
        self.writer.finish()
    }
}

impl Drop for HostToHost<'_> {
    fn drop(&mut self) {
        // After a fault copies may still be under way. One that fails here has no one to be told to.
        let _ = self.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::ENGINES;
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
        for backend in ["backend=opencl", "backend=cuda"] {
            let opt = Options::with_params(backend).unwrap();
            let engine = ENGINES.iter().find(|e| e.info().name == "gpu-ac3").unwrap();
            let Ok(matcher) = engine.compile_for_device(&set, &opt) else { continue };
            for (bytes, segments) in [(1, 1), (5_000, 9), (40_000, 1), (40_000, 4), (70_001, 7)] {
                let mut run = HostToHost::new(&matcher, words, bytes, segments).unwrap();
                let expected = fingerprint(&matcher, run.text());
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
        }
    }

    #[test]
    fn engines_without_states_are_refused() {
        let set = PatternSet::new(["abc"]).unwrap();
        let engine = ENGINES.iter().find(|e| e.info().name == "gpu-pfac").unwrap();
        let Ok(matcher) = engine.compile_for_device(&set, &Options::default()) else { return };
        let refused = HostToHost::new(&matcher, b"abc", 3, 1).err().unwrap();
        assert!(refused.to_string().contains("gpu-pfac does not write a state"), "{refused}");
    }
}
