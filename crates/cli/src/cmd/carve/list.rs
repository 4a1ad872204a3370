//! `fyke carve list`: the files that a scan found, as a table for people.

use super::database::OpenDatabase;
use super::select::SelectArgs;
use crate::outcome::Outcome;
use clap::Args;
use fyke_carve::embedded::containers;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

const NOTES: &str = "\
Exit codes: 0 files listed, 1 no file meets the conditions, 2 error. For programs, `fyke carve \
export` writes JSON lines and CSV.

INSIDE is the number of the valid file that a file begins inside of: an archive's member, a \
picture of a document. It is known of validated files only.

Examples:
  fyke carve list found                               all files
  fyke carve list found --type jpg,png --min-size 10K
  fyke carve list found --validate --valid yes        only files that validators find whole
  fyke carve list found --type zip --no-embedded      archives, and not their members";

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

const COLUMNS: [&str; 8] =
    ["NUMBER", "TYPE", "RULE", "START", "LENGTH", "CHOPPED", "VALID", "INSIDE"];

pub(super) fn run(args: &ListArgs) -> anyhow::Result<Outcome> {
    let mut open = OpenDatabase::open(&args.database)?;
    let chosen = args.select.select(&mut open)?;
    let mut out = BufWriter::new(io::stdout().lock());
    if chosen.is_empty() {
        return Ok(Outcome::NoMatch);
    }
    let inside = containers(&open.rules, &open.files);
    let mut widths = COLUMNS.map(str::len);
    for &index in &chosen {
        for (width, cell) in widths.iter_mut().zip(cells(&open, &inside, index)) {
            *width = cell.chars().count().max(*width);
        }
    }
    write_row(&mut out, widths, COLUMNS)?;
    for &index in &chosen {
        write_row(&mut out, widths, cells(&open, &inside, index).each_ref().map(String::as_str))?;
    }
    out.flush()?;
    Ok(Outcome::Match)
}

fn cells(open: &OpenDatabase, inside: &[Option<u64>], index: usize) -> [String; 8] {
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
        inside[index].map_or_else(|| "-".to_owned(), |number| number.to_string()),
    ]
}

/// Writes a row: numbers to the right, words to the left.
fn write_row(out: &mut impl Write, widths: [usize; 8], cells: [&str; 8]) -> io::Result<()> {
    let [a, b, c, d, e, f, g, h] = widths;
    let [number, kind, rule, start, len, chopped, valid, inside] = cells;
    writeln!(
        out,
        "{number:>a$}  {kind:b$}  {rule:>c$}  {start:>d$}  {len:>e$}  {chopped:f$}  {valid:g$}  {inside:>h$}"
    )
}
