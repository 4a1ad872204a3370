//! What GPU engines share on the host: a haystack is brought to the device in tiles, searched there, and what was
//! found comes back.
//!
//! An engine brings a [`Search`]: tables on the device and the launch of a kernel for a [`Tile`]. [`GpuMatcher`] makes
//! a matcher of it. Nothing of a tile reaches the sink before the whole tile came back without a fault, so that a
//! fault loses nothing and doubles nothing: a tile that does not fit the memory is cut in two, and after any other
//! fault the processor scans it (module `faults`).
//!
//! Where the sink only counts, a search that can count is asked for a number, and no record is written or copied.

use crate::device::{self, Backend, Buffer, Device, Fault, FaultKind, Pinned, Queue};
use crate::faults;
use crate::pipeline::{self, MEMORY, SOURCE, Slot};
use crate::pool::{Borrowed, Pool};
use crate::resident::Timed;
use crate::sparse;
use fyke_automata::{naive, nfa::Nfa};
use fyke_core::{
    Block, Emitter, Engine, Footprint, Info, Matcher, Memory, Options, PatternSet, Record, Refusal,
    Scratch, Sink, Source,
};
use std::io;
use std::ops::{ControlFlow, Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// Bytes before and after a text on the device, so that kernels may read whole words around it.
pub const PAD: usize = 4096;

/// A text on the device begins at a multiple of so many bytes.
const ALIGNED: u32 = 16;

/// A text is cut in two when memory is short, down to this many bytes.
pub(crate) const SMALLEST: usize = 64 << 10;

/// Bytes that are copied to pinned memory at a time: while the device fetches them, the next ones are copied. Fewer
/// are left to the driver. Not swept.
const STAGED: usize = 2 << 20;

/// Fewest and most bytes that come back through pinned memory at a time; not swept.
const FETCHED: std::ops::RangeInclusive<usize> = 16 << 10..=2 << 20;

/// Compiles a set for a device.
pub type Prepare = fn(&PatternSet, &Options, &Device) -> Result<Box<dyn Search>, Refusal>;

/// An engine of a graphics processor: what there is to say about it, and how it compiles a set.
pub struct GpuEngine {
    /// What there is to say about it.
    pub info: &'static Info,
    /// Compiles a set for a device.
    pub prepare: Prepare,
    /// The engine's own options, beside those of [`device::open`].
    pub options: &'static [&'static str],
}

impl GpuEngine {
    /// Compiles a set; the same as [`Engine::compile`], with the type that knows of devices.
    ///
    /// # Errors
    /// As [`Engine::compile`].
    pub fn compile_for_device(
        &self,
        set: &PatternSet,
        opt: &Options,
    ) -> Result<GpuMatcher, Refusal> {
        let known: Vec<&str> = self.options.iter().chain(&device::OPTIONS).copied().collect();
        opt.check_params(&known)?;
        let compile = |device: Device| {
            let search = (self.prepare)(set, opt, &device)?;
            Ok(GpuMatcher::new(self.info, set.clone(), device, search))
        };
        let each = device::open_all(opt)?.into_iter().map(compile);
        Ok(GpuMatcher::together(each.collect::<Result<_, Refusal>>()?))
    }
}

impl Engine for GpuEngine {
    fn info(&self) -> &'static Info {
        self.info
    }

    fn available(&self) -> Result<(), Refusal> {
        device::open(&Options::default()).map(drop)
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        Ok(Arc::new(self.compile_for_device(set, opt)?))
    }
}

/// A text on the device that is to be searched: `bytes` of them from byte `at` of a buffer on, a multiple of 16, with
/// [`PAD`] bytes on both sides that may be read and mean nothing.
#[derive(Clone, Copy)]
pub struct Tile<'a> {
    /// Where the text is.
    pub text: &'a Buffer,
    /// Where in the buffer it begins.
    pub at: u64,
    /// How many bytes it has.
    pub bytes: u32,
    /// How many of them are history: only matches that end after them are wanted.
    pub overlap: u32,
}

