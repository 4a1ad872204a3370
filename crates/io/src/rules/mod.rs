//! Parsers for pattern files. They return the patterns and where each pattern comes from.
//!
//! Each format has one parser, a function from bytes to [`Parsed`]. A parser does not stop at the
//! first error: it collects a [`RuleError`] for each bad rule and continues with the next rule.
//! The caller decides whether errors are fatal.
//!
//! | format | one pattern is | parser |
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
mod parsed;
mod table;

pub use error::RuleError;
pub use parsed::{Options, Parsed};
pub use table::{Origin, Rule, RulePattern, Rules};

/// Format of a pattern file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// One literal pattern per line.
    #[default]
    Lines,
    /// One pattern per line, in hexadecimal digits.
    Hex,
    /// Snort 2, Snort 3 or Suricata rules; each `content` string is a pattern.
    Snort,
}

/// Parses a pattern file in memory. `file` is the name that origins and errors show.
pub fn parse(format: Format, file: &str, bytes: &[u8], options: &Options) -> Parsed {
    match format {
        Format::Lines => lines::parse(file, bytes),
        Format::Hex => hex::parse(file, bytes),
        Format::Snort => snort::parse(file, bytes, options),
    }
}
