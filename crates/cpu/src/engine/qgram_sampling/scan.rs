//! The scan: runs each tile of samples through both stages.

use super::stage2::{Buffers, MatchOutput, SampleTile};
use super::{QgramSamplingMatcher, stage1};
use fyke_core::{Block, Scratch, Sink};
use std::ops::ControlFlow;

/// Samples per tile. Their haystack, at most 16 KiB, and the list stay in the L1 cache between the
/// stages. 4096 makes no difference for `dna` with 10 to 100,000 patterns.
pub(super) const TILE: usize = 1024;

/// Record ends count from a multiple of this, so that they fit in 32 bits.
const PAGE: usize = 1 << 30;

/// The candidates of a tile, as distances from its first sample. A vector store may write past the
/// last.
pub(super) struct SampleList {
    pub(super) at: Box<[u32; TILE + 16]>,
    pub(super) len: usize,
}

impl Default for SampleList {
    fn default() -> Self {
        SampleList { at: Box::new([0; TILE + 16]), len: 0 }
    }
}

impl SampleList {
    /// Appends the samples that pass, without a branch. The length stays in a register.
    #[inline(always)]
    pub(super) fn push_those(&mut self, samples: impl Iterator<Item = (usize, bool)>) {
        let (room, mut len) = (&mut *self.at, self.len);
        for (at, passes) in samples {
            room[len] = at as u32;
            len += usize::from(passes);
        }
        self.len = len;
    }
}

impl QgramSamplingMatcher {
    pub(super) fn scan_tiles(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let (records, buffers) = scratch.parts::<Buffers>();
        let mut out = MatchOutput::new(&self.set, sink, records, block.offset);
        let flow = self.scan_samples(block, buffers, &mut out);
        let (matches, spent) = (out.matches, out.spent);
        if let Some(counter) = sink.counter() {
            *counter += matches;
        }
        scratch.spend(spent);
        flow
    }

    fn scan_samples(
        &self,
        block: Block<'_>,
        buffers: &mut Buffers,
        out: &mut MatchOutput<'_>,
    ) -> ControlFlow<()> {
        let shape = &self.tables.shape;
        let mut at = block.overlap - block.overlap.min(self.set.overlap());
        let samples = match (block.bytes.len() - at).checked_sub(shape.gram.len) {
            Some(last) if !self.set.is_empty() && !block.owned().is_empty() => {
                last / shape.stride + 1
            }
            _ => 0,
        };
        let mut left = samples;
        while left > 0 {
            let count = left.min(TILE);
            buffers.list.len = 0;
            stage1::fill(self.dispatch, &self.tables, block.bytes, at, count, &mut buffers.list);
            if buffers.list.len > 0 {
                let page = at & !(PAGE - 1);
                out.rebase(block.offset + page as u64)?;
                SampleTile { tables: &self.tables, block, at, page }.confirm(buffers, out)?;
            }
            at += count * shape.stride;
            left -= count;
        }
        out.flush()
    }
}
