//! Run time: windows of lanes, their seams, and reports in order.

use super::table::{Table, Walk};
use super::{Compiled, Isa};
use crate::build::lists::each_of;
use fyke_core::{Block, Emitter, Scratch, Sink};
use std::ops::ControlFlow;

/// Lanes of the plain form, as many as `ac-dfa` has. It is not swept yet.
const PLAIN_LANES: usize = 8;

/// Lanes of the wide form.
pub(super) const WIDE_LANES: usize = 64;

/// Most lanes of any form.
const MOST_LANES: usize = 64;

/// Bytes of a lane, by size of window. Each is 64 more than a multiple of 128: at a multiple of 4096 all lanes
/// would be in the same sets of the first-level cache. In a small window a seam of ten bytes costs a twentieth.
/// The sizes are not swept yet.
const LARGE: usize = 16 * 128 + 64;
const SMALL: usize = 128 + 64;

/// Bytes of a haystack between two moves of the base that 32-bit record ends count from.
const SPAN: usize = 1 << 30;

/// A lane's number is in the low bits of a hit.
pub(super) const LANE_BITS: u32 = 6;

/// What lanes wrote down, and where they ended.
pub(super) struct Lanes {
    /// `step << LANE_BITS | lane` of each reporting state, and the place of its entry.
    pub(super) when: Vec<u32>,
    pub(super) place: Vec<u32>,
    pub(super) hits: usize,
    /// The same by lane: the step and the place.
    sorted: Vec<(u32, u32)>,
    pub(super) walks: [Walk; MOST_LANES],
    pub(super) last: [u32; MOST_LANES],
}

impl Default for Lanes {
    fn default() -> Lanes {
        Lanes {
            when: Vec::new(),
            place: Vec::new(),
            hits: 0,
            sorted: Vec::new(),
            walks: [Walk::default(); MOST_LANES],
            last: [0; MOST_LANES],
        }
    }
}

impl Lanes {
    /// Makes room for a hit at every byte, and for a vector more.
    fn prepare(&mut self, bytes: usize) {
        let need = bytes + 16;
        if self.when.len() < need {
            self.when.resize(need, 0);
            self.place.resize(need, 0);
        }
        self.hits = 0;
    }

    /// Puts hits in order of lanes; within a lane they are in order of steps. Returns where each lane's end.
    fn sort(&mut self) -> [usize; MOST_LANES] {
        let lane = |when: u32| (when % (1 << LANE_BITS)) as usize;
        let mut next = [0; MOST_LANES];
        self.when[..self.hits].iter().for_each(|&w| next[lane(w)] += 1);
        let mut start = 0;
        for n in &mut next {
            start += std::mem::replace(n, start);
        }
        if self.sorted.len() < self.hits {
            self.sorted.resize(self.hits, (0, 0));
        }
        for (&when, &place) in self.when.iter().zip(&self.place).take(self.hits) {
            let to = &mut next[lane(when)];
            self.sorted[*to] = (when >> LANE_BITS, place);
            *to += 1;
        }
        next
    }

    /// Walks lanes in turns.
    fn walk_plain(&mut self, table: &Table, window: &[u8], size: usize) {
        let segments: [&[u8]; PLAIN_LANES] =
            std::array::from_fn(|k| &window[k * size..(k + 1) * size]);
        let mut walks: [Walk; PLAIN_LANES] = std::array::from_fn(|k| self.walks[k]);
        let mut hits = 0;
        for step in 0..size {
            for (k, (walk, segment)) in walks.iter_mut().zip(&segments).enumerate() {
                let place = table.step(walk, segment[step]);
                self.when[hits] = (step << LANE_BITS | k) as u32;
                self.place[hits] = place;
                self.last[k] = place;
                hits += usize::from(walk.reports());
            }
        }
        self.hits = hits;
        self.walks[..PLAIN_LANES].copy_from_slice(&walks);
    }
}

/// What of a block is scanned, and what record ends count from.
struct Span<'a> {
    bytes: &'a [u8],
    from: usize,
    to: usize,
    base: usize,
}

impl Compiled {
    pub(super) fn scan_block(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let mut walk = self.enter(&block, scratch);
        let (records, lanes) = scratch.parts::<Lanes>();
        let mut out = Emitter::new(&self.set, sink, records, block.owned_offset(), true);
        let (mut from, len) = (block.lead, block.bytes.len());
        while from < len {
            out.rebase(block.offset + from as u64)?;
            let mut span = Span { bytes: block.bytes, from, to: len.min(from + SPAN), base: from };
            self.scan_span(&mut span, &mut walk, lanes, &mut out)?;
            from = span.to;
        }
        out.flush()?;
        scratch.leave(self.owner, block.offset + len as u64, walk.into());
        ControlFlow::Continue(())
    }

