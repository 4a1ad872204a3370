//! The walks with AVX-512: four vectors of 16 lanes.

use super::scan::{LANE_BITS, Lanes, WIDE_LANES};
use super::table::{REPORTS, STATE_SHIFT, Table, Walk};
use std::arch::x86_64::*;

/// Lanes of a vector.
const WIDTH: usize = 16;

const VECTORS: usize = WIDE_LANES / WIDTH;

/// Bytes of a lane that are loaded at once.
const WORD: usize = 4;

pub(super) fn available() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vbmi")
}

/// Walks 64 lanes of `size` bytes each, a multiple of four, from and to `lanes.walks`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
pub(super) fn walk(lanes: &mut Lanes, table: &Table, window: &[u8], size: usize) {
    assert!(
        window.len() == WIDE_LANES * size && size.is_multiple_of(WORD) && window.len() < 1 << 30
    );
    assert!(lanes.when.len() >= window.len() + WIDTH && lanes.place.len() >= window.len() + WIDTH);
    let number = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let starts = _mm512_mullo_epi32(number, _mm512_set1_epi32(size as i32));
    let class = load_classes(&table.class);
    let (low, flag) = (_mm512_set1_epi32(0xff), _mm512_set1_epi32(REPORTS as i32));
    let mask = _mm512_set1_epi32(table.mask as i32);
    let behind = _mm512_set1_epi32(table.entries.len() as i32);
    let shift = _mm_cvtsi32_si128(table.bits as i32);
    let (entries, defaults) = (table.entries.as_ptr(), table.defaults.as_ptr());
    let mut entry = each(|v| load(&lanes.walks, v, |w| w.entry));
    let mut past = each(|v| load(&lanes.walks, v, |w| w.past));
    let mut place = [_mm512_setzero_si512(); VECTORS];
    let mut hits = 0;
    for at in (0..size).step_by(WORD) {
        let words = each(|v| {
            let from = window[v * WIDTH * size + at..].as_ptr();
            // SAFETY: lane `l` of vector `v` loads the four bytes at `(16 v + l) size + at`, and `at + 4` is at
            // most `size`, a multiple of four: all within the window of 64 `size` bytes.
            let bytes = unsafe { _mm512_i32gather_epi32::<1>(starts, from.cast()) };
            classes_of(bytes, &class)
        });
        for byte in 0..WORD {
            let pick = _mm_cvtsi32_si128(8 * byte as i32);
            for v in 0..VECTORS {
                let c = _mm512_and_si512(_mm512_srl_epi32(words[v], pick), low);
                let slot = _mm512_xor_si512(_mm512_srli_epi32::<STATE_SHIFT>(entry[v]), c);
                let context = _mm512_or_si512(past[v], c);
                // SAFETY: a base combined with a class is a slot of `entries`, by the invariant of `Table`.
                let stored = unsafe { _mm512_i32gather_epi32::<4>(slot, entries.cast()) };
                // SAFETY: every context is below the length of `defaults`, by the same invariant.
                let default = unsafe { _mm512_i32gather_epi32::<4>(context, defaults.cast()) };
                let other = _mm512_test_epi32_mask(_mm512_xor_si512(stored, c), low);
                past[v] = _mm512_and_si512(_mm512_sll_epi32(context, shift), mask);
                entry[v] = _mm512_mask_mov_epi32(stored, other, default);
                place[v] = _mm512_mask_add_epi32(slot, other, context, behind);
                let reports = _mm512_test_epi32_mask(entry[v], flag);
                if reports != 0 {
                    let first = (((at + byte) << LANE_BITS) | (v * WIDTH)) as i32;
                    let when = _mm512_or_si512(_mm512_set1_epi32(first), number);
                    store(&mut lanes.when, hits, _mm512_maskz_compress_epi32(reports, when));
                    store(&mut lanes.place, hits, _mm512_maskz_compress_epi32(reports, place[v]));
                    hits += reports.count_ones() as usize;
                }
            }
        }
    }
    lanes.hits = hits;
    for v in 0..VECTORS {
        let (entry, past, place) = (spill(entry[v]), spill(past[v]), spill(place[v]));
        for l in 0..WIDTH {
            lanes.walks[v * WIDTH + l] = Walk { entry: entry[l], past: past[l] };
            lanes.last[v * WIDTH + l] = place[l];
        }
    }
}

/// Something for each vector.
#[inline(always)]
fn each(mut of: impl FnMut(usize) -> __m512i) -> [__m512i; VECTORS] {
    [of(0), of(1), of(2), of(3)]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(walks: &[Walk; WIDE_LANES], vector: usize, field: impl Fn(&Walk) -> u32) -> __m512i {
    let values: [u32; WIDTH] = std::array::from_fn(|l| field(&walks[vector * WIDTH + l]));
    // SAFETY: an unaligned load of 64 bytes from an array of 64 bytes.
    unsafe { _mm512_loadu_si512(values.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn spill(vector: __m512i) -> [u32; WIDTH] {
    let mut values = [0u32; WIDTH];
    // SAFETY: an unaligned store of 64 bytes to an array of 64 bytes.
    unsafe { _mm512_storeu_si512(values.as_mut_ptr().cast(), vector) };
    values
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(to: &mut [u32], at: usize, vector: __m512i) {
    let to: &mut [u32; WIDTH] = to[at..].first_chunk_mut().expect("room for a vector more");
    // SAFETY: an unaligned store of 64 bytes to an array of 64 bytes.
    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), vector) };
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_classes(class: &[u8; 256]) -> [__m512i; 4] {
    let quarters = class.as_chunks::<64>().0;
    // SAFETY: an unaligned load of 64 bytes from an array of 64 bytes.
    each(|i| unsafe { _mm512_loadu_si512(quarters[i].as_ptr().cast()) })
}

/// The classes of 64 bytes: two looks into 128 bytes each, and the top bit chooses.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn classes_of(bytes: __m512i, class: &[__m512i; 4]) -> __m512i {
    let low = _mm512_permutex2var_epi8(class[0], bytes, class[1]);
    let high = _mm512_permutex2var_epi8(class[2], bytes, class[3]);
    _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), low, high)
}
