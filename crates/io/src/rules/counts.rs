//! Counts of what was read from rules, so that nothing is lost silently.

use std::collections::BTreeMap;
use std::fmt;

/// Counts of what was read from files of rules, and of what was not.
///
/// ```
/// use fyke_io::rules::{Format, Options, parse};
/// let file = br#"alert ip any any -> any any (content:"a"; content:!"b"; sid:1;)
/// alert icmp any any -> any any (itype:8; sid:2;)"#;
/// let counts = parse(Format::Snort, "my.rules", file, &Options::default()).counts;
/// assert_eq!((counts.rules, counts.without_content), (2, 1));
/// assert_eq!((counts.contents, counts.negated), (2, 1));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Rules read, without bad ones.
    pub rules: u64,
    /// Rules that have nothing to search for.
    pub without_content: u64,
    /// Contents of rules, or YARA strings; a string that is both wide and ascii counts twice.
    pub contents: u64,
    /// Contents that must be absent.
    pub negated: u64,
    /// Contents that belong to a decoded buffer, so that they may not be in the bytes themselves.
    pub decoded: u64,
    /// YARA strings that are `fullword`.
    pub fullword: u64,
    /// Options of rules that are not known.
    pub unknown_options: u64,
    /// What was not read, by reason.
    pub skipped: BTreeMap<&'static str, u64>,
}

impl Counts {
    /// Adds the counts of another file.
    pub fn add(&mut self, other: &Counts) {
        self.rules += other.rules;
        self.without_content += other.without_content;
        self.contents += other.contents;
        self.negated += other.negated;
        self.decoded += other.decoded;
        self.fullword += other.fullword;
        self.unknown_options += other.unknown_options;
        for (reason, count) in &other.skipped {
            *self.skipped.entry(reason).or_default() += count;
        }
    }

    /// Counts one thing that is not read.
    pub(super) fn skip(&mut self, reason: &'static str) {
        *self.skipped.entry(reason).or_default() += 1;
    }

    /// Whether nothing was counted: no rule was read, and none was skipped.
    pub fn is_empty(&self) -> bool {
        self.rules == 0 && self.skipped.is_empty()
    }

    /// The counts as `name value` pairs: the first four always, others only if they are not 0.
    pub fn lines(&self) -> Vec<(String, u64)> {
        let named = |name: &str, count: u64| (name.to_owned(), count);
        let mut lines = vec![
            named("rules", self.rules),
            named("rules-without-content", self.without_content),
            named("contents", self.contents),
            named("negated", self.negated),
        ];
        let more = [
            ("decoded-buffer", self.decoded),
            ("fullword", self.fullword),
            ("unknown-options", self.unknown_options),
        ];
        lines.extend(more.iter().filter(|(_, n)| *n > 0).map(|(name, n)| named(name, *n)));
        lines.extend(
            self.skipped
                .iter()
                .map(|(reason, n)| (format!("skipped-{}", reason.replace(' ', "-")), *n)),
        );
        lines
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rules, contents) = (self.rules, self.contents);
        write!(f, "{rules} rules, {} without content; {contents} contents", self.without_content)?;
        for (n, what) in [
            (self.negated, "negated"),
            (self.decoded, "in decoded buffers"),
            (self.fullword, "fullword"),
        ] {
            if n > 0 {
                write!(f, ", {n} {what}")?;
            }
        }
        if self.unknown_options > 0 {
            write!(f, "; {} unknown options", self.unknown_options)?;
        }
        for (reason, n) in &self.skipped {
            write!(f, "; skipped {n} ({reason})")?;
        }
        Ok(())
    }
}
