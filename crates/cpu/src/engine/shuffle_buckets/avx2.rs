//! The vector loops with AVX2: 32 positions at a time, two shuffles of 16 entries for each byte.

use super::scan::{List, Marks};
use super::tables::{Group, Nibbles, Tables};
use crate::simd::Isa;
use std::arch::x86_64::{
    __m256i, _mm_loadu_si128, _mm256_add_epi8, _mm256_add_epi64, _mm256_and_si256,
    _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8, _mm256_extract_epi64, _mm256_loadu_si256,
    _mm256_movemask_epi8, _mm256_or_si256, _mm256_sad_epu8, _mm256_set1_epi8, _mm256_setzero_si256,
    _mm256_shuffle_epi8, _mm256_srli_epi16,
};
use std::array::from_fn;
use std::ops::Range;

/// Bytes of a block and of the windows that begin in it.
const PADDED: usize = 40;

/// Puts the candidates of a tile on the list.
pub(super) fn filter(tables: &Tables, bytes: &[u8], tile: Range<usize>, list: &mut List) {
    debug_assert!(Isa::Avx2.available() && tile.end <= bytes.len());
    // SAFETY: the form is chosen only where the processor has these instructions.
    unsafe { filter_shaped(tables, bytes, tile, list) }
}

/// Counts the short patterns that begin at `starts`, but for the last few.
pub(super) fn count(
    group: &Group,
    weights: &Nibbles,
    bytes: &[u8],
    starts: &mut Range<usize>,
) -> u64 {
    debug_assert!(Isa::Avx2.available());
    // SAFETY: the form is chosen only where the processor has these instructions.
    unsafe { count_sized(group, weights, bytes, starts) }
}

/// Marks where the short patterns of a group begin.
pub(super) fn mark(group: &Group, bytes: &[u8], starts: Range<usize>, marks: &mut Marks) {
    debug_assert!(Isa::Avx2.available());
    // SAFETY: the form is chosen only where the processor has these instructions.
    unsafe { mark_sized(group, bytes, starts, marks) }
}

#[target_feature(enable = "avx2,bmi1,popcnt")]
fn filter_shaped(tables: &Tables, bytes: &[u8], tile: Range<usize>, list: &mut List) {
    match (tables.offsets, tables.sets) {
        (3, 1) => filter_sized::<3, 1>(tables, bytes, tile, list),
        (4, 1) => filter_sized::<4, 1>(tables, bytes, tile, list),
        (4, 2) => filter_sized::<4, 2>(tables, bytes, tile, list),
        (5, 2) => filter_sized::<5, 2>(tables, bytes, tile, list),
        (4, 4) => filter_sized::<4, 4>(tables, bytes, tile, list),
        (5, 4) => filter_sized::<5, 4>(tables, bytes, tile, list),
        (6, 4) => filter_sized::<6, 4>(tables, bytes, tile, list),
        shape => unreachable!("no plan has the shape {shape:?}"),
    }
}

/// 32 bytes from a place on.
#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8], at: usize) -> __m256i {
    let bytes: &[u8; 32] = bytes[at..].first_chunk().expect("blocks stay clear of the end");
    // SAFETY: an unaligned load of 32 bytes from a reference to 32 bytes.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// What there is from a place on, and zeros behind it.
#[inline(always)]
fn padded(bytes: &[u8], at: usize) -> [u8; PADDED] {
    let mut padded = [0; PADDED];
    let rest = &bytes[at..bytes.len().min(at + PADDED)];
    padded[..rest.len()].copy_from_slice(rest);
    padded
}

/// A table of 16 entries, in both halves.
#[inline]
#[target_feature(enable = "avx2")]
fn sixteen(table: &[u8; 16]) -> __m256i {
    // SAFETY: an unaligned load of 16 bytes from a reference to 16 bytes.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(table.as_ptr().cast()) })
}

/// The first `count` of 32 bits.
#[inline(always)]
fn low_bits(count: usize) -> u32 {
    if count < 32 { (1 << count) - 1 } else { u32::MAX }
}

#[inline]
#[target_feature(enable = "avx2")]
fn nibbles(bytes: __m256i) -> (__m256i, __m256i) {
    let low = _mm256_set1_epi8(15);
    let high = _mm256_srli_epi16::<4>(bytes);
    (_mm256_and_si256(bytes, low), _mm256_and_si256(high, low))
}

/// Bit `i` says whether byte `i` is not 0.
#[inline]
#[target_feature(enable = "avx2")]
fn nonzero(bytes: __m256i) -> u32 {
    !(_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_setzero_si256())) as u32)
}

