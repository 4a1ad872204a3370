//! [`Literal`]: the byte string that an expression stands for, and its parser.
//!
//! The syntax is PCRE's, as far as it has literals: plain characters, escapes, `\Q..\E`, and
//! classes of one character. Everything else is a regular expression and refused.

use crate::error::Rejection;

/// The byte string that an expression stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Literal {
    pub(crate) bytes: Vec<u8>,
    /// Whether ASCII letters match in either case.
    pub(crate) nocase: bool,
}

/// One element of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    Byte(u8),
    /// A class of one letter in both cases.
    EitherCase(u8),
    /// `\E` without `\Q`.
    Nothing,
    /// `\Q`
    Quote,
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Literal {
    /// Reads an expression. With `nocase` its letters match in either case, in whichever case they
    /// are written.
    pub(crate) fn parse(text: &[u8], nocase: bool) -> Result<Literal, Rejection> {
        let mut parser = Parser { text, at: 0 };
        let mut bytes = Vec::with_capacity(text.len().min(64));
        let (mut either, mut exact) = (None, None);
        while parser.at < text.len() {
            let start = parser.at;
            match parser.element()? {
                Element::Nothing => {}
                Element::Quote => bytes.extend_from_slice(parser.quoted(&mut exact)),
                Element::EitherCase(letter) => {
                    bytes.push(letter);
                    either = Some(start);
                }
                Element::Byte(byte) => {
                    bytes.push(byte);
                    if byte.is_ascii_alphabetic() {
                        exact = Some(start);
                    }
                }
            }
        }
        match (either, exact) {
            (Some(at), Some(_)) if !nocase => {
                Err(unsupported("a class of a letter in both cases beside letters of one case", at))
            }
            (either, _) => Ok(Literal { bytes, nocase: nocase || either.is_some() }),
        }
    }
}

impl<'a> Parser<'a> {
    fn next(&mut self) -> Option<u8> {
        let byte = self.text.get(self.at).copied();
        self.at += usize::from(byte.is_some());
        byte
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// The next element; the text is not at its end.
    fn element(&mut self) -> Result<Element, Rejection> {
        let at = self.at;
        match self.next() {
            Some(b'\\') => self.escape(at),
            Some(b'[') => self.class(at),
            Some(b'{') if self.is_repeat() => Err(unsupported("a repeat", at)),
            Some(byte @ (b'^' | b'$' | b'.' | b'|' | b'?' | b'*' | b'+' | b'(' | b')')) => {
                let what = format!("the operator {}", char::from(byte));
                Err(unsupported(&what, at))
            }
            Some(byte) => Ok(Element::Byte(byte)),
            None => Ok(Element::Nothing),
        }
    }

    /// Whether what follows a brace makes it a repeat: `2}`, `2,}`, `2,3}`.
    fn is_repeat(&self) -> bool {
        let rest = &self.text[self.at..];
        let digits = |text: &[u8]| text.iter().take_while(|b| b.is_ascii_digit()).count();
        let first = digits(rest);
        let rest = &rest[first..];
        let rest = rest.strip_prefix(b",").map_or(rest, |rest| &rest[digits(rest)..]);
        first > 0 && rest.first() == Some(&b'}')
    }

    /// The bytes after `\Q`, up to `\E` or the end.
    fn quoted(&mut self, exact: &mut Option<usize>) -> &'a [u8] {
        let rest = &self.text[self.at..];
        let end = memchr::memmem::find(rest, br"\E");
        let quoted = &rest[..end.unwrap_or(rest.len())];
        if quoted.iter().any(u8::is_ascii_alphabetic) {
            *exact = Some(self.at);
        }
        self.at += end.map_or(rest.len(), |end| end + 2);
        quoted
    }

    /// What follows a backslash at position `at`.
    fn escape(&mut self, at: usize) -> Result<Element, Rejection> {
        let Some(byte) = self.next() else {
            return Err(wrong("Unescaped \\ at end of input", at));
        };
        Ok(Element::Byte(match byte {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'a' => 7,
            b'e' => 0x1b,
            b'f' => 0x0c,
            b'x' => self.hexadecimal(at)?,
            b'o' if self.peek() == Some(b'{') => self.braced(8, at)?,
            b'0' => self.octal(byte, at)?,
            b'1'..=b'7' if matches!(self.peek(), Some(b'0'..=b'7')) => self.octal(byte, at)?,
            b'Q' => return Ok(Element::Quote),
            b'E' => return Ok(Element::Nothing),
            _ if byte.is_ascii_alphanumeric() => {
                return Err(unsupported(&format!("the escape \\{}", char::from(byte)), at));
            }
            _ => byte,
        }))
    }

    /// What follows `\x`: up to two digits, or a number in braces.
    fn hexadecimal(&mut self, at: usize) -> Result<u8, Rejection> {
        if self.peek() == Some(b'{') {
            return self.braced(16, at);
        }
        let mut value = 0;
        for _ in 0..2 {
            let Some(digit) = self.peek().and_then(|b| char::from(b).to_digit(16)) else { break };
            value = value * 16 + digit as u8;
            self.at += 1;
        }
        Ok(value)
    }

    /// A number in braces.
    fn braced(&mut self, radix: u32, at: usize) -> Result<u8, Rejection> {
        let rest = &self.text[self.at + 1..];
        let end = memchr::memchr(b'}', rest);
        let digits = end.and_then(|end| std::str::from_utf8(&rest[..end]).ok());
        let digits = digits.filter(|d| !d.is_empty() && d.chars().all(|c| c.is_digit(radix)));
        let Some(digits) = digits else {
            return Err(wrong("Value in braces is no number, or the brace is missing", at));
        };
        self.at += digits.len() + 2;
        // Any number of leading zeros is allowed; what overflows is too large too.
        let value = u64::from_str_radix(digits, radix).unwrap_or(u64::MAX);
        u8::try_from(value).map_err(|_| wrong("Value in braces is greater than \\xFF", at))
    }

