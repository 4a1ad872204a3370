//! Stage 2 for x86-64 with AVX-512 and AVX2. Both equal the scalar form.

use super::super::buckets::{
    CacheLineBucket, FINGERPRINT, HEADER, Header, INLINE, PLACE, PLACE_SHIFT, RecordUnit,
};
use super::super::hash::{FINGERPRINT_HIGH, FINGERPRINT_LOW};
use super::super::scan::{Hits, MatchOutput, TileView};
use super::{Place, buckets_of, is_match, is_rest_match, prefetch, word};
use crate::simd::avx2::SET_BITS;
use crate::simd::{Avx2, Avx512};
use std::arch::x86_64::{
    __m256i, __m512i, _bzhi_u32, _mm_cvtsi64_si128, _mm_cvtsi128_si32, _mm256_add_epi32,
    _mm256_add_epi64, _mm256_and_si256, _mm256_andnot_si256, _mm256_castps_si256,
    _mm256_castsi256_ps, _mm256_cmpeq_epi8, _mm256_cmpeq_epi32, _mm256_cmpgt_epi8,
    _mm256_cvtepu8_epi32, _mm256_load_si256, _mm256_loadu_si256, _mm256_movemask_epi8,
    _mm256_movemask_ps, _mm256_mul_epu32, _mm256_or_si256, _mm256_permute4x64_epi64,
    _mm256_permutevar8x32_epi32, _mm256_set1_epi8, _mm256_set1_epi32, _mm256_set1_epi64x,
    _mm256_setzero_si256, _mm256_shuffle_ps, _mm256_srli_epi32, _mm256_srli_epi64,
    _mm256_storeu_si256, _mm256_xor_si256, _mm512_add_epi32, _mm512_add_epi64, _mm512_and_si512,
    _mm512_castsi512_si128, _mm512_castsi512_si256, _mm512_load_si512, _mm512_loadu_si512,
    _mm512_mask_testn_epi32_mask, _mm512_maskz_compress_epi32, _mm512_maskz_set1_epi32,
    _mm512_mul_epu32, _mm512_permutexvar_epi32, _mm512_set1_epi32, _mm512_set1_epi64,
    _mm512_srli_epi32, _mm512_srli_epi64, _mm512_storeu_si512, _mm512_xor_si512,
};

/// See the parent module.
pub(super) fn look_up_avx512(
    _: Avx512,
    tile: TileView<'_>,
    is_short: bool,
    positions: &[u16],
    hashes: &[u64],
    hits: &mut Hits,
) {
    // SAFETY: the token proves that detection found every feature that `lookups_avx512` enables,
    // see `simd::isa`.
    unsafe { lookups_avx512(tile, is_short, positions, hashes, hits) }
}

#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt"
)]
fn lookups_avx512(
    tile: TileView<'_>,
    is_short: bool,
    positions: &[u16],
    hashes: &[u64],
    hits: &mut Hits,
) {
    match (is_short, tile.is_edge()) {
        (false, false) => entries_avx512::<false, false>(tile, positions, hashes, hits),
        (false, true) => entries_avx512::<false, true>(tile, positions, hashes, hits),
        (true, false) => entries_avx512::<true, false>(tile, positions, hashes, hits),
        (true, true) => entries_avx512::<true, true>(tile, positions, hashes, hits),
    }
}

