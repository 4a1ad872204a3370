//! Stage 1 for x86-64: AVX-512 and AVX2. Both do what the plain form does, on many positions at once.

use super::super::build::Tables;
use super::super::hash;
use super::super::scan::{List, Lists, TILE};
use super::super::shape::{BEFORE, JOINED_STRIDE, MAX_STRIDE, SHORT, SHORTEST};
use crate::simd::Isa;
use std::arch::x86_64::{
    __m256i, __m512i, _MM_HINT_T0, _mm_add_epi16, _mm_cvtepu8_epi16, _mm_cvtsi64_si128,
    _mm_loadu_si128, _mm_prefetch, _mm_set1_epi16, _mm_shuffle_epi8, _mm_storeu_si128,
    _mm256_add_epi32, _mm256_and_si256, _mm256_cmpeq_epi32, _mm256_i32gather_epi32,
    _mm256_loadu_si256, _mm256_madd_epi16, _mm256_movemask_epi8, _mm256_or_si256,
    _mm256_packs_epi16, _mm256_packs_epi32, _mm256_set1_epi8, _mm256_set1_epi32,
    _mm256_setzero_si256, _mm256_shuffle_epi8, _mm512_add_epi16, _mm512_add_epi32,
    _mm512_and_si512, _mm512_castsi512_si256, _mm512_cvtepu8_epi16, _mm512_extracti64x4_epi64,
    _mm512_i32gather_epi32, _mm512_loadu_si512, _mm512_madd_epi16, _mm512_maskz_compress_epi8,
    _mm512_or_si512, _mm512_permutexvar_epi8, _mm512_set1_epi16, _mm512_set1_epi32,
    _mm512_slli_epi16, _mm512_storeu_si512, _mm512_testn_epi32_mask,
};
use std::ops::Range;

/// Bytes that the windows of a chunk's last position reach beyond the chunk.
const BEYOND: usize = 8;

/// How far ahead the haystack is asked for. In a prototype it made no difference on data in memory; not swept here.
const AHEAD: usize = 8 << 10;

/// What windows there are: only long ones, by themselves or joined to grams; or also short ones, of three bytes, four, or
/// more.
const LONG: u8 = 0;
const JOINED: u8 = 1;
const THREE: u8 = 2;
const FOUR: u8 = 3;
const MORE: u8 = 4;

/// Whether there are short windows.
const fn has_short(kind: u8) -> bool {
    kind > JOINED
}

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

impl Chunks<'_> {
    /// Where the first chunk begins, or so many steps before, as positions of the tile are counted.
    #[inline(always)]
    fn base(self, step: usize) -> u16 {
        self.from.wrapping_sub(self.base) as u16 + (BEFORE - step) as u16
    }
}

/// Most chunks of a tile: the smallest have 64 bytes.
const CHUNKS: usize = TILE / 64 + 2;

/// What may pass at a position: the window of an anchor so many steps before it, if windows are joined, or a long window
/// by itself.
const WAYS: usize = JOINED_STRIDE + 1;
const BY_ITSELF: usize = JOINED_STRIDE;

/// Which of them there are.
const fn is_tested(stride: usize, kind: u8, way: usize) -> bool {
    if way == BY_ITSELF { kind != JOINED } else { kind != LONG && way < stride }
}

/// A chunk with positions that passed. So that none is looked at for which there is nothing to do, and none is a
/// branch that is hard to foresee, chunks are marked first, and their positions listed later.
#[derive(Clone, Copy, Default)]
struct Mark {
    /// Bit `lanes * r + i` is lane i of the register r.
    passed: [u64; WAYS],
    chunk: usize,
}

impl Mark {
    /// Where its chunk begins, if the first begins at `base`.
    #[inline(always)]
    fn start<const STRIDE: usize>(&self, base: u16) -> u16 {
        base.wrapping_add((self.chunk * 64 * STRIDE) as u16)
    }
}

/// The chunks that are marked.
pub(in super::super) struct Marks(Box<[Mark; CHUNKS]>);

