//! Lanes: neighbouring segments of a window, walked at once.
//!
//! Lane 0 begins in the true state. The others begin at the root some bytes before their segment, and are nearly
//! always in the true state when they come to it: it is shorter than these bytes. Whether they are is known once all
//! lanes are through, when the end of each is compared with the beginning of the next.

use super::output::{Hits, Out};
use super::scan::{Cut, Lanes};
use super::table::{COMPACT2, COMPACT3, DENSE, Form, LINKED, Table, Walk};
use super::trail::{STEPS, Trail};
use crate::simd::Dispatch;
use std::ops::ControlFlow;

/// Most lanes of any form.
pub(super) const MOST: usize = 64;

/// Lanes of the plain form: eight walks in turns. The C++ prototypes gained nothing by sixteen.
const PLAIN: usize = 8;

/// Bytes of a lane in a long haystack, if matches are counted, and if they are reported: then the trail has to stay in the
/// second-level cache. Each is 64 more than a multiple of 128: at a multiple of 4096 all lanes would be in the same sets
/// of the first-level cache. With 576 bytes a lane, `golden/dict1000-kjv` takes 5 % longer; with 2112, snort's rules in
/// traffic do, and with 4160 bytes 10 %.
pub(super) const LARGE: usize = 16 * 128 + 64;
pub(super) const MEDIUM: usize = 8 * 128 + 64;

/// Bytes of the least window for 64 lanes, for 32, for 16, for the 32 of AVX2, and for the plain form. They are not swept.
pub(super) const WIDE_FROM: usize = 64 * 64;
pub(super) const HALF_FROM: usize = 32 * 32;
pub(super) const NARROW_FROM: usize = 16 * 16;
pub(super) const AVX2_FROM: usize = 32 * 64;
pub(super) const PLAIN_FROM: usize = PLAIN * 32;

/// What a walk leaves behind: nothing; how many patterns each lane reports; that, and the trail of what is open because
/// its count is too large for its field; the trail of all that is reported.
pub(super) const NOTHING: u8 = 0;
pub(super) const COUNTS: u8 = 1;
pub(super) const OPEN_COUNTS: u8 = 2;
pub(super) const HITS: u8 = 3;

/// Walks all lanes. They leave their trail, or, if it is only to be counted, counts and the trail where these leave it open.
pub(super) fn walk(
    dispatch: Dispatch,
    lanes: &mut Lanes,
    table: &Table,
    window: &[u8],
    cut: Cut,
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

/// Reports what lanes found, in order. The first byte of the window ends at `first`.
pub(super) fn write(
    dispatch: Dispatch,
    out: &mut Out<'_>,
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

/// Walks lanes in turns.
fn plain<const FORM: u8>(
    lanes: &mut Lanes,
    table: &Table,
    window: &[u8],
    cut: Cut,
    counting: bool,
) {
    assert!(window.len() == PLAIN * cut.size);
    let mut walks: [Walk; PLAIN] = std::array::from_fn(|k| warm_up(table, window, k, cut));
    walks[0] = lanes.walks[0];
    lanes.begin[..PLAIN].copy_from_slice(&walks);
    let mut count = 0u64;
    let (most, shift, saturates) = (table.count_mask, table.count_shift, table.saturates);
    let room = lanes.trail.room_for(cut);
    for first in (0..cut.size).step_by(STEPS) {
        let mut bits = [0u64; PLAIN];
        for step in first..cut.size.min(first + STEPS) {
            for (k, walk) in walks.iter_mut().enumerate() {
                // SAFETY: `step` is below `size`, and the window has `size` bytes for each lane.
                let &byte = unsafe { window.get_unchecked(k * cut.size + step) };
                table.step_as::<FORM>(walk, byte);
                let counted = walk.entry & most;
                count += u64::from(counted >> shift);
                let keep = if counting { saturates & (counted == most) } else { counted != 0 };
                bits[k] |= u64::from(keep) << (step % STEPS);
                // SAFETY: there is room for the places of this step.
                unsafe { room.places.wrapping_add(step * PLAIN + k).write(walk.place) };
            }
        }
        for (lane, bits) in bits.into_iter().enumerate() {
            // SAFETY: there is room for the bits of these steps.
            unsafe { room.bits.wrapping_add(lane * room.words + first / STEPS).write(bits) };
        }
    }
    lanes.counts[0] = count as u32;
    lanes.walks[..PLAIN].copy_from_slice(&walks);
}

fn warm_up(table: &Table, window: &[u8], lane: usize, cut: Cut) -> Walk {
    let mut walk = table.start();
    let from = (lane * cut.size).saturating_sub(cut.warm);
    window[from..lane * cut.size].iter().for_each(|&byte| table.step(&mut walk, byte));
    walk
}
