//! The lanes without gathers: eight walks by scalar loads take turns, so that the loads of one
//! overlap with those of the others.

use super::lanes::{COUNTS, HITS, LARGE, MEDIUM, OPEN_COUNTS};
use super::scan::{LaneLayout, Lanes};
use super::table::{AcSimdTable, COMPACT2, COMPACT3, DENSE, Form, LINKED, Walk};
use super::trail::{STEPS, TrailRoom};

/// Lanes of a window.
pub(super) const LANES: usize = 8;

/// The entries of all lanes after each of 64 steps.
pub(super) type Entries = [[u32; LANES]; STEPS];

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

/// The same with the caller's form of [`flags`]. All is inlined, so that it is compiled for the
/// instruction set of the caller.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
pub(super) fn walk_with(
    lanes: &mut Lanes,
    window: Window<'_>,
    counting: bool,
    flags: impl Fn(&Entries, u32, bool) -> [u64; LANES],
) {
    match window.table.form {
        Form::Dense => walk_as::<DENSE>(lanes, window, counting, flags),
        Form::Compact2 => walk_as::<COMPACT2>(lanes, window, counting, flags),
        Form::Compact3 => walk_as::<COMPACT3>(lanes, window, counting, flags),
        Form::Linked => walk_as::<LINKED>(lanes, window, counting, flags),
    }
}

#[inline(always)]
fn walk_as<const FORM: u8>(
    lanes: &mut Lanes,
    window: Window<'_>,
    counting: bool,
    flags: impl Fn(&Entries, u32, bool) -> [u64; LANES],
) {
    match (counting, window.table.saturates) {
        (false, _) => walk_sized::<FORM, HITS>(lanes, window, flags),
        (true, false) => walk_sized::<FORM, COUNTS>(lanes, window, flags),
        (true, true) => walk_sized::<FORM, OPEN_COUNTS>(lanes, window, flags),
    }
}

/// Makes the lane sizes of long haystacks compile-time constants, so that one register addresses
/// all lanes.
#[inline(always)]
fn walk_sized<const FORM: u8, const MODE: u8>(
    lanes: &mut Lanes,
    window: Window<'_>,
    flags: impl Fn(&Entries, u32, bool) -> [u64; LANES],
) {
    match window.cut.size {
        LARGE if MODE != HITS => walk_window::<FORM, MODE>(lanes, window, LARGE, flags),
        MEDIUM if MODE == HITS => walk_window::<FORM, MODE>(lanes, window, MEDIUM, flags),
        size => walk_window::<FORM, MODE>(lanes, window, size, flags),
    }
}

#[inline(always)]
fn walk_window<const FORM: u8, const MODE: u8>(
    lanes: &mut Lanes,
    window: Window<'_>,
    size: usize,
    flags: impl Fn(&Entries, u32, bool) -> [u64; LANES],
) {
    let Window { table, bytes, cut } = window;
    assert!(bytes.len() == LANES * size && cut.size == size && cut.lanes == LANES);
    let mut walks: [Walk; LANES] = std::array::from_fn(|lane| warm_up(window, lane));
    walks[0] = lanes.walks[0];
    lanes.begin[..LANES].copy_from_slice(&walks);
    let room = lanes.trail.room_for(cut);
    let (mut count, mut entries) = (0, [[0; LANES]; STEPS]);
    for first in (0..size).step_by(STEPS) {
        let steps = STEPS.min(size - first);
        let word = Word { table, bytes, size, first, steps, room };
        // SAFETY: the window has LANES segments of `size` bytes, as asserted above, the word's
        // steps are in them, and `room_for` asserts room for the places of each.
        count += unsafe { word.walk::<FORM, MODE>(&mut walks, &mut entries) };
        if MODE != COUNTS {
            let bits = flags(&entries, table.count_mask, MODE == OPEN_COUNTS);
            // SAFETY: `room_for` asserts room for the bits of `size` steps, and `first < size`.
            unsafe { store_bits(&room, first / STEPS, bits, u64::MAX >> (STEPS - steps)) };
        }
    }
    lanes.counts[0] = (count >> table.count_shift) as u32;
    lanes.walks[..LANES].copy_from_slice(&walks);
}

/// Up to 64 steps of all lanes.
struct Word<'a> {
    table: &'a AcSimdTable,
    bytes: &'a [u8],
    /// Bytes of a lane.
    size: usize,
    first: usize,
    steps: usize,
    room: TrailRoom,
}

impl Word<'_> {
    /// Takes the steps, and writes the entry and the place of each lane after each. Returns the sum
    /// of the masked counts, not shifted.
    ///
    /// # Safety
    /// `bytes` has LANES segments of `size` bytes, the steps are in them, and there is room for the
    /// places of each.
    #[inline(always)]
    unsafe fn walk<const FORM: u8, const MODE: u8>(
        &self,
        walks: &mut [Walk; LANES],
        entries: &mut Entries,
    ) -> u64 {
        let (mut now, mut count) = (*walks, 0);
        for (step, entries) in entries.iter_mut().enumerate().take(self.steps) {
            let step = self.first + step;
            for (lane, walk) in now.iter_mut().enumerate() {
                debug_assert!(lane * self.size + step < self.bytes.len());
                // SAFETY: the caller guarantees that this step of this lane is in `bytes`.
                let &byte = unsafe { self.bytes.get_unchecked(lane * self.size + step) };
                self.table.step_as::<FORM>(walk, byte);
                if MODE != HITS {
                    count += u64::from(walk.entry & self.table.count_mask);
                }
                if MODE != COUNTS {
                    entries[lane] = walk.entry;
                    let to = self.room.places.wrapping_add(step * LANES + lane);
                    // SAFETY: the caller guarantees room for LANES places of this step.
                    unsafe { to.write(walk.place) };
                }
            }
        }
        *walks = now;
        count
    }
}

/// Writes, for each lane, in which of 64 steps it reports something.
///
/// # Safety
/// The trail has room for word `word` of each lane.
#[inline(always)]
unsafe fn store_bits(room: &TrailRoom, word: usize, bits: [u64; LANES], keep: u64) {
    for (lane, bits) in bits.into_iter().enumerate() {
        let to = room.bits.wrapping_add(lane * room.words + word);
        // SAFETY: `Trail::prepare` allocates `room.words` words of bits for each lane, and the
        // caller guarantees that `word` is one of them.
        unsafe { to.write(bits & keep) };
    }
}

/// For each lane, one bit per step: whether the count under the mask is not 0, or, if `open`,
/// whether it is the largest one.
pub(super) fn flags(entries: &Entries, mask: u32, open: bool) -> [u64; LANES] {
    let mut bits = [0; LANES];
    for entries in entries.iter().rev() {
        for (bits, entry) in bits.iter_mut().zip(entries) {
            let counted = entry & mask;
            *bits = *bits << 1 | u64::from(if open { counted == mask } else { counted != 0 });
        }
    }
    bits
}

/// The walk at the start of a lane's segment.
#[inline(always)]
fn warm_up(window: Window<'_>, lane: usize) -> Walk {
    let mut walk = window.table.start();
    let to = lane * window.cut.size;
    let from = to.saturating_sub(window.cut.warm);
    window.bytes[from..to].iter().for_each(|&byte| window.table.step(&mut walk, byte));
    walk
}
