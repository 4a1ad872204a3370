//! Line numbers, and lines that contain a match, for positions that mostly ascend.

use super::window::Window;
use fyke_core::Batch;
use memchr::{memchr, memchr_iter};
use std::io;

/// Counts line ends up to a position that advances with the scan.
#[derive(Clone, Debug, Default)]
pub struct LineCounter {
    at: u64,
    ends_before: u64,
}

impl LineCounter {
    /// The number, from 1, of the line that contains `position`. A line feed belongs to the line
    /// it ends.
    ///
    /// # Errors
    /// If the window cannot read its file.
    pub fn line_of(
        &mut self,
        position: u64,
        window: &Window<'_>,
        spare: &mut Vec<u8>,
    ) -> io::Result<u64> {
        if position >= self.at {
            self.advance(position, window, spare)?;
            return Ok(self.ends_before + 1);
        }
        let (_, between) = window.get(position..self.at, spare)?;
        Ok(self.ends_before + 1 - count(between))
    }

    /// Counts up to a position. Call it at the end of each block with the end of the block.
    ///
    /// # Errors
    /// As [`line_of`](Self::line_of).
    pub fn advance(
        &mut self,
        position: u64,
        window: &Window<'_>,
        spare: &mut Vec<u8>,
    ) -> io::Result<()> {
        if position > self.at {
            let (_, between) = window.get(self.at..position, spare)?;
            self.ends_before += count(between);
            self.at = position;
        }
        Ok(())
    }
}

/// Finds where the line of a position starts, for positions that mostly ascend.
#[derive(Clone, Debug, Default)]
pub(super) struct LineStart {
    start: u64,
    /// No line ends between `start` and here.
    at: u64,
}

impl LineStart {
    /// Where the line that contains `position` starts.
    pub(super) fn of(
        &mut self,
        position: u64,
        window: &Window<'_>,
        spare: &mut Vec<u8>,
    ) -> io::Result<u64> {
        let least = if position < self.start { 0 } else { self.at.min(position) };
        let known = if position < self.start { 0 } else { self.start };
        self.start = window.line_start(position, least, spare)?.unwrap_or(known);
        self.at = position;
        Ok(self.start)
    }
}

/// Finds the lines that contain a match, without their numbers. It is faster than [`LineCounter`],
/// because it searches only from a match to the end of its line.
#[derive(Clone, Debug, Default)]
pub struct HitLines {
    /// Last byte of the last match.
    hit: Option<u64>,
    /// End of the bytes that were searched for the end of its line.
    at: u64,
    /// Whether the end of its line was found.
    ended: bool,
}

impl HitLines {
    /// Whether a position is on a different line from the position of the previous call. A line
    /// feed belongs to the line it ends.
    ///
    /// # Errors
    /// If the window cannot read its file.
    #[inline]
    pub fn is_new(
        &mut self,
        position: u64,
        window: &Window<'_>,
        spare: &mut Vec<u8>,
    ) -> io::Result<bool> {
        let Some(hit) = self.hit else { return Ok(self.start(position)) };
        if position < self.at {
            (self.at, self.ended) = (hit, false);
        }
        self.advance(position, window, spare)?;
        Ok(self.ended && self.start(position))
    }

    /// Searches for the end of the line up to a position. Call it at the end of each block with
    /// the end of the block.
    ///
    /// # Errors
    /// As [`is_new`](Self::is_new).
    pub fn advance(
        &mut self,
        position: u64,
        window: &Window<'_>,
        spare: &mut Vec<u8>,
    ) -> io::Result<()> {
        if self.hit.is_some() && !self.ended && position > self.at {
            let (_, between) = window.get(self.at..position, spare)?;
            self.ended = memchr(b'\n', between).is_some();
            self.at = position;
        }
        Ok(())
    }

    fn start(&mut self, position: u64) -> bool {
        *self = HitLines { hit: Some(position), at: position, ended: false };
        true
    }
}

