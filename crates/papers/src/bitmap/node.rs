//! The bytes of the nodes: section 2.4.2 and figures 2-7 to 2-9.
//!
//! | bitmap node | bytes | low-degree node | bytes |
//! |---|---|---|---|
//! | type and type of the first child, 3 bits each | 0 | the same | 0 |
//! | failure place | 1 | failure place | 1 |
//! | summaries, the first two bytes | 2..4 | size; character 1 | 2, 3 |
//! | rule list | 4..8 | rule list | 4..8 |
//! | failure node | 8..12 | failure node | 8..12 |
//! | first child | 12..16 | first child | 12..16 |
//! | bitmap | 16..48 | characters 2 to 8 | 16..23 |
//! | summaries, the other bytes | 48.. | unused | 23..25 |
//!
//! A bitmap node takes 46 bytes and those of its summaries: 110, 94 or 61. A path node of c states
//! has
//!
//! | path node | bytes |
//! |---|---|
//! | type and type of the next node | 0 |
//! | capacity less 6, unless the type implies it | 1 |
//! | character and rule list of each state | 5 each |
//! | next node | 4 |
//! | failure node and failure place of each state | 5 each |
//!
//! so 10c + 5 bytes up to c = 5, types O1 to O5, and 10c + 6 bytes for c from 6 to 256, type O.
//! This is the second of the orders that the paper gives for O3, and the one that it gives for O.
//!
//! Every pointer takes 4 bytes and is the offset of a node.

use super::summary::Summary;
use crate::build::Arena;
use std::ops::Range;

/// The type of a bitmap node. The types of path nodes O1 to O5 are 1 to 5.
pub const BITMAP_NODE: u8 = 0b000;
/// The type of a path node of 6 to 256 states.
pub const LONG_PATH: u8 = 0b110;
/// The type of a low-degree node.
pub const LOW_NODE: u8 = 0b111;
/// Bits of a type.
pub const TYPE_BITS: u32 = 3;
const TYPE: u8 = (1 << TYPE_BITS) - 1;

/// Bytes of a low-degree node, and of an O2 node.
pub const LOW_BYTES: usize = 25;
/// The maximum number of states of a path node whose type implies its capacity.
pub const SHORT_PATH: usize = 5;
/// The maximum number of states of any path node.
pub const LONGEST_PATH: usize = 256;
/// Fewest states of a long path node.
const LONG_FROM: usize = SHORT_PATH + 1;

const FAIL_PLACE: usize = 1;
const SIZE: usize = 2;
const CHAR_1: usize = 3;
/// Offset of the rule list of a bitmap or low-degree node.
pub const RULES: usize = 4;
/// Offset of the failure node.
pub const FAIL: usize = 8;
/// Offset of the first child.
pub const FIRST_CHILD: usize = 12;
/// Offset of the bitmap of a bitmap node.
pub const BITMAP: usize = 16;
const CHARS: usize = 16;
const REST_OF_SUMMARIES: usize = 48;
/// Summary bytes that stand before the pointers.
const EARLY_SUMMARIES: usize = 2;
/// Bytes of a pointer.
pub const POINTER: usize = 4;
/// Bytes of a character and a rule list, and of a failure node and a failure place.
const PAIR: usize = 5;

/// Bytes of a bitmap node.
pub const fn bitmap_bytes<S: Summary>() -> usize {
    REST_OF_SUMMARIES + S::BYTES - EARLY_SUMMARIES
}

/// Bytes of a path node of `states` states.
pub const fn path_bytes(states: usize) -> usize {
    path_header(states) + 2 * PAIR * states + POINTER
}

const fn path_header(states: usize) -> usize {
    if states <= SHORT_PATH { 1 } else { 2 }
}

/// The offset of a byte of the summaries in a bitmap node.
#[inline(always)]
pub const fn summary_byte(index: usize) -> usize {
    if index < EARLY_SUMMARIES { SIZE + index } else { REST_OF_SUMMARIES - EARLY_SUMMARIES + index }
}

/// The distance between siblings, by the type of the first.
pub const fn stride<S: Summary>(first: u8) -> u32 {
    let bytes = match first {
        BITMAP_NODE => bitmap_bytes::<S>(),
        LOW_NODE => LOW_BYTES,
        LONG_PATH => 0,
        short => path_bytes(short as usize),
    };
    bytes as u32
}

