//! Finds the next chunk of a haystack with candidates, for searches that end soon: short haystacks,
//! and the first match.

use super::super::build::FilterTables;
use super::super::shape::{BEFORE, MAX_STRIDE};
use super::chunks::{BEYOND, WAYS, is_tested, starts};
use super::vector::{Filter, FormLoop, Indices, Inside, Text, in_form, places};
use crate::simd::Dispatch;
use crate::simd::gather::Gathers;
use crate::simd::vector::Vector;
use std::ops::Range;

/// A chunk with positions where a window may begin.
#[derive(Clone, Copy)]
pub(in super::super) struct ChunkHits {
    /// Where the chunk begins.
    pub(in super::super) chunk: usize,
    /// As in a [`Mark`](super::chunks::Mark).
    pub(in super::super) passed: [u64; WAYS],
    /// For each bit, its position in the chunk.
    pub(in super::super) places: &'static [u8; 64],
    /// Where the next chunk begins, or the length of the haystack.
    pub(in super::super) next: usize,
}

impl ChunkHits {
    /// No chunk before `next` has hits.
    #[inline(always)]
    pub(in super::super) fn none(next: usize) -> Self {
        ChunkHits { chunk: next, passed: [0; WAYS], places: &[0; 64], next }
    }

    /// The first position that passed, or where the chunk begins.
    #[inline(always)]
    pub(in super::super) fn first(&self) -> usize {
        let (mut passed, mut first) = (self.passed.iter().fold(0, |any, way| any | way), u8::MAX);
        if passed == 0 {
            return self.chunk;
        }
        while passed != 0 {
            first = first.min(self.places[passed.trailing_zeros() as usize]);
            passed &= passed - 1;
        }
        self.chunk + usize::from(first)
    }
}

/// Finds the next chunk with a position where a window may begin. It searches at least the
/// positions in `part`: the chunk may reach past the part, or begin after it near the end of the
/// haystack. Without vector instructions it finds nothing, and leaves `hits` as they are. It writes
/// to `hits`, because a copy of them would wait for the stores of their fields.
pub(in super::super) fn find_chunk(
    dispatch: Dispatch,
    gathers: Gathers,
    tables: &FilterTables,
    haystack: &[u8],
    part: Range<usize>,
    hits: &mut ChunkHits,
) {
    let find = FindChunk { tables, haystack, part, hits };
    let _ = match gathers {
        Gathers::Vector => in_form::<false, _>(dispatch, &tables.shape, find),
        Gathers::Scalar => in_form::<true, _>(dispatch, &tables.shape, find),
    };
}

/// The search for the next chunk where a window may begin.
struct FindChunk<'a> {
    tables: &'a FilterTables,
    haystack: &'a [u8],
    part: Range<usize>,
    hits: &'a mut ChunkHits,
}

impl FormLoop for FindChunk<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector, const STRIDE: usize, const KIND: u8, const FOLD: bool, const LOADS: bool>(
        self,
        v: V,
    ) {
        let FindChunk { tables, haystack, part, hits } = self;
        let (filter, size) = (Filter::new(v, tables), 64 * STRIDE);
        // Any positions that are `STRIDE` apart will do. Some shapes read the byte before each.
        let start = if tables.shape.looks_back() { part.start.max(BEFORE) } else { part.start };
        let last = start + haystack.len().saturating_sub(start + BEYOND) / size * size;
        // The chunks that begin in the part.
        let wanted = part.end.min(last).saturating_sub(start).div_ceil(size) * size;
        for chunk in (start..start + wanted).step_by(size) {
            let passed =
                filter.chunk::<_, STRIDE, KIND, FOLD, LOADS>(v, Inside(haystack), chunk, last);
            if passed.iter().any(|&passed| passed != 0) {
                let places = const { &places::<V, STRIDE>() };
                *hits = ChunkHits { chunk, passed, places, next: chunk + size };
                return;
            }
        }
        if start + wanted < last {
            *hits = ChunkHits::none(start + wanted);
            return;
        }
        let before = last.min(BEFORE);
        let end = haystack.get(last - before..).unwrap_or_default();
        filter.find_in_end::<STRIDE, KIND, FOLD, LOADS>(v, end, before, hits);
        hits.chunk += last - before;
        hits.next += last - before;
    }
}

