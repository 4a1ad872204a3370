//! Parsers for pattern files. They return the patterns and where each pattern comes from.
//!
//! Each format has one parser, a function from bytes to [`Parsed`]. A parser does not stop at the
//! first error: it collects a [`RuleError`] for each bad rule and continues with the next rule.
//! The caller decides whether errors are fatal. What was read but may be a mistake is a warning,
//! and [`Counts`] says how much was read and how much was not.
//!
//! | format | one pattern is | parser |
//! |---|---|---|
//! | [`Format::Lines`] | a line of text, taken literally | [`lines`] |
//! | [`Format::Hex`] | a line of hexadecimal digits | [`hex`] |
//! | [`Format::Snort`] | a `content` string of a Snort or Suricata rule | [`snort`] |
//! | [`Format::Yara`] | a string of a YARA rule, without regular expressions | [`yara`] |
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
pub mod yara;

mod counts;
mod encoding;
mod error;
mod parsed;
mod stored;
mod table;

pub use counts::Counts;
pub use error::RuleError;
pub use parsed::{Options, Parsed};
pub use table::{Origin, Remark, Rule, RulePattern, Rules};

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
    /// YARA rules; each text string and each hex string without wildcards is a pattern.
    Yara,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 4] = [Format::Lines, Format::Hex, Format::Snort, Format::Yara];

    /// The name on the command line and in Python: `"snort"`.
    pub fn name(self) -> &'static str {
        match self {
            Format::Lines => "lines",
            Format::Hex => "hex",
            Format::Snort => "snort",
            Format::Yara => "yara",
        }
    }

    /// The format of this name.
    pub fn named(name: &str) -> Option<Format> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}

/// Parses a pattern file in memory. `file` is the name that origins and errors show.
///
/// A byte order mark at the start says how the file is encoded: a file in UTF-16 is converted to
/// UTF-8, which lines and columns then refer to.
pub fn parse(format: Format, file: &str, bytes: &[u8], options: &Options) -> Parsed {
    let text = if options.keep_bom { Some(bytes.into()) } else { encoding::decode(bytes) };
    let Some(text) = text else {
        let error = RuleError::new(&file.into(), (1, 1), error::Kind::NotUtf16);
        return Parsed { errors: vec![error], ..Parsed::default() };
    };
    match format {
        Format::Lines => lines::parse(file, &text),
        Format::Hex => hex::parse(file, &text),
        Format::Snort => snort::parse(file, &text, options),
        Format::Yara => yara::parse(file, &text),
    }
}