impl Default for Marks {
    fn default() -> Self {
        Marks(Box::new([Mark::default(); CHUNKS]))
    }
}

/// Marks on their way, for a loop that must not load and store their number for each.
struct Marking {
    marks: *mut Mark,
    len: usize,
}

impl Marks {
    fn start(&mut self) -> Marking {
        Marking { marks: self.0.as_mut_ptr(), len: 0 }
    }
}

impl Marking {
    /// Marks a chunk if some of it passed, without a branch.
    #[inline(always)]
    fn push<const STRIDE: usize, const KIND: u8>(&mut self, chunk: usize, passed: [u64; WAYS]) {
        debug_assert!(self.len < CHUNKS);
        // SAFETY: this is done once for each chunk, and there are no more of them.
        let mark = unsafe { &mut *self.marks.wrapping_add(self.len) };
        mark.chunk = chunk;
        let mut any = 0;
        for (way, passed) in passed.into_iter().enumerate() {
            if is_tested(STRIDE, KIND, way) {
                mark.passed[way] = passed;
                any |= passed;
            }
        }
        self.len += usize::from(any != 0);
    }
}

/// Room for two chunks, what is loaded around them, and zeros.
const PADDED: usize = 640;

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
        let before = BEFORE.min(from);
        let rest = &bytes[from - before..];
        let rest = &rest[..rest.len().min(PADDED - BEFORE)];
        copy[BEFORE - before..][..rest.len()].copy_from_slice(rest);
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
        let kind = match (shape.short, shape.joined, shape.short_window) {
            (0, false, _) => LONG,
            (0, true, _) => JOINED,
            (_, _, SHORTEST) => THREE,
            (_, _, SHORT) => FOUR,
            _ => MORE,
        };
        macro_rules! fold {
            ($stride:literal, $kind:ident) => {
                match shape.fold {
                    0 => $form::<$stride, $kind, false>($tables, $chunks, $lists),
                    _ => $form::<$stride, $kind, true>($tables, $chunks, $lists),
                }
            };
        }
        match (shape.stride, kind) {
            (1, LONG) => fold!(1, LONG),
            (1, FOUR) => fold!(1, FOUR),
            (1, _) => fold!(1, MORE),
            (2, LONG) => fold!(2, LONG),
            (2, JOINED) => fold!(2, JOINED),
            (2, THREE) => fold!(2, THREE),
            (2, FOUR) => fold!(2, FOUR),
            (2, _) => fold!(2, MORE),
            _ => fold!(4, LONG),
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
    fill(tables, bytes, tile, 64 * tables.shape.stride, |chunks| {
        // SAFETY: the form is chosen only where it is available.
        unsafe { by_avx2(tables, chunks, lists) }
    })
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn by_avx2(tables: &Tables, chunks: Chunks<'_>, lists: &mut Lists) {
    choose_form!(avx2, tables, chunks, lists);
}

/// Where the parts that registers of so many lanes cover begin in a chunk.
///
/// Lane i looks at byte 4 i of the register, so with a stride below four several registers cover the same bytes,
/// shifted by the stride.
const fn starts<const STRIDE: usize, const REGISTERS: usize>() -> [usize; REGISTERS] {
    let lanes = 64 / REGISTERS;
    let per_span = MAX_STRIDE / STRIDE;
    let mut starts = [0; REGISTERS];
    let mut register = 0;
    while register < REGISTERS {
        starts[register] = register / per_span * 4 * lanes + register % per_span * STRIDE;
        register += 1;
    }
    starts
}

/// The products of both halves of each 32 bits, added.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn times512(four: __m512i, factors: u32) -> __m512i {
    _mm512_madd_epi16(four, _mm512_set1_epi32(factors as i32))
}

