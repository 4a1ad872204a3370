//! The vector loops with AVX-512: 64 positions at a time, shuffles of 64 entries.

use super::scan::{List, Passed};
use super::tables::{Group, Nibbles, Tables};
use crate::simd::Isa;
use std::arch::x86_64::{
    __m256i, __m512i, _mm_loadu_si128, _mm512_add_epi8, _mm512_add_epi16, _mm512_add_epi64,
    _mm512_and_si512, _mm512_broadcast_i32x4, _mm512_castsi512_si256, _mm512_cvtepu8_epi16,
    _mm512_extracti64x4_epi64, _mm512_loadu_si512, _mm512_mask_cmpeq_epi8_mask,
    _mm512_maskz_compress_epi8, _mm512_maskz_loadu_epi8, _mm512_or_si512, _mm512_permutexvar_epi8,
    _mm512_reduce_add_epi64, _mm512_sad_epu8, _mm512_set1_epi8, _mm512_set1_epi16,
    _mm512_setzero_si512, _mm512_shuffle_epi8, _mm512_srli_epi16, _mm512_storeu_si512,
    _mm512_test_epi8_mask,
};
use std::array::from_fn;
use std::ops::Range;

/// Finds the candidates of a tile.
pub(super) fn filter(tables: &Tables, bytes: &[u8], tile: Range<usize>, passed: &mut [u64]) {
    debug_assert!(Isa::Avx512.available() && tile.end <= bytes.len());
    // SAFETY: the form is chosen only where the processor has these instructions.
    unsafe { filter_shaped(tables, bytes, tile, passed) }
}

/// Lists the positions of some words of bits.
pub(super) fn list(passed: &[u64], some: &[u8], list: &mut List) {
    debug_assert!(Isa::Avx512.available());
    // SAFETY: the form is chosen only where the processor has these instructions.
    unsafe { compress(passed, some, list) }
}

/// Counts the short patterns that begin at `starts`, but for the last few.
pub(super) fn count(
    group: &Group,
    weights: &Nibbles,
    bytes: &[u8],
    starts: &mut Range<usize>,
) -> u64 {
    debug_assert!(Isa::Avx512.available());
    // SAFETY: the form is chosen only where the processor has these instructions.
    unsafe { count_sized(group, weights, bytes, starts) }
}

/// Marks where the short patterns of a group begin.
pub(super) fn mark(group: &Group, bytes: &[u8], starts: Range<usize>, marks: &mut [Passed; 8]) {
    debug_assert!(Isa::Avx512.available());
    // SAFETY: the form is chosen only where the processor has these instructions.
    unsafe { mark_sized(group, bytes, starts, marks) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
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

/// 64 bytes from a place on.
#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8], at: usize) -> __m512i {
    let bytes: &[u8; 64] = bytes[at..].first_chunk().expect("blocks stay clear of the end");
    // SAFETY: an unaligned load of 64 bytes from a reference to 64 bytes.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// The same where there may be fewer: zeros for the others.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load_up_to_end(bytes: &[u8], at: usize) -> __m512i {
    let rest = bytes.get(at..).unwrap_or(&[]);
    // SAFETY: bytes that the mask leaves out are not read, and there are as many as it has bits.
    unsafe { _mm512_maskz_loadu_epi8(low_bits(rest.len()), rest.as_ptr().cast()) }
}

/// A table of 16 entries, in each part that a shuffle of 16 works on.
#[inline]
#[target_feature(enable = "avx512f")]
fn sixteen(table: &[u8; 16]) -> __m512i {
    // SAFETY: an unaligned load of 16 bytes from a reference to 16 bytes.
    _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(table.as_ptr().cast()) })
}

/// The first `count` of 64 bits.
#[inline(always)]
fn low_bits(count: usize) -> u64 {
    if count < 64 { (1 << count) - 1 } else { u64::MAX }
}

