//! PNG: chunks with length, type and CRC (W3C PNG, section 5).

use super::Stop;
use super::bytes::Bytes;
use crc32fast::Hasher;

const SIGNATURE_LEN: u64 = 8;
const MOST_CHUNK: u32 = 0x7fff_ffff;

pub(super) fn validate(bytes: &mut Bytes<'_>) -> Result<u64, Stop> {
    let mut at = SIGNATURE_LEN;
    let mut has_data = false;
    loop {
        let len = bytes.array(at).map(u32::from_be_bytes)?;
        let kind: [u8; 4] = bytes.array(at + 4)?;
        let is_first = at == SIGNATURE_LEN;
        let is_header = kind == *b"IHDR" && len == 13;
        if len > MOST_CHUNK || !kind.iter().all(u8::is_ascii_alphabetic) || is_first != is_header {
            return Err(Stop::Wrong);
        }
        let end = at + 8 + u64::from(len);
        if bytes.array(end).map(u32::from_be_bytes)? != crc(bytes, at + 4, end)? {
            return Err(Stop::Wrong);
        }
        has_data |= kind == *b"IDAT";
        at = end + 4;
        if kind == *b"IEND" {
            return if len == 0 && has_data { Ok(at) } else { Err(Stop::Wrong) };
        }
    }
}

fn crc(bytes: &mut Bytes<'_>, mut at: u64, end: u64) -> Result<u32, Stop> {
    let mut hasher = Hasher::new();
    while at < end {
        let some = bytes.some(at)?;
        let part = &some[..some.len().min((end - at).min(usize::MAX as u64) as usize)];
        hasher.update(part);
        at += part.len() as u64;
    }
    Ok(hasher.finalize())
}
