//! Rules of Snort 2, Snort 3 and Suricata: every `content` string, with its `nocase` flag.
//!
//! ```text
//! alert tcp any any -> any 80 (msg:"demo"; content:"GET |2f|admin"; nocase; content:!"x",nocase; sid:7;)
//! ```
//!
//! What is taken and what is not:
//! * `content` and Snort 2's `uricontent`, **negated ones too**: a search says where strings are, and
//!   [`Origin::negated`](super::Origin::negated) says that the rule wants this one absent;
//! * `nocase` as an option of its own after the content, or inside it after a comma (Snort 3);
//! * all other modifiers (`offset`, `within`, `fast_pattern`, `http_uri` ...) are read over: where in a
//!   packet a content has to be is the business of the rule's evaluation, which comes after the search;
//! * a content that a rule repeats with the same flag counts once for that rule;
//! * rules that are commented out are skipped unless [`Options::commented`](super::Options::commented),
//!   and mistakes in those are never reported, since prose may look like a rule;
//! * directives of configuration files (`var`, `include`, `config` ...) are skipped; any other line that
//!   is not a rule is an error, so that nothing is lost in silence.
//!
//! Escapes in a content are `\"`, `\\`, `\;`, `\:`; pieces between bars are hexadecimal bytes.
//! A rule may go over several lines if each ends in a backslash, or, as in Snort 3, if its
//! parenthesis is still open.

mod body;
mod content;
mod logical;
mod option;

use super::error::Kind;
use super::{Options, Origin, Parsed, Rule, RuleError, Rules};
use logical::{LogicalLine, LogicalLines};
use option::{Content, RuleOption};
use std::sync::Arc;

/// A mistake at a position of a logical line.
type Located = (usize, Kind);

/// Words that start a rule.
const ACTIONS: [&str; 10] =
    ["alert", "drop", "pass", "log", "reject", "activate", "dynamic", "sdrop", "rewrite", "block"];

/// Words that start a line of configuration, which rule files may hold and which has no contents.
const DIRECTIVES: [&str; 17] = [
    "var",
    "ipvar",
    "portvar",
    "include",
    "config",
    "preprocessor",
    "output",
    "ruletype",
    "threshold",
    "event_filter",
    "rate_limit",
    "suppress",
    "file",
    "dynamicpreprocessor",
    "dynamicengine",
    "dynamicdetection",
    "attribute_table",
];

/// Reads a file of rules.
///
/// ```
/// use fyke_io::rules::{snort, Options};
/// let file = br#"alert tcp any any -> any any (content:"a|62 63|"; nocase; sid:1;)
/// alert tcp any any -> any any (content:"a|6|"; sid:2;)"#;
/// let parsed = snort::parse("my.rules", file, &Options::default());
/// let first = parsed.patterns.iter().next().unwrap();
/// assert_eq!((first.bytes, first.nocase), (&b"abc"[..], true));
/// assert!(parsed.errors[0].to_string().starts_with("my.rules:2:42: the hex piece has an odd number"));
/// ```
pub fn parse(file: &str, bytes: &[u8], options: &Options) -> Parsed {
    let file: Arc<str> = Arc::from(file);
    let mut parsed = Parsed::default();
    for line in LogicalLines::new(bytes) {
        match found_in(&line, options) {
            Ok(Some(found)) => found.push(&file, &line, &mut parsed.patterns),
            Ok(None) => {}
            Err((at, kind)) => parsed.errors.push(RuleError::new(&file, line.position(at), kind)),
        }
    }
    parsed
}

/// A rule and its contents.
#[derive(Default)]
struct Found {
    rule: Rule,
    contents: Vec<Content>,
}

/// The rule of one logical line; none if it is blank, a comment or a directive.
fn found_in(line: &LogicalLine, options: &Options) -> Result<Option<Found>, Located> {
    let text = line.text.trim_ascii_start();
    if let Some(comment) = text.strip_prefix(b"#") {
        let hidden = uncommented(comment);
        let take = options.commented && is_rule(hidden) && hidden.contains(&b')');
        return Ok(take.then(|| rule(line).unwrap_or_default()));
    }
    if text.is_empty() || DIRECTIVES.iter().any(|d| first_word(text) == d.as_bytes()) {
        return Ok(None);
    }
    if !is_rule(text) {
        let word = String::from_utf8_lossy(first_word(text)).into_owned();
        return Err((line.text.len() - text.len(), Kind::NotARule(word)));
    }
    rule(line).map(Some)
}

/// What stands behind the comment signs.
fn uncommented(mut text: &[u8]) -> &[u8] {
    while let Some(rest) = text.strip_prefix(b"#") {
        text = rest;
    }
    text.trim_ascii_start()
}

/// Whether a line starts with the action of a rule.
fn is_rule(text: &[u8]) -> bool {
    ACTIONS.iter().any(|a| first_word(text) == a.as_bytes())
}

fn first_word(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|b| !(b.is_ascii_alphanumeric() || *b == b'_'));
    match end {
        Some(0) => &text[..text.len().min(1)],
        Some(end) => &text[..end],
        None => text,
    }
}

/// What a rule has. A header without a body is a rule without contents.
fn rule(line: &LogicalLine) -> Result<Found, Located> {
    let Some(body) = line.body()? else { return Ok(Found::default()) };
    let mut found = Found::default();
    for item in body.options(&line.text) {
        match option::read(&line.text, &item)? {
            RuleOption::Content(content) => found.contents.push(content),
            RuleOption::Nocase => match found.contents.last_mut() {
                Some(content) => content.nocase = true,
                None => return Err((item.start, Kind::StrayNocase)),
            },
            RuleOption::Sid(sid) => found.rule.sid = Some(sid),
            RuleOption::Msg(msg) => found.rule.msg = msg,
            RuleOption::Other => {}
        }
    }
    Ok(found)
}

impl Found {
    /// Gives each content its origin and drops those that the rule repeats.
    fn push(self, file: &Arc<str>, line: &LogicalLine, to: &mut Rules) {
        let rule = Arc::new(self.rule);
        for (i, c) in self.contents.iter().enumerate() {
            let same = |other: &Content| other.bytes == c.bytes && other.nocase == c.nocase;
            if self.contents[..i].iter().any(same) {
                continue;
            }
            let (line, column) = line.position(c.at);
            let origin = Origin { file, line, column, rule: Some(&rule), negated: c.negated };
            to.push(&c.bytes, c.nocase, &origin);
        }
    }
}

#[cfg(test)]
mod tests;