/// The type of a node.
#[inline(always)]
pub fn type_of(first_byte: u8) -> u8 {
    first_byte & TYPE
}

/// The type that the children of a node share.
#[inline(always)]
pub fn child_type_of(first_byte: u8) -> u8 {
    first_byte >> TYPE_BITS & TYPE
}

/// The 4-byte pointer at an offset in a node.
#[inline(always)]
pub fn pointer(node: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(node[at..at + POINTER].try_into().expect("four bytes"))
}

/// Writes the bitmap and the summaries of a bitmap node, for ascending labels.
pub fn write_bitmap<S: Summary>(node: &mut [u8], labels: &[u8]) {
    let mut ranks = [0; 256];
    for (rank, pair) in labels.windows(2).enumerate() {
        ranks[usize::from(pair[0]) + 1..=usize::from(pair[1])].fill(rank as u8 + 1);
    }
    if let Some(&last) = labels.last() {
        ranks[usize::from(last) + 1..].fill(labels.len() as u8);
    }
    for &label in labels {
        node[BITMAP + usize::from(label) / 8] |= 0x80 >> (label % 8);
    }
    S::write(node, &ranks);
}

/// A low-degree node, for reading.
#[derive(Clone, Copy)]
pub struct Low<'a>(pub &'a [u8; LOW_BYTES]);

impl Low<'_> {
    /// The rank of a byte among the characters, if it is one of them, and the number of characters
    /// compared.
    #[inline(always)]
    pub fn search(self, byte: u8) -> (Option<u32>, usize) {
        let size = usize::from(self.0[SIZE]);
        let mut rank = 0;
        let mut char = self.0[CHAR_1];
        while char < byte && rank + 1 < size {
            rank += 1;
            char = self.0[CHARS + rank - 1];
        }
        ((char == byte).then_some(rank as u32), rank + 1)
    }
}

/// The layout of a path node: the offsets of the fields of each state.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// States of the node.
    pub states: usize,
    header: usize,
}

impl Path {
    /// The layout of a node of `states` states.
    pub fn new(states: usize) -> Path {
        Path { states, header: path_header(states) }
    }

    /// The layout of a node in memory, by its type and its second byte.
    #[inline(always)]
    pub fn read(kind: u8, capacity: u8) -> Path {
        if kind == LONG_PATH {
            Path { states: usize::from(capacity) + LONG_FROM, header: 2 }
        } else {
            Path { states: usize::from(kind), header: 1 }
        }
    }

    /// Offset of the character of a state.
    #[inline(always)]
    pub fn char(self, place: usize) -> usize {
        self.header + PAIR * place
    }

    /// Offset of the rule list of a state.
    #[inline(always)]
    pub fn rules(self, place: usize) -> usize {
        self.char(place) + 1
    }

    /// Offset of the pointer to the next node.
    #[inline(always)]
    pub fn next(self) -> usize {
        self.char(self.states)
    }

    /// Offset of the failure node of a state. The failure place follows it.
    #[inline(always)]
    pub fn fail(self, place: usize) -> usize {
        self.next() + POINTER + PAIR * place
    }

    /// The bytes of the header and of states `from..upto` that a visit reads to compare and
    /// report.
    pub fn reads(self, from: usize, upto: usize) -> [Range<usize>; 2] {
        [0..self.header, self.char(from)..self.char(upto)]
    }

    /// The bytes of the failure pointer of a state.
    pub fn fail_field(self, place: usize) -> Range<usize> {
        self.fail(place)..self.fail(place) + PAIR
    }
}

/// The target of a pointer: a node, and the place in it.
pub type Target = (u32, u8);

/// A node, for writing.
pub struct Writer<'a> {
    /// The arena of the nodes.
    pub arena: &'a mut Arena,
    /// The offset of this node.
    pub at: usize,
}

