//! The matcher of a [`Search`]: tiles, confirmation on the host, and recovery from faults.

use super::workspace::{LEAST_STAGED, WaitOnDrop};
use super::{PAD, Packed, SMALLEST, Search, Tile, Workspace};
use crate::device::{Device, Fault, FaultKind, Pinned};
use crate::faults;
use crate::pipeline::{self, MEMORY, PACKED, SOURCE, Slot};
use crate::pool::{Borrowed, Pool};
use fyke_automata::{naive, nfa::Nfa};
use fyke_core::{
    Block, Emitter, Footprint, Info, Matcher, Memory, Options, PackedHaystacks, PatternSet, Record,
    Scratch, Sink, Source,
};
use std::io;
use std::ops::{ControlFlow, Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// What the sink needs of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Its matches.
    Records,
    /// Their number, if the search can count.
    Count,
}

/// What a matcher keeps in a [`Scratch`], and in each slot of the pipeline.
#[derive(Default)]
pub(crate) struct WorkerState {
    workspace: Option<Borrowed<Workspace>>,
    pub(crate) records: Vec<Record>,
    /// The number of matches, if they were counted and not found.
    pub(crate) counted: Option<u64>,
    fallback: Scratch,
    /// The number that this scratch was given in its first scan. Modulo the number of devices it is
    /// the index of the device that the scratch is used with.
    device_index: Option<usize>,
}

impl WorkerState {
    /// Drops the workspace: its memory is needed, or its device failed.
    fn discard_workspace(&mut self) {
        self.workspace.take().into_iter().for_each(Borrowed::discard);
    }
}

/// Pinned memory that returns to its matcher when it is dropped.
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

/// A set compiled for one or several devices. With several it is the matcher of the first, and
/// owns those of the others.
pub struct GpuMatcher {
    info: &'static Info,
    workspaces: Arc<Pool<Workspace>>,
    pinned: Arc<Pool<Pinned>>,
    set: PatternSet,
    device: Device,
    search: Box<dyn Search>,
    /// Whether records have to be compared with the text.
    confirms: bool,
    fallback: OnceLock<Arc<dyn Matcher>>,
    /// Slots of the pipeline that no scan is using.
    pub(crate) idle: Mutex<Vec<Slot>>,
    others: Vec<GpuMatcher>,
    /// How many scratches were given a number.
    assigned: AtomicUsize,
}

impl GpuMatcher {
    pub(crate) fn new(
        info: &'static Info,
        set: PatternSet,
        device: Device,
        search: Box<dyn Search>,
    ) -> Self {
        let confirms = search.confirm().contains(&true);
        Self {
            info,
            workspaces: Arc::default(),
            pinned: Arc::default(),
            set,
            device,
            search,
            confirms,
            fallback: OnceLock::new(),
            idle: Mutex::default(),
            others: Vec::new(),
            assigned: AtomicUsize::new(0),
        }
    }

    /// Joins matchers of the same set, at least one, into one matcher.
    pub(crate) fn together(mut each: Vec<GpuMatcher>) -> Self {
        let others = each.split_off(1);
        Self { others, ..each.swap_remove(0) }
    }

    /// The number of devices.
    pub fn devices(&self) -> usize {
        1 + self.others.len()
    }

    /// The matcher of one of the devices, by index.
    ///
    /// # Panics
    /// There are fewer devices.
    pub fn on(&self, index: usize) -> &GpuMatcher {
        if index == 0 { self } else { &self.others[index - 1] }
    }

    fn each(&self) -> impl Iterator<Item = &GpuMatcher> {
        std::iter::once(self).chain(&self.others)
    }

    /// Most bytes of a tile without its overlap, on every device.
    pub(crate) fn tile(&self) -> usize {
        self.each().map(|m| m.search.tile()).min().unwrap_or(0)
    }

    /// The device that it was compiled for, the first if there are several.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The search on that device.
    pub fn search(&self) -> &dyn Search {
        &*self.search
    }