/// Counts the lines that contain the end of a match.
#[derive(Clone, Debug, Default)]
pub struct HitLineCounter {
    lines: HitLines,
    spare: Vec<u8>,
}

impl HitLineCounter {
    /// The number of lines on which a match of the batch ends, and no earlier match ended.
    ///
    /// # Errors
    /// As [`HitLines::is_new`].
    pub fn count(&mut self, window: &Window<'_>, batch: &Batch<'_>) -> io::Result<u64> {
        let mut new = 0;
        for &record in batch.records {
            new += u64::from(self.is_new(window, batch.end(record))?);
        }
        Ok(new)
    }

    /// As [`HitLines::advance`].
    ///
    /// # Errors
    /// As [`HitLines::is_new`].
    pub fn advance(&mut self, window: &Window<'_>, end: u64) -> io::Result<()> {
        self.lines.advance(end, window, &mut self.spare)
    }

    fn is_new(&mut self, window: &Window<'_>, end: u64) -> io::Result<bool> {
        self.lines.is_new(end - 1, window, &mut self.spare)
    }
}

/// Passes on the matches of the first lines that contain the end of a match.
#[derive(Clone, Debug)]
pub struct LineLimit {
    left: u64,
    limit: u64,
    lines: HitLineCounter,
}

impl LineLimit {
    /// A limit of this many lines for each haystack.
    pub fn new(limit: u64) -> Self {
        Self { left: limit, limit, lines: HitLineCounter::default() }
    }

    /// Starts another haystack.
    pub fn restart(&mut self) {
        *self = Self::new(self.limit);
    }

    /// The matches of a batch that are within the limit.
    ///
    /// # Errors
    /// As [`HitLines::is_new`].
    pub fn select<'b>(&mut self, window: &Window<'_>, batch: &Batch<'b>) -> io::Result<Batch<'b>> {
        for (i, &record) in batch.records.iter().enumerate() {
            if self.lines.is_new(window, batch.end(record))? {
                if self.left == 0 {
                    return Ok(Batch { records: &batch.records[..i], ..*batch });
                }
                self.left -= 1;
            }
        }
        Ok(*batch)
    }

    /// Whether no later match is within the limit. Every match that ends at or before `end` went
    /// through [`select`](Self::select) before.
    ///
    /// # Errors
    /// As [`HitLines::is_new`].
    pub fn is_reached(&mut self, window: &Window<'_>, end: u64) -> io::Result<bool> {
        self.lines.advance(window, end)?;
        Ok(self.left == 0 && self.lines.lines.ended)
    }
}

fn count(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forward_back_and_over_blocks() {
        let text = b"a\nbc\n\nd";
        let mut lines = LineCounter::default();
        let mut spare = Vec::new();
        let mut of = |p| lines.line_of(p, &Window::new(text, 0), &mut spare).unwrap();
        assert_eq!([of(0), of(1), of(2), of(6), of(4), of(1), of(5)], [1, 1, 2, 4, 2, 1, 3]);
    }

    #[test]
    fn each_line_is_new_once() {
        let text = b"ab\ncd\n\nef";
        let window = Window::new(text, 0);
        let (mut lines, mut spare) = (HitLines::default(), Vec::new());
        let mut new = |p| lines.is_new(p, &window, &mut spare).unwrap();
        let got: Vec<u64> = (0..9).filter(|&p| new(p)).collect();
        assert_eq!(got, [0, 3, 6, 7]);

        // A match may be reported after the end of its block.
        let mut lines = HitLines::default();
        let mut hits = Vec::new();
        for (hit, end) in [(0, 3), (1, 6), (4, 6), (5, 9), (7, 9), (8, 9)] {
            hits.push(lines.is_new(hit, &window, &mut spare).unwrap());
            lines.advance(end, &window, &mut spare).unwrap();
        }
        assert_eq!(hits, [true, false, true, false, true, false]);
    }
}
