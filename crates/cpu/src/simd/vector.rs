//! Vector operations over 64 bytes, so that each loop of an engine is written once.
//!
//! [`Vector`] is implemented by the tokens of `isa.rs`: a token proves that the CPU has the
//! operations. A loop is a [`Work`], generic over the instruction set; [`Vector::run`] compiles it
//! for one.
//!
//! A vector has 64 bytes, in as many registers as that needs. The trait has the operations that
//! every instruction set can do well. The exception is the gather, which NEON and simd128 replace
//! by scalar loads: see [`Vector::gather_by_loads`]. Masks are integers with one bit per element. A
//! loop should ask for the mask of as many elements as possible: NEON has no `movemask`, and its
//! replacement is hardly slower for 64 bytes than for 16.
//!
//! Use neither operations nor intrinsics in closures and iterator adapters: these are not compiled
//! for the instruction set unless they are inlined. Without link-time optimization, the compiler
//! leaves calls in the loop.

/// A loop to compile for an instruction set.
pub(crate) trait Work {
    /// What the loop yields.
    type Output;

    /// The loop. Declare it `#[inline(always)]`, and all it calls: only code that is inlined into
    /// [`Vector::run`] is compiled for the instruction set.
    fn run<V: Vector>(self, v: V) -> Self::Output;
}

/// An instruction set with proof that this CPU has it, and its operations.
///
/// Elements are little-endian and counted from the lowest address.
pub(crate) trait Vector: Copy {
    /// 64 bytes.
    type Bytes: Copy;

    /// Sixteen answers, one for each 32-bit element.
    type Answers: Copy;

    /// Eight 32-bit numbers to choose from.
    type Eight: Copy;

    /// The maximum number of entries of a table that is looked up at once: 16 or 64.
    const ENTRIES: usize;

    /// Whether [`Vector::append_places`] takes only a few instructions. If not, a loop over the set
    /// bits is faster for few positions.
    const COMPRESSES: bool;

    /// Whether [`Vector::load_some`] reads memory directly. If not, it copies, and several loads of
    /// the same bytes are better made from one copy.
    const LOADS_SOME: bool;

    /// Whether [`shuffle_ascii`](Self::shuffle_ascii) takes fewer instructions than `shuffle`.
    const SHUFFLES_ASCII: bool;

    /// Whether the instruction set has gathers.
    const GATHERS: bool;

    /// How many vectors of offsets a loop should compute before it looks them up: 2 or 4. The
    /// registers must hold them.
    const AHEAD: usize;

    /// Bit i of [`Vector::mask_of_two`] is the answer of element `BIT_ORDER[i]`.
    const BIT_ORDER: [u8; 32];

    /// Runs a loop compiled for the instruction set.
    fn run<W: Work>(self, work: W) -> W::Output;

    /// Copies a byte to all elements.
    fn splat8(self, byte: u8) -> Self::Bytes;

    /// Copies 32 bits to all elements.
    fn splat32(self, number: u32) -> Self::Bytes;

    /// Copies 64 bits to all elements.
    fn splat64(self, number: u64) -> Self::Bytes;

    /// Copies a table of 16 entries to all quarters.
    fn repeat(self, table: &[u8; 16]) -> Self::Bytes;

    /// Loads 64 bytes.
    ///
    /// # Safety
    /// The 64 bytes from `from` on can be read.
    unsafe fn load_at(self, from: *const u8) -> Self::Bytes;

    /// Loads 64 bytes.
    #[inline(always)]
    fn load(self, from: &[u8; 64]) -> Self::Bytes {
        // SAFETY: `from` is a reference to 64 bytes.
        unsafe { self.load_at(from.as_ptr()) }
    }

    /// Loads sixteen numbers.
    #[inline(always)]
    fn load32(self, from: &[u32; 16]) -> Self::Bytes {
        // SAFETY: `from` is a reference to 64 bytes without padding.
        unsafe { self.load_at(from.as_ptr().cast()) }
    }

    /// Loads eight numbers.
    #[inline(always)]
    fn load64(self, from: &[u64; 8]) -> Self::Bytes {
        // SAFETY: `from` is a reference to 64 bytes without padding.
        unsafe { self.load_at(from.as_ptr().cast()) }
    }

    /// Loads the first 64 bytes. If there are fewer, zeros follow them.
    fn load_some(self, from: &[u8]) -> Self::Bytes;

