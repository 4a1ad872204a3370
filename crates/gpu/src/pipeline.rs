//! Overlaps copies and searches for haystacks in host memory.
//!
//! A device can fetch one piece of the haystack, search a second and return the matches of a third
//! at the same time, if each is on a queue of its own. So a haystack passes through a few
//! [`Slot`]s, each with a workspace. One thread per piece copies it to the device, searches it and
//! fetches its matches. The device decides which of them copies and which computes: no slot waits
//! for another. The calling thread takes the results in the order of the pieces, so the sink sees
//! the order of a plain scan.
//!
//! * [`drive`] gathers the blocks of a source in pinned memory, from which a device copies at its
//!   full rate. Small blocks are joined to one piece: a launch takes some microseconds, however
//!   short the piece. The matches of a slow source are held back until a piece is full.
//! * [`scan`] takes a block in memory. Its slots copy to pinned memory side by side, because one
//!   thread copies fewer bytes per second than the bus.
//!
//! Several devices share the slots; each device adds as many. A piece goes to the device with the
//! fewest unfinished pieces, so a faster device gets more of them. A device that has failed gets
//! none while there is another.
//!
//! The sink sees nothing of a piece before all of it came back. After a fault the calling thread
//! searches that piece again when its turn comes, in halves or on the CPU (see
//! [`GpuMatcher::deliver`]): no match is lost or reported twice. There are never more pieces in
//! flight than slots, so memory is bounded.

use crate::device::{Fault, FaultKind};
use crate::matcher::{GpuMatcher, Wanted, WorkerState};
use fyke_core::{Block, Matcher, Memory, PackedHaystacks, Record, Sink, Source};
use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;
use std::sync::PoisonError;
use std::thread::{Scope, ScopedJoinHandle};

/// How many pieces are in flight, and how large they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PipelineSize {
    /// Pieces in flight per device, on average over the devices; at least 1.
    pub slots: usize,
    /// Most bytes of a piece without its overlap; at least 1.
    pub piece: usize,
}

/// For a source, whose one reader fills piece after piece: one is filled, one copied, one
/// searched, and one may be late. Not measured: a guess.
pub(crate) const SOURCE: PipelineSize = PipelineSize { slots: 4, piece: 16 << 20 };

/// For a block in memory. One thread copies more slowly than the bus, so many slots copy at the
/// same time. Benchmark: `fyke bench gpu --stream -f resident/32` on an H100 with 6 to 16 slots and
/// pieces of 8 to 64 MiB.
pub(crate) const MEMORY: PipelineSize = PipelineSize { slots: 12, piece: 32 << 20 };

/// For packed haystacks. The threads of the slots drop matches, which takes longer than a copy, so
/// there are more and smaller pieces. Measured on an H200 with packets of 53 and 1,400 bytes, with 12
/// and 16 slots and pieces of 2 to 32 MiB.
pub(crate) const PACKED: PipelineSize = PipelineSize { slots: 16, piece: 8 << 20 };

/// Fewest bytes of a piece for a source that says it is short. Not measured: a guess.
const LEAST: u64 = 64 << 10;

impl PipelineSize {
    /// Most bytes of a piece that a matcher accepts.
    pub(crate) fn piece_for(self, matcher: &GpuMatcher) -> usize {
        self.piece.min(matcher.tile())
    }
}

/// Scans the blocks of a source; see [`Matcher::drive`].
pub(crate) fn drive(
    matcher: &GpuMatcher,
    size: PipelineSize,
    src: &mut dyn Source,
    sink: &mut dyn Sink,
) -> io::Result<ControlFlow<()>> {
    let expected = src.size_hint().map_or(u64::MAX, |s| s.max(LEAST));
    let piece = size.piece_for(matcher).min(usize::try_from(expected).unwrap_or(usize::MAX));
    std::thread::scope(|scope| {
        let mut pipeline = Pipeline::new(matcher, size, scope, sink);
        let done = gather(&mut pipeline, piece, src);
        pipeline.close();
        done
    })
}

/// Scans a block of more than one piece; see [`Matcher::scan`].
pub(crate) fn scan(
    matcher: &GpuMatcher,
    size: PipelineSize,
    block: Block<'_>,
    haystacks: Option<&dyn PackedHaystacks>,
    sink: &mut dyn Sink,
) -> ControlFlow<()> {
    std::thread::scope(|scope| {
        let mut pipeline = Pipeline { haystacks, ..Pipeline::new(matcher, size, scope, sink) };
        let mut pieces = block.pieces(size.piece_for(matcher), matcher.set().overlap());
        let sent = pieces.try_for_each(|piece| {
            let slot = pipeline.free_slot()?;
            pipeline.send(slot, Some(piece));
            ControlFlow::Continue(())
        });
        let done = if sent.is_break() { sent } else { pipeline.finish() };
        pipeline.close();
        done
    })
}

