//! The two kinds of node, 52 bytes each: Zha 2010, figures 2-4 and 2-5.
//!
//! | bitmap node | bytes | path node | bytes |
//! |---|---|---|---|
//! | kind, 1 bit; failure place, 3 bits | 0 | kind; size; failure place of state 0, 3 bits each | 0 |
//! | summaries 1 to 7 | 1..8 | characters of states 0 to 4 | 1..6 |
//! | | | failure places of states 1 to 4, 3 bits each | 6..8 |
//! | rule list | 8..12 | rule lists of states 0 to 4 | 8..28 |
//! | first child | 12..16 | next node | 28..32 |
//! | bitmap | 16..48 | failure nodes of states 0 to 4 | 32..52 |
//! | failure node | 48..52 | | |
//!
//! The order follows the blocks of memory of section 2.4.8: type, size, first failure place and
//! three characters are in one block of 32 bits, the other characters and places in the next.

use crate::bitmap::accesses::{self, MinMax};
use crate::build::Arena;
use crate::cost::{ACCESS_WIDTHS, Accesses, CostCounter};
use std::ops::Range;

/// Bytes of a node.
pub const NODE_BYTES: usize = 52;
/// States of a path node.
pub const CAPACITY: usize = 5;

const PATH: u8 = 1;
const SUMMARIES: usize = 0;
const CHARS: usize = 1;
const PLACES: usize = 6;
const RULES: usize = 8;
const FIRST_CHILD: usize = 12;
const BITMAP: usize = 16;
const NEXT: usize = 28;
const PATH_FAILS: usize = 32;
const BITMAP_FAIL: usize = 48;
const POINTER: usize = 4;
/// Bits of the bitmap to a summary.
const BLOCK: usize = 32;

/// A node, for reading.
#[derive(Clone, Copy)]
pub(super) struct Node<'a>(pub(super) &'a [u8; NODE_BYTES]);

impl Node<'_> {
    #[inline(always)]
    fn word(self, at: usize) -> u32 {
        u32::from_le_bytes(self.0[at..at + POINTER].try_into().expect("four bytes"))
    }

    #[inline(always)]
    pub(super) fn is_path(self) -> bool {
        self.0[0] & PATH == PATH
    }

    /// The rule list of the state at a place.
    #[inline(always)]
    pub(super) fn rules(self, place: usize) -> u32 {
        self.word(RULES + POINTER * place)
    }

    /// The state that the state at a place fails to.
    #[inline(always)]
    pub(super) fn fail(self, place: usize) -> u64 {
        let (node, at) = if self.is_path() {
            let places = u32::from(u16::from_le_bytes([self.0[PLACES], self.0[PLACES + 1]]));
            let first = u32::from(self.0[0] >> 4);
            (PATH_FAILS + POINTER * place, (first | places << 3) >> (3 * place) & 7)
        } else {
            (BITMAP_FAIL, u32::from(self.0[0] >> 1 & 7))
        };
        u64::from(self.word(node)) | u64::from(at) << super::PLACE
    }

    /// The states of a path node.
    #[inline(always)]
    pub(super) fn size(self) -> usize {
        usize::from(self.0[0] >> 1 & 7)
    }

    /// The byte that leads from the state at a place of a path node to the next state.
    #[inline(always)]
    pub(super) fn char(self, place: usize) -> u8 {
        self.0[CHARS + place]
    }

    /// The path node that follows this one, or 0.
    #[inline(always)]
    pub(super) fn next(self) -> u32 {
        self.word(NEXT)
    }

    /// The child of a bitmap node for a byte.
    #[inline(always)]
    pub(super) fn child<C: CostCounter>(self, byte: u8, counter: &mut C) -> Option<u32> {
        let q = usize::from(byte);
        let bits = self.word(BITMAP + q / BLOCK * POINTER);
        if bits >> (q % BLOCK) & 1 == 0 {
            return None;
        }
        let rank = self.summary(q / BLOCK) + add_bits(bits, q % BLOCK, counter);
        Some(self.word(FIRST_CHILD) + rank * NODE_BYTES as u32)
    }

    /// The bits set in the blocks before a block.
    #[inline(always)]
    fn summary(self, block: usize) -> u32 {
        if block == 0 { 0 } else { u32::from(self.0[SUMMARIES + block]) }
    }

    /// The accesses that a transition from the state at a place adds to the visit of the node. The
    /// visit began at this place if `entered_here`, else at the first.
    pub(super) fn accesses(
        self,
        place: usize,
        byte: u8,
        is_match: bool,
        entered_here: bool,
    ) -> Accesses {
        if !self.is_path() {
            return bitmap_accesses(usize::from(byte), is_match);
        }
        let leaves = is_match && place + 1 == self.size();
        let first = if entered_here { place } else { 0 };
        path_accesses(first, place, is_match, leaves)
    }
}

/// The sum of the first `count` bits of a block. The paper adds them one by one and counts the
/// additions; the CPU has an instruction for it.
#[inline(always)]
fn add_bits<C: CostCounter>(bits: u32, count: usize, counter: &mut C) -> u32 {
    counter.popcount_additions(count as u64);
    (bits & ((1 << count) - 1)).count_ones()
}

/// The bytes of a pointer.
fn pointer(at: usize) -> Range<usize> {
    at..at + POINTER
}

