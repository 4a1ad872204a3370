//! Headers and footers: from a token to a needle.

use super::diagnostic::Remark;
use super::escape::{decode, escape};
use super::token::Token;
use crate::compat::Compat;
use crate::needle::Needle;
use crate::regex;

/// How the needles of a configuration are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct NeedleSyntax {
    pub(super) wildcard: u8,
    pub(super) compat: Compat,
}

impl NeedleSyntax {
    /// Reads a header or footer.
    pub(super) fn read(self, token: Token<'_>, nocase: bool) -> Result<Needle, Remark> {
        if let Some(expression) = self.expression(token) {
            return read_expression(token, expression, nocase);
        }
        // Scalpel 1.60 looks for wildcards after it has decoded escapes (B5).
        let after_decoding = self.compat == Compat::Scalpel160;
        let is_wildcard =
            |byte, escaped: bool| byte == self.wildcard && (after_decoding || !escaped);
        let decoded = decode(token.bytes).0;
        let bytes: Vec<_> =
            decoded.iter().map(|d| (!is_wildcard(d.byte, d.escaped)).then_some(d.byte)).collect();
        if bytes.len() > Needle::MAX_LEN {
            let what = format!("a header or footer has {} bytes", bytes.len());
            return Err(Remark::new(
                token.column,
                what,
                format!("the limit is {}", Needle::MAX_LEN),
            ));
        }
        Ok(Needle::Bytes { bytes, nocase })
    }

    /// What is between the slashes of a token that is a regular expression.
    pub(super) fn expression<'a>(self, token: Token<'a>) -> Option<&'a [u8]> {
        match (self.compat, token.bytes) {
            (Compat::None, [b'/', expression @ .., b'/']) => Some(expression),
            _ => None,
        }
    }
}

fn read_expression(token: Token<'_>, expression: &[u8], nocase: bool) -> Result<Needle, Remark> {
    let pattern = pattern_of(expression);
    regex::parse(&pattern, nocase).map_err(|why| {
        let what = format!("the regular expression {} {why}", token.text());
        Remark::new(token.column, what, "write text that begins and ends with / as \\x2f...\\x2f")
    })?;
    Ok(Needle::Regex { pattern, nocase })
}

/// An expression in the syntax of regex-syntax. An escape that means another thing there than in
/// Scalpel is written as `\xHH`, and so is every byte that is not ASCII.
fn pattern_of(expression: &[u8]) -> String {
    let mut pattern = String::with_capacity(expression.len());
    let mut rest = expression;
    while let [byte, after @ ..] = rest {
        let (byte, len) = match (byte, after) {
            // What means the same in both, or only in expressions, stays as it is.
            (b'\\', [b's' | b'0'..=b'3', ..]) => match escape(after) {
                Some((byte, len)) => (hex(byte), 1 + len),
                None => ("\\".to_string(), 1),
            },
            (b'\\', [escaped, ..]) if escaped.is_ascii() => {
                (format!("\\{}", char::from(*escaped)), 2)
            }
            (b'\\', [byte, ..]) => (hex(*byte), 2),
            (byte, _) if byte.is_ascii() => (char::from(*byte).to_string(), 1),
            (byte, _) => (hex(*byte), 1),
        };
        pattern.push_str(&byte);
        rest = &rest[len..];
    }
    pattern
}

fn hex(byte: u8) -> String {
    format!("\\x{byte:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(token: &[u8], wildcard: u8, compat: Compat) -> Result<Needle, Remark> {
        let token = Token { bytes: token, column: 7 };
        NeedleSyntax { wildcard, compat }.read(token, false)
    }

    fn bytes(text: &[u8], wild: u8) -> Result<Needle, Remark> {
        let bytes = text.iter().map(|&b| (b != wild).then_some(b)).collect();
        Ok(Needle::Bytes { bytes, nocase: false })
    }

    #[test]
    fn an_escaped_wildcard_is_a_byte_but_for_scalpel() {
        assert_eq!(read(br"a?\x3f", b'?', Compat::Scalpel160), bytes(b"a??", b'?'));
        let Ok(Needle::Bytes { bytes, .. }) = read(br"a?\x3f", b'?', Compat::None) else {
            panic!("it is a string")
        };
        assert_eq!(bytes, [Some(b'a'), None, Some(b'?')]);
    }

    #[test]
    fn expressions_are_strings_to_scalpel() {
        let regex = |pattern: &str| Ok(Needle::Regex { pattern: pattern.into(), nocase: false });
        assert_eq!(read(b"/a.b/", 0, Compat::None), regex("a.b"));
        assert_eq!(read(b"/a.b/", 0, Compat::Scalpel160), bytes(b"/a.b/", 0));
        assert_eq!(read(br"/\s\123\xff\d\\\./", 0, Compat::None), regex(r"\x20\x53\xff\d\\\."));
        assert_eq!(read(b"/\xc3\xa9?/", b'?', Compat::None), regex(r"\xc3\xa9?"));
        assert_eq!(read(b"/", 0, Compat::None), bytes(b"/", 0));
    }

    #[test]
    fn bad_needles() {
        let remark = read(b"/a(/", 0, Compat::None).unwrap_err();
        assert_eq!(remark.what, "the regular expression /a(/ cannot be read: unclosed group");
        assert_eq!(remark.column, 7);
        assert!(read(b"//", 0, Compat::None).unwrap_err().what.contains("the empty string"));
        assert!(read(&[b'a'; Needle::MAX_LEN + 1], 0, Compat::None).is_err());
        assert!(read(&[b'a'; Needle::MAX_LEN], 0, Compat::None).is_ok());
    }
}
