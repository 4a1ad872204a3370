//! The three kinds of node, 48 bytes each: Zha 2010, figures 3-8 to 3-10.
//!
//! | bitmap node | bytes | path node | bytes | copy node | bytes |
//! |---|---|---|---|---|---|
//! | kind, 2 bits; reports, 1 bit | 0 | kind, 2 bits; reports, 1 bit; size - 1, 3 bits | 0 | kind, 2 bits | 0 |
//! | summaries 1 to 7 | 1..8 | characters | 1..9 | unused | 1..12 |
//! | rule list | 8..12 | next node | 9..13 | original | 12..16 |
//! | first child | 12..16 | rule lists | 13..45 | unused | 16..48 |
//! | bitmap | 16..48 | reports, 1 bit each | 45 | | |
//! | | | unused | 46..48 | | |
//!
//! A child is found by its rank among its siblings, so all kinds take the same space: that of the
//! bitmap node. Without failure pointers a path node holds eight states instead of five. Nodes
//! begin at multiples of 16. So the low bits of a pointer hold the place in a path node, and
//! whether the state reports: a walk knows that without reading the rule list.
//!
//! With links instead of copy nodes, the first child is the first of a row of links, which point
//! to the children, copied or not.

use crate::build::Arena;
use crate::build::lists::NO_LIST;
use crate::cost::CostCounter;

/// Bytes of a node.
pub(super) const NODE_BYTES: usize = 48;
/// States of a path node.
pub(super) const CAPACITY: usize = 8;
/// Bytes of a link.
pub(super) const LINK_BYTES: usize = 4;

const BITMAP_KIND: u8 = 0;
const PATH_KIND: u8 = 1;
const COPY_KIND: u8 = 2;
const KIND: u8 = 3;
/// Where the last place of a path node begins in the first byte.
const LAST_PLACE: u32 = 4;

const SUMMARIES: usize = 0;
const RULES: usize = 8;
const FIRST_CHILD: usize = 12;
const BITMAP: usize = 16;
const CHARS: usize = 1;
const NEXT: usize = 9;
const PATH_RULES: usize = 13;
const PATH_REPORTS: usize = 45;
const ORIGINAL: usize = 12;
const POINTER: usize = 4;
/// Bits of the bitmap to a summary.
const BLOCK: usize = 32;
const BLOCKS: usize = 256 / BLOCK;

/// A state: the offset of its node. The low bits hold the place in a path node, and whether the
/// state reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State(pub(super) u32);

/// The bits of a state that hold its place.
const PLACE: u32 = CAPACITY as u32 - 1;
/// The bit of a state that is set if it reports. The first byte of a node has the same bit for its
/// only or first state.
const REPORTS: u32 = PLACE + 1;

impl State {
    /// The state of the root.
    pub(super) const ROOT: State = State(0);
    /// No state, in fields that never hold the root.
    pub(super) const NONE: State = State(0);

    /// The state at `place` of the node at offset `node`.
    #[inline(always)]
    pub(super) fn at(node: usize, place: usize, reports: bool) -> State {
        debug_assert!(node.is_multiple_of(NODE_BYTES) && place < CAPACITY);
        State(node as u32 | place as u32 | (u32::from(reports) * REPORTS))
    }

    /// Whether a pattern ends in the state or a suffix of it.
    #[inline(always)]
    pub(super) fn reports(self) -> bool {
        self.0 & REPORTS != 0
    }

    /// The offset of its node.
    #[inline(always)]
    pub(super) fn node(self) -> usize {
        (self.0 & !(PLACE | REPORTS)) as usize
    }

    #[inline(always)]
    fn place(self) -> usize {
        (self.0 & PLACE) as usize
    }
}

/// A set of bytes.
pub(super) type ByteSet = [u32; BLOCKS];

/// The members, ascending.
pub(super) fn members(set: &ByteSet) -> impl Iterator<Item = u8> {
    let of_block = |(block, &bits): (usize, &u32)| {
        let left = std::iter::successors(Some(bits), |bits| Some(bits & bits.wrapping_sub(1)));
        let bits = left.take_while(|&bits| bits != 0).map(u32::trailing_zeros);
        bits.map(move |bit| (block * BLOCK) as u8 + bit as u8)
    };
    set.iter().enumerate().flat_map(of_block)
}

