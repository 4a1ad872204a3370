//! Run time: enters a block, cuts it into texts, and reports.

use super::PackedMatcher;
use super::interleave::{LARGE, SMALL, TileHits};
#[cfg(target_arch = "x86_64")]
use super::isa::BitCounting;
use super::nodes::{ROOT, State, WINDOW};
use crate::build::lists;
use crate::cost::{Cost, CostCounter};
use fyke_automata::CaseFold;
use fyke_automata::count::Uncounted;
use fyke_core::{Block, Count, Emitter, Scratch, Sink};
use std::ops::ControlFlow;

/// Bytes of a haystack between two moves of the base that 32-bit record ends count from.
const SPAN: usize = 1 << 30;

/// Bytes of a text that a single walk gets at once. A folded copy of it fits the L1 cache.
const TEXT: usize = 16 << 10;

/// Patterns of a rule list that are always read, without a branch on the length of the list.
const FIRST_PATTERNS: usize = 4;

/// The part of a block that a scan is in.
#[derive(Clone, Copy)]
struct Span<'a> {
    /// The bytes of the block.
    bytes: &'a [u8],
    /// The bytes to scan: `from..to`.
    from: usize,
    to: usize,
    /// What the ends of records count from.
    base: usize,
}

/// The buffers of a scan, beside the records.
#[derive(Default)]
pub(super) struct ScanBuffers {
    tile: TileHits,
    /// Folded bytes of the haystack, with zeros after the end of the block.
    text: Vec<u8>,
}

impl<const C: usize> PackedMatcher<C> {
    pub(super) fn scan_block(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let state = self.enter(&block, scratch);
        let (records, work) = scratch.parts::<ScanBuffers>();
        let mut out = Emitter::new(&self.set, sink, records, block.owned_offset(), true);
        let state = self.scan_spans(block, state, |span, state| {
            out.rebase(block.offset + span.base as u64)?;
            self.scan_span(span, state, work, &mut out)
        })?;
        out.flush()?;
        scratch.leave(self.owner, block.offset + block.bytes.len() as u64, u64::from(state));
        ControlFlow::Continue(())
    }

    /// Counts the steps of a single walk, which has no seams.
    pub(super) fn count_steps(&self, block: Block<'_>) -> Cost {
        let mut cost = Cost::default();
        let (mut scratch, mut sink, mut text) = (Scratch::new(), Count::default(), Vec::new());
        let state = self.enter(&block, &scratch);
        let mut out = Emitter::new(&self.set, &mut sink, scratch.records(), 0, true);
        let flow = self.scan_spans(block, state, |span, state| {
            self.walk(span, state, &mut text, &mut out, &mut cost)
        });
        debug_assert!(flow.is_continue(), "a count never stops");
        cost
    }

    /// The state where the owned bytes begin: left by the block before, or found by walking the
    /// overlap.
    fn enter(&self, block: &Block<'_>, scratch: &Scratch) -> State {
        let step = |state, &byte: &u8| self.nodes().step(state, self.fold.byte(byte));
        let walk = || block.bytes[..block.overlap].iter().fold(ROOT, step);
        scratch.resume(self.owner, block).map_or_else(walk, |state| state as State)
    }

    /// Calls `scan` for each span of the owned bytes with the state before it. Returns the last
    /// state.
    fn scan_spans<'a>(
        &self,
        block: Block<'a>,
        mut state: State,
        mut scan: impl FnMut(Span<'a>, State) -> ControlFlow<(), State>,
    ) -> ControlFlow<(), State> {
        let bytes = block.bytes;
        for from in (block.overlap..bytes.len()).step_by(SPAN) {
            let to = bytes.len().min(from + SPAN);
            state = scan(Span { bytes, from, to, base: from }, state)?;
        }
        ControlFlow::Continue(state)
    }

    /// Scans a span. Interleaved walks use the CPU's bit-counting instructions if it has them. A
    /// single walk gains nothing from them, because it waits for its nodes.
    fn scan_span(
        &self,
        span: Span<'_>,
        state: State,
        work: &mut ScanBuffers,
        out: &mut Emitter<'_>,
    ) -> ControlFlow<(), State> {
        #[cfg(target_arch = "x86_64")]
        if self.walks > 1 && self.bit_counting.is_some() {
            debug_assert!(BitCounting::detect().is_some());
            // SAFETY: the field holds a token, and only `BitCounting::detect` creates one, after it
            // found every feature that `scan_span_bits` enables.
            return unsafe { self.scan_span_bits(span, state, work, out) };
        }
        self.scan_span_plain(span, state, work, out)
    }

