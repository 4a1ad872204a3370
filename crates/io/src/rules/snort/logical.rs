//! Logical lines: the physical lines of a rule joined into one, with their lines and columns.

use super::super::error::{Kind, Located};
use super::super::lines::numbered;
use super::body::{Body, trim};
use super::line_start::is_rule;
use std::iter::Peekable;

/// The text of a rule, which may be written on several lines.
pub(super) struct LogicalLine {
    pub(super) text: Vec<u8>,
    /// Start of each physical line in `text`, and its number.
    starts: Vec<(usize, u64)>,
}

impl LogicalLine {
    fn new(number: u64, line: &[u8]) -> Self {
        Self { text: line.to_vec(), starts: vec![(0, number)] }
    }

    fn join(&mut self, number: u64, line: &[u8]) {
        self.starts.push((self.text.len(), number));
        self.text.extend_from_slice(line);
    }

    /// Line and column of a position in `text`, both from 1.
    pub(super) fn position(&self, at: usize) -> (u64, u64) {
        let i = self.starts.partition_point(|&(start, _)| start <= at).max(1) - 1;
        let (start, line) = self.starts[i];
        (line, (at - start) as u64 + 1)
    }

    /// The body of the rule; `None` if the rule is a header only.
    pub(super) fn body(&self) -> Result<Option<Body>, Located> {
        let Some(open) = memchr::memchr(b'(', &self.text) else {
            // A header has no such bytes: here the options have no parentheses.
            let option = self.text.iter().position(|b| b";\")".contains(b));
            return option.map_or(Ok(None), |at| Err((at, Kind::NoBody)));
        };
        let body = Body::scan(&self.text, open + 1);
        match (body.open_string, body.close) {
            (Some(at), _) => Err((at, Kind::OpenString)),
            (None, None) => Err((open, Kind::OpenRule)),
            (None, Some(close)) => match trim(&self.text, close + 1..self.text.len()) {
                rest if rest.is_empty() => Ok(Some(body)),
                rest => Err((rest.start, Kind::AfterRule)),
            },
        }
    }

    /// Whether the rule continues on the next line: its parenthesis is open, or text follows the
    /// last closing parenthesis.
    fn is_open(&self) -> bool {
        let Some(open) = memchr::memchr(b'(', &self.text) else { return false };
        let body = Body::scan(&self.text, open + 1);
        match body.close {
            _ if body.open_string.is_some() => false, // a string ends on its line
            Some(close) => !self.text[close + 1..].trim_ascii().is_empty(),
            None => true,
        }
    }
}

fn starts_rule(line: &[u8]) -> bool {
    is_rule(line) && line.contains(&b'(')
}

type Numbered<'a> = Box<dyn Iterator<Item = (u64, &'a [u8])> + 'a>;

/// Iterator over the logical lines of a file.
pub(super) struct LogicalLines<'a> {
    lines: Peekable<Numbered<'a>>,
}

impl<'a> LogicalLines<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let lines: Numbered<'a> = Box::new(numbered(bytes));
        Self { lines: lines.peekable() }
    }

    /// Joins lines as long as they end with a backslash.
    fn join_continued(&mut self, line: &mut LogicalLine) {
        while line.text.last() == Some(&b'\\') {
            line.text.pop();
            let Some((number, next)) = self.lines.next() else { return };
            line.join(number, next);
        }
    }

    /// Joins lines until the parenthesis of the rule is closed or another rule starts.
    fn join_open(&mut self, line: &mut LogicalLine) {
        loop {
            let (has_body, open) = (line.text.contains(&b'('), line.is_open());
            let continues =
                |l: &[u8]| if has_body { open && !starts_rule(l) } else { l.starts_with(b"(") };
            let Some((number, next)) = self.lines.next_if(|(_, l)| continues(l.trim_ascii_start()))
            else {
                return;
            };
            line.join(number, next);
            self.join_continued(line);
        }
    }
}

impl Iterator for LogicalLines<'_> {
    type Item = LogicalLine;

    fn next(&mut self) -> Option<LogicalLine> {
        let (number, first) = self.lines.next()?;
        let mut line = LogicalLine::new(number, first);
        self.join_continued(&mut line);
        if is_rule(line.text.trim_ascii_start()) {
            self.join_open(&mut line);
        }
        Some(line)
    }
}
