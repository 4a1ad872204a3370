//! Run time: entering a block, the plain walk, reporting.

use super::lanes::{self, Tile};
use super::{Compiled, NO_LIST};
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
            for hit in tile.hits(self.walks) {
                self.report(hit.state, span.from + hit.end as usize, span, out);
                out.relieve()?;
            }
            span.from = end;
        }
        self.walk::<DENSE>(span, state, out)
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

    /// Writes the patterns of a reporting state: its own, then those of its suffixes, so longest first.
    #[inline]
    fn report(&self, state: i32, end: usize, span: Span<'_>, out: &mut Emitter<'_>) {
        let mut list = self.table.last_column(state);
        while list != NO_LIST {
            let at = list as usize;
            let &[_, count, link] =
                self.table.lists[at..].first_chunk().expect("a list has a header");
            for &index in &self.table.lists[at + 3..at + 3 + count as usize] {
                if self.is_match(index, &span.bytes[..end]) {
                    out.push((end - span.base) as u32, index);
                }
            }
            list = link;
        }
    }

    /// Whether a find is a match: it is, but for patterns that mind case in a folded automaton.
    #[inline]
    fn is_match(&self, index: u32, bytes: &[u8]) -> bool {
        self.confirm.get(index as usize) != Some(&true) || bytes.ends_with(self.set.bytes(index))
    }
}
