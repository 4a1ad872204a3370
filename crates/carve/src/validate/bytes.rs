//! The bytes of a file in an image, a window at a time.

use super::Stop;
use super::chains::Chains;
use crate::Image;
use memchr::memmem;
use std::ops::Range;

/// The maximum number of bytes that are read at a time. Not measured: a guess.
const WINDOW: usize = 16 << 10;
/// Bytes that are read first at a new place. Reads get longer as they go on from there.
/// Not measured: a guess.
const FIRST_READ: usize = 512;

/// Reads a file in an image.
pub(super) struct Bytes<'a> {
    image: &'a dyn Image,
    start: u64,
    len: u64,
    window: Vec<u8>,
    /// Where the window begins in the file.
    at: u64,
    /// Bytes that may still be read.
    budget: u64,
    chains: &'a Chains,
}

impl<'a> Bytes<'a> {
    pub(super) fn new(
        image: &'a dyn Image,
        (start, len): (u64, u64),
        budget: u64,
        chains: &'a Chains,
    ) -> Self {
        // A row of a damaged list may lie after the end of the image.
        let len = len.min(image.len().saturating_sub(start));
        Self { image, start, len, window: Vec::new(), at: 0, budget, chains }
    }

    /// The length of the file.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// The offset in the image of an offset in the file.
    pub(super) fn in_image(&self, offset: u64) -> u64 {
        self.start.saturating_add(offset)
    }

    /// The offset in the file of an offset in the image, not before the file.
    pub(super) fn in_file(&self, offset: u64) -> u64 {
        offset.saturating_sub(self.start)
    }

    /// What validating earlier files found out.
    pub(super) fn chains(&self) -> &'a Chains {
        self.chains
    }

    /// The `n` bytes at `offset`, at most [`WINDOW`]. Wrong if the file ends before.
    pub(super) fn get(&mut self, offset: u64, n: usize) -> Result<&[u8], Stop> {
        debug_assert!(n <= WINDOW);
        let end = offset.checked_add(n as u64).filter(|&end| end <= self.len).ok_or(Stop::Wrong)?;
        if offset < self.at || end > self.at + self.window.len() as u64 {
            self.read(offset, n)?;
        }
        let from = (offset - self.at) as usize;
        self.window.get(from..from + n).ok_or(Stop::Wrong)
    }

    /// Reads the window at `offset`: at least `n` bytes.
    fn read(&mut self, offset: u64, n: usize) -> Result<(), Stop> {
        let is_next = (self.at..=self.at + self.window.len() as u64).contains(&offset);
        let usual = if is_next { 2 * self.window.len() } else { FIRST_READ };
        let len = (self.len - offset).min(usual.clamp(FIRST_READ.max(n), WINDOW) as u64);
        self.budget = self.budget.checked_sub(len).ok_or(Stop::Unknown)?;
        self.window.resize(len as usize, 0);
        self.at = offset;
        let mut filled = 0;
        while filled < self.window.len() {
            let at = self.start.saturating_add(offset + filled as u64);
            match self.image.read_at(at, &mut self.window[filled..]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(_) => {
                    self.window.clear();
                    return Err(Stop::Unknown);
                }
            }
        }
        self.window.truncate(filled);
        Ok(())
    }

    pub(super) fn u8(&mut self, offset: u64) -> Result<u8, Stop> {
        Ok(self.get(offset, 1)?[0])
    }

    pub(super) fn array<const N: usize>(&mut self, offset: u64) -> Result<[u8; N], Stop> {
        self.get(offset, N)?.try_into().map_err(|_| Stop::Wrong)
    }

    pub(super) fn u16_be(&mut self, offset: u64) -> Result<u16, Stop> {
        self.array(offset).map(u16::from_be_bytes)
    }

    /// The rest of the window from `offset` on: at least one byte.
    pub(super) fn some(&mut self, offset: u64) -> Result<&[u8], Stop> {
        self.get(offset, 1)?;
        Ok(&self.window[(offset - self.at) as usize..])
    }

    /// Where `needle` lies next, from `from` on. Wrong if nowhere.
    pub(super) fn find(&mut self, needle: &[u8], from: u64) -> Result<u64, Stop> {
        let mut at = from;
        loop {
            self.get(at, needle.len())?;
            let bytes = self.some(at)?;
            if let Some(found) = memmem::find(bytes, needle) {
                return Ok(at + found as u64);
            }
            // The needle may begin in the last bytes of the window.
            at += (bytes.len() - (needle.len() - 1)) as u64;
        }
    }

    /// Where `needle` lies last in a range. Wrong if nowhere.
    pub(super) fn find_last(&mut self, needle: &[u8], range: Range<u64>) -> Result<u64, Stop> {
        let mut end = range.end.min(self.len);
        loop {
            let from = end.saturating_sub(WINDOW as u64).max(range.start);
            let len = end.checked_sub(from).ok_or(Stop::Wrong)?;
            let bytes = self.get(from, len as usize)?;
            if let Some(found) = memmem::rfind(bytes, needle) {
                return Ok(from + found as u64);
            }
            if from == range.start {
                return Err(Stop::Wrong);
            }
            end = from + needle.len() as u64 - 1;
        }
    }
}
