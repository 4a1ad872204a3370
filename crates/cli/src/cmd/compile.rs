//! `fyke compile`: patterns to a database, which loads faster than they can be compiled.

use super::engines;
use crate::number::counted;
use crate::outcome::Outcome;
use crate::patterns::{self, Loaded, PatternArgs};
use crate::warning;
use anyhow::{Context, anyhow};
use clap::Args;
use fyke::{Part, Searcher};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;

const NOTES: &str = "\
A database has the patterns, where each comes from, and the tables of the engine. `--database DB` \
reads it in place of -e and -f. It is checked before it is used, and mapped into memory without a \
copy if only you or root may write to it. It does not depend on the CPU. docs/database-file.md \
describes the format.

Examples:
  fyke compile snort:web.rules -o web.fyke           the contents of rules
  fyke scan --database web.fyke -b traffic.pcap      a scan with them

Exit codes: 0 the database was written, 2 error.";

/// Arguments of `fyke compile`.
#[derive(Args, Debug)]
#[command(after_help = NOTES)]
pub(crate) struct CompileArgs {
    /// Files of patterns, as for -f
    #[arg(value_name = "[FORMAT:]FILE", conflicts_with = "database")]
    pattern_files: Vec<OsString>,

    #[command(flatten)]
    patterns: PatternArgs,

    /// The database to write, or `-` for standard output. A file that exists is replaced once the
    /// new one is complete
    #[arg(short, long, value_name = "DB", required_unless_present = "engine")]
    output: Option<PathBuf>,
}

pub(crate) fn run(mut args: CompileArgs) -> anyhow::Result<Outcome> {
    if args.patterns.engine == "help" {
        engines::print_table()?;
        return Ok(Outcome::Match);
    }
    let output = args.output.take().context("no output: name a database with -o DB")?;
    args.patterns.add_files(args.pattern_files);
    let patterns = patterns::load(&args.patterns)?;
    let searcher = searcher(&args.patterns, &patterns)?;
    warning::print_opencl_on_cpu(&args.patterns.engine);
    if output.as_os_str() == "-" {
        patterns.save(&searcher, BufWriter::new(io::stdout().lock()))?;
        return Ok(Outcome::Match);
    }
    let bytes = write(&output, |to| patterns.save(&searcher, to))
        .with_context(|| format!("cannot write the database {}", output.display()))?;
    let (set, parts) = (searcher.set(), searcher.matcher().parts());
    let (patterns, engines) = (counted(set.len(), "pattern"), Part::names(&parts));
    let mut out = io::stdout().lock();
    writeln!(out, "{}: {patterns} for {engines}, {bytes} bytes", output.display())?;
    Ok(Outcome::Match)
}

fn searcher(args: &PatternArgs, patterns: &Loaded) -> anyhow::Result<Searcher> {
    let set = patterns.pattern_set(args.ignore_case)?;
    let engine = patterns.engine(&args.engine);
    let mut builder = Searcher::builder().engine(engine);
    let options = patterns::options(args)?;
    if let Some(bytes) = options.memory_limit {
        builder = builder.memory_limit(bytes);
    }
    if let Some(sample) = options.sample {
        builder = builder.sample(sample);
    }
    builder.build(&set).map_err(|error| anyhow!("{error}"))
}

/// Writes a file under another name and renames it, so that no reader sees a part of it. Returns
/// its length.
fn write(
    path: &Path,
    save: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<u64> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", process::id()));
    let part = path.with_file_name(name);
    let written = (|| {
        let mut file = BufWriter::new(File::create_new(&part)?);
        save(&mut file)?;
        let bytes = file.into_inner().map_err(io::IntoInnerError::into_error)?.metadata()?.len();
        fs::rename(&part, path)?;
        Ok(bytes)
    })();
    if written.is_err() {
        // The error that is reported is the first one.
        let _ = fs::remove_file(&part);
    }
    written
}
