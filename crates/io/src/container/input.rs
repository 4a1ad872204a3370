//! The compressed bytes: a buffered reader that can look ahead over the end of its buffer.

use super::BoxRead;
use std::io::{self, BufRead, Read};

/// Size of a read from the file, in bytes.
const READ: usize = 128 << 10;

/// A buffered reader of compressed bytes.
pub(super) struct Input {
    from: BoxRead,
    buffer: Box<[u8]>,
    /// Bytes of the buffer that were read and not yet consumed: `start..end`.
    start: usize,
    end: usize,
    /// Whether the decoder asked for bytes after the last one.
    hit_end: bool,
}

impl Input {
    pub(super) fn new(from: BoxRead) -> Self {
        let buffer = vec![0; READ].into_boxed_slice();
        Self { from, buffer, start: 0, end: 0, hit_end: false }
    }

    /// The next bytes, at least `len` of them unless the file ends before. They stay unread.
    pub(super) fn peek(&mut self, len: usize) -> io::Result<&[u8]> {
        debug_assert!(len <= READ);
        if self.buffer.len() - self.start < len {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        while self.end - self.start < len && self.read_more()? > 0 {}
        Ok(&self.buffer[self.start..self.end])
    }

    /// Whether the decoder asked for bytes after the last one.
    pub(super) fn hit_end(&self) -> bool {
        self.hit_end
    }

    fn read_more(&mut self) -> io::Result<usize> {
        loop {
            match self.from.read(&mut self.buffer[self.end..]) {
                Ok(n) => {
                    self.end += n;
                    return Ok(n);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }
}

impl BufRead for Input {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            self.hit_end |= self.read_more()? == 0;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    fn consume(&mut self, len: usize) {
        self.start = (self.start + len).min(self.end);
    }
}

impl Read for Input {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(to)?;
        self.consume(n);
        Ok(n)
    }
}