/// `K` offsets, `S` sets of eight buckets.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn filter_sized<const K: usize, const S: usize>(
    tables: &Tables,
    bytes: &[u8],
    tile: Range<usize>,
    passed: &mut [u64],
) {
    let table: [[__m512i; K]; S] = from_fn(|s| from_fn(|k| load(&tables.wide[s * K + k], 0)));
    let pass = |windows: [__m512i; K]| {
        let mut any = _mm512_setzero_si512();
        for set in &table {
            let mut all = _mm512_permutexvar_epi8(windows[0], set[0]);
            for k in 1..K {
                all = _mm512_and_si512(all, _mm512_permutexvar_epi8(windows[k], set[k]));
            }
            any = _mm512_or_si512(any, all);
        }
        _mm512_test_epi8_mask(any, any)
    };
    let whole = tile.end.min(bytes.len().saturating_sub(K)).saturating_sub(tile.start) / 64;
    let (words, rest) = passed.split_at_mut(whole);
    for (word, at) in words.iter_mut().zip((tile.start..).step_by(64)) {
        let windows = &bytes[at..at + 64 + K];
        *word = pass(from_fn(|k| load(windows, k)));
    }
    for (word, at) in rest.iter_mut().zip((tile.start + 64 * whole..).step_by(64)) {
        *word = pass(from_fn(|k| load_up_to_end(bytes, at + k))) & low_bits(tile.end - at);
    }
}

/// Two bytes of a pattern, looked for in one vector: where the second would lie beyond it, the first is enough.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn filter_pair(
    pair: &[[u8; 2]; 2],
    apart: usize,
    bytes: &[u8],
    tile: Range<usize>,
    passed: &mut [u64],
) {
    let [first, second] = pair.map(|b| One::<1>::new(&[b]));
    let pass = |window, len: usize| {
        let beyond = !low_bits(len.saturating_sub(apart));
        first.find([window]) & (second.find([window]) >> apart | beyond) & low_bits(len)
    };
    let whole = tile.len() / 64;
    let (words, rest) = passed.split_at_mut(whole);
    let (blocks, end) = bytes[tile].as_chunks::<64>();
    for (word, block) in words.iter_mut().zip(blocks) {
        *word = pass(load(block, 0), 64);
    }
    rest.iter_mut().for_each(|word| *word = pass(load_up_to_end(end, 0), end.len()));
}

/// Lists the positions of some words of bits.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
fn compress(passed: &[u64], some: &[u8], list: &mut List) {
    for &i in some {
        append(list, passed[usize::from(i)], 64 * u16::from(i));
    }
}

/// Adds the positions of 64 to a list.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
fn append(list: &mut List, passed: u64, base: u16) {
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
    let base = _mm512_set1_epi16(base as i16);
    let spread = |half: __m256i| _mm512_add_epi16(_mm512_cvtepu8_epi16(half), base);
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
    let to: &mut [u16; 32] = room.first_chunk_mut().expect("a list has room beyond a tile");
    // SAFETY: an unaligned store of 64 bytes to a reference to 64 bytes.
    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), positions) };
}

#[target_feature(enable = "avx512f,avx512bw,popcnt")]
fn count_sized(group: &Group, weights: &Nibbles, bytes: &[u8], starts: &mut Range<usize>) -> u64 {
    match group.len {
        1 => count_long::<1>(group, weights, bytes, starts),
        2 => count_long::<2>(group, weights, bytes, starts),
        3 => count_long::<3>(group, weights, bytes, starts),
        4 => count_long::<4>(group, weights, bytes, starts),
        len => unreachable!("{len} bytes are not short"),
    }
}

#[target_feature(enable = "avx512f,avx512bw,popcnt")]
fn mark_sized(group: &Group, bytes: &[u8], starts: Range<usize>, marks: &mut [Passed; 8]) {
    match group.len {
        1 => mark_long::<1>(group, bytes, starts, marks),
        2 => mark_long::<2>(group, bytes, starts, marks),
        3 => mark_long::<3>(group, bytes, starts, marks),
        4 => mark_long::<4>(group, bytes, starts, marks),
        len => unreachable!("{len} bytes are not short"),
    }
}

/// A group's tables in registers, for patterns of `L` bytes.
struct Short<const L: usize>([[__m512i; 2]; L]);

impl<const L: usize> Short<L> {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(group: &Group) -> Self {
        Short(from_fn(|l| from_fn(|half| sixteen(&group.nibbles[l][half]))))
    }

