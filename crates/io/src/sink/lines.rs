//! Lines of positions that mostly ascend: their numbers, and which of them have a match.

use super::Window;
use memchr::{memchr, memchr_iter};
use std::io;

/// Counts line ends up to a position, which moves with the scan.
#[derive(Clone, Debug, Default)]
pub struct LineCounter {
    at: u64,
    ends_before: u64,
}

impl LineCounter {
    /// The number, from 1, of the line that holds the byte at `position`. A line feed belongs to the line it ends.
    ///
    /// # Errors
    /// The window has to read from a file, and fails.
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

    /// Counts up to a position. To be called at the end of each block with the block's end.
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

/// Tells lines with a match apart, whose numbers do not matter. From a match it looks no further than to the end of
/// its line, where [`LineCounter`] looks at every byte.
#[derive(Clone, Debug, Default)]
pub struct HitLines {
    /// The last match, by its last byte.
    hit: Option<u64>,
    /// Up to where the end of its line was looked for, and whether it was found.
    at: u64,
    ended: bool,
}

impl HitLines {
    /// Whether a position lies in another line than the one before it. A line feed belongs to the line it ends.
    ///
    /// # Errors
    /// The window has to read from a file, and fails.
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

    /// Looks for the end of the line up to a position. To be called at the end of each block with the block's end.
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

        // What a block's end has passed may come yet.
        let mut lines = HitLines::default();
        let mut hits = Vec::new();
        for (hit, end) in [(0, 3), (1, 6), (4, 6), (5, 9), (7, 9), (8, 9)] {
            hits.push(lines.is_new(hit, &window, &mut spare).unwrap());
            lines.advance(end, &window, &mut spare).unwrap();
        }
        assert_eq!(hits, [true, false, true, false, true, false]);
    }
}
