//! The vector operations with NEON: 64 bytes in four registers.
//!
//! NEON has no `movemask`: a mask keeps one bit of each byte and adds neighbors until each byte has
//! the bits of eight.
//!
//! SVE2 has no form of its own. Rust's intrinsics for it are experimental. Its vectors have 128
//! bits on Neoverse N2, V2 and V3, as NEON's, so most loops would take as many instructions. Its
//! gathers may help the q-gram filter and the automata; that is not measured.

use super::Neon;
use super::operation::{each, operations, unsafe_operations};
use super::vector::{Vector, Work, in_order};
use std::arch::aarch64::*;

type Bytes = [uint8x16_t; 4];

/// The mask bit of each byte among eight.
static BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

/// For each mask of four numbers, the byte indices of the numbers whose bits are set. A table
/// look-up by them moves these numbers to the front.
static NUMBERS: [[u8; 16]; 16] = numbers();

const fn numbers() -> [[u8; 16]; 16] {
    let mut table = [[0; 16]; 16];
    let mut mask = 0;
    while mask < 16 {
        let (mut bit, mut at) = (0, 0);
        while bit < 16 {
            if mask >> (bit / 4) & 1 == 1 {
                table[mask][at] = bit as u8;
                at += 1;
            }
            bit += 1;
        }
        mask += 1;
    }
    table
}

impl Vector for Neon {
    type Bytes = Bytes;
    /// A byte for each number, with all bits if the answer is no.
    type Answers = uint8x16_t;
    type Eight = uint8x16x2_t;

