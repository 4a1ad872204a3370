//! The part of the haystack that a printer can read.

use std::io;
use std::ops::Range;

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
}
