//! The lanes without gathers: eight walks by scalar loads take turns, so that the loads of one
//! overlap with those of the others.
//!
//! In a compact form, every 64 bytes of a lane take two loops. The first finds the defaults, which
//! do not depend on the state. The second follows the states.

use super::lanes::{COUNTS, HITS, LARGE, NOTHING, OPEN_COUNTS};
use super::scan::{LaneLayout, Lanes};
use super::table::{AcSimdTable, COMPACT2, COMPACT3, DENSE, Form, LINKED, Steps, Walk};
use super::trail::{STEPS, TrailRoom};

/// Lanes of a window.
pub(super) const LANES: usize = 8;

/// What all lanes write in a step: one cache line, since some CPUs merge stores to the same line.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
pub(super) struct Row {
    pub(super) entries: [u32; LANES],
    pub(super) places: [u32; LANES],
}

/// The rows of 64 steps.
pub(super) type Rows = [Row; STEPS];

/// Walks 8 lanes from and to `lanes.walks`.
pub(super) fn walk(
    lanes: &mut Lanes,
    table: &AcSimdTable,
    window: &[u8],
    cut: LaneLayout,
    counting: bool,
) {
    let window = Window { table, bytes: window, cut };
    match table.form {
        Form::Dense => walk_apart::<DENSE>(lanes, window, counting),
        Form::Compact2 => walk_apart::<COMPACT2>(lanes, window, counting),
        Form::Compact3 => walk_apart::<COMPACT3>(lanes, window, counting),
        Form::Linked => walk_apart::<LINKED>(lanes, window, counting),
    }
}

/// Not inlined: the loops of all forms in one function would compete for registers.
#[inline(never)]
fn walk_apart<const FORM: u8>(lanes: &mut Lanes, window: Window<'_>, counting: bool) {
    walk_as::<FORM>(lanes, window, counting, flags);
}

/// A piece of the haystack that is walked at once.
#[derive(Clone, Copy)]
pub(super) struct Window<'a> {
    pub(super) table: &'a AcSimdTable,
    pub(super) bytes: &'a [u8],
    pub(super) cut: LaneLayout,
}

/// [`walk`] in a known form, with the caller's [`flags`]. All is inlined, so that it is compiled
/// for the instruction set of the caller.
#[inline(always)]
pub(super) fn walk_as<const FORM: u8>(
    lanes: &mut Lanes,
    window: Window<'_>,
    counting: bool,
    flags: impl Fn(&Rows, u32, bool) -> [u64; LANES],
) {
    match (counting, window.table.saturates) {
        (false, _) => walk_sized::<FORM, HITS>(lanes, window, flags),
        (true, false) => walk_sized::<FORM, COUNTS>(lanes, window, flags),
        (true, true) => walk_sized::<FORM, OPEN_COUNTS>(lanes, window, flags),
    }
}

/// Makes the lane size of long haystacks a compile-time constant, so that one register addresses
/// all lanes.
#[inline(always)]
fn walk_sized<const FORM: u8, const MODE: u8>(
    lanes: &mut Lanes,
    window: Window<'_>,
    flags: impl Fn(&Rows, u32, bool) -> [u64; LANES],
) {
    match window.cut.size {
        LARGE => walk_window::<FORM, MODE>(lanes, window, LARGE, flags),
        size => walk_window::<FORM, MODE>(lanes, window, size, flags),
    }
}

