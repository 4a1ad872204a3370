//! A zstd reader for any number of frames: the decoder of `ruzstd` reads only one.

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, BufRead, Read};

pub(super) struct ZstdReader<R> {
    from: R,
    decoder: FrameDecoder,
    /// Whether a frame was started and its checksum is not yet verified.
    in_frame: bool,
}

impl<R: BufRead> ZstdReader<R> {
    pub(super) fn new(from: R) -> Self {
        Self { from, decoder: FrameDecoder::new(), in_frame: false }
    }

    /// Starts the next frame that holds data. False at the end of the file.
    fn begin_frame(&mut self) -> io::Result<bool> {
        while !self.from.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.from) {
                Ok(()) => {
                    self.in_frame = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => self.skip(length)?,
                Err(e) => return Err(io::Error::other(e)),
            }
        }
        Ok(false)
    }

    fn skip(&mut self, length: u32) -> io::Result<()> {
        let length = u64::from(length);
        let skipped = io::copy(&mut (&mut self.from).take(length), &mut io::sink())?;
        if skipped == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    fn end_frame(&mut self) -> io::Result<()> {
        self.in_frame = false;
        let (stored, computed) =
            (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum());
        if stored.is_some() && stored != computed {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the checksum does not match"));
        }
        Ok(())
    }
}

impl<R: BufRead> Read for ZstdReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.in_frame && self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            }
            if self.in_frame && !self.decoder.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.from, one).map_err(io::Error::other)?;
                continue;
            }
            if self.in_frame {
                self.end_frame()?;
            }
            if !self.begin_frame()? {
                return Ok(0);
            }
        }
    }
}
