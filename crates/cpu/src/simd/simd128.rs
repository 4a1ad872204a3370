//! The vector operations with WebAssembly's simd128: 64 bytes in four registers.
//!
//! Whether a module uses these instructions is decided when it is compiled: a WebAssembly runtime
//! that lacks them refuses the whole module. So no function here enables a target feature, and
//! [`Simd128`] exists only where the whole module is compiled with simd128.

use super::Simd128;
use super::operation::each;
use super::vector::{Vector, Work, in_order};
use std::arch::wasm32::*;

type Bytes = [v128; 4];

impl Vector for Simd128 {
    type Bytes = Bytes;
    /// A byte for each number, with all bits if the answer is yes.
    type Answers = v128;
    type Eight = [v128; 2];

    const ENTRIES: usize = 16;
    const COMPRESSES: bool = false;
    const LOADS_SOME: bool = false;
    const SHUFFLES_ASCII: bool = false;
    const GATHERS: bool = false;
    const AHEAD: usize = 2;
    const BIT_ORDER: [u8; 32] = in_order();

    #[inline(always)]
    fn run<W: Work>(self, work: W) -> W::Output {
        // Not inlined: several loops in one function would compete for registers.
        #[inline(never)]
        fn enter<W: Work>(token: Simd128, work: W) -> W::Output {
            work.run(token)
        }
        enter(self, work)
    }

    #[inline(always)]
    fn splat8(self, byte: u8) -> Bytes {
        [u8x16_splat(byte); 4]
    }

    #[inline(always)]
    fn splat32(self, number: u32) -> Bytes {
        [u32x4_splat(number); 4]
    }

    #[inline(always)]
    fn splat64(self, number: u64) -> Bytes {
        [u64x2_splat(number); 4]
    }

    #[inline(always)]
    fn repeat(self, table: &[u8; 16]) -> Bytes {
        // SAFETY: `table` is a reference to 16 bytes.
        [unsafe { load16(table.as_ptr()) }; 4]
    }

    #[inline(always)]
    unsafe fn load_at(self, from: *const u8) -> Bytes {
        // SAFETY: our caller promises 64 bytes from `from` on.
        [0, 16, 32, 48].map(|at| unsafe { load16(from.wrapping_add(at)) })
    }

    #[inline(always)]
    fn load_some(self, from: &[u8]) -> Bytes {
        let mut bytes = [0_u8; 64];
        let len = from.len().min(64);
        bytes[..len].copy_from_slice(&from[..len]);
        self.load(&bytes)
    }

    #[inline(always)]
    fn words(self, bytes: Bytes) -> [u32; 16] {
        let mut words = [0; 16];
        for (to, quarter) in words.as_chunks_mut::<4>().0.iter_mut().zip(bytes) {
            // SAFETY: `to` is a reference to four numbers.
            unsafe { v128_store(to.as_mut_ptr().cast(), quarter) };
        }
        words
    }

    #[inline(always)]
    fn and(self, a: Bytes, b: Bytes) -> Bytes {
        each!(v128_and: a, b)
    }

    #[inline(always)]
    fn or(self, a: Bytes, b: Bytes) -> Bytes {
        each!(v128_or: a, b)
    }

    #[inline(always)]
    fn xor(self, a: Bytes, b: Bytes) -> Bytes {
        each!(v128_xor: a, b)
    }

    #[inline(always)]
    fn min8(self, a: Bytes, b: Bytes) -> Bytes {
        each!(u8x16_min: a, b)
    }

    #[inline(always)]
    fn add8(self, a: Bytes, b: Bytes) -> Bytes {
        each!(u8x16_add: a, b)
    }

    #[inline(always)]
    fn add32(self, a: Bytes, b: Bytes) -> Bytes {
        each!(u32x4_add: a, b)
    }

    #[inline(always)]
    fn add64(self, a: Bytes, b: Bytes) -> Bytes {
        each!(u64x2_add: a, b)
    }

    #[inline(always)]
    fn multiply_low(self, a: Bytes, b: Bytes) -> Bytes {
        each!(multiply_low: a, b)
    }

    #[inline(always)]
    fn multiply_add(self, a: Bytes, b: Bytes) -> Bytes {
        each!(i32x4_dot_i16x8: a, b)
    }

    #[inline(always)]
    fn right32(self, numbers: Bytes, bits: u32) -> Bytes {
        each!(u32x4_shr: numbers, [bits; 4])
    }

    #[inline(always)]
    fn left32(self, numbers: Bytes, bits: u32) -> Bytes {
        each!(u32x4_shl: numbers, [bits; 4])
    }

    #[inline(always)]
    fn min32(self, a: Bytes, b: Bytes) -> Bytes {
        each!(u32x4_min: a, b)
    }

    #[inline(always)]
    fn words_of_halves(self, numbers: &[u8; 32], mask: u16) -> Bytes {
        let at = numbers.as_ptr();
        // SAFETY: both halves of 32 bytes have 16.
        let [first, second] = [0, 16].map(|half| unsafe { load16(at.wrapping_add(half)) });
        let low = |numbers| u32x4_shl(numbers, 2);
        let high = |numbers| u32x4_shr(numbers, 14);
        let words = [low(first), low(second), high(first), high(second)];
        each!(v128_and: words, [u32x4_splat(4 * u32::from(mask)); 4])
    }