    /// The walk where the owned bytes begin: left by the block before, or over the end of the lead.
    fn enter(&self, block: &Block<'_>, scratch: &Scratch) -> Walk {
        if let Some(left) = scratch.resume(self.owner, block) {
            return left.into();
        }
        let mut walk = self.table.start();
        let from = block.lead - block.lead.min(self.set.lead());
        for &byte in &block.bytes[from..block.lead] {
            self.table.step(&mut walk, byte);
        }
        walk
    }

    fn scan_span(
        &self,
        span: &mut Span<'_>,
        walk: &mut Walk,
        lanes: &mut Lanes,
        out: &mut Emitter<'_>,
    ) -> ControlFlow<()> {
        if self.isa == Isa::Avx512 {
            self.windows(WIDE_LANES, LARGE, span, walk, lanes, out)?;
            self.windows(WIDE_LANES, SMALL, span, walk, lanes, out)?;
        }
        self.windows(PLAIN_LANES, LARGE, span, walk, lanes, out)?;
        self.windows(PLAIN_LANES, SMALL, span, walk, lanes, out)?;
        self.walk_on(span, walk, out)
    }

    /// One walk over the rest, reporting as it goes.
    fn walk_on(
        &self,
        span: &mut Span<'_>,
        walk: &mut Walk,
        out: &mut Emitter<'_>,
    ) -> ControlFlow<()> {
        for end in span.from + 1..=span.to {
            let place = self.table.step(walk, span.bytes[end - 1]);
            if walk.reports() {
                self.report(place, end, span, out)?;
            }
        }
        span.from = span.to;
        ControlFlow::Continue(())
    }

    /// As many windows of lanes of so many bytes as there are.
    fn windows(
        &self,
        count: usize,
        size: usize,
        span: &mut Span<'_>,
        walk: &mut Walk,
        lanes: &mut Lanes,
        out: &mut Emitter<'_>,
    ) -> ControlFlow<()> {
        while span.to - span.from >= count * size {
            let window = &span.bytes[span.from..span.from + count * size];
            lanes.prepare(window.len());
            lanes.walks[0] = *walk;
            for k in 1..count {
                lanes.walks[k] = self.table.start_after(&window[..k * size]);
            }
            if count == WIDE_LANES {
                walk_wide(lanes, &self.table, window, size);
            } else {
                lanes.walk_plain(&self.table, window, size);
            }
            *walk = self.join(count, size, span, lanes, out)?;
            span.from += count * size;
        }
        ControlFlow::Continue(())
    }

    /// Puts the seams right and reports, lane after lane. Returns the walk at the end of the window.
    fn join(
        &self,
        count: usize,
        size: usize,
        span: &Span<'_>,
        lanes: &mut Lanes,
        out: &mut Emitter<'_>,
    ) -> ControlFlow<(), Walk> {
        let ends = lanes.sort();
        let (mut walk, mut last) = (lanes.walks[0], lanes.last[0]);
        let mut begin = 0;
        for (k, &end) in ends.iter().enumerate().take(count) {
            let start = span.from + k * size;
            let mut read = 0;
            while k > 0 && read < size && !self.table.is_settled(last, read) {
                last = self.table.step(&mut walk, span.bytes[start + read]);
                read += 1;
                if walk.reports() {
                    self.report(last, start + read, span, out)?;
                }
            }
            if read < size {
                (walk, last) = (lanes.walks[k], lanes.last[k]);
            }
            for &(step, place) in &lanes.sorted[begin..end] {
                if step as usize >= read {
                    self.report(place, start + step as usize + 1, span, out)?;
                }
            }
            begin = end;
        }
        ControlFlow::Continue(walk)
    }

    /// Writes the patterns of an entry, longest first.
    #[inline(always)]
    fn report(
        &self,
        place: u32,
        end: usize,
        span: &Span<'_>,
        out: &mut Emitter<'_>,
    ) -> ControlFlow<()> {
        let at = (end - span.base) as u32;
        each_of(&self.table.lists, self.table.heads[place as usize], |pattern| {
            let sure = self.confirm.is_empty() || !self.confirm[pattern as usize];
            if sure || span.bytes[..end].ends_with(self.set.bytes(pattern)) {
                out.push(at, pattern);
            }
        });
        out.relieve()
    }
}

#[cfg(target_arch = "x86_64")]
fn walk_wide(lanes: &mut Lanes, table: &Table, window: &[u8], size: usize) {
    debug_assert!(super::wide::available());
    // SAFETY: the wide form is chosen only where the processor has it.
    unsafe { super::wide::walk(lanes, table, window, size) }
}

#[cfg(not(target_arch = "x86_64"))]
fn walk_wide(_: &mut Lanes, _: &Table, _: &[u8], _: usize) {
    unreachable!("the wide form is refused when a set is compiled")
}
