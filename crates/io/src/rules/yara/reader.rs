//! Walks through the text of YARA rules: words, space, comments, and what has delimiters.

use super::super::error::{Kind, Located};

/// A position in the text of a file.
pub(super) struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    /// Where each line starts.
    lines: Vec<usize>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        let starts = memchr::memchr_iter(b'\n', text).map(|end| end + 1);
        Self { text, at: 0, lines: std::iter::once(0).chain(starts).collect() }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Goes back to a position.
    pub(super) fn back_to(&mut self, at: usize) {
        debug_assert!(at <= self.at);
        self.at = at;
    }

    /// Line and column of a position, both from 1.
    pub(super) fn position(&self, at: usize) -> (u64, u64) {
        let line = self.lines.partition_point(|&start| start <= at);
        (line as u64, (at - self.lines[line - 1]) as u64 + 1)
    }

    /// The next byte.
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Takes the next byte.
    pub(super) fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// Takes the next byte if it is this one.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    pub(super) fn expect(&mut self, byte: u8, otherwise: &'static str) -> Result<(), Located> {
        if self.take(byte) { Ok(()) } else { Err((self.at, Kind::Expected(otherwise))) }
    }

    fn starts_with(&self, start: &[u8]) -> bool {
        self.text[self.at..].starts_with(start)
    }

    /// Skips spaces, line ends and comments.
    pub(super) fn skip_space(&mut self) -> Result<(), Located> {
        loop {
            if self.starts_with(b"//") {
                self.at = self.end_of_line();
            } else if self.starts_with(b"/*") {
                let close = memchr::memmem::find(&self.text[self.at + 2..], b"*/");
                let close = close.ok_or((self.at, Kind::NotClosed("comment")))?;
                self.at += close + 4;
            } else if self.peek().is_some_and(|b| b.is_ascii_whitespace()) {
                self.at += 1;
            } else {
                return Ok(());
            }
        }
    }

    fn end_of_line(&self) -> usize {
        let rest = &self.text[self.at..];
        self.at + memchr::memchr(b'\n', rest).unwrap_or(rest.len())
    }

    /// The next word after spaces on this line; empty if there is none.
    pub(super) fn word(&mut self) -> &'a [u8] {
        let rest = &self.text[self.at..];
        let rest = &rest[rest.iter().take_while(|b| matches!(b, b' ' | b'\t')).count()..];
        let len = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        if len > 0 {
            self.at = self.text.len() - rest.len() + len;
        }
        let word = &rest[..len];
        // Skips the spaces after the word, but not the end of the line.
        self.at += self.text[self.at..].iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        word
    }

    /// A word that must be there.
    pub(super) fn name(&mut self, otherwise: &'static str) -> Result<String, Located> {
        let at = self.at;
        match self.word() {
            b"" => Err((at, Kind::Expected(otherwise))),
            word => Ok(String::from_utf8_lossy(word).into_owned()),
        }
    }

    /// Skips a string in quotes, after spaces.
    pub(super) fn skip_string(&mut self) -> Result<(), Located> {
        self.skip_space()?;
        let open = self.at;
        self.expect(b'"', "write a name in quotes here")?;
        self.skip_to(b'"', open, Kind::OpenString)
    }

    /// Skips a regular expression whose slash is the next byte, and its flags.
    pub(super) fn skip_regex(&mut self) -> Result<(), Located> {
        let open = self.at;
        self.at += 1;
        self.skip_to(b'/', open, Kind::NotClosed("regular expression"))?;
        while matches!(self.peek(), Some(b'i' | b's')) {
            self.at += 1;
        }
        Ok(())
    }

    /// Skips to the byte after `close` on this line. A backslash escapes the next byte.
    fn skip_to(&mut self, close: u8, open: usize, otherwise: Kind) -> Result<(), Located> {
        loop {
            match self.next() {
                Some(b) if b == close => return Ok(()),
                Some(b'\\') if self.peek().is_some_and(|b| b != b'\n') => self.at += 1,
                Some(b'\n') | None => return Err((open, otherwise)),
                Some(_) => {}
            }
        }
    }

    /// Skips a section without strings to the next section or the closing brace.
    pub(super) fn skip_section(&mut self, open: usize) -> Result<(), Located> {
        loop {
            self.skip_space()?;
            match self.peek() {
                None => return Err((open, Kind::NotClosed("rule"))),
                Some(b'}') => return Ok(()),
                Some(b'"') => self.skip_string()?,
                Some(b'/') => self.skip_regex()?,
                Some(b) if b.is_ascii_alphanumeric() || b == b'_' => {
                    let start = self.at;
                    let word = self.word();
                    let is_section = matches!(word, b"strings" | b"condition" | b"meta");
                    if is_section && self.peek() == Some(b':') {
                        self.at = start;
                        return Ok(());
                    }
                }
                Some(_) => self.at += 1,
            }
        }
    }

    /// Skips to the next line that fulfills a condition, or to the end.
    pub(super) fn skip_to_line(&mut self, is_wanted: fn(&[u8]) -> bool) {
        loop {
            self.at = (self.end_of_line() + 1).min(self.text.len());
            let line = &self.text[self.at..self.end_of_line()];
            if self.at == self.text.len() || is_wanted(line.trim_ascii_start()) {
                return;
            }
        }
    }
}
