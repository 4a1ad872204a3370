//! Errors and warnings in rules: where, what is wrong, and how to correct it.

use fyke_core::pattern::MAX_LEN;
use std::fmt;
use std::sync::Arc;

/// An error or a warning in a rule: file, line, column, what is wrong, and how to correct it.
///
/// Displayed as `web.rules:12:34: odd number of hex digits: write each byte as two digits`.
#[derive(Clone, Debug, PartialEq, Eq)]
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

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.kind)
    }
}

impl std::error::Error for RuleError {}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    EmptyLine,
    EmptyContent,
    TooLong(usize),
    NotHex(u8),
    OddDigits,
    OpenHex,
    OpenString,
    OpenRule,
    BadEscape(u8),
    BadYaraEscape(u8),
    NotQuoted,
    AfterQuote,
    StrayNocase,
    BadSid,
    NotARule(String),
    NoBody,
    AfterRule,
    /// An unknown option and the known one that it resembles.
    UnknownOption(String, &'static str),
    Include,
    /// Number of lines of plain text that are written as rules of this format.
    LooksLike(u64, &'static str),
    NotUtf16,
    /// Unexpected text in a YARA rule, and what should stand there.
    Expected(&'static str),
    NotClosed(&'static str),
    /// A YARA string of a kind that is not searched.
    Skipped(&'static str),
    Set(String),
}

/// Each message says what is wrong, then after a colon how to correct it.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(fixed) = self.fixed() {
            return f.write_str(fixed);
        }
        match self {
            Kind::TooLong(len) => {
                write!(f, "the pattern has {len} bytes, the limit is {MAX_LEN} bytes: shorten it")
            }
            Kind::NotHex(b) => write!(f, "{} is not a hex digit: use 0-9, a-f, A-F", Shown(*b)),
            Kind::BadEscape(b) => {
                write!(f, "unknown escape \\{}: use \\\" \\; \\: or \\\\, ", Shown(*b))?;
                write!(f, "or write the byte in hex as |{b:02x}|")
            }
            Kind::BadYaraEscape(b) => {
                let use_these = "use \\\" \\\\ \\t \\n \\r \\f or \\xNN";
                write!(f, "unknown escape \\{}: {use_these}", Shown(*b))
            }
            Kind::BadSid => {
                let max = u64::MAX;
                write!(f, "the sid is not a number from 0 to {max}: write sid:NUMBER;")
            }
            Kind::NotARule(text) => {
                write!(f, "{text:?} starts neither a rule nor a directive: ")?;
                f.write_str("start with an action such as alert, or with # for a comment")
            }
            Kind::UnknownOption(name, known) => {
                write!(f, "unknown option {name}: did you mean {known}?")
            }
            Kind::LooksLike(lines, format) => {
                let are = if *lines == 1 { "line is" } else { "lines are" };
                write!(f, "from here, {lines} {are} written as {format} rules but searched as ")?;
                write!(f, "plain text: give the file as {format}:FILE, or set its format")
            }
            Kind::Expected(what) => write!(f, "unexpected text: {what}"),
            Kind::NotClosed(what) => write!(f, "the {what} that starts here is not closed: end it"),
            Kind::Skipped(what) => write!(f, "not searched ({what}): this string is skipped"),
            Kind::Set(why) => write!(f, "{why}: split the patterns into several sets"),
            _ => {
                debug_assert!(false, "a message without values is in `fixed`");
                Ok(())
            }
        }
    }
}

impl Kind {
    /// The message, if it contains no values.
    fn fixed(&self) -> Option<&'static str> {
        Some(match self {
            Kind::EmptyLine => "empty pattern: it would match everywhere, remove the line",
            Kind::EmptyContent => "empty content: it would match everywhere, remove it",
            Kind::OddDigits => "odd number of hex digits: write each byte as two digits",
            Kind::OpenHex => "the hex bytes that start here are not closed: end them with |",
            Kind::OpenString => "the string that starts here is not closed: end it with \"",
            Kind::OpenRule => "the rule that starts here is not closed: end it with )",
            Kind::NotQuoted => "the content is not in quotes: write content:\"...\"",
            Kind::AfterQuote => {
                "expected , or ; after the closing quote: write a quote inside a content as \\\""
            }
            Kind::StrayNocase => {
                "nocase before any content: move it after the content that it applies to"
            }
            Kind::NoBody => "the rule has no opening parenthesis: write its options in (...)",
            Kind::AfterRule => {
                "text after the closing parenthesis: end the rule with ), and start the next rule \
                 on a new line"
            }
            Kind::Include => "included files are not read: give each file with its own -f",
            Kind::NotUtf16 => {
                "the file has a UTF-16 byte order mark but is not valid UTF-16: save it as UTF-8"
            }
            _ => return None,
        })
    }
}

/// A byte in a message: as a character if it is printable, otherwise as its value.
struct Shown(u8);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            b @ 0x20..=0x7e => write!(f, "{}", char::from(b)),
            b => write!(f, "byte 0x{b:02x}"),
        }
    }
}
