//! Stage 1 for x86-64: AVX-512 and AVX2. Both do what the plain form does, on many positions at once.

use super::super::build::Tables;
use super::super::hash;
use super::super::scan::{List, Lists, TILE};
use crate::simd::Isa;
use std::arch::x86_64::{
    __m256i, __m512i, _mm256_add_epi32, _mm256_and_si256, _mm256_castsi256_ps, _mm256_cmpeq_epi32,
    _mm256_i32gather_epi32, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_movemask_ps,
    _mm256_or_si256, _mm256_set1_epi8, _mm256_set1_epi32, _mm256_setr_epi8, _mm256_setzero_si256,
    _mm256_shuffle_epi8, _mm256_srli_epi32, _mm256_xor_si256, _mm512_add_epi16, _mm512_add_epi32,
    _mm512_and_si512, _mm512_castsi512_si256, _mm512_cvtepu8_epi16, _mm512_extracti64x4_epi64,
    _mm512_i32gather_epi32, _mm512_loadu_si512, _mm512_madd_epi16, _mm512_maskz_compress_epi8,
    _mm512_maskz_permutexvar_epi8, _mm512_or_si512, _mm512_set1_epi16, _mm512_set1_epi32,
    _mm512_slli_epi16, _mm512_srli_epi32, _mm512_storeu_si512, _mm512_testn_epi32_mask, _pdep_u64,
};
use std::ops::Range;

/// Bytes that the windows of a chunk's last position reach beyond the chunk.
const BEYOND: usize = 8;

/// The list that a chunk's positions are counted on, as bits: bit i is the i-th position looked at.
type Passed = u64;

