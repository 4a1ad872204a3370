//! [`Source`]: where blocks come from.

use crate::block::Block;
use std::io;

/// Yields a haystack as blocks, in order, under the ownership rule (see [`Block`]).
pub trait Source {
    /// The next block, or `None` at the end.
    ///
    /// # Errors
    /// Reading failed. The blocks before the error are valid.
    fn next(&mut self) -> io::Result<Option<Block<'_>>>;

    /// Bytes of the whole haystack, if known.
    fn size_hint(&self) -> Option<u64>;
}

/// A haystack in memory, yielded in pieces.
#[derive(Clone, Debug)]
pub struct SliceSource<'a> {
    haystack: &'a [u8],
    size: usize,
    history: usize,
    at: usize,
}

impl<'a> SliceSource<'a> {
    /// Yields blocks that own up to `size` bytes, with up to `history` bytes of overlap. A `size`
    /// of 0 is taken as 1.
    pub fn new(haystack: &'a [u8], size: usize, history: usize) -> Self {
        Self { haystack, size: size.max(1), history, at: 0 }
    }
}

impl Source for SliceSource<'_> {
    fn next(&mut self) -> io::Result<Option<Block<'_>>> {
        if self.at == self.haystack.len() {
            return Ok(None);
        }
        let end = self.haystack.len().min(self.at.saturating_add(self.size));
        let overlap = self.history.min(self.at);
        let bytes = &self.haystack[self.at - overlap..end];
        let block = Block { bytes, overlap, offset: (self.at - overlap) as u64 };
        self.at = end;
        Ok(Some(block))
    }

    fn size_hint(&self) -> Option<u64> {
        Some(self.haystack.len() as u64)
    }
}
