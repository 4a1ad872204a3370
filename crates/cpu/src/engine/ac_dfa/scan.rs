//! Run time: entering a block, the plain walk, reporting.

use super::lanes::{self, Hit, Tile};
use super::{AT_ONCE, Compiled, Head, NO_ROW};
use fyke_core::{Block, Emitter, Scratch, Sink};
use std::ops::ControlFlow;

/// Bytes of a haystack between two moves of the base that 32-bit record ends count from.
const SPAN: usize = 1 << 30;

/// Where a scan is: the bytes of the block, what of them is to be scanned, and what record ends count from.
#[derive(Clone, Copy)]
struct Span<'a> {
    bytes: &'a [u8],
    from: usize,
    to: usize,
    base: usize,
}

impl Compiled {
    pub(super) fn scan_as<const DENSE: bool>(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let mut state = self.enter::<DENSE>(&block, scratch);
        let (records, tile) = scratch.parts::<Tile>();
        let mut out = Emitter::new(&self.set, sink, records, block.offset, true);
        let len = block.bytes.len();
        for from in (block.lead..len).step_by(SPAN) {
            out.rebase(block.offset + from as u64)?;
            let span = Span { bytes: block.bytes, from, to: len.min(from + SPAN), base: from };
            state = self.scan_span::<DENSE>(span, state, tile, &mut out)?;
        }
        out.flush()?;
        scratch.leave(self.owner, block.offset + len as u64, state as u32);
        ControlFlow::Continue(())
    }

    /// The state where the owned bytes begin: left by the block before, or found by walking the lead.
    #[inline]
    fn enter<const DENSE: bool>(&self, block: &Block<'_>, scratch: &Scratch) -> i32 {
        let walk =
            || block.bytes[..block.lead].iter().fold(0, |s, &b| self.table.next::<DENSE>(s, b));
        scratch.resume(self.owner, block).map_or_else(walk, |s| s as i32)
    }

    /// Tiles of interleaved walks while there is enough for one, and a plain walk over the rest.
    fn scan_span<const DENSE: bool>(
        &self,
        mut span: Span<'_>,
        mut state: i32,
        tile: &mut Tile,
        out: &mut Emitter<'_>,
    ) -> ControlFlow<(), i32> {
        while let Some(segment) = lanes::segment_len(span.to - span.from, self.walks) {
            let end = span.from + segment * self.walks;
            let bytes = &span.bytes[span.from..end];
            state = match self.walks {
                8 => tile.walk::<DENSE, 8>(&self.table, bytes, state),
                _ => tile.walk::<DENSE, 4>(&self.table, bytes, state),
            };
            for lane in tile.lanes(self.walks) {
                self.report_hits(lane.seam(), span, out)?;
                self.report_hits(lane.hits(), span, out)?;
            }
            span.from = end;
        }
        self.walk::<DENSE>(span, state, out)
    }

    /// Reports hits that count from the start of a span.
    fn report_hits(&self, hits: &[Hit], span: Span<'_>, out: &mut Emitter<'_>) -> ControlFlow<()> {
        for hit in hits {
            self.report(hit.state, span.from + hit.end as usize, span, out);
            out.relieve()?;
        }
        ControlFlow::Continue(())
    }

    /// One walk, reporting as it goes.
    fn walk<const DENSE: bool>(
        &self,
        span: Span<'_>,
        mut state: i32,
        out: &mut Emitter<'_>,
    ) -> ControlFlow<(), i32> {
        for (i, &byte) in span.bytes[span.from..span.to].iter().enumerate() {
            state = self.table.next::<DENSE>(state, byte);
            if state < 0 {
                self.report(state, span.from + i + 1, span, out);
                out.relieve()?;
            }
        }
        ControlFlow::Continue(state)
    }

    /// Writes the patterns of a reporting state, longest first.
    #[inline(always)]
    fn report(&self, state: i32, end: usize, span: Span<'_>, out: &mut Emitter<'_>) {
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
    fn report_all(&self, list: Head, end: u32, out: &mut Emitter<'_>) {
        let patterns = &self.table.reports.patterns[list.at as usize..];
        let mut chunks = patterns.windows(AT_ONCE).step_by(AT_ONCE);
        let mut left = list.count as usize;
        loop {
            let chunk =
                chunks.next().and_then(|c| c.first_chunk::<AT_ONCE>()).expect("lists are padded");
            out.push_some(end, chunk, left);
            if left <= AT_ONCE {
                return;
            }
            left -= AT_ONCE;
        }
    }

    /// The same in a folded automaton: a find of a pattern that minds case is compared before it is a match.
    fn report_confirmed(&self, list: Head, end: usize, span: Span<'_>, out: &mut Emitter<'_>) {
        for &pattern in &self.table.reports.patterns[list.at as usize..][..list.count as usize] {
            let sure = !self.confirm[pattern as usize];
            if sure || span.bytes[..end].ends_with(self.set.bytes(pattern)) {
                out.push((end - span.base) as u32, pattern);
            }
        }
    }
}