/// See [`times512`].
#[inline]
#[target_feature(enable = "avx2")]
fn times256(four: __m256i, factors: u32) -> __m256i {
    _mm256_madd_epi16(four, _mm256_set1_epi32(factors as i32))
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

/// The bit that each value of four bits of a hash chooses, four times: see [`hash::bits`].
static CHOOSE: [u8; 64] = choose();

const fn choose() -> [u8; 64] {
    let mut table = [0; 64];
    let mut i = 0;
    while i < 64 {
        table[i] = 1 << hash::which(i as u32);
        i += 1;
    }
    table
}

/// What stays the same over a scan, in registers.
struct Wide<'a> {
    filter: &'a [u32],
    wrap: __m512i,
    fold: __m512i,
    /// From a position to the last four bytes of its windows, and of the gram that they are joined to.
    short_last: usize,
    long_last: usize,
    gram_last: usize,
    /// The bit for each value of four bits, and again.
    choose: __m512i,
}

// Not inlined: the loops of all forms in one function leave each of them fewer registers.
#[inline(never)]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt"
)]
fn avx512<const STRIDE: usize, const KIND: u8, const FOLD: bool>(
    tables: &Tables,
    chunks: Chunks<'_>,
    lists: &mut Lists,
) {
    if chunks.count == 0 {
        return;
    }
    let wide = Wide::new(tables);
    let starts = const { starts::<STRIDE, 4>() };
    let mut marking = lists.marks.start();
    // Of the registers of the next chunk: a gather whose index is not there yet keeps those behind it from starting.
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
    let count = marking.len;
    for way in 0..WAYS {
        if is_tested(STRIDE, KIND, way) {
            let is_short = has_short(KIND) && way != BY_ITSELF;
            let list = if is_short { &mut lists.short } else { &mut lists.long };
            let base = chunks.base(way % BY_ITSELF);
            append512::<STRIDE>(&lists.marks.0[..count], way, base, list);
        }
    }
}

impl<'a> Wide<'a> {
    #[target_feature(enable = "avx512f,avx512bw")]
    fn new(tables: &'a Tables) -> Self {
        Self {
            filter: &tables.filter,
            wrap: _mm512_set1_epi32(4 * (tables.filter.len() - 1) as i32),
            fold: _mm512_set1_epi32(tables.shape.fold as i32),
            short_last: tables.shape.short_window.saturating_sub(4),
            long_last: tables.shape.window - 4,
            gram_last: tables.shape.gram() - 4,
            choose: load512(&CHOOSE, 0),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn load<const FOLD: bool>(&self, bytes: &[u8], at: usize) -> __m512i {
        let word = load512(bytes, at);
        if FOLD { _mm512_or_si512(word, self.fold) } else { word }
    }

    /// Where sixteen words of the filter are, in bytes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn index<const KIND: u8, const FOLD: bool>(&self, bytes: &[u8], at: usize) -> __m512i {
        let load = |from: usize| self.load::<FOLD>(bytes, at + from);
        let first = match KIND {
            THREE => _mm512_and_si512(load(0), _mm512_set1_epi32(0x00ff_ffff)),
            _ => load(0),
        };
        let first = times512(first, hash::FACTORS_FIRST);
        let whole = match KIND {
            LONG | JOINED => Some(self.long_last),
            MORE => Some(self.short_last),
            _ => None,
        };
        let index = match whole {
            Some(last) => _mm512_add_epi32(first, times512(load(last), hash::FACTORS_LAST)),
            None => first,
        };
        _mm512_and_si512(index, self.wrap)
    }

    /// Which of sixteen positions may begin a window.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn test<const STRIDE: usize, const KIND: u8, const FOLD: bool>(
        &self,
        words: __m512i,
        bytes: &[u8],
        at: usize,
    ) -> [u16; WAYS] {
        let load = |at: usize| self.load::<FOLD>(bytes, at);
        let choice = |at: usize| self.are_clear(words, times512(load(at), hash::FACTORS_BITS));
        let mut passed = [0; WAYS];
        for (step, passed) in passed.iter_mut().enumerate() {
            *passed = match step {
                _ if !is_tested(STRIDE, KIND, step) => 0,
                BY_ITSELF if KIND == LONG => choice(at),
                BY_ITSELF => choice(at + self.long_last),
                // See `Shape::choice`.
                0 if STRIDE > 1 => choice(at + self.gram_last),
                _ => choice(at - step),
            };
        }
        passed
    }

