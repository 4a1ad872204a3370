//! An image in memory, for tests: it can fail and lie as disks do.

use super::Image;
use std::io;
use std::ops::Range;

/// Bytes in memory that act as an image.
#[derive(Clone, Debug, Default)]
pub struct FakeImage {
    bytes: Vec<u8>,
    bad: Vec<Range<u64>>,
    len: u64,
    most: Option<usize>,
}

impl FakeImage {
    /// An image of these bytes.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { len: bytes.len() as u64, bytes, ..Self::default() }
    }

    /// The same image with ranges in which every read fails.
    #[must_use]
    pub fn failing(self, bad: impl IntoIterator<Item = Range<u64>>) -> Self {
        Self { bad: bad.into_iter().collect(), ..self }
    }

    /// The same image with a length that may be a lie.
    #[must_use]
    pub fn that_says(self, len: u64) -> Self {
        Self { len, ..self }
    }

    /// The same image, with a limit to the bytes of one read.
    #[must_use]
    pub fn reading_at_most(self, bytes: usize) -> Self {
        Self { most: Some(bytes), ..self }
    }
}

impl Image for FakeImage {
    fn name(&self) -> &str {
        "fake"
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let from = self.bytes.len().min(usize::try_from(offset).unwrap_or(usize::MAX));
        let take = buf.len().min(self.bytes.len() - from).min(self.most.unwrap_or(usize::MAX));
        let end = offset + take as u64;
        if self.bad.iter().any(|bad| bad.start < end && offset < bad.end) {
            return Err(io::Error::other("bad sector"));
        }
        buf[..take].copy_from_slice(&self.bytes[from..from + take]);
        Ok(take)
    }
}
