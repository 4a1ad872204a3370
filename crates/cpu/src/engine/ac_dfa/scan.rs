//! Run time: entering a block, the plain walk, reporting.

use super::lanes::{LARGE, LEAST, LEAST_LANES, MEDIUM, SMALL, TINY, TraceTile};
use super::{AT_ONCE, Dfa, Form, ListHead, NO_ROW};
use fyke_automata::count::{Counter, Uncounted};
use fyke_core::{Block, Count, Emitter, Scratch, Sink};
use std::ops::ControlFlow;

/// Record ends have 32 bits, so the base that they count from moves after this many bytes.
const SPAN: usize = 1 << 30;

/// Skips between two checks of whether skipping is faster than walking.
const SKIPS: usize = 16;

/// Average bytes of a skip below which interleaved walks are faster (`skip`, with letters of all
/// frequencies).
const WORTH_SKIPPING: usize = 48;

/// Bytes to walk before skipping is tried again.
const WALK_ON: usize = 32 << 10;

/// The bytes of a block, the range to scan, and the offset from which record ends count.
#[derive(Clone, Copy)]
struct Span<'a> {
    bytes: &'a [u8],
    from: usize,
    to: usize,
    base: usize,
}

/// The position and the state of a scan.
struct ScanState<'a> {
    span: Span<'a>,
    state: isize,
}

impl Dfa {
    pub(super) fn scan_as<const DENSE: bool>(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let state = self.enter::<DENSE>(&block, scratch);
        let state = if block.owned().len() < LEAST_LANES * LEAST && self.skip.is_never() {
            self.scan_short::<DENSE>(block, state, scratch, sink)?
        } else {
            self.scan_long::<DENSE>(block, state, scratch, sink)?
        };
        let end = block.offset + block.bytes.len() as u64;
        scratch.leave(self.owner, end, state as u64);
        ControlFlow::Continue(())
    }

    /// Scans a block with a plain walk, without seams and skips, and counts its transitions.
    pub fn count_into<C: Counter>(&self, block: Block<'_>, counter: &mut C) {
        match self.table.form {
            Form::Dense => self.count_as::<true, C>(block, counter),
            Form::Classes => self.count_as::<false, C>(block, counter),
        }
    }

    fn count_as<const DENSE: bool, C: Counter>(&self, block: Block<'_>, counter: &mut C) {
        let (mut scratch, mut sink) = (Scratch::new(), Count::default());
        let mut state = self.enter::<DENSE>(&block, &scratch);
        let mut out = Emitter::new(&self.set, &mut sink, scratch.records(), block.offset, true);
        let (from, to) = (block.overlap, block.bytes.len());
        for at in (from..to).step_by(SPAN) {
            let span = Span { bytes: block.bytes, from: at, to: to.min(at + SPAN), base: at };
            let flow = self.walk::<DENSE, _>(span, state, &mut out, counter);
            state = flow.continue_value().expect("a count never stops");
        }
    }

