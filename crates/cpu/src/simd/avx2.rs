//! The vector operations with AVX2: 64 bytes in two registers.

use super::Avx2;
use super::operation::{operations, unsafe_operations};
use super::vector::{Vector, Work};
use std::arch::x86_64::*;

type Bytes = [__m256i; 2];

/// Indices of the set bits of each byte, in ascending order: a shuffle by them compresses.
static SET_BITS: [[u8; 8]; 256] = set_bits();

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

/// `packs` works on halves of registers: the mask has four elements of each of four registers,
/// first from the lower halves, then from the upper halves.
const fn bit_order() -> [u8; 32] {
    let mut order = [0; 32];
    let mut bit = 0;
    while bit < 32 {
        let (half, register) = (bit / 16, bit / 4 % 4);
        order[bit] = (8 * register + 4 * half + bit % 4) as u8;
        bit += 1;
    }
    order
}

/// Loads 64 bytes.
///
/// # Safety
/// The 64 bytes from `from` on can be read.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load(from: *const u8) -> Bytes {
    // SAFETY: our caller promises 64 bytes from `from` on, and the load is unaligned.
    let low = unsafe { _mm256_loadu_si256(from.cast()) };
    // SAFETY: the last 32 of these bytes, and the load is unaligned.
    let high = unsafe { _mm256_loadu_si256(from.wrapping_add(32).cast()) };
    [low, high]
}

impl Vector for Avx2 {
    type Bytes = Bytes;
    type Answers = Bytes;
    type Eight = __m256i;

    const ENTRIES: usize = 16;
    const COMPRESSES: bool = false;
    const LOADS_SOME: bool = false;
    const SHUFFLES_ASCII: bool = true;
    const GATHERS: bool = true;
    const AHEAD: usize = 2;
    const BIT_ORDER: [u8; 32] = bit_order();

    #[inline(always)]
    fn run<W: Work>(self, work: W) -> W::Output {
        // Not inlined: several loops in one function would compete for registers.
        #[inline(never)]
        #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
        fn enter<W: Work>(token: Avx2, work: W) -> W::Output {
            work.run(token)
        }
        // SAFETY: `self` proves that detection found these features, see `simd::isa`.
        unsafe { enter(self, work) }
    }

