//! The filter by a pair table: it looks up the pair of bytes at each position, or at every second
//! one.

use super::finder::{Finder, WithFinder};
use super::pairs::{Layout, Positions};
use super::text::Text;
use crate::simd::vector::{Vector, Work};
use std::hint::black_box;

/// A loop around a filter by a pair table.
pub(super) struct ByPairTable<'a, L, const N: usize, const EVEN: bool, const GATHERS: bool> {
    pub(super) table: &'a [u32; N],
    pub(super) inside: bool,
    pub(super) the_loop: L,
}

impl<L: WithFinder, const N: usize, const EVEN: bool, const GATHERS: bool> Work
    for ByPairTable<'_, L, N, EVEN, GATHERS>
{
    type Output = L::Output;

    #[inline(always)]
    fn run<V: Vector>(self, v: V) -> L::Output {
        assert!(V::GATHERS || !GATHERS, "gathers belong to instruction sets");
        // `black_box` hides the constant: if the compiler knows the mask, it loads the two bytes of
        // a pair one by one.
        let mask = black_box(N - 1);
        let (table, inside) = (self.table, self.inside);
        self.the_loop.run(v, PairLookup::<N, EVEN, GATHERS> { table, mask, inside })
    }
}

/// A pair table of `N` entries. With `EVEN`, only even positions are tested. With `GATHERS`,
/// gathers look up the pairs, else scalar loads.
struct PairLookup<'a, const N: usize, const EVEN: bool, const GATHERS: bool> {
    table: &'a [u32; N],
    /// `N - 1`.
    mask: usize,
    /// Whether each window ends inside its pattern.
    inside: bool,
}

/// The bytes after 64 positions that windows reach, if all or if even positions are tested: the
/// last tested position is followed by `step - 1` others.
const ALL_MARGIN: usize = Layout::of(Positions::All).window() - Positions::All.step();
const EVEN_MARGIN: usize = Layout::of(Positions::Even).window() - Positions::Even.step();