    /// Scans a block that is too short for a tile: a plain walk with the least overhead.
    fn scan_short<const DENSE: bool>(
        &self,
        block: Block<'_>,
        state: isize,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<(), isize> {
        let (from, to) = (block.overlap, block.bytes.len());
        let span = Span { bytes: block.bytes, from, to, base: from };
        let first = sink.wants_first();
        let records = scratch.records();
        let mut out = Emitter::new(&self.set, sink, records, block.owned_offset(), true);
        let (mut span, mut state) = (span, state);
        if first {
            self.walk_to_first::<DENSE>(&mut span, &mut state, &mut out)?;
        }
        let state = self.walk::<DENSE, _>(span, state, &mut out, &mut Uncounted)?;
        out.flush()?;
        ControlFlow::Continue(state)
    }

    fn scan_long<const DENSE: bool>(
        &self,
        block: Block<'_>,
        mut state: isize,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<(), isize> {
        let (records, tile) = scratch.parts::<TraceTile>();
        let mut out = Emitter::new(&self.set, sink, records, block.owned_offset(), true);
        let (mut from, len) = (block.overlap, block.bytes.len());
        while from < len {
            out.rebase(block.offset + from as u64)?;
            let span = Span { bytes: block.bytes, from, to: len.min(from + SPAN), base: from };
            state = self.scan_span::<DENSE>(span, state, tile, &mut out)?;
            from = span.to;
        }
        out.flush()?;
        ControlFlow::Continue(state)
    }

    /// The state at the start of the owned bytes: saved by the previous block, or found by walking
    /// the overlap.
    #[inline]
    fn enter<const DENSE: bool>(&self, block: &Block<'_>, scratch: &Scratch) -> isize {
        let steps = self.table.steps::<DENSE>();
        let walk = || block.bytes[..block.overlap].iter().fold(0, |s, &b| steps.next(s, b));
        scratch.resume(self.owner, block).map_or_else(walk, |s| s as isize)
    }

    /// Skips while skips are long. Where they become short, walks for [`WALK_ON`] bytes before it
    /// tries again.
    fn scan_span<const DENSE: bool>(
        &self,
        span: Span<'_>,
        state: isize,
        tile: &mut TraceTile,
        out: &mut Emitter<'_>,
    ) -> ControlFlow<(), isize> {
        let mut at = ScanState { span, state };
        while !self.skip.is_never() && at.span.from < span.to {
            self.skip_on::<DENSE>(&mut at, out)?;
            at.span.to = span.to.min(at.span.from + WALK_ON);
            self.scan_tiles::<DENSE>(&mut at, tile, out)?;
            at.span.to = span.to;
        }
        self.scan_tiles::<DENSE>(&mut at, tile, out)?;
        ControlFlow::Continue(at.state)
    }

    /// Skips to where a match may start, walks until it is in the root again, and repeats this to
    /// the end of the span or until skips become short.
    fn skip_on<const DENSE: bool>(
        &self,
        at: &mut ScanState<'_>,
        out: &mut Emitter<'_>,
    ) -> ControlFlow<()> {
        let steps = self.table.steps::<DENSE>();
        let (span, mut from, mut state) = (at.span, at.span.from, at.state);
        let (mut skips, mut mark) = (0, from);
        while from < span.to {
            if state == 0 {
                if skips == SKIPS {
                    if from - mark < SKIPS * WORTH_SKIPPING {
                        break;
                    }
                    (skips, mark) = (0, from);
                }
                skips += 1;
                from += self.skip.skip(&span.bytes[from..span.to]);
                if from == span.to {
                    break;
                }
            }
            state = steps.next(state, span.bytes[from]);
            from += 1;
            if state < 0 {
                self.report(state, from, span, out);
                out.flush_if_full()?;
            }
        }
        (at.span.from, at.state) = (from, state);
        ControlFlow::Continue(())
    }

    /// Walks tiles of descending size while there are bytes enough for one, then the rest by a
    /// plain walk.
    fn scan_tiles<const DENSE: bool>(
        &self,
        at: &mut ScanState<'_>,
        tile: &mut TraceTile,
        out: &mut Emitter<'_>,
    ) -> ControlFlow<()> {
        match self.walks {
            8 => {
                self.walk_tiles::<DENSE, 8, LARGE>(at, tile, out)?;
                self.walk_tiles::<DENSE, 8, MEDIUM>(at, tile, out)?;
                self.walk_tiles::<DENSE, 8, SMALL>(at, tile, out)?;
                self.walk_tiles::<DENSE, 8, TINY>(at, tile, out)?;
                self.walk_tiles::<DENSE, LEAST_LANES, LEAST>(at, tile, out)?;
            }
            4 => {
                self.walk_tiles::<DENSE, 4, LARGE>(at, tile, out)?;
                self.walk_tiles::<DENSE, 4, SMALL>(at, tile, out)?;
            }
            _ => {}
        }
        at.state = self.walk::<DENSE, _>(at.span, at.state, out, &mut Uncounted)?;
        at.span.from = at.span.to;
        ControlFlow::Continue(())
    }

    /// Walks all tiles of K lanes of S bytes that fit.
    fn walk_tiles<const DENSE: bool, const K: usize, const S: usize>(
        &self,
        at: &mut ScanState<'_>,
        tile: &mut TraceTile,
        out: &mut Emitter<'_>,
    ) -> ControlFlow<()> {
        while at.span.to - at.span.from >= K * S {
            let span = at.span;
            at.span.from += K * S;
            let bytes = &span.bytes[span.from..at.span.from];
            at.state = tile.walk::<DENSE, K, S>(&self.table, bytes, at.state);
            tile.hits(|end, state| {
                self.report(state, span.from + end, span, out);
                out.flush_if_full()
            })?;
        }
        ControlFlow::Continue(())
    }

    /// Walks to the first match and reports it at once. Leaves the span that follows the match, or
    /// an empty one if there is none.
    fn walk_to_first<const DENSE: bool>(
        &self,
        span: &mut Span<'_>,
        state: &mut isize,
        out: &mut Emitter<'_>,
    ) -> ControlFlow<()> {
        let bytes = &span.bytes[span.from..span.to];
        let read = self.table.steps::<DENSE>().to_hit(state, bytes, &mut Uncounted);
        span.from += read.unwrap_or(bytes.len());
        if read.is_some() {
            self.report(*state, span.from, *span, out);
        }
        out.flush()
    }

    /// One walk, reporting as it goes.
    fn walk<const DENSE: bool, C: Counter>(
        &self,
        mut span: Span<'_>,
        mut state: isize,
        out: &mut Emitter<'_>,
        counter: &mut C,
    ) -> ControlFlow<(), isize> {
        let steps = self.table.steps::<DENSE>();
        while let Some(read) = steps.to_hit(&mut state, &span.bytes[span.from..span.to], counter) {
            span.from += read;
            self.report(state, span.from, span, out);
            out.flush_if_full()?;
        }
        ControlFlow::Continue(state)
    }

    /// Writes the patterns of a reporting state, longest first.
    #[inline(always)]
    fn report(&self, state: isize, end: usize, span: Span<'_>, out: &mut Emitter<'_>) {
        let mut row = self.table.row(state) as u32;
        loop {
            let list = self.table.reports.heads[row as usize];
            if self.confirm.is_empty() {
                self.report_all(list, (end - span.base) as u32, out);
            } else {
                self.report_confirmed(list, end, span, out);
            }
            if list.next == NO_ROW {
                return;
            }
            row = list.next;
        }
    }

    #[inline(always)]
    fn report_all(&self, list: ListHead, end: u32, out: &mut Emitter<'_>) {
        let (mut at, mut left) = (list.at as usize, list.count as usize);
        loop {
            let some = self.table.reports.patterns[at..].first_chunk::<AT_ONCE>();
            out.push_some(end, some.expect("lists are padded"), left);
            if left <= AT_ONCE {
                return;
            }
            (at, left) = (at + AT_ONCE, left - AT_ONCE);
        }
    }

    /// The same in a folded automaton, where a pattern that respects case is verified first.
    fn report_confirmed(&self, list: ListHead, end: usize, span: Span<'_>, out: &mut Emitter<'_>) {
        for &pattern in &self.table.reports.patterns[list.at as usize..][..list.count as usize] {
            let sure = !self.confirm[pattern as usize];
            if sure || span.bytes[..end].ends_with(self.set.bytes(pattern)) {
                out.push((end - span.base) as u32, pattern);
            }
        }
    }
}
