//! JSON lines: a `run` record, `bad_range` records, and one `file` record per file.

use super::{Entry, Listing};
use serde::Serialize;
use std::io::{self, Write};

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
/// If not each file has a name and a rule.
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
