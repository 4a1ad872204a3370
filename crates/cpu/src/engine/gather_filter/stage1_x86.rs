//! Stage 1 for x86-64: AVX-512 and AVX2. Both do what the plain form does, on many positions at once.

use super::super::build::Tables;
use super::super::hash;
use super::super::scan::{List, Lists, TILE};
use crate::simd::Isa;
use std::arch::x86_64::{
    __m256i, __m512i, _MM_HINT_T0, _mm_add_epi16, _mm_cvtepu8_epi16, _mm_cvtsi64_si128,
    _mm_prefetch, _mm_set1_epi16, _mm_slli_epi16, _mm_storeu_si128, _mm256_add_epi32,
    _mm256_and_si256, _mm256_castsi256_ps, _mm256_cmpeq_epi32, _mm256_i32gather_epi32,
    _mm256_loadu_si256, _mm256_madd_epi16, _mm256_movemask_ps, _mm256_or_si256, _mm256_set1_epi8,
    _mm256_set1_epi32, _mm256_setr_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8,
    _mm256_slli_epi32, _mm256_srli_epi32, _mm256_xor_si256, _mm512_add_epi16, _mm512_add_epi32,
    _mm512_and_si512, _mm512_castsi512_si256, _mm512_cvtepu8_epi16, _mm512_extracti64x4_epi64,
    _mm512_i32gather_epi32, _mm512_loadu_si512, _mm512_madd_epi16, _mm512_maskz_compress_epi8,
    _mm512_maskz_permutexvar_epi8, _mm512_or_si512, _mm512_set1_epi16, _mm512_set1_epi32,
    _mm512_slli_epi16, _mm512_slli_epi32, _mm512_srli_epi32, _mm512_storeu_si512,
    _mm512_testn_epi32_mask, _pdep_u64,
};
use std::ops::Range;

/// Bytes that the windows of a chunk's last position reach beyond the chunk, and before its first.
const BEYOND: usize = 8;
const BEFORE: usize = 1;

/// How far ahead the haystack is asked for. In a prototype it made no difference on data in memory; not swept here.
const AHEAD: usize = 8 << 10;

/// With fewer windows than this, chunks without a candidate are skipped in the AVX2 form. With 20 to 1,000 patterns of
/// `words` and `rules` that takes 5 to 25 % less, with 10,000 and 99,175 words 20 to 25 % more.
const SPARSE: usize = 2_000;

/// What windows there are: only long ones, or short ones of four bytes as well, or of five or six, or of four
/// and a neighbour.
const LONG: u8 = 0;
const FOUR: u8 = 1;
const MORE: u8 = 2;
const BESIDE: u8 = 3;
/// Only long ones, of seven bytes and a neighbour.
const LONG_BESIDE: u8 = 4;

/// Whether there are short windows.
const fn has_short(kind: u8) -> bool {
    kind != LONG && kind != LONG_BESIDE
}

/// A chunk's positions that passed, as bits: bit i is the i-th position looked at.
type Passed = u64;

/// The chunks of a tile.
#[derive(Clone, Copy)]
struct Chunks<'a> {
    bytes: &'a [u8],
    /// Where the tile begins; it may be before the first of the bytes.
    base: usize,
    /// Where the first chunk begins.
    from: usize,
    count: usize,
}

/// Room for two chunks, what is loaded around them, and zeros.
const PADDED: usize = 384;

