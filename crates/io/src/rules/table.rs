//! The table of patterns: a number for each pattern, and where the pattern comes from.
//!
//! Sets have up to millions of patterns, so the table is compact. All bytes are in one buffer, and
//! an origin is stored for a run of patterns instead of for each. In a file of plain lines, line
//! and number advance together, so the whole file is one run.

use super::error::{Kind, RuleError};
use fyke_core::pattern::MAX_LEN;
use fyke_core::{PatternId, PatternSet};
use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A pattern of a pattern file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RulePattern<'a> {
    /// The bytes to search for: 1 to 65,535.
    pub bytes: &'a [u8],
    /// Whether ASCII letters match in either case.
    pub nocase: bool,
    /// Where the pattern comes from.
    pub origin: Origin<'a>,
}

/// Where a pattern comes from, and the rule that it belongs to if the format has rules.
///
/// Displayed as `sid 2012345 (web.rules:12)`, as `Trojan $a (bad.yar:7)`, or as `web.rules:12` for
/// a format without rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin<'a> {
    /// Name of the file, as it was given to the parser.
    pub file: &'a Arc<str>,
    /// Line of the pattern, from 1.
    pub line: u64,
    /// Column of the pattern in bytes, from 1.
    pub column: u64,
    /// The rule that contains the pattern. All contents of a Snort rule share one value; each YARA
    /// string has one of its own.
    pub rule: Option<&'a Arc<Rule>>,
    /// Whether the rule requires that the pattern is absent (`content:!"..."`). Scans report it
    /// like any other pattern.
    pub negated: bool,
    /// More about the pattern, such as the decoded buffer that its rule looks in.
    pub remark: Option<Remark>,
}

impl<'a> Origin<'a> {
    /// The origin of a pattern that belongs to no rule.
    pub(super) fn plain(file: &'a Arc<str>, line: u64, column: u64) -> Self {
        Self { file, line, column, rule: None, negated: false, remark: None }
    }
}

/// What a match of a pattern does not say by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remark {
    /// The rule looks for the content in a buffer that it decodes first, named by its option: the
    /// bytes as they are may not contain the content.
    Decoded(&'static str),
    /// A YARA string with a zero after each byte.
    Wide,
    /// A YARA string that matches only between bytes that are no ASCII letters or digits.
    Fullword,
    /// Both. A letter or digit beside a match counts only if a zero follows it.
    WideFullword,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Remark::Decoded(buffer) => write!(f, "decoded by {buffer}"),
            Remark::Wide => f.write_str("wide"),
            Remark::Fullword => f.write_str("fullword"),
            Remark::WideFullword => f.write_str("wide, fullword"),
        }
    }
}

/// The identity of a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// The rule's number, if it has one.
    pub sid: Option<u64>,
    /// The rule's message; empty if it has none.
    pub msg: String,
    /// The name of a YARA rule and the identifier of the string, as `Trojan $a`.
    pub name: Option<String>,
}

impl fmt::Display for Origin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(rule) = &self.rule else {
            return write!(f, "{}:{}", self.file, self.line);
        };
        match (rule.sid, &rule.name) {
            (Some(sid), _) => write!(f, "sid {sid}")?,
            (None, Some(name)) => f.write_str(name)?,
            (None, None) => f.write_str("rule")?,
        }
        write!(f, " ({}:{}", self.file, self.line)?;
        if self.negated {
            f.write_str(", negated")?;
        }
        self.remark.iter().try_for_each(|remark| write!(f, ", {remark}"))?;
        f.write_str(")")
    }
}

/// The patterns of one or more files, numbered from 1 in the order in which they were added.
///
/// The number of a pattern is its [`PatternId`].
#[derive(Clone, Debug, Default)]
pub struct Rules {
    pub(super) bytes: Vec<u8>,
    /// Where each pattern ends in `bytes`.
    pub(super) ends: Vec<usize>,
    pub(super) runs: Vec<Run>,
    /// Indexes of patterns that their rule contains already, ascending, each with the index of the
    /// first.
    pub(super) repeats_in_rule: Vec<(usize, usize)>,
    pub(super) repeats: OnceLock<Repeats>,
}

