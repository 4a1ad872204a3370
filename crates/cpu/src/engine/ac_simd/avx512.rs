//! The lanes with AVX-512: one, two or four vectors of 16 lanes.

mod rows;
mod trail;

use super::lanes::{COUNTS, HITS, NOTHING, OPEN_COUNTS};
use super::output::{Hits, MatchOutput};
use super::scan::{LaneLayout, Lanes};
use super::table::{AcSimdTable, COMPACT2, COMPACT3, DENSE, Form, LABEL, LINKED, Walk};
use super::trail::{STEPS, Trail, TrailRoom};
use crate::simd::Avx512;
use rows::{load_chunk, load_classes, pickers};
use std::arch::x86_64::*;
use std::ops::ControlFlow;
use trail::{Flags, store_bits, store_places};

/// Lanes of a vector.
const WIDTH: usize = 16;

/// Bytes of a lane that are loaded and transposed together.
const CHUNK: usize = STEPS;

/// The states of V vectors of lanes.
#[derive(Clone, Copy)]
struct LaneStates<const V: usize> {
    entry: [__m512i; V],
    place: [__m512i; V],
    past: [__m512i; V],
    deep: [__m512i; V],
}

/// The inputs and outputs of the steps of one walk.
struct Job<'a> {
    table: &'a AcSimdTable,
    /// The first byte of lane 0, and the distance between lanes.
    from: *const u8,
    stride: usize,
    /// Bytes of each lane.
    len: usize,
    /// The distance to the bytes to prefetch.
    ahead: usize,
    /// Where the trail is written; see `Trail`.
    room: TrailRoom,
}