    /// An octal number: its first digit, and up to two more that follow.
    fn octal(&mut self, first: u8, at: usize) -> Result<u8, Rejection> {
        let mut value = u32::from(first - b'0');
        for _ in 0..2 {
            let Some(digit) = self.peek().and_then(|b| char::from(b).to_digit(8)) else { break };
            value = value * 8 + digit;
            self.at += 1;
        }
        u8::try_from(value).map_err(|_| wrong("Octal value is greater than \\377", at))
    }

    /// What follows a bracket at position `at`: one byte, or one letter in both cases.
    fn class(&mut self, at: usize) -> Result<Element, Rejection> {
        let refused = || unsupported("a character class", at);
        let (mut first, mut second) = (None, None);
        loop {
            let byte = match self.next() {
                None => return Err(wrong("Unterminated character class", at)),
                Some(b']') if first.is_some() => break,
                Some(b'^' | b'-' | b'[') => return Err(refused()),
                Some(b'\\') => self.class_escape(at)?,
                Some(byte) => byte,
            };
            match (first, second) {
                (None, _) => first = Some(byte),
                (Some(one), _) if one == byte => {}
                (Some(one), None) if one.eq_ignore_ascii_case(&byte) => second = Some(byte),
                (_, Some(other)) if other == byte => {}
                _ => return Err(refused()),
            }
        }
        match (first, second) {
            (Some(letter), Some(_)) => Ok(Element::EitherCase(letter)),
            (Some(byte), None) => Ok(Element::Byte(byte)),
            _ => Err(refused()),
        }
    }

    /// What follows a backslash within a class. Numbers without braces mean other things there.
    fn class_escape(&mut self, at: usize) -> Result<u8, Rejection> {
        if matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(unsupported("a character class", at));
        }
        match self.escape(at)? {
            Element::Byte(byte) => Ok(byte),
            _ => Err(unsupported("a character class", at)),
        }
    }
}

fn unsupported(what: &str, at: usize) -> Rejection {
    Rejection::Unsupported(format!(
        "Not a literal: {what} at index {at}. This library takes literals only; name a real \
         Hyperscan in FYKE_HS_NEXT for regular expressions."
    ))
}

/// The words are Hyperscan's.
fn wrong(what: &str, at: usize) -> Rejection {
    Rejection::Wrong(format!("{what} at index {at}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &[u8]) -> Vec<u8> {
        Literal::parse(text, false).unwrap().bytes
    }

    #[test]
    fn literals_are_read() {
        let cases: [(&[u8], &[u8]); 22] = [
            (b"abc", b"abc"),
            (br"a\.b\*", b"a.b*"),
            (br"\x00\xfF\x4\x", b"\x00\xff\x04\x00"),
            (br"\x{41}\x{0041}\o{101}", b"AAA"),
            (br"\0\01\0101\377\12\118", b"\x00\x01\x081\xff\x0a\x098"),
            (br"\n\t\r\a\e\f", b"\n\t\r\x07\x1b\x0c"),
            (br"\Qa.b\Ec", b"a.bc"),
            (br"\Qa.b", b"a.b"),
            (br"\Q\\E\Ex", b"\\x"),
            (br"a\Eb", b"ab"),
            (br"a{b{,2}{2,x}", b"a{b{,2}{2,x}"),
            (b"a]}#/ b", b"a]}#/ b"),
            (br"[.][a][\]][\x41][]]", b".a]A]"),
            (br"[aa]", b"a"),
            (b"\\\xff\xe9", b"\xff\xe9"),
            (br"\_\ \-\<\@", b"_ -<@"),
            (b"\n", b"\n"),
            (b"", b""),
            (br"\Q\E", b""),
            (br"\x{0000000000000000000000041}", b"A"),
            (br"\x41\x42c", b"ABc"),
            (br"{", b"{"),
        ];
        for (text, wanted) in cases {
            assert_eq!(bytes(text), wanted, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn regular_expressions_are_refused() {
        for text in [
            "a.b",
            "^a",
            "a$",
            "a|b",
            "a?",
            "a*",
            "a+",
            "(a)",
            "a{2}",
            "a{2,}",
            "a{2,3}",
            "[ab]",
            "[a-b]",
            "[^a]",
            r"\d",
            r"\w",
            r"\b",
            r"\1",
            r"\8",
            r"\cA",
            r"\v",
            "[[:alpha:]]",
            r"[\d]",
            "[aAb]",
            "(?i)a",
            r"[\Qa\E]",
            "b[aA]",
            "[aA]b",
            r"\Qb\E[aA]",
            r"[\101]",
            "{2}",
        ] {
            let got = Literal::parse(text.as_bytes(), false);
            assert!(matches!(got, Err(Rejection::Unsupported(_))), "{text}: {got:?}");
        }
    }

    #[test]
    fn what_hyperscan_refuses_too_is_wrong() {
        for text in [r"a\", "[a", "[", "[]", r"\x{141}", r"\x{}", r"\x{4", r"\400", r"\o{9}"] {
            let got = Literal::parse(text.as_bytes(), false);
            assert!(matches!(got, Err(Rejection::Wrong(_))), "{text}: {got:?}");
        }
    }

    #[test]
    fn classes_of_both_cases_make_the_literal_caseless() {
        let literal = Literal::parse(b"[aA][Bb]1", false).unwrap();
        assert_eq!((literal.bytes.as_slice(), literal.nocase), (&b"aB1"[..], true));
        assert!(Literal::parse(b"[aA]b", true).unwrap().nocase);
    }
}
