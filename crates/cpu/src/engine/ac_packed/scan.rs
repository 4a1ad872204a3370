//! Run time: entering a block, the plain walk, reporting.

use super::Packed;
use super::lanes::{LARGE, SMALL, Tile};
use super::nodes::{LOW, ROOT, State, WINDOW};
use super::walk::Place;
use crate::build::lists;
use crate::count::{Counter, Uncounted};
use fyke_core::{Block, Cost, Count, Emitter, Scratch, Sink};
use std::ops::ControlFlow;

/// Bytes of a haystack between two moves of the base that 32-bit record ends count from.
const SPAN: usize = 1 << 30;

/// Where a scan is: the bytes of the block, what of them is to be scanned, and what record ends count from.
#[derive(Clone, Copy)]
pub(super) struct Span<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) base: usize,
}

impl<const C: usize> Packed<C> {
    pub(super) fn scan_block(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let mut state = self.enter(&block, scratch);
        let (records, tile) = scratch.parts::<Tile>();
        let mut out = Emitter::new(&self.set, sink, records, block.owned_offset(), true);
        for from in (block.lead..block.bytes.len()).step_by(SPAN) {
            out.rebase(block.offset + from as u64)?;
            let to = block.bytes.len().min(from + SPAN);
            let span = Span { bytes: block.bytes, from, to, base: from };
            state = self.scan_span(span, state, tile, &mut out)?;
        }
        out.flush()?;
        scratch.leave(self.owner, block.offset + block.bytes.len() as u64, u64::from(state));
        ControlFlow::Continue(())
    }

    /// Counts what a plain walk does, which has no seams.
    pub(super) fn count(&self, block: Block<'_>) -> Cost {
        let mut cost = Cost::default();
        let (mut scratch, mut sink) = (Scratch::new(), Count::default());
        let mut state = self.enter(&block, &scratch);
        let mut out = Emitter::new(&self.set, &mut sink, scratch.records(), 0, true);
        for from in (block.lead..block.bytes.len()).step_by(SPAN) {
            let to = block.bytes.len().min(from + SPAN);
            let span = Span { bytes: block.bytes, from, to, base: from };
            let flow = self.walk(span, state, &mut out, &mut cost);
            state = flow.continue_value().expect("a count never stops");
        }
        cost
    }

    /// The state where the owned bytes begin: left by the block before, or found by walking the lead.
    fn enter(&self, block: &Block<'_>, scratch: &Scratch) -> State {
        let step = |state, &byte: &u8| self.nodes().step(state, self.fold.byte(byte));
        let walk = || block.bytes[..block.lead].iter().fold(ROOT, step);
        scratch.resume(self.owner, block).map_or_else(walk, |state| state as State)
    }

    /// Tiles of interleaved walks while there is enough for one, and a plain walk over the rest.
    fn scan_span(
        &self,
        mut span: Span<'_>,
        mut state: State,
        tile: &mut Tile,
        out: &mut Emitter<'_>,
    ) -> ControlFlow<(), State> {
        match self.walks {
            8 => {
                state = self.walk_tiles::<8, LARGE>(&mut span, state, tile, out)?;
                state = self.walk_tiles::<8, SMALL>(&mut span, state, tile, out)?;
            }
            4 => {
                state = self.walk_tiles::<4, LARGE>(&mut span, state, tile, out)?;
                state = self.walk_tiles::<4, SMALL>(&mut span, state, tile, out)?;
            }
            2 => {
                state = self.walk_tiles::<2, LARGE>(&mut span, state, tile, out)?;
                state = self.walk_tiles::<2, SMALL>(&mut span, state, tile, out)?;
            }
            _ => {}
        }
        self.walk(span, state, out, &mut Uncounted)
    }

    /// As many tiles of K lanes of S bytes as there are, with a window behind the last byte of each.
    fn walk_tiles<const K: usize, const S: usize>(
        &self,
        span: &mut Span<'_>,
        mut state: State,
        tile: &mut Tile,
        out: &mut Emitter<'_>,
    ) -> ControlFlow<(), State> {
        while span.to - span.from >= K * S && span.bytes.len() - span.from >= K * S + WINDOW {
            let from = span.from;
            span.from += K * S;
            let bytes = &span.bytes[from..span.from + WINDOW];
            state = tile.walk::<C, K, S>(self.nodes(), self.fold, bytes, state);
            tile.hits(|at, state, reports| {
                self.report(state, reports, from + at, *span, out);
                out.relieve()
            })?;
        }
        ControlFlow::Continue(state)
    }

    /// One walk, reporting as it goes.
    fn walk<K: Counter>(
        &self,
        span: Span<'_>,
        state: State,
        out: &mut Emitter<'_>,
        counter: &mut K,
    ) -> ControlFlow<(), State> {
        let nodes = self.nodes();
        let (mut at, mut place) = (span.from, Place { state, fresh: false });
        while at < span.to {
            let window = self.window(span.bytes, at);
            let visit = nodes.visit(place, &window, span.to - at, counter);
            if visit.reports != 0 {
                self.report(place.state, visit.reports, at, span, out);
                out.relieve()?;
            }
            (place, at) = (visit.to, at + visit.read);
        }
        if place.fresh && nodes.reports(place.state) {
            self.report(place.state, 1, at, span, out);
            out.relieve()?;
        }
        ControlFlow::Continue(place.state)
    }

    /// The bytes at a position as they are to be read, and zeros behind the end.
    #[inline(always)]
    fn window(&self, bytes: &[u8], at: usize) -> [u8; WINDOW] {
        let window = bytes[at..].first_chunk().copied().unwrap_or_else(|| last(&bytes[at..]));
        window.map(|byte| self.fold.byte(byte))
    }

    /// Writes the patterns of some states: bit i of `reports` is for that i places on, `at + i`.
    #[inline]
    fn report(
        &self,
        state: State,
        mut reports: u32,
        at: usize,
        span: Span<'_>,
        out: &mut Emitter<'_>,
    ) {
        let node = self.nodes().node(state);
        while reports != 0 {
            let on = reports.trailing_zeros() as usize;
            let rules = node.rules((state & LOW) as usize + on);
            self.report_list(rules, at + on, span, out);
            reports &= reports - 1;
        }
    }

    #[inline]
    fn report_list(&self, rules: u32, end: usize, span: Span<'_>, out: &mut Emitter<'_>) {
        lists::each_of(self.arena.tail(self.lists), rules, |pattern| {
            let sure = !self.confirm.get(pattern as usize).copied().unwrap_or(false);
            if sure || span.bytes[..end].ends_with(self.set.bytes(pattern)) {
                out.push((end - span.base) as u32, pattern);
            }
        });
    }
}

/// A window that the haystack ends in.
#[cold]
fn last(bytes: &[u8]) -> [u8; WINDOW] {
    let mut window = [0; WINDOW];
    window[..bytes.len()].copy_from_slice(bytes);
    window
}
