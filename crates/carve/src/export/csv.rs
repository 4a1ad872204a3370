//! CSV: a line of column names, and one line per file.

use super::Listing;
use csv::WriterBuilder;
use std::io::{self, Write};

const COLUMNS: [&str; 11] = [
    "number",
    "name",
    "extension",
    "rule",
    "rule_line",
    "start",
    "len",
    "chopped",
    "valid",
    "inside",
    "sha256",
];

/// Writes the list as CSV, as RFC 4180 defines it, but with LF alone at the ends of lines.
///
/// # Errors
///
/// If `out` cannot be written.
///
/// # Panics
///
/// If a file has no name or no rule.
pub fn write(out: &mut dyn Write, listing: &Listing<'_>) -> io::Result<()> {
    let mut table = WriterBuilder::new().from_writer(out);
    table.write_record(COLUMNS).map_err(io_error)?;
    for entry in listing.entries() {
        let file = entry.file;
        let chopped = if file.chopped { "yes" } else { "no" };
        let numbers = [file.number, file.rule as u64, entry.rule.line as u64, file.start, file.len];
        let [number, rule, line, start, len] = numbers.map(|n| n.to_string());
        let extension = entry.rule.extension.as_deref().unwrap_or_default();
        let inside = entry.inside.map(|n| n.to_string()).unwrap_or_default();
        let sha256 = entry.sha256.unwrap_or_default();
        let row = [
            &number,
            entry.name,
            extension,
            &rule,
            &line,
            &start,
            &len,
            chopped,
            file.valid.word(),
            &inside,
            &sha256,
        ];
        table.write_record(row).map_err(io_error)?;
    }
    table.flush()
}

/// The error of the writer itself, so that a closed pipe stays one.
fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
