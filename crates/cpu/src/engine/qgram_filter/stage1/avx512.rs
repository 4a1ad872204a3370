//! Stage 1 with AVX-512: registers of sixteen positions, gathers of sixteen filter words.

use super::super::build::FilterTables;
use super::super::hash;
use super::super::scan::{PositionList, TileBuffers};
use super::super::shape::{SHORT, SHORTEST};
use super::chunks::{
    BY_ITSELF, CHOOSE, Chunks, FOUR, JOINED, LONG, MORE, Mark, THREE, WAYS, choose_form, each_run,
    has_short, is_tested, prefetch, starts,
};
use crate::simd::Avx512;
use std::arch::x86_64::{
    __m256i, __m512i, _mm512_add_epi16, _mm512_add_epi32, _mm512_and_si512, _mm512_castsi512_si256,
    _mm512_cmpgt_epu32_mask, _mm512_cvtepu8_epi16, _mm512_extracti64x4_epi64,
    _mm512_i32gather_epi32, _mm512_loadu_si512, _mm512_madd_epi16, _mm512_maskz_compress_epi8,
    _mm512_or_si512, _mm512_permutexvar_epi8, _mm512_set1_epi16, _mm512_set1_epi32,
    _mm512_slli_epi16, _mm512_storeu_si512, _mm512_testn_epi32_mask,
};
use std::ops::Range;

/// Appends the positions of a tile where a window may begin to the lists. Returns where it
/// stopped: see [`each_run`].
pub(super) fn fill(
    _: Avx512,
    tables: &FilterTables,
    bytes: &[u8],
    tile: Range<usize>,
    lists: &mut TileBuffers,
) -> usize {
    each_run(tables, bytes, tile, |chunks| {
        // SAFETY: the token proves that detection found every feature that `fill_chunks` enables,
        // see `simd::isa`.
        unsafe { fill_chunks(tables, chunks, lists) }
    })
}

#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt"
)]
fn fill_chunks(tables: &FilterTables, chunks: Chunks<'_>, lists: &mut TileBuffers) {
    choose_form!(mark_and_list, tables, chunks, lists);
}

/// The sum of the products of both halves of each 32 bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn times(four: __m512i, factors: u32) -> __m512i {
    _mm512_madd_epi16(four, _mm512_set1_epi32(factors as i32))
}

/// Loads 64 bytes of a [`Chunks`] at `at`, or a table of 64 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8], at: usize) -> __m512i {
    debug_assert!(at + 64 <= bytes.len());
    // SAFETY: a register begins at most 3 bytes behind one of the chunk's 64-byte blocks (see
    // `starts`), and a load at most 4 bytes behind that or 1 byte before it. `Chunks::new`
    // asserts 8 bytes behind the last chunk, and 1 before the first for shapes that look back.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().wrapping_add(at).cast()) }
}

/// Writes 32 positions behind the first `len`.
#[inline]
#[target_feature(enable = "avx512f")]
fn store(list: &mut PositionList, len: usize, positions: __m512i) {
    debug_assert!(len + 32 <= list.at.len());
    let to = list.at.as_mut_ptr().wrapping_byte_add(2 * len);
    // SAFETY: a list gets at most one position per byte of a tile's chunks, which cover at most
    // TILE and one chunk of 128 bytes (at a stride of 4, only every fourth byte counts). `len`
    // excludes what is written here, so at most 32 positions go behind these, and POSITIONS is
    // TILE + 256.
    unsafe { _mm512_storeu_si512(to.cast(), positions) };
}

/// The constants of a scan, in registers.
struct Avx512Filter<'a> {
    filter: &'a [u32],
    /// The byte offset of the filter's last word: the mask of word offsets.
    wrap: __m512i,
    fold: __m512i,
    /// From a position to the last four bytes of its windows, and of its gram.
    short_last: usize,
    long_last: usize,
    gram_last: usize,
    /// See [`CHOOSE`].
    choose: __m512i,
}

// Not inlined: one function with the loops of all shapes would leave each fewer registers.
#[inline(never)]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt"
)]
fn mark_and_list<const STRIDE: usize, const KIND: u8, const FOLD: bool>(
    tables: &FilterTables,
    chunks: Chunks<'_>,
    lists: &mut TileBuffers,
) {
    if chunks.count == 0 {
        return;
    }
    let wide = Avx512Filter::new(tables);
    let starts = const { starts::<STRIDE, 4>() };
    let mut marking = lists.marks.start();
    // Indices are computed a chunk ahead: a gather that waits for its index delays later ones.
    let mut index = [wide.wrap; 4];
    for (index, start) in index.iter_mut().zip(starts) {
        *index = wide.index::<KIND, FOLD>(chunks.bytes, chunks.from + start);
    }
    for chunk in 0..chunks.count {
        let at = chunks.from + chunk * 64 * STRIDE;
        let next = if chunk + 1 < chunks.count { at + 64 * STRIDE } else { at };
        (0..STRIDE).for_each(|line| prefetch(chunks.bytes, at + 64 * line));
        let mut passed = [0_u64; WAYS];
        for register in 0..4 {
            let words = wide.gather(index[register]);
            index[register] = wide.index::<KIND, FOLD>(chunks.bytes, next + starts[register]);
            let some = wide.test::<STRIDE, KIND, FOLD>(words, chunks.bytes, at + starts[register]);
            for (passed, some) in passed.iter_mut().zip(some) {
                *passed |= u64::from(some) << (16 * register);
            }
        }
        marking.push::<STRIDE, KIND>(chunk, passed);
    }
    let count = marking.len();
    for way in 0..WAYS {
        if is_tested(STRIDE, KIND, way) {
            let is_short = has_short(KIND) && way != BY_ITSELF;
            let list = if is_short { &mut lists.short } else { &mut lists.long };
            let base = chunks.base(way % BY_ITSELF);
            append::<STRIDE>(lists.marks.first(count), way, base, list);
        }
    }
}

