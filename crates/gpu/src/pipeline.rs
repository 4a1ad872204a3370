//! Copying and searching at the same time, from the memory of the host and back to it.
//!
//! A device can fetch a piece of the haystack while it searches another one and a third one's matches come back, if
//! each is on a queue of its own. So a haystack goes through a few [`Slot`]s, each with a lane and a thread that
//! brings one piece, searches it and fetches what was found. Which of them copies and which computes at a time is left
//! to the device: no station waits for another. The calling thread takes the results in the order of the pieces, so
//! that the sink sees what a plain scan would show it.
//!
//! * [`drive`] gathers the blocks of a source in pinned memory, from which a device copies at its full rate. Blocks
//!   that are small become one piece: a launch takes some microseconds, however little there is to search. The
//!   matches of a slow source are held back until a piece is full.
//! * [`scan`] takes a block in memory. There the stations copy to pinned memory, because one thread copies fewer
//!   bytes a second than the bus to the device.
//!
//! Several devices have so many stations each. A piece goes to the device with the fewest that are not done, so that a
//! faster one gets more of them; one that has failed gets none as long as there is another.
//!
//! Nothing of a piece reaches the sink before all of it came back. After a fault the calling thread searches that
//! piece again, in halves or with the processor (module `matcher`), when it is the piece's turn: nothing is lost and
//! nothing comes twice. As many pieces are held at a time as there are stations, so memory is bounded.

use crate::device::{Fault, FaultKind};
use crate::matcher::{GpuMatcher, Wanted, WorkerState};
use fyke_core::{Block, Matcher, Memory, Record, Sink, Source};
use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;
use std::sync::PoisonError;
use std::thread::{Scope, ScopedJoinHandle};

/// Pieces that are on their way at a time, and how large they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ring {
    /// Pieces that are on their way at a time, for each device; at least 1.
    pub stations: usize,
    /// Most bytes of a piece without its overlap, at least 1.
    pub bytes: usize,
}

/// For a source, whose one reader fills a piece after the other: one is filled, one copied, one searched, and one may
/// be late. Not swept.
pub(crate) const SOURCE: Ring = Ring { stations: 4, bytes: 16 << 20 };

/// For a block in memory: one thread copies some 8 GB/s, the bus to a device 55 GB/s. With 8, 12 and 16 stations 31, 40 and
/// 40 GB/s came to an H200 (`fyke bench gpu --stream -f resident/32`); from pinned memory 53, also with four stations.
pub(crate) const MEMORY: Ring = Ring { stations: 12, bytes: 16 << 20 };

/// Fewest bytes of a piece of a source that says it is short. Not swept.
const LEAST: u64 = 64 << 10;

impl Ring {
    /// Most bytes of a piece for a matcher.
    pub(crate) fn piece(self, matcher: &GpuMatcher) -> usize {
        self.bytes.min(matcher.tile())
    }
}

/// Scans the blocks of a source; see [`Matcher::drive`].
pub(crate) fn drive(
    matcher: &GpuMatcher,
    ring: Ring,
    src: &mut dyn Source,
    sink: &mut dyn Sink,
) -> io::Result<ControlFlow<()>> {
    let size = src.size_hint().map_or(u64::MAX, |s| s.max(LEAST));
    let piece = ring.piece(matcher).min(usize::try_from(size).unwrap_or(usize::MAX));
    std::thread::scope(|scope| {
        let mut line = Line::new(matcher, ring, scope, sink);
        let done = gather(&mut line, piece, src);
        line.close();
        done
    })
}

/// Scans a block of more than one piece; see [`Matcher::scan`].
pub(crate) fn scan(
    matcher: &GpuMatcher,
    ring: Ring,
    block: Block<'_>,
    sink: &mut dyn Sink,
) -> ControlFlow<()> {
    std::thread::scope(|scope| {
        let mut line = Line::new(matcher, ring, scope, sink);
        let mut pieces = block.pieces(ring.piece(matcher), matcher.set().overlap());
        let sent = pieces.try_for_each(|piece| {
            let station = line.station()?;
            line.send(station, Some(piece));
            ControlFlow::Continue(())
        });
        let done = if sent.is_break() { sent } else { line.finish() };
        line.close();
        done
    })
}