impl<const N: usize, const EVEN: bool, const GATHERS: bool> PairLookup<'_, N, EVEN, GATHERS> {
    const LAYOUT: Layout = Layout::of(if EVEN { Positions::Even } else { Positions::All });

    /// The entry of the pair at a position.
    #[inline(always)]
    fn entry<const BYTES: usize>(&self, bytes: &[u8; BYTES], at: usize) -> u32 {
        let pair = *bytes[at..].first_chunk().expect("each entry has two bytes");
        let index = usize::from(u16::from_le_bytes(pair)) & self.mask;
        // SAFETY: `mask` is `N - 1`, so `index` is at most that. The table has `N` entries.
        unsafe { *self.table.get_unchecked(index) }
    }

    /// The entries of the pair at a position and of the pair two positions on. One load serves both
    /// (`replay`).
    #[inline(always)]
    fn two_entries<const BYTES: usize>(&self, bytes: &[u8; BYTES], at: usize) -> [u32; 2] {
        const { assert!(N <= 1 << 16, "an index has 16 bits") };
        let four = *bytes[at..].first_chunk().expect("two entries have four bytes");
        let both = u32::from_le_bytes(four) & (self.mask as u32 * 0x1_0001);
        // SAFETY: both halves are masked by `mask`, which is `N - 1`, so each index is at most
        // that. The table has `N` entries.
        let entry = |index: u32| unsafe { *self.table.get_unchecked(index as usize) };
        [entry(both & 0xffff), entry(both >> 16)]
    }

    /// The entries of every fourth position from `at` on, eight of them, and those of the positions
    /// two bytes on.
    #[inline(always)]
    fn sixteen_entries<V: Vector, const BYTES: usize>(
        &self,
        v: V,
        bytes: &[u8; BYTES],
        at: usize,
    ) -> V::Bytes {
        if GATHERS {
            let from = bytes[at..].first_chunk().expect("the entries have 32 bytes");
            let offsets = v.words_of_halves(from, self.mask as u16);
            // SAFETY: `mask` is `N - 1`, so an offset is four times a number of at most 16 bits
            // that is below `N`: it is not negative. The table has `N` entries of four bytes.
            return unsafe { v.gather(self.table.as_ptr(), offsets) };
        }
        let mut entries = [0; 16];
        for i in 0..8 {
            let [one, other] = self.two_entries(bytes, at + 4 * i);
            (entries[i], entries[8 + i]) = (one, other);
        }
        v.load32(&entries)
    }

    /// Tests the 32 positions from `at` on. Elements of the lower half stand for every fourth
    /// position, elements of the upper half for those two bytes on. An element's first byte is not
    /// 0 if its position passes, its second byte if the next position does. With `EVEN`, a position
    /// passes if either of its two bytes is not 0.
    #[inline(always)]
    fn test_half<V: Vector, const BYTES: usize>(
        &self,
        v: V,
        bytes: &[u8; BYTES],
        at: usize,
    ) -> V::Bytes {
        let first = self.sixteen_entries(v, bytes, at);
        let second = v.half_on(first, self.entry(bytes, at + 32));
        if EVEN {
            let third = v.half_on(second, self.entry(bytes, at + 34));
            return Self::accepted(v, [first, second, third]);
        }
        let middle = self.sixteen_entries(v, bytes, at + 1);
        let last = v.half_on(middle, self.entry(bytes, at + 33));
        let one = v.splat32(1);
        let odd = v.min32(Self::accepted(v, [middle, last, second]), one);
        let even = v.min32(Self::accepted(v, [first, second, middle]), one);
        v.or(even, v.left32(odd, 8))
    }

    /// For each element, the buckets that accept its three pairs.
    #[inline(always)]
    fn accepted<V: Vector>(v: V, [first, second, third]: [V::Bytes; 3]) -> V::Bytes {
        let [_, to_second, to_third] = Self::LAYOUT.shifts();
        // Buckets that test two pairs have no bits of a third one.
        let any_third = v.splat32((1 << Self::LAYOUT.of_two) - 1);
        let third = v.or(v.right32(third, to_third), any_third);
        v.and(first, v.and(v.right32(second, to_second), third))
    }

    /// Tests 64 positions.
    #[inline(always)]
    fn test_all<V: Vector, const BYTES: usize>(&self, v: V, bytes: &[u8; BYTES]) -> V::Bytes {
        v.join_halves(self.test_half(v, bytes, 0), self.test_half(v, bytes, 32))
    }
}

impl<V: Vector, const N: usize, const EVEN: bool, const GATHERS: bool> Finder<V>
    for PairLookup<'_, N, EVEN, GATHERS>
{
    type Hits = V::Bytes;

    const STEP: usize = Self::LAYOUT.positions.step();
    const ONLY_LOADS: bool = false;

    #[inline(always)]
    fn margin(&self) -> usize {
        if EVEN { EVEN_MARGIN } else { ALL_MARGIN }
    }

    #[inline(always)]
    fn is_inside(&self) -> bool {
        self.inside
    }

    #[inline(always)]
    fn test<T: Text<V>>(&self, v: V, text: &T) -> V::Bytes {
        match EVEN {
            true => self.test_all(v, text.look(&mut [0; 64 + EVEN_MARGIN])),
            false => self.test_all(v, text.look(&mut [0; 64 + ALL_MARGIN])),
        }
    }

    #[inline(always)]
    fn or(v: V, a: V::Bytes, b: V::Bytes) -> V::Bytes {
        v.or(a, b)
    }

    #[inline(always)]
    fn positions(v: V, hits: V::Bytes) -> u64 {
        let bytes = v.nonzero8(hits);
        if EVEN { (bytes | bytes >> 1) & 0x5555_5555_5555_5555 } else { bytes }
    }
}