impl Tile<'_> {
    /// How many bytes it owns.
    pub fn owned(&self) -> u32 {
        self.bytes - self.overlap
    }

    /// Two tiles for this one; the second has at least so many bytes of history, if there are any.
    pub(crate) fn halves(self, history: usize) -> [Self; 2] {
        let cut = self.overlap + (self.owned() / 2).next_multiple_of(ALIGNED).min(self.owned());
        let history = u32::try_from(history).unwrap_or(u32::MAX).min(cut);
        // A tile begins at such a multiple, so history may be a few bytes more.
        let from = (cut - history) / ALIGNED * ALIGNED;
        let second = Tile {
            at: self.at + u64::from(from),
            bytes: self.bytes - from,
            overlap: cut - from,
            ..self
        };
        [Tile { bytes: cut, ..self }, second]
    }
}

/// A set compiled for a device.
pub trait Search: Send + Sync {
    /// Most bytes of a tile without its overlap.
    fn tile(&self) -> usize;

    /// Finds the matches of a tile and appends them to `records`, with ends that count from the tile's first byte. Has
    /// waited for the lane's queue when it returns without a fault.
    ///
    /// # Errors
    /// The device failed. What was appended then is dropped.
    fn search(
        &self,
        lane: &mut Lane,
        tile: Tile<'_>,
        records: &mut Vec<Record>,
    ) -> Result<(), Fault>;

    /// Searches a tile, leaves what it finds on the device, and says what the kernels took.
    ///
    /// # Errors
    /// The device failed.
    fn timed(&self, lane: &mut Lane, tile: Tile<'_>) -> Result<Timed, Fault>;

    /// The search, if it writes a state for each byte.
    fn states(&self) -> Option<&dyn States> {
        None
    }

    /// Counts the matches of a tile in place of finding them: a record counts once for each id of its pattern. Nothing if
    /// this search does not count; then it does not for any tile. Has waited for the lane's queue when it returns without
    /// a fault. Not asked for where [`confirm`](Self::confirm) has a pattern.
    ///
    /// # Errors
    /// The device failed, and the tile is to be counted in another way.
    fn count(&self, lane: &mut Lane, tile: Tile<'_>) -> Option<Result<u64, Fault>> {
        let _ = (lane, tile);
        None
    }

    /// Counts the matches of a tile, and says what the kernels took: [`Timed::records`] is their number.
    ///
    /// # Errors
    /// The device failed.
    fn timed_count(&self, lane: &mut Lane, tile: Tile<'_>) -> Option<Result<Timed, Fault>> {
        let first = match lane.queue.mark() {
            Ok(first) => first,
            Err(fault) => return Some(Err(fault)),
        };
        let counted = self.count(lane, tile)?;
        Some(counted.and_then(|records| {
            let seconds = lane.queue.mark()?.seconds_since(&first)?;
            Ok(Timed { seconds, records, candidates: 0 })
        }))
    }

    /// Whether records come in order of (end, start, pattern).
    fn is_ordered(&self) -> bool {
        false
    }

    /// For each pattern by dense index, whether its records have to be compared with the text: sets that ignore the case
    /// of some patterns are searched in lower case. Nothing if none has to be.
    fn confirm(&self) -> &[bool] {
        &[]
    }

    /// What it holds in memory.
    fn footprint(&self) -> Footprint;

    /// For people: what was built, and the work it does beside the text's length.
    fn describe(&self) -> String;
}

/// A search that writes a state of 32 bits for each byte of a tile. Time and room depend on the number of bytes alone:
/// module [`strategy`](crate::strategy) is about that.
pub trait States {
    /// Puts on the queue that the states after the bytes of a tile are written, those of the overlap too.
    ///
    /// # Errors
    /// The device failed.
    ///
    /// # Panics
    /// There is no room for so many states.
    fn launch(&self, queue: &Queue, tile: Tile<'_>, states: &Buffer) -> Result<(), Fault>;

    /// Appends the matches that states tell, given those after the `overlap` first ones.
    fn records(&self, overlap: u32, states: &[u8], records: &mut Vec<Record>);
}

/// What one thread needs on a device: a queue, and buffers that grow and stay.
pub struct Lane {
    /// The queue.
    pub queue: Queue,
    text: Option<Buffer>,
    /// Whether bytes go through pinned memory of this lane on their way to the device, and back.
    stages: bool,
    staging: Option<Pinned>,
    fetching: Option<Pinned>,
    buffers: Vec<Option<Buffer>>,
    /// Bytes on the host, for what comes back.
    pub host: Vec<u8>,
    /// Most records of a launch; tests make do with fewer.
    pub(crate) most_records: usize,
}

impl Lane {
    /// A lane on a device.
    ///
    /// # Errors
    /// The device is lost.
    pub fn open(device: &Device) -> Result<Self, Fault> {
        Ok(Self {
            queue: device.queue()?,
            text: None,
            // Where pinned memory is no different from other memory, a copy more would be for nothing.
            stages: device.properties().backend == Backend::Cuda,
            staging: None,
            fetching: None,
            buffers: Vec::new(),
            host: Vec::new(),
            most_records: sparse::MOST as usize,
        })
    }

