//! The vector loops of stage 1: vectors of sixteen positions, four to a chunk.

use super::super::build::FilterTables;
use super::super::hash;
use super::super::scan::{PositionList, TileBuffers};
use super::super::shape::{SHORT, SHORTEST, WindowShape};
use super::chunks::{
    BY_ITSELF, Chunks, FOUR, JOINED, LONG, MORE, Mark, THREE, WAYS, each_run, has_short, is_tested,
    prefetch, starts,
};
use crate::simd::Dispatch;
use crate::simd::gather::Gathers;
use crate::simd::vector::{Vector, Work};
use std::ops::Range;

/// Appends the positions of a tile where a window may begin to the lists. Returns where it stopped:
/// see [`each_run`]. The scalar form is in the parent module.
pub(super) fn fill(
    dispatch: Dispatch,
    gathers: Gathers,
    tables: &FilterTables,
    bytes: &[u8],
    tile: Range<usize>,
    lists: &mut TileBuffers,
) -> usize {
    each_run(tables, bytes, tile, |chunks| match gathers {
        _ if chunks.count == 0 => {}
        Gathers::Vector => fill_chunks::<false>(dispatch, tables, &chunks, lists),
        Gathers::Scalar => fill_chunks::<true>(dispatch, tables, &chunks, lists),
    })
}

/// Runs the loop over chunks, with scalar loads in place of gathers if `LOADS`.
fn fill_chunks<const LOADS: bool>(
    dispatch: Dispatch,
    tables: &FilterTables,
    chunks: &Chunks<'_>,
    lists: &mut TileBuffers,
) {
    let done = in_form::<LOADS, _>(dispatch, &tables.shape, MarkAndList { tables, chunks, lists });
    debug_assert!(done.is_some(), "the caller has another loop for the scalar form");
}

/// A vector loop that has a form for each shape of tables. Declare `run` `#[inline(always)]`, as
/// for [`Work`].
pub(super) trait FormLoop {
    type Output;

    fn run<V: Vector, const STRIDE: usize, const KIND: u8, const FOLD: bool, const LOADS: bool>(
        self,
        v: V,
    ) -> Self::Output;
}

/// One form of a loop.
struct LoopForm<L, const STRIDE: usize, const KIND: u8, const FOLD: bool, const LOADS: bool>(L);

impl<L: FormLoop, const STRIDE: usize, const KIND: u8, const FOLD: bool, const LOADS: bool> Work
    for LoopForm<L, STRIDE, KIND, FOLD, LOADS>
{
    type Output = L::Output;

    #[inline(always)]
    fn run<V: Vector>(self, v: V) -> L::Output {
        self.0.run::<V, STRIDE, KIND, FOLD, LOADS>(v)
    }
}

/// Runs the form of a loop for a shape, and returns its output. `None` without vector instructions.
pub(super) fn in_form<const LOADS: bool, L: FormLoop>(
    dispatch: Dispatch,
    shape: &WindowShape,
    work: L,
) -> Option<L::Output> {
    macro_rules! form {
        ($stride:literal, $kind:ident) => {
            match shape.fold {
                0 => dispatch.run(LoopForm::<L, $stride, $kind, false, LOADS>(work)).ok(),
                _ => dispatch.run(LoopForm::<L, $stride, $kind, true, LOADS>(work)).ok(),
            }
        };
    }
    let kind = match (shape.short, shape.joined, shape.short_window) {
        (0, false, _) => LONG,
        (0, true, _) => JOINED,
        (_, _, SHORTEST) => THREE,
        (_, _, SHORT) => FOUR,
        _ => MORE,
    };
    match (shape.stride, kind) {
        (1, LONG) => form!(1, LONG),
        (1, FOUR) => form!(1, FOUR),
        (1, _) => form!(1, MORE),
        (2, LONG) => form!(2, LONG),
        (2, JOINED) => form!(2, JOINED),
        (2, THREE) => form!(2, THREE),
        (2, FOUR) => form!(2, FOUR),
        (2, _) => form!(2, MORE),
        _ => form!(4, LONG),
    }
}