#[inline(always)]
fn walk_window<const FORM: u8, const MODE: u8>(
    lanes: &mut Lanes,
    window: Window<'_>,
    size: usize,
    flags: impl Fn(&Rows, u32, bool) -> [u64; LANES],
) {
    let Window { table, bytes, cut } = window;
    assert!(bytes.len() == LANES * size && cut.size == size);
    assert!(cut.lanes == LANES && cut.width == LANES);
    let room = lanes.trail.room_for(cut);
    let mut walks = warm_up::<FORM>(window, size);
    walks[0] = lanes.walks[0];
    lanes.begin[..LANES].copy_from_slice(&walks);
    let (mut count, mut rows) = (0, [Row::default(); STEPS]);
    for first in (0..size).step_by(STEPS) {
        let steps = STEPS.min(size - first);
        let word = Word { steps: table.steps(), bytes, size, first, len: steps };
        // SAFETY: the window has LANES segments of `size` bytes, as asserted above, and the word's
        // steps are in them.
        count += unsafe { word.walk::<FORM, MODE>(&mut walks, &mut rows) };
        if MODE != COUNTS {
            let bits = flags(&rows, table.count_mask, MODE == OPEN_COUNTS);
            let bits = bits.map(|bits| bits & u64::MAX >> (STEPS - steps));
            // SAFETY: `room_for` asserts room for `size` steps of this layout, and `first + steps`
            // is at most `size`. `step_by` makes `first` a multiple of STEPS.
            unsafe { store(&room, first, bits, &rows[..steps]) };
        }
    }
    lanes.counts[0] = (count >> table.count_shift) as u32;
    lanes.walks[..LANES].copy_from_slice(&walks);
}

/// The walks at the starts of the segments, after the last bytes before each. There are no such
/// bytes for lane 0, so its walk is not used.
#[inline(always)]
fn warm_up<const FORM: u8>(Window { table, bytes, cut }: Window<'_>, size: usize) -> [Walk; LANES] {
    assert!(cut.warm <= STEPS.min(size) && bytes.len() == LANES * size);
    let (mut walks, mut rows) = ([table.start(); LANES], [Row::default(); STEPS]);
    let (steps, first) = (table.steps(), size - cut.warm);
    let word = Word { steps, bytes, size, first, len: cut.warm };
    // SAFETY: the window has LANES segments of `size` bytes, as asserted above, and the steps are
    // the last ones of each segment.
    unsafe { word.walk::<FORM, NOTHING>(&mut walks, &mut rows) };
    walks.rotate_right(1);
    walks
}

/// Up to 64 steps of all lanes.
struct Word<'a> {
    steps: Steps<'a>,
    bytes: &'a [u8],
    /// Bytes of a lane.
    size: usize,
    first: usize,
    /// The number of steps.
    len: usize,
}

