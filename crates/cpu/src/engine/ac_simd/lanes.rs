//! Lanes: adjacent segments of a window, walked at once.
//!
//! Lane 0 starts in the true state. The others start at the root some bytes before their segment
//! and nearly always reach the true state by its start, since states are mostly shallower than
//! these bytes. After all lanes, the end of each is compared with the start of the next to find
//! those that did not.

use super::output::{Hits, MatchOutput};
use super::scan::{LaneLayout, Lanes};
use super::table::{AcSimdTable, COMPACT2, COMPACT3, DENSE, Form, LINKED, Walk};
use super::trail::{STEPS, Trail};
use crate::simd::Dispatch;
use std::ops::ControlFlow;

/// Most lanes of any form.
pub(super) const MOST: usize = 64;

/// Lanes of the scalar form: eight interleaved walks. A guess: `forms` would show whether sixteen
/// are faster.
const PLAIN: usize = 8;

/// Bytes of a lane in a long haystack: if matches are counted, and if they are reported, when the
/// trail must stay in the L2 cache. Each is an odd multiple of 64: multiples of 4096 would put all
/// lanes in the same sets of the L1 cache. A lane of 576 bytes takes 5 % longer for
/// `golden/dict1000-kjv`, one of 2112 for `golden/snort-2.2.0-2004.all-zeek`, and one of 4160
/// bytes 10 %.
pub(super) const LARGE: usize = 16 * 128 + 64;
pub(super) const MEDIUM: usize = 8 * 128 + 64;

/// Least bytes of a window for 64, 32 and 16 lanes, for the 32 of AVX2, and for the scalar form. A
/// guess: `size` shows them.
pub(super) const WIDE_FROM: usize = 64 * 64;
pub(super) const HALF_FROM: usize = 32 * 32;
pub(super) const NARROW_FROM: usize = 16 * 16;
pub(super) const AVX2_FROM: usize = 32 * 64;
pub(super) const PLAIN_FROM: usize = PLAIN * 32;

/// What a walk writes: nothing; the number of reports of each lane; that number, and the trail of
/// the entries whose count does not fit in its field; the trail of all reports.
pub(super) const NOTHING: u8 = 0;
pub(super) const COUNTS: u8 = 1;
pub(super) const OPEN_COUNTS: u8 = 2;
pub(super) const HITS: u8 = 3;

/// Walks all lanes. They write their trail. If matches are only counted, they write counts, and
/// the trail where an entry's count does not fit.
pub(super) fn walk(
    dispatch: Dispatch,
    lanes: &mut Lanes,
    table: &AcSimdTable,
    window: &[u8],
    cut: LaneLayout,
    counting: bool,
) {
    match dispatch {
        #[cfg(target_arch = "x86_64")]
        Dispatch::Avx512(token) => {
            super::avx512::walk(token, lanes, table, window, cut, counting);
        }
        #[cfg(target_arch = "x86_64")]
        Dispatch::Avx2(token) if cut.lanes == super::avx2::LANES => {
            super::avx2::walk(token, lanes, table, window, cut, counting);
        }
        _ => match table.form {
            Form::Dense => plain::<DENSE>(lanes, table, window, cut, counting),
            Form::Compact2 => plain::<COMPACT2>(lanes, table, window, cut, counting),
            Form::Compact3 => plain::<COMPACT3>(lanes, table, window, cut, counting),
            Form::Linked => plain::<LINKED>(lanes, table, window, cut, counting),
        },
    }
}

/// Reports the lanes' matches in order. The first byte of the window ends at `first`.
pub(super) fn write(
    dispatch: Dispatch,
    out: &mut MatchOutput<'_>,
    trail: &Trail,
    hits: &mut Hits,
    first: u32,
) -> ControlFlow<()> {
    match dispatch {
        #[cfg(target_arch = "x86_64")]
        Dispatch::Avx512(token) => super::avx512::write(token, out, trail, hits, first),
        #[cfg(target_arch = "x86_64")]
        Dispatch::Avx2(token) => super::avx2::write(token, out, trail, hits, first),
        Dispatch::Scalar => out.write_all::<{ PLAIN }>(trail, hits, first, Hits::pick),
    }
}

/// Walks the lanes in turns.
fn plain<const FORM: u8>(
    lanes: &mut Lanes,
    table: &AcSimdTable,
    window: &[u8],
    cut: LaneLayout,
    counting: bool,
) {
    assert!(window.len() == PLAIN * cut.size);
    let mut walks: [Walk; PLAIN] = std::array::from_fn(|k| warm_up(table, window, k, cut));
    walks[0] = lanes.walks[0];
    lanes.begin[..PLAIN].copy_from_slice(&walks);
    let mut count = 0u64;
    let (most, shift, saturates) = (table.count_mask, table.count_shift, table.saturates);
    let room = lanes.trail.room_for(cut);
    debug_assert!(room.words * STEPS >= cut.size);
    for first in (0..cut.size).step_by(STEPS) {
        let mut bits = [0u64; PLAIN];
        for step in first..cut.size.min(first + STEPS) {
            for (k, walk) in walks.iter_mut().enumerate() {
                debug_assert!(k * cut.size + step < window.len());
                // SAFETY: `k` is below PLAIN and `step` below `cut.size`, and the window has
                // PLAIN segments of `cut.size` bytes, as asserted above.
                let &byte = unsafe { window.get_unchecked(k * cut.size + step) };
                table.step_as::<FORM>(walk, byte);
                let counted = walk.entry & most;
                count += u64::from(counted >> shift);
                let keep = if counting { saturates & (counted == most) } else { counted != 0 };
                bits[k] |= u64::from(keep) << (step % STEPS);
                // SAFETY: `Trail::prepare` allocates `cut.size` times PLAIN places, and
                // `room_for` asserts that it did for this layout; `step` is below `cut.size` and
                // `k` below PLAIN.
                unsafe { room.places.wrapping_add(step * PLAIN + k).write(walk.place) };
            }
        }
        for (lane, bits) in bits.into_iter().enumerate() {
            // SAFETY: `Trail::prepare` allocates `room.words` words of bits for each lane, enough
            // for `cut.size` steps, and `room_for` asserts that it did for this layout.
            unsafe { room.bits.wrapping_add(lane * room.words + first / STEPS).write(bits) };
        }
    }
    lanes.counts[0] = count as u32;
    lanes.walks[..PLAIN].copy_from_slice(&walks);
}

fn warm_up(table: &AcSimdTable, window: &[u8], lane: usize, cut: LaneLayout) -> Walk {
    let mut walk = table.start();
    let from = (lane * cut.size).saturating_sub(cut.warm);
    window[from..lane * cut.size].iter().for_each(|&byte| table.step(&mut walk, byte));
    walk
}
