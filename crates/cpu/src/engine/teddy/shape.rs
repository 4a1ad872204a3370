//! The shapes of a filter: how many bytes of a window it looks at, and how many buckets it has.

use crate::simd::Isa;

/// The maximum number of bytes of a window.
pub(super) const OFFSETS: usize = 6;

/// Largest distance between the two bytes of a pair.
pub(super) const TWO_BYTES_APART: usize = 16;

/// How many bytes of a window the filter looks at, and how many buckets there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FilterShape {
    /// Bytes of a window.
    pub(super) offsets: usize,
    /// How many of these have a high nibble table, where tables have 16 entries.
    pub(super) highs: usize,
    /// Sets of eight buckets.
    pub(super) sets: usize,
}

impl std::fmt::Display for FilterShape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let FilterShape { offsets, highs, sets } = self;
        write!(f, "{offsets} offsets")?;
        if highs < offsets {
            write!(f, " ({highs} high {})", if *highs == 1 { "nibble" } else { "nibbles" })?;
        }
        write!(f, ", {} buckets", 8 * sets)
    }
}

pub(super) const fn shape(offsets: usize, sets: usize) -> FilterShape {
    FilterShape { offsets, highs: offsets, sets }
}

const fn nibbles(offsets: usize, highs: usize, sets: usize) -> FilterShape {
    FilterShape { offsets, highs, sets }
}

/// Whether a table has 16 entries, so that it takes one for low and one for high nibbles.
pub(super) fn has_nibbles(isa: Isa) -> bool {
    matches!(isa, Isa::Avx2 | Isa::Simd128)
}

/// Whether shuffles for ASCII take fewer instructions than others.
pub(super) fn shuffles_ascii(isa: Isa) -> bool {
    isa == Isa::Avx2
}

/// The shapes of an instruction set, cheapest first.
pub(super) fn shapes(isa: Isa) -> &'static [FilterShape] {
    match isa {
        Isa::Avx512 | Isa::Neon => {
            const {
                &[
                    shape(3, 1),
                    shape(4, 1),
                    shape(5, 1),
                    shape(4, 2),
                    shape(5, 2),
                    shape(5, 4),
                    shape(6, 4),
                ]
            }
        }
        Isa::Avx2 | Isa::Simd128 => {
            const {
                &[
                    nibbles(3, 1, 1),
                    nibbles(4, 1, 1),
                    nibbles(5, 1, 1),
                    nibbles(4, 2, 1),
                    nibbles(6, 1, 1),
                    nibbles(4, 4, 1),
                    nibbles(5, 1, 2),
                    nibbles(3, 3, 2),
                    nibbles(6, 1, 2),
                    nibbles(5, 2, 2),
                    nibbles(4, 4, 2),
                    nibbles(5, 2, 4),
                    nibbles(6, 2, 4),
                    nibbles(6, 4, 4),
                ]
            }
        }
        // One lookup yields all buckets.
        Isa::Scalar => const { &[shape(4, 4), shape(5, 4), shape(6, 4)] },
    }
}