fn bitmap_accesses(q: usize, is_match: bool) -> Accesses {
    let block = q / BLOCK;
    let summary =
        if is_match && block > 0 { SUMMARIES + block..SUMMARIES + block + 1 } else { 0..1 };
    let (child, fail) =
        if is_match { (pointer(FIRST_CHILD), 0..0) } else { (0..0, pointer(BITMAP_FAIL)) };
    let bits = BITMAP + q / 8..BITMAP + q / 8 + 1;
    let fields = [0..1, summary, pointer(RULES), child, bits, fail];
    let fields = fields.into_iter().filter(|f| !f.is_empty());
    ACCESS_WIDTHS.map(|w| accesses::blocks(fields.clone(), w))
}

/// The accesses that the state at `place` adds to a visit that began at `first`.
fn path_accesses(first: usize, place: usize, is_match: bool, leaves: bool) -> Accesses {
    let read =
        |upto: usize| [0..1, CHARS + first..CHARS + upto, RULES + 4 * first..RULES + 4 * upto];
    let [kind, chars, rules] = read(place + 1);
    let places = if is_match || place == 0 { 0..0 } else { PLACES..PLACES + 2 };
    let next = if leaves { pointer(NEXT) } else { 0..0 };
    let fail = if is_match { 0..0 } else { pointer(PATH_FAILS + 4 * place) };
    let now = [kind, chars, places, rules, next, fail];
    let now = now.into_iter().filter(|f| !f.is_empty());
    let before = if place > first { read(place).to_vec() } else { Vec::new() };
    ACCESS_WIDTHS.map(|w| accesses::blocks(now.clone(), w) - accesses::blocks(before.clone(), w))
}

/// The rows TB and TO of tables 2-3 and 2-4 for these layouts.
pub(super) fn model() -> Vec<(String, u64)> {
    let bitmap = |is_match| MinMax::over((0..256).map(|q| bitmap_accesses(q, is_match)));
    let mut rows = accesses::rows("TB", bitmap(true), bitmap(false));
    rows.extend(accesses::rows("TO", path_match(), MinMax::over((0..CAPACITY).map(path_mismatch))));
    rows
}

/// A visit that passes through a whole path node to the next.
fn path_match() -> MinMax {
    let steps = (0..CAPACITY).map(|place| path_accesses(0, place, true, place + 1 == CAPACITY));
    MinMax::over([sum(steps)])
}

/// A visit to a path node from its first state to a mismatch at a place.
fn path_mismatch(place: usize) -> Accesses {
    let steps = (0..=place).map(|p| path_accesses(0, p, p < place, false));
    sum(steps)
}

fn sum(steps: impl Iterator<Item = Accesses>) -> Accesses {
    steps.fold(Accesses::default(), |a, b| std::array::from_fn(|w| a[w] + b[w]))
}

/// A node, for writing.
pub(super) struct Writer<'a> {
    pub(super) arena: &'a mut Arena,
    /// Where it begins.
    pub(super) at: usize,
}

impl Writer<'_> {
    fn pointer(&mut self, field: usize, value: u32) {
        self.arena.put(self.at + field, &value.to_le_bytes());
    }

    fn or(&mut self, field: usize, bits: u8) {
        let old = self.arena.u8(self.at + field);
        self.arena.put(self.at + field, &[old | bits]);
    }

    /// Adds a state to a path node. Callers add states in order of their places.
    pub(super) fn path_state(&mut self, place: usize, rules: u32, fail: (u32, u8)) {
        let size = place as u8 + 1;
        let first_place = self.arena.u8(self.at) & !0xf;
        self.arena.put(self.at, &[PATH | size << 1 | first_place]);
        self.fail_place(place, fail.1);
        self.pointer(RULES + POINTER * place, rules);
        self.pointer(PATH_FAILS + POINTER * place, fail.0);
    }

    fn fail_place(&mut self, place: usize, at: u8) {
        let bits = u16::from(at) << (3 * place) >> 3;
        let [low, high] = bits.to_le_bytes();
        match place {
            0 => self.or(0, at << 4),
            _ => {
                self.or(PLACES, low);
                self.or(PLACES + 1, high);
            }
        }
    }

    /// Writes the transition out of a state of a path node: to its next state, or to another node.
    pub(super) fn path_goto(&mut self, place: usize, char: u8, next: Option<u32>) {
        self.arena.put(self.at + CHARS + place, &[char]);
        if let Some(next) = next {
            self.pointer(NEXT, next);
        }
    }

    /// Writes a bitmap node without its bitmap.
    pub(super) fn bitmap_state(&mut self, rules: u32, fail: (u32, u8), first_child: u32) {
        self.arena.put(self.at, &[fail.1 << 1]);
        self.pointer(RULES, rules);
        self.pointer(FIRST_CHILD, first_child);
        self.pointer(BITMAP_FAIL, fail.0);
    }

    /// Writes the bitmap and its summaries, for ascending labels.
    pub(super) fn bitmap(&mut self, labels: &[u8]) {
        for &label in labels {
            self.arena.set_bit(self.at + BITMAP, usize::from(label));
        }
        for block in 1..256 / BLOCK {
            let before = labels.partition_point(|&label| usize::from(label) < block * BLOCK);
            self.arena.put(self.at + SUMMARIES + block, &[before as u8]);
        }
    }
}
