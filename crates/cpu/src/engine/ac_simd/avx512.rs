//! The lanes with AVX-512: vectors of 16 lanes, one, two or four at once.

mod rows;

use super::lanes::{COUNTS, HITS, NOTHING, OPEN_COUNTS};
use super::output::{Hits, Out};
use super::scan::{Cut, Lanes};
use super::table::{COMPACT2, COMPACT3, DENSE, Form, LABEL, LINKED, Table, Walk};
use super::trail::{Room, STEPS, Trail};
use crate::simd::Avx512;
use rows::{classes_of, load_classes, pickers, transpose};
use std::arch::x86_64::*;
use std::ops::ControlFlow;

/// Lanes of a vector.
const WIDTH: usize = 16;

/// Bytes of a lane that are loaded and transposed at once.
const CHUNK: usize = STEPS;

/// The states of V vectors of lanes.
#[derive(Clone, Copy)]
struct State<const V: usize> {
    entry: [__m512i; V],
    place: [__m512i; V],
    past: [__m512i; V],
    deep: [__m512i; V],
}

/// Where the steps of one walk read and write.
struct Job<'a> {
    table: &'a Table,
    /// The first byte of lane 0, and the distance from a lane to the next.
    from: *const u8,
    stride: usize,
    /// Bytes of each lane.
    len: usize,
    /// The distance to bytes that will be wanted next.
    ahead: usize,
    /// Where the trail is written; see `Trail`.
    room: Room,
}