    /// The CPU's matcher of the same set, which takes over when the device fails.
    fn fallback(&self) -> &dyn Matcher {
        &**self.fallback.get_or_init(|| {
            let (info, set, opt) = (self.info, &self.set, Options::default());
            let compiled =
                Nfa::compile(info, set, &opt).or_else(|_| naive::compile(info, set, &opt));
            compiled.expect("without a memory limit the naive matcher takes every set")
        })
    }

    /// Whether the search may be asked to count: not if records have to be compared with the text.
    pub(crate) fn counts(&self) -> bool {
        !self.confirms
    }

    /// Why the matches of this set are not counted without records.
    pub fn why_uncounted(&self) -> String {
        match self.search.why_uncounted() {
            Some(why) => why.into(),
            None if self.confirms => {
                let patterns = self.search.confirm().iter().filter(|c| **c).count();
                format!("the host compares {patterns} of its patterns with the text")
            }
            None => "this engine counts records".into(),
        }
    }

    /// Whether tiles whose matches go to that sink are searched for records or only counted.
    pub(crate) fn wanted(&self, sink: &mut dyn Sink) -> Wanted {
        if self.counts() && sink.counter().is_some() { Wanted::Count } else { Wanted::Records }
    }

    /// Finds or counts the matches of a block that fits a tile. Of packed haystacks it keeps the
    /// records that the sink has to get.
    pub(crate) fn find(
        &self,
        state: &mut WorkerState,
        wanted: Wanted,
        block: Block<'_>,
        haystacks: Option<&dyn PackedHaystacks>,
    ) -> Result<(), Fault> {
        let Block { bytes: text, overlap, offset } = block;
        state.records.clear();
        state.counted = None;
        if state.workspace.as_ref().is_none_or(|w| !w.queue().device().is(&self.device)) {
            let open = || Workspace::open(&self.device);
            state.workspace = Some(self.workspaces.borrow(|_| true, open)?);
        }
        let workspace = &mut **state.workspace.as_mut().expect("opened above");
        let in_flight = WaitOnDrop(workspace);
        // SAFETY: `bring` requires that the queue is waited for before `text` may change, whatever
        // happens. `in_flight` waits when this function returns or panics, and `text` is borrowed
        // until then.
        let brought = unsafe { in_flight.0.bring(text)? };
        let tile = Tile::new(&brought, PAD, text.len(), overlap);
        if wanted == Wanted::Count && haystacks.is_none() {
            state.counted = self.search.count(in_flight.0, tile).transpose()?;
        }
        if state.counted.is_none() {
            self.search.search(in_flight.0, tile, &mut state.records)?;
        }
        in_flight.0.queue().settle()?;
        in_flight.0.keep_text(brought);
        let packed = haystacks.map(|haystacks| Packed { haystacks, offset });
        if let Some(packed) = packed {
            let stands_for_several = |r: &Record| r.pattern as usize >= self.set.len();
            let stays = |r: &Record| stands_for_several(r) || self.is_for_sink(*r, text, packed);
            state.records.retain(stays);
        }
        self.search.expand(&mut state.records, overlap as u32, packed);
        Ok(())
    }

    /// Whether the sink has to get a record of packed haystacks.
    fn is_for_sink(&self, record: Record, text: &[u8], packed: Packed<'_>) -> bool {
        let (haystack, span) = packed.haystack(record.end - 1);
        let length = self.set.pattern_len(record.pattern) as u32;
        record.end - span.start >= length
            && self.is_match(record, text)
            && packed.haystacks.take(haystack, record.pattern, 1)
    }

    /// Whether a record is a match, which a search that needs [`Search::confirm`] cannot say.
    fn is_match(&self, record: Record, text: &[u8]) -> bool {
        let is_sure = self.search.confirm().get(record.pattern as usize).is_none_or(|c| !c);
        let end = record.end as usize;
        is_sure
            || self
                .set
                .get(record.pattern)
                .is_match(&text[end - self.set.pattern_len(record.pattern)..end])
    }