/// Does all of a tile that ends with its block, and whole chunks of any other; returns where it stopped.
///
/// Where bytes around a chunk are missing, it is done on a copy between zeros. Positions beyond the end of the
/// block may pass there; nothing can match at them.
fn fill(
    tables: &Tables,
    bytes: &[u8],
    tile: Range<usize>,
    size: usize,
    mut run: impl FnMut(Chunks<'_>),
) -> usize {
    assert!(tile.end - tile.start <= TILE && tile.end <= bytes.len());
    let base = tile.start;
    let mut padded = |from: usize, count: usize| {
        let mut copy = [0; PADDED];
        let rest = &bytes[from.saturating_sub(BEFORE)..];
        let rest = &rest[..rest.len().min(PADDED - BEFORE)];
        // Without a byte before it, a zero stands for that.
        let to = if from < BEFORE { BEFORE } else { 0 };
        copy[to..][..rest.len()].copy_from_slice(rest);
        run(Chunks { bytes: &copy, base: BEFORE.wrapping_sub(from - base), from: BEFORE, count });
    };
    let mut from = base;
    if tables.shape.looks_back() && from < BEFORE && tile.end >= from + size {
        padded(from, 1);
        from += size;
    }
    let is_inside = from >= BEFORE || !tables.shape.looks_back();
    let end = tile.end.min(bytes.len().saturating_sub(BEYOND));
    let count = if is_inside { end.saturating_sub(from) / size } else { 0 };
    let done = from + count * size;
    let last = tile.end == bytes.len() && done < tile.end;
    if last {
        padded(done, (tile.end - done).div_ceil(size));
    }
    run(Chunks { bytes, base, from, count });
    if last { tile.end } else { done }
}

macro_rules! choose_form {
    ($form:ident, $tables:expr, $chunks:expr, $lists:expr) => {{
        let shape = &$tables.shape;
        let kind = match (shape.short > 0, shape.neighbour, shape.short_window) {
            (false, _, _) if shape.long_neighbour => LONG_BESIDE,
            (false, _, _) => LONG,
            (_, true, _) => BESIDE,
            (_, _, 4) => FOUR,
            _ => MORE,
        };
        match (shape.stride, kind, shape.fold != 0) {
            (1, LONG, false) => $form::<1, LONG, false>($tables, $chunks, $lists),
            (1, LONG, true) => $form::<1, LONG, true>($tables, $chunks, $lists),
            (1, FOUR, false) => $form::<1, FOUR, false>($tables, $chunks, $lists),
            (1, FOUR, true) => $form::<1, FOUR, true>($tables, $chunks, $lists),
            (1, _, false) => $form::<1, MORE, false>($tables, $chunks, $lists),
            (1, _, true) => $form::<1, MORE, true>($tables, $chunks, $lists),
            (_, LONG_BESIDE, false) => $form::<2, LONG_BESIDE, false>($tables, $chunks, $lists),
            (_, LONG_BESIDE, true) => $form::<2, LONG_BESIDE, true>($tables, $chunks, $lists),
            (_, LONG, false) => $form::<2, LONG, false>($tables, $chunks, $lists),
            (_, LONG, true) => $form::<2, LONG, true>($tables, $chunks, $lists),
            (_, FOUR, false) => $form::<2, FOUR, false>($tables, $chunks, $lists),
            (_, FOUR, true) => $form::<2, FOUR, true>($tables, $chunks, $lists),
            (_, BESIDE, false) => $form::<2, BESIDE, false>($tables, $chunks, $lists),
            (_, BESIDE, true) => $form::<2, BESIDE, true>($tables, $chunks, $lists),
            (_, _, false) => $form::<2, MORE, false>($tables, $chunks, $lists),
            (_, _, true) => $form::<2, MORE, true>($tables, $chunks, $lists),
        }
    }};
}

/// See [`fill`].
pub(super) fn fill_avx512(
    tables: &Tables,
    bytes: &[u8],
    tile: Range<usize>,
    lists: &mut Lists,
) -> usize {
    debug_assert!(Isa::Avx512.available());
    fill(tables, bytes, tile, 64 * tables.shape.stride, |chunks| {
        // SAFETY: the form is chosen only where it is available.
        unsafe { by_avx512(tables, chunks, lists) }
    })
}

#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt"
)]
fn by_avx512(tables: &Tables, chunks: Chunks<'_>, lists: &mut Lists) {
    choose_form!(avx512, tables, chunks, lists);
}