/// Walks 64, 32 or 16 lanes from and to `lanes.walks`.
pub(super) fn walk(
    _: Avx512,
    lanes: &mut Lanes,
    table: &Table,
    window: &[u8],
    cut: Cut,
    counting: bool,
) {
    // SAFETY: the token proves that detection found every feature that `walk_table` enables, see
    // `simd::isa`.
    unsafe { walk_table(lanes, table, window, cut, counting) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
fn walk_table(lanes: &mut Lanes, table: &Table, window: &[u8], cut: Cut, counting: bool) {
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
    table: &Table,
    window: &[u8],
    cut: Cut,
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
    table: &Table,
    window: &[u8],
    cut: Cut,
) {
    let Cut { size, warm, .. } = cut;
    assert!(cut.lanes == V * WIDTH && window.len() == cut.lanes * size && window.len() < 1 << 26);
    assert!(size % 4 == 0 && warm % 4 == 0 && 0 < warm && warm <= size.min(CHUNK));
    let room = lanes.trail.room_for(cut);
    let mut job = Job { table, from: window.as_ptr(), stride: size, len: warm, ahead: 0, room };
    let start = table.start();
    let all = |field: u32| [_mm512_set1_epi32(field as i32); V];
    let mut state = State { entry: all(0), place: all(0), past: all(start.past), deep: all(0) };
    // Lane 0 needs no warm-up: its state is known. It may read anything, here its own bytes.
    let truth = lanes.walks[0];
    // SAFETY: lane `k > 0` begins `warm` bytes before its segment, which is within that of lane `k - 1`; lane 0
    // reads the first bytes of its own.
    unsafe { steps::<FORM, V, NOTHING>(&mut state, &mut job, warm) };
    spill(&state, &mut lanes.begin);
    lanes.begin[0] = truth;
    let mut state = gather_up(&lanes.begin);
    (job.len, job.ahead) = (size, window.len());
    // SAFETY: every lane reads its own segment; there is room for the trail of all steps.
    let counts = unsafe { steps::<FORM, V, MODE>(&mut state, &mut job, 0) };
    spill(&state, &mut lanes.walks);
    for (to, &counts) in lanes.counts.chunks_exact_mut(WIDTH).zip(&counts) {
        to.copy_from_slice(&words_of(counts));
    }
}

/// Walks all lanes over `job.len` bytes each, those but the first from `back` bytes before their segment. Returns
/// what each lane has reported by the counts in its entries, if these are wanted.
///
/// # Safety
/// All these bytes can be read, and the trail of so many steps can be written.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
unsafe fn steps<const FORM: u8, const V: usize, const MODE: u8>(
    state: &mut State<V>,
    job: &mut Job<'_>,
    back: usize,
) -> [__m512i; V] {
    let table = job.table;
    let classes = load_classes(&table.class);
    let step = Stepper::new(table);
    let pick = pickers();
    let zero = _mm512_setzero_si512();
    let mut parked = [[zero; V]; CHUNK / 4];
    let mut flags = [Flags([0; CHUNK]); V];
    let mut now = *state;
    let mut counts = [zero; V];
    let mut at = 0;
    while at < job.len {
        let chunk = (job.len - at).min(CHUNK);
        let keep = u64::MAX >> (CHUNK - chunk);
        for v in 0..V {
            let mut rows = [zero; WIDTH];
            for (l, row) in rows.iter_mut().enumerate() {
                let lane = v * WIDTH + l;
                let back = if lane == 0 { 0 } else { back };
                let from = job.from.wrapping_add(lane * job.stride + at).wrapping_sub(back);
                _mm_prefetch::<_MM_HINT_T1>(from.wrapping_add(job.ahead).cast());
                // SAFETY: `keep` masks the bytes behind the `len` of this lane, and those can be read, by
                // this function's contract.
                *row = unsafe { _mm512_maskz_loadu_epi8(keep, from.cast()) };
            }
            transpose(&mut rows);
            for (parked, &row) in parked.iter_mut().zip(&rows) {
                parked[v] = classes_of(row, &classes);
            }
        }
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
            for (v, &any) in any.iter().enumerate().filter(|_| MODE >= OPEN_COUNTS) {
                if _mm512_test_epi32_mask(any, any) == 0 {
                    continue;
                }
                for (byte, places) in places.iter().enumerate() {
                    let line = v * job.stride + at + 4 * word + byte;
                    let to = job.room.places.wrapping_add(line * WIDTH).cast();
                    // SAFETY: `Trail::prepare` made room for `stride` times WIDTH places of each
                    // vector, and `room_for` asserts that it did so for this cut. The first place is
                    // aligned to 64 bytes, and WIDTH places are 64 bytes.
                    unsafe { _mm512_store_si512(to, places[v]) };
                }
            }
        }
        if MODE >= OPEN_COUNTS {
            for (v, flags) in flags.iter().enumerate() {
                for (lane, bits) in bits_of(flags).into_iter().enumerate() {
                    let to = (v * WIDTH + lane) * job.room.words + at / CHUNK;
                    // SAFETY: `Trail::prepare` made room for the bits of `stride` steps of each lane,
                    // in `room.words` words.
                    unsafe { job.room.bits.wrapping_add(to).write(bits & keep) };
                }
            }
        }
        at += chunk;
    }
    *state = now;
    counts
}

/// For each of 64 steps, which lanes of a vector report something.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Flags([u16; CHUNK]);

/// For each lane of a vector, in which of 64 steps it reports something.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
fn bits_of(flags: &Flags) -> [u64; WIDTH] {
    let from = flags.0.as_ptr();
    // SAFETY: `Flags` has 128 bytes and is aligned to 64; this loads the first 64.
    let early = unsafe { _mm512_load_si512(from.cast()) };
    // SAFETY: an aligned load of the last 64.
    let late = unsafe { _mm512_load_si512(from.wrapping_add(32).cast()) };
    let bytes = |early, late| {
        let (early, late) = (_mm512_cvtepi16_epi8(early), _mm512_cvtepi16_epi8(late));
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(early), late)
    };
    let mut halves =
        [bytes(early, late), bytes(_mm512_srli_epi16::<8>(early), _mm512_srli_epi16::<8>(late))];
    let mut bits = [0; WIDTH];
    for lane in (0..8).rev() {
        for (half, bytes) in halves.iter_mut().enumerate() {
            bits[8 * half + lane] = _mm512_movepi8_mask(*bytes);
            *bytes = _mm512_add_epi8(*bytes, *bytes);
        }
    }
    bits
}

/// The constants of a step.
struct Stepper<'a> {
    table: &'a Table,
    shift: __m128i,
    bits: __m128i,
    count_shift: __m128i,
    count_mask: __m512i,
    /// The count that leaves open how many there are; what no entry has if all counts are right.
    open_mask: __m512i,
    mask: __m512i,
    label: __m512i,
    partial: __m512i,
    defaults: __m512i,
}