/// The patterns that a set leaves out because an earlier one is equal, by the number of the earlier
/// one.
pub(super) type Repeats = HashMap<u32, Vec<PatternId>>;

/// Consecutive patterns on consecutive lines that differ only in their bytes.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// Index of the first pattern.
    pub(super) first: usize,
    pub(super) file: Arc<str>,
    pub(super) line: u64,
    pub(super) column: u64,
    pub(super) rule: Option<Arc<Rule>>,
    pub(super) negated: bool,
    pub(super) remark: Option<Remark>,
    pub(super) nocase: bool,
}

impl Run {
    /// Whether the next pattern, at `index`, continues this run.
    fn continues(&self, index: usize, nocase: bool, origin: &Origin<'_>) -> bool {
        // Compares addresses and not text: it is cheap, and at worst there is one more run.
        let same_rule = match (&self.rule, origin.rule) {
            (None, None) => true,
            (Some(mine), Some(other)) => Arc::ptr_eq(mine, other),
            _ => false,
        };
        self.line + (index - self.first) as u64 == origin.line
            && (self.column, self.nocase) == (origin.column, nocase)
            && (self.negated, self.remark) == (origin.negated, origin.remark)
            && same_rule
            && Arc::ptr_eq(&self.file, origin.file)
    }

    fn origin(&self, index: usize) -> Origin<'_> {
        Origin {
            file: &self.file,
            line: self.line + (index - self.first) as u64,
            column: self.column,
            rule: self.rule.as_ref(),
            negated: self.negated,
            remark: self.remark,
        }
    }
}

impl Rules {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a pattern under the next number.
    pub(super) fn push(&mut self, bytes: &[u8], nocase: bool, origin: &Origin<'_>) {
        let index = self.len();
        if self.runs.last().is_none_or(|run| !run.continues(index, nocase, origin)) {
            self.runs.push(Run {
                first: index,
                file: Arc::clone(origin.file),
                line: origin.line,
                column: origin.column,
                rule: origin.rule.cloned(),
                negated: origin.negated,
                remark: origin.remark,
                nocase,
            });
        }
        self.bytes.extend_from_slice(bytes);
        self.ends.push(self.bytes.len());
    }

    /// Adds a pattern that its rule contains already, at index `first`.
    pub(super) fn push_repeat(&mut self, first: usize, origin: &Origin<'_>) {
        let (index, pattern) = (self.len(), self.pattern_at(first));
        let (bytes, nocase) = (pattern.bytes.to_vec(), pattern.nocase);
        self.push(&bytes, nocase, origin);
        self.repeats_in_rule.push((index, first));
    }

    /// Reserves room for more patterns and their bytes.
    pub(super) fn reserve(&mut self, patterns: usize, bytes: usize) {
        self.ends.reserve(patterns);
        self.bytes.reserve(bytes);
    }

    /// Adds patterns. Their numbers continue after the last one.
    pub fn extend(&mut self, other: Rules) {
        if self.is_empty() {
            *self = other;
            return;
        }
        let (patterns, bytes) = (self.len(), self.bytes.len());
        self.bytes.extend_from_slice(&other.bytes);
        self.ends.extend(other.ends.iter().map(|end| bytes + end));
        let runs = other.runs.into_iter();
        self.runs.extend(runs.map(|run| Run { first: patterns + run.first, ..run }));
        let repeats = other.repeats_in_rule.into_iter();
        self.repeats_in_rule.extend(repeats.map(|(i, first)| (patterns + i, patterns + first)));
        self.repeats = OnceLock::new();
    }