/// The loop over chunks, at least one. `chunks` is a reference, because a copy would wait for the
/// stores of its fields, which takes as long as a few chunks.
struct MarkAndList<'a> {
    tables: &'a FilterTables,
    chunks: &'a Chunks<'a>,
    lists: &'a mut TileBuffers,
}

impl FormLoop for MarkAndList<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector, const STRIDE: usize, const KIND: u8, const FOLD: bool, const LOADS: bool>(
        self,
        v: V,
    ) {
        let (chunks, lists) = (self.chunks, self.lists);
        let count = mark::<V, STRIDE, KIND, FOLD, LOADS>(v, self.tables, chunks, lists);
        for way in 0..WAYS {
            if is_tested(STRIDE, KIND, way) {
                let is_short = has_short(KIND) && way != BY_ITSELF;
                let list = if is_short { &mut lists.short } else { &mut lists.long };
                let base = chunks.base(way % BY_ITSELF);
                append::<V, STRIDE>(v, lists.marks.first(count), way, base, list);
            }
        }
    }
}

/// Marks the chunks where some position passed, and returns their number.
#[inline(always)]
fn mark<V: Vector, const STRIDE: usize, const KIND: u8, const FOLD: bool, const LOADS: bool>(
    v: V,
    tables: &FilterTables,
    chunks: &Chunks<'_>,
    lists: &mut TileBuffers,
) -> usize {
    let filter = Filter::new(v, tables);
    let starts = const { starts::<STRIDE>() };
    let mut marking = lists.marks.start();
    // Indices are computed ahead: a gather that waits for its index delays later ones.
    let mut indices = Indices::<V, LOADS>::new(filter.wrap);
    for (i, start) in starts.into_iter().enumerate().take(Indices::<V, LOADS>::AHEAD) {
        indices.put(
            v,
            i,
            filter.index::<_, KIND, FOLD>(v, InChunks::of(chunks), chunks.from + start),
        );
    }
    for chunk in 0..chunks.count {
        let at = chunks.from + chunk * 64 * STRIDE;
        let next = if chunk + 1 < chunks.count { at + 64 * STRIDE } else { at };
        for line in 0..STRIDE {
            prefetch(chunks.bytes, at + 64 * line);
        }
        let mut passed = [0_u64; WAYS];
        for pair in 0..2 {
            let step = Step { bytes: InChunks::of(chunks), at, next };
            // Not a loop, which would keep the answers in memory.
            let tested = [
                step.test::<V, STRIDE, KIND, FOLD, LOADS>(v, &filter, &mut indices, 2 * pair),
                step.test::<V, STRIDE, KIND, FOLD, LOADS>(v, &filter, &mut indices, 2 * pair + 1),
            ];
            for (way, passed) in passed.iter_mut().enumerate() {
                if is_tested(STRIDE, KIND, way) {
                    let mask = v.mask_of_two([tested[0][way], tested[1][way]]);
                    *passed |= u64::from(mask) << (32 * pair);
                }
            }
        }
        marking.push::<STRIDE, KIND>(chunk, passed);
    }
    marking.len()
}

/// A chunk and the next one, by where they begin.
struct Step<'a> {
    bytes: InChunks<'a>,
    at: usize,
    next: usize,
}

impl Step<'_> {
    /// Tests the positions of the chunk's `i`-th vector, and computes the indices of one ahead.
    #[inline(always)]
    fn test<V: Vector, const STRIDE: usize, const KIND: u8, const FOLD: bool, const LOADS: bool>(
        &self,
        v: V,
        filter: &Filter<'_, V>,
        indices: &mut Indices<V, LOADS>,
        i: usize,
    ) -> [V::Answers; WAYS] {
        let starts = const { starts::<STRIDE>() };
        let words = indices.look_up(v, i, filter.words);
        let ahead = i + Indices::<V, LOADS>::AHEAD;
        let from = if ahead < 4 { self.at + starts[ahead] } else { self.next + starts[ahead - 4] };
        indices.put(v, ahead, filter.index::<_, KIND, FOLD>(v, self.bytes, from));
        filter.test::<_, STRIDE, KIND, FOLD>(v, words, self.bytes, self.at + starts[i])
    }
}

