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
//! * contents after an option that decodes, such as `base64_data`:
//!   [`Origin::remark`](super::Origin::remark) says so, because such a content may not be in the
//!   bytes as they are;
//! * rules that are commented out, only with [`Options::commented`](super::Options::commented).
//!   Their errors are not reported, because prose may look like a rule.
//!
//! What it ignores:
//! * all other modifiers (`offset`, `within`, `fast_pattern`, `http_uri` ...): they say where in a
//!   packet a content must be, which is checked after the search;
//! * directives of configuration files (`var`, `config` ...). Any other line that is not a rule is
//!   an error, so that no rule is lost silently.
//!
//! An option that is not known but resembles a known one, such as `contnet`, is a warning, and so
//! is an `include`. Other unknown options are counted.
//!
//! The escapes in a content are `\"`, `\\`, `\;` and `\:`; hexadecimal bytes are written between
//! bars. A rule may continue on the next line after a backslash or, as in Snort 3, while its
//! parenthesis is open.

mod body;
mod content;
mod keywords;
mod line_start;
mod logical;
mod option;

use super::error::{Kind, Located, RuleError};
use super::parsed::{Options, Parsed};
use super::table::{Origin, Remark, Rule};
use keywords::Keyword;
pub(super) use line_start::is_rule;
use line_start::{comment, first_word, is_directive, is_include};
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
        let located = |(at, kind)| RuleError::new(&file, line.position(at), kind);
        match parse_line(&line, options) {
            Ok(Line::Rule(mut rule)) => {
                parsed.warnings.extend(rule.warnings.drain(..).map(located));
                rule.push(&file, &line, &mut parsed);
            }
            Ok(Line::Include(at)) => parsed.warnings.push(located((at, Kind::Include))),
            Ok(Line::Other) => {}
            Err(error) => {
                parsed.counts.skip("bad rule");
                parsed.errors.push(located(error));
            }
        }
    }
    parsed
}

/// What a logical line is.
enum Line {
    Rule(ParsedRule),
    /// An `include` at this position.
    Include(usize),
    /// Empty, a comment or a directive.
    Other,
}

/// A rule and its contents.
#[derive(Default)]
struct ParsedRule {
    rule: Rule,
    contents: Vec<Content>,
    unknown_options: u64,
    warnings: Vec<Located>,
}

fn parse_line(line: &LogicalLine, options: &Options) -> Result<Line, Located> {
    let text = line.text.trim_ascii_start();
    let start = line.text.len() - text.len();
    if let Some(hidden) = comment(text) {
        let is_hidden_rule = options.commented && is_rule(hidden) && hidden.contains(&b')');
        let rule = is_hidden_rule.then(|| parse_rule(line).ok()).flatten();
        return Ok(rule.map_or(Line::Other, |rule| {
            // Prose may look like a rule.
            Line::Rule(ParsedRule { warnings: Vec::new(), ..rule })
        }));
    }
    if is_include(text) {
        return Ok(Line::Include(start));
    }
    if text.is_empty() || is_directive(text) {
        return Ok(Line::Other);
    }
    if !is_rule(text) {
        let word = String::from_utf8_lossy(first_word(text)).into_owned();
        return Err((start, Kind::NotARule(word)));
    }
    parse_rule(line).map(Line::Rule)
}

/// Parses a rule. A header without a body is a rule without contents.
fn parse_rule(line: &LogicalLine) -> Result<ParsedRule, Located> {
    let mut parsed = ParsedRule::default();
    let Some(body) = line.body()? else { return Ok(parsed) };
    let mut decoder = None;
    for item in body.options(&line.text) {
        match option::read(&line.text, &item)? {
            RuleOption::Content(content) => {
                parsed.contents.push(Content { decoder, ..content });
            }
            RuleOption::Nocase => match parsed.contents.last_mut() {
                Some(content) => content.nocase = true,
                None => return Err((item.start, Kind::StrayNocase)),
            },
            RuleOption::Sid(sid) => parsed.rule.sid = Some(sid),
            RuleOption::Msg(msg) => parsed.rule.msg = msg,
            RuleOption::Other(Keyword::Decodes(name)) => decoder = Some(name),
            RuleOption::Other(Keyword::Selects) => decoder = None,
            RuleOption::Other(Keyword::Other) => {}
            RuleOption::Other(Keyword::Resembles(known)) => {
                parsed.unknown_options += 1;
                let kind = Kind::UnknownOption(option::name(&line.text, &item), known);
                parsed.warnings.push((item.start, kind));
            }
            RuleOption::Other(Keyword::Unknown) => parsed.unknown_options += 1,
        }
    }
    Ok(parsed)
}

impl ParsedRule {
    /// Adds the contents with their origins, and counts them.
    fn push(self, file: &Arc<str>, line: &LogicalLine, to: &mut Parsed) {
        let rule = Arc::new(self.rule);
        let counts = &mut to.counts;
        counts.rules += 1;
        counts.without_content += u64::from(self.contents.is_empty());
        counts.contents += self.contents.len() as u64;
        counts.unknown_options += self.unknown_options;
        let before = to.patterns.len();
        for (i, c) in self.contents.iter().enumerate() {
            counts.negated += u64::from(c.negated);
            counts.decoded += u64::from(c.decoder.is_some());
            let (line, column) = line.position(c.at);
            let remark = c.decoder.map(Remark::Decoded);
            let (rule, negated) = (Some(&rule), c.negated);
            let origin = Origin { file, line, column, rule, negated, remark };
            match self.contents[..i].iter().position(|other| c.repeats(other)) {
                Some(first) => to.patterns.push_repeat(before + first, &origin),
                None => to.patterns.push(&c.bytes, c.nocase, &origin),
            }
        }
    }
}

#[cfg(test)]
mod tests;