    #[inline(always)]
    fn half_on(self, numbers: Bytes, next: u32) -> Bytes {
        let [first, second, third, fourth] = numbers;
        [third, fourth, four_on(first, second), four_on(second, u32x4_splat(next))]
    }

    #[inline(always)]
    fn join_halves(self, a: Bytes, b: Bytes) -> Bytes {
        each!(or_left: [a[0], a[1], b[0], b[1]], [a[2], a[3], b[2], b[3]])
    }

    #[inline(always)]
    fn fold(self, bytes: Bytes, case: Bytes) -> Bytes {
        each!(v128_or: bytes, each!(v128_and: each!(halve: bytes), case))
    }

    #[inline(always)]
    fn upper_halves(self, bytes: Bytes) -> Bytes {
        each!(upper_halves: bytes)
    }

    #[inline(always)]
    fn shuffle(self, table: Bytes, index: Bytes) -> Bytes {
        // An index beyond the table yields 0.
        each!(i8x16_swizzle: table, each!(v128_and: index, [u8x16_splat(15); 4]))
    }

    #[inline(always)]
    fn equal8(self, a: Bytes, b: Bytes) -> u64 {
        mask(each!(u8x16_eq: a, b))
    }

    #[inline(always)]
    fn nonzero8(self, bytes: Bytes) -> u64 {
        mask(each!(u8x16_ne: bytes, [u8x16_splat(0); 4]))
    }

    #[inline(always)]
    fn nonzero64(self, bytes: Bytes) -> u8 {
        let [a, b, c, d] = each!(i64x2_ne: bytes, [i64x2_splat(0); 4]);
        let [a, b, c, d] = [i64x2_bitmask(a), i64x2_bitmask(b), i64x2_bitmask(c), i64x2_bitmask(d)];
        a | b << 2 | c << 4 | d << 6
    }

    #[inline(always)]
    fn add_bytes(self, sums: Bytes, bytes: Bytes) -> Bytes {
        each!(add_bytes: sums, bytes)
    }

    #[inline(always)]
    fn sum64(self, sums: Bytes) -> u64 {
        let [a, b, c, d] = sums;
        let sums = u64x2_add(u64x2_add(a, b), u64x2_add(c, d));
        u64x2_extract_lane::<0>(sums).wrapping_add(u64x2_extract_lane::<1>(sums))
    }

    #[inline(always)]
    fn clear32(self, a: Bytes, b: Bytes) -> v128 {
        let [a, b, c, d] = each!(i32x4_eq: each!(v128_and: a, b), [i32x4_splat(0); 4]);
        i8x16_narrow_i16x8(i16x8_narrow_i32x4(a, b), i16x8_narrow_i32x4(c, d))
    }

    #[inline(always)]
    fn mask_of_two(self, answers: [v128; 2]) -> u32 {
        u32::from(i8x16_bitmask(answers[0])) | u32::from(i8x16_bitmask(answers[1])) << 16
    }

    #[inline(always)]
    fn clear_mask32<const AMONG: u16>(self, a: Bytes, b: Bytes) -> u16 {
        i8x16_bitmask(self.clear32(a, b)) & AMONG
    }

    #[inline(always)]
    fn lower_halves(self, numbers: Bytes) -> [v128; 2] {
        let [a, b, c, d] = numbers;
        [i32x4_shuffle::<0, 2, 4, 6>(a, b), i32x4_shuffle::<0, 2, 4, 6>(c, d)]
    }

    #[inline(always)]
    fn seven_copies(self, number: u32) -> [v128; 2] {
        let all = u32x4_splat(number);
        [all, u32x4_replace_lane::<3>(all, 0)]
    }

    #[inline(always)]
    fn choose(self, numbers: [v128; 2], index: Bytes) -> Bytes {
        each!(choose: [numbers; 4], index)
    }

    #[inline(always)]
    unsafe fn gather(self, table: *const u32, offsets: Bytes) -> Bytes {
        // simd128 has no gather.
        // SAFETY: `gather_by_loads` requires of the table and the offsets what our caller promises.
        unsafe { self.gather_by_loads(table, &self.words(offsets)) }
    }

    #[inline(always)]
    unsafe fn append_places(
        self,
        places: &[u8; 64],
        mut mask: u64,
        base: u16,
        to: *mut u16,
    ) -> usize {
        let count = mask.count_ones() as usize;
        for i in 0..count {
            let place = places[(mask.trailing_zeros() & 63) as usize];
            // SAFETY: `i` is below the number of bits, at most 64, and our caller promises as many
            // elements.
            unsafe { to.wrapping_add(i).write(base.wrapping_add(u16::from(place))) };
            mask &= mask - 1;
        }
        count
    }

