//! [`Text`]: the haystack bytes that a filter tests, inside a haystack and at its end.

use super::stage1::SPAN;
use crate::simd::vector::Vector;

/// The haystack bytes at 64 positions and after them.
pub(super) trait Text<V: Vector> {
    /// The bytes that lie `ahead` bytes after each of the 64 positions. `ahead` is at most
    /// `TWO_BYTES_APART`.
    fn load(&self, v: V, ahead: usize) -> V::Bytes;

    /// `N` bytes from the first position on: 64 and the filter's margin. [`Edge`] copies them to
    /// `copy`, which must be zeros. Filters with `ONLY_LOADS` do not call it.
    #[inline(always)]
    fn look<'a, const N: usize>(&'a self, _copy: &'a mut [u8; N]) -> &'a [u8; N] {
        unreachable!("only filters with `ONLY_LOADS` test short haystacks")
    }
}

impl<V: Vector> Text<V> for [u8; SPAN] {
    #[inline(always)]
    fn look<'a, const N: usize>(&'a self, _copy: &'a mut [u8; N]) -> &'a [u8; N] {
        self.first_chunk().expect("a span has a margin of TWO_BYTES_APART bytes")
    }

    #[inline(always)]
    fn load(&self, v: V, ahead: usize) -> V::Bytes {
        v.load(self[ahead..].first_chunk().expect("a span has a margin of TWO_BYTES_APART bytes"))
    }
}

/// The rest of a haystack, with zeros beyond it. For [`Vector::LOADS_SOME`], where `load` copies
/// nothing: a copy and the load of the copied bytes would take longer than the filter.
pub(super) struct Edge<'a>(pub(super) &'a [u8]);

impl<V: Vector> Text<V> for Edge<'_> {
    #[inline(always)]
    fn look<'a, const N: usize>(&'a self, copy: &'a mut [u8; N]) -> &'a [u8; N] {
        let count = self.0.len().min(N);
        copy[..count].copy_from_slice(&self.0[..count]);
        copy
    }

    #[inline(always)]
    fn load(&self, v: V, ahead: usize) -> V::Bytes {
        v.load_some(self.0.get(ahead..).unwrap_or(&[]))
    }
}

/// A haystack of at most 64 bytes, with zeros after it, for [`Vector::LOADS_SOME`].
pub(super) struct Whole<'a>(pub(super) &'a [u8]);

impl<V: Vector> Text<V> for Whole<'_> {
    #[inline(always)]
    fn load(&self, v: V, ahead: usize) -> V::Bytes {
        v.load_short(self.0, ahead)
    }
}

/// A part of a haystack that has 64 positions and, after them, the filter's margin.
pub(super) struct Inside<'a>(pub(super) &'a [u8]);

impl<V: Vector> Text<V> for Inside<'_> {
    #[inline(always)]
    fn look<'a, const N: usize>(&'a self, _copy: &'a mut [u8; N]) -> &'a [u8; N] {
        self.0.first_chunk().expect("the margin of the filter follows")
    }

    #[inline(always)]
    fn load(&self, v: V, ahead: usize) -> V::Bytes {
        v.load(self.0[ahead..].first_chunk().expect("the margin of the filter follows"))
    }
}

/// A haystack with room for `N` to `2 * N` positions and the filter's margin. It is tested as its
/// first `N` positions and the last `N` that have the margin after them, so that no padded copy is
/// needed.
pub(super) struct Halves<'a, const N: usize> {
    pub(super) bytes: &'a [u8],
    /// Where the last `N` positions begin.
    pub(super) second: usize,
}

impl<V: Vector, const N: usize> Text<V> for Halves<'_, N> {
    #[inline(always)]
    fn load(&self, v: V, ahead: usize) -> V::Bytes {
        let first = &self.bytes[ahead..][..N];
        let second = &self.bytes[self.second + ahead..][..N];
        if N == 32 {
            let mut both = [0; 64];
            both[..32].copy_from_slice(first);
            both[32..].copy_from_slice(second);
            return v.load(&both);
        }
        // By numbers: a vector load of bytes that were just copied would fail store forwarding.
        let mut numbers = [0; 4];
        match N {
            16 => {
                numbers[0] = number(first);
                numbers[1] = number(&first[8..]);
                numbers[2] = number(second);
                numbers[3] = number(&second[8..]);
            }
            8 => (numbers[0], numbers[1]) = (number(first), number(second)),
            4 => {
                let half = |half: &[u8]| half.first_chunk().map_or(0, |b| u32::from_le_bytes(*b));
                numbers[0] = u64::from(half(first)) | u64::from(half(second)) << 32;
            }
            _ => unreachable!("halves have 4 to 32 positions"),
        }
        v.load_four64(numbers)
    }
}

/// At most eight bytes, a haystack or the end of one, and zeros beyond them.
pub(super) struct Tiny(u64);

impl Tiny {
    /// `None` if there are more bytes.
    #[inline(always)]
    pub(super) fn new(bytes: &[u8]) -> Option<Tiny> {
        let number = || bytes.iter().rev().fold(0, |number, &b| number << 8 | u64::from(b));
        (bytes.len() <= 8).then(|| Tiny(number()))
    }
}

impl<V: Vector> Text<V> for Tiny {
    #[inline(always)]
    fn load(&self, v: V, ahead: usize) -> V::Bytes {
        v.load_four64([self.0.checked_shr(8 * ahead as u32).unwrap_or(0), 0, 0, 0])
    }
}

/// The first eight bytes as a number; 0 if there are fewer.
#[inline(always)]
fn number(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |&bytes| u64::from_le_bytes(bytes))
}
