//! The lanes with AVX-512: vectors of 16 lanes, one, two or four at once.

use super::lanes::BITS;
use super::reports::List;
use super::scan::{Cut, Lanes};
use super::table::{COMPACT2, COMPACT3, DENSE, Form, LABEL, LINKED, Table, Walk};
use fyke_core::Record;
use std::arch::x86_64::*;
use std::mem::offset_of;

/// Lanes of a vector.
const WIDTH: usize = 16;

/// Bytes of a lane that are loaded and transposed at once.
const CHUNK: usize = 64;

/// Hits between the one that is reported and the one whose list is prefetched.
const AHEAD: usize = 24;

/// What a walk leaves behind.
const NOTHING: u8 = 0;
const COUNTS: u8 = 1;
/// Counts, and the hits whose count is too large for its field.
const OPEN_COUNTS: u8 = 2;
const HITS: u8 = 3;

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
    when: *mut u32,
    place: *mut u32,
}

/// Walks 64, 32 or 16 lanes from and to `lanes.walks`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
pub(super) fn walk(lanes: &mut Lanes, table: &Table, window: &[u8], cut: Cut, counting: bool) {
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
    assert!(lanes.when.len() >= window.len() + CHUNK && lanes.place.len() >= window.len() + CHUNK);
    let (when, place) = (lanes.when.as_mut_ptr(), lanes.place.as_mut_ptr());
    let mut job =
        Job { table, from: window.as_ptr(), stride: size, len: warm, ahead: 0, when, place };
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
    // SAFETY: every lane reads its own segment; there is room for a hit at every byte of them.
    let (hits, counts) = unsafe { steps::<FORM, V, MODE>(&mut state, &mut job, 0) };
    lanes.hits = hits;
    spill(&state, &mut lanes.walks);
    for (to, &counts) in lanes.counts.chunks_exact_mut(WIDTH).zip(&counts) {
        to.copy_from_slice(&words_of(counts));
    }
}

/// Walks all lanes over `job.len` bytes each, those but the first from `back` bytes before their segment. Returns how
/// many hits were written, and what each lane has reported by the counts in its entries.
///
/// # Safety
/// All these bytes can be read, and so many hits and a vector more can be written.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
unsafe fn steps<const FORM: u8, const V: usize, const MODE: u8>(
    state: &mut State<V>,
    job: &mut Job<'_>,
    back: usize,
) -> (usize, [__m512i; V]) {
    let table = job.table;
    let classes = load_classes(&table.class);
    let number = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let step = Stepper::new(table);
    let pick = pickers();
    let zero = _mm512_setzero_si512();
    let mut parked = [[zero; V]; CHUNK / 4];
    let mut now = *state;
    let (mut hits, mut counts) = (0usize, [zero; V]);
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
                // SAFETY: `keep` leaves out bytes behind those of this lane, which the caller vouches for.
                *row = unsafe { _mm512_maskz_loadu_epi8(keep, from.cast()) };
            }
            transpose(&mut rows);
            for (parked, &row) in parked.iter_mut().zip(&rows) {
                parked[v] = classes_of(row, &classes);
            }
        }
        for (word, classes) in parked.iter().enumerate().take(chunk / 4) {
            let mut places = [[zero; V]; 4];
            let mut flags = [[0u16; V]; 4];
            let mut any = 0;
            for byte in 0..4 {
                for v in 0..V {
                    let class = _mm512_shuffle_epi8(classes[v], pick[byte]);
                    step.take::<FORM, V, MODE>(&mut now, v, class);
                    if MODE == NOTHING {
                        continue;
                    }
                    let counted = _mm512_and_si512(now.entry[v], step.count_mask);
                    counts[v] =
                        _mm512_add_epi32(counts[v], _mm512_srl_epi32(counted, step.count_shift));
                    let flag = match MODE {
                        HITS => _mm512_test_epi32_mask(counted, counted),
                        OPEN_COUNTS => _mm512_cmpeq_epi32_mask(counted, step.open_mask),
                        _ => 0,
                    };
                    places[byte][v] = now.place[v];
                    flags[byte][v] = flag;
                    any |= flag;
                }
            }
            if any != 0 {
                for byte in 0..4 {
                    for v in 0..V {
                        let flag = flags[byte][v];
                        let first = ((at + 4 * word + byte) << BITS | (v * WIDTH)) as i32;
                        let when = _mm512_or_si512(_mm512_set1_epi32(first), number);
                        let when = _mm512_maskz_compress_epi32(flag, when);
                        let place = _mm512_maskz_compress_epi32(flag, places[byte][v]);
                        let to = job.when.wrapping_add(hits).cast();
                        // SAFETY: a hit at most for every byte before this one, and room for a vector more.
                        unsafe { _mm512_storeu_si512(to, when) };
                        let to = job.place.wrapping_add(hits).cast();
                        // SAFETY: as above.
                        unsafe { _mm512_storeu_si512(to, place) };
                        hits += flag.count_ones() as usize;
                    }
                }
            }
        }
        at += chunk;
    }
    *state = now;
    (hits, counts)
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
            // SAFETY: as above.
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
            // SAFETY: that is a place.
            let state = unsafe { _mm512_mask_i32gather_epi32::<4>(at, open, at, words) };
            let slot = _mm512_xor_si512(_mm512_srl_epi32(state, self.shift), class);
            // SAFETY: a base combined with a class is a slot.
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