/// Makes pieces of the blocks of a source and sends them through. At an error what came before it is delivered, unless
/// the sink breaks.
fn gather(
    line: &mut Line<'_, '_, '_>,
    piece: usize,
    src: &mut dyn Source,
) -> io::Result<ControlFlow<()>> {
    let mut filling = None;
    let read = loop {
        match src.next() {
            Ok(Some(block)) => {
                if line.take(block, piece, &mut filling).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    if let Some(station) = filling {
        line.send(station, None);
    }
    match line.finish() {
        ControlFlow::Break(()) => Ok(ControlFlow::Break(())),
        ControlFlow::Continue(()) => read.map(ControlFlow::Continue),
    }
}

/// A place in the pipeline: a lane, and pinned memory for a piece. WorkerState from scan to scan.
#[derive(Default)]
pub(crate) struct Slot {
    /// Which of the matcher's devices it is at.
    place: usize,
    kept: WorkerState,
    gathered: Gathered,
}

/// A piece that is gathered from blocks.
#[derive(Default)]
struct Gathered {
    memory: Option<Memory>,
    /// How many bytes it may have now, those that it has, and how many of them are overlap.
    room: usize,
    len: usize,
    overlap: usize,
    offset: u64,
}

impl Gathered {
    /// Begins a piece of so many bytes with some history.
    fn begin(&mut self, matcher: &GpuMatcher, history: Block<'_>, piece: usize) {
        let overlap = history.bytes.len();
        let room = overlap + piece;
        if self.memory.as_ref().is_none_or(|m| m.len() < room) {
            // The old one first: there may not be room for both.
            self.memory = None;
            self.memory = Some(matcher.memory(room));
        }
        (self.room, self.len, self.overlap, self.offset) = (room, 0, overlap, history.offset);
        self.push(history.bytes);
    }

    /// Appends as many of these bytes as there is room for; gives how many.
    fn push(&mut self, bytes: &[u8]) -> usize {
        let count = bytes.len().min(self.room - self.len);
        let memory = self.memory.as_mut().expect("a piece was begun");
        memory[self.len..self.len + count].copy_from_slice(&bytes[..count]);
        self.len += count;
        count
    }

    fn is_full(&self) -> bool {
        self.len == self.room
    }

    /// Position of the byte after the last in the whole haystack.
    fn end(&self) -> u64 {
        self.offset + self.len as u64
    }

    fn block(&self) -> Block<'_> {
        let bytes = self.memory.as_ref().map_or(&[][..], |m| &m[..self.len]);
        Block { bytes, overlap: self.overlap, offset: self.offset }
    }
}

/// A piece that has been through.
struct Done<'env> {
    station: Slot,
    /// Where it is, if it was not gathered in the station.
    block: Option<Block<'env>>,
    found: Result<(), Fault>,
}

/// What a station's thread does.
fn work<'env>(
    matcher: &GpuMatcher,
    wanted: Wanted,
    mut station: Slot,
    block: Option<Block<'env>>,
) -> Done<'env> {
    let Slot { place, kept, gathered } = &mut station;
    let matcher = matcher.on(*place);
    let found = match block {
        Some(block) => matcher.find(kept, wanted, block.bytes, block.overlap),
        None => matcher.find(kept, wanted, gathered.block().bytes, gathered.overlap),
    };
    Done { station, block, found }
}

/// The pieces that are on their way, in order.
struct Line<'a, 'scope, 'env> {
    matcher: &'env GpuMatcher,
    ring: Ring,
    scope: &'scope Scope<'scope, 'env>,
    /// With the place of the device.
    running: VecDeque<(usize, ScopedJoinHandle<'scope, Done<'env>>)>,
    spare: Vec<Slot>,
    /// Which devices have failed in this scan.
    failed: Vec<bool>,
    buffer: Vec<Record>,
    sink: &'a mut dyn Sink,
}

