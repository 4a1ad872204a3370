//! Lines and tokens of a configuration, with their columns.

use super::diagnostic::Remark;

/// A word of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) bytes: &'a [u8],
    /// Counted in bytes from 1.
    pub(super) column: usize,
}

impl Token<'_> {
    /// The token for messages.
    pub(super) fn text(&self) -> String {
        self.bytes.escape_ascii().to_string()
    }

    /// Whether it begins with `word`, in either case.
    pub(super) fn starts_with(&self, word: &str) -> bool {
        let head = self.bytes.get(..word.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(word.as_bytes()))
    }

    /// Whether it is `word`, in either case.
    pub(super) fn is(&self, word: &str) -> bool {
        self.bytes.eq_ignore_ascii_case(word.as_bytes())
    }
}

/// The lines of a configuration, without their ends, counted from 1. `keep_last_cr` keeps a
/// carriage return at the end of the text, where no newline follows, as Scalpel 1.60 does.
pub(super) fn lines(text: &[u8], keep_last_cr: bool) -> impl Iterator<Item = (usize, &[u8])> {
    let cut = move |line| match <[u8]>::strip_suffix(line, b"\n") {
        Some(line) => line.strip_suffix(b"\r").unwrap_or(line),
        None if keep_last_cr => line,
        None => line.strip_suffix(b"\r").unwrap_or(line),
    };
    text.split_inclusive(|&b| b == b'\n').enumerate().map(move |(i, line)| (i + 1, cut(line)))
}

/// The tokens of a line: none for a comment or an empty line.
pub(super) fn tokens(line: &[u8]) -> Result<Vec<Token<'_>>, Remark> {
    let is_blank = |b: &u8| matches!(b, b' ' | b'\t'..=b'\r');
    let from = line.iter().position(|b| !is_blank(b)).unwrap_or(line.len());
    if line[from..].starts_with(b"#") {
        return Ok(Vec::new());
    }
    if let Some(nul) = line.iter().position(|&b| b == 0) {
        return Err(Remark::new(nul + 1, "the line contains a NUL byte", "write it as \\x00"));
    }
    let mut column = from + 1;
    let mut tokens = Vec::new();
    for bytes in line[from..].split(|b| matches!(b, b' ' | b'\t')) {
        if !bytes.is_empty() {
            tokens.push(Token { bytes, column });
        }
        column += bytes.len() + 1;
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_columns() {
        let found = tokens(b" \t ab\tc  # d ").unwrap();
        let plain: Vec<_> = found.iter().map(|t| (t.text(), t.column)).collect();
        let expected = [("ab", 4), ("c", 7), ("#", 10), ("d", 12)];
        assert_eq!(plain, expected.map(|(text, column)| (text.to_string(), column)));
        assert_eq!(tokens(b"  # a\0b"), Ok(Vec::new()));
        assert_eq!(tokens(b"\x0b\x0c "), Ok(Vec::new()));
        assert_eq!(tokens(b"a b\0").unwrap_err().column, 4);
    }

    #[test]
    fn line_ends() {
        let cut = |text: &'static [u8], keep| lines(text, keep).map(|l| l.1).collect::<Vec<_>>();
        assert_eq!(cut(b"a\r\nb\n\nc\r", false), [&b"a"[..], b"b", b"", b"c"]);
        assert_eq!(cut(b"a\rb\r\n\rc\r", true), [&b"a\rb"[..], b"\rc\r"]);
        assert_eq!(cut(b"", false), [&b""[..]; 0]);
    }
}
