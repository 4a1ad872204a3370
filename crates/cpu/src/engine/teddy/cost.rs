//! The cost model of Teddy, in nanoseconds per byte.

use super::shape::FilterShape;
use crate::simd::Isa;

/// Nanoseconds per candidate: 3 to 4 for 100 and 300 words in documents (`words`).
pub(super) const CANDIDATE_NS: f32 = 3.5;

/// Nanoseconds per call (`replay`).
pub(super) const NS_A_CALL: f32 = 40.0;

/// Nanoseconds per written match of a short pattern, roughly (`rules`).
pub(super) const SHORT_MATCH_NS: f32 = 2.0;

/// Nanoseconds per byte of a filter without candidates: lines fitted to all shapes over 64 KiB, in a
/// cache. From memory, any filter waits for it as long.
pub(super) fn bare_ns(shape: FilterShape, isa: Isa) -> f32 {
    let FilterShape { offsets, highs, sets } = shape;
    match isa {
        Isa::Avx512 => 0.0185 + 0.0053 * (offsets * sets) as f32,
        // Counted in operations: nibbles are split once, then looked up in each set.
        Isa::Avx2 => {
            0.0036 * (6 + offsets + 2 * highs + (2 * offsets + 2 * highs + 1) * sets) as f32
        }
        Isa::Scalar => 0.35 * offsets as f32,
    }
}

/// Nanoseconds per byte for short patterns of one length: lines fitted to one to eight patterns of
/// two bytes, and four of three.
pub(super) fn short_ns(patterns: usize, len: usize, isa: Isa) -> f32 {
    let (eights, patterns, len) = (patterns.div_ceil(8) as f32, patterns as f32, len as f32);
    match isa {
        Isa::Avx512 => eights * (0.01 + 0.016 * len) + 0.0065 * patterns,
        Isa::Avx2 => eights * (0.007 + 0.02 * len) + 0.015 * patterns,
        Isa::Scalar => eights,
    }
}
