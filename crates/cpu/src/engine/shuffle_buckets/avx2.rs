//! The vector loops with AVX2: 32 positions at a time, two shuffles of 16 entries for each byte.

use super::scan::Passed;
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

/// Finds the candidates of a tile.
pub(super) fn filter(tables: &Tables, bytes: &[u8], tile: Range<usize>, passed: &mut [u64]) {
    debug_assert!(Isa::Avx2.available() && tile.end <= bytes.len());
    // SAFETY: the form is chosen only where the processor has these instructions.
    unsafe { filter_shaped(tables, bytes, tile, passed) }
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
pub(super) fn mark(group: &Group, bytes: &[u8], starts: Range<usize>, marks: &mut [Passed; 8]) {
    debug_assert!(Isa::Avx2.available());
    // SAFETY: the form is chosen only where the processor has these instructions.
    unsafe { mark_sized(group, bytes, starts, marks) }
}

#[target_feature(enable = "avx2,popcnt")]
fn filter_shaped(tables: &Tables, bytes: &[u8], tile: Range<usize>, passed: &mut [u64]) {
    if let Some((bytes_of, apart)) = &tables.pair {
        return filter_pair(bytes_of, *apart, bytes, tile, passed);
    }
    match (tables.offsets, tables.sets) {
        (3, 1) => filter_sized::<3, 1>(tables, bytes, tile, passed),
        (4, 1) => filter_sized::<4, 1>(tables, bytes, tile, passed),
        (4, 2) => filter_sized::<4, 2>(tables, bytes, tile, passed),
        (5, 2) => filter_sized::<5, 2>(tables, bytes, tile, passed),
        (4, 4) => filter_sized::<4, 4>(tables, bytes, tile, passed),
        (5, 4) => filter_sized::<5, 4>(tables, bytes, tile, passed),
        (6, 4) => filter_sized::<6, 4>(tables, bytes, tile, passed),
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
#[target_feature(enable = "avx2,popcnt")]
fn filter_sized<const K: usize, const S: usize>(
    tables: &Tables,
    bytes: &[u8],
    tile: Range<usize>,
    passed: &mut [u64],
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
    let half = |at: usize| {
        if at + PADDED <= bytes.len() {
            pass(&bytes[at..at + PADDED], 0) & low_bits(tile.end.saturating_sub(at))
        } else if at < tile.end {
            pass(&padded(bytes, at), 0) & low_bits(tile.end - at)
        } else {
            0
        }
    };
    for (word, at) in passed.iter_mut().zip((tile.start..).step_by(64)) {
        *word = u64::from(half(at)) | u64::from(half(at + 32)) << 32;
    }
}

#[target_feature(enable = "avx2,popcnt")]
fn count_sized(group: &Group, weights: &Nibbles, bytes: &[u8], starts: &mut Range<usize>) -> u64 {
    match group.len {
        1 => count_long::<1>(group, weights, bytes, starts),
        2 => count_long::<2>(group, weights, bytes, starts),
        3 => count_long::<3>(group, weights, bytes, starts),
        4 => count_long::<4>(group, weights, bytes, starts),
        len => unreachable!("{len} bytes are not short"),
    }
}

#[target_feature(enable = "avx2,popcnt")]
fn mark_sized(group: &Group, bytes: &[u8], starts: Range<usize>, marks: &mut [Passed; 8]) {
    match group.len {
        1 => mark_long::<1>(group, bytes, starts, marks),
        2 => mark_long::<2>(group, bytes, starts, marks),
        3 => mark_long::<3>(group, bytes, starts, marks),
        4 => mark_long::<4>(group, bytes, starts, marks),
        len => unreachable!("{len} bytes are not short"),
    }
}

/// Two bytes of a pattern, looked for in two vectors: where the second would lie beyond them, the first is enough.
#[target_feature(enable = "avx2,popcnt")]
fn filter_pair(
    pair: &[[u8; 2]; 2],
    apart: usize,
    bytes: &[u8],
    tile: Range<usize>,
    passed: &mut [u64],
) {
    let [first, second] = pair.map(|b| One::<1>::new(&[b]));
    let low_bits = |count: usize| if count < 64 { (1_u64 << count) - 1 } else { u64::MAX };
    let pass = |bytes: &[u8; 64], len: usize| {
        let beyond = !low_bits(len.saturating_sub(apart));
        let find = |one: &One<1>| {
            u64::from(one.find(bytes, 0)) | u64::from(one.find(&bytes[32..], 0)) << 32
        };
        find(&first) & (find(&second) >> apart | beyond) & low_bits(len)
    };
    let (blocks, end) = bytes[tile].as_chunks::<64>();
    let (words, rest) = passed.split_at_mut(blocks.len());
    for (word, block) in words.iter_mut().zip(blocks) {
        *word = pass(block, 64);
    }
    let mut last = [0; 64];
    last[..end.len()].copy_from_slice(end);
    rest.iter_mut().for_each(|word| *word = pass(&last, end.len()));
}

/// Calls a function where it may load 32 bytes at `L` places from one on.
#[inline(always)]
fn with_windows<const L: usize, T>(bytes: &[u8], at: usize, find: impl Fn(&[u8], usize) -> T) -> T {
    if at + 32 + L <= bytes.len() {
        find(bytes, at)
    } else {
        find(&padded(bytes, at.min(bytes.len())), 0)
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

/// One short pattern of `L` bytes, each with what case leaves open in it.
struct One<const L: usize>([[__m256i; 2]; L]);

impl<const L: usize> One<L> {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(bytes: &[[u8; 2]]) -> Self {
        One(from_fn(|l| bytes[l].map(|b| _mm256_set1_epi8(b as i8))))
    }

    /// Which of 32 positions the pattern begins at.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn find(&self, bytes: &[u8], at: usize) -> u32 {
        let mut all = _mm256_set1_epi8(-1);
        for (l, &[byte, fold]) in self.0.iter().enumerate() {
            let folded = _mm256_or_si256(load(bytes, at + l), fold);
            all = _mm256_and_si256(all, _mm256_cmpeq_epi8(folded, byte));
        }
        _mm256_movemask_epi8(all) as u32
    }
}

#[target_feature(enable = "avx2,popcnt")]
fn count_one<const L: usize>(one: &[[u8; 2]], bytes: &[u8], starts: &mut Range<usize>) -> u64 {
    let one = One::<L>::new(one);
    let mut sum = 0;
    while starts.start + 32 <= starts.end && starts.start + 32 + L <= bytes.len() {
        let windows = &bytes[starts.start..starts.start + 32 + L];
        sum += u64::from(one.find(windows, 0).count_ones());
        starts.start += 32;
    }
    sum
}

#[target_feature(enable = "avx2,popcnt")]
fn count_long<const L: usize>(
    group: &Group,
    weights: &Nibbles,
    bytes: &[u8],
    starts: &mut Range<usize>,
) -> u64 {
    if let Some(one) = &group.one {
        return count_one::<L>(one, bytes, starts) * group.ids[0];
    }
    let short = Short::<L>::new(group);
    let weights: [__m256i; 2] = from_fn(|half| sixteen(&weights[half]));
    let mut sum = _mm256_setzero_si256();
    while starts.start + 32 <= starts.end && starts.start + 32 + L <= bytes.len() {
        let (low, high) = nibbles(short.find(&bytes[starts.start..starts.start + 32 + L], 0));
        let low = _mm256_shuffle_epi8(weights[0], low);
        let weight = _mm256_add_epi8(low, _mm256_shuffle_epi8(weights[1], high));
        sum = _mm256_add_epi64(sum, _mm256_sad_epu8(weight, _mm256_setzero_si256()));
        starts.start += 32;
    }
    let [a, b] = [_mm256_extract_epi64::<0>(sum), _mm256_extract_epi64::<1>(sum)];
    let [c, d] = [_mm256_extract_epi64::<2>(sum), _mm256_extract_epi64::<3>(sum)];
    (a + b + c + d) as u64
}

#[target_feature(enable = "avx2,popcnt")]
fn mark_long<const L: usize>(
    group: &Group,
    bytes: &[u8],
    starts: Range<usize>,
    marks: &mut [Passed; 8],
) {
    if let Some(one) = &group.one {
        let one = One::<L>::new(one);
        let half = |at: usize| {
            let own = low_bits(starts.end.saturating_sub(at));
            with_windows::<L, _>(bytes, at, |bytes, at| one.find(bytes, at)) & own
        };
        for (word, at) in starts.clone().step_by(64).enumerate() {
            marks[0][word] = u64::from(half(at)) | u64::from(half(at + 32)) << 32;
        }
        return;
    }
    let short = Short::<L>::new(group);
    let half = |at: usize| with_windows::<L, _>(bytes, at, |bytes, at| short.find(bytes, at));
    for (word, at) in starts.clone().step_by(64).enumerate() {
        let (low, high) = (half(at), half(at + 32));
        let own = [low_bits(starts.end - at), low_bits(starts.end.saturating_sub(at + 32))];
        for (i, marks) in marks.iter_mut().enumerate().take(group.patterns.len()) {
            let bit = _mm256_set1_epi8((1_u8 << i) as i8);
            let low = nonzero(_mm256_and_si256(low, bit)) & own[0];
            let high = nonzero(_mm256_and_si256(high, bit)) & own[1];
            marks[word] = u64::from(low) | u64::from(high) << 32;
        }
    }
}
