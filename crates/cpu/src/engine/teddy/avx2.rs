//! The vector loops for AVX2: one or two shuffles of 16 entries per window byte.

use super::loops::loops;
use super::scan::{Passed, PositionList};
use super::shape::FilterShape;
use super::stage1::{self, SPAN, sweep};
use super::tables::{Nibbles, ShortGroup, ShuffleTables};
use crate::simd::Avx2;
use std::arch::x86_64::{
    __m256i, _mm_loadu_si128, _mm256_add_epi8, _mm256_add_epi64, _mm256_and_si256,
    _mm256_broadcastsi128_si256, _mm256_castsi256_pd, _mm256_cmpeq_epi8, _mm256_cmpeq_epi64,
    _mm256_extract_epi64, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_movemask_pd,
    _mm256_or_si256, _mm256_sad_epu8, _mm256_set1_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8,
    _mm256_srli_epi16,
};
use std::array::from_fn;
use std::ops::Range;

/// 64 bytes, in two registers.
type Vector = [__m256i; 2];

loops!(Avx2, "avx2,popcnt");

/// Loads 64 bytes at `at`.
#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8], at: usize) -> Vector {
    let bytes: &[u8; 64] =
        bytes[at..].first_chunk().expect("a span has a margin of PAIR_APART bytes");
    let halves: [&[u8; 32]; 2] = from_fn(|i| bytes[32 * i..].first_chunk().expect("64 bytes"));
    // SAFETY: each `half` is a reference to 32 bytes, and the load is unaligned.
    halves.map(|half| unsafe { _mm256_loadu_si256(half.as_ptr().cast()) })
}

/// Copies a table of 16 entries into each 128-bit lane.
#[inline]
#[target_feature(enable = "avx2")]
fn sixteen(table: &[u8; 16]) -> Vector {
    // SAFETY: `table` is a reference to 16 bytes, and the load is unaligned.
    [_mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(table.as_ptr().cast()) }); 2]
}

#[inline]
#[target_feature(enable = "avx2")]
fn fill(byte: u8) -> Vector {
    [_mm256_set1_epi8(byte as i8); 2]
}

#[inline]
#[target_feature(enable = "avx2")]
fn and(a: Vector, b: Vector) -> Vector {
    [_mm256_and_si256(a[0], b[0]), _mm256_and_si256(a[1], b[1])]
}

#[inline]
#[target_feature(enable = "avx2")]
fn or(a: Vector, b: Vector) -> Vector {
    [_mm256_or_si256(a[0], b[0]), _mm256_or_si256(a[1], b[1])]
}

#[inline]
#[target_feature(enable = "avx2")]
fn add(a: Vector, b: Vector) -> Vector {
    [_mm256_add_epi8(a[0], b[0]), _mm256_add_epi8(a[1], b[1])]
}

/// Looks up each byte, which is below 16, in a table of 16 entries.
#[inline]
#[target_feature(enable = "avx2")]
fn shuffle(table: Vector, nibbles: Vector) -> Vector {
    [_mm256_shuffle_epi8(table[0], nibbles[0]), _mm256_shuffle_epi8(table[1], nibbles[1])]
}

/// The low and the high nibble of each byte.
#[inline]
#[target_feature(enable = "avx2")]
fn nibbles(bytes: Vector) -> (Vector, Vector) {
    let high = [_mm256_srli_epi16::<4>(bytes[0]), _mm256_srli_epi16::<4>(bytes[1])];
    (and(bytes, fill(15)), and(high, fill(15)))
}

/// Bit `i` says whether bytes `i` are equal.
#[inline]
#[target_feature(enable = "avx2")]
fn equal(a: Vector, b: Vector) -> u64 {
    let low = _mm256_movemask_epi8(_mm256_cmpeq_epi8(a[0], b[0])) as u32;
    let high = _mm256_movemask_epi8(_mm256_cmpeq_epi8(a[1], b[1])) as u32;
    u64::from(low) | u64::from(high) << 32
}

/// Bit `i` says whether byte `i` is not 0.
#[inline]
#[target_feature(enable = "avx2")]
fn nonzero(bytes: Vector) -> u64 {
    !equal(bytes, fill(0))
}

/// Adds each group of eight bytes to a 64-bit sum.
#[inline]
#[target_feature(enable = "avx2")]
fn sums(sums: Vector, bytes: Vector) -> Vector {
    let zero = _mm256_setzero_si256();
    let [low, high] = [_mm256_sad_epu8(bytes[0], zero), _mm256_sad_epu8(bytes[1], zero)];
    [_mm256_add_epi64(sums[0], low), _mm256_add_epi64(sums[1], high)]
}

