//! Interleaved walks over one haystack.
//!
//! A tile is cut into K adjacent segments, one per lane:
//!
//! ```text
//! | lane 0      | lane 1      | lane 2      | ...        K interleaved walks: K loads in flight
//!   ^ true        ^ root        ^ root
//! ```
//!
//! The walks only step and write their states, the *trace*. No branch depends on the data, however
//! many matches there are. A second pass extracts the reporting states from the trace.
//!
//! Lane 0 starts in the true state. The others start at the root, because the end state of the
//! previous lane is not known yet. A lane that starts at the root finds every match that starts in
//! its segment and misses those that start before it. So after the walk, each seam is walked again
//! from the true state, **until the state is no deeper than the number of bytes since the seam**.
//! From there on, the state is a suffix of what the lane itself has read, so both walks are in the
//! same state. The true states replace the lane's in the trace, which then equals that of one long
//! walk. On real data a seam takes about ten bytes, where the usual warm-up takes `max_len - 1`
//! bytes per lane. In the worst case, inside a match longer than a segment, every byte is walked
//! twice.

use super::{DfaTable, Steps};
use crate::simd::sign_mask;
use std::ops::ControlFlow;

/// The maximum number of walks at once: their states fill the registers. Swept by `forms`: 8 walks
/// are slightly faster than 4, and several times as fast as 1.
pub const LANES: usize = 8;

/// Bytes of a lane by size of the tile: a long haystack is cut into large tiles and its end into
/// smaller ones. The trace of a large tile, 62 KiB, stays in the L2 cache. In a small tile a seam
/// of ten bytes costs a tenth. Multiples of 4096 would put all lanes in the same sets of the L1
/// cache. `size` measures all of them.
pub(super) const LARGE: usize = 2048 - 64;
pub(super) const MEDIUM: usize = 512 - 64;
pub(super) const SMALL: usize = 128 - 32;
pub(super) const TINY: usize = 32;

/// Lanes and bytes of a lane of the smallest tile, for packets and the ends of haystacks.
pub(super) const LEAST_LANES: usize = 4;
pub(super) const LEAST: usize = 16;

/// States of the trace that are tested together.
const GROUP: usize = 16;

/// The state after each byte of a tile.
#[derive(Default)]
pub(super) struct TraceTile {
    trace: Vec<i32>,
    /// How many states of the trace belong to the last tile.
    len: usize,
}

impl TraceTile {
    /// Walks a tile of K segments of S bytes, lane 0 from `state`. Returns the state at the end.
    pub(super) fn walk<const DENSE: bool, const K: usize, const S: usize>(
        &mut self,
        table: &DfaTable,
        tile: &[u8],
        state: isize,
    ) -> isize {
        let steps = table.steps::<DENSE>();
        self.len = K * S;
        if self.trace.len() < self.len {
            self.trace.resize(self.len, 0);
        }
        let bytes = tile.as_chunks::<S>().0.first_chunk::<K>().expect("a tile of K segments");
        let trace = self.trace.as_chunks_mut::<S>().0.first_chunk_mut::<K>().expect("as long");
        let ends = walk_lanes(steps, bytes, trace, state);
        let mut truth = ends[0];
        for k in 1..K {
            let settled = walk_seam(steps, table, &bytes[k], &mut trace[k], truth);
            truth = settled.unwrap_or(ends[k]);
        }
        truth
    }

    /// Calls `each` with the position after each byte that leads to a reporting state, and with
    /// this state, in order.
    #[inline(always)]
    pub(super) fn hits(
        &self,
        mut each: impl FnMut(usize, isize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        const {
            assert!(
                (LEAST | TINY | SMALL | MEDIUM | LARGE) & (GROUP - 1) == 0,
                "segments are whole groups"
            )
        };
        for (group, states) in self.trace[..self.len].as_chunks::<GROUP>().0.iter().enumerate() {
            let mut mask = sign_mask(states);
            while mask != 0 {
                let i = mask.trailing_zeros() as usize;
                each(group * GROUP + i + 1, states[i % GROUP] as isize)?;
                mask &= mask - 1;
            }
        }
        ControlFlow::Continue(())
    }
}

/// Walks all lanes in turns. Returns their last states.
#[inline(always)]
fn walk_lanes<const DENSE: bool, const K: usize, const S: usize>(
    steps: Steps<'_, DENSE>,
    bytes: &[[u8; S]; K],
    trace: &mut [[i32; S]; K],
    state: isize,
) -> [isize; K] {
    let mut states = [0; K];
    states[0] = state;
    for i in 0..S {
        for k in 0..K {
            states[k] = steps.next(states[k], bytes[k][i]);
            trace[k][i] = states[k] as i32;
        }
    }
    states
}

/// Walks a segment from the true state until it meets the lane's own walk. Returns the state at
/// the end of the segment if it never does.
fn walk_seam<const DENSE: bool>(
    steps: Steps<'_, DENSE>,
    table: &DfaTable,
    bytes: &[u8],
    trace: &mut [i32],
    mut state: isize,
) -> Option<isize> {
    for (read, (&byte, trace)) in bytes.iter().zip(trace).enumerate() {
        if table.depth(state) <= read {
            return None;
        }
        state = steps.next(state, byte);
        *trace = state as i32;
    }
    Some(state)
}