    /// Number of patterns.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no patterns.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The pattern with a number.
    pub fn get(&self, id: PatternId) -> Option<RulePattern<'_>> {
        let index = (id.0 as usize).checked_sub(1).filter(|&index| index < self.len())?;
        Some(self.pattern_at(index))
    }

    /// Whether a pattern asks for something around its matches, as `fullword` does. The feature
    /// `sink` has the filter that checks it, `sink::Boundaries`.
    pub fn have_boundaries(&self) -> bool {
        let fullword = [Some(Remark::Fullword), Some(Remark::WideFullword)];
        self.runs.iter().any(|run| fullword.contains(&run.remark))
    }

    fn pattern_at(&self, index: usize) -> RulePattern<'_> {
        let run = self.runs.partition_point(|run| run.first <= index) - 1;
        self.pattern(index, &self.runs[run])
    }

    /// All patterns in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = RulePattern<'_>> {
        let ends = self.runs.iter().skip(1).map(|run| run.first).chain([self.len()]);
        let runs = self.runs.iter().zip(ends);
        runs.flat_map(|(run, end)| (run.first..end).map(|index| self.pattern(index, run)))
    }

    fn pattern<'a>(&'a self, index: usize, run: &'a Run) -> RulePattern<'a> {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        let bytes = &self.bytes[start..self.ends[index]];
        RulePattern { bytes, nocase: run.nocase, origin: run.origin(index) }
    }

    /// Builds the set to compile. With `nocase` every pattern ignores ASCII case, whatever its
    /// rule says.
    ///
    /// Equal patterns of different rules are all in the set, because matches are reported for each
    /// rule. A plain line or hex string that repeats an earlier one, and a content that its rule
    /// repeats, are left out, so that their matches are not printed twice:
    /// [`repeats`](Self::repeats) has their numbers.
    ///
    /// # Errors
    /// If there are too many patterns or bytes for one set; the error names the first that is
    /// too many.
    pub fn pattern_set(&self, nocase: bool) -> Result<PatternSet, RuleError> {
        let mut builder = PatternSet::builder();
        builder.reserve(self.len(), self.bytes.len());
        let mut repeats_in_rule = self.repeats_in_rule.iter().map(|repeat| repeat.0).peekable();
        // Internal iteration: it compiles to a loop over runs with an inner loop over patterns.
        self.iter().enumerate().try_for_each(|(i, p)| {
            let id = id_of(i);
            let nocase = nocase || p.nocase;
            let pushed = match p.origin.rule {
                Some(_) if repeats_in_rule.next_if_eq(&i).is_some() => return Ok(()),
                Some(_) => builder.push_with(id, p.bytes, nocase),
                None => builder.push_unrepeated(id, p.bytes, nocase),
            };
            pushed.map(|_| ()).map_err(|e| {
                let at = (p.origin.line, p.origin.column);
                RuleError::new(p.origin.file, at, Kind::Set(e.to_string()))
            })
        })?;
        let set = builder.build();
        if set.id_count() < self.len() {
            let _ = self.repeats.set(self.find_repeats(nocase));
        }
        Ok(set)
    }

    /// The numbers of the patterns that the set of [`pattern_set`](Self::pattern_set) leaves out
    /// because they repeat this one.
    pub fn repeats(&self, id: PatternId) -> &[PatternId] {
        self.repeats.get().and_then(|repeats| repeats.get(&id.0)).map_or(&[], Vec::as_slice)
    }

    fn find_repeats(&self, nocase: bool) -> Repeats {
        let mut repeats = Repeats::new();
        for &(index, first) in &self.repeats_in_rule {
            repeats.entry(id_of(first).0).or_default().push(id_of(index));
        }
        let mut first_of = HashMap::new();
        for (i, p) in self.iter().enumerate().filter(|(_, p)| p.origin.rule.is_none()) {
            let bytes =
                if nocase { p.bytes.to_ascii_lowercase().into() } else { Cow::from(p.bytes) };
            match first_of.entry(bytes) {
                Entry::Vacant(place) => _ = place.insert(id_of(i)),
                Entry::Occupied(first) => {
                    repeats.entry(first.get().0).or_default().push(id_of(i));
                }
            }
        }
        repeats
    }
}

