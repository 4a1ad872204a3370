//! [`Block`]: a piece of a haystack, and the ownership rule that every cut follows.

/// A piece of a haystack, with some history before it.
///
/// The first `overlap` bytes are history, which earlier blocks own. With them, the block has the
/// whole of every match that ends in it. **A block owns exactly the matches whose end lies after
/// the overlap.** So however a haystack is cut, every match is found exactly once, if each block
/// has an overlap of `max_len - 1` bytes, or of all bytes before it if there are fewer.
///
/// ```
/// use fyke_core::Block;
/// let whole = Block::whole(b"abcdefgh");
/// let piece = |b: Block| (b.overlap, b.offset, b.owned().to_vec());
/// let parts: Vec<_> = whole.pieces(3, 2).map(piece).collect();
/// assert_eq!(parts[0], (0, 0, b"abc".to_vec()));
/// assert_eq!(parts[1], (2, 1, b"def".to_vec())); // "bc" is history, offset 1 is that of "b"
/// assert_eq!(parts[2], (2, 4, b"gh".to_vec()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block<'a> {
    /// History and owned bytes.
    pub bytes: &'a [u8],
    /// The number of history bytes at the front; at most `bytes.len()`.
    pub overlap: usize,
    /// Position of `bytes[0]` in the whole haystack.
    pub offset: u64,
}

impl<'a> Block<'a> {
    /// A whole haystack as one block.
    pub fn whole(bytes: &'a [u8]) -> Self {
        Self { bytes, overlap: 0, offset: 0 }
    }

    /// The bytes after the overlap.
    #[inline]
    pub fn owned(&self) -> &'a [u8] {
        &self.bytes[self.overlap..]
    }

    /// Position of the first owned byte in the whole haystack.
    #[inline]
    pub fn owned_offset(&self) -> u64 {
        self.offset + self.overlap as u64
    }

    /// Cuts the block into blocks that own at most `size` bytes each, with up to `history` bytes
    /// of overlap. Together they own what this block owns. A `size` of 0 is taken as 1.
    pub fn pieces(self, size: usize, history: usize) -> impl Iterator<Item = Block<'a>> {
        let size = size.max(1);
        let count = self.owned().len().div_ceil(size);
        (0..count).map(move |i| {
            let start = self.overlap + i * size;
            self.part(start, (start + size).min(self.bytes.len()), history)
        })
    }

    /// The block that owns `bytes[from..to]`, with up to `history` bytes of overlap.
    ///
    /// # Panics
    /// `from..to` is not a range within the block.
    #[inline]
    pub fn part(&self, from: usize, to: usize, history: usize) -> Block<'a> {
        let overlap = history.min(from);
        let offset = self.offset + (from - overlap) as u64;
        Block { bytes: &self.bytes[from - overlap..to], overlap, offset }
    }

    /// The same block with at most `history` bytes of overlap.
    #[inline]
    pub fn with_overlap(&self, history: usize) -> Block<'a> {
        self.part(self.overlap, self.bytes.len(), history)
    }
}