/// See [`fill`].
pub(super) fn fill_avx2(
    tables: &Tables,
    bytes: &[u8],
    tile: Range<usize>,
    lists: &mut Lists,
) -> usize {
    debug_assert!(Isa::Avx2.available());
    fill(tables, bytes, tile, 32 * tables.shape.stride, |chunks| {
        // SAFETY: the form is chosen only where it is available.
        unsafe { by_avx2(tables, chunks, lists) }
    })
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn by_avx2(tables: &Tables, chunks: Chunks<'_>, lists: &mut Lists) {
    choose_form!(avx2, tables, chunks, lists);
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

/// 64 bytes from a position on, which have to be there.
#[inline]
#[target_feature(enable = "avx512f")]
fn load512(bytes: &[u8], at: usize) -> __m512i {
    debug_assert!(at + 64 <= bytes.len());
    // SAFETY: `fill` leaves out positions around which there are too few bytes.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().wrapping_add(at).cast()) }
}

/// 32 bytes from a position on, which have to be there.
#[inline]
#[target_feature(enable = "avx2")]
fn load256(bytes: &[u8], at: usize) -> __m256i {
    debug_assert!(at + 32 <= bytes.len());
    // SAFETY: `fill` leaves out positions around which there are too few bytes.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().wrapping_add(at).cast()) }
}

/// Writes 32 positions behind the first `len`.
#[inline]
#[target_feature(enable = "avx512f")]
fn store(list: &mut List, len: usize, positions: __m512i) {
    debug_assert!(len + 32 <= list.at.len());
    let to = list.at.as_mut_ptr().wrapping_byte_add(2 * len);
    // SAFETY: a list has no more positions than a tile and a chunk beyond, and room for more.
    unsafe { _mm512_storeu_si512(to.cast(), positions) };
}

/// Asks for the haystack some way ahead, a line of the cache at a time.
#[inline(always)]
fn prefetch(bytes: &[u8], at: usize) {
    // SAFETY: a prefetch does nothing but take time, whatever the address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().wrapping_add(at + AHEAD).cast()) };
}

/// What stays the same over a scan, in registers.
struct Wide<'a> {
    filter: &'a [u32],
    wrap: __m512i,
    fold: __m512i,
    short_mask: __m512i,
    long_mask: __m512i,
    /// The bit for each value of six bits.
    choose: __m512i,
    iota: __m512i,
}

#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt"
)]
fn avx512<const STRIDE: usize, const KIND: u8, const FOLD: bool>(
    tables: &Tables,
    chunks: Chunks<'_>,
    lists: &mut Lists,
) {
    let wide = Wide::new(tables);
    let size = 64 * STRIDE;
    let (mut short_len, mut long_len) = (lists.short.len, lists.long.len);
    for chunk in 0..chunks.count {
        let at = chunks.from + chunk * size;
        (0..STRIDE).for_each(|line| prefetch(chunks.bytes, at + 64 * line));
        let (mut short, mut long): (Passed, Passed) = (0, 0);
        for register in 0..4 {
            let (shift, own) = part::<STRIDE>(register, 16);
            let (s, l) = wide.probe::<KIND, FOLD>(chunks.bytes, at + shift);
            short |= _pdep_u64(u64::from(s), own);
            long |= _pdep_u64(u64::from(l), own);
        }
        let base = at.wrapping_sub(chunks.base) as u16;
        if has_short(KIND) {
            short_len += wide.append::<STRIDE>(&mut lists.short, short_len, short, base);
        }
        long_len += wide.append::<STRIDE>(&mut lists.long, long_len, long, base);
    }
    (lists.short.len, lists.long.len) = (short_len, long_len);
}

impl<'a> Wide<'a> {
    #[target_feature(enable = "avx512f,avx512bw")]
    fn new(tables: &'a Tables) -> Self {
        let choose: [u8; 64] = std::array::from_fn(|i| hash::bits(i as u32, 0xff) as u8);
        let iota: [u8; 64] = std::array::from_fn(|i| i as u8);
        let upper = |mask: u64| _mm512_set1_epi32((mask >> 32) as i32);
        Self {
            filter: &tables.filter,
            wrap: _mm512_set1_epi32((tables.filter.len() - 1) as i32),
            fold: _mm512_set1_epi32(tables.shape.fold as i32),
            short_mask: upper(tables.shape.short_mask()),
            long_mask: upper(tables.shape.long_mask()),
            choose: load512(&choose, 0),
            iota: load512(&iota, 0),
        }
    }