pub(super) fn insert(set: &mut ByteSet, byte: u8) {
    set[usize::from(byte) / BLOCK] |= 1 << (usize::from(byte) % BLOCK);
}

pub(super) fn size(set: &ByteSet) -> usize {
    set.iter().map(|block| block.count_ones() as usize).sum()
}

/// A node, for reading.
#[derive(Clone, Copy)]
struct Node<'a>(&'a [u8; NODE_BYTES]);

impl<'a> Node<'a> {
    #[inline(always)]
    fn of(arena: &'a Arena, node: usize) -> Node<'a> {
        let bytes = arena.slice(node, NODE_BYTES);
        Node(bytes.try_into().expect("as long as asked for"))
    }

    #[inline(always)]
    fn word(self, at: usize) -> u32 {
        u32::from_le_bytes(self.0[at..at + POINTER].try_into().expect("four bytes"))
    }

    #[inline(always)]
    fn kind(self) -> u8 {
        self.0[0] & KIND
    }

    /// Whether the only or first state reports.
    #[inline(always)]
    fn reports(self) -> bool {
        u32::from(self.0[0]) & REPORTS != 0
    }

    /// The last place of a path node.
    #[inline(always)]
    fn last_place(self) -> usize {
        usize::from(self.0[0] >> LAST_PLACE)
    }

    /// The rank of a byte among the bytes of a bitmap node, if it is one of them.
    #[inline(always)]
    fn rank<C: CostCounter>(self, byte: u8, counter: &mut C) -> Option<usize> {
        let (block, bit) = (usize::from(byte) / BLOCK, usize::from(byte) % BLOCK);
        let bits = self.word(BITMAP + block * POINTER);
        if bits >> bit & 1 == 0 {
            return None;
        }
        counter.popcount_additions(bit as u64);
        let before = if block == 0 { 0 } else { u32::from(self.0[SUMMARIES + block]) };
        Some((before + (bits & ((1 << bit) - 1)).count_ones()) as usize)
    }

    /// The state after the one at a place of a path node.
    #[inline(always)]
    fn along(self, state: State, byte: u8) -> Option<State> {
        let place = state.place();
        if self.0[CHARS + place] != byte {
            None
        } else if place < self.last_place() {
            let reports = self.0[PATH_REPORTS] >> (place + 1) & 1 == 1;
            Some(State::at(state.node(), place + 1, reports))
        } else {
            Some(State(self.word(NEXT))).filter(|&next| next != State::NONE)
        }
    }
}

/// The state that a (folded) byte leads to from a state, without the root. A copy node is
/// followed.
#[inline(always)]
pub(super) fn follow<const LINKS: bool, C: CostCounter>(
    arena: &Arena,
    state: State,
    byte: u8,
    counter: &mut C,
) -> Option<State> {
    let node = Node::of(arena, state.node());
    if node.kind() == PATH_KIND {
        return node.along(state, byte);
    }
    let rank = node.rank(byte, counter)?;
    let first = node.word(FIRST_CHILD) as usize;
    if LINKS {
        return Some(State(arena.u32(first + rank * LINK_BYTES)));
    }
    let at = first + rank * NODE_BYTES;
    let child = Node::of(arena, at);
    Some(if child.kind() == COPY_KIND {
        State(child.word(ORIGINAL))
    } else {
        State::at(at, 0, child.reports())
    })
}

/// The rule list of a state.
#[inline(always)]
pub(super) fn rules(arena: &Arena, state: State) -> u32 {
    let node = Node::of(arena, state.node());
    node.word(if node.kind() == PATH_KIND { PATH_RULES + POINTER * state.place() } else { RULES })
}

/// Writes the first byte of a bitmap node, which other nodes read before its children exist.
pub(super) fn begin_bitmap(arena: &mut Arena, at: usize, reports: bool) {
    arena.put(at, &[BITMAP_KIND | (u8::from(reports) * REPORTS as u8)]);
}

/// Writes the rest of a bitmap node.
pub(super) fn put_bitmap(
    arena: &mut Arena,
    at: usize,
    rules: u32,
    first_child: usize,
    set: &ByteSet,
) {
    arena.put(at + RULES, &rules.to_le_bytes());
    arena.put(at + FIRST_CHILD, &(first_child as u32).to_le_bytes());
    let mut sum = 0;
    for (block, bits) in set.iter().enumerate() {
        if block > 0 {
            // At most 7 x 32.
            arena.put(at + SUMMARIES + block, &[sum as u8]);
        }
        sum += bits.count_ones();
        arena.put(at + BITMAP + block * POINTER, &bits.to_le_bytes());
    }
}

/// Writes a path node of up to [`CAPACITY`] states, each given by its rule list and the byte of
/// its transition. `next` is the first state of the next node, or [`State::NONE`].
pub(super) fn put_path(arena: &mut Arena, at: usize, states: &[(u32, u8)], next: State) {
    let mut reports = 0;
    for (place, &(rules, byte)) in states.iter().enumerate() {
        reports |= u8::from(rules != NO_LIST) << place;
        arena.put(at + CHARS + place, &[byte]);
        arena.put(at + PATH_RULES + POINTER * place, &rules.to_le_bytes());
    }
    let first_reports = (reports & 1) * REPORTS as u8;
    let last_place = states.len() as u8 - 1;
    arena.put(at, &[PATH_KIND | first_reports | last_place << LAST_PLACE]);
    arena.put(at + PATH_REPORTS, &[reports]);
    put_link(arena, at + NEXT, next);
}

/// Writes a copy node.
pub(super) fn put_copy(arena: &mut Arena, at: usize, original: State) {
    arena.put(at, &[COPY_KIND]);
    put_link(arena, at + ORIGINAL, original);
}

/// Writes a link.
pub(super) fn put_link(arena: &mut Arena, at: usize, to: State) {
    arena.put(at, &to.0.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::Cost;

    #[test]
    fn children_are_found_by_rank_and_copies_followed() {
        let mut set = ByteSet::default();
        [0, 33, 40, 255].iter().for_each(|&b| insert(&mut set, b));
        let mut arena = Arena::zeroed(5 * NODE_BYTES);
        put_bitmap(&mut arena, 0, 7, NODE_BYTES, &set);
        let original = State::at(9600, 7, true);
        put_copy(&mut arena, 2 * NODE_BYTES, original);
        begin_bitmap(&mut arena, 3 * NODE_BYTES, true);
        let mut cost = Cost::default();
        let mut to = |byte| follow::<false, _>(&arena, State::ROOT, byte, &mut cost);
        assert_eq!((to(0), to(33)), (Some(State::at(48, 0, false)), Some(original)));
        assert_eq!((to(40), to(41)), (Some(State::at(144, 0, true)), None));
        assert_eq!(to(255), Some(State::at(192, 0, false)));
        assert_eq!((cost.popcount_additions, rules(&arena, State::ROOT)), (1 + 8 + 31, 7));
        assert_eq!((members(&set).collect::<Vec<_>>(), size(&set)), (vec![0, 33, 40, 255], 4));
    }

    #[test]
    fn a_path_continues_in_the_next_node_or_ends() {
        let mut arena = Arena::zeroed(2 * NODE_BYTES);
        // Rule list 0 is none: the first state reports nothing.
        let states: Vec<_> = (0..8).map(|i| (i, 10 + i as u8)).collect();
        let next = State::at(NODE_BYTES, 0, true);
        put_path(&mut arena, 0, &states, next);
        put_path(&mut arena, NODE_BYTES, &[(200, 0)], State::NONE);
        let to = |state, byte| {
            follow::<false, _>(&arena, state, byte, &mut fyke_automata::count::Uncounted)
        };
        assert_eq!(to(State::at(0, 0, false), 10), Some(State::at(0, 1, true)));
        assert_eq!(to(State::at(0, 3, true), 14), None);
        assert_eq!(to(State::at(0, 7, true), 17), Some(next));
        assert_eq!(to(next, 0), None);
        assert_eq!(rules(&arena, State::at(0, 6, true)), 6);
    }
}
