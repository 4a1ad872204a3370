//! The vector operations with AVX-512: 64 bytes in one register.

use super::operation::{operations, unsafe_operations};
use super::vector::{Vector, Work, in_order};
use super::{Avx2, Avx512};
use std::arch::x86_64::*;

impl Vector for Avx512 {
    type Bytes = __m512i;
    type Answers = __mmask16;
    type Eight = __m512i;

    const ENTRIES: usize = 64;
    const COMPRESSES: bool = true;
    const LOADS_SOME: bool = true;
    const SHUFFLES_ASCII: bool = false;
    const GATHERS: bool = true;
    const AHEAD: usize = 4;
    const BIT_ORDER: [u8; 32] = in_order();

    #[inline(always)]
    fn run<W: Work>(self, work: W) -> W::Output {
        // Not inlined: several loops in one function would compete for registers.
        #[inline(never)]
        #[target_feature(
            enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt"
        )]
        fn enter<W: Work>(token: Avx512, work: W) -> W::Output {
            work.run(token)
        }
        // SAFETY: `self` proves that detection found these features, see `simd::isa`.
        unsafe { enter(self, work) }
    }

    #[inline(always)]
    unsafe fn differ<const FOLD: bool>(self, text: *const u8, pattern: *const u8, case: u8) -> u32 {
        // 32 bytes are one register of AVX2.
        // SAFETY: our caller promises the 32 bytes from each pointer on that `Avx2::differ` needs.
        unsafe { Avx2::differ::<FOLD>(self.avx2(), text, pattern, case) }
    }

    operations! { "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt"
        splat8(byte: u8) -> __m512i { _mm512_set1_epi8(byte as i8) }
        splat32(number: u32) -> __m512i { _mm512_set1_epi32(number as i32) }
        splat64(number: u64) -> __m512i { _mm512_set1_epi64(number as i64) }
        repeat(table: &[u8; 16]) -> __m512i {
            // SAFETY: `table` is a reference to 16 bytes, and the load is unaligned.
            _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(table.as_ptr().cast()) })
        }
        load_some(from: &[u8]) -> __m512i {
            let mask = if from.len() < 64 { (1 << from.len()) - 1 } else { u64::MAX };
            // SAFETY: the mask has a bit for each byte of `from`, at most 64, and no other. A
            // masked load reads only bytes that have a bit.
            unsafe { _mm512_maskz_loadu_epi8(mask, from.as_ptr().cast()) }
        }
        load_short(text: &[u8], ahead: usize) -> __m512i {
            debug_assert!(text.len() <= 64, "a short text");
            let ahead = ahead.min(64);
            let mask = _bzhi_u64(u64::MAX, text.len() as u32);
            let mask = mask.checked_shr(ahead as u32).unwrap_or(0);
            // SAFETY: before the shift, each bit of the mask belongs to a byte of `text`: the
            // instruction keeps at most `text.len()` low bits. So bit `i` of the mask is set only
            // if `text` has a byte `ahead + i`. A masked load reads only bytes that have a bit.
            unsafe { _mm512_maskz_loadu_epi8(mask, text.as_ptr().wrapping_add(ahead).cast()) }
        }
        words(bytes: __m512i) -> [u32; 16] {
            let mut words = [0; 16];
            // SAFETY: `words` has 64 bytes, and the store is unaligned.
            unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), bytes) };
            words
        }
        and(a: __m512i, b: __m512i) -> __m512i { _mm512_and_si512(a, b) }
        or(a: __m512i, b: __m512i) -> __m512i { _mm512_or_si512(a, b) }
        xor(a: __m512i, b: __m512i) -> __m512i { _mm512_xor_si512(a, b) }
        min8(a: __m512i, b: __m512i) -> __m512i { _mm512_min_epu8(a, b) }
        add8(a: __m512i, b: __m512i) -> __m512i { _mm512_add_epi8(a, b) }
        add32(a: __m512i, b: __m512i) -> __m512i { _mm512_add_epi32(a, b) }
        add64(a: __m512i, b: __m512i) -> __m512i { _mm512_add_epi64(a, b) }
        multiply_low(a: __m512i, b: __m512i) -> __m512i { _mm512_mul_epu32(a, b) }
        multiply_add(a: __m512i, b: __m512i) -> __m512i { _mm512_madd_epi16(a, b) }
        right32(numbers: __m512i, bits: u32) -> __m512i {
            _mm512_srl_epi32(numbers, _mm_cvtsi32_si128(bits as i32))
        }
        left32(numbers: __m512i, bits: u32) -> __m512i {
            _mm512_sll_epi32(numbers, _mm_cvtsi32_si128(bits as i32))
        }
        min32(a: __m512i, b: __m512i) -> __m512i { _mm512_min_epu32(a, b) }
        words_of_halves(numbers: &[u8; 32], mask: u16) -> __m512i {
            // SAFETY: `numbers` is a reference to 32 bytes, and the load is unaligned.
            let numbers = unsafe { _mm256_loadu_si256(numbers.as_ptr().cast()) };
            let twice = _mm512_broadcast_i64x4(numbers);
            // To the left by two bits, or to the right by 14.
            let left = _mm512_inserti64x4::<1>(_mm512_set1_epi32(2), _mm256_set1_epi32(18));
            let mask = _mm512_set1_epi32(4 * i32::from(mask));
            _mm512_and_si512(_mm512_rolv_epi32(twice, left), mask)
        }
        half_on(numbers: __m512i, next: u32) -> __m512i {
            let next = _mm512_castsi128_si512(_mm_cvtsi32_si128(next as i32));
            // Index 16 is the first element of `next`.
            let index = _mm512_setr_epi32(8, 9, 10, 11, 12, 13, 14, 15, 1, 2, 3, 4, 5, 6, 7, 16);
            _mm512_permutex2var_epi32(numbers, index, next)
        }
        join_halves(a: __m512i, b: __m512i) -> __m512i {
            let low = _mm512_shuffle_i64x2::<0x44>(a, b);
            _mm512_or_si512(low, _mm512_slli_epi32::<16>(_mm512_shuffle_i64x2::<0xee>(a, b)))
        }
        fold(bytes: __m512i, case: __m512i) -> __m512i {
            // bytes | (shifted & case)
            _mm512_ternarylogic_epi32::<0xf8>(bytes, _mm512_srli_epi32::<1>(bytes), case)
        }
        upper_halves(bytes: __m512i) -> __m512i { _mm512_srli_epi64::<32>(bytes) }
        shuffle(table: __m512i, index: __m512i) -> __m512i { _mm512_permutexvar_epi8(index, table) }
        equal8(a: __m512i, b: __m512i) -> u64 { _mm512_cmpeq_epi8_mask(a, b) }
        nonzero8(bytes: __m512i) -> u64 { _mm512_test_epi8_mask(bytes, bytes) }
        nonzero64(bytes: __m512i) -> u8 { _mm512_test_epi64_mask(bytes, bytes) }
        add_bytes(sums: __m512i, bytes: __m512i) -> __m512i {
            _mm512_add_epi64(sums, _mm512_sad_epu8(bytes, _mm512_setzero_si512()))
        }
        sum64(sums: __m512i) -> u64 { _mm512_reduce_add_epi64(sums) as u64 }
        clear32(a: __m512i, b: __m512i) -> __mmask16 { _mm512_testn_epi32_mask(a, b) }
        mask_of_two(answers: [__mmask16; 2]) -> u32 {
            u32::from(answers[0]) | u32::from(answers[1]) << 16
        }
        clear_mask32 [const AMONG: u16] (a: __m512i, b: __m512i) -> u16 {
            _mm512_mask_testn_epi32_mask(AMONG, a, b)
        }
        lower_halves(numbers: __m512i) -> __m512i { numbers }
        seven_copies(number: u32) -> __m512i { _mm512_maskz_set1_epi32(0x3fff, number as i32) }
        choose(numbers: __m512i, index: __m512i) -> __m512i {
            _mm512_permutexvar_epi32(index, numbers)
        }
    }

    unsafe_operations! { "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt"
        load_at(from: *const u8) -> __m512i {
            // SAFETY: our caller promises 64 bytes from `from` on, and the load is unaligned.
            unsafe { _mm512_loadu_si512(from.cast()) }
        }
        gather(table: *const u32, offsets: __m512i) -> __m512i {
            // SAFETY: our caller promises four bytes at each offset from `table`.
            unsafe { _mm512_i32gather_epi32::<1>(offsets, table.cast()) }
        }
        append_places(places: &[u8; 64], mask: u64, base: u16, to: *mut u16) -> usize {
            // SAFETY: `places` is a reference to 64 bytes, and the load is unaligned.
            let places = unsafe { _mm512_loadu_si512(places.as_ptr().cast()) };
            let packed = _mm512_maskz_compress_epi8(mask, places);
            let base = _mm512_set1_epi16(base as i16);
            let spread = |half| _mm512_add_epi16(_mm512_cvtepu8_epi16(half), base);
            let count = mask.count_ones() as usize;
            let first = spread(_mm512_castsi512_si256(packed));
            // SAFETY: 32 of the 64 elements that our caller promises, and the store is unaligned.
            unsafe { _mm512_storeu_si512(to.cast(), first) };
            if count > 32 {
                let others = spread(_mm512_extracti64x4_epi64::<1>(packed));
                // SAFETY: the last 32 of the 64 elements that our caller promises.
                unsafe { _mm512_storeu_si512(to.wrapping_add(32).cast(), others) };
            }
            count
        }
        append_fields [const SHIFT: u32, const FIELD: u32] (
            numbers: __m512i, mask: u16, to: *mut u32
        ) -> usize {
            let some = _mm512_srli_epi32::<SHIFT>(_mm512_maskz_compress_epi32(mask, numbers));
            let some = _mm512_and_si512(some, _mm512_set1_epi32(FIELD as i32));
            let base = _mm512_permutexvar_epi32(_mm512_set1_epi32(15), numbers);
            let some = _mm512_add_epi32(some, base);
            let count = mask.count_ones() as usize;
            // Usually eight are enough, and a store of 64 bytes would touch two cache lines.
            let eight = _mm512_castsi512_si256(some);
            // SAFETY: eight of the 16 elements that our caller promises, and the store is
            // unaligned.
            unsafe { _mm256_storeu_si256(to.cast(), eight) };
            if count > 8 {
                // SAFETY: all 16.
                unsafe { _mm512_storeu_si512(to.cast(), some) };
            }
            count
        }
        fill32(number: u32, count: usize, to: *mut u32) -> () {
            let number = _mm512_set1_epi32(number as i32);
            let eight = _mm512_castsi512_si256(number);
            // SAFETY: eight of the 16 elements that our caller promises.
            unsafe { _mm256_storeu_si256(to.cast(), eight) };
            if count > 8 {
                // SAFETY: all 16.
                unsafe { _mm512_storeu_si512(to.cast(), number) };
            }
        }
    }
}
