//! Matches as NDJSON, one JSON object per line.
//!
//! Each file with a match gives a `begin` record, its `match` records and an `end` record; a
//! `summary` record follows the last file. Bytes and paths are `{"text": "..."}` if they are valid
//! UTF-8, otherwise `{"bytes": "<base64>"}`, as in ripgrep. [`FIELDS`] describes every field, and
//! `docs/json.md` is generated from it.

use super::lines::LineCounter;
use super::path::path_bytes;
use super::window::Window;
use crate::rules::Rules;
use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;
use fyke_core::StreamMatch;
use serde::{Serialize, Serializer};
use std::io;
use std::path::{Path, PathBuf};

/// The documentation of a field.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Types of the records that have the field.
    pub records: &'static [&'static str],
    /// Name of the field.
    pub name: &'static str,
    /// Its JSON type, and when it is present.
    pub kind: &'static str,
    /// Its meaning.
    pub about: &'static str,
}

const fn field(
    records: &'static [&'static str],
    name: &'static str,
    kind: &'static str,
    about: &'static str,
) -> Field {
    Field { records, name, kind, about }
}

/// All fields of all records.
pub const FIELDS: &[Field] = &[
    field(&["begin", "match", "end", "summary"], "type", "string", "type of the record"),
    field(&["begin", "match", "end"], "path", "bytes", "the file; `<stdin>` for standard input"),
    field(&["match"], "start", "integer", "offset of the first matched byte in the file, from 0"),
    field(&["match"], "end", "integer", "offset after the last matched byte"),
    field(
        &["match"],
        "pattern",
        "integer",
        "number of the pattern, from 1; `fyke.dist` counts from 0",
    ),
    field(
        &["match"],
        "line",
        "integer, only with `-n`",
        "number of the line that contains the first byte, from 1",
    ),
    field(&["match"], "matched", "bytes", "the matched bytes"),
    field(&["match"], "sid", "integer, only for rules that have one", "number of the rule"),
    field(&["match"], "msg", "string, only for rules that have one", "message of the rule"),
    field(
        &["match"],
        "negated",
        "true, otherwise absent",
        "the rule requires that this content is absent",
    ),
    field(
        &["match"],
        "name",
        "string, only for YARA strings",
        "name of the rule and identifier of the string",
    ),
    field(
        &["match"],
        "remark",
        "string, otherwise absent",
        "`wide`, `fullword`, both, or the decoder whose output the rule looks in",
    ),
    field(
        &["match"],
        "source",
        "string",
        "where the pattern comes from: `FILE:LINE:COLUMN`, or `-e #N:LINE:COLUMN` for the Nth -e",
    ),
    field(
        &["match"],
        "also",
        "array, only for repeated patterns",
        "the other patterns that are equal: objects with `pattern` and `source`",
    ),
    field(&["end", "summary"], "matches", "integer", "number of matches, in the file or in total"),
    field(&["end", "summary"], "bytes", "integer", "number of bytes scanned"),
    field(&["summary"], "files", "integer", "number of files read without an error"),
    field(&["summary"], "files_with_matches", "integer", "number of files with a match"),
    field(&["summary"], "errors", "integer", "number of files that could not be read completely"),
    field(&["summary"], "engine", "string", "names of the engines that scanned, joined by +"),
    field(&["summary"], "seconds", "number", "duration of the scan"),
];

/// The last record.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// Files read without an error.
    pub files: u64,
    /// Files with a match.
    pub files_with_matches: u64,
    /// Matches in all files.
    pub matches: u64,
    /// Bytes scanned.
    pub bytes: u64,
    /// Files that could not be read completely.
    pub errors: u64,
    /// Names of the engines that scanned, joined by `+`.
    pub engine: String,
    /// Duration of the scan.
    pub seconds: f64,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Message<'a> {
    Begin { path: Data<'a> },
    End { path: Data<'a>, matches: u64, bytes: u64 },
    Summary(&'a Summary),
}

/// The fields of a `match` record after its type and path.
#[derive(Serialize)]
struct MatchMessage<'a> {
    start: u64,
    end: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    pattern: u32,
    matched: Data<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sid: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    msg: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    negated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remark: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<Source<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also: Vec<Also<'a>>,
}

/// A pattern that is equal to the one that matched.
#[derive(Serialize)]
struct Also<'a> {
    pattern: u32,
    source: Option<Source<'a>>,
}

