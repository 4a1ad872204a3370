//! Errors in rules: where, what is wrong, and how to correct it.

use std::sync::Arc;
use thiserror::Error;

/// An error in a rule: file, line, column, what is wrong, and how to correct it.
///
/// Displayed as `web.rules:12:34: odd number of hex digits: write each byte as two digits`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}:{line}:{column}: {kind}")]
pub struct RuleError {
    file: Arc<str>,
    line: u64,
    column: u64,
    kind: Kind,
}

impl RuleError {
    pub(super) fn new(file: &Arc<str>, (line, column): (u64, u64), kind: Kind) -> Self {
        Self { file: Arc::clone(file), line, column, kind }
    }

    /// Name of the file, as it was given to the parser.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Line of the error, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Column of the error in bytes, from 1.
    pub fn column(&self) -> u64 {
        self.column
    }
}

/// An error at a byte of a line.
pub(super) type Located = (usize, Kind);

/// What is wrong. Each message says what is wrong, then after a colon how to correct it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum Kind {
    #[error("empty pattern: it would match everywhere, remove the line")]
    EmptyLine,
    #[error("empty content: it would match everywhere, remove it")]
    EmptyContent,
    #[error("the pattern has {0} bytes, the limit is {max} bytes: shorten it", max = fyke_core::pattern::MAX_LEN)]
    TooLong(usize),
    #[error("{} is not a hex digit: use 0-9, a-f, A-F", Shown(*.0))]
    NotHex(u8),
    #[error("odd number of hex digits: write each byte as two digits")]
    OddDigits,
    #[error("the hex bytes that start here are not closed: end them with |")]
    OpenHex,
    #[error("the string that starts here is not closed: end it with \"")]
    OpenString,
    #[error("the rule that starts here is not closed: end it with )")]
    OpenRule,
    #[error("unknown escape \\{shown}: use \\\" \\; \\: or \\\\, or write the byte in hex as |{code:02x}|", shown = Shown(*.0), code = .0)]
    BadEscape(u8),
    #[error("the content is not in quotes: write content:\"...\"")]
    NotQuoted,
    #[error("expected , or ; after the closing quote: write a quote inside a content as \\\"")]
    AfterQuote,
    #[error("nocase before any content: move it after the content that it applies to")]
    StrayNocase,
    #[error("the sid is not a number from 0 to {}: write sid:NUMBER;", u64::MAX)]
    BadSid,
    #[error(
        "{0:?} starts neither a rule nor a directive: start with an action such as alert, or with # for a comment"
    )]
    NotARule(String),
    #[error("{0}: split the patterns into several sets")]
    Set(String),
}

/// A byte in a message: as a character if it is printable, otherwise as its value.
struct Shown(u8);

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            b @ 0x20..=0x7e => write!(f, "{}", char::from(b)),
            b => write!(f, "byte 0x{b:02x}"),
        }
    }
}