impl<'a> Avx512Filter<'a> {
    #[target_feature(enable = "avx512f,avx512bw")]
    fn new(tables: &'a FilterTables) -> Self {
        Self {
            filter: &tables.filter,
            wrap: _mm512_set1_epi32(4 * (tables.filter.len() - 1) as i32),
            fold: _mm512_set1_epi32(tables.shape.fold as i32),
            short_last: tables.shape.short_window.saturating_sub(4),
            long_last: tables.shape.window - 4,
            gram_last: tables.shape.gram() - 4,
            choose: load(&CHOOSE, 0),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn load<const FOLD: bool>(&self, bytes: &[u8], at: usize) -> __m512i {
        let word = load(bytes, at);
        if FOLD { _mm512_or_si512(word, self.fold) } else { word }
    }

    /// The byte offsets of sixteen filter words.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn index<const KIND: u8, const FOLD: bool>(&self, bytes: &[u8], at: usize) -> __m512i {
        let load = |from: usize| self.load::<FOLD>(bytes, at + from);
        let first = match KIND {
            THREE => _mm512_and_si512(load(0), _mm512_set1_epi32(0x00ff_ffff)),
            _ => load(0),
        };
        let first = times(first, hash::FACTORS_FIRST);
        let whole = match KIND {
            LONG | JOINED => Some(self.long_last),
            MORE => Some(self.short_last),
            _ => None,
        };
        let index = match whole {
            Some(last) => _mm512_add_epi32(first, times(load(last), hash::FACTORS_LAST)),
            None => first,
        };
        _mm512_and_si512(index, self.wrap)
    }

    /// Tests at which of sixteen positions a window may begin.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn test<const STRIDE: usize, const KIND: u8, const FOLD: bool>(
        &self,
        words: __m512i,
        bytes: &[u8],
        at: usize,
    ) -> [u16; WAYS] {
        let load = |at: usize| self.load::<FOLD>(bytes, at);
        let choice = |at: usize| self.are_clear(words, times(load(at), hash::FACTORS_BITS));
        let mut passed = [0; WAYS];
        for (step, passed) in passed.iter_mut().enumerate() {
            *passed = match step {
                _ if !is_tested(STRIDE, KIND, step) => 0,
                BY_ITSELF if KIND == LONG => choice(at),
                BY_ITSELF => choice(at + self.long_last),
                // See `WindowShape::choice`.
                0 if STRIDE > 1 => choice(at + self.gram_last),
                _ => choice(at - step),
            };
        }
        passed
    }

    /// Gathers sixteen filter words at the offsets of [`Avx512Filter::index`].
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn gather(&self, index: __m512i) -> __m512i {
        debug_assert!(_mm512_cmpgt_epu32_mask(index, self.wrap) == 0);
        // SAFETY: `index` masks each offset with `wrap`, the offset of the filter's last word, so
        // the four bytes at it are inside the filter.
        unsafe { _mm512_i32gather_epi32::<1>(index, self.filter.as_ptr().cast()) }
    }

    /// Which words are 0 at all bits that a hash chooses.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn are_clear(&self, words: __m512i, hash: __m512i) -> u16 {
        _mm512_testn_epi32_mask(words, _mm512_permutexvar_epi8(hash, self.choose))
    }
}

/// Appends the positions of marks to a list, if the first chunk begins at `base`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
fn append<const STRIDE: usize>(marks: &[Mark], way: usize, base: u16, list: &mut PositionList) {
    let places = load(const { &places::<STRIDE>() }, 0);
    let spread = |half: __m256i| {
        let at = _mm512_cvtepu8_epi16(half);
        match STRIDE {
            1 => at,
            2 => _mm512_slli_epi16::<1>(at),
            _ => _mm512_slli_epi16::<2>(at),
        }
    };
    for mark in marks {
        let base = _mm512_set1_epi16(mark.start::<STRIDE>(base) as i16);
        let packed = _mm512_maskz_compress_epi8(mark.passed[way], places);
        let count = mark.passed[way].count_ones() as usize;
        let first = spread(_mm512_castsi512_si256(packed));
        store(list, list.len, _mm512_add_epi16(first, base));
        if count > 32 {
            let others = spread(_mm512_extracti64x4_epi64::<1>(packed));
            store(list, list.len + 32, _mm512_add_epi16(others, base));
        }
        list.len += count;
    }
}

/// For each bit of a mark, its position in the chunk, in strides.
const fn places<const STRIDE: usize>() -> [u8; 64] {
    let starts = starts::<STRIDE, 4>();
    let mut places = [0; 64];
    let mut bit = 0;
    while bit < 64 {
        places[bit] = ((starts[bit / 16] + 4 * (bit % 16)) / STRIDE) as u8;
        bit += 1;
    }
    places
}
