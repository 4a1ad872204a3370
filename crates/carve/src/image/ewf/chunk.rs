//! One chunk: read, unpacked, and checked against its checksum.

use super::super::raw::RawImage;
use super::adler32;
use super::le_u32;
use super::section::read_exact;
use super::table::Stored;
use flate2::{Decompress, FlushDecompress, Status};
use std::io;

/// Fills `buf` with the first bytes of a chunk. `chunk_len` is the length of every chunk but the
/// last, which may be stored in full or in part.
pub(super) fn read(
    file: &RawImage,
    stored: &Stored,
    buf: &mut [u8],
    chunk_len: u64,
) -> io::Result<()> {
    let stored_len = stored.range.end - stored.range.start;
    if stored.is_compressed {
        // zlib expands by far less than this; what follows the end of its stream does not matter.
        let len = stored_len.min(chunk_len + chunk_len / 8 + 1024);
        let packed = read_exact(file, stored.range.start, len as usize)?;
        return inflate(&packed, buf, chunk_len as usize).map_err(bad);
    }
    let len = stored_len.saturating_sub(4).min(chunk_len) as usize;
    if len < buf.len() {
        return Err(bad(format!("{len} bytes are stored instead of {}", buf.len())));
    }
    let bytes = read_exact(file, stored.range.start, len + 4)?;
    if adler32(&bytes[..len]) != le_u32(&bytes, len) {
        return Err(bad("its checksum is wrong".into()));
    }
    buf.copy_from_slice(&bytes[..buf.len()]);
    Ok(())
}

fn bad(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Unpacks a stream of zlib, up to its checksum.
fn inflate(packed: &[u8], buf: &mut [u8], chunk_len: usize) -> Result<(), String> {
    if buf.len() < chunk_len {
        // The last chunk may be stored in full, with bytes after the image's end.
        let mut whole = vec![0; chunk_len];
        inflate_to(packed, &mut whole, buf.len())?;
        buf.copy_from_slice(&whole[..buf.len()]);
        return Ok(());
    }
    inflate_to(packed, buf, chunk_len)
}

/// Unpacks at least `least` bytes, and no more than there is room for.
fn inflate_to(packed: &[u8], buf: &mut [u8], least: usize) -> Result<(), String> {
    let mut zlib = Decompress::new(true);
    match zlib.decompress(packed, buf, FlushDecompress::Finish) {
        Ok(Status::StreamEnd) if zlib.total_out() >= least as u64 => Ok(()),
        Ok(Status::StreamEnd) => {
            Err(format!("it unpacks to {} bytes instead of {least}", zlib.total_out()))
        }
        Ok(_) => Err(format!("its compressed bytes do not end within {} bytes", buf.len())),
        Err(error) => Err(format!("its compressed bytes are damaged: {error}")),
    }
}