    /// The buffer of that number, with room for at least so many bytes. Its content means nothing.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn buffer(&mut self, number: usize, bytes: usize) -> Result<&Buffer, Fault> {
        if self.buffers.len() <= number {
            self.buffers.resize_with(number + 1, || None);
        }
        grow(self.queue.device(), &mut self.buffers[number], bytes)
    }

    /// A buffer that [`buffer`](Self::buffer) gave before.
    ///
    /// # Panics
    /// It did not.
    pub fn held(&self, number: usize) -> &Buffer {
        self.buffers[number].as_ref().expect("asked for before")
    }

    /// Brings bytes of the buffer of that number back, and waits for them.
    ///
    /// They come through pinned memory. A copy to other memory waits within the driver for all that is on the queue before
    /// it, and what other threads put on their queues waits with it: a pipeline then searches no piece while it copies the
    /// next. `gpu-dfa` came to 46 GB/s from pinned memory so, and to 52 by this alone (`fyke bench gpu --stream`, H200).
    ///
    /// # Errors
    /// The device is lost.
    ///
    /// # Panics
    /// The range is outside of the buffer, or there is none of that number.
    pub fn read(&mut self, number: usize, at: usize, to: &mut [u8]) -> Result<(), Fault> {
        if !self.stages || to.is_empty() {
            return self.queue.read(self.held(number), at, to);
        }
        let most = to.len().next_power_of_two().clamp(*FETCHED.start(), *FETCHED.end());
        pinned(&self.queue, &mut self.fetching, most);
        let Some(mut through) = self.fetching.take() else {
            return self.queue.read(self.held(number), at, to);
        };
        for (i, part) in to.chunks_mut(most).enumerate() {
            // SAFETY: the next line waits for the queue; if that fails, nothing comes any more.
            unsafe {
                let range = 0..part.len();
                self.queue.read_later(self.held(number), at + i * most, &mut through, range)?;
            }
            self.queue.finish()?;
            part.copy_from_slice(&through[..part.len()]);
        }
        self.fetching = Some(through);
        Ok(())
    }

    /// Puts on the queue that bytes come to the device; the text begins at [`PAD`].
    ///
    /// # Safety
    /// The bytes stay where they are until the queue was waited for.
    unsafe fn bring(&mut self, bytes: &[u8]) -> Result<Buffer, Fault> {
        let is_fetched = bytes.len() < STAGED || !self.stages || device::is_pinned(bytes);
        let room = PAD + bytes.len().next_multiple_of(PAD) + PAD;
        let had = self.text.as_ref().map_or(0, Buffer::len);
        let has = grow(self.queue.device(), &mut self.text, room)?.len();
        let text = self.text.take().expect("grown above");
        if had != has {
            self.queue.zero(&text, 0..has)?;
        }
        let wanted = bytes.len().next_multiple_of(STAGED);
        let staged = if is_fetched { None } else { pinned(&self.queue, &mut self.staging, wanted) };
        let Some(staging) = staged else {
            // SAFETY: the caller's promise.
            unsafe { self.queue.write_unwaited(&text, PAD, bytes)? };
            return Ok(text);
        };
        for (i, part) in bytes.chunks(STAGED).enumerate() {
            let range = i * STAGED..i * STAGED + part.len();
            staging[range.clone()].copy_from_slice(part);
            // SAFETY: only this function writes there, and the queue is waited for before it is called again.
            unsafe { self.queue.write_later(&text, PAD + range.start, staging, range)? };
        }
        Ok(text)
    }
}

/// Pinned memory of at least so many bytes in the place, if there is enough.
fn pinned<'a>(
    queue: &Queue,
    place: &'a mut Option<Pinned>,
    bytes: usize,
) -> Option<&'a mut Pinned> {
    if place.as_ref().is_none_or(|p| p.len() < bytes) {
        *place = None;
        *place = queue.device().pinned(bytes).ok();
    }
    place.as_mut()
}

