//! Compressed files: gzip, zstd and xz, recognized by their first bytes and not by their names.
//!
//! Consecutive members of a file are one haystack. Truncated or corrupt data is an error, which
//! comes after all bytes before it. The decoders are pure Rust.

mod zstd;

use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
use std::io::{self, BufRead, BufReader, Cursor, Read};

/// Maximum memory to decode an xz file, in KiB: eight times what `xz -9` needs.
const XZ_MEMORY_KIB: u32 = 512 << 10;

/// Length of the longest magic number.
const MAGIC: usize = 6;

/// A reader of any type.
pub type BoxRead = Box<dyn Read + Send>;

/// Decompresses a reader. Bytes that start with no known magic number are passed on unchanged.
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
/// If the first bytes cannot be read.
pub fn decompress(mut reader: BoxRead) -> io::Result<BoxRead> {
    let mut magic = Vec::with_capacity(MAGIC);
    (&mut reader).take(MAGIC as u64).read_to_end(&mut magic)?;
    let kind = Kind::of(&magic);
    let all = BufReader::with_capacity(128 << 10, Cursor::new(magic).chain(reader));
    Ok(match kind {
        Some(kind) => Box::new(Decoder { kind, inner: kind.decoder(all) }),
        None => Box::new(all),
    })
}

#[derive(Clone, Copy)]
enum Kind {
    Gzip,
    Zstd,
    Xz,
}

impl Kind {
    fn of(magic: &[u8]) -> Option<Kind> {
        match magic {
            [0x1f, 0x8b, ..] => Some(Kind::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Kind::Zstd),
            [0xfd, b'7', b'z', b'X', b'Z', 0] => Some(Kind::Xz),
            _ => None,
        }
    }

    fn decoder(self, from: impl BufRead + Send + 'static) -> BoxRead {
        match self {
            Kind::Gzip => Box::new(MultiGzDecoder::new(from)),
            Kind::Zstd => Box::new(zstd::ZstdReader::new(from)),
            Kind::Xz => Box::new(XzReader::new_mem_limit(from, true, XZ_MEMORY_KIB)),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Gzip => "gzip",
            Kind::Zstd => "zstd",
            Kind::Xz => "xz",
        }
    }
}

/// A decoder whose errors name the format.
struct Decoder {
    kind: Kind,
    inner: BoxRead,
}

impl Read for Decoder {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer).map_err(|e| {
            if e.kind() == io::ErrorKind::Interrupted {
                return e;
            }
            let message = format!("the {} data is truncated or corrupt: {e}", self.kind.name());
            io::Error::new(e.kind(), message)
        })
    }
}

#[cfg(test)]
mod tests;
