//! The table of patterns: a number for each, and the way back to where it came from.

use super::RuleError;
use super::error::Kind;
use fyke_core::pattern::MAX_LEN;
use fyke_core::{PatternId, PatternSet};
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// A pattern as a rule file gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulePattern {
    /// What to look for: 1 to 65,535 bytes.
    pub bytes: Box<[u8]>,
    /// Whether ASCII letters match in either case.
    pub nocase: bool,
    /// Where it stands.
    pub origin: Origin,
}

/// Where a pattern stands, and the rule that it belongs to if the format has rules.
///
/// Printed as `sid 2012345 (web.rules:12)`, or `web.rules:12` for a format without rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// File name, as the parser was told.
    pub file: Arc<str>,
    /// Line of the pattern, from 1.
    pub line: u64,
    /// Column of the pattern in bytes, from 1.
    pub column: u64,
    /// The rule around the pattern; all contents of one rule share it.
    pub rule: Option<Arc<Rule>>,
    /// Whether the rule asks that the pattern be absent (`content:!"..."`). It is searched all the same.
    pub negated: bool,
}

/// What identifies a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// The rule's number, if it has one.
    pub sid: Option<u64>,
    /// The rule's message; empty if it has none.
    pub msg: String,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(rule) = &self.rule else {
            return write!(f, "{}:{}", self.file, self.line);
        };
        match rule.sid {
            Some(sid) => write!(f, "sid {sid} ({}:{}", self.file, self.line)?,
            None => write!(f, "rule ({}:{}", self.file, self.line)?,
        }
        f.write_str(if self.negated { ", negated)" } else { ")" })
    }
}

impl RulePattern {
    /// The bytes as they will be compared, and whether case will be ignored.
    fn as_read(&self, nocase: bool) -> (Cow<'_, [u8]>, bool) {
        let nocase = nocase || self.nocase;
        let bytes =
            if nocase { self.bytes.to_ascii_lowercase().into() } else { Cow::from(&*self.bytes) };
        (bytes, nocase)
    }
}

/// All patterns of a run, numbered from 1 in the order in which they came.
///
/// The running number is the [`PatternId`]; files and single patterns may be added one after the other.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    patterns: Vec<RulePattern>,
}

impl Rules {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds patterns; their numbers go on from the last one.
    pub fn extend(&mut self, patterns: Vec<RulePattern>) {
        if self.patterns.is_empty() {
            self.patterns = patterns;
        } else {
            self.patterns.extend(patterns);
        }
    }

    /// How many patterns there are.
    pub fn len(&self) -> usize {
        self.patterns.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// The pattern of a running number.
    pub fn get(&self, id: PatternId) -> Option<&RulePattern> {
        self.patterns.get((id.0 as usize).checked_sub(1)?)
    }

    /// The set to compile; `nocase` lets every pattern ignore ASCII case, whatever its rule says.
    ///
    /// A pattern of a rule always counts, because its rule has to be told of its matches. A plain line or hex
    /// string that repeats an earlier one has nobody to tell, and is left out: its matches would be printed
    /// twice.
    ///
    /// # Errors
    /// There are too many patterns or bytes for one set; the error names the first pattern too many.
    pub fn pattern_set(&self, nocase: bool) -> Result<PatternSet, RuleError> {
        let mut builder = PatternSet::builder();
        let mut plain = HashSet::new();
        for (i, p) in self.patterns.iter().enumerate() {
            if p.origin.rule.is_none() && !plain.insert(p.as_read(nocase)) {
                continue;
            }
            let id = PatternId(u32::try_from(i + 1).unwrap_or(u32::MAX));
            builder.push_with(id, &p.bytes, nocase || p.nocase).map_err(|e| {
                let at = (p.origin.line, p.origin.column);
                RuleError::new(&p.origin.file, at, Kind::Set(e.to_string()))
            })?;
        }
        Ok(builder.build())
    }
}

/// Checks what every format has to check: a pattern is neither empty nor too long.
pub(super) fn check_len(len: usize, empty: Kind) -> Result<(), Kind> {
    match len {
        0 => Err(empty),
        1..=MAX_LEN => Ok(()),
        _ => Err(Kind::TooLong(len)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{Format, Options, parse};

    fn ids(format: Format, text: &str, nocase: bool) -> Vec<Vec<u32>> {
        let mut rules = Rules::new();
        rules.extend(parse(format, "f", text.as_bytes(), &Options::default()).patterns);
        let set = rules.pattern_set(nocase).unwrap();
        set.iter().map(|p| p.ids.iter().map(|id| id.0).collect()).collect()
    }

    #[test]
    fn a_plain_pattern_given_twice_counts_once() {
        assert_eq!(ids(Format::Lines, "b\na\nb\nB\n", false), [vec![4], vec![2], vec![1]]);
        assert_eq!(ids(Format::Lines, "b\na\nb\nB\n", true), [[2], [1]]);
        assert_eq!(ids(Format::Hex, "6162\n6162\n", false), [[1]]);
    }

    #[test]
    fn every_rule_is_told_of_its_pattern() {
        let rules = "alert tcp any any -> any any (content:\"ab\"; sid:1;)\n\
                     alert tcp any any -> any any (content:\"ab\"; sid:2;)\n";
        assert_eq!(ids(Format::Snort, rules, false), [[1, 2]]);
    }
}
