//! The operations with NEON. Every AArch64 target with floating point has it, so the wrappers need
//! no token.

use std::arch::aarch64::*;

/// The bit of each of eight elements.
const BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

/// See [`super::sign_mask`].
#[inline(always)]
pub(super) fn sign_mask(lanes: &[i32; 16]) -> u16 {
    // SAFETY: NEON is part of the baseline of AArch64 targets, so every CPU that runs this has it.
    unsafe { sign_mask_neon(lanes) }
}

/// Narrows 32 to 16 to 8 bits by keeping the upper halves, which have the sign.
#[inline]
#[target_feature(enable = "neon")]
fn sign_mask_neon(lanes: &[i32; 16]) -> u16 {
    let (quarters, _) = lanes.as_chunks::<4>();
    // SAFETY: `quarters[i]` is a reference to four `i32`.
    let quarter = |i: usize| vreinterpretq_s16_s32(unsafe { vld1q_s32(quarters[i].as_ptr()) });
    let (low, high) = (vuzp2q_s16(quarter(0), quarter(1)), vuzp2q_s16(quarter(2), quarter(3)));
    let bytes = vuzp2q_s8(vreinterpretq_s8_s16(low), vreinterpretq_s8_s16(high));
    let bits = vandq_u8(vcltzq_s8(bytes), load(&BITS));
    u16::from(vaddv_u8(vget_low_u8(bits))) | u16::from(vaddv_u8(vget_high_u8(bits))) << 8
}

/// See [`super::common_prefix`].
#[inline(always)]
pub(super) fn common_prefix(a: &[u8; 16], b: &[u8; 16]) -> usize {
    // SAFETY: NEON is part of the baseline of AArch64 targets, so every CPU that runs this has it.
    unsafe { common_prefix_neon(a, b) }
}

/// A narrowing shift keeps four bits of each byte of the comparison.
#[inline]
#[target_feature(enable = "neon")]
fn common_prefix_neon(a: &[u8; 16], b: &[u8; 16]) -> usize {
    let equal = vreinterpretq_u16_u8(vceqq_u8(load(a), load(b)));
    let nibbles = vget_lane_u64::<0>(vreinterpret_u64_u8(vshrn_n_u16::<4>(equal)));
    nibbles.trailing_ones() as usize / 4
}

/// See [`super::nonzero_mask`].
#[inline(always)]
pub(super) fn nonzero_mask(numbers: &[u8; 16]) -> u32 {
    // SAFETY: NEON is part of the baseline of AArch64 targets, so every CPU that runs this has it.
    unsafe { nonzero_mask_neon(numbers) }
}

#[inline]
#[target_feature(enable = "neon")]
fn nonzero_mask_neon(numbers: &[u8; 16]) -> u32 {
    let numbers = vreinterpretq_u32_u8(load(numbers));
    // SAFETY: the array has four numbers.
    let bits = unsafe { vld1q_u32([1, 2, 4, 8].as_ptr()) };
    vaddvq_u32(vandq_u32(vtstq_u32(numbers, numbers), bits))
}

#[inline]
#[target_feature(enable = "neon")]
fn load(bytes: &[u8; 16]) -> uint8x16_t {
    // SAFETY: `bytes` is a reference to 16 bytes.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}
