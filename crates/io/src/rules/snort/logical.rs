//! Logical lines: physical lines joined where a rule goes over several, with the way back to line and column.

use super::super::error::Kind;
use super::super::lines::numbered;
use super::body::Body;
use super::{Located, is_rule};
use std::iter::Peekable;

/// The text of a rule, however many lines it was written on.
pub(super) struct LogicalLine {
    pub(super) text: Vec<u8>,
    /// Where each physical line starts in `text`, and its number.
    marks: Vec<(usize, u64)>,
}

impl LogicalLine {
    fn new(number: u64, line: &[u8]) -> Self {
        Self { text: line.to_vec(), marks: vec![(0, number)] }
    }

    fn join(&mut self, number: u64, line: &[u8]) {
        self.marks.push((self.text.len(), number));
        self.text.extend_from_slice(line);
    }

    /// Line and column in the file, both from 1, of a position in the text.
    pub(super) fn position(&self, at: usize) -> (u64, u64) {
        let i = self.marks.partition_point(|&(start, _)| start <= at).max(1) - 1;
        let (start, line) = self.marks[i];
        (line, (at - start) as u64 + 1)
    }

    /// The body of the rule; `None` if there is none to begin with.
    pub(super) fn body(&self) -> Result<Option<Body>, Located> {
        let Some(open) = memchr::memchr(b'(', &self.text) else { return Ok(None) };
        let body = Body::scan(&self.text, open + 1);
        match (body.open_string, body.close) {
            (Some(at), _) => Err((at, Kind::OpenString)),
            (None, None) => Err((open, Kind::OpenRule)),
            (None, Some(_)) => Ok(Some(body)),
        }
    }

    /// Whether the rule needs the next line: its parenthesis is open, or text follows what looked like its end.
    fn is_open(&self) -> bool {
        let Some(open) = memchr::memchr(b'(', &self.text) else { return false };
        let body = Body::scan(&self.text, open + 1);
        match body.close {
            _ if body.open_string.is_some() => false, // strings do not go over lines
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

    /// Joins lines for as long as each ends in a backslash.
    fn join_continued(&mut self, line: &mut LogicalLine) {
        while line.text.last() == Some(&b'\\') {
            line.text.pop();
            let Some((number, next)) = self.lines.next() else { return };
            line.join(number, next);
        }
    }

    /// Joins lines for as long as the parenthesis of a rule is open and no other rule starts.
    fn join_open(&mut self, line: &mut LogicalLine) {
        loop {
            let (has_body, open) = (line.text.contains(&b'('), line.is_open());
            let goes_on =
                |l: &[u8]| if has_body { open && !starts_rule(l) } else { l.starts_with(b"(") };
            let Some((number, next)) = self.lines.next_if(|(_, l)| goes_on(l.trim_ascii_start()))
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
