//! The lanes with NEON: the eight scalar walks. NEON has no gathers, so vectors only collect the
//! bits of the steps that report something.

use super::output::{Hits, MatchOutput};
use super::scalar::{self, LANES, Row, Rows, Window};
use super::scan::Lanes;
use super::table::{COMPACT2, COMPACT3, DENSE, Form, LINKED};
use super::trail::{STEPS, Trail};
use crate::simd::Neon;
use std::arch::aarch64::*;
use std::ops::ControlFlow;

/// Lanes of a vector.
const WIDTH: usize = 4;

/// Walks 8 lanes from and to `lanes.walks`.
pub(super) fn walk(_: Neon, lanes: &mut Lanes, window: Window<'_>, counting: bool) {
    // SAFETY: the token proves that detection found NEON, see `simd::isa`.
    unsafe { walk_window(lanes, window, counting) }
}

#[target_feature(enable = "neon")]
fn walk_window(lanes: &mut Lanes, window: Window<'_>, counting: bool) {
    match window.table.form {
        Form::Dense => walk_as::<DENSE>(lanes, window, counting),
        Form::Compact2 => walk_as::<COMPACT2>(lanes, window, counting),
        Form::Compact3 => walk_as::<COMPACT3>(lanes, window, counting),
        Form::Linked => walk_as::<LINKED>(lanes, window, counting),
    }
}

/// Not inlined: the loops of all forms in one function would compete for registers.
#[inline(never)]
#[target_feature(enable = "neon")]
fn walk_as<const FORM: u8>(lanes: &mut Lanes, window: Window<'_>, counting: bool) {
    scalar::walk_as::<FORM>(lanes, window, counting, |rows, mask, open| flags(rows, mask, open));
}

/// See `lanes::write`.
pub(super) fn write(
    _: Neon,
    out: &mut MatchOutput<'_>,
    trail: &Trail,
    hits: &mut Hits,
    first: u32,
) -> ControlFlow<()> {
    out.write_all::<LANES>(trail, hits, first, Hits::pick)
}

/// See `scalar::flags`.
#[inline]
#[target_feature(enable = "neon")]
fn flags(rows: &Rows, mask: u32, open: bool) -> [u64; LANES] {
    let mut bits = [0; LANES];
    let (early, late) = rows.split_at(STEPS / 2);
    for half in 0..LANES / WIDTH {
        let words = [bits_of(early, half, mask, open), bits_of(late, half, mask, open)];
        for (bits, (low, high)) in
            bits[half * WIDTH..].iter_mut().zip(words[0].into_iter().zip(words[1]))
        {
            *bits = u64::from(high) << 32 | u64::from(low);
        }
    }
    bits
}

/// The bits of 32 steps of four lanes. Each step moves those before it down by one.
#[inline]
#[target_feature(enable = "neon")]
fn bits_of(rows: &[Row], half: usize, mask: u32, open: bool) -> [u32; WIDTH] {
    let (mask, mut bits) = (vdupq_n_u32(mask), vdupq_n_u32(0));
    for row in rows {
        // SAFETY: `entries` has eight numbers, and `half` is 0 or 1.
        let entries = unsafe { vld1q_u32(row.entries.as_ptr().wrapping_add(half * WIDTH)) };
        let flags = match open {
            true => vceqq_u32(vandq_u32(entries, mask), mask),
            false => vtstq_u32(entries, mask),
        };
        bits = vsriq_n_u32::<1>(flags, bits);
    }
    let mut words = [0; WIDTH];
    // SAFETY: `words` has four numbers.
    unsafe { vst1q_u32(words.as_mut_ptr(), bits) };
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_equal_the_scalar_form() {
        let Some(_) = Neon::detect() else { return };
        let mut random = 1_u32;
        let mut next = || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            random >> 16
        };
        for mask in [0x0000_0700, 0x0000_0100, 0x0000_ff00] {
            let rows: Rows = std::array::from_fn(|_| Row {
                entries: std::array::from_fn(|_| next()),
                ..Row::default()
            });
            for open in [false, true] {
                // SAFETY: detection found NEON.
                let found = unsafe { flags(&rows, mask, open) };
                assert_eq!(found, scalar::flags(&rows, mask, open));
            }
        }
    }
}
