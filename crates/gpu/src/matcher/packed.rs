//! Packed haystacks as the search of a tile sees them.

use fyke_core::PackedHaystacks;
use std::ops::Range;

/// The haystacks that a tile is a part of.
#[derive(Clone, Copy)]
pub struct Packed<'a> {
    /// All of them.
    pub haystacks: &'a dyn PackedHaystacks,
    /// The tile's first byte in the whole text.
    pub offset: u64,
}

impl Packed<'_> {
    /// The haystack with a byte of the tile: its number, and where it lies in the tile. A haystack
    /// that begins before the tile is cut there.
    pub fn haystack(&self, at: u32) -> (usize, Range<u32>) {
        let (number, span) = self.haystacks.haystack(self.offset + u64::from(at));
        let in_tile =
            |position: u64| u32::try_from(position.saturating_sub(self.offset)).unwrap_or(u32::MAX);
        (number, in_tile(span.start)..in_tile(span.end))
    }
}
