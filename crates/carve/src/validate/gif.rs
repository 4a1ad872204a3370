//! GIF: blocks of subblocks, up to the trailer (GIF89a, appendix A).

use super::Stop;
use super::bytes::Bytes;

const EXTENSION: u8 = 0x21;
const IMAGE: u8 = 0x2c;
const TRAILER: u8 = 0x3b;

pub(super) fn validate(bytes: &mut Bytes<'_>) -> Result<u64, Stop> {
    let mut at = 13 + color_table(bytes.u8(10)?);
    let mut has_image = false;
    loop {
        match bytes.u8(at)? {
            EXTENSION => at = skip_subblocks(bytes, at + 2)?,
            IMAGE => {
                at += 10 + color_table(bytes.u8(at + 9)?);
                // The code size of LZW: at least 2, even of pictures with two colors.
                if !(2..=8).contains(&bytes.u8(at)?) {
                    return Err(Stop::Wrong);
                }
                at = skip_subblocks(bytes, at + 1)?;
                has_image = true;
            }
            TRAILER if has_image => return Ok(at + 1),
            _ => return Err(Stop::Wrong),
        }
    }
}

/// The bytes of the color table that these flags announce.
fn color_table(flags: u8) -> u64 {
    if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) }
}

/// The end of a row of subblocks: each begins with its length, and one of length 0 ends the row.
fn skip_subblocks(bytes: &mut Bytes<'_>, mut at: u64) -> Result<u64, Stop> {
    loop {
        let len = bytes.u8(at)?;
        at += 1 + u64::from(len);
        if len == 0 {
            return Ok(at);
        }
    }
}