/// The number of the pattern at an index.
fn id_of(index: usize) -> PatternId {
    PatternId(u32::try_from(index + 1).unwrap_or(u32::MAX))
}

/// Checks that a pattern is neither empty nor too long. Every format calls it.
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
    fn a_repeated_plain_pattern_is_kept_once() {
        assert_eq!(ids(Format::Lines, "b\na\nb\nB\n", false), [vec![4], vec![2], vec![1]]);
        assert_eq!(ids(Format::Lines, "b\na\nb\nB\n", true), [[2], [1]]);
        assert_eq!(ids(Format::Hex, "6162\n6162\n", false), [[1]]);
    }

    #[test]
    fn a_repeat_keeps_its_number_and_file() {
        let mut rules = Rules::new();
        for (file, text) in [("f", "b\na\nb\nB\n"), ("g", "a\nx\nb\n")] {
            rules.extend(parse(Format::Lines, file, text.as_bytes(), &Options::default()).patterns);
        }
        let repeats = |rules: &Rules, id| -> Vec<String> {
            let shown = |id: &PatternId| rules.get(*id).unwrap().origin.to_string();
            rules.repeats(PatternId(id)).iter().map(shown).collect()
        };
        let folded = rules.clone();
        assert_eq!(rules.pattern_set(false).unwrap().id_count(), 4);
        assert_eq!(repeats(&rules, 1), ["f:3", "g:3"]);
        assert_eq!(repeats(&rules, 2), ["g:1"]);
        assert!(repeats(&rules, 4).is_empty());
        assert_eq!(folded.pattern_set(true).unwrap().id_count(), 3);
        assert_eq!(repeats(&folded, 1), ["f:3", "f:4", "g:3"]);
    }

    #[test]
    fn a_content_and_its_negation_are_both_in_the_set() {
        let rule =
            "alert ip any any -> any any (content:\"a\"; content:!\"a\"; content:\"a\"; sid:1;)";
        assert_eq!(ids(Format::Snort, rule, false), [[1, 2]]);
        let rules = parse(Format::Snort, "f", rule.as_bytes(), &Options::default()).patterns;
        let _ = rules.pattern_set(false).unwrap();
        assert_eq!((rules.len(), rules.repeats(PatternId(1))), (3, &[PatternId(3)][..]));
    }

    #[test]
    fn every_number_gives_its_pattern() {
        let mut rules = Rules::new();
        let rule = "alert ip any any -> any any (content:\"ef\"; content:!\"g\"; sid:1;)";
        for (format, file, text) in [
            (Format::Lines, "l", "ab\ncd\n\nx"),
            (Format::Hex, "h", "61\n62\n# no\n63\n 64\n"),
            (Format::Snort, "s", rule),
        ] {
            rules.extend(parse(format, file, text.as_bytes(), &Options::default()).patterns);
        }
        let shown = |p: RulePattern<'_>| {
            format!("{} {}:{}", p.bytes.escape_ascii(), p.origin, p.origin.column)
        };
        let wanted = [
            "ab l:1:1",
            "cd l:2:1",
            "x l:4:1",
            "a h:1:1",
            "b h:2:1",
            "c h:4:1",
            "d h:5:2",
            "ef sid 1 (s:1):38",
            "g sid 1 (s:1, negated):53",
        ];
        assert!(
            rules.iter().map(shown).eq(wanted),
            "{:?}",
            rules.iter().map(shown).collect::<Vec<_>>()
        );
        let by_number = (1..=rules.len() as u32).map(|i| shown(rules.get(PatternId(i)).unwrap()));
        assert!(by_number.eq(wanted));
        assert!(rules.get(PatternId(0)).is_none() && rules.get(PatternId(10)).is_none());
    }

    #[test]
    fn a_pattern_of_two_rules_has_two_ids() {
        let rules = "alert tcp any any -> any any (content:\"ab\"; sid:1;)\n\
                     alert tcp any any -> any any (content:\"ab\"; sid:2;)\n";
        assert_eq!(ids(Format::Snort, rules, false), [[1, 2]]);
    }
}