    const ENTRIES: usize = 64;
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
        #[target_feature(enable = "neon")]
        fn enter<W: Work>(token: Neon, work: W) -> W::Output {
            work.run(token)
        }
        // SAFETY: `self` proves that detection found NEON, see `simd::isa`.
        unsafe { enter(self, work) }
    }

    #[inline(always)]
    unsafe fn gather(self, table: *const u32, offsets: Bytes) -> Bytes {
        // NEON has no gather.
        // SAFETY: `gather_by_loads` requires of the table and the offsets what our caller promises.
        unsafe { self.gather_by_loads(table, &self.words(offsets)) }
    }

    operations! { "neon"
        splat8(byte: u8) -> Bytes { [vdupq_n_u8(byte); 4] }
        splat32(number: u32) -> Bytes { [vreinterpretq_u8_u32(vdupq_n_u32(number)); 4] }
        splat64(number: u64) -> Bytes { [vreinterpretq_u8_u64(vdupq_n_u64(number)); 4] }
        repeat(table: &[u8; 16]) -> Bytes {
            // SAFETY: `table` is a reference to 16 bytes.
            [unsafe { vld1q_u8(table.as_ptr()) }; 4]
        }
        load_some(from: &[u8]) -> Bytes {
            let mut bytes = [0_u8; 64];
            let len = from.len().min(64);
            bytes[..len].copy_from_slice(&from[..len]);
            // SAFETY: `bytes` has 64 bytes.
            unsafe { load(bytes.as_ptr()) }
        }
        words(bytes: Bytes) -> [u32; 16] {
            let mut words = [0; 16];
            for (to, quarter) in words.as_chunks_mut::<4>().0.iter_mut().zip(bytes) {
                // SAFETY: `to` is a reference to four numbers.
                unsafe { vst1q_u32(to.as_mut_ptr(), vreinterpretq_u32_u8(quarter)) };
            }
            words
        }
        and(a: Bytes, b: Bytes) -> Bytes { each!(vandq_u8: a, b) }
        or(a: Bytes, b: Bytes) -> Bytes { each!(vorrq_u8: a, b) }
        xor(a: Bytes, b: Bytes) -> Bytes { each!(veorq_u8: a, b) }
        min8(a: Bytes, b: Bytes) -> Bytes { each!(vminq_u8: a, b) }
        add8(a: Bytes, b: Bytes) -> Bytes { each!(vaddq_u8: a, b) }
        add32(a: Bytes, b: Bytes) -> Bytes { each!(add32: a, b) }
        add64(a: Bytes, b: Bytes) -> Bytes { each!(add64: a, b) }
        multiply_low(a: Bytes, b: Bytes) -> Bytes { each!(multiply_low: a, b) }
        multiply_add(a: Bytes, b: Bytes) -> Bytes {
            let [first, second] = multiply_add([a[0], a[1]], [b[0], b[1]]);
            let [third, fourth] = multiply_add([a[2], a[3]], [b[2], b[3]]);
            [first, second, third, fourth]
        }
        right32(numbers: Bytes, bits: u32) -> Bytes {
            each!(shift32: numbers, [-(bits as i32); 4])
        }
        left32(numbers: Bytes, bits: u32) -> Bytes { each!(shift32: numbers, [bits as i32; 4]) }
        min32(a: Bytes, b: Bytes) -> Bytes { each!(min32: a, b) }
        words_of_halves(numbers: &[u8; 32], mask: u16) -> Bytes {
            let at = numbers.as_ptr();
            // SAFETY: both halves of 32 bytes have 16.
            let [first, second] = [0, 16].map(|half| unsafe { vld1q_u8(at.wrapping_add(half)) });
            let numbers = [first, second, first, second];
            let mask = vreinterpretq_u8_u32(vdupq_n_u32(4 * u32::from(mask)));
            each!(vandq_u8: each!(shift32: numbers, [2, 2, -14, -14]), [mask; 4])
        }
        half_on(numbers: Bytes, next: u32) -> Bytes {
            let [first, second, third, fourth] = numbers;
            let next = vreinterpretq_u8_u32(vdupq_n_u32(next));
            [third, fourth, vextq_u8::<4>(first, second), vextq_u8::<4>(second, next)]
        }
        join_halves(a: Bytes, b: Bytes) -> Bytes {
            each!(or_left: [a[0], a[1], b[0], b[1]], [a[2], a[3], b[2], b[3]])
        }
        fold(bytes: Bytes, case: Bytes) -> Bytes {
            each!(vorrq_u8: bytes, each!(vandq_u8: each!(halve: bytes), case))
        }
        upper_halves(bytes: Bytes) -> Bytes { each!(upper_halves: bytes) }
        shuffle64(table: Bytes, index: Bytes) -> Bytes {
            let table = uint8x16x4_t(table[0], table[1], table[2], table[3]);
            // An index beyond the table yields 0.
            let index = each!(vandq_u8: index, [vdupq_n_u8(63); 4]);
            each!(vqtbl4q_u8: [table; 4], index)
        }
        shuffle(table: Bytes, index: Bytes) -> Bytes {
            each!(vqtbl1q_u8: [table[0]; 4], each!(vandq_u8: index, [vdupq_n_u8(15); 4]))
        }
        equal8(a: Bytes, b: Bytes) -> u64 { mask(each!(vceqq_u8: a, b)) }
        nonzero8(bytes: Bytes) -> u64 { mask(each!(vtstq_u8: bytes, bytes)) }
        nonzero64(bytes: Bytes) -> u8 {
            let [a, b, c, d] = each!(nonzero64: bytes);
            let halves = vuzp1q_u16(
                vreinterpretq_u16_u32(vuzp1q_u32(a, b)),
                vreinterpretq_u16_u32(vuzp1q_u32(c, d)),
            );
            // SAFETY: the table has 16 bytes, of which this loads eight.
            let bits = unsafe { vld1_u8(BITS.as_ptr()) };
            vaddv_u8(vand_u8(vmovn_u16(halves), bits))
        }
        add_bytes(sums: Bytes, bytes: Bytes) -> Bytes { each!(add_bytes: sums, bytes) }
        sum64(sums: Bytes) -> u64 {
            let sums = add64(add64(sums[0], sums[1]), add64(sums[2], sums[3]));
            vaddvq_u64(vreinterpretq_u64_u8(sums))
        }
        clear32(a: Bytes, b: Bytes) -> uint8x16_t { narrow(each!(common: a, b)) }
        mask_of_two(answers: [uint8x16_t; 2]) -> u32 { !mask32(answers[0], answers[1]) }
        clear_mask32 [const AMONG: u16] (a: Bytes, b: Bytes) -> u16 {
            !mask16(narrow(each!(common: a, b))) & AMONG
        }
        lower_halves(numbers: Bytes) -> uint8x16x2_t {
            uint8x16x2_t(low_halves(numbers[0], numbers[1]), low_halves(numbers[2], numbers[3]))
        }
        seven_copies(number: u32) -> uint8x16x2_t {
            let all = vdupq_n_u32(number);
            let last = vsetq_lane_u32::<3>(0, all);
            uint8x16x2_t(vreinterpretq_u8_u32(all), vreinterpretq_u8_u32(last))
        }
        choose(numbers: uint8x16x2_t, index: Bytes) -> Bytes {
            each!(choose: [numbers; 4], index)
        }
    }

    unsafe_operations! { "neon"
        load_at(from: *const u8) -> Bytes {
            // SAFETY: our caller promises 64 bytes from `from` on.
            unsafe { load(from) }
        }
        append_places(places: &[u8; 64], mask: u64, base: u16, to: *mut u16) -> usize {
            let mut mask = mask;
            // Usually four are enough, so the branch on their number is predictable.
            let count = mask.count_ones() as usize;
            for four in 0..count.div_ceil(4) {
                for i in 4 * four..4 * four + 4 {
                    let place = places[(mask.trailing_zeros() & 63) as usize];
                    // SAFETY: `i` is below the number of bits, at most 64, rounded up to a multiple
                    // of four, and our caller promises 64 elements.
                    unsafe { to.wrapping_add(i).write(base.wrapping_add(u16::from(place))) };
                    mask &= mask.wrapping_sub(1);
                }
            }
            count
        }
        append_fields [const SHIFT: u32, const FIELD: u32] (
            numbers: Bytes, mask: u16, to: *mut u32
        ) -> usize {
            let base = vdupq_laneq_u32::<3>(vreinterpretq_u32_u8(numbers[3]));
            let shift = vdupq_n_s32(-(SHIFT as i32));
            let mut len = 0;
            for (i, four) in numbers.into_iter().enumerate() {
                let mask = usize::from(mask >> (4 * i) & 15);
                // SAFETY: each entry of the table has 16 bytes.
                let order = unsafe { vld1q_u8(NUMBERS[mask].as_ptr()) };
                let some = vreinterpretq_u32_u8(vqtbl1q_u8(four, order));
                let some = vandq_u32(vshlq_u32(some, shift), vdupq_n_u32(FIELD));
                // SAFETY: each earlier mask has at most four bits, so `len` is at most `4 * i`, and
                // the last write ends at element 16. Our caller promises 16.
                unsafe { vst1q_u32(to.wrapping_add(len), vaddq_u32(some, base)) };
                // The number of bits of each mask of four.
                len += (0x4332_3221_3221_2110_u64 >> (4 * mask) & 15) as usize;
            }
            len
        }
        fill32(number: u32, _count: usize, to: *mut u32) -> () {
            let number = vdupq_n_u32(number);
            for quarter in 0..4 {
                // SAFETY: four of the 16 elements that our caller promises.
                unsafe { vst1q_u32(to.wrapping_add(4 * quarter), number) };
            }
        }
        differ [const FOLD: bool] (text: *const u8, pattern: *const u8, case: u8) -> u32 {
            // SAFETY: our caller promises 32 bytes.
            let texts = unsafe { [vld1q_u8(text), vld1q_u8(text.wrapping_add(16))] };
            // SAFETY: our caller promises 32 bytes at each pointer.
            let patterns = unsafe { [vld1q_u8(pattern), vld1q_u8(pattern.wrapping_add(16))] };
            let low = equal::<FOLD>(texts[0], patterns[0], case);
            let high = equal::<FOLD>(texts[1], patterns[1], case);
            !mask32(low, high)
        }
    }
}

