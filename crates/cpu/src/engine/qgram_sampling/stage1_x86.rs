//! Stage 1 for x86-64 with AVX-512 and AVX2. Both yield the same as the scalar form.

use super::super::hash::{GOLDEN, TURN};
use super::super::scan::SampleList;
use super::Samples;
use crate::simd::{Avx2, Avx512};
use std::arch::x86_64::{
    __m512i, _mm_cvtsi32_si128, _mm512_add_epi32, _mm512_and_si512, _mm512_i32gather_epi32,
    _mm512_loadu_si512, _mm512_maskz_compress_epi32, _mm512_mullo_epi32, _mm512_mullo_epi64,
    _mm512_permutex2var_epi8, _mm512_permutex2var_epi32, _mm512_permutexvar_epi8, _mm512_rol_epi64,
    _mm512_rorv_epi32, _mm512_set1_epi32, _mm512_set1_epi64, _mm512_setr_epi32, _mm512_srl_epi32,
    _mm512_srli_epi32, _mm512_srli_epi64, _mm512_storeu_si512, _mm512_ternarylogic_epi64,
    _mm512_test_epi32_mask, _mm512_xor_si512,
};

/// Samples that are tested together.
const LANES: usize = 16;

pub(super) fn fill_avx512(_: Avx512, samples: Samples<'_>, count: usize, list: &mut SampleList) {
    // SAFETY: the token proves that detection found every feature that `by_avx512` enables, see
    // `simd::isa`.
    unsafe { by_avx512(samples, count, list) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,bmi1,bmi2,popcnt")]
fn by_avx512(samples: Samples<'_>, count: usize, list: &mut SampleList) {
    let shape = &samples.tables.shape;
    let far = 7 * shape.stride + shape.gram.len.max(8) > 64;
    let done = match (shape.gram.is_wide(), far) {
        (false, false) => avx512::<false, false>(samples, count, list),
        (false, true) => avx512::<false, true>(samples, count, list),
        (true, false) => avx512::<true, false>(samples, count, list),
        (true, true) => avx512::<true, true>(samples, count, list),
    };
    samples.plain(done..count, list);
}

pub(super) fn fill_avx2(_: Avx2, samples: Samples<'_>, count: usize, list: &mut SampleList) {
    // SAFETY: the token proves that detection found every feature that `by_avx2` enables, see
    // `simd::isa`.
    unsafe { by_avx2(samples, count, list) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn by_avx2(samples: Samples<'_>, count: usize, list: &mut SampleList) {
    samples.plain(0..count, list);
}

/// Loads 64 bytes at `at`.
#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8], at: usize) -> __m512i {
    let bytes: &[u8; 64] =
        bytes[at..].first_chunk().expect("groups stay `reach` bytes from the end");
    // SAFETY: `bytes` is a reference to 64 bytes, and the load is unaligned.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// The constants of a tile, in registers.
struct Avx512Sampler<'a> {
    bitmap: &'a [u32],
    /// For each byte of eight grams' first and second words, its index in one or two registers.
    first: __m512i,
    second: __m512i,
    fold: __m512i,
    mask: __m512i,
    /// The distances of sixteen samples from the first.
    places: __m512i,
    /// How far to shift the upper half of a hash right for the index of its word.
    drop: u32,
}

/// Handles all whole groups away from the block's end. Returns the number of samples.
///
/// `FAR`: eight grams span more than one register.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,bmi1,bmi2,popcnt")]
fn avx512<const WIDE: bool, const FAR: bool>(
    samples: Samples<'_>,
    count: usize,
    list: &mut SampleList,
) -> usize {
    let wide = Avx512Sampler::new(&samples);
    let stride = samples.tables.shape.stride;
    let reach = 8 * stride + if FAR { 128 } else { 64 };
    let mut done = 0;
    while done + LANES <= count && samples.from + done * stride + reach <= samples.bytes.len() {
        let at = samples.from + done * stride;
        let a = wide.hash::<WIDE, FAR>(samples.bytes, at);
        let b = wide.hash::<WIDE, FAR>(samples.bytes, at + 8 * stride);
        wide.append(list, wide.passes(a, b), done * stride);
        done += LANES;
    }
    done
}

impl<'a> Avx512Sampler<'a> {
    #[target_feature(enable = "avx512f,avx512bw")]
    fn new(samples: &Samples<'a>) -> Self {
        let (shape, bitmap) = (&samples.tables.shape, &samples.tables.bitmap);
        let (gram, stride) = (shape.gram, shape.stride);
        let index = |shift: usize| -> [u8; 64] {
            std::array::from_fn(|i| (i / 8 * stride + shift + i % 8) as u8)
        };
        Self {
            bitmap,
            first: load(&index(0), 0),
            second: load(&index(gram.second()), 0),
            fold: _mm512_set1_epi64(gram.fold as i64),
            mask: _mm512_set1_epi64(gram.mask() as i64),
            places: _mm512_mullo_epi32(
                _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                _mm512_set1_epi32(stride as i32),
            ),
            drop: 32 - shape.bitmap_bits,
        }
    }

    /// The hashes of eight samples.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi")]
    fn hash<const WIDE: bool, const FAR: bool>(&self, bytes: &[u8], at: usize) -> __m512i {
        let low = load(bytes, at);
        let pick = |index: __m512i| {
            let word = if FAR {
                _mm512_permutex2var_epi8(low, index, load(bytes, at + 64))
            } else {
                _mm512_permutexvar_epi8(index, low)
            };
            // word | (word >> 1 & fold)
            _mm512_ternarylogic_epi64::<0xf8>(word, _mm512_srli_epi64::<1>(word), self.fold)
        };
        let first = _mm512_and_si512(pick(self.first), self.mask);
        let key = if WIDE {
            _mm512_xor_si512(first, _mm512_rol_epi64::<{ TURN as i32 }>(pick(self.second)))
        } else {
            first
        };
        _mm512_mullo_epi64(key, _mm512_set1_epi64(GOLDEN as i64))
    }

    /// Which of sixteen hashes pass the bitmap.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn passes(&self, a: __m512i, b: __m512i) -> u16 {
        let odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
        let upper = _mm512_permutex2var_epi32(a, odd, b);
        let index = _mm512_srl_epi32(upper, _mm_cvtsi32_si128(self.drop as i32));
        debug_assert!(self.bitmap.len() == 1 << (32 - self.drop));
        // SAFETY: the shift leaves each index 32 - `drop` bits, and the bitmap has 2 to that
        // power of words, as asserted above.
        let words = unsafe { _mm512_i32gather_epi32::<4>(index, self.bitmap.as_ptr().cast()) };
        // A rotation takes its count modulo 32.
        let one = _mm512_rorv_epi32(words, upper);
        let other = _mm512_rorv_epi32(words, _mm512_srli_epi32::<5>(upper));
        _mm512_test_epi32_mask(_mm512_and_si512(one, other), _mm512_set1_epi32(1))
    }

    /// Appends the samples of sixteen that passed to the list.
    #[inline]
    #[target_feature(enable = "avx512f,popcnt")]
    fn append(&self, list: &mut SampleList, passed: u16, base: usize) {
        let at = _mm512_add_epi32(self.places, _mm512_set1_epi32(base as i32));
        let at = _mm512_maskz_compress_epi32(passed, at);
        let room: &mut [u32; LANES] =
            list.at[list.len..].first_chunk_mut().expect("a list has 16 elements beyond a tile");
        // SAFETY: `room` is a reference to 64 bytes, and the store is unaligned.
        unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), at) };
        list.len += passed.count_ones() as usize;
    }
}
