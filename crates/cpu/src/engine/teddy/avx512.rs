//! The vector loops for AVX-512: one shuffle of 64 entries per window byte.

use super::loops::loops;
use super::scan::{Passed, PositionList};
use super::shape::FilterShape;
use super::stage1::{self, SPAN, sweep};
use super::tables::{Nibbles, ShortGroup, ShuffleTables};
use crate::simd::Avx512;
use std::arch::x86_64::{
    __m256i, __m512i, _mm_loadu_si128, _mm512_add_epi8, _mm512_add_epi16, _mm512_add_epi64,
    _mm512_and_si512, _mm512_broadcast_i32x4, _mm512_castsi512_si256, _mm512_cmpeq_epi8_mask,
    _mm512_cvtepu8_epi16, _mm512_extracti64x4_epi64, _mm512_loadu_si512,
    _mm512_maskz_compress_epi8, _mm512_maskz_loadu_epi8, _mm512_or_si512, _mm512_permutexvar_epi8,
    _mm512_reduce_add_epi64, _mm512_sad_epu8, _mm512_set1_epi8, _mm512_set1_epi16,
    _mm512_setzero_si512, _mm512_shuffle_epi8, _mm512_srli_epi16, _mm512_storeu_si512,
    _mm512_test_epi8_mask, _mm512_test_epi64_mask,
};
use std::array::from_fn;
use std::ops::Range;

type Vector = __m512i;

loops!(Avx512, "avx512f,avx512bw,avx512vbmi,popcnt");

/// Loads 64 bytes at `at`.
#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8], at: usize) -> Vector {
    let bytes: &[u8; 64] =
        bytes[at..].first_chunk().expect("a span has a margin of PAIR_APART bytes");
    // SAFETY: `bytes` is a reference to 64 bytes, and the load is unaligned.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// Copies a table of 16 entries into each 128-bit lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn sixteen(table: &[u8; 16]) -> Vector {
    // SAFETY: `table` is a reference to 16 bytes, and the load is unaligned.
    _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(table.as_ptr().cast()) })
}

#[inline]
#[target_feature(enable = "avx512f")]
fn fill(byte: u8) -> Vector {
    _mm512_set1_epi8(byte as i8)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn and(a: Vector, b: Vector) -> Vector {
    _mm512_and_si512(a, b)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn or(a: Vector, b: Vector) -> Vector {
    _mm512_or_si512(a, b)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn add(a: Vector, b: Vector) -> Vector {
    _mm512_add_epi8(a, b)
}

/// Looks up each byte, which is below 16, in a table of 16 entries.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn shuffle(table: Vector, nibbles: Vector) -> Vector {
    _mm512_shuffle_epi8(table, nibbles)
}

/// The low and the high nibble of each byte.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn nibbles(bytes: Vector) -> (Vector, Vector) {
    (and(bytes, fill(15)), and(_mm512_srli_epi16::<4>(bytes), fill(15)))
}

/// Bit `i` says whether bytes `i` are equal.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn equal(a: Vector, b: Vector) -> u64 {
    _mm512_cmpeq_epi8_mask(a, b)
}

/// Bit `i` says whether byte `i` is not 0.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn nonzero(bytes: Vector) -> u64 {
    _mm512_test_epi8_mask(bytes, bytes)
}

/// Adds each group of eight bytes to a 64-bit sum.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn sums(sums: Vector, bytes: Vector) -> Vector {
    _mm512_add_epi64(sums, _mm512_sad_epu8(bytes, _mm512_setzero_si512()))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn sum(sums: Vector) -> u64 {
    _mm512_reduce_add_epi64(sums) as u64
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn filter_shaped(tables: &ShuffleTables, bytes: &[u8], tile: Range<usize>, passed: &mut [u64]) {
    let FilterShape { offsets, sets, .. } = tables.shape;
    match (offsets, sets) {
        (4, 1) => filter_sized::<4, 1>(tables, bytes, tile, passed),
        (5, 1) => filter_sized::<5, 1>(tables, bytes, tile, passed),
        (4, 2) => filter_sized::<4, 2>(tables, bytes, tile, passed),
        (5, 2) => filter_sized::<5, 2>(tables, bytes, tile, passed),
        (5, 4) => filter_sized::<5, 4>(tables, bytes, tile, passed),
        (6, 4) => filter_sized::<6, 4>(tables, bytes, tile, passed),
        shape => unreachable!("no plan has the shape {shape:?}"),
    }
}

/// The filter for `K` offsets and `S` sets of eight buckets.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn filter_sized<const K: usize, const S: usize>(
    tables: &ShuffleTables,
    bytes: &[u8],
    tile: Range<usize>,
    passed: &mut [u64],
) {
    let sets: [[Vector; K]; S] = from_fn(|s| from_fn(|k| load(&tables.wide[s * K + k], 0)));
    sweep(bytes, tile, |word, span| {
        passed[word] = some_bucket(&sets, &from_fn(|k| load(span, k)));
    });
}

