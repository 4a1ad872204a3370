//! The blocks of any reader, in bounded memory.

use fyke_core::{Block, Source};
use std::io::{self, Read};

/// Minimum size of a read: if less of the buffer is free, older bytes are dropped first.
const MIN_READ: usize = 64 << 10;

/// Gives the bytes of a reader as blocks (see [`Block`] for the ownership rule).
///
/// A block owns the bytes of one read, so that matches in a pipe are found as soon as their bytes
/// arrive. It starts with up to `history` bytes of overlap.
///
/// Printers need the bytes after each match. With a look-ahead, a block ends that many bytes before
/// the end of the buffer, or at the end of a line, so that the [`View`] contains them. The buffer
/// grows only if the caller needs whole lines, or bytes that are further back than the overlap.
///
/// ```
/// use fyke_core::Source;
/// use fyke_io::source::ReadSource;
/// let mut source = ReadSource::new(&b"some bytes"[..], 1 << 16, 8);
/// let block = source.next()?.unwrap();
/// assert_eq!((block.owned(), block.offset), (&b"some bytes"[..], 0));
/// assert!(source.next()?.is_none());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct ReadSource<R> {
    reader: R,
    buffer: Vec<u8>,
    /// Minimum size of the buffer.
    min_buffer: usize,
    /// Bytes in the buffer.
    filled: usize,
    /// Bytes of the buffer up to the end of the last block.
    owned: usize,
    /// Offset of the first byte of the buffer in the haystack.
    offset: u64,
    history: usize,
    look_ahead: usize,
    /// No line ends in the buffer between the end of the last block and here.
    searched: usize,
    /// Bytes from this offset on are kept.
    needed: Option<u64>,
    ended: bool,
    size_hint: Option<u64>,
}

/// A block and all buffered bytes around it.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The block.
    pub block: Block<'a>,
    /// The bytes of the block, with the buffered bytes before and after it.
    pub bytes: &'a [u8],
    /// Offset of the first of `bytes` in the haystack.
    pub offset: u64,
}

impl<R: Read> ReadSource<R> {
    /// Blocks that own up to about `size` bytes, with up to `history` bytes of overlap. The buffer
    /// takes `size + history` bytes, or more for a `size` below two reads (128 KiB).
    pub fn new(reader: R, size: usize, history: usize) -> Self {
        Self::with_buffer(reader, Vec::new(), size, history)
    }

    /// The same with a buffer that another source or [`read_whole`] used before, and that
    /// [`into_buffer`](Self::into_buffer) returns. It only grows.
    ///
    /// [`read_whole`]: super::DataFile::read_whole
    pub fn with_buffer(reader: R, buffer: Vec<u8>, size: usize, history: usize) -> Self {
        let min_buffer = size.max(2 * MIN_READ) + history;
        Self {
            reader,
            buffer: grown(buffer, min_buffer),
            min_buffer,
            filled: 0,
            owned: 0,
            offset: 0,
            history,
            look_ahead: 0,
            searched: 0,
            needed: None,
            ended: false,
            size_hint: None,
        }
    }

    /// Keeps this many bytes after a block in the view. The buffer grows by the same number.
    pub fn look_ahead(mut self, bytes: usize) -> Self {
        self.look_ahead = bytes;
        self.min_buffer += bytes;
        self.buffer = grown(self.buffer, self.min_buffer);
        self
    }

    /// The reader.
    pub fn reader_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    /// The buffer, for the next source.
    pub fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    /// Ends each block at the end of a line, however long the line is.
    pub fn whole_lines(mut self) -> Self {
        self.look_ahead = usize::MAX;
        self
    }

    /// Keeps the bytes from an offset on, even if they are before the overlap of the next block.
    pub fn keep_from(&mut self, offset: Option<u64>) {
        self.needed = offset;
    }

    /// Sets the result of [`Source::size_hint`].
    pub fn with_size_hint(mut self, bytes: Option<u64>) -> Self {
        self.size_hint = bytes;
        self
    }

    /// The next block and the bytes around it, or `None` at the end.
    ///
    /// # Errors
    /// If reading fails.
    pub fn next_view(&mut self) -> io::Result<Option<View<'_>>> {
        let start = self.owned;
        while self.ownable() == start {
            if self.ended {
                return Ok(None);
            }
            let moved = self.make_room(start);
            if moved > 0 {
                return self.next_view();
            }
            self.read_once()?;
        }
        self.owned = self.ownable();
        let overlap = self.history.min(start);
        let bytes = &self.buffer[start - overlap..self.owned];
        let block = Block { bytes, overlap, offset: self.offset + (start - overlap) as u64 };
        Ok(Some(View { block, bytes: &self.buffer[..self.filled], offset: self.offset }))
    }

    /// The buffered bytes, which include the last block, and the offset of the first one.
    pub fn buffered(&self) -> (&[u8], u64) {
        (&self.buffer[..self.filled], self.offset)
    }

    /// End in the buffer of the bytes that the next block may own.
    fn ownable(&mut self) -> usize {
        if self.ended || self.look_ahead == 0 {
            return self.filled;
        }
        let enough = self.filled.saturating_sub(self.look_ahead).max(self.owned);
        let from = enough.max(self.searched);
        match self.buffer[from..self.filled].iter().rposition(|&b| b == b'\n') {
            Some(at) => from + at + 1,
            None => {
                self.searched = self.filled;
                enough
            }
        }
    }

    /// Makes room for a read if little of the buffer is free: moves the bytes that are still needed
    /// to its start, or makes it longer. Returns the number of dropped bytes.
    fn make_room(&mut self, start: usize) -> usize {
        if self.buffer.len() - self.filled >= MIN_READ {
            return 0;
        }
        let needed = self.needed.map_or(usize::MAX, |at| at.saturating_sub(self.offset) as usize);
        let drop = start.saturating_sub(self.history).min(needed);
        // Moving more than half of the buffer for each read would take quadratic time.
        let may_grow = self.needed.is_some() || self.look_ahead == usize::MAX;
        if drop == 0 || may_grow && self.filled - drop > self.buffer.len() / 2 {
            self.buffer.resize(2 * self.buffer.len(), 0);
            return 0;
        }
        self.buffer.copy_within(drop..self.filled, 0);
        self.filled -= drop;
        self.owned -= drop;
        self.searched = self.searched.saturating_sub(drop);
        self.offset += drop as u64;
        drop
    }

    fn read_once(&mut self) -> io::Result<()> {
        loop {
            match self.reader.read(&mut self.buffer[self.filled..]) {
                Ok(0) => self.ended = true,
                Ok(n) => self.filled += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            }
            return Ok(());
        }
    }
}