    /// Words of the filter, by where they are.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn gather(&self, index: __m512i) -> __m512i {
        debug_assert!(self.filter.len().is_power_of_two());
        // SAFETY: `wrap` is the filter's length, a power of two, less one, in bytes: each word is inside.
        unsafe { _mm512_i32gather_epi32::<1>(index, self.filter.as_ptr().cast()) }
    }

    /// Which words have none of the bits that a hash chooses.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn are_clear(&self, words: __m512i, hash: __m512i) -> u16 {
        _mm512_testn_epi32_mask(words, _mm512_permutexvar_epi8(hash, self.choose))
    }
}

/// Adds the positions of marks to a list: they are counted from that of the first chunk.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
fn append512<const STRIDE: usize>(marks: &[Mark], way: usize, base: u16, list: &mut List) {
    let places = load512(const { &places::<STRIDE>() }, 0);
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

/// For each bit of a mark, where its position is in the chunk, in strides.
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

/// What stays the same over a scan, in registers.
struct Narrow<'a> {
    filter: &'a [u32],
    wrap: __m256i,
    fold: __m256i,
    /// From a position to the last four bytes of its windows, and of the gram that they are joined to.
    short_last: usize,
    long_last: usize,
    gram_last: usize,
    /// The bit for each value of four bits, and again.
    choose: __m256i,
}

