//! Blocks: pieces of a haystack, and the ownership rule.

/// A piece of a haystack with some history in front.
///
/// The first `lead` bytes are history: they were owned by earlier blocks and are here so that a
/// match that straddles the cut can be seen whole. **A block owns exactly the matches whose end lies
/// after the lead.** With a lead of `max_len - 1` bytes, or everything there is before the block if
/// that is less, any way of cutting a haystack gives every match exactly once.
///
/// ```
/// use fyke_core::Block;
/// let whole = Block::whole(b"abcdefgh");
/// let parts: Vec<_> = whole.pieces(3, 2).map(|b| (b.lead, b.offset, b.owned().to_vec())).collect();
/// assert_eq!(parts[0], (0, 0, b"abc".to_vec()));
/// assert_eq!(parts[1], (2, 1, b"def".to_vec())); // "bc" is history, offset 1 is that of "b"
/// assert_eq!(parts[2], (2, 4, b"gh".to_vec()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block<'a> {
    /// History and owned bytes.
    pub bytes: &'a [u8],
    /// How many bytes at the front are history; at most `bytes.len()`.
    pub lead: usize,
    /// Position of `bytes[0]` in the whole haystack.
    pub offset: u64,
}

impl<'a> Block<'a> {
    /// A haystack that is one block.
    pub fn whole(bytes: &'a [u8]) -> Self {
        Self { bytes, lead: 0, offset: 0 }
    }

    /// The bytes after the lead.
    #[inline]
    pub fn owned(&self) -> &'a [u8] {
        &self.bytes[self.lead..]
    }

    /// Position of the first owned byte in the whole haystack.
    #[inline]
    pub fn owned_offset(&self) -> u64 {
        self.offset + self.lead as u64
    }

    /// Cuts the block into blocks that own at most `size` bytes each, with up to `history` bytes of lead.
    /// Together they own what this block owns. `size` 0 is taken as 1.
    pub fn pieces(self, size: usize, history: usize) -> impl Iterator<Item = Block<'a>> {
        let size = size.max(1);
        let count = self.owned().len().div_ceil(size);
        (0..count).map(move |i| {
            let start = self.lead + i * size;
            self.part(start, (start + size).min(self.bytes.len()), history)
        })
    }

    /// The block that owns `bytes[from..to]`, with up to `history` bytes of lead.
    ///
    /// # Panics
    /// `from..to` is not a range within the block.
    #[inline]
    pub fn part(&self, from: usize, to: usize, history: usize) -> Block<'a> {
        let lead = history.min(from);
        let offset = self.offset + (from - lead) as u64;
        Block { bytes: &self.bytes[from - lead..to], lead, offset }
    }

    /// The same block with at most `history` bytes of lead.
    #[inline]
    pub fn with_lead(&self, history: usize) -> Block<'a> {
        self.part(self.lead, self.bytes.len(), history)
    }
}
