//! Rules of Snort 2, Snort 3 and Suricata: each `content` string with its `nocase` flag.
//!
//! ```text
//! alert tcp any any -> any 80 (msg:"demo"; content:"GET |2f|admin"; nocase; content:!"x",nocase; sid:7;)
//! ```
//!
//! What the parser reads:
//! * `content` and Snort 2's `uricontent`, **also negated ones**: a search reports where strings
//!   occur, and [`Origin::negated`](super::Origin::negated) marks a string that must not occur;
//! * `nocase` as an option after the content, or inside the content after a comma (Snort 3);
//! * a content that a rule repeats with the same flag, once for that rule;
//! * rules that are commented out, only with [`Options::commented`](super::Options::commented).
//!   Their errors are not reported, because prose may look like a rule.
//!
//! What it ignores:
//! * all other modifiers (`offset`, `within`, `fast_pattern`, `http_uri` ...): they say where in a
//!   packet a content must be, which is checked after the search;
//! * directives of configuration files (`var`, `include`, `config` ...). Any other line that is
//!   not a rule is an error, so that no rule is lost silently.
//!
//! The escapes in a content are `\"`, `\\`, `\;` and `\:`; hexadecimal bytes are written between
//! bars. A rule may continue on the next line after a backslash or, as in Snort 3, while its
//! parenthesis is open.

mod body;
mod content;
mod line_start;
mod logical;
mod option;

use super::error::{Kind, Located, RuleError};
use super::parsed::{Options, Parsed};
use super::table::{Origin, Rule, Rules};
use line_start::{comment, first_word, is_directive, is_rule};
use logical::{LogicalLine, LogicalLines};
use option::{Content, RuleOption};
use std::sync::Arc;

/// Parses a file of rules.
///
/// ```
/// use fyke_io::rules::{snort, Options};
/// let file = br#"alert tcp any any -> any any (content:"a|62 63|"; nocase; sid:1;)
/// alert tcp any any -> any any (content:"a|6|"; sid:2;)"#;
/// let parsed = snort::parse("my.rules", file, &Options::default());
/// let first = parsed.patterns.iter().next().unwrap();
/// assert_eq!((first.bytes, first.nocase), (&b"abc"[..], true));
/// assert!(parsed.errors[0].to_string().starts_with("my.rules:2:42: odd number of hex digits"));
/// ```
pub fn parse(file: &str, bytes: &[u8], options: &Options) -> Parsed {
    let file: Arc<str> = Arc::from(file);
    let mut parsed = Parsed::default();
    for line in LogicalLines::new(bytes) {
        match parse_line(&line, options) {
            Ok(Some(rule)) => rule.push(&file, &line, &mut parsed.patterns),
            Ok(None) => {}
            Err((at, kind)) => parsed.errors.push(RuleError::new(&file, line.position(at), kind)),
        }
    }
    parsed
}

/// A rule and its contents.
#[derive(Default)]
struct ParsedRule {
    rule: Rule,
    contents: Vec<Content>,
}

/// The rule of one logical line; `None` if the line is empty, a comment or a directive.
fn parse_line(line: &LogicalLine, options: &Options) -> Result<Option<ParsedRule>, Located> {
    let text = line.text.trim_ascii_start();
    if let Some(hidden) = comment(text) {
        let take = options.commented && is_rule(hidden) && hidden.contains(&b')');
        return Ok(take.then(|| parse_rule(line).unwrap_or_default()));
    }
    if text.is_empty() || is_directive(text) {
        return Ok(None);
    }
    if !is_rule(text) {
        let word = String::from_utf8_lossy(first_word(text)).into_owned();
        return Err((line.text.len() - text.len(), Kind::NotARule(word)));
    }
    parse_rule(line).map(Some)
}

/// Parses a rule. A header without a body is a rule without contents.
fn parse_rule(line: &LogicalLine) -> Result<ParsedRule, Located> {
    let mut parsed = ParsedRule::default();
    let Some(body) = line.body()? else { return Ok(parsed) };
    for item in body.options(&line.text) {
        match option::read(&line.text, &item)? {
            RuleOption::Content(content) => parsed.contents.push(content),
            RuleOption::Nocase => match parsed.contents.last_mut() {
                Some(content) => content.nocase = true,
                None => return Err((item.start, Kind::StrayNocase)),
            },
            RuleOption::Sid(sid) => parsed.rule.sid = Some(sid),
            RuleOption::Msg(msg) => parsed.rule.msg = msg,
            RuleOption::Other => {}
        }
    }
    Ok(parsed)
}

impl ParsedRule {
    /// Adds the contents with their origins, without those that the rule repeats.
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