#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn avx2<const STRIDE: usize, const KIND: u8, const FOLD: bool>(
    tables: &Tables,
    chunks: Chunks<'_>,
    lists: &mut Lists,
) {
    if chunks.count == 0 {
        return;
    }
    let narrow = Narrow::new(tables);
    let starts = const { starts::<STRIDE, 8>() };
    let mut marking = lists.marks.start();
    // Of the next four registers: a gather whose index is not there yet keeps those behind it from starting.
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
    let count = marking.len;
    for way in 0..WAYS {
        if is_tested(STRIDE, KIND, way) {
            let is_short = has_short(KIND) && way != BY_ITSELF;
            let list = if is_short { &mut lists.short } else { &mut lists.long };
            let base = chunks.base(way % BY_ITSELF);
            append256::<STRIDE>(&lists.marks.0[..count], way, base, list);
        }
    }
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

/// The signs of four registers' lanes: by four of their lower halves, then by four of their upper halves.
#[inline]
#[target_feature(enable = "avx2")]
fn signs(registers: [__m256i; 4]) -> u32 {
    let [a, b, c, d] = registers;
    let packed = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
    _mm256_movemask_epi8(packed) as u32
}

/// For each bit of [`signs`], where its position is, from the first of the eight in the same byte.
const fn places256<const STRIDE: usize>() -> [u8; 16] {
    let starts = starts::<STRIDE, 8>();
    let mut places = [0; 16];
    let mut bit = 0;
    while bit < 8 {
        places[bit] = (starts[bit / 4] + 4 * (bit % 4)) as u8;
        bit += 1;
    }
    places
}

/// Where the first of the eight positions is that a byte of [`signs`] of a chunk stands for.
const fn start256<const STRIDE: usize>(byte: usize) -> u16 {
    let register = byte / 4 * 4 + byte % 2 * 2;
    (starts::<STRIDE, 8>()[register] + byte % 4 / 2 * 16) as u16
}

/// See [`append512`].
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn append256<const STRIDE: usize>(marks: &[Mark], way: usize, base: u16, list: &mut List) {
    let places: &[u8; 16] = const { &places256::<STRIDE>() };
    // SAFETY: an unaligned load of 16 bytes from a reference to them.
    let places = unsafe { _mm_loadu_si128(places.as_ptr().cast()) };
    for mark in marks {
        let base = mark.start::<STRIDE>(base);
        for (byte, passed) in mark.passed[way].to_le_bytes().into_iter().enumerate() {
            debug_assert!(list.len + 8 <= list.at.len());
            let lanes = u64::from_le_bytes(SET_BITS[usize::from(passed)]);
            let at = _mm_shuffle_epi8(places, _mm_cvtsi64_si128(lanes as i64));
            let base = _mm_set1_epi16(base.wrapping_add(start256::<STRIDE>(byte)) as i16);
            let at = _mm_add_epi16(_mm_cvtepu8_epi16(at), base);
            let to = list.at.as_mut_ptr().wrapping_byte_add(2 * list.len);
            // SAFETY: a list has no more positions than a tile and a chunk beyond, and room for more.
            unsafe { _mm_storeu_si128(to.cast(), at) };
            list.len += passed.count_ones() as usize;
        }
    }
}

impl<'a> Narrow<'a> {
    #[target_feature(enable = "avx2")]
    fn new(tables: &'a Tables) -> Self {
        Self {
            filter: &tables.filter,
            wrap: _mm256_set1_epi32(4 * (tables.filter.len() - 1) as i32),
            fold: _mm256_set1_epi32(tables.shape.fold as i32),
            short_last: tables.shape.short_window.saturating_sub(4),
            long_last: tables.shape.window - 4,
            gram_last: tables.shape.gram() - 4,
            choose: load256(&CHOOSE, 0),
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load<const FOLD: bool>(&self, bytes: &[u8], at: usize) -> __m256i {
        let word = load256(bytes, at);
        if FOLD { _mm256_or_si256(word, self.fold) } else { word }
    }

    /// Where eight words of the filter are, in bytes.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn index<const KIND: u8, const FOLD: bool>(&self, bytes: &[u8], at: usize) -> __m256i {
        let load = |from: usize| self.load::<FOLD>(bytes, at + from);
        let first = match KIND {
            THREE => _mm256_and_si256(load(0), _mm256_set1_epi32(0x00ff_ffff)),
            _ => load(0),
        };
        let first = times256(first, hash::FACTORS_FIRST);
        let whole = match KIND {
            LONG | JOINED => Some(self.long_last),
            MORE => Some(self.short_last),
            _ => None,
        };
        let index = match whole {
            Some(last) => _mm256_add_epi32(first, times256(load(last), hash::FACTORS_LAST)),
            None => first,
        };
        _mm256_and_si256(index, self.wrap)
    }

    /// Which of eight positions may begin a window.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn test<const STRIDE: usize, const KIND: u8, const FOLD: bool>(
        &self,
        words: __m256i,
        bytes: &[u8],
        at: usize,
    ) -> [__m256i; WAYS] {
        let load = |at: usize| self.load::<FOLD>(bytes, at);
        let choice = |at: usize| self.are_clear(words, times256(load(at), hash::FACTORS_BITS));
        let mut passed = [_mm256_setzero_si256(); WAYS];
        for (step, passed) in passed.iter_mut().enumerate() {
            *passed = match step {
                _ if !is_tested(STRIDE, KIND, step) => _mm256_setzero_si256(),
                BY_ITSELF if KIND == LONG => choice(at),
                BY_ITSELF => choice(at + self.long_last),
                // See `Shape::choice`.
                0 if STRIDE > 1 => choice(at + self.gram_last),
                _ => choice(at - step),
            };
        }
        passed
    }

    /// Words of the filter, by where they are.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn gather(&self, index: __m256i) -> __m256i {
        debug_assert!(self.filter.len().is_power_of_two());
        // SAFETY: `wrap` is the filter's length, a power of two, less one, in bytes: each word is inside.
        unsafe { _mm256_i32gather_epi32::<1>(self.filter.as_ptr().cast(), index) }
    }

    /// Which words have none of the bits that a hash chooses.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn are_clear(&self, words: __m256i, hash: __m256i) -> __m256i {
        let which = _mm256_and_si256(hash, _mm256_set1_epi8(15));
        let bits = _mm256_shuffle_epi8(self.choose, which);
        _mm256_cmpeq_epi32(_mm256_and_si256(words, bits), _mm256_setzero_si256())
    }
}
