//! The part of the haystack that a printer can read.

use memchr::{memchr, memrchr};
use std::io;
use std::ops::Range;

/// Bytes in which the end of a line is searched first: most lines are shorter, and bytes further
/// away may have to be read from the file.
const STEP: u64 = 512;

/// The maximum number of bytes that are searched at once.
const MAX_STEP: u64 = 1 << 20;

type ReadAt<'a> = dyn Fn(u64, &mut [u8]) -> io::Result<()> + 'a;

/// Bytes of a haystack in memory and, for a file, a function that reads the others.
#[derive(Clone, Copy)]
pub struct Window<'a> {
    bytes: &'a [u8],
    offset: u64,
    file: Option<(u64, &'a ReadAt<'a>)>,
}

impl<'a> Window<'a> {
    /// A window on bytes in memory; the first is at `offset` in the haystack.
    pub fn new(bytes: &'a [u8], offset: u64) -> Self {
        Self { bytes, offset, file: None }
    }

    /// A window on bytes of a file of `len` bytes; `read` reads those that are not in memory.
    pub fn on_file(bytes: &'a [u8], offset: u64, len: u64, read: &'a ReadAt<'a>) -> Self {
        Self { bytes, offset, file: Some((len, read)) }
    }

    /// The available part of a range of positions, and the position of its first byte. Bytes that
    /// are not in memory are read into the buffer `spare`.
    ///
    /// # Errors
    /// If reading fails.
    pub fn get<'b>(&self, range: Range<u64>, spare: &'b mut Vec<u8>) -> io::Result<(u64, &'b [u8])>
    where
        'a: 'b,
    {
        let here = self.offset..self.offset + self.bytes.len() as u64;
        let Some((len, read)) =
            self.file.filter(|(len, _)| range.start < here.start || range.end.min(*len) > here.end)
        else {
            let from = range.start.clamp(here.start, here.end);
            let to = range.end.clamp(from, here.end);
            return Ok((
                from,
                &self.bytes[(from - here.start) as usize..(to - here.start) as usize],
            ));
        };
        let to = range.end.min(len);
        let from = range.start.min(to);
        spare.resize(usize::try_from(to - from).map_err(io::Error::other)?, 0);
        read(from, spare)?;
        Ok((from, spare))
    }

    /// The position after the last byte that can be read now.
    pub fn end(&self) -> u64 {
        self.file.map_or(self.offset + self.bytes.len() as u64, |(len, _)| len)
    }

    /// The byte at a position, or `None` if it cannot be read now.
    ///
    /// # Errors
    /// If reading fails.
    pub fn byte(&self, at: u64, spare: &mut Vec<u8>) -> io::Result<Option<u8>> {
        Ok(self.get(at..at + 1, spare)?.1.first().copied())
    }

    /// Where the line that contains `position` starts. `None` if no line ends between `least` and
    /// `position`.
    ///
    /// # Errors
    /// If reading fails.
    pub fn line_start(
        &self,
        position: u64,
        least: u64,
        spare: &mut Vec<u8>,
    ) -> io::Result<Option<u64>> {
        let (mut to, mut step) = (position, STEP);
        while to > least {
            let (from, bytes) = self.get(to.saturating_sub(step).max(least)..to, spare)?;
            if let Some(at) = memrchr(b'\n', bytes) {
                return Ok(Some(from + at as u64 + 1));
            }
            if bytes.is_empty() {
                break;
            }
            (to, step) = (from, (2 * step).min(MAX_STEP));
        }
        Ok(None)
    }

    /// Where the line that contains `position` ends, after its line feed. `None` if it does not
    /// end before `limit`.
    ///
    /// # Errors
    /// If reading fails.
    pub fn line_end(
        &self,
        position: u64,
        limit: u64,
        spare: &mut Vec<u8>,
    ) -> io::Result<Option<u64>> {
        let (mut from, mut step) = (position, STEP);
        while from < limit {
            let (start, bytes) = self.get(from..limit.min(from + step), spare)?;
            if let Some(at) = memchr(b'\n', bytes) {
                return Ok(Some(start + at as u64 + 1));
            }
            if bytes.is_empty() {
                break;
            }
            (from, step) = (start + bytes.len() as u64, (2 * step).min(MAX_STEP));
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_memory_from_the_file_and_clamped() {
        let all = b"0123456789";
        let read = |at: u64, to: &mut [u8]| {
            to.copy_from_slice(&all[at as usize..][..to.len()]);
            Ok(())
        };
        let mut spare = Vec::new();
        let mut get = |w: Window<'_>, r| {
            let (from, bytes) = w.get(r, &mut spare).unwrap();
            (from, String::from_utf8(bytes.to_vec()).unwrap())
        };
        let file = Window::on_file(&all[4..6], 4, 10, &read);
        assert_eq!(get(file, 4..6), (4, "45".into()));
        assert_eq!(get(file, 2..99), (2, "23456789".into()));
        let stream = Window::new(&all[4..6], 4);
        assert_eq!(get(stream, 2..99), (4, "45".into()));
        assert_eq!(get(stream, 0..3), (4, "".into()));
    }

    #[test]
    fn lines_are_found_in_memory_and_in_the_file() {
        let all = [vec![b'a'; 3000], b"\nbc\n".to_vec(), vec![b'd'; 3000]].concat();
        let read = |at: u64, to: &mut [u8]| {
            to.copy_from_slice(&all[at as usize..][..to.len()]);
            Ok(())
        };
        let len = all.len() as u64;
        let mut spare = Vec::new();
        for window in [Window::new(&all, 0), Window::on_file(&all[3001..3002], 3001, len, &read)] {
            let mut start = |at, least| window.line_start(at, least, &mut spare).unwrap();
            assert_eq!([start(2999, 0), start(3000, 0)], [None, None]);
            assert_eq!([start(3001, 0), start(len, 0)], [Some(3001), Some(3004)]);
            assert_eq!([start(len, 5000), start(0, 0)], [None, None]);
            let mut end = |at, limit| window.line_end(at, limit, &mut spare).unwrap();
            assert_eq!([end(0, len), end(3000, len)], [Some(3001), Some(3001)]);
            assert_eq!([end(0, 3000), end(3004, len)], [None, None]);
            assert_eq!(window.byte(3001, &mut spare).unwrap(), Some(b'b'));
            assert_eq!((window.end(), window.byte(len, &mut spare).unwrap()), (len, None));
        }
    }
}