    /// Scans a block of any size.
    fn scan_all(
        &self,
        block: Block<'_>,
        haystacks: Option<&dyn PackedHaystacks>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        if self.set.is_empty() {
            return ControlFlow::Continue(());
        }
        let size = if haystacks.is_some() { PACKED } else { MEMORY };
        if block.owned().len() > size.piece_for(self) {
            return pipeline::scan(self, size, block, haystacks, sink);
        }
        let (buffer, state) = scratch.parts::<WorkerState>();
        // Threads that scan side by side are spread over the devices; each keeps one device.
        let assign = || self.assigned.fetch_add(1, Ordering::Relaxed);
        let chosen = self.on(*state.device_index.get_or_insert_with(assign) % self.devices());
        block
            .pieces(self.tile(), self.set.overlap())
            .try_for_each(|piece| chosen.scan_tile(piece, haystacks, buffer, state, sink))
    }

    /// Scans a block that fits a tile.
    fn scan_tile(
        &self,
        block: Block<'_>,
        haystacks: Option<&dyn PackedHaystacks>,
        buffer: &mut Vec<Record>,
        state: &mut WorkerState,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let wanted = self.wanted(sink);
        let found = self.find(state, wanted, block, haystacks);
        self.deliver(found, block, buffer, state, sink)
    }

    /// Passes the matches of a block to the sink. After a fault it searches again: in halves if
    /// memory was short, else on the CPU.
    pub(crate) fn deliver(
        &self,
        found: Result<(), Fault>,
        block: Block<'_>,
        buffer: &mut Vec<Record>,
        state: &mut WorkerState,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        match found {
            Ok(()) => match (state.counted, sink.counter()) {
                (None, _) => self.emit(block, buffer, &state.records, sink),
                (Some(count), Some(counter)) => {
                    *counter += count;
                    ControlFlow::Continue(())
                }
                // The sink only counted when the tile was searched, and now wants records.
                (Some(_), None) => self.scan_tile(block, None, buffer, state, sink),
            },
            Err(fault)
                if fault.kind() == FaultKind::OutOfMemory && block.owned().len() > SMALLEST =>
            {
                state.discard_workspace();
                let mut halves = block.pieces(block.owned().len().div_ceil(2), self.set.overlap());
                halves.try_for_each(|half| self.scan_tile(half, None, buffer, state, sink))
            }
            Err(fault) => {
                faults::note(self.info.name, &self.device, &fault);
                state.discard_workspace();
                self.fallback().scan(block, &mut state.fallback, sink)
            }
        }
    }

    /// Passes the records of a block to the sink, and compares them with the text where
    /// [`Search::confirm`] asks for it.
    pub fn emit(
        &self,
        block: Block<'_>,
        buffer: &mut Vec<Record>,
        records: &[Record],
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let is_match = |r: &&Record| self.is_match(**r, block.bytes);
        let mut out = Emitter::new(&self.set, sink, buffer, block.offset, self.search.is_ordered());
        for group in records.chunk_by(|a, b| a.end == b.end) {
            group.iter().filter(is_match).for_each(|r| out.push(r.end, r.pattern));
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
        self.scan_all(block, None, scratch, sink)
    }

    fn scan_packed(
        &self,
        block: Block<'_>,
        haystacks: &dyn PackedHaystacks,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        self.scan_all(block, Some(haystacks), scratch, sink)
    }

    fn drive(&self, src: &mut dyn Source, sink: &mut dyn Sink) -> io::Result<ControlFlow<()>> {
        if self.set.is_empty() {
            while src.next()?.is_some() {}
            return Ok(ControlFlow::Continue(()));
        }
        pipeline::drive(self, SOURCE, src, sink)
    }

    fn memory(&self, bytes: usize) -> Memory {
        let is_enough = |p: &Pinned| p.len() >= bytes;
        let allocate = || self.device.pinned(bytes.next_multiple_of(LEAST_STAGED));
        let pinned =
            if bytes < LEAST_STAGED { None } else { self.pinned.borrow(is_enough, allocate).ok() };
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
