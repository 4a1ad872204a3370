//! Escapes of headers, footers and the wildcard.

/// A byte of a decoded token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decoded {
    pub(super) byte: u8,
    /// Whether an escape stood for it.
    pub(super) escaped: bool,
}

/// An escape that Scalpel does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BadEscape {
    /// Where it begins in the token, counted from 0.
    pub(super) at: usize,
    /// The escape as it is written.
    pub(super) text: String,
    /// How it is read.
    pub(super) read_as: String,
}

/// Decodes a token as Scalpel 1.60 does, and lists the escapes that it does not know. An unknown
/// escape keeps its backslash; a malformed number loses it.
pub(super) fn decode(token: &[u8]) -> (Vec<Decoded>, Vec<BadEscape>) {
    let (mut bytes, mut bad) = (Vec::with_capacity(token.len()), Vec::new());
    let mut at = 0;
    while let Some(&byte) = token.get(at) {
        let rest = &token[at + 1..];
        if byte != b'\\' {
            bytes.push(Decoded { byte, escaped: false });
            at += 1;
        } else if let Some((byte, len)) = escape(rest) {
            bytes.push(Decoded { byte, escaped: true });
            at += 1 + len;
        } else {
            let keeps = !matches!(rest.first(), Some(b'x' | b'0'..=b'3'));
            if keeps {
                bytes.push(Decoded { byte, escaped: false });
            }
            bad.push(bad_escape(token, at, keeps));
            at += 1;
        }
    }
    (bytes, bad)
}

/// The byte that an escape stands for, and the length of the escape after its backslash.
pub(super) fn escape(rest: &[u8]) -> Option<(u8, usize)> {
    let byte = match *rest.first()? {
        b'\\' => b'\\',
        b'a' => 7,
        b's' => b' ',
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'x' => return number(rest.get(1..3)?, 16),
        b'0'..=b'3' => return number(rest.get(..3)?, 8),
        _ => return None,
    };
    Some((byte, 1))
}

/// A number in `digits`. Three characters follow the backslash in both bases.
fn number(digits: &[u8], base: u32) -> Option<(u8, usize)> {
    let digit = |value: u32, &b: &u8| Some(value * base + char::from(b).to_digit(base)?);
    let value = digits.iter().try_fold(0, digit)?;
    Some((u8::try_from(value).ok()?, 3))
}

fn bad_escape(token: &[u8], at: usize, keeps: bool) -> BadEscape {
    let len = match token.get(at + 1) {
        None => 1,
        Some(b'x' | b'0'..=b'3') => 4,
        Some(_) => 2,
    };
    let text = &token[at..token.len().min(at + len)];
    let read_as = if keeps { text } else { &text[1..] };
    let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    BadEscape { at, text: show(text), read_as: show(read_as) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(token: &str) -> Vec<u8> {
        decode(token.as_bytes()).0.iter().map(|d| d.byte).collect()
    }

    #[test]
    fn escapes() {
        assert_eq!(bytes(r"\x4F\123\I\sCCI"), b"OS\\I CCI");
        assert_eq!(bytes(r"\\\a\s\n\r\t\v"), b"\\\x07 \n\r\t\x0b");
        assert_eq!(bytes(r"\x00\xfF\000\377"), b"\0\xff\0\xff");
        assert_eq!(bytes(r"\x414"), b"A4");
    }

    #[test]
    fn malformed_escapes_are_read_as_scalpel_reads_them() {
        for (token, read) in [
            (r"\q", r"\q"),
            (r"\477", r"\477"),
            (r"a\", r"a\"),
            (r"\xg0", "xg0"),
            (r"\x4", "x4"),
            (r"\x", "x"),
            (r"\3", "3"),
            (r"\089", "089"),
            (r"\3ff", "3ff"),
        ] {
            assert_eq!(bytes(token), read.as_bytes(), "{token}");
            let bad = decode(token.as_bytes()).1;
            assert_eq!(bad.len(), 1, "{token}");
        }
        let bad = decode(br"ab\xzz0").1.remove(0);
        let expected = BadEscape { at: 2, text: r"\xzz".into(), read_as: "xzz".into() };
        assert_eq!(bad, expected);
    }

    #[test]
    fn escaped_bytes_are_marked() {
        let marks = |token: &[u8]| decode(token).0.iter().map(|d| d.escaped).collect::<Vec<_>>();
        assert_eq!(marks(br"?\x3f\q"), [false, true, false, false]);
    }
}
