//! Readers over push decoders: the caller pushes compressed bytes, and the decoder decodes them as
//! far as it can.
//!
//! The readers of the libraries lose what they decoded in the call that fails: up to 2 MiB of xz.
//! Push decoders count the bytes that they wrote, also in that call.

use super::input::Input;
use flate2::FlushDecompress;
use lzma_rust2::{Action, LzmaStream, XzStream};
use std::io::{self, BufRead, Read};

/// Maximum memory to decode a file, in KiB: eight times what `xz -9` needs.
const MEMORY_KIB: u32 = 512 << 10;

/// Bytes of xz or lzma that are passed at once: what a call decoded before it failed is lost. With
/// fewer bytes the calls themselves take time.
const LZMA_PUSH: usize = 64;

/// A push decoder.
pub(super) trait Push {
    /// The maximum number of bytes to pass at once.
    const MAX_PUSH: usize = usize::MAX;

    /// A decoder at the start of its data.
    fn start() -> Self;

    /// Decodes some bytes; `last` if there are no others. True at the end of the data.
    fn push(&mut self, from: &[u8], to: &mut [u8], last: bool) -> io::Result<bool>;

    /// Bytes read and written so far, also by a call that failed.
    fn totals(&self) -> (u64, u64);
}

impl Push for XzStream {
    const MAX_PUSH: usize = LZMA_PUSH;

    fn start() -> Self {
        XzStream::new_mem_limit(true, MEMORY_KIB)
    }

    fn push(&mut self, from: &[u8], to: &mut [u8], last: bool) -> io::Result<bool> {
        let done = self.process(from, to, if last { Action::Finish } else { Action::Run })?;
        Ok(done.status == lzma_rust2::Status::StreamEnd)
    }

    fn totals(&self) -> (u64, u64) {
        (self.total_in(), self.total_out())
    }
}

impl Push for LzmaStream {
    const MAX_PUSH: usize = LZMA_PUSH;

    fn start() -> Self {
        LzmaStream::new_mem_limit(MEMORY_KIB, None)
    }

    fn push(&mut self, from: &[u8], to: &mut [u8], last: bool) -> io::Result<bool> {
        let done = self.process(from, to, if last { Action::Finish } else { Action::Run })?;
        Ok(done.status == lzma_rust2::Status::StreamEnd)
    }

    fn totals(&self) -> (u64, u64) {
        (self.total_in(), self.total_out())
    }
}

impl Push for flate2::Decompress {
    /// Raw deflate data, without a header.
    fn start() -> Self {
        flate2::Decompress::new(false)
    }

    fn push(&mut self, from: &[u8], to: &mut [u8], _: bool) -> io::Result<bool> {
        let done = self.decompress(from, to, FlushDecompress::None)?;
        Ok(done == flate2::Status::StreamEnd)
    }

    fn totals(&self) -> (u64, u64) {
        (self.total_in(), self.total_out())
    }
}

impl Push for bzip2::Decompress {
    fn start() -> Self {
        bzip2::Decompress::new(false)
    }

    fn push(&mut self, from: &[u8], to: &mut [u8], _: bool) -> io::Result<bool> {
        let done = self.decompress(from, to)?;
        Ok(done == bzip2::Status::StreamEnd)
    }

    fn totals(&self) -> (u64, u64) {
        (self.total_in(), self.total_out())
    }
}

/// Reads through a push decoder.
pub(super) struct PushReader<D, R = Input> {
    input: R,
    decoder: D,
    ended: bool,
    /// Whether the decoder took all bytes that were read: the next read may block for long.
    drained: bool,
    /// An error that came together with bytes: it is reported after them.
    error: Option<io::Error>,
}

impl<D: Push, R: BufRead> PushReader<D, R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, decoder: D::start(), ended: false, drained: false, error: None }
    }

    /// The bytes after the end of the data.
    pub(super) fn into_input(self) -> R {
        self.input
    }

    fn step(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let before = self.decoder.totals();
        let from = self.input.fill_buf()?;
        let (last, read) = (from.is_empty(), from.len());
        let pushed = self.decoder.push(&from[..from.len().min(D::MAX_PUSH)], to, last);
        let (taken, given) = self.decoder.totals();
        let (taken, given) = ((taken - before.0) as usize, (given - before.1) as usize);
        self.input.consume(taken);
        self.drained = taken == read;
        match pushed {
            Ok(ended) => self.ended = ended,
            Err(error) => self.error = Some(error),
        }
        if last && given == 0 && !self.ended && self.error.is_none() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(given.min(to.len()))
    }
}

impl<D: Push, R: BufRead> Read for PushReader<D, R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if to.is_empty() {
            return Ok(0);
        }
        let mut given = 0;
        while self.error.is_none() && !self.ended && given < to.len() {
            match self.step(&mut to[given..]) {
                Ok(n) => given += n,
                Err(error) => self.error = Some(error),
            }
            if self.drained && given > 0 {
                break;
            }
        }
        if given > 0 {
            return Ok(given);
        }
        self.ended = true;
        self.error.take().map_or(Ok(0), Err)
    }
}
