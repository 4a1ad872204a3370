//! Line numbers of positions that mostly ascend.

use super::Window;
use memchr::memchr_iter;
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
}
