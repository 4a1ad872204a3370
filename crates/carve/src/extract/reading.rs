//! Reads chunks of an image that may have bad sectors, or end too soon.

use crate::Image;
use std::ops::Range;

/// A range that cannot be read is read again in pieces of this size, the sector of modern disks.
const SECTOR: u64 = 4096;

/// Reads an image.
pub(super) struct Reader<'a> {
    image: &'a dyn Image,
    buffer: Vec<u8>,
    bad: Vec<Range<u64>>,
    /// Whether the image ended before it should: nothing behind is read.
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

    /// The offset behind its last byte.
    pub(super) fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

impl<'a> Reader<'a> {
    pub(super) fn new(image: &'a dyn Image) -> Self {
        Self { image, buffer: Vec::new(), bad: Vec::new(), has_ended: false }
    }

    /// Reads a range. The chunk is shorter if the image ends in it, and has zeros where it cannot
    /// be read.
    pub(super) fn read(&mut self, range: Range<u64>) -> Chunk<'_> {
        let len = (range.end - range.start) as usize;
        self.buffer.clear();
        self.buffer.resize(len, 0);
        let mut filled = 0;
        while filled < len && !self.has_ended {
            let at = range.start + filled as u64;
            match self.image.read_at(at, &mut self.buffer[filled..]) {
                Ok(0) => self.has_ended = true,
                Ok(n) => filled += n,
                Err(_) => filled += self.read_sector(at, filled),
            }
        }
        Chunk { start: range.start, bytes: &self.buffer[..filled] }
    }

    /// Reads up to the end of the sector at `at`, or leaves zeros there. Returns how many bytes.
    fn read_sector(&mut self, at: u64, filled: usize) -> usize {
        let rest = (SECTOR - at % SECTOR).min((self.buffer.len() - filled) as u64) as usize;
        let sector = &mut self.buffer[filled..filled + rest];
        match self.image.read_at(at, sector) {
            Ok(n) if n > 0 => n,
            _ => {
                // A failed read may have written some of it.
                sector.fill(0);
                self.note_bad(at..at + rest as u64);
                rest
            }
        }
    }

    fn note_bad(&mut self, range: Range<u64>) {
        match self.bad.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.bad.push(range),
        }
    }

    /// The ranges that could not be read.
    pub(super) fn into_bad(self) -> Vec<Range<u64>> {
        self.bad
    }
}