impl Writer<'_> {
    fn put(&mut self, field: usize, bytes: &[u8]) {
        self.arena.put(self.at + field, bytes);
    }

    fn pointer(&mut self, field: usize, value: u32) {
        self.put(field, &value.to_le_bytes());
    }

    fn types(&mut self, kind: u8, child: u8) {
        self.put(0, &[kind | child << TYPE_BITS]);
    }

    /// Writes the fields that bitmap and low-degree nodes share. `child` is the first child and
    /// its type.
    pub fn header(&mut self, kind: u8, rules: u32, fail: Target, child: (u32, u8)) {
        self.types(kind, child.1);
        self.put(FAIL_PLACE, &[fail.1]);
        self.pointer(RULES, rules);
        self.pointer(FAIL, fail.0);
        self.pointer(FIRST_CHILD, child.0);
    }

    /// Writes the bitmap of a bitmap node.
    pub fn bitmap<S: Summary>(&mut self, labels: &[u8]) {
        let mut node = self.arena.slice(self.at, bitmap_bytes::<S>()).to_vec();
        write_bitmap::<S>(&mut node, labels);
        self.put(0, &node);
    }

    /// Writes the characters of a low-degree node.
    pub fn chars(&mut self, labels: &[u8]) {
        self.put(SIZE, &[labels.len() as u8, labels[0]]);
        self.put(CHARS, &labels[1..]);
    }

    /// Writes the header of a path node and the pointer to the next node. `next` is that node and
    /// its type.
    pub fn path(&mut self, path: Path, next: (u32, u8)) {
        self.types(path_type(path.states), next.1);
        if path.states > SHORT_PATH {
            self.put(1, &[(path.states - LONG_FROM) as u8]);
        }
        self.pointer(path.next(), next.0);
    }

    /// Writes a state of a path node.
    pub fn path_state(&mut self, path: Path, place: usize, char: u8, rules: u32, fail: Target) {
        self.put(path.char(place), &[char]);
        self.pointer(path.rules(place), rules);
        self.pointer(path.fail(place), fail.0);
        self.put(path.fail(place) + POINTER, &[fail.1]);
    }
}

/// The type of a path node of `states` states.
pub fn path_type(states: usize) -> u8 {
    if states <= SHORT_PATH { states as u8 } else { LONG_PATH }
}

/// The failure pointer of a bitmap or low-degree node.
#[inline(always)]
pub fn fail_of(node: &[u8]) -> Target {
    (pointer(node, FAIL), node[FAIL_PLACE])
}

/// The bytes that a low-degree node reads if it compares `compared` characters.
pub fn low_reads(compared: usize, is_match: bool) -> [Range<usize>; 3] {
    let field = if is_match { FIRST_CHILD } else { FAIL };
    [0..RULES + POINTER, field..field + POINTER, CHARS..CHARS + compared - 1]
}

/// The bytes that a bitmap node reads, without its summaries.
pub fn bitmap_reads(q: usize, is_match: bool) -> [Range<usize>; 3] {
    let field = if is_match { FIRST_CHILD } else { FAIL };
    [0..RULES + POINTER, field..field + POINTER, BITMAP + q / 8..BITMAP + q / 8 + 1]
}

#[cfg(test)]
mod tests {
    use super::super::summary::{TypeI, TypeII, TypeIII};
    use super::*;

    #[test]
    fn sizes_are_those_of_the_paper() {
        let bitmap = [bitmap_bytes::<TypeI>(), bitmap_bytes::<TypeII>(), bitmap_bytes::<TypeIII>()];
        assert_eq!(bitmap, [110, 94, 61]);
        assert_eq!([1, 2, 3, 4, 5].map(path_bytes), [15, 25, 35, 45, 55]);
        assert_eq!([6, 256].map(path_bytes), [66, 2566]);
        assert_eq!(path_bytes(2), LOW_BYTES);
    }

    #[test]
    fn the_fields_of_a_path_node_fill_it() {
        for states in [1, 5, 6, 256] {
            let path = Path::new(states);
            assert_eq!(path.fail_field(states - 1).end, path_bytes(states));
            assert_eq!(path.rules(0) + POINTER, path.char(1));
        }
    }

    #[test]
    fn low_degree_nodes_are_searched_in_order() {
        let mut node = [0; LOW_BYTES];
        node[SIZE..CHARS].copy_from_slice(&[3, b'b', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        node[CHARS..CHARS + 2].copy_from_slice(b"dx");
        let search = |byte| Low(&node).search(byte);
        assert_eq!(search(b'b'), (Some(0), 1));
        assert_eq!(search(b'a'), (None, 1));
        assert_eq!(search(b'c'), (None, 2));
        assert_eq!(search(b'x'), (Some(2), 3));
        assert_eq!(search(b'z'), (None, 3));
    }
}