#[inline]
#[target_feature(enable = "avx2")]
fn sum(sums: Vector) -> u64 {
    let sums = _mm256_add_epi64(sums[0], sums[1]);
    let [a, b] = [_mm256_extract_epi64::<0>(sums), _mm256_extract_epi64::<1>(sums)];
    let [c, d] = [_mm256_extract_epi64::<2>(sums), _mm256_extract_epi64::<3>(sums)];
    (a + b + c + d) as u64
}

#[target_feature(enable = "avx2")]
fn filter_shaped(tables: &ShuffleTables, bytes: &[u8], tile: Range<usize>, passed: &mut [u64]) {
    let FilterShape { offsets, highs, sets } = tables.shape;
    match (offsets, highs, sets) {
        (4, 2, 1) => filter_sized::<4, 2, 1>(tables, bytes, tile, passed),
        (4, 4, 1) => filter_sized::<4, 4, 1>(tables, bytes, tile, passed),
        (5, 1, 2) => filter_sized::<5, 1, 2>(tables, bytes, tile, passed),
        (3, 3, 2) => filter_sized::<3, 3, 2>(tables, bytes, tile, passed),
        (5, 2, 2) => filter_sized::<5, 2, 2>(tables, bytes, tile, passed),
        (4, 4, 2) => filter_sized::<4, 4, 2>(tables, bytes, tile, passed),
        (5, 2, 4) => filter_sized::<5, 2, 4>(tables, bytes, tile, passed),
        (6, 2, 4) => filter_sized::<6, 2, 4>(tables, bytes, tile, passed),
        (6, 4, 4) => filter_sized::<6, 4, 4>(tables, bytes, tile, passed),
        shape => unreachable!("no plan has the shape {shape:?}"),
    }
}

/// The filter for `K` offsets and `S` sets of eight buckets. The first `H` offsets have high
/// nibble tables.
#[target_feature(enable = "avx2")]
fn filter_sized<const K: usize, const H: usize, const S: usize>(
    tables: &ShuffleTables,
    bytes: &[u8],
    tile: Range<usize>,
    passed: &mut [u64],
) {
    let table = |set: usize, k: usize| &tables.nibbles[set * K + k];
    let lows: [[Vector; K]; S] = from_fn(|set| from_fn(|k| sixteen(&table(set, k)[0])));
    let highs: [[Vector; H]; S] = from_fn(|set| from_fn(|k| sixteen(&table(set, k)[1])));
    sweep(bytes, tile, |word, span| {
        let windows: [Vector; K] = from_fn(|k| load(span, k));
        let low: [Vector; K] = from_fn(|k| nibbles(windows[k]).0);
        let high: [Vector; H] = from_fn(|k| nibbles(windows[k]).1);
        let mut any = fill(0);
        for (lows, highs) in lows.iter().zip(&highs) {
            let mut all = shuffle(lows[0], low[0]);
            for k in 1..K {
                all = and(all, shuffle(lows[k], low[k]));
            }
            for k in 0..H {
                all = and(all, shuffle(highs[k], high[k]));
            }
            any = or(any, all);
        }
        passed[word] = nonzero(any);
    });
}

/// Lists the positions of the set bits.
#[target_feature(enable = "avx2,bmi1,popcnt")]
fn list_bits(passed: &[u64], list: &mut PositionList) {
    let nonzero = |words: &[u64]| {
        let (fours, rest) = words.as_chunks::<4>();
        let some = |four: &[u64; 4]| {
            // SAFETY: `four` is a reference to 32 bytes, and the load is unaligned.
            let four = unsafe { _mm256_loadu_si256(four.as_ptr().cast()) };
            let zero = _mm256_cmpeq_epi64(four, _mm256_setzero_si256());
            (_mm256_movemask_pd(_mm256_castsi256_pd(zero)) ^ 0b1111) as u64
        };
        let shifts = (0..64).step_by(4);
        let most = fours.iter().zip(shifts).fold(0, |most, (four, i)| most | some(four) << i);
        if rest.is_empty() { most } else { most | stage1::nonzero(rest) << (4 * fours.len()) }
    };
    stage1::list_with(passed, list, nonzero, PositionList::add_bits);
}