/// Does all whole chunks of a tile and returns where it stopped.
pub(super) fn fill_avx512(
    tables: &Tables,
    bytes: &[u8],
    tile: Range<usize>,
    lists: &mut Lists,
) -> usize {
    debug_assert!(
        Isa::Avx512.available() && tile.end - tile.start <= TILE && tile.end <= bytes.len()
    );
    // SAFETY: the form is chosen only where `has_avx512`.
    unsafe { by_avx512(tables, bytes, tile, lists) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn by_avx512(tables: &Tables, bytes: &[u8], tile: Range<usize>, lists: &mut Lists) -> usize {
    match (tables.shape.stride, tables.shape.short > 0) {
        (1, true) => avx512::<1, true>(tables, bytes, tile, lists),
        (1, false) => avx512::<1, false>(tables, bytes, tile, lists),
        (_, true) => avx512::<2, true>(tables, bytes, tile, lists),
        (_, false) => avx512::<2, false>(tables, bytes, tile, lists),
    }
}

/// Does all whole chunks of a tile and returns where it stopped.
pub(super) fn fill_avx2(
    tables: &Tables,
    bytes: &[u8],
    tile: Range<usize>,
    lists: &mut Lists,
) -> usize {
    debug_assert!(Isa::Avx2.available());
    debug_assert!(tile.end - tile.start <= TILE && tile.end <= bytes.len());
    // SAFETY: the form is chosen only where it is available.
    unsafe { by_avx2(tables, bytes, tile, lists) }
}

#[target_feature(enable = "avx2")]
fn by_avx2(tables: &Tables, bytes: &[u8], tile: Range<usize>, lists: &mut Lists) -> usize {
    match (tables.shape.stride, tables.shape.short > 0) {
        (1, true) => avx2::<1, true>(tables, bytes, tile, lists),
        (1, false) => avx2::<1, false>(tables, bytes, tile, lists),
        (_, true) => avx2::<2, true>(tables, bytes, tile, lists),
        (_, false) => avx2::<2, false>(tables, bytes, tile, lists),
    }
}

/// Where the part that one register covers begins in its chunk, and which of the chunk's bits are its own.
///
/// Lane i looks at byte 4 i of the register, so the registers of a chunk are shifted by the stride.
#[inline(always)]
fn part<const STRIDE: usize>(register: usize, lanes: usize) -> (usize, u64) {
    let per_span = 4 / STRIDE;
    let (span, shift) = (register / per_span, register % per_span);
    let every = if STRIDE == 1 { 0x1111_1111_1111_1111 } else { 0x5555_5555_5555_5555 };
    let bits = lanes * per_span;
    let own = if bits == 64 { every } else { every & ((1 << bits) - 1) };
    (span * 4 * lanes + shift * STRIDE, own << shift << (span * bits))
}

/// 64 bytes from a position on.
#[inline]
#[target_feature(enable = "avx512f")]
fn load512(bytes: &[u8], at: usize) -> __m512i {
    let bytes: &[u8; 64] = bytes[at..].first_chunk().expect("chunks stay clear of the end");
    // SAFETY: an unaligned load of 64 bytes from a reference to 64 bytes.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// 32 bytes from a position on.
#[inline]
#[target_feature(enable = "avx2")]
fn load256(bytes: &[u8], at: usize) -> __m256i {
    let bytes: &[u8; 32] = bytes[at..].first_chunk().expect("chunks stay clear of the end");
    // SAFETY: an unaligned load of 32 bytes from a reference to 32 bytes.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// Writes 32 positions.
#[inline]
#[target_feature(enable = "avx512f")]
fn store(room: &mut [u16], positions: __m512i) {
    let to: &mut [u16; 32] =
        room.first_chunk_mut().expect("a list has room beyond a tile's positions");
    // SAFETY: an unaligned store of 64 bytes to a reference to 64 bytes.
    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), positions) };
}

/// What stays the same over a scan, in registers.
struct Wide<'a> {
    filter: &'a [u32],
    wrap: __m512i,
    fold: __m512i,
    high_mask: __m512i,
    low_factors: __m512i,
    high_factors: __m512i,
    /// The bit for each value of six bits.
    choose: __m512i,
    iota: __m512i,
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn avx512<const STRIDE: usize, const BOTH: bool>(
    tables: &Tables,
    bytes: &[u8],
    tile: Range<usize>,
    lists: &mut Lists,
) -> usize {
    let wide = Wide::new(tables);
    let size = 64 * STRIDE;
    let mut at = tile.start;
    while at + size <= tile.end && at + size + BEYOND <= bytes.len() {
        let (mut short, mut long): (Passed, Passed) = (0, 0);
        for register in 0..4 {
            let (shift, own) = part::<STRIDE>(register, 16);
            let (low, high) = (load512(bytes, at + shift), load512(bytes, at + shift + 4));
            let (s, l) = wide.probe::<BOTH>(low, high);
            short |= _pdep_u64(u64::from(s), own);
            long |= _pdep_u64(u64::from(l), own);
        }
        let base = (at - tile.start) as u16;
        if BOTH {
            wide.append::<STRIDE>(&mut lists.short, short, base);
        }
        wide.append::<STRIDE>(&mut lists.long, long, base);
        at += size;
    }
    at
}

impl<'a> Wide<'a> {
    #[target_feature(enable = "avx512f,avx512bw")]
    fn new(tables: &'a Tables) -> Self {
        let choose: [u8; 64] = std::array::from_fn(|i| hash::bits(i as u32, 0xff) as u8);
        let iota: [u8; 64] = std::array::from_fn(|i| i as u8);
        Self {
            filter: &tables.filter,
            wrap: _mm512_set1_epi32((tables.filter.len() - 1) as i32),
            fold: _mm512_set1_epi32(tables.shape.fold as i32),
            high_mask: _mm512_set1_epi32((tables.shape.long_mask() >> 32) as i32),
            low_factors: _mm512_set1_epi32(hash::FACTORS_LOW as i32),
            high_factors: _mm512_set1_epi32(hash::FACTORS_HIGH as i32),
            choose: load512(&choose, 0),
            iota: load512(&iota, 0),
        }
    }

    /// Which of sixteen positions may begin a short window, and which a long one.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn probe<const BOTH: bool>(&self, low: __m512i, high: __m512i) -> (u16, u16) {
        let high = _mm512_and_si512(_mm512_or_si512(high, self.fold), self.high_mask);
        let x = _mm512_madd_epi16(_mm512_or_si512(low, self.fold), self.low_factors);
        let y = _mm512_madd_epi16(high, self.high_factors);
        let index = if BOTH { x } else { _mm512_add_epi32(x, y) };
        let index = _mm512_and_si512(_mm512_srli_epi32::<{ hash::INDEX_SHIFT }>(index), self.wrap);
        debug_assert!(self.filter.len().is_power_of_two());
        // SAFETY: `wrap` is the filter's length, a power of two, less one: each index is below the length.
        let words = unsafe { _mm512_i32gather_epi32::<4>(index, self.filter.as_ptr().cast()) };
        let test = |bytes: u64, hash: __m512i| {
            let bits = _mm512_maskz_permutexvar_epi8(bytes, hash, self.choose);
            _mm512_testn_epi32_mask(words, bits)
        };
        if BOTH {
            (test(0x9999_9999_9999_9999, x), test(0x6666_6666_6666_6666, y))
        } else {
            (0, test(u64::MAX, y))
        }
    }

    /// Adds the positions of a chunk to a list.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
    fn append<const STRIDE: usize>(&self, list: &mut List, passed: Passed, base: u16) {
        let packed = _mm512_maskz_compress_epi8(passed, self.iota);
        let base = _mm512_set1_epi16(base as i16);
        let spread = |half: __m256i| {
            let at = _mm512_cvtepu8_epi16(half);
            let at = if STRIDE == 2 { _mm512_slli_epi16::<1>(at) } else { at };
            _mm512_add_epi16(at, base)
        };
        let count = passed.count_ones() as usize;
        let room = &mut list.at[list.len..];
        store(room, spread(_mm512_castsi512_si256(packed)));
        if count > 32 {
            store(&mut room[32..], spread(_mm512_extracti64x4_epi64::<1>(packed)));
        }
        list.len += count;
    }
}

