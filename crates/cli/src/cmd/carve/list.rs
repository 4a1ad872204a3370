//! `fyke carve list`: the files that a scan found, as a table for people.

use super::database::OpenDatabase;
use super::select::SelectArgs;
use crate::outcome::Outcome;
use clap::Args;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

const NOTES: &str = "\
Exit codes: 0 files listed, 1 no file meets the conditions, 2 error. For programs, `fyke carve \
export` writes JSON lines and CSV.";

/// Arguments of `fyke carve list`.
#[derive(Args, Debug)]
#[command(after_help = NOTES)]
pub(super) struct ListArgs {
    /// The database of a scan, or the scan's output folder
    #[arg(value_name = "DB")]
    database: PathBuf,

    #[command(flatten)]
    select: SelectArgs,
}

const COLUMNS: [&str; 7] = ["NUMBER", "TYPE", "RULE", "START", "LENGTH", "CHOPPED", "VALID"];

pub(super) fn run(args: &ListArgs) -> anyhow::Result<Outcome> {
    let mut open = OpenDatabase::open(&args.database)?;
    let chosen = args.select.select(&mut open)?;
    let mut out = BufWriter::new(io::stdout().lock());
    if chosen.is_empty() {
        return Ok(Outcome::NoMatch);
    }
    let mut widths = COLUMNS.map(str::len);
    for &index in &chosen {
        for (width, cell) in widths.iter_mut().zip(cells(&open, index)) {
            *width = cell.chars().count().max(*width);
        }
    }
    write_row(&mut out, widths, COLUMNS)?;
    for &index in &chosen {
        write_row(&mut out, widths, cells(&open, index).each_ref().map(String::as_str))?;
    }
    out.flush()?;
    Ok(Outcome::Match)
}

fn cells(open: &OpenDatabase, index: usize) -> [String; 7] {
    let file = &open.files[index];
    let extension = open.rules.rules[file.rule].extension.as_deref();
    [
        file.number.to_string(),
        extension.unwrap_or("none").escape_debug().to_string(),
        file.rule.to_string(),
        file.start.to_string(),
        file.len.to_string(),
        if file.chopped { "yes" } else { "no" }.to_owned(),
        file.valid.word().to_owned(),
    ]
}

/// Writes a row: numbers to the right, words to the left.
fn write_row(out: &mut impl Write, widths: [usize; 7], cells: [&str; 7]) -> io::Result<()> {
    let [a, b, c, d, e, f, _] = widths;
    let [number, kind, rule, start, len, chopped, valid] = cells;
    writeln!(
        out,
        "{number:>a$}  {kind:b$}  {rule:>c$}  {start:>d$}  {len:>e$}  {chopped:f$}  {valid}"
    )
}
