//! `fyke carve export`: the list of files in other forms.

use super::database::OpenDatabase;
use super::select::SelectArgs;
use crate::outcome::Outcome;
use anyhow::Context;
use clap::{Args, ValueEnum};
use fyke_carve::CarvedFile;
use fyke_carve::audit::Audit;
use fyke_carve::embedded::containers;
use fyke_carve::export::{self, Listing};
use fyke_carve::layout::LayoutOptions;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

const NOTES: &str = "\
The same database gives the same bytes: an audit file has no times and no command line, because a \
database has none. In JSON lines and CSV, `inside` is the number of the valid file that a file \
begins inside of.

Examples:
  fyke carve export found --format csv -o files.csv
  fyke carve export found --format json --type jpg --validate
  fyke carve export found --format audit              rows as Scalpel writes them
  fyke carve export found/carve-2.db --format dfxml   of the second image

Exit codes: 0 files exported, 1 no file meets the conditions, 2 error.";

/// Arguments of `fyke carve export`.
#[derive(Args, Debug)]
#[command(after_help = NOTES)]
pub(super) struct ExportArgs {
    /// The database of a scan, or the scan's output folder
    #[arg(value_name = "DB")]
    database: PathBuf,

    /// The form of the list
    #[arg(long, value_enum)]
    format: Format,

    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write over the file if it exists
    #[arg(long, requires = "output")]
    force: bool,

    #[command(flatten)]
    select: SelectArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// As Scalpel's audit.txt, without times
    Audit,
    /// JSON lines: a record for the run, and one per file
    Json,
    /// A line of column names, and one per file
    Csv,
    /// Digital Forensics XML
    Dfxml,
    /// A copy of the database
    Sqlite,
}

pub(super) fn run(args: &ExportArgs) -> anyhow::Result<Outcome> {
    let mut open = OpenDatabase::open(&args.database)?;
    if args.format == Format::Sqlite {
        let chooses = args.select.is_any() || args.select.validates();
        anyhow::ensure!(!chooses, "--format sqlite copies the whole database: give no conditions");
    }
    let chosen = args.select.select(&mut open)?;
    match &args.output {
        Some(path) => {
            let file = create(path, args.force)?;
            let done = write(args, &open, &chosen, BufWriter::new(file));
            done.with_context(|| format!("cannot write {}", path.display()))?;
        }
        None => write(args, &open, &chosen, BufWriter::new(io::stdout().lock()))?,
    }
    Ok(if chosen.is_empty() { Outcome::NoMatch } else { Outcome::Match })
}

fn create(path: &Path, force: bool) -> anyhow::Result<File> {
    let mut options = OpenOptions::new();
    let options = options.write(true).create_new(!force).create(true).truncate(force);
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            anyhow::bail!("{} exists; --force writes over it", path.display())
        }
        other => other.with_context(|| format!("cannot write {}", path.display())),
    }
}

fn write(
    args: &ExportArgs,
    open: &OpenDatabase,
    chosen: &[usize],
    mut out: impl Write,
) -> anyhow::Result<()> {
    let files: Vec<CarvedFile> = chosen.iter().map(|&i| open.files[i].clone()).collect();
    let paths = open.paths(LayoutOptions::default());
    let names: Vec<String> =
        chosen.iter().map(|&i| paths[i].to_string_lossy().into_owned()).collect();
    let inside = containers(&open.rules, &open.files);
    let inside: Vec<Option<u64>> = chosen.iter().map(|&i| inside[i]).collect();
    let listing = Listing {
        run: &open.run,
        rules: &open.rules,
        files: &files,
        names: &names,
        inside: &inside,
        digests: &[],
        bad: &open.database.bad()?,
    };
    match args.format {
        Format::Audit => write_audit(args, &listing, &mut out)?,
        Format::Json => export::write_json(&mut out, &listing)?,
        Format::Csv => export::write_csv(&mut out, &listing)?,
        Format::Dfxml => export::write_dfxml(&mut out, &listing)?,
        Format::Sqlite => {
            io::copy(&mut File::open(open.database.path())?, &mut out)?;
        }
    }
    Ok(out.flush()?)
}

fn write_audit(args: &ExportArgs, listing: &Listing<'_>, out: &mut dyn Write) -> io::Result<()> {
    let run = listing.run;
    let options = run.pair_options();
    let mut audit = Audit::timeless(out, &run.program, options.compat, &run.conf_path)?;
    if args.select.validates() {
        audit.with_validity();
    }
    let base_name = |path: &str| {
        let name = Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
        name.unwrap_or_else(|| path.to_owned())
    };
    let image = base_name(&run.image);
    audit.image(&run.image, &image, options.skip)?;
    for (file, name) in listing.files.iter().zip(listing.names) {
        audit.row(&base_name(name), file, &image)?;
    }
    audit.flush()
}