/// Byte offsets of filter words to look up, computed ahead: in registers for gathers, in memory for
/// scalar loads.
pub(super) struct Indices<V: Vector, const LOADS: bool> {
    in_registers: [V::Bytes; 4],
    in_memory: [[u32; 16]; 4],
}

impl<V: Vector, const LOADS: bool> Indices<V, LOADS> {
    /// How many vectors ahead the offsets are computed.
    const AHEAD: usize = if LOADS { 4 } else { V::AHEAD };

    #[inline(always)]
    pub(super) fn new(any: V::Bytes) -> Self {
        Indices { in_registers: [any; 4], in_memory: [[0; 16]; 4] }
    }

    #[inline(always)]
    pub(super) fn put(&mut self, v: V, i: usize, index: V::Bytes) {
        if LOADS {
            self.in_memory[i % 4] = v.words(index);
        } else {
            self.in_registers[i % Self::AHEAD] = index;
        }
    }

    /// The filter words at the offsets of a [`Filter::index`].
    #[inline(always)]
    pub(super) fn look_up(&self, v: V, i: usize, filter: &[u32]) -> V::Bytes {
        let (index, stored) = (self.in_registers[i % Self::AHEAD], &self.in_memory[i % 4]);
        debug_assert!(stored.iter().all(|&at| at as usize / 4 < filter.len()));
        debug_assert!(v.words(index).iter().all(|&at| at as usize / 4 < filter.len()));
        if LOADS {
            // SAFETY: `Filter::index` masks each offset with `wrap`, the offset of the filter's
            // last word, so the four bytes at it are inside the filter.
            unsafe { v.gather_by_loads(filter.as_ptr(), stored) }
        } else {
            // SAFETY: the offsets are inside the filter, as above. It has at most 4 MiB, so no
            // offset is negative as an `i32`.
            unsafe { v.gather(filter.as_ptr(), index) }
        }
    }
}

/// Bytes that vectors of 64 are loaded from.
pub(super) trait Text: Copy {
    fn load<V: Vector>(self, v: V, at: usize) -> V::Bytes;
}

/// The bytes of a [`Chunks`]. Loads from them are not checked.
#[derive(Clone, Copy)]
struct InChunks<'a>(&'a [u8]);

impl<'a> InChunks<'a> {
    #[inline(always)]
    fn of(chunks: &Chunks<'a>) -> Self {
        InChunks(chunks.bytes)
    }
}

impl Text for InChunks<'_> {
    #[inline(always)]
    fn load<V: Vector>(self, v: V, at: usize) -> V::Bytes {
        debug_assert!(at + 64 <= self.0.len());
        // SAFETY: `of` took the bytes from a `Chunks`. A vector begins at most 3 bytes after the
        // start of one of the chunk's 64-byte blocks (see `starts`), and a load at most 4 bytes
        // after that or 1 byte before it. `Chunks::new` asserts 8 bytes after the last chunk, and 1
        // byte before the first for shapes that look back.
        unsafe { v.load_at(self.0.as_ptr().wrapping_add(at)) }
    }
}

/// Bytes that all loads lie in.
#[derive(Clone, Copy)]
pub(super) struct Inside<'a>(pub(super) &'a [u8]);

impl Text for Inside<'_> {
    #[inline(always)]
    fn load<V: Vector>(self, v: V, at: usize) -> V::Bytes {
        v.load(self.0[at..].first_chunk().expect("the caller leaves room for the loads"))
    }
}

/// The constants of a scan, in registers.
pub(super) struct Filter<'a, V: Vector> {
    pub(super) words: &'a [u32],
    /// The byte offset of the filter's last word: the mask of word offsets.
    pub(super) wrap: V::Bytes,
    fold: V::Bytes,
    /// From a position to the last four bytes of its windows, and of its gram.
    short_last: usize,
    long_last: usize,
    gram_last: usize,
    /// See [`CHOOSE`].
    choose: V::Bytes,
}

impl<'a, V: Vector> Filter<'a, V> {
    #[inline(always)]
    pub(super) fn new(v: V, tables: &'a FilterTables) -> Self {
        Self {
            words: &tables.filter,
            wrap: v.splat32(4 * (tables.filter.len() - 1) as u32),
            fold: v.splat32(tables.shape.fold as u32),
            short_last: tables.shape.short_window.saturating_sub(4),
            long_last: tables.shape.window - 4,
            gram_last: tables.shape.gram() - 4,
            choose: v.repeat(&CHOOSE),
        }
    }