/// What stays the same over a scan, in registers.
struct Narrow<'a> {
    filter: &'a [u32],
    wrap: __m256i,
    fold: __m256i,
    high_mask: __m256i,
    low_factors: __m256i,
    high_factors: __m256i,
    /// The bit for each value of three bits.
    choose: __m256i,
}

#[target_feature(enable = "avx2")]
fn avx2<const STRIDE: usize, const BOTH: bool>(
    tables: &Tables,
    bytes: &[u8],
    tile: Range<usize>,
    lists: &mut Lists,
) -> usize {
    let narrow = Narrow::new(tables);
    let size = 32 * STRIDE;
    let mut at = tile.start;
    while at + size <= tile.end && at + size + BEYOND <= bytes.len() {
        let (mut short, mut long): (Passed, Passed) = (0, 0);
        for register in 0..4 {
            let (shift, _) = part::<STRIDE>(register, 8);
            let (low, high) = (load256(bytes, at + shift), load256(bytes, at + shift + 4));
            let (s, l) = narrow.probe::<BOTH>(low, high);
            short |= u64::from(s) << (8 * register);
            long |= u64::from(l) << (8 * register);
        }
        let base = at - tile.start;
        if BOTH {
            append::<STRIDE>(&mut lists.short, short, base);
        }
        append::<STRIDE>(&mut lists.long, long, base);
        at += size;
    }
    at
}

/// Adds the positions of a chunk to a list: eight bits for each register.
#[inline(always)]
fn append<const STRIDE: usize>(list: &mut List, mut passed: Passed, base: usize) {
    while passed != 0 {
        let bit = passed.trailing_zeros() as usize;
        let (shift, _) = part::<STRIDE>(bit / 8, 8);
        list.push_if(base + shift + 4 * (bit % 8), true);
        passed &= passed - 1;
    }
}

impl<'a> Narrow<'a> {
    #[target_feature(enable = "avx2")]
    fn new(tables: &'a Tables) -> Self {
        Self {
            filter: &tables.filter,
            wrap: _mm256_set1_epi32((tables.filter.len() - 1) as i32),
            fold: _mm256_set1_epi32(tables.shape.fold as i32),
            high_mask: _mm256_set1_epi32((tables.shape.long_mask() >> 32) as i32),
            low_factors: _mm256_set1_epi32(hash::FACTORS_LOW as i32),
            high_factors: _mm256_set1_epi32(hash::FACTORS_HIGH as i32),
            choose: _mm256_setr_epi8(
                1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64,
                -128, 1, 2, 4, 8, 16, 32, 64, -128,
            ),
        }
    }

    /// Which of eight positions may begin a short window, and which a long one.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn probe<const BOTH: bool>(&self, low: __m256i, high: __m256i) -> (u8, u8) {
        let high = _mm256_and_si256(_mm256_or_si256(high, self.fold), self.high_mask);
        let x = _mm256_madd_epi16(_mm256_or_si256(low, self.fold), self.low_factors);
        let y = _mm256_madd_epi16(high, self.high_factors);
        let index = if BOTH { x } else { _mm256_add_epi32(x, y) };
        let index =
            _mm256_and_si256(_mm256_srli_epi32::<{ hash::INDEX_SHIFT as i32 }>(index), self.wrap);
        debug_assert!(self.filter.len().is_power_of_two());
        // SAFETY: `wrap` is the filter's length, a power of two, less one: each index is below the length.
        let words = unsafe { _mm256_i32gather_epi32::<4>(self.filter.as_ptr().cast(), index) };
        if BOTH {
            let short = self.test(words, x, hash::SHORT_BYTES);
            (short, self.test(words, y, hash::LONG_BYTES))
        } else {
            (0, self.test(words, y, u32::MAX))
        }
    }

    /// Which words have none of the bits that a hash chooses.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn test(&self, words: __m256i, hash: __m256i, bytes: u32) -> u8 {
        let mixed = _mm256_xor_si256(hash, _mm256_srli_epi32::<3>(hash));
        let bits = _mm256_shuffle_epi8(self.choose, _mm256_and_si256(mixed, _mm256_set1_epi8(7)));
        let bits = _mm256_and_si256(bits, _mm256_set1_epi32(bytes as i32));
        let none = _mm256_cmpeq_epi32(_mm256_and_si256(words, bits), _mm256_setzero_si256());
        _mm256_movemask_ps(_mm256_castsi256_ps(none)) as u8
    }
}
