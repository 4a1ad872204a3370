//! JSON lines: a `run` record, `bad_range` records, and one `file` record per file.

use super::{Entry, Listing};
use serde::Serialize;
use std::io::{self, Write};

/// The fields of the records: record, name, JSON type, meaning. docs/json.md is generated from it.
pub const FIELDS: [[&str; 4]; 23] = [
    ["run", "type", "string", "type of the record"],
    ["run", "program", "string", "the program and its version"],
    ["run", "image", "string", "path of the image; `-` for standard input"],
    ["run", "image_len", "integer", "length of the image in bytes"],
    ["run", "conf", "string", "path of the rules"],
    ["run", "rules", "integer", "number of rules"],
    ["run", "files", "integer", "number of `file` records"],
    ["bad_range", "type", "string", "type of the record"],
    ["bad_range", "start", "integer", "offset of the first byte that cannot be read"],
    ["bad_range", "end", "integer", "offset after the last one"],
    ["file", "type", "string", "type of the record"],
    ["file", "number", "integer", "number of the file, from 0"],
    ["file", "name", "string", "path below the folder of carved files"],
    ["file", "extension", "string or null", "extension of the rule"],
    ["file", "rule", "integer", "number of the rule, from 0"],
    ["file", "rule_line", "integer", "line of the rule in its file, from 1"],
    ["file", "mode", "string", "mode of the rule: `forward`, `next` or `reverse`"],
    ["file", "start", "integer", "offset of the first byte in the image"],
    ["file", "len", "integer", "length in bytes"],
    ["file", "chopped", "boolean", "whether the file was cut, so that its real end is unknown"],
    ["file", "valid", "string", "what a validator says: `yes`, `no` or `unknown`"],
    [
        "file",
        "inside",
        "integer, if known",
        "number of the valid file that this one begins inside of",
    ],
    ["file", "sha256", "string, if computed", "SHA-256 of the file, in hex"],
];

#[derive(Serialize)]
struct RunRecord<'a> {
    r#type: &'static str,
    program: &'a str,
    image: &'a str,
    image_len: u64,
    conf: &'a str,
    rules: usize,
    files: usize,
}

#[derive(Serialize)]
struct BadRecord {
    r#type: &'static str,
    start: u64,
    end: u64,
}

#[derive(Serialize)]
struct FileRecord<'a> {
    r#type: &'static str,
    number: u64,
    name: &'a str,
    extension: Option<&'a str>,
    rule: usize,
    rule_line: usize,
    mode: &'static str,
    start: u64,
    len: u64,
    chopped: bool,
    valid: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    inside: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

/// Writes the list as JSON lines.
///
/// # Errors
///
/// If `out` cannot be written.
///
/// # Panics
///
/// If a file has no name or no rule.
pub fn write(out: &mut dyn Write, listing: &Listing<'_>) -> io::Result<()> {
    let run = listing.run;
    let head = RunRecord {
        r#type: "run",
        program: &run.program,
        image: &run.image,
        image_len: run.image_len,
        conf: &run.conf_path,
        rules: listing.rules.rules.len(),
        files: listing.files.len(),
    };
    write_line(out, &head)?;
    for bad in listing.bad {
        let record = BadRecord { r#type: "bad_range", start: bad.start, end: bad.end };
        write_line(out, &record)?;
    }
    listing.entries().try_for_each(|entry| write_line(out, &record(entry)))
}

fn record(entry: Entry<'_>) -> FileRecord<'_> {
    let Entry { file, name, rule, inside, sha256 } = entry;
    FileRecord {
        r#type: "file",
        number: file.number,
        name,
        extension: rule.extension.as_deref(),
        rule: file.rule,
        rule_line: rule.line,
        mode: rule.mode.word(),
        start: file.start,
        len: file.len,
        chopped: file.chopped,
        valid: file.valid.word(),
        inside,
        sha256,
    }
}

fn write_line(out: &mut dyn Write, record: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, record)?;
    out.write_all(b"\n")
}
