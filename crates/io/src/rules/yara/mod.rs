//! YARA rules: each text string, and each hex string without wildcards, is a pattern.
//!
//! ```text
//! rule Demo { strings: $a = "GET /x" nocase wide ascii  $b = { 4D 5A 90 00 }  condition: any of them }
//! ```
//!
//! What the parser reads:
//! * text strings with the escapes `\"`, `\\`, `\t`, `\n`, `\r`, `\f` and `\xNN`;
//! * hex strings that consist of bytes only;
//! * the modifiers `nocase`, `wide` (a zero after each byte) and `ascii`; a string that is `wide`
//!   and `ascii` is two patterns;
//! * `fullword`: [`Origin::remark`](super::Origin::remark) marks the pattern. A search finds it
//!   everywhere; `sink::Boundaries` checks what is around its matches.
//!
//! What it skips, with a warning and a count for each string: regular expressions, hex strings with
//! jumps, wildcards or alternatives, and the modifiers `xor` and `base64`. Conditions are not
//! evaluated: a search reports where strings occur. Included files are not read.

mod reader;
mod string;

use super::error::{Kind, Located, RuleError};
use super::parsed::Parsed;
use super::table::{Origin, Remark, Rule};
use reader::Reader;
use std::sync::Arc;
use string::{Found, YaraString};

/// Parses a file of rules.
///
/// ```
/// let file = br#"rule Shell { strings: $a = "cmd.exe" nocase  $b = { 4D 5A [2] 90 }
///     condition: any of them }"#;
/// let parsed = fyke_io::rules::yara::parse("my.yar", file);
/// let first = parsed.patterns.iter().next().unwrap();
/// assert_eq!((first.bytes, first.nocase), (&b"cmd.exe"[..], true));
/// assert_eq!(first.origin.to_string(), "Shell $a (my.yar:1)");
/// assert!(parsed.warnings[0].to_string().starts_with("my.yar:1:46: not searched (hex jump)"));
/// ```
pub fn parse(file: &str, bytes: &[u8]) -> Parsed {
    let file: Arc<str> = Arc::from(file);
    let mut parsed = Parsed::default();
    let mut reader = Reader::new(bytes);
    loop {
        match item(&mut reader) {
            Ok(Item::Rule(rule)) => rule.push(&file, &reader, &mut parsed),
            Ok(Item::Include(at)) => {
                parsed.warnings.push(RuleError::new(&file, reader.position(at), Kind::Include));
            }
            Ok(Item::Other) => {}
            Ok(Item::End) => return parsed,
            Err((at, kind)) => {
                parsed.counts.skip("bad rule");
                parsed.errors.push(RuleError::new(&file, reader.position(at), kind));
                reader.skip_to_line(starts_item);
            }
        }
    }
}

/// Whether a line starts a rule.
pub(super) fn starts_rule(line: &[u8]) -> bool {
    let mut reader = Reader::new(line);
    let mut word = reader.word();
    while matches!(word, b"private" | b"global") {
        word = reader.word();
    }
    word == b"rule"
        && !reader.word().is_empty()
        && matches!(reader.peek(), None | Some(b'{' | b':'))
}

fn starts_item(line: &[u8]) -> bool {
    starts_rule(line) || matches!(Reader::new(line).word(), b"import" | b"include")
}

/// What a file consists of.
enum Item {
    Rule(YaraRule),
    /// An `include` at this position.
    Include(usize),
    /// An `import`, or a modifier of the next rule.
    Other,
    End,
}

struct YaraRule {
    name: String,
    strings: Vec<YaraString>,
}

fn item(reader: &mut Reader<'_>) -> Result<Item, Located> {
    reader.skip_space()?;
    let at = reader.at();
    match reader.word() {
        b"rule" => rule(reader).map(Item::Rule),
        b"private" | b"global" => Ok(Item::Other),
        b"import" => reader.skip_string().map(|()| Item::Other),
        b"include" => reader.skip_string().map(|()| Item::Include(at)),
        _ if reader.peek().is_none() => Ok(Item::End),
        _ => Err((at, Kind::Expected("a file consists of rules, imports and includes"))),
    }
}

/// Parses a rule after the word `rule`.
fn rule(reader: &mut Reader<'_>) -> Result<YaraRule, Located> {
    reader.skip_space()?;
    let name = reader.name("write the name of the rule here")?;
    reader.skip_space()?;
    if reader.take(b':') {
        reader.skip_space()?;
        while reader.peek() != Some(b'{') {
            reader.name("write tags and then { here")?;
            reader.skip_space()?;
        }
    }
    let open = reader.at();
    reader.expect(b'{', "write { before the sections of the rule")?;
    let mut strings = Vec::new();
    loop {
        reader.skip_space()?;
        if reader.take(b'}') {
            return Ok(YaraRule { name, strings });
        }
        section(reader, open, &mut strings)?;
    }
}

/// Parses a section: its name and what follows.
fn section(
    reader: &mut Reader<'_>,
    open: usize,
    strings: &mut Vec<YaraString>,
) -> Result<(), Located> {
    let at = reader.at();
    let name = reader.word();
    if name.is_empty() && reader.peek().is_none() {
        return Err((open, Kind::NotClosed("rule")));
    }
    reader.skip_space()?;
    match name {
        b"meta" | b"variables" | b"condition" | b"strings" => {
            reader.expect(b':', "write : after the name of the section")?;
        }
        _ => return Err((at, Kind::Expected("sections are meta, strings and condition"))),
    }
    if name != b"strings" {
        return reader.skip_section(open);
    }
    reader.skip_space()?;
    while reader.peek() == Some(b'$') {
        strings.push(string::read(reader)?);
        reader.skip_space()?;
    }
    Ok(())
}

impl YaraRule {
    /// Adds the strings with their origins, and counts them.
    fn push(self, file: &Arc<str>, reader: &Reader<'_>, to: &mut Parsed) {
        to.counts.rules += 1;
        to.counts.without_content += u64::from(self.strings.is_empty());
        for string in self.strings {
            let position = reader.position(string.at);
            let warning = |kind| RuleError::new(file, position, kind);
            let bytes = match &string.found {
                Found::Bytes(bytes) => bytes,
                Found::Skipped(reason) => {
                    to.counts.skip(reason);
                    to.warnings.push(warning(Kind::Skipped(reason)));
                    continue;
                }
            };
            let name = Some(format!("{} {}", self.name, string.id));
            let rule = Arc::new(Rule { name, ..Rule::default() });
            let (line, column) = position;
            let origin = Origin { rule: Some(&rule), ..Origin::plain(file, line, column) };
            let fullword = string.fullword;
            if string.ascii {
                let remark = fullword.then_some(Remark::Fullword);
                to.push_string(bytes, &string, Origin { remark, ..origin });
            }
            if string.wide {
                let remark = if fullword { Remark::WideFullword } else { Remark::Wide };
                let wide: Vec<u8> = bytes.iter().flat_map(|&b| [b, 0]).collect();
                to.push_string(&wide, &string, Origin { remark: Some(remark), ..origin });
            }
        }
    }
}

impl Parsed {
    fn push_string(&mut self, bytes: &[u8], string: &YaraString, origin: Origin<'_>) {
        self.patterns.push(bytes, string.nocase, &origin);
        self.counts.contents += 1;
        self.counts.fullword += u64::from(string.fullword);
    }
}

#[cfg(test)]
mod tests;
