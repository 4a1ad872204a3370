//! The options of a rule: `key:value;`.

use super::super::error::{Kind, Located};
use super::super::table::check_len;
use super::body::trim;
use super::content;
use super::keywords::{self, Keyword};
use std::ops::Range;

/// The options of a rule that matter to a search.
pub(super) enum RuleOption {
    Content(Content),
    Nocase,
    Sid(u64),
    Msg(String),
    /// Any other option, by what its keyword means.
    Other(Keyword),
}

/// A content string with its modifiers.
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    pub(super) nocase: bool,
    pub(super) negated: bool,
    /// Position of the opening quote.
    pub(super) at: usize,
    /// The option before the content that decodes the buffer in which it is looked for.
    pub(super) decoder: Option<&'static str>,
}

impl Content {
    /// Whether the contents are equal: every match of one is a match of the other, with the same
    /// meaning.
    pub(super) fn repeats(&self, other: &Content) -> bool {
        (&self.bytes, self.nocase, self.negated) == (&other.bytes, other.nocase, other.negated)
            && self.decoder == other.decoder
    }
}

/// Parses one option.
pub(super) fn read(text: &[u8], option: &Range<usize>) -> Result<RuleOption, Located> {
    let colon = memchr::memchr(b':', &text[option.clone()]).map(|at| option.start + at);
    let key = trim(text, option.start..colon.unwrap_or(option.end));
    let value = trim(text, colon.map_or(option.end, |at| at + 1)..option.end);
    Ok(match &text[key] {
        b"content" | b"uricontent" => RuleOption::Content(read_content(text, value)?),
        b"nocase" => RuleOption::Nocase,
        b"sid" => RuleOption::Sid(number(&text[value.clone()]).ok_or((value.start, Kind::BadSid))?),
        b"msg" => RuleOption::Msg(message(&text[value])),
        other => RuleOption::Other(look_up(other)),
    })
}

/// The name of an option, to be displayed.
pub(super) fn name(text: &[u8], option: &Range<usize>) -> String {
    let text = &text[option.clone()];
    let key = memchr::memchr(b':', text).map_or(text, |colon| &text[..colon]);
    String::from_utf8_lossy(key.trim_ascii()).into_owned()
}

fn look_up(keyword: &[u8]) -> Keyword {
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || b"_.-".contains(b);
    match std::str::from_utf8(keyword) {
        Ok(name) if keyword.iter().all(is_name) => keywords::look_up(name),
        _ => Keyword::Unknown,
    }
}

fn number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// A message without its quotes. Escapes stay, because it is only displayed.
fn message(text: &[u8]) -> String {
    let bare = text.strip_prefix(b"\"").and_then(|t| t.strip_suffix(b"\"")).unwrap_or(text);
    String::from_utf8_lossy(bare).into_owned()
}

/// Parses `!"...",nocase,offset 3`.
fn read_content(text: &[u8], value: Range<usize>) -> Result<Content, Located> {
    let negated = text[value.clone()].starts_with(b"!");
    let value = if negated { trim(text, value.start + 1..value.end) } else { value };
    if !text[value.clone()].starts_with(b"\"") {
        return Err((value.start, Kind::NotQuoted));
    }
    let (bytes, after) = content::decode(text, value.start + 1..value.end)?;
    check_len(bytes.len(), Kind::EmptyContent).map_err(|k| (value.start, k))?;
    let rest = trim(text, after..value.end);
    if !rest.is_empty() && text[rest.start] != b',' {
        return Err((rest.start, Kind::AfterQuote));
    }
    let nocase = text[rest].split(|&b| b == b',').any(|m| m.trim_ascii() == b"nocase");
    Ok(Content { bytes, nocase, negated, at: value.start, decoder: None })
}
