//! The layout of nodes, and how a node is read.
//!
//! All nodes have one size, a multiple of 16 bytes. So the i-th child of a bitmap node is found by
//! a multiplication, and a pointer to a state fits 32 bits: the address of the node and, in the
//! four bits that the alignment leaves free, the **place** of the state in the node. Numbers are
//! little-endian.
//!
//! ```text
//! bitmap node   0 link | 4 rules | 8 failure | 12 summaries (4 x 1 byte) | 16 bitmap (256 bits)
//! path node     0 link | 4 rules of each place (c x 4) | failure of each place (c x 4) | bytes (c)
//!
//! link          address of the first child, or of the node after the path, 0 if there is none;
//!               low four bits: 15 for a bitmap node, else the number of bytes along the path
//! ```

use fyke_cpu::simd;

/// A state: the address of its node plus its place in the node. The root is 0.
pub(super) type State = u32;

/// The state before any byte was read.
pub(super) const ROOT: State = 0;

/// Mask of the low bits of a state or a link.
pub(super) const LOW: u32 = 15;

/// The low bits of a bitmap node's link.
pub(super) const BITMAP: u32 = 15;

/// Bytes of the haystack that are compared with a path at once.
pub(super) const WINDOW: usize = 16;

/// Bytes that may be read from the address of any node, whatever its kind and the place in it.
pub(super) const READ: usize = 144;

/// Bytes of the table of the root's transitions.
pub(super) const ROOT_TABLE: usize = 4 * 256;

/// Offsets of the fields of a bitmap node.
pub(super) const FAILURE: usize = 8;
pub(super) const SUMMARIES: usize = 12;
pub(super) const BITS: usize = 16;

/// Offset of the rule pointer of a place, in either kind of node.
pub(super) const fn rules_at(place: usize) -> usize {
    4 + 4 * place
}

/// Offset of the failure pointer of a place of a path node, by packing factor.
pub(super) const fn path_failure_at(pack: usize, place: usize) -> usize {
    4 + 4 * (pack + place)
}

/// Offset of the bytes of a path node.
pub(super) const fn path_bytes_at(pack: usize) -> usize {
    4 + 8 * pack
}

/// Bytes of a node, which holds a path of `pack` states or a bitmap.
pub(super) const fn size(pack: usize) -> usize {
    let (path, bitmap) = (path_bytes_at(pack) + pack, BITS + 32);
    let larger = if path > bitmap { path } else { bitmap };
    larger.next_multiple_of(16)
}

/// The arena as the walks see it, with packing factor C.
#[derive(Clone, Copy)]
pub(super) struct Nodes<'a, const C: usize> {
    /// The nodes, with at least [`READ`] bytes from the address of each on.
    bytes: &'a [u8],
    /// The target of each byte from the root.
    root: &'a [[u8; 4]; 256],
}

impl<'a, const C: usize> Nodes<'a, C> {
    /// The nodes of an arena, with the root table at an offset after the last node.
    pub(super) fn new(bytes: &'a [u8], root_table: usize) -> Self {
        let root = bytes[root_table..].as_chunks().0.first_chunk();
        Self { bytes, root: root.expect("the root table has 256 states") }
    }

    /// The target of a byte from the root.
    #[inline(always)]
    pub(super) fn root_goto(self, byte: u8) -> State {
        u32::from_le_bytes(self.root[usize::from(byte)])
    }

    /// The node of a state.
    #[inline(always)]
    pub(super) fn node(self, state: State) -> Node<'a, C> {
        let at = (state & !LOW) as usize;
        let bytes = &self.bytes[at..at + READ];
        Node(bytes.try_into().expect("READ bytes"))
    }
}

/// The bytes of a node and some bytes after it.
#[derive(Clone, Copy)]
pub(super) struct Node<'a, const C: usize>(&'a [u8; READ]);

impl<'a, const C: usize> Node<'a, C> {
    #[inline(always)]
    fn u32(self, at: usize) -> u32 {
        u32::from_le_bytes(*self.0[at..].first_chunk().expect("READ covers every field"))
    }

    #[inline(always)]
    fn window(self, at: usize) -> &'a [u8; WINDOW] {
        self.0[at..].first_chunk().expect("READ covers every field")
    }

    /// The link, see the module.
    #[inline(always)]
    pub(super) fn link(self) -> u32 {
        self.u32(0)
    }

    /// The failure pointer of a bitmap node.
    #[inline(always)]
    pub(super) fn bitmap_failure(self) -> State {
        self.u32(FAILURE)
    }

    /// The failure pointer of a place of a path node.
    #[inline(always)]
    pub(super) fn path_failure(self, place: usize) -> State {
        self.u32(path_failure_at(C, place & LOW as usize))
    }

    /// Whether a bitmap node has a child for a byte.
    #[inline(always)]
    pub(super) fn has_child(self, byte: u8) -> bool {
        self.bits(byte >> 6) >> (byte & 63) & 1 == 1
    }

    /// The child of a bitmap node for a byte, if it has one.
    #[inline(always)]
    pub(super) fn child(self, link: u32, byte: u8) -> State {
        let below = self.bits(byte >> 6) & !(u64::MAX << (byte & 63));
        let rank = u32::from(self.0[SUMMARIES + usize::from(byte >> 6)]) + below.count_ones();
        (link & !LOW).wrapping_add(rank.wrapping_mul(size(C) as u32))
    }

    #[inline(always)]
    fn bits(self, word: u8) -> u64 {
        let at = BITS + 8 * usize::from(word);
        u64::from_le_bytes(self.0[at..at + 8].try_into().expect("8 bytes"))
    }

    /// The number of bytes that a window and the path from a place on have in common. It may
    /// exceed the bytes of the path.
    #[inline(always)]
    pub(super) fn common(self, place: usize, window: &[u8; WINDOW]) -> usize {
        simd::common_prefix(self.window(path_bytes_at(C) + (place & LOW as usize)), window)
    }

    /// Bit i tells whether place i of a path node has rules.
    #[inline(always)]
    pub(super) fn path_reports(self) -> u32 {
        (0..C / 4)
            .fold(0, |mask, i| mask | simd::nonzero_mask(self.window(rules_at(4 * i))) << (4 * i))
    }

    /// The rule pointer of a place.
    #[inline(always)]
    pub(super) fn rules(self, place: usize) -> u32 {
        self.u32(rules_at(place & LOW as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_sizes_are_multiples_of_16() {
        assert_eq!([4, 8, 12].map(size), [48, 80, 112]);
    }

    /// Whatever the four bits hold, reads of a node stay within READ bytes of its address.
    #[test]
    fn any_place_may_be_read() {
        let place = LOW as usize;
        assert!(path_bytes_at(12) + place + WINDOW <= READ);
        assert!(path_failure_at(12, place) + 4 <= READ && rules_at(place) + 4 <= READ);
        const { assert!(READ <= ROOT_TABLE) };
    }
}
