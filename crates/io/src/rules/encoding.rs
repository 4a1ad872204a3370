//! The encoding of a pattern file, if a byte order mark tells it.

use std::borrow::Cow;

const UTF_8: &[u8] = b"\xef\xbb\xbf";
const UTF_16_LE: &[u8] = b"\xff\xfe";
const UTF_16_BE: &[u8] = b"\xfe\xff";

/// The text of a file without its byte order mark, and in UTF-8 if the mark is one of UTF-16.
/// `None` if it is not valid UTF-16.
pub(super) fn decode(bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
    if let Some(rest) = bytes.strip_prefix(UTF_8) {
        return Some(rest.into());
    }
    let (rest, unit): (_, fn([u8; 2]) -> u16) = if let Some(rest) = bytes.strip_prefix(UTF_16_LE) {
        (rest, u16::from_le_bytes)
    } else if let Some(rest) = bytes.strip_prefix(UTF_16_BE) {
        (rest, u16::from_be_bytes)
    } else {
        return Some(bytes.into());
    };
    let (pairs, odd) = rest.as_chunks();
    let units = pairs.iter().map(|&pair| unit(pair));
    let text: Result<String, _> = char::decode_utf16(units).collect();
    text.ok().filter(|_| odd.is_empty()).map(|text| text.into_bytes().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf_16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(bytes).collect()
    }

    #[test]
    fn marks_tell_the_encoding() {
        let text = "a\u{e9}\u{1f41f}\n";
        assert_eq!(decode(&utf_16(text, u16::to_le_bytes)).unwrap(), text.as_bytes());
        assert_eq!(decode(&utf_16(text, u16::to_be_bytes)).unwrap(), text.as_bytes());
        assert_eq!(decode(b"\xef\xbb\xbfab").unwrap(), &b"ab"[..]);
        assert_eq!(decode(b"\xff\xabab").unwrap(), &b"\xff\xabab"[..]);
    }

    #[test]
    fn what_is_not_utf_16_is_refused() {
        assert_eq!(decode(b"\xff\xfea\0b"), None);
        assert_eq!(decode(b"\xff\xfe\x00\xd8a\0"), None);
    }
}