/// Loads 64 bytes.
///
/// # Safety
/// The 64 bytes from `from` on can be read.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn load(from: *const u8) -> Bytes {
    // SAFETY: our caller promises 64 bytes from `from` on.
    unsafe {
        [
            vld1q_u8(from),
            vld1q_u8(from.wrapping_add(16)),
            vld1q_u8(from.wrapping_add(32)),
            vld1q_u8(from.wrapping_add(48)),
        ]
    }
}

/// One bit of each byte.
#[inline]
#[target_feature(enable = "neon")]
fn bit_of_each(answers: uint8x16_t) -> uint8x16_t {
    // SAFETY: the table has 16 bytes.
    vandq_u8(answers, unsafe { vld1q_u8(BITS.as_ptr()) })
}

/// Bit i says whether byte i, which is 0 or 255, is 255.
#[inline]
#[target_feature(enable = "neon")]
fn mask(answers: Bytes) -> u64 {
    let [a, b, c, d] = each!(bit_of_each: answers);
    let pairs = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(pairs, pairs)))
}

/// The lowest bytes of sixteen numbers.
#[inline]
#[target_feature(enable = "neon")]
fn narrow([a, b, c, d]: [uint32x4_t; 4]) -> uint8x16_t {
    let low = vuzp1q_u16(vreinterpretq_u16_u32(a), vreinterpretq_u16_u32(b));
    let high = vuzp1q_u16(vreinterpretq_u16_u32(c), vreinterpretq_u16_u32(d));
    vuzp1q_u8(vreinterpretq_u8_u16(low), vreinterpretq_u8_u16(high))
}