    /// Which of sixteen positions may begin a short window, and which a long one.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn probe<const KIND: u8, const FOLD: bool>(&self, bytes: &[u8], at: usize) -> (u16, u16) {
        let load = |at: usize| {
            let word = load512(bytes, at);
            if FOLD { _mm512_or_si512(word, self.fold) } else { word }
        };
        let times = |word: __m512i, by: u32| _mm512_madd_epi16(word, _mm512_set1_epi32(by as i32));
        let (low, high) = (load(at), load(at + 4));
        let mut x = times(low, hash::FACTORS_LOW);
        let y = times(_mm512_and_si512(high, self.long_mask), hash::FACTORS_HIGH);
        if KIND == MORE {
            let rest = _mm512_and_si512(high, self.short_mask);
            x = _mm512_add_epi32(x, times(rest, hash::FACTORS_SHORT));
        }
        let index = if !has_short(KIND) { _mm512_add_epi32(x, y) } else { x };
        let index = _mm512_and_si512(_mm512_srli_epi32::<{ hash::INDEX_SHIFT }>(index), self.wrap);
        debug_assert!(self.filter.len().is_power_of_two());
        // SAFETY: `wrap` is the filter's length, a power of two, less one: each index is below the length.
        let words = unsafe { _mm512_i32gather_epi32::<4>(index, self.filter.as_ptr().cast()) };
        let test = |bytes: u64, hash: __m512i| {
            let bits = _mm512_maskz_permutexvar_epi8(bytes, hash, self.choose);
            _mm512_testn_epi32_mask(words, bits)
        };
        let before = || {
            let byte = _mm512_slli_epi32::<24>(load(at - BEFORE));
            times(byte, hash::FACTORS_BEFORE)
        };
        let long = |bytes: u64| {
            if KIND != LONG_BESIDE {
                return test(bytes, y);
            }
            let one = test(bytes, times(high, hash::FACTORS_HIGH));
            one | test(bytes, _mm512_add_epi32(y, before()))
        };
        match KIND {
            LONG | LONG_BESIDE => (0, long(u64::MAX)),
            BESIDE => {
                let next = times(_mm512_slli_epi32::<24>(high), hash::FACTORS_NEXT);
                let upper = 0xcccc_cccc_cccc_cccc;
                let one = test(upper, _mm512_add_epi32(x, next));
                (one | test(upper, _mm512_add_epi32(x, before())), long(!upper))
            }
            _ => (test(0x9999_9999_9999_9999, x), long(0x6666_6666_6666_6666)),
        }
    }

    /// Writes the positions of a chunk behind the first `len` of a list, and says how many.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
    fn append<const STRIDE: usize>(
        &self,
        list: &mut List,
        len: usize,
        passed: Passed,
        base: u16,
    ) -> usize {
        let packed = _mm512_maskz_compress_epi8(passed, self.iota);
        let base = _mm512_set1_epi16(base as i16);
        let spread = |half: __m256i| {
            let at = _mm512_cvtepu8_epi16(half);
            let at = if STRIDE == 2 { _mm512_slli_epi16::<1>(at) } else { at };
            _mm512_add_epi16(at, base)
        };
        let count = passed.count_ones() as usize;
        store(list, len, spread(_mm512_castsi512_si256(packed)));
        if count > 32 {
            store(list, len + 32, spread(_mm512_extracti64x4_epi64::<1>(packed)));
        }
        count
    }
}

/// What stays the same over a scan, in registers.
struct Narrow<'a> {
    filter: &'a [u32],
    wrap: __m256i,
    fold: __m256i,
    short_mask: __m256i,
    long_mask: __m256i,
    /// The bit for each value of three bits.
    choose: __m256i,
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn avx2<const STRIDE: usize, const KIND: u8, const FOLD: bool>(
    tables: &Tables,
    chunks: Chunks<'_>,
    lists: &mut Lists,
) {
    let narrow = Narrow::new(tables);
    let size = 32 * STRIDE;
    let sparse = tables.shape.short_keys() + tables.shape.long_keys() < SPARSE;
    let (mut short_len, mut long_len) = (lists.short.len, lists.long.len);
    for chunk in 0..chunks.count {
        let at = chunks.from + chunk * size;
        prefetch(chunks.bytes, at);
        let mut passed = [(0, 0); 4];
        for (register, passed) in passed.iter_mut().enumerate() {
            let (shift, _) = part::<STRIDE>(register, 8);
            *passed = narrow.probe::<KIND, FOLD>(chunks.bytes, at + shift);
        }
        if sparse && passed == [(0, 0); 4] {
            continue;
        }
        for (register, (short, long)) in passed.into_iter().enumerate() {
            let base = (at + part::<STRIDE>(register, 8).0).wrapping_sub(chunks.base) as u16;
            if has_short(KIND) {
                short_len += append(&mut lists.short, short_len, short, base);
            }
            long_len += append(&mut lists.long, long_len, long, base);
        }
    }
    (lists.short.len, lists.long.len) = (short_len, long_len);
}

