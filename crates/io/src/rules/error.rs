//! What can be wrong with a rule, where, and what to do about it.

use std::sync::Arc;
use thiserror::Error;

/// A rule that cannot be used: file, line, column, what is wrong, what to do.
///
/// Printed as `web.rules:12:34: the hex piece has an odd number of digits: write every byte as two digits`.
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

    /// Name of the file, as the parser was told.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Line of the mistake, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Column of the mistake in bytes, from 1.
    pub fn column(&self) -> u64 {
        self.column
    }
}

/// Every message says what is wrong, a colon, and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum Kind {
    #[error("an empty pattern would match everywhere: remove the line")]
    EmptyLine,
    #[error("an empty content would match everywhere: remove it or write what to look for")]
    EmptyContent,
    #[error("the pattern has {0} bytes, the limit is {max}: shorten it", max = fyke_core::pattern::MAX_LEN)]
    TooLong(usize),
    #[error("{} is not a hexadecimal digit: use 0-9, a-f, A-F", Shown(*.0))]
    NotHex(u8),
    #[error("the hexadecimal string has an odd number of digits: write every byte as two digits")]
    OddLine,
    #[error("the hex piece has an odd number of digits: write every byte as two digits")]
    OddPiece,
    #[error("the hex piece that starts here is not closed: end it with |")]
    OpenPiece,
    #[error("the string that starts here is not closed: end it with \"")]
    OpenString,
    #[error("the rule that starts here is not closed: end it with )")]
    OpenRule,
    #[error("\\{shown} is not an escape: use \\\" \\; \\: or \\\\, or write the byte in hex as |{code:02x}|", shown = Shown(*.0), code = .0)]
    BadEscape(u8),
    #[error("a content has to be in quotes: write content:\"...\"")]
    NotQuoted,
    #[error("expected , or ; after the closing quote: escape a quote inside a content as \\\"")]
    AfterQuote,
    #[error("nocase stands before any content: put it after the content that it belongs to")]
    StrayNocase,
    #[error("the sid is not a number: write sid:NUMBER;")]
    BadSid,
    #[error(
        "{0:?} starts neither a rule nor a known directive: begin with an action such as alert, or comment the line out with #"
    )]
    NotARule(String),
    #[error("{0}: split the pattern file")]
    Set(String),
}

/// A byte in a message: itself if printable, else its code.
struct Shown(u8);

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            b @ 0x20..=0x7e => write!(f, "{}", char::from(b)),
            b => write!(f, "byte 0x{b:02x}"),
        }
    }
}
