//! `fyke carve export`: the list of files in other forms.

use super::database::OpenDatabase;
use super::select::SelectArgs;
use crate::outcome::Outcome;
use anyhow::Context;
use clap::{Args, ValueEnum};
use fyke_carve::CarvedFile;
use fyke_carve::audit::{Audit, Head};
use fyke_carve::export::{self, Listing};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const NOTES: &str = "\
The same database gives the same bytes, but for the times in an audit file.

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
    /// As Scalpel's audit.txt
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
    let paths = open.paths();
    let names: Vec<String> =
        chosen.iter().map(|&i| paths[i].to_string_lossy().into_owned()).collect();
    let listing = Listing {
        run: &open.run,
        rules: &open.rules,
        files: &files,
        names: &names,
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
    let folder = args.output.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    let folder = fs::canonicalize(folder).unwrap_or_default();
    let command: Vec<String> = std::env::args().collect();
    let head = Head {
        compat: run.pair_options().compat,
        started: SystemTime::now(),
        command: &command,
        output: &folder.to_string_lossy(),
        conf: &run.conf_path,
    };
    let mut audit = Audit::new(out, &head)?;
    let base_name = |path: &str| {
        let name = Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
        name.unwrap_or_else(|| path.to_owned())
    };
    let image = base_name(&run.image);
    audit.image(&run.image, &image, run.pair_options().skip)?;
    for (file, name) in listing.files.iter().zip(listing.names) {
        audit.row(&base_name(name), file, &image)?;
    }
    audit.complete(SystemTime::now())
}