    /// Loads the bytes from `ahead` on of a haystack of at most 64 bytes. Zeros follow them.
    #[inline(always)]
    fn load_short(self, text: &[u8], ahead: usize) -> Self::Bytes {
        debug_assert!(text.len() <= 64, "a short text");
        self.load_some(text.get(ahead..).unwrap_or(&[]))
    }

    /// Loads four numbers. Zeros follow them.
    #[inline(always)]
    fn load_four64(self, from: [u64; 4]) -> Self::Bytes {
        let [a, b, c, d] = from;
        self.load64(&[a, b, c, d, 0, 0, 0, 0])
    }

    /// The sixteen 32-bit elements.
    fn words(self, bytes: Self::Bytes) -> [u32; 16];

    /// Stores 64 bytes.
    #[inline(always)]
    fn store(self, bytes: Self::Bytes, to: &mut [u8; 64]) {
        let (fours, _) = to.as_chunks_mut::<4>();
        for (four, word) in fours.iter_mut().zip(self.words(bytes)) {
            *four = word.to_le_bytes();
        }
    }

    /// Bitwise and.
    fn and(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes;

    /// Bitwise or.
    fn or(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes;

    /// Bitwise exclusive or.
    fn xor(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes;

    /// The lesser of two unsigned bytes.
    fn min8(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes;

    /// Adds bytes, modulo 2^8.
    fn add8(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes;

    /// Adds 32-bit numbers, modulo 2^32.
    fn add32(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes;

    /// Adds 64-bit numbers, modulo 2^64.
    fn add64(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes;

    /// The 64-bit products of the lower halves of 64-bit numbers.
    fn multiply_low(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes;

    /// For each 32-bit element, the sum of the products of the lower and of the upper halves,
    /// modulo 2^32. Halves are signed 16-bit numbers.
    fn multiply_add(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes;

    /// The low four bits of each byte are its high nibble. The others are bits of the next byte.
    #[inline(always)]
    fn high_nibbles(self, bytes: Self::Bytes) -> Self::Bytes {
        self.right32(bytes, 4)
    }

    /// Shifts 32-bit numbers right, with zeros from the left. `bits` is below 32 and a constant.
    fn right32(self, numbers: Self::Bytes, bits: u32) -> Self::Bytes;

    /// Shifts 32-bit numbers left. `bits` is below 32 and a constant.
    fn left32(self, numbers: Self::Bytes, bits: u32) -> Self::Bytes;

    /// The lesser of two unsigned 32-bit numbers.
    fn min32(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes;

    /// The upper half, then the lower half without its first 32-bit element and with `next` after
    /// its last one.
    fn half_on(self, numbers: Self::Bytes, next: u32) -> Self::Bytes;

    /// Joins the halves of `a`, then those of `b`: each 32-bit element of the lower half is or-ed
    /// with the element of the upper half, shifted left by 16 bits.
    fn join_halves(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes;

    /// Sets each bit of `case` in the bytes that have the next higher bit. With 0x20 this turns
    /// letters to lower case. No bit of `case` may be the highest of its byte.
    fn fold(self, bytes: Self::Bytes, case: Self::Bytes) -> Self::Bytes;

    /// The upper halves of 64-bit numbers.
    fn upper_halves(self, bytes: Self::Bytes) -> Self::Bytes;

    /// For each byte of `index`, the entry of its low four bits in a [`Vector::repeat`].
    fn shuffle(self, table: Self::Bytes, index: Self::Bytes) -> Self::Bytes;

    /// As [`shuffle`](Self::shuffle) where a byte of `index` is ASCII. For another byte it is the
    /// same entry or 0.
    #[inline(always)]
    fn shuffle_ascii(self, table: Self::Bytes, index: Self::Bytes) -> Self::Bytes {
        self.shuffle(table, index)
    }

    /// For each byte of `index`, the entry of its low six bits in a table of 64 entries. Requires
    /// that [`Vector::ENTRIES`] is 64.
    #[inline(always)]
    fn shuffle64(self, table: Self::Bytes, index: Self::Bytes) -> Self::Bytes {
        debug_assert!(Self::ENTRIES == 64);
        self.shuffle(table, index)
    }

    /// Bit i says whether byte i of `a` equals that of `b`.
    fn equal8(self, a: Self::Bytes, b: Self::Bytes) -> u64;

    /// Bit i says whether byte i is not 0.
    fn nonzero8(self, bytes: Self::Bytes) -> u64;

    /// Bit i says whether the i-th 64 bits are not 0.
    fn nonzero64(self, bytes: Self::Bytes) -> u8;

    /// Adds each group of eight bytes to its 64-bit sum.
    fn add_bytes(self, sums: Self::Bytes, bytes: Self::Bytes) -> Self::Bytes;

    /// The sum of the 64-bit numbers, modulo 2^64.
    fn sum64(self, sums: Self::Bytes) -> u64;

    /// For each 32-bit element, whether `a & b` is 0.
    fn clear32(self, a: Self::Bytes, b: Self::Bytes) -> Self::Answers;

    /// The answers on two vectors as a mask, in the order of [`Vector::BIT_ORDER`]. Elements of the
    /// second are counted from 16.
    fn mask_of_two(self, answers: [Self::Answers; 2]) -> u32;

    /// [`Vector::clear32`] as a mask, with bit i for element i. Bits that `AMONG` lacks are 0.
    fn clear_mask32<const AMONG: u16>(self, a: Self::Bytes, b: Self::Bytes) -> u16;

    /// The lower halves of the 64-bit elements. If [`Vector::choose`] gets an index of 15, the
    /// upper half of the last one must be 0.
    fn lower_halves(self, numbers: Self::Bytes) -> Self::Eight;

    /// Seven copies of a number and a 0.
    fn seven_copies(self, number: u32) -> Self::Eight;

    /// For each 32-bit element of `index`, the number that its bits 1 to 3 select. Bit 0 must be 0,
    /// except in an index of 15 when the last number is 0: AVX-512 indexes by bits 0 to 3.
    fn choose(self, numbers: Self::Eight, index: Self::Bytes) -> Self::Bytes;

    /// Byte offsets of 32-bit words, for `gather`: `4 * (half & mask)` for the lower halves of
    /// eight 32-bit numbers, then for their upper halves.
    fn words_of_halves(self, numbers: &[u8; 32], mask: u16) -> Self::Bytes;

    /// Looks up 32 bits at each of sixteen byte offsets.
    ///
    /// # Safety
    /// The four bytes at each offset from `table` can be read, and no offset is negative as an
    /// `i32`.
    unsafe fn gather(self, table: *const u32, offsets: Self::Bytes) -> Self::Bytes;

    /// The same by scalar loads, for CPUs whose gathers are slow and those that have none.
    ///
    /// # Safety
    /// As for [`Vector::gather`].
    #[inline(always)]
    unsafe fn gather_by_loads(self, table: *const u32, offsets: &[u32; 16]) -> Self::Bytes {
        let mut words = [0; 16];
        for (word, &offset) in words.iter_mut().zip(offsets) {
            // SAFETY: our caller promises four bytes at each offset from `table`.
            *word = unsafe { table.wrapping_byte_add(offset as usize).read_unaligned() };
        }
        self.load32(&words)
    }

    /// Writes `base` plus each byte of `places` whose bit in `mask` is set. Returns the number of
    /// these bytes.
    ///
    /// # Safety
    /// 64 elements from `to` on can be written; those after the returned number may change.
    unsafe fn append_places(self, places: &[u8; 64], mask: u64, base: u16, to: *mut u16) -> usize;

    /// For each number whose bit in `mask` is set, writes `(number >> SHIFT & FIELD) + last`, where
    /// `last` is the last of `numbers`. Returns how many it writes.
    ///
    /// # Safety
    /// 16 elements from `to` on can be written; those after the returned number may change.
    unsafe fn append_fields<const SHIFT: u32, const FIELD: u32>(
        self,
        numbers: Self::Bytes,
        mask: u16,
        to: *mut u32,
    ) -> usize;

    /// Writes `count` copies of a number.
    ///
    /// # Safety
    /// 16 elements from `to` on can be written, and `count` is at most 16; those after `count` may
    /// change.
    unsafe fn fill32(self, number: u32, count: usize, to: *mut u32);

    /// Bit i says whether byte i of a text differs from that of a pattern. If `FOLD`, a text byte
    /// is OR-ed with `case` first where the pattern has a lower-case ASCII letter.
    ///
    /// # Safety
    /// The 32 bytes from each pointer on can be read.
    unsafe fn differ<const FOLD: bool>(self, text: *const u8, pattern: *const u8, case: u8) -> u32;
}

/// The [`Vector::BIT_ORDER`] of an instruction set whose bit `i` stands for element `i`.
pub(super) const fn in_order() -> [u8; 32] {
    let mut order = [0; 32];
    let mut bit = 0;
    while bit < 32 {
        order[bit] = bit as u8;
        bit += 1;
    }
    order
}

#[cfg(test)]
#[path = "vector_tests.rs"]
mod tests;
