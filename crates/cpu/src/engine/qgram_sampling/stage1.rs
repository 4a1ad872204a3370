//! Stage 1: finds the samples of a tile that may be grams of the set.

use super::build::SamplingTables;
use super::hash::{self, MAX_GRAM};
use super::scan::{SampleList, TILE};
use crate::simd::Dispatch;
use std::ops::Range;

#[cfg(target_arch = "x86_64")]
#[path = "stage1_x86.rs"]
mod x86;

/// Samples of a block. Sample i is at `from + i * stride`, and the last gram ends inside `bytes`.
#[derive(Clone, Copy)]
struct Samples<'a> {
    tables: &'a SamplingTables,
    bytes: &'a [u8],
    from: usize,
}

/// Appends the candidates among `count` samples to the list, in order.
pub(super) fn fill(
    dispatch: Dispatch,
    tables: &SamplingTables,
    bytes: &[u8],
    from: usize,
    count: usize,
    list: &mut SampleList,
) {
    debug_assert!(count <= TILE && list.len == 0);
    let samples = Samples { tables, bytes, from };
    match dispatch {
        #[cfg(target_arch = "x86_64")]
        Dispatch::Avx512(token) => x86::fill_avx512(token, samples, count, list),
        #[cfg(target_arch = "x86_64")]
        Dispatch::Avx2(token) => x86::fill_avx2(token, samples, count, list),
        // NEON has neither gathers nor 64-bit products, so it runs the scalar form.
        #[cfg(target_arch = "aarch64")]
        Dispatch::Neon(_) => samples.plain(0..count, list),
        // simd128 has no gathers.
        #[cfg(target_feature = "simd128")]
        Dispatch::Simd128(_) => samples.plain(0..count, list),
        Dispatch::Scalar => samples.plain(0..count, list),
    }
}

/// Samples that the scalar form handles with one bounds check.
const GROUP: usize = 8;

impl Samples<'_> {
    /// The scalar form, for any samples.
    #[inline(always)]
    fn plain(self, range: Range<usize>, list: &mut SampleList) {
        if self.tables.shape.gram.is_wide() {
            self.groups::<true>(range, list);
        } else {
            self.groups::<false>(range, list);
        }
    }

    #[inline(always)]
    fn groups<const WIDE: bool>(self, range: Range<usize>, list: &mut SampleList) {
        let mut i = range.start;
        while i + GROUP <= range.end && self.group::<WIDE>(i, list) {
            i += GROUP;
        }
        (i..range.end).for_each(|i| self.one(i, list));
    }

    /// Handles GROUP samples from the i-th on. Near the end of the block it does nothing and
    /// returns false.
    #[inline(always)]
    fn group<const WIDE: bool>(self, i: usize, list: &mut SampleList) -> bool {
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

    /// Handles the i-th sample, wherever it is.
    fn one(self, i: usize, list: &mut SampleList) {
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

/// Eight bytes of a group's span.
#[inline(always)]
fn load(span: &[u8], at: usize) -> u64 {
    debug_assert!(at + 8 <= span.len());
    // SAFETY: `group` cuts the span to (GROUP - 1) * stride + MAX_GRAM bytes. `at` is at most
    // (GROUP - 1) * stride plus the offset of a gram's second word, which is at most MAX_GRAM - 8.
    // So `at + 8` is at most the length of the span, as asserted above.
    let eight = unsafe { span.get_unchecked(at..at + 8) };
    eight.try_into().map_or(0, u64::from_le_bytes)
}