/// The same as [`mask`] for 32 bytes.
#[inline]
#[target_feature(enable = "neon")]
fn mask32(low: uint8x16_t, high: uint8x16_t) -> u32 {
    let pairs = vpaddq_u8(bit_of_each(low), bit_of_each(high));
    let fours = vpaddq_u8(pairs, pairs);
    vgetq_lane_u32::<0>(vreinterpretq_u32_u8(vpaddq_u8(fours, fours)))
}

/// The same as [`mask`] for 16 bytes.
#[inline]
#[target_feature(enable = "neon")]
fn mask16(answers: uint8x16_t) -> u16 {
    let bits = bit_of_each(answers);
    let pairs = vpaddq_u8(bits, bits);
    let fours = vpaddq_u8(pairs, pairs);
    vgetq_lane_u16::<0>(vreinterpretq_u16_u8(vpaddq_u8(fours, fours)))
}

#[inline]
#[target_feature(enable = "neon")]
fn add32(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    vreinterpretq_u8_u32(vaddq_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)))
}

#[inline]
#[target_feature(enable = "neon")]
fn add64(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    vreinterpretq_u8_u64(vaddq_u64(vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b)))
}

/// The lower halves of four 64-bit numbers.
#[inline]
#[target_feature(enable = "neon")]
fn low_halves(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    vreinterpretq_u8_u32(vuzp1q_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)))
}

#[inline]
#[target_feature(enable = "neon")]
fn multiply_low(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    let (a, b) = (vmovn_u64(vreinterpretq_u64_u8(a)), vmovn_u64(vreinterpretq_u64_u8(b)));
    vreinterpretq_u8_u64(vmull_u32(a, b))
}

/// Lower halves times lower halves, plus upper halves times upper halves. A pair of registers takes
/// six instructions. Single registers would take four each, since the compiler moves halves of
/// constants then.
#[inline]
#[target_feature(enable = "neon")]
fn multiply_add(a: [uint8x16_t; 2], b: [uint8x16_t; 2]) -> [uint8x16_t; 2] {
    let (a_low, a_high) = halves(a);
    let (b_low, b_high) = halves(b);
    let first = vmull_s16(vget_low_s16(a_low), vget_low_s16(b_low));
    let first = vmlal_s16(first, vget_low_s16(a_high), vget_low_s16(b_high));
    let second = vmlal_high_s16(vmull_high_s16(a_low, b_low), a_high, b_high);
    [vreinterpretq_u8_s32(first), vreinterpretq_u8_s32(second)]
}

