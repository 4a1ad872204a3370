//! JPEG: segments with lengths, and scans whose data ends at the next marker (ITU-T T.81, annex B).

use super::Stop;
use super::bytes::Bytes;
use memchr::memchr;

const SOI_LEN: u64 = 2;
const DHT: u8 = 0xc4;
const JPG: u8 = 0xc8;
const DAC: u8 = 0xcc;
const RST0: u8 = 0xd0;
const RST7: u8 = 0xd7;
const EOI: u8 = 0xd9;
const SOS: u8 = 0xda;

pub(super) fn validate(bytes: &mut Bytes<'_>) -> Result<u64, Stop> {
    let mut at = SOI_LEN;
    let (mut has_frame, mut has_scan) = (false, false);
    loop {
        let marker;
        (marker, at) = next_marker(bytes, at)?;
        match marker {
            EOI if has_frame && has_scan => return Ok(at),
            SOS if has_frame => {
                at = segment(bytes, at, 6, 2)?;
                at = skip_scan(bytes, at)?;
                has_scan = true;
            }
            DHT | DAC => at += u64::from(length(bytes, at)?),
            0xc0..=0xcf if marker != JPG => {
                at = segment(bytes, at, 8, 3)?;
                has_frame = true;
            }
            // Tables, parameters, application data and comments.
            0xdb..=0xdd | 0xe0..=0xef | 0xfe => at += u64::from(length(bytes, at)?),
            _ => return Err(Stop::Wrong),
        }
    }
}

/// The marker at `at`, and where it ends. Any number of bytes 0xff may precede it.
fn next_marker(bytes: &mut Bytes<'_>, mut at: u64) -> Result<(u8, u64), Stop> {
    if bytes.u8(at)? != 0xff {
        return Err(Stop::Wrong);
    }
    loop {
        at += 1;
        match bytes.u8(at)? {
            0xff => {}
            marker => return Ok((marker, at + 1)),
        }
    }
}

/// The length of a segment, which counts its own two bytes.
fn length(bytes: &mut Bytes<'_>, at: u64) -> Result<u16, Stop> {
    bytes.u16_be(at).and_then(|len| if len < 2 { Err(Stop::Wrong) } else { Ok(len) })
}

/// The end of a segment that has a count of components in the byte before its last fixed part:
/// `fixed` bytes and `each` per component.
fn segment(bytes: &mut Bytes<'_>, at: u64, fixed: u16, each: u16) -> Result<u64, Stop> {
    let len = length(bytes, at)?;
    // Of a frame it follows precision, height and width; of a scan it is first.
    let count = bytes.u8(at + if each == 3 { 7 } else { 2 })?;
    match count > 0 && len == fixed + each * u16::from(count) {
        true => Ok(at + u64::from(len)),
        false => Err(Stop::Wrong),
    }
}

/// The marker that ends the data of a scan. A byte 0xff of the data is followed by a 0.
fn skip_scan(bytes: &mut Bytes<'_>, mut at: u64) -> Result<u64, Stop> {
    loop {
        let some = bytes.some(at)?;
        let Some(found) = memchr(0xff, some) else {
            at += some.len() as u64;
            continue;
        };
        at += found as u64;
        match bytes.u8(at + 1)? {
            0 | RST0..=RST7 => at += 2,
            0xff => at += 1,
            _ => return Ok(at),
        }
    }
}