/// Bytes: as text if they are valid UTF-8, otherwise as base64.
struct Data<'a>(&'a [u8]);

impl Serialize for Data<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "lowercase")]
        enum Form<'a> {
            Text(&'a str),
            #[serde(serialize_with = "as_base64")]
            Bytes(&'a [u8]),
        }
        fn as_base64<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
            to.collect_str(&Base64Display::new(bytes, &STANDARD))
        }
        match std::str::from_utf8(self.0) {
            Ok(text) => Form::Text(text).serialize(to),
            Err(_) => Form::Bytes(self.0).serialize(to),
        }
    }
}

/// Serialized as `FILE:LINE:COLUMN`.
struct Source<'a>(crate::rules::Origin<'a>);

impl Serialize for Source<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let o = self.0;
        to.collect_str(&format_args!("{}:{}:{}", o.file, o.line, o.column))
    }
}

/// Prints the records of one file after the other.
#[derive(Clone, Debug)]
pub struct JsonPrinter<'r> {
    rules: &'r Rules,
    line_numbers: bool,
    path: PathBuf,
    /// Whether the `begin` record of the file was printed.
    begun: bool,
    /// How each `match` record of the file starts: its type and path.
    start: Vec<u8>,
    lines: LineCounter,
    spare: Vec<u8>,
}

impl<'r> JsonPrinter<'r> {
    /// A printer; `line_numbers` adds the field `line`.
    pub fn new(rules: &'r Rules, line_numbers: bool) -> Self {
        let (path, lines) = (PathBuf::new(), LineCounter::default());
        let (start, spare) = (Vec::new(), Vec::new());
        Self { rules, line_numbers, path, begun: false, start, lines, spare }
    }

    /// Starts a file.
    pub fn begin(&mut self, path: &Path) {
        self.path = path.to_owned();
        self.begun = false;
        self.lines = LineCounter::default();
    }

    /// Appends a `match` record, and before the first one of a file its `begin` record.
    ///
    /// # Errors
    /// If the window cannot read its file.
    pub fn print(
        &mut self,
        out: &mut Vec<u8>,
        window: &Window<'_>,
        m: StreamMatch,
    ) -> io::Result<()> {
        if !std::mem::replace(&mut self.begun, true) {
            let path = Data(path_bytes(&self.path));
            self.start.clear();
            self.start.extend_from_slice(br#"{"type":"match","path":"#);
            serde_json::to_writer(&mut self.start, &path)?;
            push(out, &Message::Begin { path })?;
        }
        let line = match self.line_numbers {
            true => Some(self.lines.line_of(m.start, window, &mut self.spare)?),
            false => None,
        };
        let origin = self.rules.get(m.pattern).map(|p| p.origin);
        let rule = origin.and_then(|o| o.rule);
        let source = |id| self.rules.get(id).map(|p| Source(p.origin));
        let message = MatchMessage {
            start: m.start,
            end: m.end,
            line,
            pattern: m.pattern.0,
            matched: Data(window.get(m.start..m.end, &mut self.spare)?.1),
            sid: rule.and_then(|r| r.sid),
            msg: rule.map(|r| r.msg.as_str()).filter(|msg| !msg.is_empty()),
            negated: origin.is_some_and(|o| o.negated),
            name: rule.and_then(|r| r.name.as_deref()),
            remark: origin.and_then(|o| o.remark).map(|remark| remark.to_string()),
            source: origin.map(Source),
            also: (self.rules.repeats(m.pattern).iter())
                .map(|&id| Also { pattern: id.0, source: source(id) })
                .collect(),
        };
        out.extend_from_slice(&self.start);
        let rest = out.len();
        push(out, &message)?;
        // The fields after the path continue its object.
        out[rest] = b',';
        Ok(())
    }

    /// Ends a block: counts its lines if they are printed.
    ///
    /// # Errors
    /// As [`print`](Self::print).
    pub fn end_of_block(&mut self, window: &Window<'_>, end: u64) -> io::Result<()> {
        if self.line_numbers { self.lines.advance(end, window, &mut self.spare) } else { Ok(()) }
    }

    /// Ends a file: appends its `end` record if there was a match.
    ///
    /// # Errors
    /// If the serializer fails, which it does not for a buffer in memory.
    pub fn end(&self, out: &mut Vec<u8>, matches: u64, bytes: u64) -> io::Result<()> {
        if !self.begun {
            return Ok(());
        }
        push(out, &Message::End { path: Data(path_bytes(&self.path)), matches, bytes })
    }
}

/// Appends the `summary` record.
///
/// # Errors
/// As [`JsonPrinter::end`].
pub fn push_summary(out: &mut Vec<u8>, summary: &Summary) -> io::Result<()> {
    push(out, &Message::Summary(summary))
}

fn push(out: &mut Vec<u8>, message: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, message)?;
    out.push(b'\n');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{self, Format};
    use fyke_core::PatternId;

