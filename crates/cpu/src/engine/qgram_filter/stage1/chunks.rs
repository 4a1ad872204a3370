//! What the vector forms of stage 1 share: the chunks of a tile, and the marks on them.
//!
//! A vector loop tests the 64 positions of a chunk, and marks the chunk if some position passed.
//! The marks become positions after the loop. So the loop has no branch on whether a position
//! passes, which a CPU could not predict.

use super::super::build::FilterTables;
use super::super::scan::TILE;
use super::super::shape::{BEFORE, JOINED_STRIDE, MAX_STRIDE};
use std::ops::Range;

/// The maximum number of bytes that loads reach past a chunk.
pub(super) const BEYOND: usize = 8;

/// How far ahead the haystack is prefetched.
const AHEAD: usize = 8 << 10;

/// The kinds of windows. `LONG`: long ones by themselves. `JOINED`: long ones joined to grams. The
/// others: long and short ones, where the short ones have three bytes, four, or more.
pub(super) const LONG: u8 = 0;
pub(super) const JOINED: u8 = 1;
pub(super) const THREE: u8 = 2;
pub(super) const FOUR: u8 = 3;
pub(super) const MORE: u8 = 4;

/// Whether there are short windows.
pub(super) const fn has_short(kind: u8) -> bool {
    kind > JOINED
}

/// Consecutive chunks of a tile, each of 64 times the stride bytes.
#[derive(Clone, Copy)]
pub(super) struct Chunks<'a> {
    pub(super) bytes: &'a [u8],
    /// Where the tile begins in `bytes`. A negative position wraps around.
    base: usize,
    /// Where the first chunk begins in `bytes`.
    pub(super) from: usize,
    pub(super) count: usize,
}

impl<'a> Chunks<'a> {
    /// Checks what the loads and stores of the vector loops rely on.
    ///
    /// # Panics
    /// There are more chunks than marks; or `bytes` ends less than [`BEYOND`] bytes after the last
    /// chunk; or the shape looks back and `bytes` begins less than [`BEFORE`] bytes before the
    /// first.
    fn new(tables: &FilterTables, bytes: &'a [u8], base: usize, from: usize, count: usize) -> Self {
        let end = from + count * size(tables);
        assert!(count <= CHUNKS);
        assert!(count == 0 || end + BEYOND <= bytes.len());
        assert!(count == 0 || from >= BEFORE || !tables.shape.looks_back());
        Chunks { bytes, base, from, count }
    }

    /// The tile position of the byte `step` bytes before the first chunk.
    #[inline(always)]
    pub(super) fn base(self, step: usize) -> u16 {
        self.from.wrapping_sub(self.base) as u16 + (BEFORE - step) as u16
    }
}

/// Bytes of a chunk.
fn size(tables: &FilterTables) -> usize {
    64 * tables.shape.stride
}

/// The maximum number of chunks of a tile: the smallest have 64 bytes, and the last two may be
/// padded.
const CHUNKS: usize = TILE / 64 + 2;

/// The ways in which a position may pass: as the first or the second window of a gram, or as a
/// long window by itself.
pub(in super::super) const WAYS: usize = JOINED_STRIDE + 1;
pub(in super::super) const BY_ITSELF: usize = JOINED_STRIDE;

/// Whether windows of a kind may pass in a way.
pub(super) const fn is_tested(stride: usize, kind: u8, way: usize) -> bool {
    if way == BY_ITSELF { kind != JOINED } else { kind != LONG && way < stride }
}

/// A chunk with positions that passed.
#[derive(Clone, Copy, Default)]
pub(super) struct Mark {
    /// For each way, one bit per position. Each half is a pair of vectors, with its bits in the
    /// order of `Vector::BIT_ORDER`.
    pub(super) passed: [u64; WAYS],
    chunk: usize,
}

impl Mark {
    /// The position of its chunk if the first chunk begins at `base`.
    #[inline(always)]
    pub(super) fn start<const STRIDE: usize>(&self, base: u16) -> u16 {
        base.wrapping_add((self.chunk * 64 * STRIDE) as u16)
    }
}

/// Capacity for a mark on each chunk of a tile.
pub(in super::super) struct Marks(Box<[Mark; CHUNKS]>);