/// Walks 64, 32 or 16 lanes from and to `lanes.walks`.
pub(super) fn walk(
    _: Avx512,
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

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
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

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
fn walk_as<const FORM: u8>(
    lanes: &mut Lanes,
    table: &AcSimdTable,
    window: &[u8],
    cut: LaneLayout,
    counting: bool,
) {
    match (cut.lanes, counting, table.saturates) {
        (64, false, _) => walk_window::<FORM, 4, HITS>(lanes, table, window, cut),
        (64, true, false) => walk_window::<FORM, 4, COUNTS>(lanes, table, window, cut),
        (64, true, true) => walk_window::<FORM, 4, OPEN_COUNTS>(lanes, table, window, cut),
        (32, true, _) => walk_window::<FORM, 2, OPEN_COUNTS>(lanes, table, window, cut),
        (32, false, _) => walk_window::<FORM, 2, HITS>(lanes, table, window, cut),
        (_, true, _) => walk_window::<FORM, 1, OPEN_COUNTS>(lanes, table, window, cut),
        (_, false, _) => walk_window::<FORM, 1, HITS>(lanes, table, window, cut),
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
fn walk_window<const FORM: u8, const V: usize, const MODE: u8>(
    lanes: &mut Lanes,
    table: &AcSimdTable,
    window: &[u8],
    cut: LaneLayout,
) {
    let LaneLayout { size, warm, .. } = cut;
    assert!(cut.lanes == V * WIDTH && window.len() == cut.lanes * size && window.len() < 1 << 26);
    assert!(size % 4 == 0 && warm % 4 == 0 && 0 < warm && warm <= size.min(CHUNK));
    let room = lanes.trail.room_for(cut);
    let mut job = Job { table, from: window.as_ptr(), stride: size, len: warm, ahead: 0, room };
    let start = table.start();
    let all = |field: u32| [_mm512_set1_epi32(field as i32); V];
    let mut state =
        LaneStates { entry: all(0), place: all(0), past: all(start.past), deep: all(0) };
    // Lane 0 needs no warm-up: its state is known. It reads its own first bytes, and the result is
    // not used.
    let truth = lanes.walks[0];
    // SAFETY: as asserted above, the window has `lanes` segments of `size` bytes and
    // `warm <= size`. Lane `k > 0` reads the last `warm` bytes of the segment of lane `k - 1`;
    // lane 0 reads the first `warm` of its own. NOTHING writes no trail.
    unsafe { steps::<FORM, V, NOTHING>(&mut state, &mut job, warm) };
    spill(&state, &mut lanes.begin);
    lanes.begin[0] = truth;
    let mut state = gather_up(&lanes.begin);
    (job.len, job.ahead) = (size, window.len());
    // SAFETY: as asserted above, the window has `lanes` segments of `size` bytes, and each lane
    // reads its own. `room_for` asserts that the trail has room for this layout.
    let counts = unsafe { steps::<FORM, V, MODE>(&mut state, &mut job, 0) };
    spill(&state, &mut lanes.walks);
    for (to, &counts) in lanes.counts.chunks_exact_mut(WIDTH).zip(&counts) {
        to.copy_from_slice(&words_of(counts));
    }
}

/// Walks all lanes over `job.len` bytes. All lanes but the first start `back` bytes before their
/// segment. Returns the sum of the counts of each lane's entries, if MODE counts.
///
/// # Safety
/// All these bytes can be read, and the trail has room for as many steps if MODE writes it.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
unsafe fn steps<const FORM: u8, const V: usize, const MODE: u8>(
    state: &mut LaneStates<V>,
    job: &mut Job<'_>,
    back: usize,
) -> [__m512i; V] {
    let table = job.table;
    let classes = load_classes(&table.class);
    let step = Stepper::new(table);
    let pick = pickers();
    let zero = _mm512_setzero_si512();
    let (mut parked, mut flags) = ([[zero; V]; CHUNK / 4], [Flags([0; CHUNK]); V]);
    let (mut now, mut counts, mut at) = (*state, [zero; V], 0);
    while at < job.len {
        let chunk = (job.len - at).min(CHUNK);
        let keep = u64::MAX >> (CHUNK - chunk);
        // SAFETY: `keep` leaves out the bytes beyond `job.len`, and the caller guarantees that the
        // others can be read.
        unsafe { load_chunk(job, at, back, keep, &classes, &mut parked) };
        for (word, classes) in parked.iter().enumerate().take(chunk / 4) {
            let (mut places, mut any) = ([[zero; V]; 4], [zero; V]);
            for byte in 0..4 {
                for v in 0..V {
                    let class = _mm512_shuffle_epi8(classes[v], pick[byte]);
                    step.take::<FORM, V, MODE>(&mut now, v, class);
                    if MODE == NOTHING {
                        continue;
                    }
                    let mut counted = _mm512_and_si512(now.entry[v], step.count_mask);
                    if MODE < HITS {
                        let count = _mm512_srl_epi32(counted, step.count_shift);
                        counts[v] = _mm512_add_epi32(counts[v], count);
                    }
                    if MODE == OPEN_COUNTS {
                        let open = _mm512_cmpeq_epi32_mask(counted, step.open_mask);
                        counted = _mm512_maskz_mov_epi32(open, counted);
                    }
                    if MODE >= OPEN_COUNTS {
                        any[v] = _mm512_or_si512(any[v], counted);
                        flags[v].0[4 * word + byte] = _mm512_test_epi32_mask(counted, counted);
                        places[byte][v] = now.place[v];
                    }
                }
            }
            if MODE >= OPEN_COUNTS {
                // SAFETY: the caller guarantees room for these steps.
                unsafe { store_places(job, at + 4 * word, &any, &places) };
            }
        }
        if MODE >= OPEN_COUNTS {
            // SAFETY: the caller guarantees room for these steps.
            unsafe { store_bits(job, at, &flags, keep) };
        }
        at += chunk;
    }
    *state = now;
    counts
}

/// The constants of a step.
struct Stepper<'a> {
    table: &'a AcSimdTable,
    shift: __m128i,
    bits: __m128i,
    count_shift: __m128i,
    count_mask: __m512i,
    /// The largest count of an entry, which stands for itself and all larger ones. If all counts
    /// fit, a value that no masked entry has.
    open_mask: __m512i,
    mask: __m512i,
    label: __m512i,
    partial: __m512i,
    defaults: __m512i,
}

impl<'a> Stepper<'a> {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(table: &'a AcSimdTable) -> Stepper<'a> {
        let count = |n: u32| _mm_cvtsi32_si128(n as i32);
        let all = |n: u32| _mm512_set1_epi32(n as i32);
        Stepper {
            table,
            shift: count(table.shift),
            bits: count(table.bits),
            count_shift: count(table.count_shift),
            count_mask: all(table.count_mask),
            open_mask: all(if table.saturates { table.count_mask } else { 1 }),
            mask: all(table.mask),
            label: all(LABEL),
            partial: all(table.partial),
            defaults: all(table.defaults),
        }
    }

    /// Steps the lanes of one vector by one byte each, given their classes. See `Steps::take`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
    fn take<const FORM: u8, const V: usize, const MODE: u8>(
        &self,
        now: &mut LaneStates<V>,
        v: usize,
        class: __m512i,
    ) {
        let words = self.table.words.as_ptr();
        if FORM == DENSE {
            let row = _mm512_andnot_si512(self.count_mask, now.entry[v]);
            let column = _mm512_add_epi32(row, class);
            // SAFETY: by the dense invariant of `AcSimdTable`, an entry without its count is the
            // offset of a row and a class is a column, so their sum is an index into `words`.
            now.entry[v] = unsafe { _mm512_i32gather_epi32::<4>(column, words.cast()) };
            now.place[v] = _mm512_andnot_si512(self.count_mask, now.entry[v]);
            return;
        }
        let slot = _mm512_xor_si512(_mm512_srl_epi32(now.entry[v], self.shift), class);
        let context = _mm512_or_si512(now.past[v], class);
        let from = words.wrapping_add(self.table.defaults as usize);
        // SAFETY: by the invariant of `AcSimdTable`, every context is below `lists - defaults`,
        // so it is the index of a default.
        let default = unsafe { _mm512_i32gather_epi32::<4>(context, from.cast()) };
        // SAFETY: by the invariant of `AcSimdTable`, a base is below `defaults`, a multiple of
        // 256, and a class is below 256, so their xor is below `defaults`, too.
        let stored = unsafe { _mm512_i32gather_epi32::<4>(slot, words.cast()) };
        let (mut entry, mut place) = (default, _mm512_add_epi32(context, self.defaults));
        if FORM == COMPACT3 {
            let slot = _mm512_xor_si512(_mm512_srl_epi32(now.deep[v], self.shift), class);
            // SAFETY: `now.deep` is a default, which is an entry, so its base xor a class is
            // below `defaults` by the invariant of `AcSimdTable`.
            let deeper = unsafe { _mm512_i32gather_epi32::<4>(slot, words.cast()) };
            let fits = _mm512_testn_epi32_mask(_mm512_xor_si512(deeper, class), self.label);
            entry = _mm512_mask_mov_epi32(entry, fits, deeper);
            place = _mm512_mask_mov_epi32(place, fits, slot);
            now.deep[v] = default;
        }
        let fits = _mm512_testn_epi32_mask(_mm512_xor_si512(stored, class), self.label);
        entry = _mm512_mask_mov_epi32(entry, fits, stored);
        place = _mm512_mask_mov_epi32(place, fits, slot);
        if FORM == LINKED {
            let open = !fits & _mm512_test_epi32_mask(now.entry[v], self.partial);
            if open != 0 {
                (entry, place) = self.follow(open, now.place[v], class, entry, place);
            }
        }
        now.past[v] = _mm512_and_si512(_mm512_sll_epi32(context, self.bits), self.mask);
        (now.entry[v], now.place[v]) = (entry, place);
    }

    /// Follows the failure states of the lanes in `open`, which are in partial states. Each round
    /// takes one failure step in each of these lanes. Over a whole walk, a lane takes at most one
    /// failure step per byte.
    #[cold]
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
    fn follow(
        &self,
        mut open: u16,
        mut at: __m512i,
        class: __m512i,
        mut entry: __m512i,
        mut place: __m512i,
    ) -> (__m512i, __m512i) {
        let words: *const i32 = self.table.words.as_ptr().cast();
        let fails = words.wrapping_add(self.table.fails as usize);
        while open != 0 {
            // SAFETY: `open` masks the lanes in partial states, and by the invariant of
            // `AcSimdTable` the place of a partial state has a failure place at `fails`.
            at = unsafe { _mm512_mask_i32gather_epi32::<4>(at, open, at, fails) };
            // SAFETY: a failure place is a place by the invariant of `AcSimdTable`, so it indexes
            // `words`.
            let state = unsafe { _mm512_mask_i32gather_epi32::<4>(at, open, at, words) };
            let slot = _mm512_xor_si512(_mm512_srl_epi32(state, self.shift), class);
            // SAFETY: `state` is an entry, so its base xor a class is below `defaults` by the
            // invariant of `AcSimdTable`.
            let stored = unsafe { _mm512_mask_i32gather_epi32::<4>(slot, open, slot, words) };
            let unlike = _mm512_xor_si512(stored, class);
            let fits = _mm512_mask_testn_epi32_mask(open, unlike, self.label);
            entry = _mm512_mask_mov_epi32(entry, fits, stored);
            place = _mm512_mask_mov_epi32(place, fits, slot);
            open &= !fits & _mm512_test_epi32_mask(state, self.partial);
        }
        (entry, place)
    }
}

/// See `lanes::write`.
pub(super) fn write(
    _: Avx512,
    out: &mut MatchOutput<'_>,
    trail: &Trail,
    hits: &mut Hits,
    first: u32,
) -> ControlFlow<()> {
    // SAFETY: the token proves that detection found every feature that `write_lanes` enables, see
    // `simd::isa`.
    unsafe { write_lanes(out, trail, hits, first) }
}

#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt"
)]
fn write_lanes(
    out: &mut MatchOutput<'_>,
    trail: &Trail,
    hits: &mut Hits,
    first: u32,
) -> ControlFlow<()> {
    out.write_all::<WIDTH>(trail, hits, first, |hits, bits, first| pick(hits, bits, first))
}

/// The numbers of 64 steps.
static STEP_NUMBERS: [u8; STEPS] = {
    let mut numbers = [0; STEPS];
    let mut step = 0;
    while step < STEPS {
        numbers[step] = step as u8;
        step += 1;
    }
    numbers
};

/// The same as `Hits::pick`, 16 hits at once.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,popcnt")]
fn pick(hits: &mut Hits, bits: u64, first: u32) {
    // SAFETY: STEP_NUMBERS has 64 bytes, and the load is unaligned.
    let numbers = unsafe { _mm512_loadu_si512(STEP_NUMBERS.as_ptr().cast()) };
    let steps = _mm512_maskz_compress_epi8(bits, numbers);
    let count = bits.count_ones() as usize;
    let first = _mm512_set1_epi32(first as i32);
    let ends: &mut [u32; STEPS] =
        hits.ends[hits.found..].first_chunk_mut().expect("fewer than PICKED hits are pending");
    hits.found += count;
    let mut put = |quarter: usize, steps: __m128i| {
        let to = ends.as_mut_ptr().wrapping_add(quarter * WIDTH).cast();
        let ends = _mm512_add_epi32(_mm512_cvtepu8_epi32(steps), first);
        // SAFETY: `ends` has 64 words and `quarter` is below 4, so 16 words at `to` are inside;
        // the store is unaligned.
        unsafe { _mm512_storeu_si512(to, ends) };
    };
    put(0, _mm512_castsi512_si128(steps));
    if count > WIDTH {
        put(1, _mm512_extracti32x4_epi32::<1>(steps));
        if count > 2 * WIDTH {
            put(2, _mm512_extracti32x4_epi32::<2>(steps));
            put(3, _mm512_extracti32x4_epi32::<3>(steps));
        }
    }
}

/// Writes the states to the walks of their lanes.
#[inline]
#[target_feature(enable = "avx512f")]
fn spill<const V: usize>(state: &LaneStates<V>, walks: &mut [Walk; super::lanes::MOST]) {
    for v in 0..V {
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
#[target_feature(enable = "avx512f")]
fn gather_up<const V: usize>(walks: &[Walk; super::lanes::MOST]) -> LaneStates<V> {
    let zero = [_mm512_setzero_si512(); V];
    let mut state = LaneStates { entry: zero, place: zero, past: zero, deep: zero };
    for v in 0..V {
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
#[target_feature(enable = "avx512f")]
fn vector_of(words: &[u32; WIDTH]) -> __m512i {
    // SAFETY: `words` is a reference to 64 bytes, and the load is unaligned.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn words_of(vector: __m512i) -> [u32; WIDTH] {
    let mut words = [0u32; WIDTH];
    // SAFETY: `words` is an array of 64 bytes, and the store is unaligned.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), vector) };
    words
}
