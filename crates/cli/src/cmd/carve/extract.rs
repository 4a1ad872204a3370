//! `fyke carve extract`: copies files out of the image.

use super::database::OpenDatabase;
use super::scan::folder::command_to_resume;
use super::scan::watch::ExtractWatch;
use super::select::SelectArgs;
use crate::number::counted;
use crate::outcome::Outcome;
use crate::run::interrupt;
use crate::warning;
use clap::Args;
use fyke_carve::CarvedFile;
use fyke_carve::extract::{self, ExtractError, ExtractOptions, Extracted};
use fyke_carve::layout::LayoutOptions;
use std::io::{self, Write};
use std::path::PathBuf;

const NOTES: &str = "\
The image is read once, and only where there are files. After a full disk or an interrupt, complete \
files are kept, and --resume writes the rest.

Examples:
  fyke carve extract found -o files                     all files
  fyke carve extract found -o files --id 3,17-20 --sha256
  fyke carve extract found -o files --type jpg --valid yes --validate
  fyke carve extract found -o files -O --no-embedded    one folder, no members of archives

Exit codes: 0 files extracted, 1 no file meets the conditions, 2 error, or a file is incomplete.";

/// Arguments of `fyke carve extract`.
#[derive(Args, Debug)]
#[command(after_help = NOTES)]
pub(super) struct ExtractArgs {
    /// The database of a scan, or the scan's output folder
    #[arg(value_name = "DB")]
    database: PathBuf,

    /// The folder to write to
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,

    /// Write the SHA-256 of each file to SHA256SUMS
    #[arg(long)]
    sha256: bool,

    /// Keep files that exist and have the right length, and write the others
    #[arg(long)]
    resume: bool,

    /// Write over files that exist, and begin even if there seems to be too little room
    #[arg(long)]
    force: bool,

    /// Write all files to one folder
    #[arg(short = 'O', long)]
    flat: bool,

    /// Write files without extensions
    #[arg(short = 'n', long)]
    no_extension: bool,

    #[command(flatten)]
    select: SelectArgs,
}

pub(super) fn run(args: &ExtractArgs) -> anyhow::Result<Outcome> {
    interrupt::install_request()?;
    let mut open = OpenDatabase::open(&args.database)?;
    let chosen = args.select.select(&mut open)?;
    if chosen.is_empty() {
        warning::print(format_args!("no file meets the conditions"));
        return Ok(Outcome::NoMatch);
    }
    let image = open.open_image(args.select.image.as_deref())?;
    let files: Vec<CarvedFile> = chosen.iter().map(|&i| open.files[i].clone()).collect();
    let layout = LayoutOptions {
        flat: args.flat,
        no_extension: args.no_extension,
        ..LayoutOptions::default()
    };
    let mut paths = open.paths(layout);
    let paths: Vec<PathBuf> = chosen.iter().map(|&i| std::mem::take(&mut paths[i])).collect();
    let options = ExtractOptions {
        sha256: args.sha256,
        resume: args.resume,
        force: args.force,
        ..ExtractOptions::default()
    };
    let mut watch = ExtractWatch::default();
    let done =
        extract::extract_watched(&*image, &files, &paths, &args.output, &options, &mut watch);
    watch.finish();
    match done {
        Ok(done) => report(&done),
        Err(error @ ExtractError::Interrupted { .. }) => interrupted(&error),
        Err(error) => Err(explain(error)),
    }
}

/// Says what was written, and what is incomplete.
fn report(done: &Extracted) -> anyhow::Result<Outcome> {
    let mut out = io::stdout().lock();
    let kept = match done.skipped {
        0 => String::new(),
        skipped => format!(", {} kept", counted(skipped, "file")),
    };
    writeln!(
        out,
        "{} written, {}{kept}",
        counted(done.files, "file"),
        counted(done.bytes, "byte")
    )?;
    warn_of_bad(done);
    if !done.short.is_empty() {
        let numbers: Vec<String> = done.short.iter().map(u64::to_string).collect();
        warning::print(format_args!("the image ends too soon for files {}", numbers.join(",")));
    }
    let is_complete = done.bad.is_empty() && done.short.is_empty();
    Ok(if is_complete { Outcome::Match } else { Outcome::Error })
}

/// Says which bytes are not the image's.
pub(super) fn warn_of_bad(done: &Extracted) {
    for range in &done.bad {
        let (start, len) = (range.start, counted(range.end - range.start, "byte"));
        warning::print(format_args!(
            "{len} at offset {start} cannot be read; files have zeros there"
        ));
    }
}

/// Says how to go on, and dies of the interrupt.
pub(super) fn interrupted(error: &ExtractError) -> ! {
    warning::print(format_args!("{error}; to go on:\n{}", command_to_resume()));
    interrupt::die()
}

/// Adds what to do.
fn explain(error: ExtractError) -> anyhow::Error {
    let advice = match &error {
        ExtractError::Read { .. } => {
            format!("when the image can be read again, go on with: {}", command_to_resume())
        }
        error if error.can_resume() => {
            format!("make room, then go on with: {}", command_to_resume())
        }
        ExtractError::Exists { .. } => {
            "--resume keeps complete files, and --force writes over all".to_owned()
        }
        ExtractError::NoSpace { .. } => "choose fewer files, or give --force".to_owned(),
        _ => return error.into(),
    };
    let text = format!("{:#}", anyhow::Error::new(error));
    anyhow::anyhow!("{text}\n{advice}").context("not all files were extracted")
}
