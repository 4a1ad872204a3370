//! Rules: `extension case size header [footer [mode]]`.

use super::diagnostic::Remark;
use super::needle::NeedleSyntax;
use super::token::Token;
use crate::compat::Compat;
use crate::needle::Needle;
use crate::rule::{Interner, Mode, Rule};

/// The extension that stands for none.
pub(super) const NO_EXTENSION: &str = "NONE";
/// Scalpel 1.60 keeps this many bytes of an extension (B7).
const SCALPEL_EXTENSION_LEN: usize = 8;

/// The tokens of a rule, by their meaning.
#[derive(Clone, Debug)]
pub(super) struct RuleTokens<'a> {
    pub(super) extension: Token<'a>,
    pub(super) case: Token<'a>,
    pub(super) size: Token<'a>,
    pub(super) header: Token<'a>,
    pub(super) footer: Option<Token<'a>>,
    pub(super) mode: Option<Token<'a>>,
    /// The first token after the mode: it is not read.
    pub(super) extra: Option<Token<'a>>,
}

impl<'a> RuleTokens<'a> {
    /// Names the tokens of a line.
    pub(super) fn new(tokens: &[Token<'a>]) -> Result<Self, Remark> {
        let &[extension, case, size, header, ref rest @ ..] = tokens else {
            let what = format!("a rule has at least 4 words, and this line has {}", tokens.len());
            let help = "write: extension case size header [footer [mode]]";
            return Err(Remark::new(tokens[0].column, what, help));
        };
        let [footer, mode, extra] = [0, 1, 2].map(|i| rest.get(i).copied());
        Ok(Self { extension, case, size, header, footer, mode, extra })
    }

    /// Whether ASCII letters match in either case.
    pub(super) fn nocase(&self) -> bool {
        !self.case.starts_with("y")
    }

    pub(super) fn read_mode(&self) -> Mode {
        match self.mode {
            Some(mode) if mode.starts_with("REVERSE") => Mode::Reverse,
            Some(mode) if mode.starts_with("NEXT") => Mode::Next,
            _ => Mode::Forward,
        }
    }

    /// The needles of header and footer.
    pub(super) fn read_needles(
        &self,
        syntax: NeedleSyntax,
    ) -> Result<(Needle, Option<Needle>), Remark> {
        let header = syntax.read(self.header, self.nocase())?;
        let footer = self.footer.map(|footer| syntax.read(footer, self.nocase())).transpose()?;
        Ok((header, footer))
    }

    /// Reads the rule.
    pub(super) fn read(
        &self,
        line: usize,
        syntax: NeedleSyntax,
        needles: &mut Interner,
    ) -> Result<Rule, Remark> {
        let (min_len, max_len) = read_size(self.size, syntax.compat)?;
        let (header, footer) = self.read_needles(syntax)?;
        Ok(Rule {
            line,
            extension: read_extension(self.extension, syntax.compat)?,
            min_len,
            max_len,
            header: needles.intern(header),
            footer: footer.map(|footer| needles.intern(footer)),
            mode: self.read_mode(),
        })
    }
}

fn read_extension(token: Token<'_>, compat: Compat) -> Result<Option<String>, Remark> {
    if token.starts_with(NO_EXTENSION) {
        return Ok(None);
    }
    let kept = match compat {
        Compat::None => token.bytes,
        Compat::Scalpel160 => &token.bytes[..token.bytes.len().min(SCALPEL_EXTENSION_LEN)],
    };
    match std::str::from_utf8(kept) {
        Ok(text) => Ok(Some(text.to_string())),
        Err(_) => {
            let what = format!("the extension {} is not UTF-8", token.text());
            Err(Remark::new(token.column, what, "write it in UTF-8, or NONE for no extension"))
        }
    }
}

/// The minimum and the maximum length of a file.
pub(super) fn read_size(token: Token<'_>, compat: Compat) -> Result<(u64, u64), Remark> {
    let size = match compat {
        Compat::None => read_range(token)?,
        Compat::Scalpel160 => (0, read_prefix(token.bytes)),
    };
    if size.1 == 0 {
        let what = format!("the largest size, {}, is 0", token.text());
        return Err(Remark::new(token.column, what, "write the most bytes that a file may have"));
    }
    Ok(size)
}

/// `max` or `min:max`.
fn read_range(token: Token<'_>) -> Result<(u64, u64), Remark> {
    let number = |digits: &[u8]| -> Result<u64, Remark> {
        let text = std::str::from_utf8(digits).unwrap_or_default();
        // `parse` takes a sign.
        let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if let (true, Ok(number)) = (is_number, text.parse()) {
            return Ok(number);
        }
        let help = if is_number {
            format!("the largest is {}", u64::MAX)
        } else {
            "write bytes as decimal digits: max, or min:max".into()
        };
        Err(Remark::new(token.column, format!("the size {} is no number", token.text()), help))
    };
    match token.bytes.iter().position(|&b| b == b':') {
        None => Ok((0, number(token.bytes)?)),
        Some(colon) => Ok((number(&token.bytes[..colon])?, number(&token.bytes[colon + 1..])?)),
    }
}

/// The number that a token begins with, as C's `strtoull` reads it.
fn read_prefix(token: &[u8]) -> u64 {
    let (negative, digits) = match token {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let digits = digits.iter().take_while(|b| b.is_ascii_digit());
    let mut number = 0u64;
    for digit in digits {
        match number.checked_mul(10).and_then(|n| n.checked_add(u64::from(digit - b'0'))) {
            Some(n) => number = n,
            // Out of range is the largest number, whatever the sign.
            None => return u64::MAX,
        }
    }
    if negative { number.wrapping_neg() } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(token: &str, compat: Compat) -> Result<(u64, u64), Remark> {
        read_size(Token { bytes: token.as_bytes(), column: 1 }, compat)
    }

    #[test]
    fn sizes() {
        assert_eq!(size("100", Compat::None), Ok((0, 100)));
        assert_eq!(size("5000:100000", Compat::None), Ok((5000, 100_000)));
        assert_eq!(size("18446744073709551615", Compat::None), Ok((0, u64::MAX)));
        for bad in ["10M", "", ":", "5:", ":5", "-1", "+1", "18446744073709551616", "0", "1:2:3"] {
            assert!(size(bad, Compat::None).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_as_scalpel_reads_them() {
        for (token, max) in [
            ("10M", 10),
            ("5:9", 5),
            ("+7", 7),
            ("-1", u64::MAX),
            ("99999999999999999999", u64::MAX),
            ("-99999999999999999999", u64::MAX),
        ] {
            assert_eq!(size(token, Compat::Scalpel160), Ok((0, max)), "{token}");
        }
        assert!(size("abc", Compat::Scalpel160).is_err());
    }

    #[test]
    fn extensions() {
        let read = |text: &str, compat| {
            read_extension(Token { bytes: text.as_bytes(), column: 1 }, compat).unwrap()
        };
        assert_eq!(read("none", Compat::None), None);
        assert_eq!(read("NONEsuch", Compat::Scalpel160), None);
        assert_eq!(read("abcdefghij", Compat::None).as_deref(), Some("abcdefghij"));
        assert_eq!(read("abcdefghij", Compat::Scalpel160).as_deref(), Some("abcdefgh"));
    }
}
