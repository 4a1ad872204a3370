//! Forms for x86-64 with its baseline, SSE2.

use std::arch::x86_64::{
    __m128i, _mm_loadu_si128, _mm_movemask_epi8, _mm_packs_epi16, _mm_packs_epi32,
};

/// See the parent module.
#[inline(always)]
pub(super) fn sign_mask(lanes: &[i32; 16]) -> u16 {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { sign_mask_sse2(lanes) }
}

/// Packing with signed saturation keeps the sign: from 32 to 16 to 8 bits, whose top bits are the mask.
#[inline]
#[target_feature(enable = "sse2")]
fn sign_mask_sse2(lanes: &[i32; 16]) -> u16 {
    let (quarters, _) = lanes.as_chunks::<4>();
    // SAFETY: an unaligned load of 16 bytes from a reference to 16 bytes.
    let load = |i: usize| unsafe { _mm_loadu_si128((&raw const quarters[i]).cast::<__m128i>()) };
    let low = _mm_packs_epi32(load(0), load(1));
    let high = _mm_packs_epi32(load(2), load(3));
    _mm_movemask_epi8(_mm_packs_epi16(low, high)) as u16
}
