//! Writes what AVX-512 lanes report to the trail.

use super::{CHUNK, Job, WIDTH};
use std::arch::x86_64::*;

/// For each of 64 steps, which lanes of a vector report something.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Flags(pub(super) [u16; CHUNK]);

/// Writes the places of the four steps from `at` on, for the vectors with something in `any`.
///
/// # Safety
/// The trail has room for these steps.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
pub(super) unsafe fn store_places<const V: usize>(
    job: &Job<'_>,
    at: usize,
    any: &[__m512i; V],
    places: &[[__m512i; V]; 4],
) {
    for (v, &any) in any.iter().enumerate() {
        if _mm512_test_epi32_mask(any, any) == 0 {
            continue;
        }
        for (byte, places) in places.iter().enumerate() {
            let line = v * job.stride + at + byte;
            let to = job.room.places.wrapping_add(line * WIDTH).cast();
            // SAFETY: `Trail::prepare` allocates `stride` times WIDTH places for each vector, and
            // the caller guarantees that it did for this layout. The first place is aligned to 64
            // bytes, and WIDTH places are 64 bytes.
            unsafe { _mm512_store_si512(to, places[v]) };
        }
    }
}

/// Writes, for each lane, in which of the 64 steps from `at` on it reports something.
///
/// # Safety
/// The trail has room for these steps.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
pub(super) unsafe fn store_bits<const V: usize>(
    job: &Job<'_>,
    at: usize,
    flags: &[Flags; V],
    keep: u64,
) {
    for (v, flags) in flags.iter().enumerate() {
        for (lane, bits) in bits_of(flags).into_iter().enumerate() {
            let to = (v * WIDTH + lane) * job.room.words + at / CHUNK;
            // SAFETY: `Trail::prepare` allocates `room.words` words of bits for each lane, enough
            // for `stride` steps, and the caller guarantees that it did for this layout.
            unsafe { job.room.bits.wrapping_add(to).write(bits & keep) };
        }
    }
}

/// For each lane of a vector, in which of 64 steps it reports something.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
fn bits_of(flags: &Flags) -> [u64; WIDTH] {
    let from = flags.0.as_ptr();
    // SAFETY: `Flags` has 128 bytes and is aligned to 64; this loads the first 64.
    let early = unsafe { _mm512_load_si512(from.cast()) };
    // SAFETY: `Flags` has 128 bytes and is aligned to 64; this loads the last 64.
    let late = unsafe { _mm512_load_si512(from.wrapping_add(32).cast()) };
    let bytes = |early, late| {
        let (early, late) = (_mm512_cvtepi16_epi8(early), _mm512_cvtepi16_epi8(late));
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(early), late)
    };
    let mut halves =
        [bytes(early, late), bytes(_mm512_srli_epi16::<8>(early), _mm512_srli_epi16::<8>(late))];
    let mut bits = [0; WIDTH];
    for lane in (0..8).rev() {
        for (half, bytes) in halves.iter_mut().enumerate() {
            bits[8 * half + lane] = _mm512_movepi8_mask(*bytes);
            *bytes = _mm512_add_epi8(*bytes, *bytes);
        }
    }
    bits
}