/// Bytes with zeros after them, for instruction sets that load a part of a vector.
#[derive(Clone, Copy)]
struct Edge<'a>(&'a [u8]);

impl Text for Edge<'_> {
    #[inline(always)]
    fn load<V: Vector>(self, v: V, at: usize) -> V::Bytes {
        // Not an empty slice elsewhere: a masked load from an unmapped page is slow.
        v.load_some(&self.0[at.min(self.0.len())..])
    }
}

/// Bytes for the end of a haystack: less than a chunk, what its loads reach around it, and what two
/// vectors reach that begin at its last position.
const END: usize = BEFORE + 64 * MAX_STRIDE + BEYOND + 64 * 2 + BEYOND;

impl<V: Vector> Filter<'_, V> {
    /// Finds the first chunk from `start` on where a window may begin, in the end of a haystack.
    /// Zeros follow it.
    #[inline(always)]
    fn find_in_end<const STRIDE: usize, const KIND: u8, const FOLD: bool, const LOADS: bool>(
        &self,
        v: V,
        bytes: &[u8],
        start: usize,
        hits: &mut ChunkHits,
    ) {
        let (mut padded, end, size) = ([0; END], bytes.len(), 64 * STRIDE);
        if !V::LOADS_SOME {
            padded[..end].copy_from_slice(bytes);
        }
        for chunk in (start..end).step_by(size) {
            let passed = if V::LOADS_SOME {
                self.chunk::<_, STRIDE, KIND, FOLD, LOADS>(v, Edge(bytes), chunk, end)
            } else {
                self.chunk::<_, STRIDE, KIND, FOLD, LOADS>(v, Inside(&padded), chunk, end)
            };
            if passed.iter().any(|&passed| passed != 0) {
                let (places, next) = (const { &places::<V, STRIDE>() }, end.min(chunk + size));
                *hits = ChunkHits { chunk, passed, places, next };
                return;
            }
        }
        *hits = ChunkHits::none(end);
    }

    /// Tests the positions of a chunk. Leaves out vectors that begin at `end` or later.
    #[inline(always)]
    fn chunk<B: Text, const STRIDE: usize, const KIND: u8, const FOLD: bool, const LOADS: bool>(
        &self,
        v: V,
        bytes: B,
        chunk: usize,
        end: usize,
    ) -> [u64; WAYS] {
        let starts = const { starts::<STRIDE>() };
        let mut passed = [0; WAYS];
        for pair in 0..2 {
            let at = [chunk + starts[2 * pair], chunk + starts[2 * pair + 1]];
            if at[0] < end {
                let masks = self.pair::<B, STRIDE, KIND, FOLD, LOADS>(v, bytes, at);
                for (passed, mask) in passed.iter_mut().zip(masks) {
                    *passed |= u64::from(mask) << (32 * pair);
                }
            }
        }
        passed
    }

    /// Tests the positions of two vectors.
    #[inline(always)]
    fn pair<B: Text, const STRIDE: usize, const KIND: u8, const FOLD: bool, const LOADS: bool>(
        &self,
        v: V,
        bytes: B,
        at: [usize; 2],
    ) -> [u32; WAYS] {
        let mut indices = Indices::<V, LOADS>::new(self.wrap);
        indices.put(v, 0, self.index::<B, KIND, FOLD>(v, bytes, at[0]));
        indices.put(v, 1, self.index::<B, KIND, FOLD>(v, bytes, at[1]));
        let words = [indices.look_up(v, 0, self.words), indices.look_up(v, 1, self.words)];
        let first = self.test::<B, STRIDE, KIND, FOLD>(v, words[0], bytes, at[0]);
        let second = self.test::<B, STRIDE, KIND, FOLD>(v, words[1], bytes, at[1]);
        let mut passed = [0; WAYS];
        for (way, passed) in passed.iter_mut().enumerate() {
            if is_tested(STRIDE, KIND, way) {
                *passed = v.mask_of_two([first[way], second[way]]);
            }
        }
        passed
    }
}
