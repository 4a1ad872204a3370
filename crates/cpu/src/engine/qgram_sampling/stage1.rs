//! Stage 1: which samples of a tile may be grams of the set.

use super::build::Tables;
use super::hash::{self, MAX_GRAM};
use super::scan::{List, TILE};
use crate::simd::Dispatch;
use std::ops::Range;

#[cfg(target_arch = "x86_64")]
#[path = "stage1_x86.rs"]
mod x86;

/// Some samples of a block: the i-th is at `from + i * stride`, and the last gram ends inside `bytes`.
#[derive(Clone, Copy)]
struct Samples<'a> {
    tables: &'a Tables,
    bytes: &'a [u8],
    from: usize,
}

/// Puts what the bitmap lets pass of `count` samples on the list, in order.
pub(super) fn fill(
    dispatch: Dispatch,
    tables: &Tables,
    bytes: &[u8],
    from: usize,
    count: usize,
    list: &mut List,
) {
    debug_assert!(count <= TILE && list.len == 0);
    let samples = Samples { tables, bytes, from };
    match dispatch {
        #[cfg(target_arch = "x86_64")]
        Dispatch::Avx512(token) => x86::fill_avx512(token, samples, count, list),
        #[cfg(target_arch = "x86_64")]
        Dispatch::Avx2(token) => x86::fill_avx2(token, samples, count, list),
        Dispatch::Scalar => samples.plain(0..count, list),
    }
}

/// Samples that the plain form takes at once, with one check that all of their bytes are there.
const GROUP: usize = 8;

impl Samples<'_> {
    /// The plain form, for any samples.
    #[inline(always)]
    fn plain(self, range: Range<usize>, list: &mut List) {
        if self.tables.shape.gram.is_wide() {
            self.groups::<true>(range, list);
        } else {
            self.groups::<false>(range, list);
        }
    }

    #[inline(always)]
    fn groups<const WIDE: bool>(self, range: Range<usize>, list: &mut List) {
        let mut i = range.start;
        while i + GROUP <= range.end && self.group::<WIDE>(i, list) {
            i += GROUP;
        }
        (i..range.end).for_each(|i| self.one(i, list));
    }

    /// The samples from the i-th on, or nothing if they are too near the end of the block.
    #[inline(always)]
    fn group<const WIDE: bool>(self, i: usize, list: &mut List) -> bool {
        let (shape, bits) = (&self.tables.shape, self.tables.shape.bitmap_bits);
        let (gram, stride) = (shape.gram, shape.stride);
        let span = (GROUP - 1) * stride + MAX_GRAM;
        let Some(span) = self.bytes.get(self.from + i * stride..).and_then(|b| b.get(..span))
        else {
            return false;
        };
        let bitmap = &*self.tables.bitmap;
        let passes = |j: usize| {
            let second = if WIDE { load(span, j * stride + gram.second()) } else { 0 };
            let hash = gram.mix::<WIDE>(load(span, j * stride), second);
            ((i + j) * stride, passes(bitmap, hash, bits))
        };
        list.push_those((0..GROUP).map(passes));
        true
    }

    /// The i-th sample, wherever it is.
    fn one(self, i: usize, list: &mut List) {
        let shape = &self.tables.shape;
        let hash = shape.gram.hash(self.bytes, self.from + i * shape.stride);
        let passes = passes(&self.tables.bitmap, hash, shape.bitmap_bits);
        list.push_those(std::iter::once((i * shape.stride, passes)));
    }
}

#[inline(always)]
fn passes(bitmap: &[u32], hash: u64, bits: u32) -> bool {
    let spot = hash::spot(hash, bits);
    let word = bitmap[spot.word];
    word >> spot.bits[0] & word >> spot.bits[1] & 1 == 1
}

/// Eight bytes of a span; the caller has seen to it that they are there.
#[inline(always)]
fn load(span: &[u8], at: usize) -> u64 {
    debug_assert!(at + 8 <= span.len());
    // SAFETY: `at` is at most (GROUP - 1) * stride + MAX_GRAM - 8, which is eight less than the span's length.
    let eight = unsafe { span.get_unchecked(at..at + 8) };
    eight.try_into().map_or(0, u64::from_le_bytes)
}
