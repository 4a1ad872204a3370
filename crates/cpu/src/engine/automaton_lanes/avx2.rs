//! The lanes with AVX2: vectors of 8 lanes, four at once.
//!
//! There is no compress here: hits are picked out of a mask one by one. There is no look-up of 256 bytes either: the
//! class of each byte is one more gather, which does not wait for a state.

use super::lanes::BITS;
use super::reports::List;
use super::scan::{Cut, Lanes};
use super::table::{COMPACT2, COMPACT3, DENSE, Form, LABEL, LINKED, Table, Walk};
use fyke_core::Record;
use std::arch::x86_64::*;
use std::mem::offset_of;

/// Lanes of a vector.
const WIDTH: usize = 8;

/// Hits between the one that is reported and the one whose list is prefetched.
const AHEAD: usize = 24;

/// Vectors.
const VECTORS: usize = 4;

/// Lanes of a window.
pub(super) const LANES: usize = WIDTH * VECTORS;

/// The states of all lanes.
#[derive(Clone, Copy)]
struct State {
    entry: [__m256i; VECTORS],
    place: [__m256i; VECTORS],
    past: [__m256i; VECTORS],
    deep: [__m256i; VECTORS],
}

/// Walks 32 lanes from and to `lanes.walks`.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) fn walk(lanes: &mut Lanes, table: &Table, window: &[u8], cut: Cut, counting: bool) {
    match (table.form, counting) {
        (Form::Dense, true) => walk_window::<DENSE, true>(lanes, table, window, cut),
        (Form::Dense, false) => walk_window::<DENSE, false>(lanes, table, window, cut),
        (Form::Compact2, true) => walk_window::<COMPACT2, true>(lanes, table, window, cut),
        (Form::Compact2, false) => walk_window::<COMPACT2, false>(lanes, table, window, cut),
        (Form::Compact3, true) => walk_window::<COMPACT3, true>(lanes, table, window, cut),
        (Form::Compact3, false) => walk_window::<COMPACT3, false>(lanes, table, window, cut),
        (Form::Linked, true) => walk_window::<LINKED, true>(lanes, table, window, cut),
        (Form::Linked, false) => walk_window::<LINKED, false>(lanes, table, window, cut),
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn walk_window<const FORM: u8, const COUNTING: bool>(
    lanes: &mut Lanes,
    table: &Table,
    window: &[u8],
    cut: Cut,
) {
    let Cut { size, warm, .. } = cut;
    assert!(cut.lanes == LANES && window.len() == LANES * size && window.len() < 1 << 26);
    assert!(size.is_multiple_of(4) && warm.is_multiple_of(4) && warm <= size);
    assert!(lanes.when.len() >= window.len() + WIDTH && lanes.place.len() >= window.len() + WIDTH);
    let start = table.start();
    let all = |field: u32| [_mm256_set1_epi32(field as i32); VECTORS];
    let mut state = State { entry: all(0), place: all(0), past: all(start.past), deep: all(0) };
    let truth = lanes.walks[0];
    let step = Stepper::new(table, window, size);
    for at in (0..warm).step_by(4) {
        // SAFETY: lane `k > 0` reads before its segment, in that of lane `k - 1`; lane 0 reads its own.
        let words = unsafe { step.load(at, warm) };
        for byte in 0..4 {
            (0..VECTORS).for_each(|v| step.take::<FORM>(&mut state, v, words[v], byte));
        }
    }
    spill(&state, &mut lanes.begin);
    lanes.begin[0] = truth;
    state = gather_up(&lanes.begin);
    let mut counts = all(0);
    let mut hits = 0;
    for at in (0..size).step_by(4) {
        // SAFETY: every lane reads its own segment.
        let words = unsafe { step.load(at, 0) };
        for byte in 0..4 {
            let mut masks = [0u32; VECTORS];
            for v in 0..VECTORS {
                step.take::<FORM>(&mut state, v, words[v], byte);
                let counted = _mm256_and_si256(state.entry[v], step.count_mask);
                counts[v] =
                    _mm256_add_epi32(counts[v], _mm256_srl_epi32(counted, step.count_shift));
                masks[v] = if COUNTING {
                    mask_of(_mm256_cmpeq_epi32(counted, step.open_mask))
                } else {
                    mask_of(_mm256_cmpeq_epi32(counted, _mm256_setzero_si256())) ^ 0xff
                };
            }
            if masks != [0; VECTORS] {
                for (v, &mask) in masks.iter().enumerate() {
                    let first = ((at + byte) << BITS | (v * WIDTH)) as i32;
                    let when = _mm256_or_si256(_mm256_set1_epi32(first), step.number);
                    let (place, front) = (state.place[v], front_of(mask));
                    store(&mut lanes.when, hits, _mm256_permutevar8x32_epi32(when, front));
                    store(&mut lanes.place, hits, _mm256_permutevar8x32_epi32(place, front));
                    hits += mask.count_ones() as usize;
                }
            }
        }
    }
    lanes.hits = hits;
    spill(&state, &mut lanes.walks);
    for (to, &counts) in lanes.counts.chunks_exact_mut(WIDTH).zip(&counts) {
        to.copy_from_slice(&words_of(counts));
    }
}

/// The constants of a step.
struct Stepper<'a> {
    table: &'a Table,
    window: &'a [u8],
    starts: [__m256i; VECTORS],
    number: __m256i,
    shift: __m128i,
    bits: __m128i,
    count_shift: __m128i,
    count_mask: __m256i,
    /// The count that leaves open how many there are; what no entry has if all counts are right.
    open_mask: __m256i,
    mask: __m256i,
    label: __m256i,
    defaults: __m256i,
    class: &'a [i32; 256],
}