impl<'a> Stepper<'a> {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(table: &'a Table) -> Stepper<'a> {
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

    /// Takes a byte of each lane of a vector, by their classes. See `Table::step_as`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
    fn take<const FORM: u8, const V: usize, const MODE: u8>(
        &self,
        now: &mut State<V>,
        v: usize,
        class: __m512i,
    ) {
        let words = self.table.words.as_ptr();
        if FORM == DENSE {
            let row = _mm512_andnot_si512(self.count_mask, now.entry[v]);
            let column = _mm512_add_epi32(row, class);
            // SAFETY: a row and a class are the index of an entry, by the invariant of `Table`.
            now.entry[v] = unsafe { _mm512_i32gather_epi32::<4>(column, words.cast()) };
            now.place[v] = _mm512_andnot_si512(self.count_mask, now.entry[v]);
            return;
        }
        let slot = _mm512_xor_si512(_mm512_srl_epi32(now.entry[v], self.shift), class);
        let context = _mm512_or_si512(now.past[v], class);
        let from = words.wrapping_add(self.table.defaults as usize);
        // SAFETY: every context is the index of a default, by the invariant of `Table`.
        let default = unsafe { _mm512_i32gather_epi32::<4>(context, from.cast()) };
        // SAFETY: a base combined with a class is a slot, by the same invariant.
        let stored = unsafe { _mm512_i32gather_epi32::<4>(slot, words.cast()) };
        let (mut entry, mut place) = (default, _mm512_add_epi32(context, self.defaults));
        if FORM == COMPACT3 {
            let slot = _mm512_xor_si512(_mm512_srl_epi32(now.deep[v], self.shift), class);
            // SAFETY: a default is an entry, so its base combined with a class is a slot, too.
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

    /// Where the lanes of `open`, which are in partial states, go by their failure states. Each round takes one step
    /// back in each of them, so that all rounds together are at most a step a byte of each lane.
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
            // SAFETY: a partial state has a failure place, by the invariant of `Table`.
            at = unsafe { _mm512_mask_i32gather_epi32::<4>(at, open, at, fails) };
            // SAFETY: a failure place is a place, by the invariant of `Table`, and so indexes `words`.
            let state = unsafe { _mm512_mask_i32gather_epi32::<4>(at, open, at, words) };
            let slot = _mm512_xor_si512(_mm512_srl_epi32(state, self.shift), class);
            // SAFETY: a base combined with a class is a slot, by the same invariant.
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
    out: &mut Out<'_>,
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
fn write_lanes(out: &mut Out<'_>, trail: &Trail, hits: &mut Hits, first: u32) -> ControlFlow<()> {
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

/// See `Hits::pick`: 16 at once.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,popcnt")]
fn pick(hits: &mut Hits, bits: u64, first: u32) {
    // SAFETY: an unaligned load of 64 bytes from an array of 64 bytes.
    let numbers = unsafe { _mm512_loadu_si512(STEP_NUMBERS.as_ptr().cast()) };
    let steps = _mm512_maskz_compress_epi8(bits, numbers);
    let count = bits.count_ones() as usize;
    let first = _mm512_set1_epi32(first as i32);
    let ends: &mut [u32; STEPS] = hits.ends[hits.found..].first_chunk_mut().expect("room");
    hits.found += count;
    let mut put = |quarter: usize, steps: __m128i| {
        let to = ends.as_mut_ptr().wrapping_add(quarter * WIDTH).cast();
        let ends = _mm512_add_epi32(_mm512_cvtepu8_epi32(steps), first);
        // SAFETY: an unaligned store of 64 bytes to a quarter of 256 bytes.
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

/// Writes states to the walks of their lanes.
#[inline]
#[target_feature(enable = "avx512f")]
fn spill<const V: usize>(state: &State<V>, walks: &mut [Walk; super::lanes::MOST]) {
    for v in 0..V {
        let (entry, place) = (words_of(state.entry[v]), words_of(state.place[v]));
        let (past, deep) = (words_of(state.past[v]), words_of(state.deep[v]));
        for l in 0..WIDTH {
            let (entry, place) = (entry[l], place[l]);
            walks[v * WIDTH + l] = Walk { entry, place, past: past[l], deep: deep[l] };
        }
    }
}

/// Reads states from the walks of their lanes.
#[inline]
#[target_feature(enable = "avx512f")]
fn gather_up<const V: usize>(walks: &[Walk; super::lanes::MOST]) -> State<V> {
    let zero = [_mm512_setzero_si512(); V];
    let mut state = State { entry: zero, place: zero, past: zero, deep: zero };
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
    // SAFETY: an unaligned load of 64 bytes from an array of 64 bytes.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn words_of(vector: __m512i) -> [u32; WIDTH] {
    let mut words = [0u32; WIDTH];
    // SAFETY: an unaligned store of 64 bytes to an array of 64 bytes.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), vector) };
    words
}