/// A buffer of at least so many bytes in the place.
fn grow<'a>(
    device: &Device,
    place: &'a mut Option<Buffer>,
    bytes: usize,
) -> Result<&'a Buffer, Fault> {
    if place.as_ref().is_none_or(|b| b.len() < bytes) {
        // The old one first: there may not be room for both.
        *place = None;
        let room = bytes.checked_next_power_of_two().unwrap_or(bytes);
        *place = Some(device.allocate(room).or_else(|_| device.allocate(bytes))?);
    }
    Ok(place.as_ref().expect("filled above"))
}

/// What is wanted of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Records,
    /// Their number, if the search counts.
    Count,
}

/// What a matcher keeps in a [`Scratch`], and in each station of the pipeline.
#[derive(Default)]
pub(crate) struct WorkerState {
    lane: Option<Borrowed<Lane>>,
    pub(crate) records: Vec<Record>,
    /// The number of matches, if they were counted and not found.
    pub(crate) counted: Option<u64>,
    fallback: Scratch,
    /// Which of several devices this is for, once it was used.
    place: Option<usize>,
}

impl WorkerState {
    /// Drops the lane, whose memory is wanted or which failed.
    fn discard_lane(&mut self) {
        self.lane.take().into_iter().for_each(Borrowed::discard);
    }
}

/// Pinned memory that goes back to its matcher.
struct PooledPinned(Borrowed<Pinned>);

impl Deref for PooledPinned {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for PooledPinned {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

/// A set compiled for a device, as a matcher. With several devices it is the one for the first, and has those for the
/// others with it.
pub struct GpuMatcher {
    info: &'static Info,
    lanes: Arc<Pool<Lane>>,
    pinned: Arc<Pool<Pinned>>,
    set: PatternSet,
    device: Device,
    search: Box<dyn Search>,
    /// Whether records have to be compared with the text.
    confirms: bool,
    fallback: OnceLock<Arc<dyn Matcher>>,
    /// Stations of the pipeline that no scan uses now.
    pub(crate) idle: Mutex<Vec<Slot>>,
    others: Vec<GpuMatcher>,
    /// Scratches that were given a device.
    dealt: AtomicUsize,
}

impl GpuMatcher {
    pub(crate) fn new(
        info: &'static Info,
        set: PatternSet,
        device: Device,
        search: Box<dyn Search>,
    ) -> Self {
        let confirms = search.confirm().contains(&true);
        let (fallback, idle) = (OnceLock::new(), Mutex::default());
        let (lanes, pinned) = (Arc::default(), Arc::default());
        let (others, dealt) = (Vec::new(), AtomicUsize::new(0));
        Self { info, lanes, pinned, set, device, search, confirms, fallback, idle, others, dealt }
    }

    /// One of several for the same set, at least one.
    pub(crate) fn together(mut each: Vec<GpuMatcher>) -> Self {
        let others = each.split_off(1);
        Self { others, ..each.swap_remove(0) }
    }

    /// How many devices there are.
    pub fn devices(&self) -> usize {
        1 + self.others.len()
    }

    /// The matcher for one of the devices.
    ///
    /// # Panics
    /// There are not so many.
    pub fn on(&self, place: usize) -> &GpuMatcher {
        if place == 0 { self } else { &self.others[place - 1] }
    }

    /// All of them.
    fn each(&self) -> impl Iterator<Item = &GpuMatcher> {
        std::iter::once(self).chain(&self.others)
    }

    /// Most bytes of a tile without its overlap, on every device.
    pub(crate) fn tile(&self) -> usize {
        self.each().map(|m| m.search.tile()).min().unwrap_or(0)
    }

    /// The device it was compiled for.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The search on the device.
    pub fn search(&self) -> &dyn Search {
        &*self.search
    }

    /// The processor's matcher of the same set, for when the device fails.
    fn fallback(&self) -> &dyn Matcher {
        &**self.fallback.get_or_init(|| {
            let (info, set, opt) = (self.info, &self.set, Options::default());
            let compiled =
                Nfa::compile(info, set, &opt).or_else(|_| naive::compile(info, set, &opt));
            compiled.expect("without a limit on memory the naive matcher takes every set")
        })
    }

    /// Whether the search may be asked for a number: where records have to be compared with the text it would be wrong.
    pub(crate) fn counts(&self) -> bool {
        !self.confirms
    }

    /// What is wanted of tiles whose matches go to that sink.
    pub(crate) fn wanted(&self, sink: &mut dyn Sink) -> Wanted {
        if self.counts() && sink.counter().is_some() { Wanted::Count } else { Wanted::Records }
    }

