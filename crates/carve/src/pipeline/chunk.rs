//! Chunks: the pieces in which an image is read and searched.

use super::{Observer, ScanError};
use crate::finder::{Finder, FinderScratch, Piece, PieceHits};
use crate::image::{Image, SECTOR, read_readable};
use std::ops::Range;

/// An image, what to find in it, and how it is cut.
pub(super) struct Job<'a> {
    image: &'a dyn Image,
    pub(super) finder: &'a Finder,
    observer: &'a dyn Observer,
    range: Range<u64>,
    size: u64,
    /// Threads that search.
    pub(super) threads: usize,
}

/// The bytes of a chunk.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    /// The bytes that it owns, in the image.
    pub(super) owned: Range<u64>,
    /// Those, and the look-ahead.
    bytes: Vec<u8>,
    /// How many of them are in use.
    len: usize,
    /// What of them could not be read, in the image.
    bad: Vec<Range<u64>>,
}

/// What was found in a chunk.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The bytes of the image that were searched.
    pub(super) owned: Range<u64>,
    pub(super) hits: PieceHits,
    /// What of them could not be read.
    pub(super) bad: Vec<Range<u64>>,
}

impl<'a> Job<'a> {
    /// Cuts `range` at multiples of `size`, which is itself a multiple of a sector: then bad
    /// sectors lie in one chunk.
    pub(super) fn new(
        image: &'a dyn Image,
        finder: &'a Finder,
        observer: &'a dyn Observer,
        range: Range<u64>,
        size: u64,
        threads: usize,
    ) -> Self {
        Self { image, finder, observer, range, size, threads }
    }

    /// The number of chunks.
    pub(super) fn chunks(&self) -> u64 {
        if self.range.is_empty() {
            return 0;
        }
        self.range.end.div_ceil(self.size) - self.range.start / self.size
    }

    /// The bytes that a chunk owns.
    fn owned(&self, index: u64) -> Range<u64> {
        let first = (self.range.start / self.size + index) * self.size;
        first.max(self.range.start)..(first + self.size).min(self.range.end)
    }

    /// The bytes that a chunk reads.
    fn extent(&self, index: u64) -> Range<u64> {
        let owned = self.owned(index);
        let ahead = owned.end + self.finder.look_ahead() as u64;
        owned.start..ahead.next_multiple_of(SECTOR).min(self.range.end)
    }

    /// Asks the system to read a chunk, if there is one of this number.
    pub(super) fn prefetch(&self, index: u64) {
        if index < self.chunks() {
            let extent = self.extent(index);
            self.image.prefetch(extent.start, (extent.end - extent.start) as usize);
        }
    }

    /// Reads a chunk.
    pub(super) fn read(&self, index: u64, chunk: &mut Chunk) -> Result<(), ScanError> {
        if self.observer.interrupted() {
            return Err(ScanError::Interrupted);
        }
        let extent = self.extent(index);
        let bytes = chunk.begin(self.owned(index), (extent.end - extent.start) as usize);
        let bad = read_readable(self.image, extent.start, bytes);
        chunk.bad =
            bad.map_err(|error| ScanError::Read { name: self.image.name().to_owned(), error })?;
        Ok(())
    }
}

impl Chunk {
    /// Makes room for `len` bytes, the first of which is the first of `owned`.
    pub(super) fn begin(&mut self, owned: Range<u64>, len: usize) -> &mut [u8] {
        if self.bytes.len() < len {
            self.bytes.resize(len, 0);
        }
        (self.owned, self.len) = (owned, len);
        self.bad.clear();
        &mut self.bytes[..len]
    }

    /// Finds the hits that start in the owned bytes.
    pub(super) fn search(&self, finder: &Finder, scratch: &mut FinderScratch, found: &mut Found) {
        self.search_part(finder, self.owned.clone(), scratch, found);
    }

    /// Finds the hits that start in `part` of the owned bytes.
    pub(super) fn search_part(
        &self,
        finder: &Finder,
        part: Range<u64>,
        scratch: &mut FinderScratch,
        found: &mut Found,
    ) {
        found.hits.restart(part.start);
        let within = |bad: &Range<u64>| bad.start.max(part.start)..bad.end.min(part.end);
        found.bad = self.bad.iter().map(within).filter(|bad| !bad.is_empty()).collect();
        let end = self.owned.start + self.len as u64;
        let ahead = part.end + finder.look_ahead() as u64;
        for readable in readable(part.start..ahead.min(end), &self.bad) {
            let offset = readable.start;
            if offset >= part.end {
                break;
            }
            let owned = (readable.end.min(part.end) - offset) as usize;
            let at = |offset: u64| (offset - self.owned.start) as usize;
            let bytes = &self.bytes[at(offset)..at(readable.end)];
            finder.find(Piece { bytes, owned, offset }, scratch, &mut found.hits);
        }
        found.owned = part;
    }
}

/// The parts of a range that are not bad.
fn readable(range: Range<u64>, bad: &[Range<u64>]) -> impl Iterator<Item = Range<u64>> {
    let starts = std::iter::once(range.start).chain(bad.iter().map(|bad| bad.end));
    let ends = bad.iter().map(|bad| bad.start).chain([range.end]);
    let parts = starts.zip(ends);
    parts
        .map(move |(start, end)| start.max(range.start)..end.min(range.end))
        .filter(|r| !r.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_ranges_divide_what_is_readable() {
        let parts = |bad: &[Range<u64>]| readable(10..20, bad).collect::<Vec<_>>();
        assert_eq!(parts(&[]), [10..20]);
        assert_eq!(parts(&[0..11, 12..14, 18..30]), [11..12, 14..18]);
        assert_eq!(parts(&[0..20]), [] as [Range<u64>; 0]);
        assert_eq!(parts(&[0..5, 25..30]), [10..20]);
    }
}
