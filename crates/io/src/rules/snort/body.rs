//! Splits the body of a rule, between its parentheses, into options.
//!
//! An option ends with a semicolon, the body with the last parenthesis; neither counts inside a
//! string or after a backslash. A quote opens a string only at the start of a value (`key:"` or
//! `key:!"`): published rules have stray quotes elsewhere, as in `pcre:/x/Vi";`, and Snort
//! accepts them.

use std::ops::Range;

/// The text after the opening parenthesis of a rule.
pub(super) struct Body {
    /// Positions of the semicolons that end an option.
    ends: Vec<usize>,
    /// The first position of the body.
    start: usize,
    /// The last parenthesis outside strings.
    pub(super) close: Option<usize>,
    /// Where an unclosed string starts.
    pub(super) open_string: Option<usize>,
}

/// State of the scan inside an option.
#[derive(Clone, Copy, PartialEq)]
enum At {
    Key,
    /// After the colon, with only spaces and `!` so far.
    ValueStart,
    Value,
    /// Inside the string whose opening quote is at this position.
    String(usize),
}

impl Body {
    /// Scans `text` from the position after the opening parenthesis.
    pub(super) fn scan(text: &[u8], start: usize) -> Body {
        let mut body = Body { ends: Vec::new(), start, close: None, open_string: None };
        let (mut state, mut at) = (At::Key, start);
        while at < text.len() {
            state = body.step(state, at, text[at]);
            at += if text[at] == b'\\' { 2 } else { 1 };
        }
        if let At::String(open) = state {
            body.open_string = Some(open);
        }
        body
    }

    fn step(&mut self, state: At, at: usize, byte: u8) -> At {
        match (state, byte) {
            (At::String(_), b'"') => At::Value,
            (At::String(_), _) => state,
            (At::ValueStart, b'"') => At::String(at),
            (At::Key, b':') => At::ValueStart,
            (_, b';') => {
                self.ends.push(at);
                At::Key
            }
            (_, b')') => {
                self.close = Some(at);
                state
            }
            (At::ValueStart, b'!' | b' ' | b'\t') => At::ValueStart,
            (At::ValueStart, _) => At::Value,
            _ => state,
        }
    }

    /// The options up to the closing parenthesis, without surrounding spaces.
    pub(super) fn options(&self, text: &[u8]) -> Vec<Range<usize>> {
        let close = self.close.unwrap_or(text.len());
        let ends = self.ends.iter().copied().filter(|&end| end < close).chain([close]);
        let mut start = self.start;
        let mut option = |end| trim(text, std::mem::replace(&mut start, end + 1)..end);
        ends.map(&mut option).filter(|o| !o.is_empty()).collect()
    }
}

/// A range without the spaces at its ends.
pub(super) fn trim(text: &[u8], range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let start = range.start + (part.len() - part.trim_ascii_start().len());
    start..start + part.trim_ascii().len()
}