    /// Loads 64 bytes, folded if `FOLD`.
    #[inline(always)]
    fn load<B: Text, const FOLD: bool>(&self, v: V, bytes: B, at: usize) -> V::Bytes {
        let word = bytes.load(v, at);
        if FOLD { v.fold(word, self.fold) } else { word }
    }

    /// The byte offsets of sixteen filter words.
    #[inline(always)]
    pub(super) fn index<B: Text, const KIND: u8, const FOLD: bool>(
        &self,
        v: V,
        bytes: B,
        at: usize,
    ) -> V::Bytes {
        let mut first = self.load::<B, FOLD>(v, bytes, at);
        if KIND == THREE {
            first = v.and(first, v.splat32(0x00ff_ffff));
        }
        let mut index = v.multiply_add(first, v.splat32(hash::FACTORS_FIRST));
        let last = if KIND == MORE { self.short_last } else { self.long_last };
        if matches!(KIND, LONG | JOINED | MORE) {
            let last = self.load::<B, FOLD>(v, bytes, at + last);
            index = v.add32(index, v.multiply_add(last, v.splat32(hash::FACTORS_LAST)));
        }
        v.and(index, self.wrap)
    }

    /// Tests at which of sixteen positions a window may begin.
    #[inline(always)]
    pub(super) fn test<B: Text, const STRIDE: usize, const KIND: u8, const FOLD: bool>(
        &self,
        v: V,
        words: V::Bytes,
        bytes: B,
        at: usize,
    ) -> [V::Answers; WAYS] {
        let mut passed = [v.clear32(words, words); WAYS];
        for (step, passed) in passed.iter_mut().enumerate() {
            if is_tested(STRIDE, KIND, step) {
                let choice = match step {
                    BY_ITSELF if KIND == LONG => at,
                    BY_ITSELF => at + self.long_last,
                    // See `WindowShape::choice`.
                    0 if STRIDE > 1 => at + self.gram_last,
                    _ => at - step,
                };
                let choice = self.load::<B, FOLD>(v, bytes, choice);
                let hash = v.multiply_add(choice, v.splat32(hash::FACTORS_BITS));
                *passed = v.clear32(words, v.shuffle(self.choose, hash));
            }
        }
        passed
    }
}

/// The bit that each value of four hash bits chooses: see [`hash::bits`].
static CHOOSE: [u8; 16] = choose();

const fn choose() -> [u8; 16] {
    let mut table = [0; 16];
    let mut i = 0;
    while i < 16 {
        table[i] = 1 << hash::which(i as u32);
        i += 1;
    }
    table
}

/// Appends the positions of marks to a list, if the first chunk begins at `base`.
#[inline(always)]
fn append<V: Vector, const STRIDE: usize>(
    v: V,
    marks: &[Mark],
    way: usize,
    base: u16,
    list: &mut PositionList,
) {
    let places = const { &places::<V, STRIDE>() };
    for mark in marks {
        debug_assert!(list.len + 64 <= list.at.len());
        let (base, to) = (mark.start::<STRIDE>(base), list.at.as_mut_ptr().wrapping_add(list.len));
        // SAFETY: a list gets at most one position per byte of a tile's chunks, which cover at
        // most TILE and one chunk of 128 bytes (at a stride of 4, only every fourth byte counts).
        // `list.len` excludes those of this mark, so 64 more fit: POSITIONS is TILE + 256.
        list.len += unsafe { v.append_places(places, mark.passed[way], base, to) };
    }
}

/// For each bit of a mark, its position in the chunk.
pub(super) const fn places<V: Vector, const STRIDE: usize>() -> [u8; 64] {
    let (starts, order) = (starts::<STRIDE>(), V::BIT_ORDER);
    let mut places = [0; 64];
    let mut bit = 0;
    while bit < 64 {
        let element = bit / 32 * 32 + order[bit % 32] as usize;
        places[bit] = (starts[element / 16] + 4 * (element % 16)) as u8;
        bit += 1;
    }
    places
}
