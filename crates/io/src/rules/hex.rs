//! Patterns in hexadecimal digits, one per line: `48656c6c6f` or `48 65 6c 6c 6f`.
//!
//! Spaces between digits and empty lines are ignored. A `#` starts a comment.

use super::error::{Kind, Located, RuleError};
use super::lines::numbered;
use super::parsed::Parsed;
use super::table::{Origin, check_len};
use std::sync::Arc;

/// Parses a file of hexadecimal patterns.
///
/// ```
/// let parsed = fyke_io::rules::hex::parse("magic.hex", b"# PNG\n89504e47 # .PNG\n4g\n");
/// assert_eq!(parsed.patterns.iter().next().unwrap().bytes, b"\x89PNG");
/// let error = "magic.hex:3:2: g is not a hex digit: use 0-9, a-f, A-F";
/// assert_eq!(parsed.errors[0].to_string(), error);
/// ```
pub fn parse(file: &str, bytes: &[u8]) -> Parsed {
    let file = Arc::from(file);
    let mut parsed = Parsed::default();
    let mut bytes_of_line = Vec::new();
    for (line, text) in numbered(bytes) {
        let digits = &text[..memchr::memchr(b'#', text).unwrap_or(text.len())];
        let indent = digits.len() - digits.trim_ascii_start().len();
        if indent == digits.len() {
            continue;
        }
        match decode_line(digits, &mut bytes_of_line) {
            Ok(()) => {
                let column = indent as u64 + 1;
                let origin = Origin::plain(&file, line, column);
                parsed.patterns.push(&bytes_of_line, false, &origin);
            }
            Err((at, kind)) => {
                parsed.errors.push(RuleError::new(&file, (line, at as u64 + 1), kind));
            }
        }
    }
    parsed
}

fn decode_line(digits: &[u8], out: &mut Vec<u8>) -> Result<(), Located> {
    out.clear();
    decode(digits, out)?;
    check_len(out.len(), Kind::EmptyLine).map_err(|kind| (0, kind))
}

/// Appends the bytes of hexadecimal digits. Spaces between the digits are ignored.
pub(super) fn decode(digits: &[u8], out: &mut Vec<u8>) -> Result<(), Located> {
    let mut high = None;
    for (at, &b) in digits.iter().enumerate().filter(|(_, b)| !b.is_ascii_whitespace()) {
        let value = value(b).ok_or((at, Kind::NotHex(b)))?;
        match high.take() {
            None => high = Some((at, value)),
            Some((_, h)) => out.push(h << 4 | value),
        }
    }
    high.map_or(Ok(()), |(at, _)| Err((at, Kind::OddDigits)))
}

fn value(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|v| v as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(line: &[u8]) -> String {
        parse("f", line).errors[0].to_string()
    }

    #[test]
    fn digits_spaces_and_comments() {
        let parsed = parse("f", b"00fF\n\n  # all\n41 42\t43#x\r\n\xC3\n");
        let texts: Vec<_> = parsed.patterns.iter().map(|p| p.bytes.to_vec()).collect();
        assert_eq!(texts, [b"\x00\xff".to_vec(), b"ABC".to_vec()]);
        assert_eq!(parsed.patterns.iter().nth(1).unwrap().origin.line, 4);
        assert!(parsed.errors[0].to_string().starts_with("f:5:1: byte 0xc3 is not"));
    }

    #[test]
    fn errors_have_a_column() {
        assert!(error(b"414").starts_with("f:1:3: odd number of hex digits: write each byte"));
        assert!(error(b"41 4x").starts_with("f:1:5: x is not a hex digit"));
        assert!(error(b"0x41").starts_with("f:1:2: x is not"));
    }
}