/// The first candidate of a haystack, which is mostly short.
pub(super) fn first(_: Avx512, tables: &ShuffleTables, bytes: &[u8]) -> Option<usize> {
    // SAFETY: the token proves that detection found every feature that this module enables, see
    // `simd::isa`.
    unsafe { first_any(tables, bytes) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,popcnt")]
fn first_any(tables: &ShuffleTables, bytes: &[u8]) -> Option<usize> {
    match &tables.pair {
        Some((pair, apart)) => first_pair(pair, *apart, bytes),
        None => first_shaped(tables, bytes),
    }
}

/// The candidates among 64 positions, which may end beyond the haystack.
pub(super) fn word(_: Avx512, tables: &ShuffleTables, bytes: &[u8], at: usize) -> u64 {
    // SAFETY: the token proves that detection found every feature that this module enables, see
    // `simd::isa`.
    let passed = unsafe { word_any(tables, bytes, at) };
    // Zeros beyond the end may pass.
    passed & stage1::low_bits((bytes.len() - at).min(64))
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,popcnt")]
fn word_any(tables: &ShuffleTables, bytes: &[u8], at: usize) -> u64 {
    match &tables.pair {
        Some((pair, apart)) => word_of_pair(pair, *apart, bytes, at),
        None => word_shaped(tables, bytes, at),
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,popcnt")]
fn word_of_pair(pair: &[[u8; 2]; 2], apart: usize, bytes: &[u8], at: usize) -> u64 {
    One::<2>::new(pair).find([load_within(bytes, at), load_within(bytes, at + apart)])
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn word_shaped(tables: &ShuffleTables, bytes: &[u8], at: usize) -> u64 {
    let FilterShape { offsets, sets, .. } = tables.shape;
    let windows: [Vector; 6] = from_fn(|k| load_within(bytes, at + k));
    let mut any = fill(0);
    for set in tables.wide.chunks_exact(offsets).take(sets) {
        let mut all = fill(0xff);
        for (&window, table) in windows.iter().zip(set) {
            all = and(all, _mm512_permutexvar_epi8(window, load(table, 0)));
        }
        any = or(any, all);
    }
    nonzero(any)
}

/// Up to 64 bytes at `at`, with zeros beyond the end. Nothing is copied: a copy and a load of what
/// it stored take longer than the filter.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load_within(bytes: &[u8], at: usize) -> Vector {
    let rest = bytes.get(at..).unwrap_or(&[]);
    let mask = stage1::low_bits(rest.len().min(64));
    // SAFETY: the mask has a bit for each byte of `rest` and no other, and a masked load reads
    // only bytes that have a bit.
    unsafe { _mm512_maskz_loadu_epi8(mask, rest.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,popcnt")]
fn first_pair(pair: &[[u8; 2]; 2], apart: usize, bytes: &[u8]) -> Option<usize> {
    let pair = One::<2>::new(pair);
    let inside = |span: &[u8; SPAN]| pair.find([load(span, 0), load(span, apart)]);
    let edge = |at| pair.find([load_within(bytes, at), load_within(bytes, at + apart)]);
    first_where(bytes, inside, edge)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn first_shaped(tables: &ShuffleTables, bytes: &[u8]) -> Option<usize> {
    let FilterShape { offsets, sets, .. } = tables.shape;
    match (offsets, sets) {
        (4, 1) => first_sized::<4, 1>(tables, bytes),
        (5, 1) => first_sized::<5, 1>(tables, bytes),
        (4, 2) => first_sized::<4, 2>(tables, bytes),
        (5, 2) => first_sized::<5, 2>(tables, bytes),
        (5, 4) => first_sized::<5, 4>(tables, bytes),
        (6, 4) => first_sized::<6, 4>(tables, bytes),
        shape => unreachable!("no plan has the shape {shape:?}"),
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn first_sized<const K: usize, const S: usize>(
    tables: &ShuffleTables,
    bytes: &[u8],
) -> Option<usize> {
    let sets: [[Vector; K]; S] = from_fn(|s| from_fn(|k| load(&tables.wide[s * K + k], 0)));
    let inside = |span: &[u8; SPAN]| some_bucket(&sets, &from_fn(|k| load(span, k)));
    let edge = |at| some_bucket(&sets, &from_fn(|k| load_within(bytes, at + k)));
    first_where(bytes, inside, edge)
}

/// The first position that passes. Both functions look at 64 positions.
#[inline(always)]
fn first_where(
    bytes: &[u8],
    inside: impl Fn(&[u8; SPAN]) -> u64,
    edge: impl Fn(usize) -> u64,
) -> Option<usize> {
    let (mut at, len) = (0, bytes.len());
    // Four at a time: a branch for each takes as long as the filter.
    while let Some(spans) = bytes[at..].first_chunk::<{ 3 * 64 + SPAN }>() {
        let span = |i: usize| spans[64 * i..].first_chunk().expect("four spans overlap");
        let passed: [u64; 4] = from_fn(|i| inside(span(i)));
        if passed.iter().fold(0, |any, &word| any | word) != 0 {
            let word = passed.iter().position(|&word| word != 0)?;
            return Some(at + 64 * word + passed[word].trailing_zeros() as usize);
        }
        at += 4 * 64;
    }
    while at < len {
        // Zeros beyond the end may pass.
        let passed = edge(at) & stage1::low_bits((len - at).min(64));
        if passed != 0 {
            return Some(at + passed.trailing_zeros() as usize);
        }
        at += 64;
    }
    None
}

/// At which of 64 positions some bucket accepts all bytes of the window.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn some_bucket<const K: usize, const S: usize>(
    sets: &[[Vector; K]; S],
    windows: &[Vector; K],
) -> u64 {
    let mut any = fill(0);
    for set in sets {
        let mut all = fill(0xff);
        for (&window, &table) in windows.iter().zip(set) {
            all = and(all, _mm512_permutexvar_epi8(window, table));
        }
        any = or(any, all);
    }
    nonzero(any)
}

/// Lists the positions of the set bits.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,popcnt")]
fn list_bits(passed: &[u64], list: &mut PositionList) {
    let nonzero = |words: &[u64]| {
        let (eights, rest) = words.as_chunks::<8>();
        let some = |eight: &[u64; 8]| {
            // SAFETY: `eight` is a reference to 64 bytes, and the load is unaligned.
            let eight = unsafe { _mm512_loadu_si512(eight.as_ptr().cast()) };
            u64::from(_mm512_test_epi64_mask(eight, eight))
        };
        let shifts = (0..64).step_by(8);
        let most = eights.iter().zip(shifts).fold(0, |most, (eight, i)| most | some(eight) << i);
        if rest.is_empty() { most } else { most | stage1::nonzero(rest) << (8 * eights.len()) }
    };
    stage1::list_with(passed, list, nonzero, |list, bits, first| append(list, bits, first));
}

/// Appends the positions of the bits set in one word.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
fn append(list: &mut PositionList, passed: u64, first: usize) {
    const IOTA: [u8; 64] = {
        let mut iota = [0; 64];
        let mut i = 0;
        while i < 64 {
            iota[i] = i as u8;
            i += 1;
        }
        iota
    };
    let packed = _mm512_maskz_compress_epi8(passed, load(&IOTA, 0));
    let first = _mm512_set1_epi16(first as i16);
    let spread = |half: __m256i| _mm512_add_epi16(_mm512_cvtepu8_epi16(half), first);
    let count = passed.count_ones() as usize;
    let room = &mut list.at[list.len..];
    store(room, spread(_mm512_castsi512_si256(packed)));
    if count > 32 {
        store(&mut room[32..], spread(_mm512_extracti64x4_epi64::<1>(packed)));
    }
    list.len += count;
}

/// Writes 32 positions.
#[inline]
#[target_feature(enable = "avx512f")]
fn store(room: &mut [u16], positions: __m512i) {
    let to: &mut [u16; 32] = room.first_chunk_mut().expect("a list has 64 elements beyond a tile");
    // SAFETY: `to` is a reference to 64 bytes, and the store is unaligned.
    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), positions) };
}
