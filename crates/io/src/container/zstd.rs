//! A zstd reader for any number of frames that gives all blocks before a damaged one.
//!
//! The decoder of `ruzstd` keeps a window of decoded bytes until the end of the frame. If a block
//! is missing or damaged, the window would be lost with it. This reader parses the frame itself. It
//! passes the decoder a frame header of its own with a window of one block, and then one block
//! after the other. Where a block is missing or damaged, it ends the frame with an empty block,
//! returns what the earlier blocks decoded to, and then reports the error.

use super::input::Input;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, Read};

/// Maximum window: what the `zstd` tool accepts by default.
const MAX_WINDOW: u64 = 128 << 20;

/// Maximum size of a block, and the window size in the header that the decoder gets. The decoder
/// reports how many bytes it holds beyond this window. `ready` leaves the frame's real window in
/// it.
const MAX_BLOCK: usize = 128 << 10;

/// A frame header with a window of `MAX_BLOCK` bytes and nothing else.
const HEADER: [u8; 6] = [0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3];

/// The last block of a frame, without bytes.
const EMPTY_LAST_BLOCK: [u8; 3] = [1, 0, 0];

/// The maximum number of bytes of a frame's first blocks that are kept to be decoded again. They
/// are kept until the decoder holds more than `MAX_BLOCK` bytes: from then on it reports how many.
/// Only a hostile frame has more bytes of blocks before that.
const MAX_REPLAY: usize = 1 << 20;

pub(super) struct ZstdReader {
    input: Input,
    decoder: FrameDecoder,
    frame: Option<Frame>,
    /// The next block with its header.
    block: Vec<u8>,
    /// An error that is reported after the bytes before it.
    error: Option<io::Error>,
    ended: bool,
}

/// The frame that is being read.
struct Frame {
    window: usize,
    has_checksum: bool,
    decoded: Decoded,
    /// Decoded bytes that may still be taken, if the frame was ended early.
    left: Option<usize>,
}

/// What is known about the number of bytes in the decoder.
enum Decoded {
    /// At most `MAX_BLOCK`: decoding these blocks gives them again.
    Replay(Vec<u8>),
    /// At least `MAX_BLOCK`: the decoder says how many more.
    Counted,
    /// At most `MAX_BLOCK`, of too many blocks to be kept.
    Unknown,
}

impl ZstdReader {
    pub(super) fn new(input: Input) -> Self {
        let (decoder, block) = (FrameDecoder::new(), Vec::new());
        Self { input, decoder, frame: None, block, error: None, ended: false }
    }