/// Writes the records of all hits, each at the next place of its lane.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi2")]
pub(super) fn place_records(
    lanes: &mut Lanes,
    table: &Table,
    cut: Cut,
    from: u32,
    next: &mut [usize; super::lanes::MOST],
) {
    let from = from + 1;
    let hits = lanes.hits;
    assert!(lanes.when.len() >= hits && lanes.place.len() >= hits + AHEAD);
    let lists = table.words.as_ptr().wrapping_add(table.lists as usize);
    let (reports, records) = (table.reports.words.as_ptr(), lanes.records.as_mut_ptr());
    let (when, place) = (lanes.when.as_ptr(), lanes.place.as_ptr());
    for i in 0..hits {
        let (soon, now) = (place.wrapping_add(i + AHEAD), place.wrapping_add(i));
        // SAFETY: there are so many places and more.
        let soon = unsafe { soon.read() } as usize;
        _mm_prefetch::<_MM_HINT_T0>(lists.wrapping_add(soon).cast());
        // SAFETY: as above.
        let list = lists.wrapping_add(unsafe { now.read() } as usize);
        // SAFETY: every place has a list, by the invariant of `Table`.
        let list = List(unsafe { list.read() });
        // SAFETY: there are so many hits.
        let when = unsafe { when.wrapping_add(i).read() };
        let lane = (when % (1 << BITS)) as usize;
        let end = from + (lane * cut.size) as u32 + (when >> BITS);
        let count = list.short_len();
        let to = next[lane];
        next[lane] = to + count;
        debug_assert!(
            to + count <= lanes.records.len() && count <= table.reports.words.len() - list.start()
        );
        let patterns = reports.wrapping_add(list.start());
        // SAFETY: lists are followed by eight words of padding.
        let eight = unsafe { _mm256_loadu_si256(patterns.cast()) };
        let kept = _bzhi_u32(0xff, count as u32) as u8;
        let to = records.wrapping_add(to);
        let all = records_of(end, eight);
        // SAFETY: at most `count` records are written; the counts of all hits of a lane are its room.
        unsafe { _mm512_mask_storeu_epi64(to.cast(), kept, all) };
        if count > 8 {
            for i in 8..count {
                // SAFETY: the list has so many patterns.
                let pattern = unsafe { patterns.wrapping_add(i).read() };
                // SAFETY: as above.
                unsafe { to.wrapping_add(i).write(Record { end, pattern }) };
            }
        }
    }
}

/// Eight records of one end.
#[inline]
#[target_feature(enable = "avx512f")]
fn records_of(end: u32, patterns: __m256i) -> __m512i {
    const END_AT: u32 = 8 * offset_of!(Record, end) as u32;
    const PATTERN_AT: u32 = 8 * offset_of!(Record, pattern) as u32;
    let end = _mm512_set1_epi64((u64::from(end) << END_AT) as i64);
    let patterns = _mm512_cvtepu32_epi64(patterns);
    _mm512_or_si512(_mm512_slli_epi64::<PATTERN_AT>(patterns), end)
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

/// For each byte of a word, the shuffle that moves it to the bottom of its word and clears the rest.
#[inline]
#[target_feature(enable = "avx512f")]
fn pickers() -> [__m512i; 4] {
    let pick = |byte: i32| {
        let word = |i: i32| 0x8080_8000u32 as i32 | (4 * i + byte);
        _mm512_broadcast_i32x4(_mm_setr_epi32(word(0), word(1), word(2), word(3)))
    };
    [pick(0), pick(1), pick(2), pick(3)]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_classes(class: &[u8; 256]) -> [__m512i; 4] {
    let quarters = class.as_chunks::<64>().0;
    // SAFETY: an unaligned load of 64 bytes from an array of 64 bytes.
    let quarter = |i: usize| unsafe { _mm512_loadu_si512(quarters[i].as_ptr().cast()) };
    [quarter(0), quarter(1), quarter(2), quarter(3)]
}

/// The classes of 64 bytes: two looks into 128 bytes each, and the top bit chooses.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn classes_of(bytes: __m512i, class: &[__m512i; 4]) -> __m512i {
    let low = _mm512_permutex2var_epi8(class[0], bytes, class[1]);
    let high = _mm512_permutex2var_epi8(class[2], bytes, class[3]);
    _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), low, high)
}

/// Turns 16 rows of 16 words: the first words of all rows become the first row, and so on.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose(r: &mut [__m512i; WIDTH]) {
    let mut t = *r;
    for i in (0..WIDTH).step_by(2) {
        t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
    }
    for i in (0..WIDTH).step_by(4) {
        r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
        r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
        r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
        r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
    for i in 0..4 {
        let a = _mm512_shuffle_i32x4::<0x88>(r[i], r[i + 4]);
        let b = _mm512_shuffle_i32x4::<0xdd>(r[i], r[i + 4]);
        let c = _mm512_shuffle_i32x4::<0x88>(r[i + 8], r[i + 12]);
        let d = _mm512_shuffle_i32x4::<0xdd>(r[i + 8], r[i + 12]);
        t[i] = _mm512_shuffle_i32x4::<0x88>(a, c);
        t[i + 8] = _mm512_shuffle_i32x4::<0xdd>(a, c);
        t[i + 4] = _mm512_shuffle_i32x4::<0x88>(b, d);
        t[i + 12] = _mm512_shuffle_i32x4::<0xdd>(b, d);
    }
    *r = t;
}
