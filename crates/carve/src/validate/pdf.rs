//! PDF: the end says where the cross-reference table is, and the table says where objects are
//! (ISO 32000-1, 7.5).

use super::Stop;
use super::bytes::Bytes;

/// Between `startxref` and `%%EOF` there are a number and line ends.
const MOST_TAIL: u64 = 64;
/// An entry of the cross-reference table.
const ENTRY_LEN: u64 = 20;
/// The objects of each part of the table that are looked at.
const MOST_OBJECTS: u64 = 4;
/// Longer numbers are no offsets.
const MOST_DIGITS: usize = 20;

pub(super) fn validate(bytes: &mut Bytes<'_>) -> Result<u64, Stop> {
    let version: [u8; 3] = bytes.array(5)?;
    if !(version[0].is_ascii_digit() && version[1] == b'.' && version[2].is_ascii_digit()) {
        return Err(Stop::Wrong);
    }
    let eof = bytes.find_last(b"%%EOF", 0..bytes.len())?;
    let start = bytes.find_last(b"startxref", eof.saturating_sub(MOST_TAIL)..eof)?;
    let (table, at) = number(bytes, start + 9)?;
    if skip_blanks(bytes, at)? != eof || table == 0 || table >= start {
        return Err(Stop::Wrong);
    }
    match bytes.get(table, 4)? == b"xref" {
        true => check_table(bytes, table + 4, start)?,
        // The table is a stream: an object whose number is not known beforehand.
        false => check_object(bytes, table, None)?,
    }
    Ok(end_of_line(bytes, eof + 5))
}

/// Checks the parts of a table: each has the number of its first object and a count.
fn check_table(bytes: &mut Bytes<'_>, at: u64, start: u64) -> Result<(), Stop> {
    let mut at = skip_blanks(bytes, at)?;
    while bytes.u8(at)? != b't' {
        let (first, after) = number(bytes, at)?;
        let (count, after) = number(bytes, after)?;
        let entries = skip_blanks(bytes, after)?;
        let len = count.checked_mul(ENTRY_LEN).filter(|&len| len < start).ok_or(Stop::Wrong)?;
        let mut checked = 0;
        for index in 0..count.min(2 * MOST_OBJECTS) {
            let entry: [u8; ENTRY_LEN as usize] = bytes.array(entries + index * ENTRY_LEN)?;
            if entry[17] == b'n' && checked < MOST_OBJECTS {
                let (object, _) = number(bytes, entries + index * ENTRY_LEN)?;
                check_object(bytes, object, Some(first.saturating_add(index)))?;
                checked += 1;
            }
        }
        at = skip_blanks(bytes, entries + len)?;
    }
    if bytes.get(at, 7)? == b"trailer" { Ok(()) } else { Err(Stop::Wrong) }
}

/// Checks that an object begins at `at`: `12 0 obj`.
fn check_object(bytes: &mut Bytes<'_>, at: u64, expected: Option<u64>) -> Result<(), Stop> {
    let (found, after) = number(bytes, at)?;
    let (_, after) = number(bytes, after)?;
    let word = skip_blanks(bytes, after)?;
    let is_right = expected.is_none_or(|expected| expected == found);
    if is_right && bytes.get(word, 3)? == b"obj" { Ok(()) } else { Err(Stop::Wrong) }
}

/// The number at `at`, which blanks may precede, and where it ends.
fn number(bytes: &mut Bytes<'_>, at: u64) -> Result<(u64, u64), Stop> {
    let from = skip_blanks(bytes, at)?;
    let mut value = 0u64;
    for i in 0..MOST_DIGITS {
        let at = from + i as u64;
        let byte = bytes.u8(at)?;
        if !byte.is_ascii_digit() {
            return if i == 0 { Err(Stop::Wrong) } else { Ok((value, at)) };
        }
        value = value
            .checked_mul(10)
            .and_then(|v| v.checked_add(u64::from(byte - b'0')))
            .ok_or(Stop::Wrong)?;
    }
    Err(Stop::Wrong)
}

/// The first byte from `at` on that is no blank.
fn skip_blanks(bytes: &mut Bytes<'_>, mut at: u64) -> Result<u64, Stop> {
    let limit = at.saturating_add(MOST_TAIL);
    while matches!(bytes.u8(at)?, b' ' | b'\r' | b'\n' | b'\t' | b'\x0c' | 0) {
        at += 1;
        if at > limit {
            return Err(Stop::Wrong);
        }
    }
    Ok(at)
}

/// The end of the line that ends at `at`: the line feed belongs to the file, if there is one.
fn end_of_line(bytes: &mut Bytes<'_>, at: u64) -> u64 {
    if bytes.get(at, 2) == Ok(b"\r\n") {
        return at + 2;
    }
    let has_end = bytes.u8(at).is_ok_and(|byte| byte == b'\n' || byte == b'\r');
    at + u64::from(has_end)
}