#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt"
)]
fn entries_avx512<const SHORT: bool, const EDGE: bool>(
    tile: TileView<'_>,
    positions: &[u16],
    hashes: &[u64],
    hits: &mut Hits,
) {
    let tables = tile.tables;
    let buckets = buckets_of(tables, SHORT);
    let fold = tables.shape.fold;
    let units = tables.records.units().as_ptr();
    // SAFETY: `masks` is an array of eight `u64`, 64 bytes, and the load is unaligned.
    let masks = unsafe { _mm512_loadu_si512((&raw const tables.masks).cast()) };
    let fingerprint = _mm512_set1_epi32(FINGERPRINT as i32);
    let place = _mm512_set1_epi32(PLACE as i32);
    let last = _mm512_set1_epi32(15);
    let mut len = hits.len;
    for (&at, &hash) in positions.iter().zip(hashes) {
        let bucket = buckets.bucket(hash);
        // SAFETY: `bucket` is a reference to a `CacheLineBucket`, which has 64 bytes and is
        // aligned to 64.
        let entries = unsafe { _mm512_load_si512((&raw const *bucket).cast()) };
        let expected = if SHORT {
            let text = word::<EDGE>(tile, at) | fold;
            fingerprints_avx512(_mm512_and_si512(_mm512_set1_epi64(text as i64), masks))
        } else {
            _mm512_maskz_set1_epi32(0x3fff, hash as i32)
        };
        let expected = _mm512_permutexvar_epi32(entries, expected);
        let differ = _mm512_xor_si512(entries, expected);
        let equal = _mm512_mask_testn_epi32_mask(0x7fff, differ, fingerprint);
        // A permutation, since the bucket is in a register.
        let base = _mm512_permutexvar_epi32(last, entries);
        let entries = _mm512_maskz_compress_epi32(equal, entries);
        let places = _mm512_and_si512(_mm512_srli_epi32::<PLACE_SHIFT>(entries), place);
        let places = _mm512_add_epi32(places, base);
        store_hits(hits, len, equal.count_ones(), places, at);
        let first = _mm_cvtsi128_si32(_mm512_castsi512_si128(places)) as u32;
        prefetch(units.wrapping_add(if equal == 0 { 0 } else { first as usize }));
        len += equal.count_ones() as usize;
    }
    hits.len = len;
}

/// The fingerprints of eight texts, in the lower halves.
#[inline]
#[target_feature(enable = "avx512f")]
fn fingerprints_avx512(texts: __m512i) -> __m512i {
    let (low, high) = (FINGERPRINT_LOW as i64, FINGERPRINT_HIGH as i64);
    let low = _mm512_mul_epu32(texts, _mm512_set1_epi64(low));
    let high = _mm512_mul_epu32(_mm512_srli_epi64::<32>(texts), _mm512_set1_epi64(high));
    _mm512_add_epi64(low, high)
}

/// Writes the places of a candidate's hits behind the first `len`: eight, and seldom more.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn store_hits(hits: &mut Hits, len: usize, count: u32, places: __m512i, at: u16) {
    debug_assert!(len + 16 <= hits.at.len());
    let at = _mm512_set1_epi32(i32::from(at));
    for (list, values) in [(&mut hits.unit, places), (&mut hits.at, at)] {
        let room = list.as_mut_ptr().wrapping_add(len);
        let eight = _mm512_castsi512_si256(values);
        // SAFETY: `look_up` asserts room for SLOTS hits of each of CHUNK candidates, and a bucket
        // has SLOTS entries. So `len` is at most HITS, and the lists have HITS + 16 elements.
        unsafe { _mm256_storeu_si256(room.cast(), eight) };
        if count > 8 {
            // SAFETY: `len` is at most HITS and the lists have HITS + 16 elements, so sixteen fit
            // behind `len`.
            unsafe { _mm512_storeu_si512(room.cast(), values) };
        }
    }
}

