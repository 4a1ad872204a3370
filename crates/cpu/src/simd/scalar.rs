//! The vector operations in plain Rust, for every CPU: the reference for the other instances.

use super::vector::{Vector, Work, in_order};
use std::array::from_fn;

/// The token of the scalar form. It needs no proof.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar;

type Bytes = [u8; 64];

#[inline(always)]
fn numbers32(bytes: Bytes) -> [u32; 16] {
    from_fn(|i| u32::from_le_bytes(from_fn(|k| bytes[4 * i + k])))
}

#[inline(always)]
fn numbers64(bytes: Bytes) -> [u64; 8] {
    from_fn(|i| u64::from_le_bytes(from_fn(|k| bytes[8 * i + k])))
}

#[inline(always)]
fn bytes32(numbers: [u32; 16]) -> Bytes {
    from_fn(|i| numbers[i / 4].to_le_bytes()[i % 4])
}

#[inline(always)]
fn bytes64(numbers: [u64; 8]) -> Bytes {
    from_fn(|i| numbers[i / 8].to_le_bytes()[i % 8])
}

/// Bit i says whether something holds of element i.
#[inline(always)]
fn mask(elements: usize, holds: impl Fn(usize) -> bool) -> u64 {
    (0..elements).fold(0, |mask, i| mask | u64::from(holds(i)) << i)
}

#[inline(always)]
fn multiply_add(a: u32, b: u32) -> u32 {
    let product = |a: u32, b: u32| i32::from(a as i16).wrapping_mul(i32::from(b as i16));
    product(a, b).wrapping_add(product(a >> 16, b >> 16)) as u32
}

impl Vector for Scalar {
    type Bytes = Bytes;
    type Answers = u16;
    type Eight = [u32; 8];

    const ENTRIES: usize = 64;
    const COMPRESSES: bool = false;
    const LOADS_SOME: bool = false;
    const SHUFFLES_ASCII: bool = false;
    const GATHERS: bool = false;
    const AHEAD: usize = 4;
    const BIT_ORDER: [u8; 32] = in_order();

    #[inline(always)]
    fn run<W: Work>(self, work: W) -> W::Output {
        work.run(self)
    }

    #[inline(always)]
    fn splat8(self, byte: u8) -> Bytes {
        [byte; 64]
    }

    #[inline(always)]
    fn splat32(self, number: u32) -> Bytes {
        bytes32([number; 16])
    }

    #[inline(always)]
    fn splat64(self, number: u64) -> Bytes {
        bytes64([number; 8])
    }

    #[inline(always)]
    fn repeat(self, table: &[u8; 16]) -> Bytes {
        from_fn(|i| table[i % 16])
    }

    #[inline(always)]
    unsafe fn load_at(self, from: *const u8) -> Bytes {
        // SAFETY: our caller promises 64 bytes from `from` on; bytes need no alignment.
        unsafe { from.cast::<Bytes>().read() }
    }

    #[inline(always)]
    fn load_some(self, from: &[u8]) -> Bytes {
        from_fn(|i| from.get(i).copied().unwrap_or(0))
    }

    #[inline(always)]
    fn words(self, bytes: Bytes) -> [u32; 16] {
        numbers32(bytes)
    }

    #[inline(always)]
    fn and(self, a: Bytes, b: Bytes) -> Bytes {
        from_fn(|i| a[i] & b[i])
    }

    #[inline(always)]
    fn or(self, a: Bytes, b: Bytes) -> Bytes {
        from_fn(|i| a[i] | b[i])
    }

    #[inline(always)]
    fn xor(self, a: Bytes, b: Bytes) -> Bytes {
        from_fn(|i| a[i] ^ b[i])
    }

    #[inline(always)]
    fn min8(self, a: Bytes, b: Bytes) -> Bytes {
        from_fn(|i| a[i].min(b[i]))
    }

    #[inline(always)]
    fn add8(self, a: Bytes, b: Bytes) -> Bytes {
        from_fn(|i| a[i].wrapping_add(b[i]))
    }

    #[inline(always)]
    fn add32(self, a: Bytes, b: Bytes) -> Bytes {
        let (a, b) = (numbers32(a), numbers32(b));
        bytes32(from_fn(|i| a[i].wrapping_add(b[i])))
    }

    #[inline(always)]
    fn add64(self, a: Bytes, b: Bytes) -> Bytes {
        let (a, b) = (numbers64(a), numbers64(b));
        bytes64(from_fn(|i| a[i].wrapping_add(b[i])))
    }

    #[inline(always)]
    fn multiply_low(self, a: Bytes, b: Bytes) -> Bytes {
        let (a, b) = (numbers64(a), numbers64(b));
        bytes64(from_fn(|i| u64::from(a[i] as u32) * u64::from(b[i] as u32)))
    }

    #[inline(always)]
    fn multiply_add(self, a: Bytes, b: Bytes) -> Bytes {
        let (a, b) = (numbers32(a), numbers32(b));
        bytes32(from_fn(|i| multiply_add(a[i], b[i])))
    }

    #[inline(always)]
    fn right32(self, numbers: Bytes, bits: u32) -> Bytes {
        bytes32(numbers32(numbers).map(|number| number >> bits))
    }

    #[inline(always)]
    fn left32(self, numbers: Bytes, bits: u32) -> Bytes {
        bytes32(numbers32(numbers).map(|number| number << bits))
    }

    #[inline(always)]
    fn min32(self, a: Bytes, b: Bytes) -> Bytes {
        let (a, b) = (numbers32(a), numbers32(b));
        bytes32(from_fn(|i| a[i].min(b[i])))
    }