/// Joins the blocks of a source to pieces and sends them through. After an error of the source the
/// matches before it are delivered first. A break of the sink takes precedence over the error.
fn gather(
    pipeline: &mut Pipeline<'_, '_, '_>,
    piece: usize,
    src: &mut dyn Source,
) -> io::Result<ControlFlow<()>> {
    let mut filling = None;
    let read = loop {
        match src.next() {
            Ok(Some(block)) => {
                if pipeline.take(block, piece, &mut filling).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    if let Some(slot) = filling {
        pipeline.send(slot, None);
    }
    match pipeline.finish() {
        ControlFlow::Break(()) => Ok(ControlFlow::Break(())),
        ControlFlow::Continue(()) => read.map(ControlFlow::Continue),
    }
}

/// A place in the pipeline: what a thread needs to search, and memory for a piece. The matcher
/// keeps slots between scans.
#[derive(Default)]
pub(crate) struct Slot {
    /// The index of its device.
    device: usize,
    state: WorkerState,
    piece: PieceBuffer,
}

/// A piece that is gathered from blocks.
#[derive(Default)]
struct PieceBuffer {
    memory: Option<Memory>,
    /// Bytes that the piece may have, with its overlap.
    capacity: usize,
    len: usize,
    overlap: usize,
    offset: u64,
}

impl PieceBuffer {
    /// Begins a piece of up to that many bytes after its history.
    fn begin(&mut self, matcher: &GpuMatcher, history: Block<'_>, piece: usize) {
        let overlap = history.bytes.len();
        let capacity = overlap + piece;
        if self.memory.as_ref().is_none_or(|m| m.len() < capacity) {
            // The old one first: there may not be memory for both.
            self.memory = None;
            self.memory = Some(matcher.memory(capacity));
        }
        (self.capacity, self.len, self.overlap, self.offset) =
            (capacity, 0, overlap, history.offset);
        self.push(history.bytes);
    }

    /// Appends as many of these bytes as fit; returns how many.
    fn push(&mut self, bytes: &[u8]) -> usize {
        let count = bytes.len().min(self.capacity - self.len);
        let memory = self.memory.as_mut().expect("`begin` allocates it");
        memory[self.len..self.len + count].copy_from_slice(&bytes[..count]);
        self.len += count;
        count
    }

    fn is_full(&self) -> bool {
        self.len == self.capacity
    }

    /// The position after the last byte in the whole haystack.
    fn end(&self) -> u64 {
        self.offset + self.len as u64
    }

    fn block(&self) -> Block<'_> {
        let bytes = self.memory.as_ref().map_or(&[][..], |m| &m[..self.len]);
        Block { bytes, overlap: self.overlap, offset: self.offset }
    }
}

/// A piece that was searched.
struct SearchedPiece<'env> {
    slot: Slot,
    /// The piece, if it was not gathered in the slot.
    block: Option<Block<'env>>,
    found: Result<(), Fault>,
}

/// Searches a piece: what the thread of a slot does.
fn work<'env>(
    matcher: &GpuMatcher,
    wanted: Wanted,
    haystacks: Option<&dyn PackedHaystacks>,
    mut slot: Slot,
    block: Option<Block<'env>>,
) -> SearchedPiece<'env> {
    let Slot { device, state, piece } = &mut slot;
    let searched = block.unwrap_or_else(|| piece.block());
    let found = matcher.on(*device).find(state, wanted, searched, haystacks);
    SearchedPiece { slot, block, found }
}

/// The pieces in flight, in order, and the idle slots.
struct Pipeline<'a, 'scope, 'env> {
    matcher: &'env GpuMatcher,
    haystacks: Option<&'env dyn PackedHaystacks>,
    size: PipelineSize,
    scope: &'scope Scope<'scope, 'env>,
    /// The index of each piece's device, and its thread.
    running: VecDeque<(usize, ScopedJoinHandle<'scope, SearchedPiece<'env>>)>,
    idle: Vec<Slot>,
    /// Which devices have failed in this scan.
    failed: Vec<bool>,
    buffer: Vec<Record>,
    sink: &'a mut dyn Sink,
}

