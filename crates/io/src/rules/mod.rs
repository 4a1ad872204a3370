//! Pattern files: bytes and a file name in, patterns with their origin out.
//!
//! Each format has one parser, a function from bytes to [`Parsed`]. Parsers do not stop at the first
//! mistake: they collect a [`RuleError`] for each bad rule (file, line, column, what is wrong, what
//! to do) and go on with the next one. The caller decides whether errors are fatal.
//!
//! | format | one pattern is | see |
//! |---|---|---|
//! | [`Format::Lines`] | a line of text, taken literally | [`lines`] |
//! | [`Format::Hex`] | a line of hexadecimal digits | [`hex`] |
//! | [`Format::Snort`] | a `content` string of a Snort or Suricata rule | [`snort`] |
//!
//! ```
//! use fyke_io::rules::{self, Format, Options, Rules};
//!
//! let file = br#"alert tcp any any -> any 80 (msg:"demo"; content:"GET |2f|"; nocase; sid:7;)"#;
//! let parsed = rules::parse(Format::Snort, "web.rules", file, &Options::default());
//! assert!(parsed.errors.is_empty());
//!
//! let rules: Rules = parsed.patterns;
//! let set = rules.pattern_set(false)?;
//! let id = set.ids(0)[0];
//! assert_eq!(set.bytes(0), b"get /");
//! assert_eq!(rules.get(id).unwrap().origin.to_string(), "sid 7 (web.rules:1)");
//! # Ok::<(), fyke_io::rules::RuleError>(())
//! ```

pub mod hex;
pub mod lines;
pub mod snort;

mod error;
mod table;

pub use error::RuleError;
pub use table::{Origin, Rule, RulePattern, Rules};

/// How a pattern file is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// One literal pattern a line.
    #[default]
    Lines,
    /// One pattern a line, in hexadecimal digits.
    Hex,
    /// Snort 2, Snort 3 or Suricata rules: every `content` string.
    Snort,
}

/// What to take from a pattern file. The default takes what is in force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Also take the rules that are commented out (`# alert ...`). Only for [`Format::Snort`].
    pub commented: bool,
}

/// What a parser made of a file.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// The patterns of all good rules, in file order.
    pub patterns: Rules,
    /// One error for each bad rule, in file order. A bad rule gives no pattern at all.
    pub errors: Vec<RuleError>,
}

/// Reads a pattern file that lies in memory; `file` is the name that origins and errors carry.
pub fn parse(format: Format, file: &str, bytes: &[u8], options: &Options) -> Parsed {
    match format {
        Format::Lines => lines::parse(file, bytes),
        Format::Hex => hex::parse(file, bytes),
        Format::Snort => snort::parse(file, bytes, options),
    }
}