    /// Finds or counts the matches of a text that fits a tile.
    pub(crate) fn find(
        &self,
        kept: &mut WorkerState,
        wanted: Wanted,
        text: &[u8],
        overlap: usize,
    ) -> Result<(), Fault> {
        kept.records.clear();
        kept.counted = None;
        if kept.lane.as_ref().is_none_or(|l| !l.queue.device().is(&self.device)) {
            kept.lane = Some(self.lanes.borrow(|_| true, || Lane::open(&self.device))?);
        }
        let lane = &mut **kept.lane.as_mut().expect("opened above");
        // SAFETY: the queue is waited for below, whatever the search comes to.
        let brought = unsafe { lane.bring(text) };
        let bytes = text.len() as u32;
        let found = brought.and_then(|text| {
            let tile = Tile { text: &text, at: PAD as u64, bytes, overlap: overlap as u32 };
            let counted = match wanted {
                Wanted::Count => self.search.count(lane, tile).transpose(),
                Wanted::Records => Ok(None),
            };
            let found = counted.and_then(|counted| {
                kept.counted = counted;
                match counted {
                    Some(_) => Ok(()),
                    None => self.search.search(lane, tile, &mut kept.records),
                }
            });
            lane.text = Some(text);
            found
        });
        found.or_else(|fault| lane.queue.finish().and(Err(fault)))
    }

    /// Scans a block that fits a tile, in halves or by the processor if it has to be.
    fn scan_tile(
        &self,
        block: Block<'_>,
        buffer: &mut Vec<Record>,
        kept: &mut WorkerState,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let wanted = self.wanted(sink);
        let found = self.find(kept, wanted, block.bytes, block.overlap);
        self.deliver(found, block, buffer, kept, sink)
    }

    /// Gives the sink what was found in a block, or looks for it in another way if that failed: in halves, or by the
    /// processor.
    pub(crate) fn deliver(
        &self,
        found: Result<(), Fault>,
        block: Block<'_>,
        buffer: &mut Vec<Record>,
        kept: &mut WorkerState,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        match found {
            Ok(()) => match (kept.counted, sink.counter()) {
                (None, _) => self.emit(block, buffer, &kept.records, sink),
                (Some(count), Some(counter)) => {
                    *counter += count;
                    ControlFlow::Continue(())
                }
                // A sink that has changed its mind.
                (Some(_), None) => self.scan_tile(block, buffer, kept, sink),
            },
            Err(fault)
                if fault.kind() == FaultKind::OutOfMemory && block.owned().len() > SMALLEST =>
            {
                kept.discard_lane();
                let mut halves = block.pieces(block.owned().len().div_ceil(2), self.set.overlap());
                halves.try_for_each(|half| self.scan_tile(half, buffer, kept, sink))
            }
            Err(fault) => {
                faults::note(self.info.name, &self.device, &fault);
                kept.discard_lane();
                self.fallback().scan(block, &mut kept.fallback, sink)
            }
        }
    }

    /// Gives the sink the records of a block, those of patterns that mind case compared first.
    pub fn emit(
        &self,
        block: Block<'_>,
        buffer: &mut Vec<Record>,
        records: &[Record],
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let confirm = self.search.confirm();
        let is_right = |r: &Record| {
            let sure = confirm.get(r.pattern as usize).is_none_or(|c| !c);
            let end = r.end as usize;
            sure || self
                .set
                .get(r.pattern)
                .is_match(&block.bytes[end - self.set.pattern_len(r.pattern)..end])
        };
        let mut out = Emitter::new(&self.set, sink, buffer, block.offset, self.search.is_ordered());
        for group in records.chunk_by(|a, b| a.end == b.end) {
            group.iter().filter(|r| is_right(r)).for_each(|r| out.push(r.end, r.pattern));
            out.flush_if_full()?;
        }
        out.flush()
    }
}

impl Matcher for GpuMatcher {
    fn info(&self) -> &'static Info {
        self.info
    }

    fn set(&self) -> &PatternSet {
        &self.set
    }

    fn scan(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        if self.set.is_empty() {
            return ControlFlow::Continue(());
        }
        if block.owned().len() > MEMORY.piece(self) {
            return pipeline::scan(self, MEMORY, block, sink);
        }
        let (buffer, kept) = scratch.parts::<WorkerState>();
        // Threads that scan side by side have a device each.
        let deal = || self.dealt.fetch_add(1, Ordering::Relaxed);
        let chosen = self.on(*kept.place.get_or_insert_with(deal) % self.devices());
        block
            .pieces(self.tile(), self.set.overlap())
            .try_for_each(|piece| chosen.scan_tile(piece, buffer, kept, sink))
    }

