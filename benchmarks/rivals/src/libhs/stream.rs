//! Scans of streams: each haystack is a stream that comes in chunks of one size. And the memory of a
//! scratch, which a scan of either kind shows.

use std::ffi::c_void;
use std::ptr;

use fyke_core::Block;

use super::database::{Database, HsScanner, length, on_match};
use super::{HS_SUCCESS, Mode};
use crate::matches::{FindAll, MatchSink};
use crate::rival::{Refusal, Scanner, Work};

impl Database {
    /// Bytes of a scratch for it, after a scan: a library may allocate parts of it late.
    ///
    /// # Errors
    /// The library cannot allocate one, or the scan failed.
    pub fn scratch_size(&self, haystack: &[u8]) -> Result<u64, Refusal> {
        let mut scratch = self.scratch()?;
        let block = Block::whole(haystack);
        if self.mode == Mode::Block {
            scratch.scan(block, Work::Count)?;
            return Ok(scratch.size());
        }
        let mut scanner = StreamScanner::new(scratch, haystack.len().max(1));
        scanner.scan(block, Work::Count)?;
        Ok(scanner.scratch().size())
    }

    /// A scanner that opens a stream for each haystack, gives it `chunk` bytes in each call, and
    /// closes it. The database has to be compiled for streams.
    ///
    /// # Errors
    /// The library cannot allocate a scratch.
    ///
    /// # Panics
    /// `chunk` is 0.
    pub fn stream_scanner(&self, chunk: usize) -> Result<Box<dyn Scanner + '_>, Refusal> {
        assert!(chunk > 0, "a chunk has at least one byte");
        Ok(Box::new(StreamScanner::new(self.scratch()?, chunk)))
    }

    /// Bytes of the state of an open stream.
    ///
    /// # Errors
    /// The database was not compiled for streams.
    pub fn stream_size(&self) -> Result<u64, Refusal> {
        let mut bytes = 0;
        // SAFETY: the database is valid, and the size is written through a valid pointer.
        let code = unsafe { (self.library.stream_size)(self.database, &raw mut bytes) };
        if code == HS_SUCCESS {
            return Ok(bytes as u64);
        }
        Err(Refusal(format!("hs_stream_size gave code {code}")))
    }

    fn open_stream(&self) -> Result<Stream<'_>, Refusal> {
        let mut stream = ptr::null_mut();
        // SAFETY: the database is valid, and the stream is written through a valid pointer.
        let code = unsafe { (self.library.open_stream)(self.database, 0, &raw mut stream) };
        if code == HS_SUCCESS {
            return Ok(Stream { database: self, stream });
        }
        Err(Refusal(format!("hs_open_stream gave code {code}")))
    }
}

/// An open stream.
struct Stream<'a> {
    database: &'a Database,
    stream: *mut c_void,
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        let (null, close) = (ptr::null_mut(), self.database.library.close_stream);
        // SAFETY: the stream came from hs_open_stream and is closed once, and without a callback the
        // function takes no scratch. No match of a literal is reported at the end of a stream.
        unsafe { close(self.stream, null, None, null) };
    }
}

/// Scans each haystack as a stream.
pub(super) struct StreamScanner<'a> {
    inner: HsScanner<'a>,
    chunk: usize,
}

impl<'a> StreamScanner<'a> {
    /// `chunk` is not 0.
    pub(super) fn new(inner: HsScanner<'a>, chunk: usize) -> Self {
        Self { inner, chunk }
    }

    /// The scanner whose scratch it uses.
    pub(super) fn scratch(&self) -> &HsScanner<'a> {
        &self.inner
    }
}

impl FindAll for StreamScanner<'_> {
    fn find_all<S: MatchSink>(&mut self, haystack: &[u8], sink: &mut S) -> Result<(), Refusal> {
        let stream = self.inner.database.open_stream()?;
        let scan = stream.database.library.scan_stream;
        for chunk in haystack.chunks(self.chunk) {
            let (len, context) = (length(chunk)?, ptr::from_mut(sink).cast());
            let data = chunk.as_ptr().cast();
            // SAFETY: the stream is open, the scratch was made for its database and is in no other
            // call because the scanner is borrowed exclusively, the chunk has `len` bytes, and `sink`
            // is borrowed for the call, during which the library passes it to `on_match` only.
            let code = unsafe {
                scan(stream.stream, data, len, 0, self.inner.scratch, on_match::<S>, context)
            };
            if code != HS_SUCCESS {
                return Err(Refusal(format!("hs_scan_stream gave code {code}")));
            }
        }
        Ok(())
    }
}