/// Which bits of a byte are set, the lowest first: an order for what they stand for that closes the gaps.
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

/// Writes those of a register's eight positions that passed behind the first `len` of a list, and says how many.
/// They are four bytes apart, the first at `base`.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn append(list: &mut List, len: usize, passed: u8, base: u16) -> usize {
    debug_assert!(len + 8 <= list.at.len());
    let lanes = u64::from_le_bytes(SET_BITS[usize::from(passed)]);
    let lanes = _mm_cvtepu8_epi16(_mm_cvtsi64_si128(lanes as i64));
    let at = _mm_add_epi16(_mm_slli_epi16::<2>(lanes), _mm_set1_epi16(base as i16));
    let to = list.at.as_mut_ptr().wrapping_byte_add(2 * len);
    // SAFETY: a list has no more positions than a tile and a chunk beyond, and room for more.
    unsafe { _mm_storeu_si128(to.cast(), at) };
    passed.count_ones() as usize
}

impl<'a> Narrow<'a> {
    #[target_feature(enable = "avx2")]
    fn new(tables: &'a Tables) -> Self {
        let upper = |mask: u64| _mm256_set1_epi32((mask >> 32) as i32);
        Self {
            filter: &tables.filter,
            wrap: _mm256_set1_epi32((tables.filter.len() - 1) as i32),
            fold: _mm256_set1_epi32(tables.shape.fold as i32),
            short_mask: upper(tables.shape.short_mask()),
            long_mask: upper(tables.shape.long_mask()),
            choose: _mm256_setr_epi8(
                1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64,
                -128, 1, 2, 4, 8, 16, 32, 64, -128,
            ),
        }
    }

    /// Which of eight positions may begin a short window, and which a long one.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn probe<const KIND: u8, const FOLD: bool>(&self, bytes: &[u8], at: usize) -> (u8, u8) {
        let load = |at: usize| {
            let word = load256(bytes, at);
            if FOLD { _mm256_or_si256(word, self.fold) } else { word }
        };
        let times = |word: __m256i, by: u32| _mm256_madd_epi16(word, _mm256_set1_epi32(by as i32));
        let (low, high) = (load(at), load(at + 4));
        let mut x = times(low, hash::FACTORS_LOW);
        let y = times(_mm256_and_si256(high, self.long_mask), hash::FACTORS_HIGH);
        if KIND == MORE {
            let rest = _mm256_and_si256(high, self.short_mask);
            x = _mm256_add_epi32(x, times(rest, hash::FACTORS_SHORT));
        }
        let index = if !has_short(KIND) { _mm256_add_epi32(x, y) } else { x };
        let index =
            _mm256_and_si256(_mm256_srli_epi32::<{ hash::INDEX_SHIFT as i32 }>(index), self.wrap);
        debug_assert!(self.filter.len().is_power_of_two());
        // SAFETY: `wrap` is the filter's length, a power of two, less one: each index is below the length.
        let words = unsafe { _mm256_i32gather_epi32::<4>(self.filter.as_ptr().cast(), index) };
        let before = || {
            let byte = _mm256_slli_epi32::<24>(load(at - BEFORE));
            times(byte, hash::FACTORS_BEFORE)
        };
        let long = |bytes: u32| {
            if KIND != LONG_BESIDE {
                return self.test(words, y, bytes);
            }
            let one = self.test(words, times(high, hash::FACTORS_HIGH), bytes);
            one | self.test(words, _mm256_add_epi32(y, before()), bytes)
        };
        match KIND {
            LONG | LONG_BESIDE => (0, long(u32::MAX)),
            BESIDE => {
                let next = times(_mm256_slli_epi32::<24>(high), hash::FACTORS_NEXT);
                let upper = hash::NEIGHBOUR_BYTES;
                let one = self.test(words, _mm256_add_epi32(x, next), upper);
                let other = self.test(words, _mm256_add_epi32(x, before()), upper);
                (one | other, long(!upper))
            }
            _ => (self.test(words, x, hash::SHORT_BYTES), long(!hash::SHORT_BYTES)),
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
