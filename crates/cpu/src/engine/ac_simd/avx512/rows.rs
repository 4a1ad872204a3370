//! Loads haystack bytes for AVX-512 lanes, transposes them from a row per lane to a row per four
//! steps, and maps them to classes.

use super::{CHUNK, Job, WIDTH};
use std::arch::x86_64::*;

/// Writes to `parked` the classes of the bytes of all lanes from `at` on, four steps to a word.
/// `keep` selects the steps. All lanes but the first start `back` bytes before their segment.
///
/// # Safety
/// These bytes can be read.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
pub(super) unsafe fn load_chunk<const V: usize>(
    job: &Job<'_>,
    at: usize,
    back: usize,
    keep: u64,
    classes: &[__m512i; 4],
    parked: &mut [[__m512i; V]; CHUNK / 4],
) {
    for v in 0..V {
        let mut rows = [_mm512_setzero_si512(); WIDTH];
        for (l, row) in rows.iter_mut().enumerate() {
            let lane = v * WIDTH + l;
            let back = if lane == 0 { 0 } else { back };
            let from = job.from.wrapping_add(lane * job.stride + at).wrapping_sub(back);
            _mm_prefetch::<_MM_HINT_T1>(from.wrapping_add(job.ahead).cast());
            // SAFETY: a masked load reads only the bytes that `keep` selects, and the caller
            // guarantees that these can be read.
            *row = unsafe { _mm512_maskz_loadu_epi8(keep, from.cast()) };
        }
        transpose(&mut rows);
        for (parked, &row) in parked.iter_mut().zip(&rows) {
            parked[v] = classes_of(row, classes);
        }
    }
}

/// For each byte of a word, the shuffle that moves it to the lowest byte and clears the others.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn pickers() -> [__m512i; 4] {
    let pick = |byte: i32| {
        let word = |i: i32| 0x8080_8000u32 as i32 | (4 * i + byte);
        _mm512_broadcast_i32x4(_mm_setr_epi32(word(0), word(1), word(2), word(3)))
    };
    [pick(0), pick(1), pick(2), pick(3)]
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load_classes(class: &[u8; 256]) -> [__m512i; 4] {
    let quarters = class.as_chunks::<64>().0;
    // SAFETY: `quarters[i]` is an array of 64 bytes, and the load is unaligned.
    let quarter = |i: usize| unsafe { _mm512_loadu_si512(quarters[i].as_ptr().cast()) };
    [quarter(0), quarter(1), quarter(2), quarter(3)]
}

/// The classes of 64 bytes: two lookups in 128 bytes each, selected by the top bit.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn classes_of(bytes: __m512i, class: &[__m512i; 4]) -> __m512i {
    let low = _mm512_permutex2var_epi8(class[0], bytes, class[1]);
    let high = _mm512_permutex2var_epi8(class[2], bytes, class[3]);
    _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), low, high)
}

/// Transposes 16 rows of 16 words: the first words of all rows become the first row.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose(r: &mut [__m512i; WIDTH]) {
    let mut t = *r;
    for i in (0..WIDTH).step_by(2) {
        t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
    }
    for i in (0..WIDTH).step_by(4) {
        r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
        r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
        r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
        r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
    for i in 0..4 {
        let a = _mm512_shuffle_i32x4::<0x88>(r[i], r[i + 4]);
        let b = _mm512_shuffle_i32x4::<0xdd>(r[i], r[i + 4]);
        let c = _mm512_shuffle_i32x4::<0x88>(r[i + 8], r[i + 12]);
        let d = _mm512_shuffle_i32x4::<0xdd>(r[i + 8], r[i + 12]);
        t[i] = _mm512_shuffle_i32x4::<0x88>(a, c);
        t[i + 8] = _mm512_shuffle_i32x4::<0xdd>(a, c);
        t[i + 4] = _mm512_shuffle_i32x4::<0x88>(b, d);
        t[i + 12] = _mm512_shuffle_i32x4::<0xdd>(b, d);
    }
    *r = t;
}
