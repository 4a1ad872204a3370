//! Compressed files, recognized by their first bytes and not by their names.
//!
//! | format | read by | |
//! |---|---|---|
//! | gzip, bzip2 | [`decompress`] | bytes after the last member are ignored with a warning |
//! | lz4, lzma, xz, zstd | [`decompress`] | bytes after the last member are an error |
//! | zip | [`zip::Archive`] | each member is a haystack of its own |
//! | compress (`.Z`) | refused | |
//!
//! Consecutive members of a file are one haystack. Truncated or damaged data is an error, which
//! comes after all bytes that can be decoded before it. The decoders are pure Rust.

pub mod zip;

mod gzip;
mod input;
mod members;
mod push;
#[cfg(feature = "encoding")]
mod transcode;
mod zstd;

use gzip::Gzip;
use input::Input;
use lzma_rust2::{LzmaStream, XzStream};
use members::{LZ4_LEGACY, Lz4, Members};
use push::PushReader;
use std::io::{self, Read};
#[cfg(feature = "encoding")]
pub use transcode::{is_utf_16, transcode};

/// Length of the longest magic number.
const MAGIC: usize = 13;

/// A reader of any type.
pub type BoxRead = Box<dyn Read + Send>;

/// Takes warnings, such as about bytes after the end of the data.
pub type Warn = Box<dyn FnMut(&str) + Send>;

/// Decompresses a reader. Bytes that start with no known magic number are passed on unchanged.
///
/// Bytes after the last member of a gzip or bzip2 file are ignored; [`decompress_with`] warns of
/// them. In the other formats a read that reaches such bytes fails.
///
/// ```
/// use std::io::{Read, Write};
/// let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
/// gzip.write_all(b"inside")?;
/// let file = std::io::Cursor::new(gzip.finish()?);
/// let mut text = String::new();
/// fyke_io::container::decompress(Box::new(file))?.read_to_string(&mut text)?;
/// assert_eq!(text, "inside");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// If the first bytes cannot be read, or the format is not read here: compress (`.Z`), or a zip
/// archive, which [`zip::Archive`] opens because its members are haystacks of their own.
pub fn decompress(reader: BoxRead) -> io::Result<BoxRead> {
    decompress_with(reader, Box::new(|_| {}))
}

/// As [`decompress`], with warnings about ignored bytes after the last member of a file.
///
/// # Errors
/// As [`decompress`].
pub fn decompress_with(reader: BoxRead, warn: Warn) -> io::Result<BoxRead> {
    let mut input = Input::new(reader);
    match Kind::of(input.peek(MAGIC)?) {
        Some(kind) => Ok(Box::new(Decoder { kind, given: 0, inner: kind.decoder(input, warn)? })),
        None => Ok(Box::new(input)),
    }
}

/// A format of compressed data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bzip2,
    Compress,
    Gzip,
    Lz4,
    Lzma,
    Xz,
    Zip,
    Zstd,
}

impl Kind {
    fn of(magic: &[u8]) -> Option<Kind> {
        match magic {
            [0x1f, 0x8b, ..] => Some(Kind::Gzip),
            [0x1f, 0x9d, ..] => Some(Kind::Compress),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(Kind::Bzip2),
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Kind::Zstd),
            [0x04, 0x22, 0x4d, 0x18, ..] => Some(Kind::Lz4),
            _ if magic.starts_with(&LZ4_LEGACY) => Some(Kind::Lz4),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Kind::Xz),
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Some(Kind::Zip),
            _ if is_lzma(magic) => Some(Kind::Lzma),
            _ => None,
        }
    }

    fn decoder(self, input: Input, warn: Warn) -> io::Result<BoxRead> {
        Ok(match self {
            Kind::Bzip2 => {
                Box::new(Members::<PushReader<bzip2::Decompress>>::new(self, input, warn))
            }
            Kind::Gzip => Box::new(Members::<Gzip>::new(self, input, warn)),
            Kind::Lz4 => Box::new(Members::<Lz4>::new(self, input, warn)),
            Kind::Lzma => Box::new(Members::<PushReader<LzmaStream>>::new(self, input, warn)),
            Kind::Xz => Box::new(Members::<PushReader<XzStream>>::new(self, input, warn)),
            Kind::Zstd => Box::new(zstd::ZstdReader::new(input)),
            Kind::Compress => {
                return Err(unsupported(
                    "this is compress data (.Z), which is not supported: decompress it with \
                     `gzip -dc` and scan the output, or scan it as it is without -z",
                ));
            }
            Kind::Zip => {
                return Err(unsupported(
                    "this is a zip archive in a stream, whose directory comes last: write it to a \
                     file and scan that",
                ));
            }
        })
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Bzip2 => "bzip2",
            Kind::Compress => "compress",
            Kind::Gzip => "gzip",
            Kind::Lz4 => "lz4",
            Kind::Lzma => "lzma",
            Kind::Xz => "xz",
            Kind::Zip => "zip",
            Kind::Zstd => "zstd",
        }
    }
}

/// Whether this is the header of an lzma file. The format has no magic number. This tests for the
/// properties that encoders write by default, and for a dictionary and a size that `xz` accepts.
fn is_lzma(header: &[u8]) -> bool {
    let Some((&[0x5d, d0, d1, d2, d3], size)) = header.split_first_chunk() else { return false };
    let Some(size) = size.first_chunk().map(|size| u64::from_le_bytes(*size)) else { return false };
    let dictionary = u32::from_le_bytes([d0, d1, d2, d3]);
    let is_usual = dictionary == u32::MAX
        || dictionary.is_power_of_two()
        || dictionary % 3 == 0 && (dictionary / 3).is_power_of_two() && dictionary / 3 > 1;
    is_usual && (size == u64::MAX || size < 1 << 38)
}

fn unsupported(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, message)
}

/// A decoder whose errors name the format and say how much was decoded.
struct Decoder {
    kind: Kind,
    given: u64,
    inner: BoxRead,
}

impl Read for Decoder {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.inner.read(buffer) {
            Ok(n) => {
                self.given += n as u64;
                Ok(n)
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Err(e),
            Err(e) => Err(self.explain(&e)),
        }
    }
}

impl Decoder {
    fn explain(&self, e: &io::Error) -> io::Error {
        let (name, given) = (self.kind.name(), self.given);
        let wrong = match e.kind() {
            io::ErrorKind::UnexpectedEof => "truncated".to_owned(),
            _ => format!("damaged ({e})"),
        };
        let message = format!(
            "the {name} data is {wrong}: only the first {given} decompressed bytes could be \
             scanned; get a whole copy of the file"
        );
        io::Error::new(e.kind(), message)
    }
}

#[cfg(test)]
mod tests;