/// The lower and the upper halves of 32-bit numbers.
#[inline]
#[target_feature(enable = "neon")]
fn halves(pair: [uint8x16_t; 2]) -> (int16x8_t, int16x8_t) {
    let (a, b) = (vreinterpretq_s16_u8(pair[0]), vreinterpretq_s16_u8(pair[1]));
    (vuzp1q_s16(a, b), vuzp2q_s16(a, b))
}

/// Shifts left, or right if `left` is negative.
#[inline]
#[target_feature(enable = "neon")]
fn shift32(numbers: uint8x16_t, left: i32) -> uint8x16_t {
    vreinterpretq_u8_u32(vshlq_u32(vreinterpretq_u32_u8(numbers), vdupq_n_s32(left)))
}

/// `b` 16 bits higher, or-ed to `a`.
#[inline]
#[target_feature(enable = "neon")]
fn or_left(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    vorrq_u8(a, shift32(b, 16))
}

#[inline]
#[target_feature(enable = "neon")]
fn min32(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    vreinterpretq_u8_u32(vminq_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)))
}

#[inline]
#[target_feature(enable = "neon")]
fn halve(bytes: uint8x16_t) -> uint8x16_t {
    vshrq_n_u8::<1>(bytes)
}

#[inline]
#[target_feature(enable = "neon")]
fn upper_halves(bytes: uint8x16_t) -> uint8x16_t {
    vreinterpretq_u8_u64(vshrq_n_u64::<32>(vreinterpretq_u64_u8(bytes)))
}

#[inline]
#[target_feature(enable = "neon")]
fn nonzero64(bytes: uint8x16_t) -> uint32x4_t {
    let numbers = vreinterpretq_u64_u8(bytes);
    vreinterpretq_u32_u64(vtstq_u64(numbers, numbers))
}

#[inline]
#[target_feature(enable = "neon")]
fn add_bytes(sums: uint8x16_t, bytes: uint8x16_t) -> uint8x16_t {
    let fours = vpaddlq_u16(vpaddlq_u8(bytes));
    vreinterpretq_u8_u64(vpadalq_u32(vreinterpretq_u64_u8(sums), fours))
}

/// Which numbers have a bit in common.
#[inline]
#[target_feature(enable = "neon")]
fn common(a: uint8x16_t, b: uint8x16_t) -> uint32x4_t {
    vtstq_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b))
}

/// See [`Vector::choose`].
#[inline]
#[target_feature(enable = "neon")]
fn choose(numbers: uint8x16x2_t, index: uint8x16_t) -> uint8x16_t {
    let even = vandq_u32(vreinterpretq_u32_u8(index), vdupq_n_u32(14));
    // Bits 1 to 3 are twice the index of the number, and its bytes begin at four times the index.
    let bytes = vmlaq_u32(vdupq_n_u32(0x0302_0100), even, vdupq_n_u32(0x0202_0202));
    vqtbl2q_u8(numbers, vreinterpretq_u8_u32(bytes))
}

/// Which bytes of a text equal those of a pattern. See [`Vector::differ`].
#[inline]
#[target_feature(enable = "neon")]
fn equal<const FOLD: bool>(text: uint8x16_t, pattern: uint8x16_t, case: u8) -> uint8x16_t {
    if !FOLD {
        return vceqq_u8(text, pattern);
    }
    let letters = vcltq_u8(vsubq_u8(pattern, vdupq_n_u8(b'a')), vdupq_n_u8(26));
    vceqq_u8(vorrq_u8(text, vandq_u8(letters, vdupq_n_u8(case))), pattern)
}