impl<'a, 'scope, 'env> Line<'a, 'scope, 'env> {
    fn new(
        matcher: &'env GpuMatcher,
        ring: Ring,
        scope: &'scope Scope<'scope, 'env>,
        sink: &'a mut dyn Sink,
    ) -> Self {
        let mut idle = matcher.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let spare = std::mem::take(&mut *idle);
        let (running, buffer) = (VecDeque::new(), Vec::new());
        let failed = vec![false; matcher.devices()];
        Self { matcher, ring, scope, running, spare, failed, buffer, sink }
    }

    /// Most stations of all devices.
    fn most(&self) -> usize {
        self.ring.stations * self.matcher.devices()
    }

    /// The device with the fewest pieces that are not done; one that has failed only if all have.
    fn freest(&self) -> usize {
        let busy = |place: usize| {
            self.running.iter().filter(|(p, thread)| *p == place && !thread.is_finished()).count()
        };
        let order = |place: &usize| (self.failed[*place], busy(*place));
        (0..self.matcher.devices()).min_by_key(order).unwrap_or(0)
    }

    /// A station that is free: delivers the oldest piece if all are taken.
    fn station(&mut self) -> ControlFlow<(), Slot> {
        if self.running.len() >= self.most() {
            self.deliver()?;
        }
        let place = self.freest();
        if let Some(at) = self.spare.iter().position(|s| s.place == place) {
            return ControlFlow::Continue(self.spare.swap_remove(at));
        }
        if self.running.len() + self.spare.len() >= self.most() {
            self.spare.pop();
        }
        ControlFlow::Continue(Slot { place, ..Slot::default() })
    }

    /// Sends a piece through: a block, or what was gathered in the station.
    fn send(&mut self, station: Slot, block: Option<Block<'env>>) {
        let (matcher, wanted) = (self.matcher, self.matcher.wanted(self.sink));
        let place = station.place;
        let thread = self.scope.spawn(move || work(matcher, wanted, station, block));
        self.running.push_back((place, thread));
    }

    /// Adds the bytes that a block owns to the piece that is filled; full ones are sent.
    fn take(
        &mut self,
        block: Block<'_>,
        piece: usize,
        filling: &mut Option<Slot>,
    ) -> ControlFlow<()> {
        let mut at = block.overlap;
        while at < block.bytes.len() {
            let mut station = match filling.take() {
                Some(station) if station.gathered.end() == block.offset + at as u64 => station,
                // None, or a source that left something out.
                other => {
                    other.into_iter().for_each(|station| self.send(station, None));
                    let mut station = self.station()?;
                    let history = block.part(at, at, self.matcher.set().overlap());
                    station.gathered.begin(self.matcher.on(station.place), history, piece);
                    station
                }
            };
            at += station.gathered.push(&block.bytes[at..]);
            if station.gathered.is_full() {
                self.send(station, None);
            } else {
                *filling = Some(station);
            }
        }
        ControlFlow::Continue(())
    }

    /// Waits for the oldest piece and gives the sink its matches.
    fn deliver(&mut self) -> ControlFlow<()> {
        let Some((place, thread)) = self.running.pop_front() else {
            return ControlFlow::Continue(());
        };
        let done = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let Done { mut station, block, found } = done;
        self.failed[place] |= found.as_ref().is_err_and(|f| f.kind() == FaultKind::Other);
        let Slot { kept, gathered, .. } = &mut station;
        let block = block.unwrap_or_else(|| gathered.block());
        let matcher = self.matcher.on(place);
        let flow = matcher.deliver(found, block, &mut self.buffer, kept, self.sink);
        self.spare.push(station);
        flow
    }

    /// Delivers all pieces.
    fn finish(&mut self) -> ControlFlow<()> {
        while !self.running.is_empty() {
            self.deliver()?;
        }
        ControlFlow::Continue(())
    }

    /// Waits for pieces that nobody wants, and leaves the stations to the next scan.
    fn close(mut self) {
        let unwanted = self.running.drain(..).filter_map(|(_, thread)| thread.join().ok());
        self.spare.extend(unwanted.map(|done| done.station));
        let mut idle = self.matcher.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.append(&mut self.spare);
        idle.truncate(SOURCE.stations.max(MEMORY.stations) * self.matcher.devices());
    }
}

#[cfg(test)]
mod tests;