impl Word<'_> {
    /// Takes the steps, and writes a row after each. Returns the sum of the masked counts, not
    /// shifted.
    ///
    /// # Safety
    /// `bytes` has LANES segments of `size` bytes, and the steps are in them.
    #[inline(always)]
    unsafe fn walk<const FORM: u8, const MODE: u8>(
        &self,
        walks: &mut [Walk; LANES],
        rows: &mut Rows,
    ) -> u64 {
        let mut defaults = [[0; LANES]; STEPS];
        if FORM != DENSE {
            // SAFETY: the caller guarantees that the steps are in `bytes`.
            unsafe { self.default_places(walks, &mut defaults) };
        }
        let (mut now, mut count, last) = (*walks, 0, self.len - 1);
        for step in 0..last {
            // SAFETY: the caller guarantees that the steps are in `bytes`, and `step < len`.
            count += unsafe {
                self.take::<FORM, MODE>(step, &mut now, &defaults[step], &mut rows[step])
            };
            if FORM != LINKED {
                // Otherwise each place would take a register until the last step.
                now.iter_mut().for_each(|walk| walk.place = 0);
            }
        }
        // SAFETY: the caller guarantees that the steps are in `bytes`, and `last < len`.
        count +=
            unsafe { self.take::<FORM, MODE>(last, &mut now, &defaults[last], &mut rows[last]) };
        *walks = now;
        count
    }

    /// One step of all lanes. See `walk`.
    ///
    /// # Safety
    /// As for `walk`, and `step` is below `len`.
    #[inline(always)]
    unsafe fn take<const FORM: u8, const MODE: u8>(
        &self,
        step: usize,
        walks: &mut [Walk; LANES],
        defaults: &[u32; LANES],
        row: &mut Row,
    ) -> u64 {
        let (steps, mut count) = (self.steps, 0);
        for (lane, walk) in walks.iter_mut().enumerate() {
            if FORM == DENSE {
                // SAFETY: the caller guarantees that this step of this lane is in `bytes`.
                let byte = unsafe { self.byte(lane, self.first + step) };
                steps.take::<FORM>(walk, byte);
            } else {
                steps.take_compact::<FORM>(walk, defaults[lane]);
            }
            if MODE == COUNTS || MODE == OPEN_COUNTS {
                count += u64::from(walk.entry & steps.count_mask);
            }
            if MODE == HITS || MODE == OPEN_COUNTS {
                row.entries[lane] = walk.entry;
                row.places[lane] = walk.place;
            }
        }
        count
    }

    /// Finds the places of the defaults of each step, and the contexts of the walks after the last
    /// one. This is a loop of its own, because one for all would need too many registers.
    ///
    /// # Safety
    /// `bytes` has LANES segments of `size` bytes, and the steps are in them.
    #[inline(always)]
    unsafe fn default_places(
        &self,
        walks: &mut [Walk; LANES],
        defaults: &mut [[u32; LANES]; STEPS],
    ) {
        let (steps, mut classes) = (self.steps, [[0; LANES]; STEPS]);
        for (step, classes) in classes.iter_mut().enumerate().take(self.len) {
            for (lane, class) in classes.iter_mut().enumerate() {
                // SAFETY: the caller guarantees that this step of this lane is in `bytes`.
                *class = steps.class(unsafe { self.byte(lane, self.first + step) });
            }
        }
        let mut past = walks.map(|walk| walk.past);
        for (classes, defaults) in classes.iter().zip(defaults).take(self.len) {
            for lane in 0..LANES {
                defaults[lane] = steps.default_place(&mut past[lane], classes[lane]);
            }
        }
        walks.iter_mut().zip(past).for_each(|(walk, past)| walk.past = past);
    }

    /// A byte of a lane.
    ///
    /// # Safety
    /// It is in `bytes`.
    #[inline(always)]
    unsafe fn byte(&self, lane: usize, step: usize) -> u8 {
        debug_assert!(lane * self.size + step < self.bytes.len());
        // SAFETY: the caller guarantees that the byte exists, as asserted above.
        unsafe { *self.bytes.get_unchecked(lane * self.size + step) }
    }
}

/// Writes to the trail in which steps from `first` on each lane reports something. If any lane
/// does, writes the places of all.
///
/// # Safety
/// The trail has room for these steps, and `first` is a multiple of STEPS.
#[inline(always)]
unsafe fn store(room: &TrailRoom, first: usize, bits: [u64; LANES], rows: &[Row]) {
    for (lane, &bits) in bits.iter().enumerate() {
        let to = room.bits.wrapping_add(lane * room.words + first / STEPS);
        // SAFETY: `Trail::prepare` allocates `room.words` words of bits for each lane, one for each
        // STEPS steps, and the caller guarantees room for the first of these.
        unsafe { to.write(bits) };
    }
    if bits == [0; LANES] {
        return;
    }
    for (row, step) in rows.iter().zip(first..) {
        let to = room.places.wrapping_add(step * LANES).cast::<[u32; LANES]>();
        // SAFETY: `Trail::prepare` allocates LANES places for each step, and the caller guarantees
        // room for this one.
        unsafe { to.write(row.places) };
    }
}

/// For each lane, one bit per step: whether the count under the mask is not 0, or, if `open`,
/// whether it is the largest one.
pub(super) fn flags(rows: &Rows, mask: u32, open: bool) -> [u64; LANES] {
    let mut bits = [0; LANES];
    for row in rows.iter().rev() {
        for (bits, entry) in bits.iter_mut().zip(row.entries) {
            let counted = entry & mask;
            *bits = *bits << 1 | u64::from(if open { counted == mask } else { counted != 0 });
        }
    }
    bits
}