    #[inline(always)]
    fn words_of_halves(self, numbers: &[u8; 32], mask: u16) -> Bytes {
        let half = |i: usize| {
            let at = if i < 8 { 4 * i } else { 4 * (i - 8) + 2 };
            u16::from_le_bytes([numbers[at], numbers[at + 1]])
        };
        bytes32(from_fn(|i| 4 * u32::from(half(i) & mask)))
    }

    #[inline(always)]
    fn half_on(self, numbers: Bytes, next: u32) -> Bytes {
        let numbers = numbers32(numbers);
        bytes32(from_fn(|i| match i {
            0..8 => numbers[8 + i],
            8..15 => numbers[i - 7],
            _ => next,
        }))
    }

    #[inline(always)]
    fn join_halves(self, a: Bytes, b: Bytes) -> Bytes {
        let (a, b) = (numbers32(a), numbers32(b));
        bytes32(from_fn(|i| {
            let half = if i < 8 { &a } else { &b };
            half[i % 8] | half[8 + i % 8] << 16
        }))
    }

    #[inline(always)]
    fn fold(self, bytes: Bytes, case: Bytes) -> Bytes {
        from_fn(|i| bytes[i] | bytes[i] >> 1 & case[i])
    }

    #[inline(always)]
    fn upper_halves(self, bytes: Bytes) -> Bytes {
        bytes64(numbers64(bytes).map(|number| number >> 32))
    }

    #[inline(always)]
    fn shuffle(self, table: Bytes, index: Bytes) -> Bytes {
        index.map(|index| table[usize::from(index % 64)])
    }

    #[inline(always)]
    fn equal8(self, a: Bytes, b: Bytes) -> u64 {
        mask(64, |i| a[i] == b[i])
    }

    #[inline(always)]
    fn nonzero8(self, bytes: Bytes) -> u64 {
        mask(64, |i| bytes[i] != 0)
    }

    #[inline(always)]
    fn nonzero64(self, bytes: Bytes) -> u8 {
        let numbers = numbers64(bytes);
        mask(8, |i| numbers[i] != 0) as u8
    }

    #[inline(always)]
    fn add_bytes(self, sums: Bytes, bytes: Bytes) -> Bytes {
        let sums = numbers64(sums);
        let eight = |i: usize| bytes[8 * i..][..8].iter().map(|&byte| u64::from(byte)).sum::<u64>();
        bytes64(from_fn(|i| sums[i].wrapping_add(eight(i))))
    }

    #[inline(always)]
    fn sum64(self, sums: Bytes) -> u64 {
        numbers64(sums).into_iter().fold(0, u64::wrapping_add)
    }

    #[inline(always)]
    fn clear32(self, a: Bytes, b: Bytes) -> u16 {
        let (a, b) = (numbers32(a), numbers32(b));
        mask(16, |i| a[i] & b[i] == 0) as u16
    }

    #[inline(always)]
    fn mask_of_two(self, answers: [u16; 2]) -> u32 {
        u32::from(answers[0]) | u32::from(answers[1]) << 16
    }

    #[inline(always)]
    fn clear_mask32<const AMONG: u16>(self, a: Bytes, b: Bytes) -> u16 {
        self.clear32(a, b) & AMONG
    }

    #[inline(always)]
    fn lower_halves(self, numbers: Bytes) -> [u32; 8] {
        numbers64(numbers).map(|number| number as u32)
    }

    #[inline(always)]
    fn seven_copies(self, number: u32) -> [u32; 8] {
        from_fn(|i| if i < 7 { number } else { 0 })
    }

    #[inline(always)]
    fn choose(self, numbers: [u32; 8], index: Bytes) -> Bytes {
        bytes32(numbers32(index).map(|index| numbers[(index >> 1 & 7) as usize]))
    }

    #[inline(always)]
    unsafe fn gather(self, table: *const u32, offsets: Bytes) -> Bytes {
        // SAFETY: `gather_by_loads` requires of the table and the offsets what our caller promises.
        unsafe { self.gather_by_loads(table, &numbers32(offsets)) }
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
            let place = base.wrapping_add(u16::from(places[mask.trailing_zeros() as usize]));
            // SAFETY: `i` is below the number of bits, at most 64, and our caller promises as many
            // elements.
            unsafe { to.wrapping_add(i).write(place) };
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
        let (numbers, count) = (numbers32(numbers), mask.count_ones() as usize);
        for i in 0..count {
            let field = numbers[mask.trailing_zeros() as usize] >> SHIFT & FIELD;
            // SAFETY: `i` is below the number of bits, at most 16, and our caller promises as many
            // elements.
            unsafe { to.wrapping_add(i).write(numbers[15].wrapping_add(field)) };
            mask &= mask - 1;
        }
        count
    }

    #[inline(always)]
    unsafe fn fill32(self, number: u32, count: usize, to: *mut u32) {
        debug_assert!(count <= 16);
        for i in 0..count {
            // SAFETY: `count` is at most 16, and our caller promises as many elements.
            unsafe { to.wrapping_add(i).write(number) };
        }
    }

    #[inline(always)]
    unsafe fn differ<const FOLD: bool>(self, text: *const u8, pattern: *const u8, case: u8) -> u32 {
        // SAFETY: our caller promises 32 bytes; bytes need no alignment.
        let text = unsafe { text.cast::<[u8; 32]>().read() };
        // SAFETY: our caller promises 32 bytes at each pointer.
        let pattern = unsafe { pattern.cast::<[u8; 32]>().read() };
        let folded = |i: usize| {
            let case = if FOLD && pattern[i].is_ascii_lowercase() { case } else { 0 };
            text[i] | case
        };
        mask(32, |i| folded(i) != pattern[i]) as u32
    }
}