    const RULE: &[u8] = br#"alert tcp any any -> any any (msg:"m"; content:!"ab"; sid:5;)"#;
    const REPEATED: &[u8] = br#"alert tcp any any -> any any (md5; content:"ab"; content:"ab";)"#;
    const YARA: &[u8] = br#"rule R { strings: $a = "ab" condition: $a }"#;

    fn records(text: &[u8]) -> String {
        records_of(Format::Snort, RULE, text)
    }

    fn records_of(format: Format, file: &[u8], text: &[u8]) -> String {
        let mut rules = Rules::new();
        rules.extend(rules::parse(format, "r", file, &Default::default()).patterns);
        rules.pattern_set(false).unwrap();
        let mut printer = JsonPrinter::new(&rules, true);
        let mut out = Vec::new();
        printer.begin(Path::new("f\"x"));
        let m = StreamMatch { start: 2, end: 4, pattern: PatternId(1) };
        printer.print(&mut out, &Window::new(text, 0), m).unwrap();
        printer.end(&mut out, 1, 4).unwrap();
        push_summary(&mut out, &Summary::default()).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn records_are_json_lines() {
        let text = records(b"\n\nab");
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some(r#"{"type":"begin","path":{"text":"f\"x"}}"#));
        let expected = concat!(
            r#"{"type":"match","path":{"text":"f\"x"},"start":2,"end":4,"line":3,"pattern":1,"#,
            r#""matched":{"text":"ab"},"sid":5,"msg":"m","negated":true,"source":"r:1:49"}"#
        );
        assert_eq!(lines.next(), Some(expected));
        let end = r#"{"type":"end","path":{"text":"f\"x"},"matches":1,"bytes":4}"#;
        assert_eq!(lines.next(), Some(end));
    }

    #[test]
    fn bytes_that_are_not_text_are_base64() {
        assert!(records(b"\n\n\xff\x00").contains(r#""matched":{"bytes":"/wA="}"#));
    }

    #[test]
    fn repeats_and_remarks_are_in_the_record() {
        let repeated = records_of(Format::Snort, REPEATED, b"\n\nab");
        let also = r#""remark":"decoded by md5","source":"r:1:44","also":[{"pattern":2,"source":"r:1:58"}]"#;
        assert!(repeated.contains(also), "{repeated}");
        let yara = records_of(Format::Yara, YARA, b"\n\nab");
        assert!(yara.contains(r#""name":"R $a","source":"r:1:19"}"#), "{yara}");
    }

    #[test]
    fn every_field_is_described() {
        let mut keys = std::collections::BTreeSet::new();
        for (format, file) in
            [(Format::Snort, RULE), (Format::Snort, REPEATED), (Format::Yara, YARA)]
        {
            for line in records_of(format, file, b"\n\nab").lines() {
                let record: serde_json::Map<String, serde_json::Value> =
                    serde_json::from_str(line).unwrap();
                let kind = record["type"].as_str().unwrap();
                keys.extend(record.keys().map(|key| (kind.to_owned(), key.clone())));
            }
        }
        let described = FIELDS.iter().flat_map(|f| f.records.iter().map(|r| (*r, f.name)));
        let described = described.map(|(r, name)| (r.to_owned(), name.to_owned()));
        assert_eq!(keys, described.collect());
    }
}