    /// For each of 64 positions, the patterns that begin there.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn find(&self, windows: [__m512i; L]) -> __m512i {
        let mut all = _mm512_set1_epi8(-1);
        for (window, table) in windows.into_iter().zip(&self.0) {
            all = _mm512_and_si512(all, look_up(table, window));
        }
        all
    }
}

/// One short pattern of `L` bytes, each with what case leaves open in it.
struct One<const L: usize>([[__m512i; 2]; L]);

impl<const L: usize> One<L> {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(bytes: &[[u8; 2]]) -> Self {
        One(from_fn(|l| bytes[l].map(|b| _mm512_set1_epi8(b as i8))))
    }

    /// Which of 64 positions the pattern begins at.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn find(&self, windows: [__m512i; L]) -> u64 {
        let mut all = u64::MAX;
        for (window, &[byte, fold]) in windows.into_iter().zip(&self.0) {
            all = _mm512_mask_cmpeq_epi8_mask(all, _mm512_or_si512(window, fold), byte);
        }
        all
    }
}

/// What the low and the high nibble of each byte have in common.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn look_up([low, high]: &[__m512i; 2], bytes: __m512i) -> __m512i {
    let (l, h) = nibbles(bytes);
    _mm512_and_si512(_mm512_shuffle_epi8(*low, l), _mm512_shuffle_epi8(*high, h))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn nibbles(bytes: __m512i) -> (__m512i, __m512i) {
    let low = _mm512_set1_epi8(15);
    let high = _mm512_srli_epi16::<4>(bytes);
    (_mm512_and_si512(bytes, low), _mm512_and_si512(high, low))
}

#[target_feature(enable = "avx512f,avx512bw,popcnt")]
fn count_one<const L: usize>(one: &[[u8; 2]], bytes: &[u8], starts: &mut Range<usize>) -> u64 {
    let one = One::<L>::new(one);
    let mut sum = 0;
    while starts.start + 64 <= starts.end && starts.start + 64 + L <= bytes.len() {
        let windows = &bytes[starts.start..starts.start + 64 + L];
        sum += u64::from(one.find(from_fn(|l| load(windows, l))).count_ones());
        starts.start += 64;
    }
    sum
}

#[target_feature(enable = "avx512f,avx512bw,popcnt")]
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
    let weights: [__m512i; 2] = from_fn(|half| sixteen(&weights[half]));
    let mut sum = _mm512_setzero_si512();
    while starts.start + 64 <= starts.end && starts.start + 64 + L <= bytes.len() {
        let windows = &bytes[starts.start..starts.start + 64 + L];
        let found = short.find(from_fn(|l| load(windows, l)));
        let (low, high) = nibbles(found);
        let low = _mm512_shuffle_epi8(weights[0], low);
        let weight = _mm512_add_epi8(low, _mm512_shuffle_epi8(weights[1], high));
        sum = _mm512_add_epi64(sum, _mm512_sad_epu8(weight, _mm512_setzero_si512()));
        starts.start += 64;
    }
    _mm512_reduce_add_epi64(sum) as u64
}

#[target_feature(enable = "avx512f,avx512bw,popcnt")]
fn mark_long<const L: usize>(
    group: &Group,
    bytes: &[u8],
    starts: Range<usize>,
    marks: &mut [Passed; 8],
) {
    let windows = |at: usize| -> [__m512i; L] {
        if at + 64 + L <= bytes.len() {
            from_fn(|l| load(bytes, at + l))
        } else {
            from_fn(|l| load_up_to_end(bytes, at + l))
        }
    };
    if let Some(one) = &group.one {
        let one = One::<L>::new(one);
        for (word, at) in starts.clone().step_by(64).enumerate() {
            marks[0][word] = one.find(windows(at)) & low_bits(starts.end - at);
        }
        return;
    }
    let short = Short::<L>::new(group);
    for (word, at) in starts.clone().step_by(64).enumerate() {
        let found = short.find(windows(at));
        let own = low_bits(starts.end - at);
        for (i, marks) in marks.iter_mut().enumerate().take(group.patterns.len()) {
            let bit = _mm512_set1_epi8((1_u8 << i) as i8);
            marks[word] = _mm512_test_epi8_mask(found, bit) & own;
        }
    }
}
