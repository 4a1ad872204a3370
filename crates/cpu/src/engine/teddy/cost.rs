//! The cost model of Teddy, in nanoseconds per byte.

use super::pairs::{PairShape, Positions, Size};
use super::plan::SHORT_ALONE;
use super::shape::FilterShape;
use crate::costs::costs;
use crate::simd::Isa;

/// A filter without candidates. `ascii`: whether it looks up by shuffles for ASCII.
pub(super) fn bare_ns(shape: FilterShape, ascii: bool, isa: Isa) -> f32 {
    let costs = costs().teddy.of(isa);
    // The shuffle itself ignores the high nibble of an ASCII byte.
    let saved = if ascii { shape.offsets } else { 0 };
    costs.byte + costs.step * (steps(shape, isa) - saved) as f32
}

/// A filter of pair tables without candidates.
pub(super) fn paired_ns(shape: PairShape, isa: Isa) -> f32 {
    let costs = costs().teddy.of(isa);
    let [small, large] = match shape.positions {
        Positions::All => costs.paired,
        Positions::Even => costs.paired_even,
    };
    match shape.size {
        Size::Small => small,
        Size::Large => large,
    }
}

/// The steps of a shape, beyond the work that all shapes share.
fn steps(FilterShape { offsets, highs, sets }: FilterShape, isa: Isa) -> usize {
    match isa {
        Isa::Avx512 | Isa::Neon => offsets * sets,
        // Nibbles are split once, then looked up in each set.
        Isa::Avx2 | Isa::Simd128 => offsets + 2 * highs + (2 * offsets + 2 * highs + 1) * sets,
        Isa::Scalar => offsets,
    }
}

/// The exact search for short patterns of some lengths.
pub(super) fn exact_ns(lengths: impl Iterator<Item = usize>, isa: Isa) -> f32 {
    let mut of_len = [0_usize; SHORT_ALONE + 1];
    lengths.for_each(|len| of_len[len] += 1);
    let costs = costs().teddy.of(isa).short;
    let ns = |(len, patterns): (usize, &usize)| {
        patterns.div_ceil(8) as f32 * (costs.eight + costs.eight_and_byte * len as f32)
    };
    of_len.iter().enumerate().map(ns).sum()
}