    operations! { "avx2,bmi1,bmi2,popcnt,lzcnt"
        splat8(byte: u8) -> Bytes { [_mm256_set1_epi8(byte as i8); 2] }
        splat32(number: u32) -> Bytes { [_mm256_set1_epi32(number as i32); 2] }
        splat64(number: u64) -> Bytes { [_mm256_set1_epi64x(number as i64); 2] }
        repeat(table: &[u8; 16]) -> Bytes {
            // SAFETY: `table` is a reference to 16 bytes, and the load is unaligned.
            [_mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(table.as_ptr().cast()) }); 2]
        }
        load_some(from: &[u8]) -> Bytes {
            let mut bytes = [0_u8; 64];
            let len = from.len().min(64);
            bytes[..len].copy_from_slice(&from[..len]);
            // SAFETY: `bytes` has 64 bytes.
            unsafe { load(bytes.as_ptr()) }
        }
        load_four64(from: [u64; 4]) -> Bytes {
            let [a, b, c, d] = from;
            [_mm256_set_epi64x(d as i64, c as i64, b as i64, a as i64), _mm256_setzero_si256()]
        }
        words(bytes: Bytes) -> [u32; 16] {
            let mut words = [0; 16];
            let to = words.as_mut_ptr();
            // SAFETY: `words` has 64 bytes, and the store is unaligned.
            unsafe { _mm256_storeu_si256(to.cast(), bytes[0]) };
            // SAFETY: the last 32 of these bytes, and the store is unaligned.
            unsafe { _mm256_storeu_si256(to.wrapping_add(8).cast(), bytes[1]) };
            words
        }
        and(a: Bytes, b: Bytes) -> Bytes {
            [_mm256_and_si256(a[0], b[0]), _mm256_and_si256(a[1], b[1])]
        }
        or(a: Bytes, b: Bytes) -> Bytes {
            [_mm256_or_si256(a[0], b[0]), _mm256_or_si256(a[1], b[1])]
        }
        xor(a: Bytes, b: Bytes) -> Bytes {
            [_mm256_xor_si256(a[0], b[0]), _mm256_xor_si256(a[1], b[1])]
        }
        min8(a: Bytes, b: Bytes) -> Bytes {
            [_mm256_min_epu8(a[0], b[0]), _mm256_min_epu8(a[1], b[1])]
        }
        add8(a: Bytes, b: Bytes) -> Bytes {
            [_mm256_add_epi8(a[0], b[0]), _mm256_add_epi8(a[1], b[1])]
        }
        add32(a: Bytes, b: Bytes) -> Bytes {
            [_mm256_add_epi32(a[0], b[0]), _mm256_add_epi32(a[1], b[1])]
        }
        add64(a: Bytes, b: Bytes) -> Bytes {
            [_mm256_add_epi64(a[0], b[0]), _mm256_add_epi64(a[1], b[1])]
        }
        multiply_low(a: Bytes, b: Bytes) -> Bytes {
            [_mm256_mul_epu32(a[0], b[0]), _mm256_mul_epu32(a[1], b[1])]
        }
        multiply_add(a: Bytes, b: Bytes) -> Bytes {
            [_mm256_madd_epi16(a[0], b[0]), _mm256_madd_epi16(a[1], b[1])]
        }
        right32(numbers: Bytes, bits: u32) -> Bytes {
            let bits = _mm_cvtsi32_si128(bits as i32);
            [_mm256_srl_epi32(numbers[0], bits), _mm256_srl_epi32(numbers[1], bits)]
        }
        left32(numbers: Bytes, bits: u32) -> Bytes {
            let bits = _mm_cvtsi32_si128(bits as i32);
            [_mm256_sll_epi32(numbers[0], bits), _mm256_sll_epi32(numbers[1], bits)]
        }
        min32(a: Bytes, b: Bytes) -> Bytes {
            [_mm256_min_epu32(a[0], b[0]), _mm256_min_epu32(a[1], b[1])]
        }
        words_of_halves(numbers: &[u8; 32], mask: u16) -> Bytes {
            // SAFETY: `numbers` is a reference to 32 bytes, and the load is unaligned.
            let numbers = unsafe { _mm256_loadu_si256(numbers.as_ptr().cast()) };
            let mask = _mm256_set1_epi32(4 * i32::from(mask));
            let low = _mm256_and_si256(_mm256_slli_epi32::<2>(numbers), mask);
            [low, _mm256_and_si256(_mm256_srli_epi32::<14>(numbers), mask)]
        }
        half_on(numbers: Bytes, next: u32) -> Bytes {
            let [low, high] = numbers;
            // `alignr` works on halves of registers.
            let next = _mm256_castsi128_si256(_mm_cvtsi32_si128(next as i32));
            let end = _mm256_permute2x128_si256::<0x21>(low, next);
            [high, _mm256_alignr_epi8::<4>(end, low)]
        }
        join_halves(a: Bytes, b: Bytes) -> Bytes {
            let low = _mm256_or_si256(a[0], _mm256_slli_epi32::<16>(a[1]));
            [low, _mm256_or_si256(b[0], _mm256_slli_epi32::<16>(b[1]))]
        }
        fold(bytes: Bytes, case: Bytes) -> Bytes {
            let low = _mm256_and_si256(_mm256_srli_epi32::<1>(bytes[0]), case[0]);
            let high = _mm256_and_si256(_mm256_srli_epi32::<1>(bytes[1]), case[1]);
            [_mm256_or_si256(bytes[0], low), _mm256_or_si256(bytes[1], high)]
        }
        upper_halves(bytes: Bytes) -> Bytes {
            [_mm256_srli_epi64::<32>(bytes[0]), _mm256_srli_epi64::<32>(bytes[1])]
        }
        shuffle_ascii(table: Bytes, index: Bytes) -> Bytes {
            let [low, high] = index;
            [_mm256_shuffle_epi8(table[0], low), _mm256_shuffle_epi8(table[1], high)]
        }
        shuffle(table: Bytes, index: Bytes) -> Bytes {
            // A shuffle yields 0 for an index with the highest bit.
            let low = |index| _mm256_and_si256(index, _mm256_set1_epi8(15));
            [_mm256_shuffle_epi8(table[0], low(index[0])), _mm256_shuffle_epi8(table[1], low(index[1]))]
        }
        equal8(a: Bytes, b: Bytes) -> u64 {
            let low = _mm256_movemask_epi8(_mm256_cmpeq_epi8(a[0], b[0])) as u32;
            let high = _mm256_movemask_epi8(_mm256_cmpeq_epi8(a[1], b[1])) as u32;
            u64::from(low) | u64::from(high) << 32
        }
        nonzero8(bytes: Bytes) -> u64 {
            let zero = _mm256_setzero_si256();
            let low = _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes[0], zero)) as u32;
            let high = _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes[1], zero)) as u32;
            !(u64::from(low) | u64::from(high) << 32)
        }
        nonzero64(bytes: Bytes) -> u8 {
            let zero = |half| _mm256_cmpeq_epi64(half, _mm256_setzero_si256());
            let mask = |half| _mm256_movemask_pd(_mm256_castsi256_pd(zero(half))) as u8;
            !(mask(bytes[0]) | mask(bytes[1]) << 4)
        }
        add_bytes(sums: Bytes, bytes: Bytes) -> Bytes {
            let zero = _mm256_setzero_si256();
            let [low, high] = [_mm256_sad_epu8(bytes[0], zero), _mm256_sad_epu8(bytes[1], zero)];
            [_mm256_add_epi64(sums[0], low), _mm256_add_epi64(sums[1], high)]
        }
        sum64(sums: Bytes) -> u64 {
            let sums = _mm256_add_epi64(sums[0], sums[1]);
            let sums = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
            (_mm_cvtsi128_si64(sums) as u64).wrapping_add(_mm_extract_epi64::<1>(sums) as u64)
        }
        clear32(a: Bytes, b: Bytes) -> Bytes {
            let zero = _mm256_setzero_si256();
            let clear = |a, b| _mm256_cmpeq_epi32(_mm256_and_si256(a, b), zero);
            [clear(a[0], b[0]), clear(a[1], b[1])]
        }
        mask_of_two(answers: [Bytes; 2]) -> u32 {
            let [[a, b], [c, d]] = answers;
            let packed = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
            _mm256_movemask_epi8(packed) as u32
        }
        clear_mask32 [const AMONG: u16] (a: Bytes, b: Bytes) -> u16 {
            let zero = _mm256_setzero_si256();
            let clear = |a, b| _mm256_cmpeq_epi32(_mm256_and_si256(a, b), zero);
            let mask = |half| _mm256_movemask_ps(_mm256_castsi256_ps(half)) as u16;
            (mask(clear(a[0], b[0])) | mask(clear(a[1], b[1])) << 8) & AMONG
        }
        lower_halves(numbers: Bytes) -> __m256i {
            // In the order 0 1 4 5 2 3 6 7.
            let lower = _mm256_shuffle_ps::<0b10_00_10_00>(
                _mm256_castsi256_ps(numbers[0]),
                _mm256_castsi256_ps(numbers[1]),
            );
            _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_castps_si256(lower))
        }
        seven_copies(number: u32) -> __m256i {
            let zero = _mm256_setzero_si256();
            _mm256_blend_epi32::<0x80>(_mm256_set1_epi32(number as i32), zero)
        }
        choose(numbers: __m256i, index: Bytes) -> Bytes {
            // The permutation uses the lowest three bits.
            let index = [_mm256_srli_epi32::<1>(index[0]), _mm256_srli_epi32::<1>(index[1])];
            [
                _mm256_permutevar8x32_epi32(numbers, index[0]),
                _mm256_permutevar8x32_epi32(numbers, index[1]),
            ]
        }
    }

    unsafe_operations! { "avx2,bmi1,bmi2,popcnt,lzcnt"
        load_at(from: *const u8) -> Bytes {
            // SAFETY: our caller promises 64 bytes from `from` on.
            unsafe { load(from) }
        }
        gather(table: *const u32, offsets: Bytes) -> Bytes {
            // SAFETY: our caller promises four bytes at each offset from `table`.
            let low = unsafe { _mm256_i32gather_epi32::<1>(table.cast(), offsets[0]) };
            // SAFETY: the same promise: `offsets[1]` has the last eight of the offsets.
            let high = unsafe { _mm256_i32gather_epi32::<1>(table.cast(), offsets[1]) };
            [low, high]
        }
        append_places(places: &[u8; 64], mask: u64, base: u16, to: *mut u16) -> usize {
            let base = _mm_set1_epi16(base as i16);
            let mut len = 0;
            for group in 0..8 {
                let mask = (mask >> (8 * group)) as u8;
                let eight = places.as_ptr().wrapping_add(8 * group);
                // SAFETY: `places` has 64 bytes, eight for each of the eight groups.
                let eight = unsafe { _mm_loadl_epi64(eight.cast()) };
                let order = u64::from_le_bytes(SET_BITS[usize::from(mask)]);
                let some = _mm_shuffle_epi8(eight, _mm_cvtsi64_si128(order as i64));
                let some = _mm_add_epi16(_mm_cvtepu8_epi16(some), base);
                // SAFETY: each earlier group of eight bits added at most eight to `len`. So these
                // eight elements end at or before those of the group's own index, which are among
                // the 64 that our caller promises.
                unsafe { _mm_storeu_si128(to.wrapping_add(len).cast(), some) };
                len += mask.count_ones() as usize;
            }
            len
        }
        append_fields [const SHIFT: u32, const FIELD: u32] (
            numbers: Bytes, mask: u16, to: *mut u32
        ) -> usize {
            let base = _mm256_permutevar8x32_epi32(numbers[1], _mm256_set1_epi32(7));
            let shift = _mm_cvtsi32_si128(SHIFT as i32);
            let write = |half: __m256i, mask: u8, to: *mut u32| {
                let order = u64::from_le_bytes(SET_BITS[usize::from(mask)]);
                let order = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(order as i64));
                let some = _mm256_srl_epi32(_mm256_permutevar8x32_epi32(half, order), shift);
                let some = _mm256_and_si256(some, _mm256_set1_epi32(FIELD as i32));
                let some = _mm256_add_epi32(some, base);
                // SAFETY: the first half is written to the start, the second at most eight elements
                // after it. So these eight elements are among the 16 that our caller promises.
                unsafe { _mm256_storeu_si256(to.cast(), some) };
            };
            let [low, high] = mask.to_le_bytes();
            let first = low.count_ones() as usize;
            write(numbers[0], low, to);
            write(numbers[1], high, to.wrapping_add(first));
            first + high.count_ones() as usize
        }
        fill32(number: u32, _count: usize, to: *mut u32) -> () {
            let number = _mm256_set1_epi32(number as i32);
            for half in 0..2 {
                // SAFETY: eight of the 16 elements that our caller promises.
                unsafe { _mm256_storeu_si256(to.wrapping_add(8 * half).cast(), number) };
            }
        }
        differ [const FOLD: bool] (text: *const u8, pattern: *const u8, case: u8) -> u32 {
            // SAFETY: our caller promises 32 bytes, and the load is unaligned.
            let mut text = unsafe { _mm256_loadu_si256(text.cast()) };
            // SAFETY: our caller promises 32 bytes at each pointer, and the load is unaligned.
            let pattern = unsafe { _mm256_loadu_si256(pattern.cast()) };
            if FOLD {
                let above = _mm256_cmpgt_epi8(pattern, _mm256_set1_epi8(b'a' as i8 - 1));
                let beyond = _mm256_cmpgt_epi8(pattern, _mm256_set1_epi8(b'z' as i8));
                let letters = _mm256_andnot_si256(beyond, above);
                let case = _mm256_and_si256(letters, _mm256_set1_epi8(case as i8));
                text = _mm256_or_si256(text, case);
            }
            !_mm256_movemask_epi8(_mm256_cmpeq_epi8(text, pattern)) as u32
        }
    }
}