/// See the parent module.
pub(super) fn look_up_avx2(
    _: Avx2,
    tile: TileView<'_>,
    is_short: bool,
    positions: &[u16],
    hashes: &[u64],
    hits: &mut Hits,
) {
    // SAFETY: the token proves that detection found every feature that `lookups_avx2` enables, see
    // `simd::isa`.
    unsafe { lookups_avx2(tile, is_short, positions, hashes, hits) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn lookups_avx2(
    tile: TileView<'_>,
    is_short: bool,
    positions: &[u16],
    hashes: &[u64],
    hits: &mut Hits,
) {
    match (is_short, tile.is_edge()) {
        (false, false) => entries_avx2::<false, false>(tile, positions, hashes, hits),
        (false, true) => entries_avx2::<false, true>(tile, positions, hashes, hits),
        (true, false) => entries_avx2::<true, false>(tile, positions, hashes, hits),
        (true, true) => entries_avx2::<true, true>(tile, positions, hashes, hits),
    }
}

/// Tests both halves of a bucket with one register of expected fingerprints: eight classes, by
/// half of an entry's index.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn entries_avx2<const SHORT: bool, const EDGE: bool>(
    tile: TileView<'_>,
    positions: &[u16],
    hashes: &[u64],
    hits: &mut Hits,
) {
    let tables = tile.tables;
    let buckets = buckets_of(tables, SHORT);
    let fold = tables.shape.fold;
    let masks: &[u64; 8] = &tables.masks;
    let masks = [load_masks(masks, 0), load_masks(masks, 4)];
    let mut len = hits.len;
    let long_classes =
        load_masks(&[u64::MAX, u64::MAX, u64::MAX, u64::from(u32::MAX), 0, 0, 0, 0], 0);
    for (&at, &hash) in positions.iter().zip(hashes) {
        let bucket = buckets.bucket(hash);
        let expected = if SHORT {
            let text = word::<EDGE>(tile, at) | fold;
            fingerprints_avx2(text, masks)
        } else {
            _mm256_and_si256(_mm256_set1_epi32(hash as i32), long_classes)
        };
        let [low, high] = load_bucket(bucket);
        let base = bucket.base;
        len += store_half(hits, len, low, equal_avx2(low, expected), base, at);
        len += store_half(hits, len, high, equal_avx2(high, expected) & 0x7f, base, at);
    }
    hits.len = len;
}

/// Loads four of eight masks.
#[inline]
#[target_feature(enable = "avx2")]
fn load_masks(masks: &[u64; 8], first: usize) -> __m256i {
    let four: &[u64; 4] = masks[first..].first_chunk().expect("`first` is 0 or 4");
    // SAFETY: `four` is a reference to 32 bytes, and the load is unaligned.
    unsafe { _mm256_loadu_si256(four.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_bucket(bucket: &CacheLineBucket) -> [__m256i; 2] {
    let halves: &[[u32; 8]; 2] = bucket.halves();
    // SAFETY: `half` is the first or the second 32 bytes of a `CacheLineBucket`, which is aligned
    // to 64.
    let load = |half: &[u32; 8]| unsafe { _mm256_load_si256(half.as_ptr().cast()) };
    [load(&halves[0]), load(&halves[1])]
}

/// The fingerprints of a text under eight masks, in order.
#[inline]
#[target_feature(enable = "avx2")]
fn fingerprints_avx2(text: u64, masks: [__m256i; 2]) -> __m256i {
    let text = _mm256_set1_epi64x(text as i64);
    let low_factor = _mm256_set1_epi64x(FINGERPRINT_LOW as i64);
    let high_factor = _mm256_set1_epi64x(FINGERPRINT_HIGH as i64);
    let four = |mask: __m256i| {
        let text = _mm256_and_si256(text, mask);
        let low = _mm256_mul_epu32(text, low_factor);
        let high = _mm256_mul_epu32(_mm256_srli_epi64::<32>(text), high_factor);
        _mm256_castsi256_ps(_mm256_add_epi64(low, high))
    };
    // The lower halves of both, in the order 0 1 4 5 2 3 6 7.
    let lower = _mm256_shuffle_ps::<0b10_00_10_00>(four(masks[0]), four(masks[1]));
    _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_castps_si256(lower))
}

/// Which of eight entries have the expected fingerprint of their class.
#[inline]
#[target_feature(enable = "avx2")]
fn equal_avx2(entries: __m256i, expected: __m256i) -> u32 {
    // The index is twice the class, and a permutation uses its lowest three bits.
    let class = _mm256_srli_epi32::<1>(entries);
    let differ = _mm256_xor_si256(entries, _mm256_permutevar8x32_epi32(expected, class));
    let differ = _mm256_and_si256(differ, _mm256_set1_epi32(FINGERPRINT as i32));
    let equal = _mm256_cmpeq_epi32(differ, _mm256_setzero_si256());
    _mm256_movemask_ps(_mm256_castsi256_ps(equal)) as u32
}

/// Writes the places of the matching ones of eight entries behind the first `len`. Returns their
/// number.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn store_half(
    hits: &mut Hits,
    len: usize,
    entries: __m256i,
    equal: u32,
    base: u32,
    at: u16,
) -> usize {
    debug_assert!(len + 8 <= hits.at.len());
    let order = u64::from_le_bytes(SET_BITS[equal as usize & 0xff]);
    let order = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(order as i64));
    let entries = _mm256_permutevar8x32_epi32(entries, order);
    let places = _mm256_srli_epi32::<{ PLACE_SHIFT as i32 }>(entries);
    let places = _mm256_and_si256(places, _mm256_set1_epi32(PLACE as i32));
    let places = _mm256_add_epi32(places, _mm256_set1_epi32(base as i32));
    for (list, values) in
        [(&mut hits.unit, places), (&mut hits.at, _mm256_set1_epi32(i32::from(at)))]
    {
        // SAFETY: `look_up` asserts room for SLOTS hits of each of CHUNK candidates, and a bucket
        // has SLOTS entries. So `len` is at most HITS, and the lists have HITS + 16 elements.
        unsafe { _mm256_storeu_si256(list.as_mut_ptr().wrapping_add(len).cast(), values) };
    }
    equal.count_ones() as usize
}

/// See the parent module. AVX-512 would not be faster: a record has 32 bytes.
pub(super) fn compare(
    _: Avx2,
    tile: TileView<'_>,
    units: &[u32],
    at: &[u32],
    out: &mut MatchOutput<'_>,
) {
    // SAFETY: the token proves that detection found every feature that `by_avx2` enables, see
    // `simd::isa`.
    unsafe { by_avx2(tile, units, at, out) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn by_avx2(tile: TileView<'_>, units: &[u32], at: &[u32], out: &mut MatchOutput<'_>) {
    match out.only_count {
        true => by_shape::<true>(tile, units, at, out),
        false => by_shape::<false>(tile, units, at, out),
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn by_shape<const COUNT: bool>(
    tile: TileView<'_>,
    units: &[u32],
    at: &[u32],
    out: &mut MatchOutput<'_>,
) {
    match (tile.tables.shape.fold != 0, tile.is_edge()) {
        (false, false) => records::<COUNT, false, false>(tile, units, at, out),
        (false, true) => records::<COUNT, false, true>(tile, units, at, out),
        (true, false) => records::<COUNT, true, false>(tile, units, at, out),
        (true, true) => records::<COUNT, true, true>(tile, units, at, out),
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn records<const COUNT: bool, const FOLD: bool, const EDGE: bool>(
    tile: TileView<'_>,
    units: &[u32],
    at: &[u32],
    out: &mut MatchOutput<'_>,
) {
    let around = RecordContext::new(&tile);
    debug_assert!(out.room() >= units.len());
    let mut cursor = out.cursor();
    for (&unit, &at) in units.iter().zip(at) {
        let header = around.header(unit);
        if header.is_run() {
            out.advance(&cursor);
            run::<FOLD, EDGE>(around, header, at, out);
            out.make_room(units.len());
            debug_assert!(out.room() >= units.len());
            cursor = out.cursor();
            continue;
        }
        let (end, ok) = around.compare::<FOLD, EDGE>(unit, header, at);
        // SAFETY: `stage2::compare` made room for a match of each unit, and the branch above does
        // after a run, as both assert. Each unit adds one, and `out` is not used while the cursor
        // is.
        unsafe { cursor.push_if::<COUNT>(end, header.pattern(), ok) };
    }
    out.advance(&cursor);
}

/// Compares all records of a run.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn run<const FOLD: bool, const EDGE: bool>(
    around: RecordContext<'_>,
    header: Header,
    at: u32,
    out: &mut MatchOutput<'_>,
) {
    let mut unit = header.pattern();
    loop {
        let header = around.header(unit);
        let (end, ok) = around.compare::<FOLD, EDGE>(unit, header, at);
        out.in_runs += 1;
        if ok {
            out.make_room(1);
            out.push(end, header.pattern());
        }
        if header.is_last() {
            return;
        }
        unit += header.units();
    }
}

/// The addresses and constants of a record comparison.
#[derive(Clone, Copy)]
struct RecordContext<'a> {
    tile: &'a TileView<'a>,
    units: *const RecordUnit,
    /// The address of the tile's first byte.
    text: *const u8,
    in_page: u32,
}

impl<'a> RecordContext<'a> {
    fn new(tile: &'a TileView<'a>) -> Self {
        let units = tile.tables.records.units().as_ptr();
        let text = tile.block.bytes.as_ptr().wrapping_add(tile.at);
        RecordContext { tile, units, text, in_page: tile.in_page() }
    }

    #[inline(always)]
    fn header(self, unit: u32) -> Header {
        debug_assert!((unit as usize) < self.tile.tables.records.units().len());
        let at = self.units.wrapping_add(unit as usize);
        // SAFETY: `unit` is the place of an entry, or follows a record that is not the last of
        // its run. `CacheLineBuckets::new` and `Records::push_run` make both from records that
        // they push.
        unsafe { at.read() }.header()
    }

    /// Where a match ends, from the start of the page, and whether it is one.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
    fn compare<const FOLD: bool, const EDGE: bool>(
        self,
        unit: u32,
        header: Header,
        at: u32,
    ) -> (u32, bool) {
        let tile = self.tile;
        let start = (tile.at + at as usize).wrapping_sub(header.offset());
        let end = (self.in_page + at).wrapping_add(header.len() as u32);
        let end = end.wrapping_sub(header.offset() as u32);
        if EDGE {
            let inside = Place::new(tile, header, at).inside;
            let whole = start.checked_add(INLINE).is_some_and(|end| end <= tile.block.bytes.len());
            if !(inside & whole) {
                return (end, inside && is_match(tile, header, start));
            }
        }
        let text = self.text.wrapping_add(at as usize).wrapping_sub(header.offset());
        debug_assert!(EDGE || start + INLINE <= tile.block.bytes.len());
        // SAFETY: INLINE bytes from `start` on are in the block: checked above for an edge, and
        // implied by `TileView::is_edge` for any other tile.
        let text = unsafe { _mm256_loadu_si256(text.cast()) };
        let wanted = self.units.wrapping_add(unit as usize).wrapping_byte_add(HEADER);
        // SAFETY: `unit` is the place of a record (see `header`), and `Records::finish` adds
        // BEYOND units behind the last, which are more than HEADER + INLINE bytes.
        let wanted = unsafe { _mm256_loadu_si256(wanted.cast()) };
        let text = if FOLD { fold(text, wanted, header) } else { text };
        let differ = !_mm256_movemask_epi8(_mm256_cmpeq_epi8(text, wanted)) as u32;
        let mut ok = _bzhi_u32(differ, header.count()) == 0;
        if ok & (header.len() > INLINE) {
            ok = is_rest_match(tile, header, start);
        }
        (end, ok)
    }
}

/// Folds the text's bytes where a pattern that ignores case has letters.
#[inline]
#[target_feature(enable = "avx2")]
fn fold(text: __m256i, wanted: __m256i, header: Header) -> __m256i {
    let nocase = _mm256_set1_epi8(if header.is_nocase() { 0x20 } else { 0 });
    let above = _mm256_cmpgt_epi8(wanted, _mm256_set1_epi8(b'a' as i8 - 1));
    let beyond = _mm256_cmpgt_epi8(wanted, _mm256_set1_epi8(b'z' as i8));
    let letters = _mm256_and_si256(_mm256_andnot_si256(beyond, above), nocase);
    _mm256_or_si256(text, letters)
}
