//! The lanes with AVX2: four vectors of 8 lanes.
//!
//! AVX2 has no compress, so hits are extracted from a mask one by one. It has no 256-byte lookup
//! either, so the class of each byte takes one more gather, which does not wait for the state.

use super::lanes::{COUNTS, HITS, OPEN_COUNTS};
use super::output::{Hits, MatchOutput};
use super::scalar;
use super::scan::{LaneLayout, Lanes};
use super::table::{AcSimdTable, COMPACT2, COMPACT3, DENSE, Form, LABEL, LINKED, Walk};
use super::trail::{STEPS, Trail, TrailRoom};
use crate::simd::Avx2;
use std::arch::x86_64::*;
use std::ops::ControlFlow;

/// Lanes of a vector.
const WIDTH: usize = 8;

/// Vectors.
const VECTORS: usize = 4;

/// Lanes of a window.
pub(super) const LANES: usize = WIDTH * VECTORS;

/// The states of all lanes.
#[derive(Clone, Copy)]
struct LaneStates {
    entry: [__m256i; VECTORS],
    place: [__m256i; VECTORS],
    past: [__m256i; VECTORS],
    deep: [__m256i; VECTORS],
}

/// Walks 32 lanes from and to `lanes.walks`.
pub(super) fn walk(
    _: Avx2,
    lanes: &mut Lanes,
    table: &AcSimdTable,
    window: &[u8],
    cut: LaneLayout,
    counting: bool,
) {
    // SAFETY: the token proves that detection found every feature that `walk_table` enables, see
    // `simd::isa`.
    unsafe { walk_table(lanes, table, window, cut, counting) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn walk_table(
    lanes: &mut Lanes,
    table: &AcSimdTable,
    window: &[u8],
    cut: LaneLayout,
    counting: bool,
) {
    match table.form {
        Form::Dense => walk_as::<DENSE>(lanes, table, window, cut, counting),
        Form::Compact2 => walk_as::<COMPACT2>(lanes, table, window, cut, counting),
        Form::Compact3 => walk_as::<COMPACT3>(lanes, table, window, cut, counting),
        Form::Linked => walk_as::<LINKED>(lanes, table, window, cut, counting),
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn walk_as<const FORM: u8>(
    lanes: &mut Lanes,
    table: &AcSimdTable,
    window: &[u8],
    cut: LaneLayout,
    counting: bool,
) {
    match (counting, table.saturates) {
        (false, _) => walk_window::<FORM, HITS>(lanes, table, window, cut),
        (true, false) => walk_window::<FORM, COUNTS>(lanes, table, window, cut),
        (true, true) => walk_window::<FORM, OPEN_COUNTS>(lanes, table, window, cut),
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn walk_window<const FORM: u8, const MODE: u8>(
    lanes: &mut Lanes,
    table: &AcSimdTable,
    window: &[u8],
    cut: LaneLayout,
) {
    let LaneLayout { size, warm, .. } = cut;
    assert!(cut.lanes == LANES && window.len() == LANES * size && window.len() < 1 << 26);
    assert!(size.is_multiple_of(4) && warm.is_multiple_of(4) && warm <= size);
    let room = lanes.trail.room_for(cut);
    let step = Stepper::new(table, window, size);
    // SAFETY: the window has LANES segments of `size` bytes, and `warm` is a multiple of four and
    // at most `size`, as asserted above.
    let warmed = unsafe { warm_up::<FORM>(&step, table, warm) };
    spill(&warmed, &mut lanes.begin);
    lanes.begin[0] = lanes.walks[0];
    let mut state = gather_up(&lanes.begin);
    let zero = _mm256_setzero_si256();
    let (mut counts, mut flags) = ([zero; VECTORS], [[0u8; STEPS]; VECTORS]);
    for first in (0..size).step_by(STEPS) {
        let chunk = STEPS.min(size - first);
        for at in (first..first + chunk).step_by(4) {
            // SAFETY: the window has LANES segments of `size` bytes, and `at + 4 <= size`: both
            // are multiples of four, as asserted above.
            let words = unsafe { step.load(at, 0) };
            for byte in 0..4 {
                let mut any = 0;
                for v in 0..VECTORS {
                    step.take::<FORM>(&mut state, v, words[v], byte);
                    let counted = _mm256_and_si256(state.entry[v], step.count_mask);
                    if MODE != HITS {
                        let more = _mm256_srl_epi32(counted, step.count_shift);
                        counts[v] = _mm256_add_epi32(counts[v], more);
                    }
                    if MODE != COUNTS {
                        let (with, flip) =
                            if MODE == HITS { (zero, 0xff) } else { (step.open_mask, 0) };
                        let mask = mask_of(_mm256_cmpeq_epi32(counted, with)) ^ flip;
                        flags[v][at - first + byte] = mask as u8;
                        any |= mask;
                    }
                }
                if any != 0 {
                    // SAFETY: `room_for` asserts room for `size` steps, and this is one of them.
                    unsafe { store_places(&room, size, at + byte, &state.place) };
                }
            }
        }
        if MODE != COUNTS {
            // SAFETY: `room_for` asserts room for the bits of `size` steps, and `first < size`.
            unsafe { store_bits(&room, first / STEPS, &flags, u64::MAX >> (STEPS - chunk)) };
        }
    }
    spill(&state, &mut lanes.walks);
    for (to, &counts) in lanes.counts.chunks_exact_mut(WIDTH).zip(&counts) {
        to.copy_from_slice(&words_of(counts));
    }
}

/// The states after the last `warm` bytes before each segment. Lane 0 has no such bytes: it reads
/// the first of its own segment, and its result is not used.
///
/// # Safety
/// The window of the stepper has LANES segments, and `warm` is a multiple of four and at most as
/// long as one.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
unsafe fn warm_up<const FORM: u8>(
    step: &Stepper<'_>,
    table: &AcSimdTable,
    warm: usize,
) -> LaneStates {
    let all = |field: u32| [_mm256_set1_epi32(field as i32); VECTORS];
    let past = all(table.start().past);
    let mut state = LaneStates { entry: all(0), place: all(0), past, deep: all(0) };
    for at in (0..warm).step_by(4) {
        // SAFETY: `at + 4 <= warm`. Lane `k > 0` reads the last `warm` bytes of the segment of lane
        // `k - 1`, lane 0 the first of its own, and the caller guarantees that these exist.
        let words = unsafe { step.load(at, warm) };
        for byte in 0..4 {
            (0..VECTORS).for_each(|v| step.take::<FORM>(&mut state, v, words[v], byte));
        }
    }
    state
}

/// Writes the places of one step of all vectors; each vector has `size` steps.
///
/// # Safety
/// The trail has room for them.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store_places(room: &TrailRoom, size: usize, step: usize, places: &[__m256i; VECTORS]) {
    for (v, &places) in places.iter().enumerate() {
        let to = room.places.wrapping_add((v * size + step) * WIDTH).cast();
        // SAFETY: `Trail::prepare` allocates `size` times WIDTH places for each vector, as the
        // caller guarantees. The first place is aligned to 64 bytes, and WIDTH places are 32 bytes.
        unsafe { _mm256_store_si256(to, places) };
    }
}

/// Writes, for each lane, in which of 64 steps it reports something.
///
/// # Safety
/// The trail has room for word `word` of each lane.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
unsafe fn store_bits(room: &TrailRoom, word: usize, flags: &[[u8; STEPS]; VECTORS], keep: u64) {
    for (v, flags) in flags.iter().enumerate() {
        for (lane, bits) in bits_of(flags).into_iter().enumerate() {
            let to = (v * WIDTH + lane) * room.words + word;
            // SAFETY: `Trail::prepare` allocates `room.words` words of bits for each lane, and the
            // caller guarantees that `word` is one of them.
            unsafe { room.bits.wrapping_add(to).write(bits & keep) };
        }
    }
}

/// For each lane of a vector, in which of 64 steps it reports something. `flags` has the lanes
/// that report in each step.
#[inline]
#[target_feature(enable = "avx2")]
fn bits_of(flags: &[u8; STEPS]) -> [u64; WIDTH] {
    let from = flags.as_ptr();
    // SAFETY: `flags` is a reference to 64 bytes; this unaligned load reads the first 32.
    let mut early = unsafe { _mm256_loadu_si256(from.cast()) };
    // SAFETY: `flags` is a reference to 64 bytes; this unaligned load reads the last 32.
    let mut late = unsafe { _mm256_loadu_si256(from.wrapping_add(32).cast()) };
    let mut bits = [0; WIDTH];
    for lane in (0..WIDTH).rev() {
        let (low, high) = (_mm256_movemask_epi8(early) as u32, _mm256_movemask_epi8(late) as u32);
        bits[lane] = u64::from(high) << 32 | u64::from(low);
        (early, late) = (_mm256_add_epi8(early, early), _mm256_add_epi8(late, late));
    }
    bits
}

/// The constants of a step.
struct Stepper<'a> {
    table: &'a AcSimdTable,
    window: &'a [u8],
    starts: [__m256i; VECTORS],
    number: __m256i,
    shift: __m128i,
    bits: __m128i,
    count_shift: __m128i,
    count_mask: __m256i,
    /// The largest count of an entry, which stands for itself and all larger ones.
    open_mask: __m256i,
    mask: __m256i,
    label: __m256i,
    defaults: __m256i,
    class: &'a [i32; 256],
}

impl<'a> Stepper<'a> {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(table: &'a AcSimdTable, window: &'a [u8], size: usize) -> Stepper<'a> {
        let count = |n: u32| _mm_cvtsi32_si128(n as i32);
        let all = |n: u32| _mm256_set1_epi32(n as i32);
        let number = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        let start = |v: usize| {
            let lane = _mm256_add_epi32(number, _mm256_set1_epi32((v * WIDTH) as i32));
            _mm256_mullo_epi32(lane, _mm256_set1_epi32(size as i32))
        };
        Stepper {
            table,
            window,
            starts: [start(0), start(1), start(2), start(3)],
            number,
            shift: count(table.shift),
            bits: count(table.bits),
            count_shift: count(table.count_shift),
            count_mask: all(table.count_mask),
            open_mask: all(table.count_mask),
            mask: all(table.mask),
            label: all(LABEL),
            defaults: all(table.defaults),
            class: &table.wide_class,
        }
    }

    /// Loads four bytes of each lane, `at` bytes after its start. All lanes but the first start
    /// `back` bytes before their segment.
    ///
    /// # Safety
    /// These bytes are in the window.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load(&self, at: usize, back: usize) -> [__m256i; VECTORS] {
        let from: *const i32 = self.window.as_ptr().wrapping_add(at).cast();
        let mut words = self.starts;
        for (v, word) in words.iter_mut().enumerate() {
            let mut offset = *word;
            if back > 0 {
                let first = if v == 0 {
                    _mm256_cmpeq_epi32(self.number, _mm256_setzero_si256())
                } else {
                    _mm256_setzero_si256()
                };
                let back = _mm256_andnot_si256(first, _mm256_set1_epi32(back as i32));
                offset = _mm256_sub_epi32(offset, back);
            }
            // SAFETY: the caller guarantees that the four bytes at `at` plus each offset are in
            // the window.
            *word = unsafe { _mm256_i32gather_epi32::<1>(from, offset) };
        }
        words
    }

    /// Steps the lanes of one vector by one byte of their words. See `Steps::take`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn take<const FORM: u8>(&self, now: &mut LaneStates, v: usize, words: __m256i, byte: usize) {
        let bytes = _mm256_srl_epi32(words, _mm_cvtsi32_si128(8 * byte as i32));
        let bytes = _mm256_and_si256(bytes, self.label);
        // SAFETY: LABEL masks each index to below 256, the length of `class`.
        let class = unsafe { _mm256_i32gather_epi32::<4>(self.class.as_ptr(), bytes) };
        let table: *const i32 = self.table.words.as_ptr().cast();
        if FORM == DENSE {
            let row = _mm256_andnot_si256(self.count_mask, now.entry[v]);
            let column = _mm256_add_epi32(row, class);
            // SAFETY: by the dense invariant of `AcSimdTable`, an entry without its count is the
            // offset of a row and a class is a column, so their sum is an index into `words`.
            let entry = unsafe { _mm256_i32gather_epi32::<4>(table, column) };
            now.entry[v] = entry;
            now.place[v] = _mm256_andnot_si256(self.count_mask, entry);
            return;
        }
        let slot = _mm256_xor_si256(_mm256_srl_epi32(now.entry[v], self.shift), class);
        let context = _mm256_or_si256(now.past[v], class);
        let defaults = table.wrapping_add(self.table.defaults as usize);
        // SAFETY: by the invariant of `AcSimdTable`, every context is below `lists - defaults`,
        // so it is the index of a default.
        let default = unsafe { _mm256_i32gather_epi32::<4>(defaults, context) };
        // SAFETY: by the invariant of `AcSimdTable`, a base is below `defaults`, a multiple of
        // 256, and a class is below 256, so their xor is below `defaults`, too.
        let stored = unsafe { _mm256_i32gather_epi32::<4>(table, slot) };
        let (mut entry, mut place) = (default, _mm256_add_epi32(context, self.defaults));
        if FORM == COMPACT3 {
            let slot = _mm256_xor_si256(_mm256_srl_epi32(now.deep[v], self.shift), class);
            // SAFETY: `now.deep` is a default, which is an entry, so its base xor a class is
            // below `defaults` by the invariant of `AcSimdTable`.
            let deeper = unsafe { _mm256_i32gather_epi32::<4>(table, slot) };
            let fits = self.fits(deeper, class);
            entry = _mm256_blendv_epi8(entry, deeper, fits);
            place = _mm256_blendv_epi8(place, slot, fits);
            now.deep[v] = default;
        }
        let fits = self.fits(stored, class);
        entry = _mm256_blendv_epi8(entry, stored, fits);
        place = _mm256_blendv_epi8(place, slot, fits);
        if FORM == LINKED {
            let partial = _mm256_set1_epi32(self.table.partial as i32);
            let is_partial = _mm256_cmpeq_epi32(_mm256_and_si256(now.entry[v], partial), partial);
            let open = mask_of(_mm256_andnot_si256(fits, is_partial));
            if open != 0 {
                (entry, place) = self.follow(open, now.place[v], class, entry, place);
            }
        }
        now.past[v] = _mm256_and_si256(_mm256_sll_epi32(context, self.bits), self.mask);
        (now.entry[v], now.place[v]) = (entry, place);
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn fits(&self, entry: __m256i, class: __m256i) -> __m256i {
        _mm256_cmpeq_epi32(_mm256_and_si256(entry, self.label), class)
    }

    /// Follows the failure states of the lanes in `open`, which are in partial states, one lane at
    /// a time.
    #[cold]
    #[inline(never)]
    #[target_feature(enable = "avx2")]
    fn follow(
        &self,
        mut open: u32,
        at: __m256i,
        class: __m256i,
        entry: __m256i,
        place: __m256i,
    ) -> (__m256i, __m256i) {
        let (at, class) = (words_of(at), words_of(class));
        let (mut entry, mut place) = (words_of(entry), words_of(place));
        while open != 0 {
            let lane = open.trailing_zeros() as usize;
            if let Some(found) = self.table.steps().follow(at[lane], class[lane]) {
                (entry[lane], place[lane]) = found;
            }
            open &= open - 1;
        }
        (vector_of(&entry), vector_of(&place))
    }
}

/// One bit for each lane.
#[inline]
#[target_feature(enable = "avx2")]
fn mask_of(lanes: __m256i) -> u32 {
    _mm256_movemask_ps(_mm256_castsi256_ps(lanes)) as u32
}

/// See `lanes::write`.
pub(super) fn write(
    _: Avx2,
    out: &mut MatchOutput<'_>,
    trail: &Trail,
    hits: &mut Hits,
    first: u32,
) -> ControlFlow<()> {
    // SAFETY: the token proves that detection found every feature that `write_lanes` enables, see
    // `simd::isa`.
    unsafe { write_lanes(out, trail, hits, first) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn write_lanes(
    out: &mut MatchOutput<'_>,
    trail: &Trail,
    hits: &mut Hits,
    first: u32,
) -> ControlFlow<()> {
    out.write_all::<WIDTH>(trail, hits, first, Hits::pick)
}

/// Writes the states to the walks of their lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn spill(state: &LaneStates, walks: &mut [Walk; super::lanes::MOST]) {
    for v in 0..VECTORS {
        let (entry, place) = (words_of(state.entry[v]), words_of(state.place[v]));
        let (past, deep) = (words_of(state.past[v]), words_of(state.deep[v]));
        for l in 0..WIDTH {
            let (entry, place) = (entry[l], place[l]);
            walks[v * WIDTH + l] = Walk { entry, place, past: past[l], deep: deep[l] };
        }
    }
}

/// Reads the states from the walks of their lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn gather_up(walks: &[Walk; super::lanes::MOST]) -> LaneStates {
    let zero = [_mm256_setzero_si256(); VECTORS];
    let mut state = LaneStates { entry: zero, place: zero, past: zero, deep: zero };
    for v in 0..VECTORS {
        let of = |field: fn(&Walk) -> u32| -> [u32; WIDTH] {
            std::array::from_fn(|l| field(&walks[v * WIDTH + l]))
        };
        state.entry[v] = vector_of(&of(|w| w.entry));
        state.place[v] = vector_of(&of(|w| w.place));
        state.past[v] = vector_of(&of(|w| w.past));
        state.deep[v] = vector_of(&of(|w| w.deep));
    }
    state
}

#[inline]
#[target_feature(enable = "avx2")]
fn vector_of(words: &[u32; WIDTH]) -> __m256i {
    // SAFETY: `words` is a reference to 32 bytes, and the load is unaligned.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn words_of(vector: __m256i) -> [u32; WIDTH] {
    let mut words = [0u32; WIDTH];
    // SAFETY: `words` is an array of 32 bytes, and the store is unaligned.
    unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), vector) };
    words
}

