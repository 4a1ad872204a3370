//! A part of a text in device memory that kernels may search.

use super::PAD;
use crate::device::Buffer;

/// Tiles begin at a multiple of this many bytes, so that kernels load whole words.
pub(crate) const ALIGNED: u32 = 16;

/// Where a tile lies in its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    at: u64,
    bytes: u32,
    overlap: u32,
}

impl Extent {
    /// Cuts the extent in two. The second part has `history` bytes of overlap or more, or all bytes
    /// before the cut if they are fewer.
    fn halves(self, history: usize) -> [Extent; 2] {
        let owned = self.bytes - self.overlap;
        let cut = self.overlap + (owned / 2).next_multiple_of(ALIGNED).min(owned);
        let history = u32::try_from(history).unwrap_or(u32::MAX).min(cut);
        // A tile begins at a multiple of `ALIGNED`: rounding down makes the overlap longer.
        let from = (cut - history) / ALIGNED * ALIGNED;
        let at = self.at + u64::from(from);
        let second = Extent { at, bytes: self.bytes - from, overlap: cut - from };
        [Extent { bytes: cut, ..self }, second]
    }
}

/// A text in device memory that a [`Search`](super::Search) searches.
///
/// # Invariants
/// Kernels rely on these, so [`Tile::new`] checks them and nothing else makes a tile:
/// * The text and [`PAD`] bytes on both sides lie within the buffer. Kernels may read the padding;
///   its content must not change the result.
/// * It begins at a multiple of 16 bytes.
/// * It has at most [`Tile::MAX_BYTES`] bytes, so that positions near its end do not overflow 32
///   bits.
/// * The overlap is part of the text.
#[derive(Clone, Copy)]
pub struct Tile<'a> {
    text: &'a Buffer,
    extent: Extent,
}

impl<'a> Tile<'a> {
    /// The maximum number of bytes of a tile, its overlap included.
    pub const MAX_BYTES: usize = 3 << 30;

    /// A text of `bytes` bytes that begins at byte `at` of a buffer. Its first `overlap` bytes are
    /// history: only matches that end after them are reported.
    ///
    /// # Panics
    /// An invariant of [`Tile`] would not hold.
    pub fn new(text: &'a Buffer, at: usize, bytes: usize, overlap: usize) -> Tile<'a> {
        assert!(at.is_multiple_of(ALIGNED as usize), "a tile at {at}, no multiple of {ALIGNED}");
        assert!(bytes <= Self::MAX_BYTES, "{bytes} bytes of a tile, {} at most", Self::MAX_BYTES);
        assert!(overlap <= bytes, "an overlap of {overlap} in a tile of {bytes} bytes");
        assert!(at >= PAD, "{at} bytes of padding before a tile, {PAD} required");
        let behind = text.len().checked_sub(at).and_then(|rest| rest.checked_sub(bytes));
        assert!(
            behind.is_some_and(|behind| behind >= PAD),
            "{bytes} bytes at {at} of a buffer of {}, and {PAD} of padding",
            text.len()
        );
        let extent = Extent { at: at as u64, bytes: bytes as u32, overlap: overlap as u32 };
        Tile { text, extent }
    }

    /// The buffer that the text lies in.
    pub fn text(&self) -> &'a Buffer {
        self.text
    }

    /// Where in the buffer the text begins.
    pub fn at(&self) -> u64 {
        self.extent.at
    }

    /// Bytes of the text, the overlap included.
    pub fn bytes(&self) -> u32 {
        self.extent.bytes
    }

    /// Bytes of the overlap: only matches that end after it are reported.
    pub fn overlap(&self) -> u32 {
        self.extent.overlap
    }

    /// Bytes after the overlap.
    pub fn owned(&self) -> u32 {
        self.extent.bytes - self.extent.overlap
    }

    /// Cuts the tile in two. The second part has `history` bytes of overlap or more, or all bytes
    /// before the cut if they are fewer.
    pub(crate) fn halves(self, history: usize) -> [Self; 2] {
        self.extent
            .halves(history)
            .map(|e| Tile::new(self.text, e.at as usize, e.bytes as usize, e.overlap as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn halves_of_a_tile_own_what_it_owns() {
        for (bytes, overlap) in [(17, 0), (33, 16), (5_000, 48), (u32::MAX, 5_001)] {
            for history in [0, 1, 16, 70, 70_000] {
                let whole = Extent { at: 32, bytes, overlap };
                let [first, second] = whole.halves(history);
                let cut = first.at + u64::from(first.bytes);
                assert_eq!((first.at, first.overlap), (whole.at, whole.overlap));
                assert_eq!(second.at % 16, 0);
                assert_eq!(second.at + u64::from(second.overlap), cut);
                let owned = |e: Extent| e.bytes - e.overlap;
                assert_eq!(owned(first) + owned(second), owned(whole));
                assert!(owned(first) > 0 && owned(second) > 0);
                assert!(second.overlap as usize >= history || second.at == whole.at);
            }
        }
    }

    #[test]
    fn no_tile_lets_a_kernel_read_beyond_its_buffer() {
        testing::each_device(|device| {
            let text = device.allocate(2 * PAD + 64).unwrap();
            let is_refused = |at: usize, bytes: usize, overlap: usize| {
                let make = || Tile::new(&text, at, bytes, overlap).bytes();
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(make)).is_err()
            };
            assert!(!is_refused(PAD, 64, 0) && !is_refused(PAD + 16, 48, 48));
            assert!(is_refused(PAD, 65, 0), "the padding after it is short");
            assert!(is_refused(PAD - 16, 16, 0), "the padding before it is short");
            assert!(is_refused(PAD + 8, 16, 0), "not aligned");
            assert!(is_refused(PAD, 16, 17), "more overlap than text");
            assert!(is_refused(usize::MAX - 15, 16, 0) && is_refused(PAD, usize::MAX, 0));
        });
    }
}
