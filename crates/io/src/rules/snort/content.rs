//! Decodes the string of a content: text, escapes, and hexadecimal bytes between bars.

use super::super::error::{Kind, Located};
use super::super::hex;
use std::ops::Range;

/// Decodes a string whose opening quote is before the range. Returns its bytes and the position
/// after the closing quote.
pub(super) fn decode(text: &[u8], range: Range<usize>) -> Result<(Vec<u8>, usize), Located> {
    let mut out = Vec::new();
    let mut at = range.start;
    while at < range.end {
        match text[at] {
            b'"' => return Ok((out, at + 1)),
            b'|' => at = hex_bytes(text, at, range.end, &mut out)?,
            b'\\' => at = escape(text, at, range.end, &mut out)?,
            b => {
                out.push(b);
                at += 1;
            }
        }
    }
    Err((range.start - 1, Kind::OpenString))
}

/// Decodes hex bytes whose first bar is at `open`; returns the position after the second bar.
fn hex_bytes(text: &[u8], open: usize, end: usize, out: &mut Vec<u8>) -> Result<usize, Located> {
    let rest = &text[open + 1..end];
    let len = memchr::memchr2(b'|', b'"', rest).filter(|&at| rest[at] == b'|');
    let len = len.ok_or((open, Kind::OpenHex))?;
    hex::decode(&rest[..len], out).map_err(|(at, kind)| (open + 1 + at, kind))?;
    Ok(open + len + 2)
}

/// Decodes the escape whose backslash is at `at`; returns the position after it.
fn escape(text: &[u8], at: usize, end: usize, out: &mut Vec<u8>) -> Result<usize, Located> {
    match text[at + 1..end].first() {
        Some(&b @ (b'"' | b'\\' | b';' | b':')) => {
            out.push(b);
            Ok(at + 2)
        }
        Some(&b) => Err((at, Kind::BadEscape(b))),
        None => Err((at, Kind::OpenString)),
    }
}