    fn drive(&self, src: &mut dyn Source, sink: &mut dyn Sink) -> io::Result<ControlFlow<()>> {
        if self.set.is_empty() {
            while src.next()?.is_some() {}
            return Ok(ControlFlow::Continue(()));
        }
        pipeline::drive(self, SOURCE, src, sink)
    }

    fn memory(&self, bytes: usize) -> Memory {
        let (enough, make) =
            (|p: &Pinned| p.len() >= bytes, || self.device.pinned(bytes.next_multiple_of(STAGED)));
        let pinned = if bytes < STAGED { None } else { self.pinned.borrow(enough, make).ok() };
        match pinned {
            Some(pinned) => Box::new(PooledPinned(pinned)),
            None => Box::new(vec![0; bytes]),
        }
    }

    fn footprint(&self) -> Footprint {
        self.each().map(|m| m.search.footprint()).fold(Footprint::default(), |sum, own| Footprint {
            host: sum.host + own.host,
            device: sum.device + own.device,
        })
    }

    fn describe(&self) -> String {
        let devices: Vec<_> = self.each().map(|m| format!("{:?}", m.device)).collect();
        format!("{} on {}", self.search.describe(), devices.join(" and "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::inventory;

    #[test]
    fn halves_of_a_tile_own_what_it_owns() {
        for device in &inventory().devices {
            let text = &device.allocate(16).unwrap();
            for (bytes, overlap) in [(17, 0), (33, 16), (5_000, 48), (u32::MAX, 5_001)] {
                for history in [0, 1, 16, 70, 70_000] {
                    let tile = Tile { text, at: 32, bytes, overlap };
                    let [first, second] = tile.halves(history);
                    let cut = first.at + u64::from(first.bytes);
                    assert_eq!((first.at, first.overlap), (tile.at, tile.overlap));
                    assert_eq!(second.at % 16, 0);
                    assert_eq!(second.at + u64::from(second.overlap), cut);
                    assert_eq!(first.owned() + second.owned(), tile.owned());
                    assert!(first.owned() > 0 && second.owned() > 0);
                    assert!(second.overlap as usize >= history || second.at == tile.at);
                }
            }
        }
    }

    #[test]
    fn bytes_come_to_the_device_as_they_are_however_they_go() {
        for device in &inventory().devices {
            let mut lane = Lane::open(device).unwrap();
            for bytes in [0, 1, STAGED - 1, STAGED, 2 * STAGED + 3, 5] {
                let text: Vec<u8> = (0..bytes).map(|i| (i % 251) as u8).collect();
                let mut pinned = device.pinned(bytes).unwrap();
                pinned[..bytes].copy_from_slice(&text);
                assert!(device::is_pinned(&pinned) && (bytes == 0 || !device::is_pinned(&text)));
                for (stages, form) in
                    [(true, &text[..]), (false, &text[..]), (true, &pinned[..bytes])]
                {
                    lane.stages = stages;
                    // SAFETY: the read below waits for the queue.
                    let brought = unsafe { lane.bring(form) }.unwrap();
                    let mut back = vec![1; bytes];
                    lane.queue.read(&brought, PAD, &mut back).unwrap();
                    assert!(back == text, "{bytes} bytes on {device:?}");
                    lane.text = Some(brought);
                }
            }
        }
    }

    #[test]
    fn bytes_come_back_as_they_are_however_they_go() {
        for device in &inventory().devices {
            let mut lane = Lane::open(device).unwrap();
            let text: Vec<u8> = (0..2 * FETCHED.end() + 9).map(|i| (i % 251) as u8).collect();
            lane.buffer(3, text.len()).unwrap();
            lane.queue.write(lane.held(3), 0, &text).unwrap();
            for (at, bytes) in [(0, 0), (7, 1), (0, FETCHED.start() + 1), (5, text.len() - 5)] {
                for stages in [false, true] {
                    lane.stages = stages;
                    let mut back = vec![1; bytes];
                    lane.read(3, at, &mut back).unwrap();
                    assert!(back == text[at..at + bytes], "{bytes} bytes on {device:?}");
                }
            }
        }
    }
}
