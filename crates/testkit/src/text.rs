//! Bytes in TOML: `"ab\\x00"`, `{ hex = "00ff" }`, `[{ bytes = "ab", repeat = 500 }, "c"]`.
//!
//! The notation is described in `vectors/README.md`. This module reads it from [`toml::Value`] and
//! not with derived code, so that its errors name the mistake and not a variant.

use toml::Value;

/// The bytes of a text: a string, a table, or a list of these, which are joined.
///
/// # Errors
/// What is wrong, with the form that is needed.
pub fn bytes(value: &Value) -> Result<Vec<u8>, String> {
    match value {
        Value::String(s) => unescape(s),
        Value::Array(pieces) => {
            Ok(pieces.iter().map(bytes).collect::<Result<Vec<_>, _>>()?.concat())
        }
        Value::Table(table) => spelled(table),
        other => Err(format!("expected a string, a table or a list, got {}", other.type_str())),
    }
}

/// The bytes of `{ bytes | hex | pieces, repeat }`; other keys are the caller's.
fn spelled(table: &toml::Table) -> Result<Vec<u8>, String> {
    let one = match (table.get("bytes"), table.get("hex"), table.get("pieces")) {
        (Some(Value::String(s)), None, None) => unescape(s)?,
        (None, Some(Value::String(s)), None) => hex(s)?,
        (None, None, Some(Value::Array(pieces))) => bytes(&Value::Array(pieces.clone()))?,
        _ => return Err("expected exactly one of bytes, hex (strings) and pieces (a list)".into()),
    };
    Ok(one.repeat(repeat(table)?))
}

fn repeat(table: &toml::Table) -> Result<usize, String> {
    match table.get("repeat") {
        None => Ok(1),
        Some(Value::Integer(n)) if (1..=1 << 20).contains(n) => Ok(*n as usize),
        Some(other) => Err(format!("repeat = {other}: expected a number from 1 to 1048576")),
    }
}

/// Reads printable ASCII and the escapes `\xHH`, `\\`, `\n`, `\r`, `\t` and `\0`, as in C.
///
/// # Errors
/// The text has another byte or escape.
pub fn unescape(text: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let (byte, used) = match first {
            b'\\' => escape(tail)
                .ok_or_else(|| format!("bad escape at byte {} of {text:?}", out.len()))?,
            b' '..=b'~' => (first, 0),
            _ => {
                return Err(format!("{text:?}: write bytes that are not printable ASCII as \\xHH"));
            }
        };
        out.push(byte);
        rest = &tail[used..];
    }
    Ok(out)
}

/// The byte of an escape, and the number of characters after the backslash.
fn escape(tail: &[u8]) -> Option<(u8, usize)> {
    match tail {
        [b'x', high, low, ..] => Some((digit(*high)? << 4 | digit(*low)?, 3)),
        [b'\\', ..] => Some((b'\\', 1)),
        [b'n', ..] => Some((b'\n', 1)),
        [b'r', ..] => Some((b'\r', 1)),
        [b't', ..] => Some((b'\t', 1)),
        [b'0', ..] => Some((0, 1)),
        _ => None,
    }
}

fn digit(c: u8) -> Option<u8> {
    char::from(c).to_digit(16).map(|d| d as u8)
}

/// Bytes from pairs of hexadecimal digits.
///
/// # Errors
/// A character is not a digit, or the number of digits is odd.
pub fn hex(text: &str) -> Result<Vec<u8>, String> {
    let pair = |p: &[u8]| match p {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    };
    let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(pair).collect();
    bytes.ok_or_else(|| format!("hex = {text:?}: expected pairs of hexadecimal digits"))
}

/// Bytes as a TOML literal in single quotes that [`unescape`] reads.
pub fn quote(bytes: &[u8]) -> String {
    let one = |&b: &u8| match b {
        b'\'' | b'\\' => format!("\\x{b:02X}"),
        b' '..=b'~' => char::from(b).to_string(),
        _ => format!("\\x{b:02X}"),
    };
    format!("'{}'", bytes.iter().map(one).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(toml: &str) -> Result<Vec<u8>, String> {
        bytes(&toml.parse::<toml::Table>().unwrap()["v"])
    }

    #[test]
    fn every_notation_is_read() {
        assert_eq!(read(r"v = 'a\x00\\\n\r\t\0'").unwrap(), b"a\0\\\n\r\t\0");
        assert_eq!(read("v = { hex = '00fF' }").unwrap(), [0, 255]);
        assert_eq!(read("v = { bytes = 'ab', repeat = 3 }").unwrap(), b"ababab");
        assert_eq!(read("v = [{ bytes = 'a', repeat = 2 }, 'b']").unwrap(), b"aab");
        assert_eq!(read("v = { pieces = ['a', { hex = '62' }], repeat = 2 }").unwrap(), b"abab");
    }

    #[test]
    fn mistakes_are_named() {
        let wrong = |toml: &str, part: &str| {
            let e = read(toml).unwrap_err();
            assert!(e.contains(part), "{toml}: {e}");
        };
        wrong(r"v = 'ab\q'", "bad escape at byte 2");
        wrong(r"v = 'ab\x0'", "bad escape");
        wrong("v = 'ä'", "write bytes that are not printable");
        wrong("v = { hex = '0' }", "pairs");
        wrong("v = { hex = '00', bytes = 'a' }", "exactly one");
        wrong("v = { bytes = 'a', repeat = 0 }", "repeat = 0");
        wrong("v = 7", "got integer");
    }

    #[test]
    fn quoted_bytes_read_back() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(unescape(quote(&all).trim_matches('\'')).unwrap(), all);
    }
}