/// A buffer of at least `min` bytes. A new one is not written to: its pages are zero already.
fn grown(mut buffer: Vec<u8>, min: usize) -> Vec<u8> {
    if buffer.is_empty() {
        return vec![0; min];
    }
    if buffer.len() < min {
        buffer.resize(min, 0);
    }
    buffer
}

impl<R: Read> Source for ReadSource<R> {
    fn next(&mut self) -> io::Result<Option<Block<'_>>> {
        Ok(self.next_view()?.map(|view| view.block))
    }

    fn size_hint(&self) -> Option<u64> {
        self.size_hint
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that gives a few bytes at a time and interrupts in between.
    struct Drip<'a>(&'a [u8], usize, bool);

    impl Read for Drip<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            self.2 = !self.2;
            if self.2 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            assert!(!to.is_empty(), "a full buffer would look like the end");
            let n = self.1.min(self.0.len()).min(to.len());
            to[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    fn haystack(len: usize) -> Vec<u8> {
        (0..len).map(|i| (i * 7 + i / 251) as u8).collect()
    }

    fn check(len: usize, drip: usize, history: usize, look_ahead: usize) {
        let whole = haystack(len);
        let mut source =
            ReadSource::new(Drip(&whole, drip, false), 0, history).look_ahead(look_ahead);
        let mut at = 0;
        while let Some(view) = source.next_view().unwrap() {
            let (block, from) = (view.block, view.offset as usize);
            assert_eq!(block.owned_offset() as usize, at);
            assert_eq!(block.overlap, history.min(at));
            assert_eq!(block.bytes, &whole[block.offset as usize..at + block.owned().len()]);
            assert_eq!(view.bytes, &whole[from..from + view.bytes.len()]);
            at += block.owned().len();
            let ahead = from + view.bytes.len() - at;
            assert!(ahead >= look_ahead.min(whole.len() - at) || whole[at - 1] == b'\n');
        }
        assert_eq!(at, len);
    }

    #[test]
    fn blocks_own_every_byte_once() {
        for (drip, history, look_ahead) in [
            (1, 0, 0),
            (3, 5, 0),
            (1000, 70_000, 0),
            (9, 4, 20),
            (50_000, 200, 64 << 10),
            (1 << 20, 0, 7),
        ] {
            for len in [0, 1, 20, 5000] {
                check(len, drip, history, look_ahead);
            }
        }
        check(1_000_000, 60_000, 65_534, 240);
        check(1_000_000, 1 << 20, 300, 64 << 10);
    }

    #[test]
    fn sources_share_a_buffer() {
        let mut buffer = Vec::new();
        for text in [haystack(300_000), haystack(10)] {
            let mut source = ReadSource::with_buffer(&text[..], buffer, 1 << 20, 7).look_ahead(9);
            let mut got = Vec::new();
            while let Some(view) = source.next_view().unwrap() {
                got.extend_from_slice(view.block.owned());
            }
            assert!(got == text);
            buffer = source.into_buffer();
            assert_eq!(buffer.len(), (1 << 20) + 7 + 9);
        }
    }

    #[test]
    fn a_block_ends_with_the_last_line_that_arrived() {
        let mut source = ReadSource::new(Drip(b"one\ntwo", 7, false), 0, 9).look_ahead(100);
        assert_eq!(source.next_view().unwrap().unwrap().block.owned(), b"one\n");
        assert_eq!(source.next_view().unwrap().unwrap().block.owned(), b"two");
    }

    #[test]
    fn the_buffer_grows_for_long_lines_and_for_needed_bytes() {
        let line = [vec![b'x'; 3 << 20], vec![b'\n']].concat();
        let mut source = ReadSource::new(Drip(&line, 50_000, false), 0, 9).whole_lines();
        assert_eq!(source.next_view().unwrap().unwrap().block.owned(), line);
        let mut source = ReadSource::new(Drip(&line, 50_000, false), 0, 9);
        source.keep_from(Some(5));
        let mut from = 0;
        while let Some(view) = source.next_view().unwrap() {
            from = view.offset;
        }
        assert!(from <= 5);
    }

    #[test]
    fn errors_come_through() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("disk on fire"))
            }
        }
        assert!(ReadSource::new(Broken, 0, 0).next_view().is_err());
    }
}
