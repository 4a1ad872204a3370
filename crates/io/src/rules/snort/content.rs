//! The string of a content: text, escapes, and pieces of hexadecimal bytes between bars.

use super::super::error::Kind;
use super::super::hex;
use super::Located;
use std::ops::Range;

/// Decodes a string whose opening quote lies before the range. Gives its bytes and the position after
/// the closing quote.
pub(super) fn decode(text: &[u8], range: Range<usize>) -> Result<(Vec<u8>, usize), Located> {
    let mut out = Vec::new();
    let mut at = range.start;
    while at < range.end {
        match text[at] {
            b'"' => return Ok((out, at + 1)),
            b'|' => at = piece(text, at, range.end, &mut out)?,
            b'\\' => at = escape(text, at, range.end, &mut out)?,
            b => {
                out.push(b);
                at += 1;
            }
        }
    }
    Err((range.start - 1, Kind::OpenString))
}

/// Decodes the hex piece whose first bar is at `open`; gives the position after its second bar.
fn piece(text: &[u8], open: usize, end: usize, out: &mut Vec<u8>) -> Result<usize, Located> {
    let rest = &text[open + 1..end];
    let len = memchr::memchr2(b'|', b'"', rest).filter(|&at| rest[at] == b'|');
    let len = len.ok_or((open, Kind::OpenPiece))?;
    let bytes = hex::decode(&rest[..len], Kind::OddPiece).map_err(|(at, k)| (open + 1 + at, k))?;
    out.extend(bytes);
    Ok(open + len + 2)
}

/// Decodes the escape whose backslash is at `at`; gives the position after it.
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