impl<'a> Stepper<'a> {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(table: &'a Table, window: &'a [u8], size: usize) -> Stepper<'a> {
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
            open_mask: all(if table.saturates { table.count_mask } else { 1 }),
            mask: all(table.mask),
            label: all(LABEL),
            defaults: all(table.defaults),
            class: &table.wide_class,
        }
    }

    /// Four bytes of each lane, `at` bytes from where it begins, all but lane 0 `back` bytes before its segment.
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
            // SAFETY: the caller vouches for these bytes.
            *word = unsafe { _mm256_i32gather_epi32::<1>(from, offset) };
        }
        words
    }

    /// Takes one byte of the words of the lanes of a vector. See `Table::step_as`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn take<const FORM: u8>(&self, now: &mut State, v: usize, words: __m256i, byte: usize) {
        let bytes = _mm256_srl_epi32(words, _mm_cvtsi32_si128(8 * byte as i32));
        let bytes = _mm256_and_si256(bytes, self.label);
        // SAFETY: there is a class for every byte.
        let class = unsafe { _mm256_i32gather_epi32::<4>(self.class.as_ptr(), bytes) };
        let table: *const i32 = self.table.words.as_ptr().cast();
        if FORM == DENSE {
            let row = _mm256_andnot_si256(self.count_mask, now.entry[v]);
            let column = _mm256_add_epi32(row, class);
            // SAFETY: a row and a class are the index of an entry, by the invariant of `Table`.
            let entry = unsafe { _mm256_i32gather_epi32::<4>(table, column) };
            now.entry[v] = entry;
            now.place[v] = _mm256_andnot_si256(self.count_mask, entry);
            return;
        }
        let slot = _mm256_xor_si256(_mm256_srl_epi32(now.entry[v], self.shift), class);
        let context = _mm256_or_si256(now.past[v], class);
        let defaults = table.wrapping_add(self.table.defaults as usize);
        // SAFETY: every context is the index of a default, by the invariant of `Table`.
        let default = unsafe { _mm256_i32gather_epi32::<4>(defaults, context) };
        // SAFETY: a base combined with a class is a slot, by the same invariant.
        let stored = unsafe { _mm256_i32gather_epi32::<4>(table, slot) };
        let (mut entry, mut place) = (default, _mm256_add_epi32(context, self.defaults));
        if FORM == COMPACT3 {
            let slot = _mm256_xor_si256(_mm256_srl_epi32(now.deep[v], self.shift), class);
            // SAFETY: as above.
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

    /// Where the lanes of `open`, which are in partial states, go by their failure states, one after the other.
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
            if let Some(found) = self.table.follow(at[lane], class[lane]) {
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

/// For each mask, the lanes of its bits, first to last.
static FRONTS: [[u8; WIDTH]; 256] = {
    let mut fronts = [[0; WIDTH]; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut lane, mut to) = (0, 0);
        while lane < WIDTH {
            if mask >> lane & 1 == 1 {
                fronts[mask][to] = lane as u8;
                to += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    fronts
};

/// The permutation that moves the lanes of a mask to the front.
#[inline]
#[target_feature(enable = "avx2")]
fn front_of(mask: u32) -> __m256i {
    _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(i64::from_le_bytes(FRONTS[mask as usize & 0xff])))
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(to: &mut [u32], at: usize, vector: __m256i) {
    let to: &mut [u32; WIDTH] = to[at..].first_chunk_mut().expect("room for a vector more");
    // SAFETY: an unaligned store of 32 bytes to an array of 32 bytes.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), vector) };
}

/// Writes the records of all hits, each at the next place of its lane.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
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
        let four = unsafe { _mm_loadu_si128(patterns.cast()) };
        // SAFETY: a load of 32 bytes from an array of 32 bytes.
        let kept = unsafe { _mm256_loadu_si256(FIRST[count.min(4)].as_ptr().cast()) };
        let to = records.wrapping_add(to);
        let all = records_of(end, four);
        // SAFETY: at most `count` records are written; the counts of all hits of a lane are its room.
        unsafe { _mm256_maskstore_epi64(to.cast(), kept, all) };
        if count > 4 {
            for i in 4..count {
                // SAFETY: the list has so many patterns.
                let pattern = unsafe { patterns.wrapping_add(i).read() };
                // SAFETY: as above.
                unsafe { to.wrapping_add(i).write(Record { end, pattern }) };
            }
        }
    }
}

/// Masks of the first so many of four records.
static FIRST: [[i64; 4]; 5] =
    [[0; 4], [-1, 0, 0, 0], [-1, -1, 0, 0], [-1, -1, -1, 0], [-1, -1, -1, -1]];

/// Four records of one end.
#[inline]
#[target_feature(enable = "avx2")]
fn records_of(end: u32, patterns: __m128i) -> __m256i {
    const END_AT: u32 = 8 * offset_of!(Record, end) as u32;
    const PATTERN_AT: i32 = 8 * offset_of!(Record, pattern) as i32;
    let end = _mm256_set1_epi64x((u64::from(end) << END_AT) as i64);
    let patterns = _mm256_cvtepu32_epi64(patterns);
    _mm256_or_si256(_mm256_slli_epi64::<PATTERN_AT>(patterns), end)
}

/// Writes states to the walks of their lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn spill(state: &State, walks: &mut [Walk; super::lanes::MOST]) {
    for v in 0..VECTORS {
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
#[target_feature(enable = "avx2")]
fn gather_up(walks: &[Walk; super::lanes::MOST]) -> State {
    let zero = [_mm256_setzero_si256(); VECTORS];
    let mut state = State { entry: zero, place: zero, past: zero, deep: zero };
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
    // SAFETY: an unaligned load of 32 bytes from an array of 32 bytes.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn words_of(vector: __m256i) -> [u32; WIDTH] {
    let mut words = [0u32; WIDTH];
    // SAFETY: an unaligned store of 32 bytes to an array of 32 bytes.
    unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), vector) };
    words
}