/// `K` offsets, `S` sets of eight buckets.
#[target_feature(enable = "avx2,bmi1,popcnt")]
fn filter_sized<const K: usize, const S: usize>(
    tables: &Tables,
    bytes: &[u8],
    tile: Range<usize>,
    list: &mut List,
) {
    let table: [[[__m256i; 2]; K]; S] =
        from_fn(|s| from_fn(|k| from_fn(|half| sixteen(&tables.nibbles[s * K + k][half]))));
    let pass = |bytes: &[u8], at: usize| {
        let windows: [(__m256i, __m256i); K] = from_fn(|k| nibbles(load(bytes, at + k)));
        let mut any = _mm256_setzero_si256();
        for set in &table {
            let mut all = _mm256_set1_epi8(-1);
            for (&(low, high), table) in windows.iter().zip(set) {
                all = _mm256_and_si256(all, _mm256_shuffle_epi8(table[0], low));
                all = _mm256_and_si256(all, _mm256_shuffle_epi8(table[1], high));
            }
            any = _mm256_or_si256(any, all);
        }
        nonzero(any)
    };
    for at in tile.clone().step_by(32) {
        let passed =
            if at + PADDED <= bytes.len() { pass(bytes, at) } else { pass(&padded(bytes, at), 0) };
        let mut passed = passed & low_bits(tile.end - at);
        while passed != 0 {
            list.push_if(at - tile.start + passed.trailing_zeros() as usize, true);
            passed &= passed - 1;
        }
    }
}

#[target_feature(enable = "avx2,bmi1,popcnt")]
fn count_sized(group: &Group, weights: &Nibbles, bytes: &[u8], starts: &mut Range<usize>) -> u64 {
    match group.len {
        1 => count_long::<1>(group, weights, bytes, starts),
        2 => count_long::<2>(group, weights, bytes, starts),
        len => unreachable!("{len} bytes are not short"),
    }
}

#[target_feature(enable = "avx2,bmi1,popcnt")]
fn mark_sized(group: &Group, bytes: &[u8], starts: Range<usize>, marks: &mut Marks) {
    match group.len {
        1 => mark_long::<1>(group, bytes, starts, marks),
        2 => mark_long::<2>(group, bytes, starts, marks),
        len => unreachable!("{len} bytes are not short"),
    }
}

/// A group's tables in registers, for patterns of `L` bytes.
struct Short<const L: usize>([[__m256i; 2]; L]);

impl<const L: usize> Short<L> {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(group: &Group) -> Self {
        Short(from_fn(|l| from_fn(|half| sixteen(&group.nibbles[l][half]))))
    }

    /// For each of 32 positions, the patterns that begin there.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn find(&self, bytes: &[u8], at: usize) -> __m256i {
        let mut all = _mm256_set1_epi8(-1);
        for (l, table) in self.0.iter().enumerate() {
            let (low, high) = nibbles(load(bytes, at + l));
            all = _mm256_and_si256(all, _mm256_shuffle_epi8(table[0], low));
            all = _mm256_and_si256(all, _mm256_shuffle_epi8(table[1], high));
        }
        all
    }
}

#[target_feature(enable = "avx2")]
fn count_long<const L: usize>(
    group: &Group,
    weights: &Nibbles,
    bytes: &[u8],
    starts: &mut Range<usize>,
) -> u64 {
    let short = Short::<L>::new(group);
    let weights: [__m256i; 2] = from_fn(|half| sixteen(&weights[half]));
    let mut sum = _mm256_setzero_si256();
    while starts.start + 32 <= starts.end && starts.start + 32 + L <= bytes.len() {
        let (low, high) = nibbles(short.find(bytes, starts.start));
        let low = _mm256_shuffle_epi8(weights[0], low);
        let weight = _mm256_add_epi8(low, _mm256_shuffle_epi8(weights[1], high));
        sum = _mm256_add_epi64(sum, _mm256_sad_epu8(weight, _mm256_setzero_si256()));
        starts.start += 32;
    }
    let [a, b] = [_mm256_extract_epi64::<0>(sum), _mm256_extract_epi64::<1>(sum)];
    let [c, d] = [_mm256_extract_epi64::<2>(sum), _mm256_extract_epi64::<3>(sum)];
    (a + b + c + d) as u64
}

#[target_feature(enable = "avx2,bmi1,popcnt")]
fn mark_long<const L: usize>(group: &Group, bytes: &[u8], starts: Range<usize>, marks: &mut Marks) {
    let short = Short::<L>::new(group);
    for at in starts.clone().step_by(32) {
        let found = if at + 32 + L <= bytes.len() {
            short.find(bytes, at)
        } else {
            short.find(&padded(bytes, at), 0)
        };
        let own = low_bits(starts.end - at);
        if nonzero(found) & own != 0 {
            let bit = |i: usize| _mm256_set1_epi8((1_u8 << i) as i8);
            let has = |i: usize| nonzero(_mm256_and_si256(found, bit(i))) & own;
            marks.bits.push(((at - starts.start) as u16, from_fn(|i| u64::from(has(i)))));
        }
    }
}
