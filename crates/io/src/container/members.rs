//! Files of members in a row.
//!
//! A decoder reads one member. [`Members`] opens the next one where the last one ended, and decides
//! what the bytes after the last member are.

use super::input::Input;
use super::push::{Push, PushReader};
use super::{Kind, Warn};
use lz4_flex::frame::FrameDecoder;
use std::io::{self, BufRead, Read};

/// The decoder of one member.
pub(super) trait Member: Read {
    fn open(input: Input) -> Self;

    /// The bytes after the member; `None` if its end was not reached.
    fn close(self) -> Option<Input>;
}

impl<D: Push> Member for PushReader<D> {
    fn open(input: Input) -> Self {
        PushReader::new(input)
    }

    fn close(self) -> Option<Input> {
        Some(self.into_input())
    }
}

/// A frame of lz4. The library reports a file that ends between two blocks as the frame's end, so
/// `close` asks the input whether the file ended.
pub(super) struct Lz4 {
    decoder: FrameDecoder<Input>,
    /// A frame of the old format has no end mark: it ends with the file.
    ends_with_file: bool,
}

impl Member for Lz4 {
    fn open(mut input: Input) -> Self {
        let ends_with_file = input.peek(4).is_ok_and(|magic| magic.starts_with(&LZ4_LEGACY));
        Self { decoder: FrameDecoder::new(input), ends_with_file }
    }

    fn close(self) -> Option<Input> {
        let input = self.decoder.into_inner();
        (self.ends_with_file || !input.hit_end()).then_some(input)
    }
}

impl Read for Lz4 {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.decoder.read(to)
    }
}

/// The magic number of the old lz4 format.
pub(super) const LZ4_LEGACY: [u8; 4] = [0x02, 0x21, 0x4c, 0x18];

/// Decodes all members of a file as one haystack.
pub(super) struct Members<M> {
    kind: Kind,
    /// `None` after the last member.
    member: Option<M>,
    warn: Warn,
}

impl<M: Member> Members<M> {
    pub(super) fn new(kind: Kind, input: Input, warn: Warn) -> Self {
        Self { kind, member: Some(M::open(input)), warn }
    }

    /// Opens the member after the one that ended, if there is one.
    fn advance(&mut self) -> io::Result<()> {
        let Some(member) = self.member.take() else { return Ok(()) };
        let mut input = member.close().ok_or(io::ErrorKind::UnexpectedEof)?;
        if Kind::of(input.peek(super::MAGIC)?) == Some(self.kind) {
            self.member = Some(M::open(input));
            return Ok(());
        }
        self.report_rest(input)
    }

    /// Handles bytes that are no member: warns where the format's own tool ignores them, and fails
    /// otherwise.
    fn report_rest(&mut self, mut input: Input) -> io::Result<()> {
        let ignored = matches!(self.kind, Kind::Bzip2 | Kind::Gzip);
        if !ignored && !input.fill_buf()?.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "other bytes follow its end"));
        }
        let (mut zeros, mut other) = (0u64, 0u64);
        loop {
            let bytes = input.fill_buf()?;
            if bytes.is_empty() {
                break;
            }
            let zero = bytes.iter().filter(|&&b| b == 0).count();
            let len = bytes.len();
            zeros += zero as u64;
            other += (len - zero) as u64;
            input.consume(len);
        }
        let name = self.kind.name();
        match (zeros, other) {
            (0, 0) => {}
            (zeros, 0) => (self.warn)(&format!("ignored {zeros} zero bytes after the {name} data")),
            _ => (self.warn)(&format!(
                "ignored {} bytes after the {name} data that are not {name}: cut them off, or \
                 search them without decompression",
                zeros + other
            )),
        }
        Ok(())
    }
}

impl<M: Member> Read for Members<M> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let n = member.read(to)?;
            if n > 0 || to.is_empty() {
                return Ok(n);
            }
            self.advance()?;
        }
        Ok(0)
    }
}
