//! Haystacks in UTF-16, recognized by their byte order mark.

use super::BoxRead;
use encoding_rs_io::DecodeReaderBytesBuilder;
use std::io::{self, Cursor, Read};

/// Whether a file that starts with these bytes is UTF-16 with a byte order mark.
///
/// UTF-32 in little-endian order starts with the same mark; it is not recognized as UTF-16.
pub fn is_utf_16(start: &[u8]) -> bool {
    match start {
        [0xff, 0xfe, 0, 0, ..] => false,
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => true,
        _ => false,
    }
}

/// Converts UTF-16 with a byte order mark to UTF-8 without one; offsets then refer to that. Any
/// other bytes are passed on unchanged. What is not valid becomes U+FFFD.
///
/// ```
/// use std::io::Read;
/// let file = std::io::Cursor::new(b"\xff\xfea\0b\0");
/// let mut text = String::new();
/// fyke_io::container::transcode(Box::new(file))?.read_to_string(&mut text)?;
/// assert_eq!(text, "ab");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// If the first bytes cannot be read.
pub fn transcode(mut reader: BoxRead) -> io::Result<BoxRead> {
    let mut start = Vec::with_capacity(4);
    (&mut reader).take(2).read_to_end(&mut start)?;
    if matches!(start[..], [0xff, 0xfe] | [0xfe, 0xff]) {
        (&mut reader).take(2).read_to_end(&mut start)?;
    }
    let is_utf_16 = is_utf_16(&start);
    let all = Cursor::new(start).chain(reader);
    Ok(if is_utf_16 { Box::new(DecodeReaderBytesBuilder::new().build(all)) } else { Box::new(all) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let file = Cursor::new(bytes.to_vec());
        transcode(Box::new(file)).unwrap().read_to_end(&mut out).unwrap();
        out
    }

    #[test]
    fn utf_16_with_a_mark_becomes_utf_8() {
        let text = "n\u{f6}\u{1f41f}\n".repeat(9000);
        for unit in [u16::to_le_bytes, u16::to_be_bytes] {
            let file: Vec<u8> = format!("\u{feff}{text}").encode_utf16().flat_map(unit).collect();
            assert!(read(&file) == text.as_bytes());
        }
    }

    #[test]
    fn anything_else_is_given_as_it_is() {
        for plain in [
            &b""[..],
            b"\xff",
            b"\xef\xbb\xbfx",
            b"a\0b\0",
            b"\xff\xfe\0\0a\0\0\0",
            b"\xff\xfb\x90",
        ] {
            assert_eq!(read(plain), plain);
        }
    }
}
