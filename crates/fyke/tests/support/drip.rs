//! Readers that give few bytes at a time.

use std::io::{self, Read};

/// Gives up to a number of bytes at a time, and interrupts now and then.
pub(crate) struct Drip<'a> {
    rest: &'a [u8],
    most: usize,
    reads: usize,
}

impl<'a> Drip<'a> {
    pub(crate) fn new(bytes: &'a [u8], most: usize) -> Self {
        Self { rest: bytes, most, reads: 0 }
    }
}

impl Read for Drip<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.reads += 1;
        if self.reads % 5 == 1 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        assert!(!to.is_empty(), "a full buffer would look like the end");
        let n = self.most.min(self.rest.len()).min(to.len());
        to[..n].copy_from_slice(&self.rest[..n]);
        self.rest = &self.rest[n..];
        Ok(n)
    }
}
