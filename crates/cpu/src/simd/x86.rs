//! The operations with SSE2. Every x86-64 CPU has it, so the wrappers need no token.

use std::arch::x86_64::{
    __m128i, _mm_castsi128_ps, _mm_cmpeq_epi8, _mm_cmpeq_epi32, _mm_loadu_si128, _mm_movemask_epi8,
    _mm_movemask_ps, _mm_packs_epi16, _mm_packs_epi32, _mm_setzero_si128,
};

/// See [`super::sign_mask`].
#[inline(always)]
pub(super) fn sign_mask(lanes: &[i32; 16]) -> u16 {
    // SAFETY: SSE2 is part of the x86-64 baseline, so every CPU that runs this has it.
    unsafe { sign_mask_sse2(lanes) }
}

/// Packs with signed saturation, which keeps the sign, from 32 to 16 to 8 bits; the top bits are
/// the mask.
#[inline]
#[target_feature(enable = "sse2")]
fn sign_mask_sse2(lanes: &[i32; 16]) -> u16 {
    let (quarters, _) = lanes.as_chunks::<4>();
    // SAFETY: an unaligned load of 16 bytes, and `quarters[i]` is a reference to four i32.
    let load = |i: usize| unsafe { _mm_loadu_si128((&raw const quarters[i]).cast::<__m128i>()) };
    let low = _mm_packs_epi32(load(0), load(1));
    let high = _mm_packs_epi32(load(2), load(3));
    _mm_movemask_epi8(_mm_packs_epi16(low, high)) as u16
}

/// See [`super::common_prefix`].
#[inline(always)]
pub(super) fn common_prefix(a: &[u8; 16], b: &[u8; 16]) -> usize {
    // SAFETY: SSE2 is part of the x86-64 baseline, so every CPU that runs this has it.
    unsafe { common_prefix_sse2(a, b) }
}

#[inline]
#[target_feature(enable = "sse2")]
fn common_prefix_sse2(a: &[u8; 16], b: &[u8; 16]) -> usize {
    let equal = _mm_movemask_epi8(_mm_cmpeq_epi8(load(a), load(b)));
    equal.trailing_ones() as usize
}

/// See [`super::nonzero_mask`].
#[inline(always)]
pub(super) fn nonzero_mask(numbers: &[u8; 16]) -> u32 {
    // SAFETY: SSE2 is part of the x86-64 baseline, so every CPU that runs this has it.
    unsafe { nonzero_mask_sse2(numbers) }
}

#[inline]
#[target_feature(enable = "sse2")]
fn nonzero_mask_sse2(numbers: &[u8; 16]) -> u32 {
    let zero = _mm_cmpeq_epi32(load(numbers), _mm_setzero_si128());
    _mm_movemask_ps(_mm_castsi128_ps(zero)) as u32 ^ 15
}

#[inline]
#[target_feature(enable = "sse2")]
fn load(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: an unaligned load of 16 bytes, and `bytes` is a reference to 16.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}
