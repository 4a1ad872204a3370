//! Stage 1 with AVX2: registers of eight positions, gathers of eight filter words.

use super::super::build::FilterTables;
use super::super::hash;
use super::super::scan::{PositionList, TileBuffers};
use super::super::shape::{SHORT, SHORTEST};
use super::chunks::{
    BY_ITSELF, CHOOSE, Chunks, FOUR, JOINED, LONG, MORE, Mark, THREE, WAYS, choose_form, each_run,
    has_short, is_tested, prefetch, starts,
};
use crate::simd::Avx2;
use std::arch::x86_64::{
    __m256i, _mm_add_epi16, _mm_cvtepu8_epi16, _mm_cvtsi64_si128, _mm_loadu_si128, _mm_set1_epi16,
    _mm_shuffle_epi8, _mm_storeu_si128, _mm256_add_epi32, _mm256_and_si256, _mm256_cmpeq_epi32,
    _mm256_i32gather_epi32, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_movemask_epi8,
    _mm256_or_si256, _mm256_packs_epi16, _mm256_packs_epi32, _mm256_set1_epi8, _mm256_set1_epi32,
    _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_testc_si256,
};
use std::ops::Range;

/// Appends the positions of a tile where a window may begin to the lists. Returns where it
/// stopped: see [`each_run`].
pub(super) fn fill(
    _: Avx2,
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

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn fill_chunks(tables: &FilterTables, chunks: Chunks<'_>, lists: &mut TileBuffers) {
    choose_form!(mark_and_list, tables, chunks, lists);
}

/// The sum of the products of both halves of each 32 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn times(four: __m256i, factors: u32) -> __m256i {
    _mm256_madd_epi16(four, _mm256_set1_epi32(factors as i32))
}

/// Loads 32 bytes of a [`Chunks`] at `at`, or of a table of 64 bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8], at: usize) -> __m256i {
    debug_assert!(at + 32 <= bytes.len());
    // SAFETY: a register begins at most 3 bytes behind one of the chunk's 32-byte blocks (see
    // `starts`), and a load at most 4 bytes behind that or 1 byte before it. `Chunks::new`
    // asserts 8 bytes behind the last chunk, and 1 before the first for shapes that look back.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().wrapping_add(at).cast()) }
}

/// The constants of a scan, in registers.
struct Avx2Filter<'a> {
    filter: &'a [u32],
    /// The byte offset of the filter's last word: the mask of word offsets.
    wrap: __m256i,
    fold: __m256i,
    /// From a position to the last four bytes of its windows, and of its gram.
    short_last: usize,
    long_last: usize,
    gram_last: usize,
    /// The first half of [`CHOOSE`].
    choose: __m256i,
}