    #[inline(always)]
    unsafe fn append_fields<const SHIFT: u32, const FIELD: u32>(
        self,
        numbers: Bytes,
        mut mask: u16,
        to: *mut u32,
    ) -> usize {
        let (numbers, count) = (self.words(numbers), mask.count_ones() as usize);
        for i in 0..count {
            let field = numbers[(mask.trailing_zeros() & 15) as usize] >> SHIFT & FIELD;
            // SAFETY: `i` is below the number of bits, at most 16, and our caller promises as many
            // elements.
            unsafe { to.wrapping_add(i).write(numbers[15].wrapping_add(field)) };
            mask &= mask - 1;
        }
        count
    }

    #[inline(always)]
    unsafe fn fill32(self, number: u32, _count: usize, to: *mut u32) {
        let number = u32x4_splat(number);
        for quarter in 0..4 {
            // SAFETY: four of the 16 elements that our caller promises.
            unsafe { v128_store(to.wrapping_add(4 * quarter).cast(), number) };
        }
    }

    #[inline(always)]
    unsafe fn differ<const FOLD: bool>(self, text: *const u8, pattern: *const u8, case: u8) -> u32 {
        // SAFETY: our caller promises 32 bytes.
        let texts = [0, 16].map(|at| unsafe { load16(text.wrapping_add(at)) });
        // SAFETY: our caller promises 32 bytes at each pointer.
        let patterns = [0, 16].map(|at| unsafe { load16(pattern.wrapping_add(at)) });
        let low = equal::<FOLD>(texts[0], patterns[0], case);
        let high = equal::<FOLD>(texts[1], patterns[1], case);
        !(u32::from(i8x16_bitmask(low)) | u32::from(i8x16_bitmask(high)) << 16)
    }
}

/// Loads 16 bytes.
///
/// # Safety
/// The 16 bytes from `from` on can be read.
#[inline(always)]
unsafe fn load16(from: *const u8) -> v128 {
    // SAFETY: our caller promises 16 bytes, and the load needs no alignment.
    unsafe { v128_load(from.cast()) }
}

/// Bit i says whether byte i, which is 0 or 255, is 255.
#[inline(always)]
fn mask(answers: Bytes) -> u64 {
    let [a, b, c, d] = answers;
    let [a, b, c, d] = [i8x16_bitmask(a), i8x16_bitmask(b), i8x16_bitmask(c), i8x16_bitmask(d)];
    u64::from(a) | u64::from(b) << 16 | u64::from(c) << 32 | u64::from(d) << 48
}

#[inline(always)]
fn multiply_low(a: v128, b: v128) -> v128 {
    let low = |numbers| i32x4_shuffle::<0, 2, 0, 2>(numbers, numbers);
    u64x2_extmul_low_u32x4(low(a), low(b))
}

/// Shifts each byte right by one. Its highest bit becomes a bit of its neighbor, which is harmless:
/// no bit of a case mask is the highest.
#[inline(always)]
fn halve(bytes: v128) -> v128 {
    u16x8_shr(bytes, 1)
}

#[inline(always)]
fn upper_halves(bytes: v128) -> v128 {
    u64x2_shr(bytes, 32)
}

#[inline(always)]
fn add_bytes(sums: v128, bytes: v128) -> v128 {
    let fours = u32x4_extadd_pairwise_u16x8(u16x8_extadd_pairwise_u8x16(bytes));
    let low = v128_and(fours, u64x2_splat(u64::from(u32::MAX)));
    u64x2_add(sums, u64x2_add(low, u64x2_shr(fours, 32)))
}

/// See [`Vector::choose`].
#[inline(always)]
fn choose(numbers: [v128; 2], index: v128) -> v128 {
    let even = v128_and(index, u32x4_splat(14));
    // Bits 1 to 3 are twice the index of the number, and its bytes begin at four times the index.
    let bytes = u32x4_add(u32x4_mul(even, u32x4_splat(0x0202_0202)), u32x4_splat(0x0302_0100));
    // A swizzle yields 0 for an index beyond its half.
    let high = i8x16_swizzle(numbers[1], u8x16_sub(bytes, u8x16_splat(16)));
    v128_or(i8x16_swizzle(numbers[0], bytes), high)
}

/// Which bytes of a text equal those of a pattern. See [`Vector::differ`].
#[inline(always)]
fn equal<const FOLD: bool>(text: v128, pattern: v128, case: u8) -> v128 {
    if !FOLD {
        return u8x16_eq(text, pattern);
    }
    let letters = u8x16_lt(u8x16_sub(pattern, u8x16_splat(b'a')), u8x16_splat(26));
    u8x16_eq(v128_or(text, v128_and(letters, u8x16_splat(case))), pattern)
}

/// `b` 16 bits higher, or-ed to `a`.
#[inline(always)]
fn or_left(a: v128, b: v128) -> v128 {
    v128_or(a, u32x4_shl(b, 16))
}

/// The 16 bytes that begin four bytes after the first one of two registers.
#[inline(always)]
fn four_on(a: v128, b: v128) -> v128 {
    i32x4_shuffle::<1, 2, 3, 4>(a, b)
}