impl<'a, 'scope, 'env> Pipeline<'a, 'scope, 'env> {
    fn new(
        matcher: &'env GpuMatcher,
        size: PipelineSize,
        scope: &'scope Scope<'scope, 'env>,
        sink: &'a mut dyn Sink,
    ) -> Self {
        let mut kept = matcher.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = std::mem::take(&mut *kept);
        let (running, buffer) = (VecDeque::new(), Vec::new());
        let failed = vec![false; matcher.devices()];
        Self { matcher, haystacks: None, size, scope, running, idle, failed, buffer, sink }
    }

    /// Most slots of all devices together.
    fn most(&self) -> usize {
        self.size.slots * self.matcher.devices()
    }

    /// The device with the fewest unfinished pieces; one that has failed only if all have.
    fn least_busy(&self) -> usize {
        let busy = |device: usize| {
            self.running.iter().filter(|(d, thread)| *d == device && !thread.is_finished()).count()
        };
        let order = |device: &usize| (self.failed[*device], busy(*device));
        (0..self.matcher.devices()).min_by_key(order).unwrap_or(0)
    }

    /// An idle slot. If all are in use, delivers the oldest piece first.
    fn free_slot(&mut self) -> ControlFlow<(), Slot> {
        if self.running.len() >= self.most() {
            self.deliver()?;
        }
        let device = self.least_busy();
        if let Some(at) = self.idle.iter().position(|s| s.device == device) {
            return ControlFlow::Continue(self.idle.swap_remove(at));
        }
        if self.running.len() + self.idle.len() >= self.most() {
            self.idle.pop();
        }
        ControlFlow::Continue(Slot { device, ..Slot::default() })
    }

    /// Sends a piece through: a block, or what was gathered in the slot.
    fn send(&mut self, slot: Slot, block: Option<Block<'env>>) {
        let (matcher, wanted) = (self.matcher, self.matcher.wanted(self.sink));
        let (device, haystacks) = (slot.device, self.haystacks);
        let thread = self.scope.spawn(move || work(matcher, wanted, haystacks, slot, block));
        self.running.push_back((device, thread));
    }

    /// Appends the bytes that a block owns to the piece that is being filled, and sends full
    /// pieces.
    fn take(
        &mut self,
        block: Block<'_>,
        piece: usize,
        filling: &mut Option<Slot>,
    ) -> ControlFlow<()> {
        let mut at = block.overlap;
        while at < block.bytes.len() {
            let mut slot = match filling.take() {
                Some(slot) if slot.piece.end() == block.offset + at as u64 => slot,
                // No piece is being filled, or the source skipped bytes: pieces must not span a
                // gap.
                other => {
                    other.into_iter().for_each(|slot| self.send(slot, None));
                    let mut slot = self.free_slot()?;
                    let history = block.part(at, at, self.matcher.set().overlap());
                    slot.piece.begin(self.matcher.on(slot.device), history, piece);
                    slot
                }
            };
            at += slot.piece.push(&block.bytes[at..]);
            if slot.piece.is_full() {
                self.send(slot, None);
            } else {
                *filling = Some(slot);
            }
        }
        ControlFlow::Continue(())
    }

    /// Waits for the oldest piece and passes its matches to the sink.
    fn deliver(&mut self) -> ControlFlow<()> {
        let Some((device, thread)) = self.running.pop_front() else {
            return ControlFlow::Continue(());
        };
        let done = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let SearchedPiece { mut slot, block, found } = done;
        self.failed[device] |= found.as_ref().is_err_and(|f| f.kind() == FaultKind::Other);
        let Slot { state, piece, .. } = &mut slot;
        let block = block.unwrap_or_else(|| piece.block());
        let matcher = self.matcher.on(device);
        let flow = matcher.deliver(found, block, &mut self.buffer, state, self.sink);
        self.idle.push(slot);
        flow
    }

    /// Delivers all pieces.
    fn finish(&mut self) -> ControlFlow<()> {
        while !self.running.is_empty() {
            self.deliver()?;
        }
        ControlFlow::Continue(())
    }

    /// Waits for the pieces that a break left, and keeps the slots for the next scan.
    fn close(mut self) {
        let left = self.running.drain(..).filter_map(|(_, thread)| thread.join().ok());
        self.idle.extend(left.map(|done| done.slot));
        let mut kept = self.matcher.idle.lock().unwrap_or_else(PoisonError::into_inner);
        kept.append(&mut self.idle);
        kept.truncate(MEMORY.slots.max(PACKED.slots) * self.matcher.devices());
    }
}

#[cfg(test)]
mod tests;