    /// [`scan_span_plain`](Self::scan_span_plain) compiled with the bit-counting instructions: a
    /// population count is one instruction with them and a dozen without.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "popcnt,bmi1,bmi2")]
    fn scan_span_bits(
        &self,
        span: Span<'_>,
        state: State,
        work: &mut ScanBuffers,
        out: &mut Emitter<'_>,
    ) -> ControlFlow<(), State> {
        self.scan_span_plain(span, state, work, out)
    }

    #[inline(always)]
    fn scan_span_plain(
        &self,
        span: Span<'_>,
        state: State,
        work: &mut ScanBuffers,
        out: &mut Emitter<'_>,
    ) -> ControlFlow<(), State> {
        match self.walks {
            8 => self.scan_tiles::<8>(span, state, work, out),
            4 => self.scan_tiles::<4>(span, state, work, out),
            2 => self.scan_tiles::<2>(span, state, work, out),
            _ => self.walk(span, state, &mut work.text, out, &mut Uncounted),
        }
    }

    /// Scans tiles with K interleaved walks while they fit, and the rest with a single walk.
    #[inline(always)]
    fn scan_tiles<const K: usize>(
        &self,
        mut span: Span<'_>,
        mut state: State,
        work: &mut ScanBuffers,
        out: &mut Emitter<'_>,
    ) -> ControlFlow<(), State> {
        for segment in [LARGE, SMALL] {
            while span.to - span.from >= K * segment {
                let from = span.from;
                let text = text(&mut work.text, self.fold, span, K * segment);
                state = work.tile.walk::<C, K>(self.nodes(), text, segment, state);
                work.tile.hits(|hit| {
                    self.report(hit.rules, from + hit.end as usize, span, out);
                    out.flush_if_full()
                })?;
                span.from += K * segment;
            }
        }
        self.walk(span, state, &mut work.text, out, &mut Uncounted)
    }

    /// Scans a span with one walk, which reports as it reads.
    #[inline(always)]
    fn walk<N: CostCounter>(
        &self,
        mut span: Span<'_>,
        mut state: State,
        buffer: &mut Vec<u8>,
        out: &mut Emitter<'_>,
        counter: &mut N,
    ) -> ControlFlow<(), State> {
        while span.from < span.to {
            let len = TEXT.min(span.to - span.from);
            let text = text(buffer, self.fold, span, len);
            state = self.nodes().walk(text, len, state, counter, |hit| {
                self.report(hit.rules, span.from + hit.end as usize, span, out);
                out.flush_if_full()
            })?;
            span.from += len;
        }
        ControlFlow::Continue(state)
    }

    /// Writes the patterns of a rule list, longest first.
    #[inline(always)]
    fn report(&self, rules: u32, end: usize, span: Span<'_>, out: &mut Emitter<'_>) {
        let lists = self.arena.tail(self.lists);
        if !self.confirm.is_empty() {
            return self.report_confirmed(rules, end, span, out);
        }
        let end = (end - span.base) as u32;
        let (some, count, rest) = lists::first_of::<FIRST_PATTERNS>(lists, rules);
        out.push_some(end, &some, count);
        if rest != lists::NO_LIST {
            lists::each_of(lists, rest, |pattern| out.push(end, pattern));
        }
    }

    /// The same in a folded automaton: occurrences of case-sensitive patterns are confirmed.
    fn report_confirmed(&self, rules: u32, end: usize, span: Span<'_>, out: &mut Emitter<'_>) {
        lists::each_of(self.arena.tail(self.lists), rules, |pattern| {
            let is_sure = !self.confirm[pattern as usize];
            if is_sure || span.bytes[..end].ends_with(self.set.bytes(pattern)) {
                out.push((end - span.base) as u32, pattern);
            }
        });
    }
}

/// The next `len` bytes of a span, folded, and a window more: the haystack itself where possible,
/// else a copy.
#[inline]
fn text<'a>(buffer: &'a mut Vec<u8>, fold: CaseFold, span: Span<'a>, len: usize) -> &'a [u8] {
    let rest = &span.bytes[span.from..];
    match rest.get(..len + WINDOW) {
        Some(text) if fold == CaseFold::Exact => text,
        _ => {
            buffer.clear();
            buffer.extend(rest.iter().take(len).map(|&byte| fold.byte(byte)));
            buffer.resize(len + WINDOW, 0);
            buffer
        }
    }
}