    /// Starts the next frame that holds data. False at the end of the file.
    fn begin_frame(&mut self) -> io::Result<bool> {
        loop {
            match *self.input.peek(4)? {
                [] => return Ok(false),
                [0x28, 0xb5, 0x2f, 0xfd, ..] => {
                    self.frame = Some(self.read_header()?);
                    self.decoder.reset(&HEADER[..]).map_err(io::Error::other)?;
                    return Ok(true);
                }
                [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => self.skip_frame()?,
                _ => return Err(invalid("other bytes follow its end")),
            }
        }
    }

    fn skip_frame(&mut self) -> io::Result<()> {
        let mut header = [0; 8];
        self.input.read_exact(&mut header)?;
        let [.., a, b, c, d] = header;
        let length = u64::from(u32::from_le_bytes([a, b, c, d]));
        let skipped = io::copy(&mut (&mut self.input).take(length), &mut io::sink())?;
        if skipped == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    fn read_header(&mut self) -> io::Result<Frame> {
        let mut start = [0; 5];
        self.input.read_exact(&mut start)?;
        let flags = start[4];
        let single_segment = flags & 0x20 != 0;
        let window = if single_segment { 0 } else { window(self.byte()?) };
        let dictionary = self.number([0, 1, 2, 4][usize::from(flags & 3)])?;
        let size_bytes = [usize::from(single_segment), 2, 4, 8][usize::from(flags >> 6)];
        let size = self.number(size_bytes)? + if size_bytes == 2 { 256 } else { 0 };
        let window = if single_segment { size } else { window };
        if dictionary != 0 {
            return Err(invalid("it needs a dictionary, which is not supported"));
        }
        if flags & 8 != 0 {
            return Err(invalid("a reserved bit is set"));
        }
        if window > MAX_WINDOW {
            return Err(invalid("it needs more than 128 MiB of memory"));
        }
        let decoded = Decoded::Replay(Vec::new());
        Ok(Frame { window: window as usize, has_checksum: flags & 4 != 0, decoded, left: None })
    }

    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.input.read_exact(&mut byte)?;
        Ok(byte[0])
    }

    /// A number of up to eight bytes.
    fn number(&mut self, bytes: usize) -> io::Result<u64> {
        let mut number = [0; 8];
        self.input.read_exact(&mut number[..bytes])?;
        Ok(u64::from_le_bytes(number))
    }

    /// Decodes the next block. Where that fails, ends the frame after the blocks before it.
    fn next_block(&mut self) {
        let before = self.decoder.can_collect();
        let cut_off = self.read_block();
        let decoded = match &cut_off {
            Err(_) if self.block.len() <= 3 => Ok(()),
            _ => self.decode(),
        };
        let good = if decoded.is_ok() { self.decoder.can_collect() } else { before };
        if let Some(error) = decoded.and(cut_off).err() {
            self.end_early(good);
            self.error = Some(error);
        }
    }

    /// Reads the next block. Of a raw block, the bytes before the end of the file are a block.
    fn read_block(&mut self) -> io::Result<()> {
        self.block.clear();
        let mut header = [0; 3];
        self.input.read_exact(&mut header)?;
        let number = u32::from_le_bytes([header[0], header[1], header[2], 0]);
        let (size, kind) = ((number >> 3) as usize, number >> 1 & 3);
        if kind == 3 || size > MAX_BLOCK {
            return Err(invalid("the header of a block is wrong"));
        }
        self.block.extend_from_slice(&header);
        let bytes = if kind == 1 { 1 } else { size };
        let read = (&mut self.input).take(bytes as u64).read_to_end(&mut self.block)?;
        if read == bytes {
            return Ok(());
        }
        let raw = u32::try_from(read << 3).unwrap_or(0).to_le_bytes();
        if kind == 0 {
            self.block[..3].copy_from_slice(&raw[..3])
        } else {
            self.block.clear()
        }
        Err(io::ErrorKind::UnexpectedEof.into())
    }

    /// Decodes the block that was read.
    fn decode(&mut self) -> io::Result<()> {
        let one = BlockDecodingStrategy::UptoBlocks(1);
        self.decoder.decode_blocks(&self.block[..], one).map_err(io::Error::other)?;
        let Some(frame) = &mut self.frame else { return Ok(()) };
        if self.decoder.is_finished() || self.decoder.can_collect() > 0 {
            frame.decoded = Decoded::Counted;
        } else if let Decoded::Replay(blocks) = &mut frame.decoded {
            match blocks.len() + self.block.len() {
                ..=MAX_REPLAY => blocks.extend_from_slice(&self.block),
                _ => frame.decoded = Decoded::Unknown,
            }
        }
        Ok(())
    }

    /// Ends the frame after a bad block. Before that block, the decoder could give `good` bytes.
    fn end_early(&mut self, good: usize) {
        let Some(frame) = &mut self.frame else { return };
        let left = match &frame.decoded {
            Decoded::Counted => Some(good + MAX_BLOCK),
            Decoded::Unknown => Some(0),
            Decoded::Replay(blocks) => {
                replay(&mut self.decoder, blocks).is_ok().then_some(MAX_BLOCK)
            }
        };
        let one = BlockDecodingStrategy::UptoBlocks(1);
        let ended = self.decoder.decode_blocks(&EMPTY_LAST_BLOCK[..], one);
        let left = left.filter(|_| ended.is_ok()).unwrap_or(0);
        frame.left = Some(left.min(self.decoder.can_collect()));
    }

    /// Bytes that can be taken from the decoder now.
    fn ready(&self) -> usize {
        let Some(frame) = &self.frame else { return 0 };
        let most = self.decoder.can_collect();
        match frame.left {
            Some(left) => left,
            None if self.decoder.is_finished() => most,
            None => most.saturating_sub(frame.window.saturating_sub(MAX_BLOCK)),
        }
    }

    fn take(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let n = self.decoder.read(to)?;
        if let Some(left) = self.frame.as_mut().and_then(|frame| frame.left.as_mut()) {
            *left -= n;
        }
        Ok(n)
    }

    /// Ends a frame of which all bytes were taken.
    fn end_frame(&mut self) -> io::Result<()> {
        let Some(frame) = self.frame.take() else { return Ok(()) };
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        if frame.has_checksum
            && self.number(4)? as u32 != self.decoder.get_calculated_checksum().unwrap_or(0)
        {
            return Err(invalid("the checksum does not match"));
        }
        Ok(())
    }

    fn read_some(&mut self, to: &mut [u8]) -> io::Result<usize> {
        loop {
            let ready = self.ready().min(to.len());
            if ready > 0 {
                return self.take(&mut to[..ready]);
            }
            if self.frame.is_none() {
                if !self.begin_frame()? {
                    return Ok(0);
                }
            } else if self.error.is_some() || self.decoder.is_finished() {
                self.end_frame()?;
            } else {
                self.next_block();
            }
        }
    }
}

/// Decodes blocks again from the start of a frame.
fn replay(decoder: &mut FrameDecoder, mut blocks: &[u8]) -> io::Result<()> {
    decoder.reset(&HEADER[..]).map_err(io::Error::other)?;
    while !blocks.is_empty() {
        let one = BlockDecodingStrategy::UptoBlocks(1);
        decoder.decode_blocks(&mut blocks, one).map_err(io::Error::other)?;
    }
    Ok(())
}

/// The window size of a window descriptor.
fn window(descriptor: u8) -> u64 {
    let base = 1u64 << (10 + u32::from(descriptor >> 3));
    base + base / 8 * u64::from(descriptor & 7)
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

impl Read for ZstdReader {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.ended || to.is_empty() {
            return Ok(0);
        }
        let read = self.read_some(to);
        self.ended = !matches!(read, Ok(1..));
        read
    }
}