/// Walks 8 lanes without gathers: for CPUs on which these are slow.
pub(super) fn walk_without_gathers(
    _: Avx2,
    lanes: &mut Lanes,
    window: scalar::Window<'_>,
    counting: bool,
) {
    // SAFETY: the token proves that detection found every feature that `scalar_walks` enables, see
    // `simd::isa`.
    unsafe { scalar_walks(lanes, window, counting) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn scalar_walks(lanes: &mut Lanes, window: scalar::Window<'_>, counting: bool) {
    match window.table.form {
        Form::Dense => scalar_walks_as::<DENSE>(lanes, window, counting),
        Form::Compact2 => scalar_walks_as::<COMPACT2>(lanes, window, counting),
        Form::Compact3 => scalar_walks_as::<COMPACT3>(lanes, window, counting),
        Form::Linked => scalar_walks_as::<LINKED>(lanes, window, counting),
    }
}

/// Not inlined: the loops of all forms in one function would compete for registers.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn scalar_walks_as<const FORM: u8>(lanes: &mut Lanes, window: scalar::Window<'_>, counting: bool) {
    scalar::walk_as::<FORM>(lanes, window, counting, |rows, mask, open| {
        let mask = _mm256_set1_epi32(mask as i32);
        let (with, flip) = if open { (mask, 0) } else { (_mm256_setzero_si256(), 0xff) };
        let flags = std::array::from_fn(|step| {
            // SAFETY: `entries` has 8 words, and this unaligned load reads them.
            let entries = unsafe { _mm256_loadu_si256(rows[step].entries.as_ptr().cast()) };
            let counted = _mm256_and_si256(entries, mask);
            mask_of(_mm256_cmpeq_epi32(counted, with)) as u8 ^ flip
        });
        bits_of(&flags)
    });
}
