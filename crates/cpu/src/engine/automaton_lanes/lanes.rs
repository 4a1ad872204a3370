//! Lanes: neighbouring segments of a window, walked at once.
//!
//! Lane 0 begins in the true state. The others begin at the root some bytes before their segment, and are nearly
//! always in the true state when they come to it: it is shorter than these bytes. Whether they are is known once all
//! lanes are through, when the end of each is compared with the beginning of the next.

use super::scan::{Cut, Lanes};
use super::table::{COMPACT2, COMPACT3, DENSE, Form, LINKED, Table, Walk};
use crate::simd::Isa;
use fyke_core::Record;

/// A lane's number is in the low bits of a hit.
pub(super) const BITS: u32 = 6;

/// Most lanes of any form.
pub(super) const MOST: usize = 1 << BITS;

/// Lanes of the plain form: eight walks in turns. The C++ prototypes gained nothing by sixteen.
const PLAIN: usize = 8;

/// Bytes of a lane in a long haystack, and where matches are dense. Each is 64 more than a multiple of 128: at a
/// multiple of 4096 all lanes would be in the same sets of the first-level cache. The sizes are not swept.
pub(super) const LARGE: usize = 16 * 128 + 64;
pub(super) const MEDIUM: usize = 4 * 128 + 64;

/// Bytes of the least window for 64 lanes, for 32, for 16, for the 32 of AVX2, and for the plain form. They are not swept.
pub(super) const WIDE_FROM: usize = 64 * 64;
pub(super) const HALF_FROM: usize = 32 * 32;
pub(super) const NARROW_FROM: usize = 16 * 16;
pub(super) const AVX2_FROM: usize = 32 * 64;
pub(super) const PLAIN_FROM: usize = PLAIN * 32;

/// Walks all lanes. They leave hits, or, if it is only to be counted, counts and the hits that these leave open.
pub(super) fn walk(
    isa: Isa,
    lanes: &mut Lanes,
    table: &Table,
    window: &[u8],
    cut: Cut,
    counting: bool,
) {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => {
            debug_assert!(isa.available());
            // SAFETY: this form is chosen only where the processor has it.
            unsafe { super::avx512::walk(lanes, table, window, cut, counting) }
        }
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 if cut.lanes == super::avx2::LANES => {
            debug_assert!(isa.available());
            // SAFETY: as above.
            unsafe { super::avx2::walk(lanes, table, window, cut, counting) }
        }
        _ => match table.form {
            Form::Dense => plain::<DENSE>(lanes, table, window, cut, counting),
            Form::Compact2 => plain::<COMPACT2>(lanes, table, window, cut, counting),
            Form::Compact3 => plain::<COMPACT3>(lanes, table, window, cut, counting),
            Form::Linked => plain::<LINKED>(lanes, table, window, cut, counting),
        },
    }
}

/// Writes the records of all hits, each where those of its lane stand: counts tell where these begin. In front of a
/// lane's is room for what it missed.
pub(super) fn place_records(
    isa: Isa,
    lanes: &mut Lanes,
    table: &Table,
    cut: Cut,
    from: u32,
    total: usize,
) {
    if lanes.records.len() < total {
        lanes.records.resize(total, Record { end: 0, pattern: 0 });
    }
    let mut next = [0usize; MOST];
    let mut sum = 0;
    for ((next, &count), &missed) in next.iter_mut().zip(&lanes.counts).zip(&lanes.missed) {
        *next = sum + missed as usize;
        sum += (count + missed) as usize;
    }
    assert!(sum == total);
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => {
            // SAFETY: this form is chosen only where the processor has it.
            unsafe { super::avx512::place_records(lanes, table, cut, from, &mut next) }
        }
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => {
            // SAFETY: as above.
            unsafe { super::avx2::place_records(lanes, table, cut, from, &mut next) }
        }
        _ => unreachable!(
            "the plain form writes records one by one, {next:?} {from} {cut:?} {}",
            table.states
        ),
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
    assert!(lanes.when.len() >= window.len() && lanes.place.len() >= window.len());
    let mut walks: [Walk; PLAIN] = std::array::from_fn(|k| warm_up(table, window, k, cut));
    walks[0] = lanes.walks[0];
    lanes.begin[..PLAIN].copy_from_slice(&walks);
    let (mut hits, mut count) = (0, 0u64);
    let (most, shift, saturates) = (table.count_mask, table.count_shift, table.saturates);
    let (when, place) = (&mut lanes.when[..], &mut lanes.place[..]);
    for step in 0..cut.size {
        for (k, walk) in walks.iter_mut().enumerate() {
            // SAFETY: `step` is below `size`, and the window has `size` bytes for each lane.
            let &byte = unsafe { window.get_unchecked(k * cut.size + step) };
            table.step_as::<FORM>(walk, byte);
            let counted = walk.entry & most;
            // SAFETY: at most one hit was written for each byte before this one, and there is room for one at every byte.
            let to = unsafe { when.get_unchecked_mut(hits) };
            *to = (step << BITS | k) as u32;
            // SAFETY: as above.
            let to = unsafe { place.get_unchecked_mut(hits) };
            *to = walk.place;
            count += u64::from(counted >> shift);
            let keep = if counting { saturates & (counted == most) } else { counted != 0 };
            hits += usize::from(keep);
        }
    }
    lanes.hits = hits;
    lanes.counts[0] = count as u32;
    lanes.walks[..PLAIN].copy_from_slice(&walks);
}

fn warm_up(table: &Table, window: &[u8], lane: usize, cut: Cut) -> Walk {
    let mut walk = table.start();
    let from = (lane * cut.size).saturating_sub(cut.warm);
    window[from..lane * cut.size].iter().for_each(|&byte| table.step(&mut walk, byte));
    walk
}
