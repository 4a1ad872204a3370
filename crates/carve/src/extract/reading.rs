//! Reads chunks of an image that may have bad sectors, or end too soon.

use crate::Image;
use crate::image::read_available;
use std::io;
use std::ops::Range;

/// Reads an image.
pub(super) struct Reader<'a> {
    image: &'a dyn Image,
    buffer: Vec<u8>,
    bad: Vec<Range<u64>>,
    /// Whether the image ended too soon: nothing is read after its end.
    has_ended: bool,
}

/// Bytes of an image.
pub(super) struct Chunk<'a> {
    start: u64,
    bytes: &'a [u8],
}

impl Chunk<'_> {
    /// The bytes of `range` that the chunk has.
    pub(super) fn part(&self, range: Range<u64>) -> &[u8] {
        let index = |offset: u64| (offset.saturating_sub(self.start)).min(self.bytes.len() as u64);
        &self.bytes[index(range.start) as usize..index(range.end) as usize]
    }

    /// The offset after its last byte.
    pub(super) fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

impl<'a> Reader<'a> {
    pub(super) fn new(image: &'a dyn Image) -> Self {
        Self { image, buffer: Vec::new(), bad: Vec::new(), has_ended: false }
    }

    /// Reads a range. The chunk is shorter if the image ends in it, and has zeros for bad sectors.
    pub(super) fn read(&mut self, range: Range<u64>) -> io::Result<Chunk<'_>> {
        let len = (range.end - range.start) as usize;
        self.buffer.clear();
        self.buffer.resize(len, 0);
        let mut filled = 0;
        if !self.has_ended {
            filled = read_available(self.image, range.start, &mut self.buffer, &mut self.bad)?;
            self.has_ended = filled < len;
        }
        Ok(Chunk { start: range.start, bytes: &self.buffer[..filled] })
    }

    /// The ranges that could not be read.
    pub(super) fn into_bad(self) -> Vec<Range<u64>> {
        self.bad
    }
}