impl Default for Marks {
    fn default() -> Self {
        Marks(Box::new([Mark::default(); CHUNKS]))
    }
}

impl Marks {
    pub(super) fn start(&mut self) -> Marking<'_> {
        Marking { marks: &mut self.0, len: 0 }
    }

    pub(super) fn first(&self, count: usize) -> &[Mark] {
        &self.0[..count]
    }
}

/// Appends marks. Their number stays in a register.
pub(super) struct Marking<'a> {
    marks: &'a mut [Mark; CHUNKS],
    len: usize,
}

impl Marking<'_> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Marks a chunk if some position passed, without a branch. Call it once for each chunk of a
    /// [`Chunks`], in order.
    #[inline(always)]
    pub(super) fn push<const STRIDE: usize, const KIND: u8>(
        &mut self,
        chunk: usize,
        passed: [u64; WAYS],
    ) {
        debug_assert!(self.len <= chunk && chunk < CHUNKS);
        // SAFETY: `len` grows by at most one per call, so it is at most `chunk`, the number of
        // earlier calls. `Chunks::new` asserts that there are at most CHUNKS chunks, so `chunk` is
        // below CHUNKS, the number of marks.
        let mark = unsafe { self.marks.get_unchecked_mut(self.len) };
        mark.chunk = chunk;
        let mut any = 0;
        for (way, passed) in passed.into_iter().enumerate() {
            if is_tested(STRIDE, KIND, way) {
                mark.passed[way] = passed;
                any |= passed;
            }
        }
        self.len += usize::from(any != 0);
    }
}

/// Capacity for two of the largest chunks, the bytes that loads reach around them, and zeros.
const PADDED: usize = 640;

/// Cuts a tile into chunks and calls `run` with them: the whole tile if it ends with its block,
/// else its whole chunks. Returns where it stopped.
///
/// A chunk too near the start or the end of the block is copied between zeros. Positions beyond
/// the end of the block may pass; nothing can match there.
pub(super) fn each_run(
    tables: &FilterTables,
    bytes: &[u8],
    tile: Range<usize>,
    mut run: impl FnMut(Chunks<'_>),
) -> usize {
    assert!(tile.end - tile.start <= TILE && tile.end <= bytes.len());
    let (base, size) = (tile.start, size(tables));
    let mut padded = |from: usize, count: usize| {
        let mut copy = [0; PADDED];
        let before = BEFORE.min(from);
        let rest = &bytes[from - before..];
        let rest = &rest[..rest.len().min(PADDED - BEFORE)];
        copy[BEFORE - before..][..rest.len()].copy_from_slice(rest);
        run(Chunks::new(tables, &copy, BEFORE.wrapping_sub(from - base), BEFORE, count));
    };
    let mut from = base;
    if tables.shape.looks_back() && from < BEFORE && tile.end >= from + size {
        padded(from, 1);
        from += size;
    }
    let is_inside = from >= BEFORE || !tables.shape.looks_back();
    let end = tile.end.min(bytes.len().saturating_sub(BEYOND));
    let count = if is_inside { end.saturating_sub(from) / size } else { 0 };
    let done = from + count * size;
    let last = tile.end == bytes.len() && done < tile.end;
    if last {
        padded(done, (tile.end - done).div_ceil(size));
    }
    run(Chunks::new(tables, bytes, base, from, count));
    if last { tile.end } else { done }
}

/// Where each of a chunk's four vectors begins in the chunk.
///
/// Element i of a vector tests the position of its byte 4 i. So with a stride below four, several
/// vectors cover the same 64 bytes, each shifted by the stride against the one before.
pub(super) const fn starts<const STRIDE: usize>() -> [usize; 4] {
    let per_span = MAX_STRIDE / STRIDE;
    let mut starts = [0; 4];
    let mut vector = 0;
    while vector < 4 {
        starts[vector] = vector / per_span * 64 + vector % per_span * STRIDE;
        vector += 1;
    }
    starts
}

/// Prefetches one cache line of the haystack, [`AHEAD`] bytes ahead.
#[inline(always)]
pub(super) fn prefetch(bytes: &[u8], at: usize) {
    crate::simd::prefetch(bytes.as_ptr().wrapping_add(at + AHEAD));
}