#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn mark_and_list<const STRIDE: usize, const KIND: u8, const FOLD: bool>(
    tables: &FilterTables,
    chunks: Chunks<'_>,
    lists: &mut TileBuffers,
) {
    if chunks.count == 0 {
        return;
    }
    let narrow = Avx2Filter::new(tables);
    let starts = const { starts::<STRIDE, 8>() };
    let mut marking = lists.marks.start();
    // Indices are computed four registers ahead: a gather that waits for its index delays later
    // ones.
    let mut index = [narrow.wrap; 4];
    for (index, start) in index.iter_mut().zip(starts) {
        *index = narrow.index::<KIND, FOLD>(chunks.bytes, chunks.from + start);
    }
    for chunk in 0..chunks.count {
        let at = chunks.from + chunk * 64 * STRIDE;
        let next = if chunk + 1 < chunks.count { at + 64 * STRIDE } else { at };
        (0..STRIDE).for_each(|line| prefetch(chunks.bytes, at + 64 * line));
        let mut passed = [0_u64; WAYS];
        for half in 0..2 {
            let mut none = [[_mm256_setzero_si256(); WAYS]; 4];
            for (register, none) in none.iter_mut().enumerate() {
                let words = narrow.gather(index[register]);
                let ahead =
                    if half == 0 { at + starts[register + 4] } else { next + starts[register] };
                index[register] = narrow.index::<KIND, FOLD>(chunks.bytes, ahead);
                let at = at + starts[4 * half + register];
                *none = narrow.test::<STRIDE, KIND, FOLD>(words, chunks.bytes, at);
            }
            for way in 0..WAYS {
                passed[way] |= u64::from(signs(none.map(|none| none[way]))) << (32 * half);
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

/// For each byte, the indices of its set bits in ascending order: a shuffle by them compresses.
pub(in super::super) static SET_BITS: [[u8; 8]; 256] = set_bits();

const fn set_bits() -> [[u8; 8]; 256] {
    let mut table = [[0; 8]; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut bit, mut at) = (0, 0);
        while bit < 8 {
            if mask >> bit & 1 == 1 {
                table[mask][at] = bit;
                at += 1;
            }
            bit += 1;
        }
        mask += 1;
    }
    table
}

/// The sign bits of four registers: those of their lower halves, then those of their upper halves.
#[inline]
#[target_feature(enable = "avx2")]
fn signs(registers: [__m256i; 4]) -> u32 {
    let [a, b, c, d] = registers;
    let packed = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
    _mm256_movemask_epi8(packed) as u32
}

/// For each bit of a byte of [`signs`], its position relative to the byte's first bit.
const fn places<const STRIDE: usize>() -> [u8; 16] {
    let starts = starts::<STRIDE, 8>();
    let mut places = [0; 16];
    let mut bit = 0;
    while bit < 8 {
        places[bit] = (starts[bit / 4] + 4 * (bit % 4)) as u8;
        bit += 1;
    }
    places
}

/// The position in the chunk of the first bit of a mark's byte.
const fn start_of<const STRIDE: usize>(byte: usize) -> u16 {
    let register = byte / 4 * 4 + byte % 2 * 2;
    (starts::<STRIDE, 8>()[register] + byte % 4 / 2 * 16) as u16
}

/// Appends the positions of marks to a list, if the first chunk begins at `base`.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn append<const STRIDE: usize>(marks: &[Mark], way: usize, base: u16, list: &mut PositionList) {
    let places: &[u8; 16] = const { &places::<STRIDE>() };
    // SAFETY: `places` is a reference to 16 bytes, and the load is unaligned.
    let places = unsafe { _mm_loadu_si128(places.as_ptr().cast()) };
    for mark in marks {
        let base = mark.start::<STRIDE>(base);
        for (byte, passed) in mark.passed[way].to_le_bytes().into_iter().enumerate() {
            debug_assert!(list.len + 8 <= list.at.len());
            let lanes = u64::from_le_bytes(SET_BITS[usize::from(passed)]);
            let at = _mm_shuffle_epi8(places, _mm_cvtsi64_si128(lanes as i64));
            let base = _mm_set1_epi16(base.wrapping_add(start_of::<STRIDE>(byte)) as i16);
            let at = _mm_add_epi16(_mm_cvtepu8_epi16(at), base);
            let to = list.at.as_mut_ptr().wrapping_byte_add(2 * list.len);
            // SAFETY: a list gets at most one position per byte of a tile's chunks, which cover
            // at most TILE and one chunk of 128 bytes (at a stride of 4, only every fourth byte
            // counts). Eight positions are written behind these, and POSITIONS is TILE + 256.
            unsafe { _mm_storeu_si128(to.cast(), at) };
            list.len += passed.count_ones() as usize;
        }
    }
}

impl<'a> Avx2Filter<'a> {
    #[target_feature(enable = "avx2")]
    fn new(tables: &'a FilterTables) -> Self {
        Self {
            filter: &tables.filter,
            wrap: _mm256_set1_epi32(4 * (tables.filter.len() - 1) as i32),
            fold: _mm256_set1_epi32(tables.shape.fold as i32),
            short_last: tables.shape.short_window.saturating_sub(4),
            long_last: tables.shape.window - 4,
            gram_last: tables.shape.gram() - 4,
            choose: load(&CHOOSE, 0),
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load<const FOLD: bool>(&self, bytes: &[u8], at: usize) -> __m256i {
        let word = load(bytes, at);
        if FOLD { _mm256_or_si256(word, self.fold) } else { word }
    }

    /// The byte offsets of eight filter words.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn index<const KIND: u8, const FOLD: bool>(&self, bytes: &[u8], at: usize) -> __m256i {
        let load = |from: usize| self.load::<FOLD>(bytes, at + from);
        let first = match KIND {
            THREE => _mm256_and_si256(load(0), _mm256_set1_epi32(0x00ff_ffff)),
            _ => load(0),
        };
        let first = times(first, hash::FACTORS_FIRST);
        let whole = match KIND {
            LONG | JOINED => Some(self.long_last),
            MORE => Some(self.short_last),
            _ => None,
        };
        let index = match whole {
            Some(last) => _mm256_add_epi32(first, times(load(last), hash::FACTORS_LAST)),
            None => first,
        };
        _mm256_and_si256(index, self.wrap)
    }

    /// Tests at which of eight positions a window may begin.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn test<const STRIDE: usize, const KIND: u8, const FOLD: bool>(
        &self,
        words: __m256i,
        bytes: &[u8],
        at: usize,
    ) -> [__m256i; WAYS] {
        let load = |at: usize| self.load::<FOLD>(bytes, at);
        let choice = |at: usize| self.are_clear(words, times(load(at), hash::FACTORS_BITS));
        let mut passed = [_mm256_setzero_si256(); WAYS];
        for (step, passed) in passed.iter_mut().enumerate() {
            *passed = match step {
                _ if !is_tested(STRIDE, KIND, step) => _mm256_setzero_si256(),
                BY_ITSELF if KIND == LONG => choice(at),
                BY_ITSELF => choice(at + self.long_last),
                // See `WindowShape::choice`.
                0 if STRIDE > 1 => choice(at + self.gram_last),
                _ => choice(at - step),
            };
        }
        passed
    }

    /// Gathers eight filter words at the offsets of [`Avx2Filter::index`].
    #[inline]
    #[target_feature(enable = "avx2")]
    fn gather(&self, index: __m256i) -> __m256i {
        debug_assert!(_mm256_testc_si256(self.wrap, index) == 1);
        // SAFETY: `index` masks each offset with `wrap`, the offset of the filter's last word, so
        // the four bytes at it are inside the filter.
        unsafe { _mm256_i32gather_epi32::<1>(self.filter.as_ptr().cast(), index) }
    }

    /// All ones for each word that is 0 at all bits that a hash chooses, else 0.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn are_clear(&self, words: __m256i, hash: __m256i) -> __m256i {
        let which = _mm256_and_si256(hash, _mm256_set1_epi8(15));
        let bits = _mm256_shuffle_epi8(self.choose, which);
        _mm256_cmpeq_epi32(_mm256_and_si256(words, bits), _mm256_setzero_si256())
    }
}
