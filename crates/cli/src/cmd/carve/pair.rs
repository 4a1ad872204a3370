//! `fyke carve pair`: the hits of a scan under other rules, without reading the image.

use super::database::OpenDatabase;
use super::pair_flags::{PairFlags, write_hit_list};
use super::scan::watch::validate_files;
use crate::number::counted;
use crate::outcome::Outcome;
use crate::run::interrupt;
use anyhow::ensure;
use clap::Args;
use fyke_carve::database::{Contents, Database, Run, VALIDATED};
use fyke_carve::pair::{PairOptions, pair};
use fyke_carve::{RuleSet, again, conf};
use std::io::{self, Write};
use std::path::PathBuf;

const NOTES: &str = "\
The configuration may have other lengths, modes, extensions and footers than that of the scan, and \
fewer rules. Each header and footer must be one that was searched.

Examples:
  fyke carve pair found -c other.conf -o other.db       other lengths, modes, footers
  fyke carve pair found -b -q 512 -o other.db           files without footers, at sectors
  fyke carve pair found --compat 1.60 -o scalpel.db     as Scalpel 1.60 pairs them

Exit codes: 0 files found, 1 no file, 2 error.";

/// Arguments of `fyke carve pair`.
#[derive(Args, Debug)]
#[command(after_help = NOTES)]
pub(super) struct PairArgs {
    /// The database of a scan, or the scan's output folder
    #[arg(value_name = "DB")]
    database: PathBuf,

    /// The rules; by default those of the scan
    #[arg(short, long, value_name = "CONF")]
    conf: Option<PathBuf>,

    /// The database to write
    #[arg(short, long, value_name = "NEWDB")]
    output: PathBuf,

    /// Write over the new database if it exists
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    flags: PairFlags,

    /// Validate the files: JPEG, PNG, GIF, PDF and ZIP
    #[arg(long)]
    validate: bool,

    /// The image, if it was moved since the scan
    #[arg(long, value_name = "PATH", requires = "validate")]
    image: Option<PathBuf>,
}

pub(super) fn run(args: &PairArgs) -> anyhow::Result<Outcome> {
    let open = OpenDatabase::open(&args.database)?;
    let options = args.flags.options();
    let (run, rules) = rules(args, &open, &options)?;
    let hits = again::hits_for(&rules, &open.rules, &open.database.hits()?)?;
    let first = open.files.first().map_or(0, |file| file.number);
    let mut files = pair(&rules, &hits, &options, first);
    if args.validate {
        let image = open.open_image(args.image.as_deref())?;
        if !validate_files(&*image, &mut files) {
            interrupt::die();
        }
    }
    let bad = open.database.bad()?;
    let contents = Contents { run: &run, rules: &rules, hits: &hits, files: &files, bad: &bad };
    if args.flags.hit_list {
        write_hit_list(&hit_list_path(args)?, &rules, &hits, &options)?;
    }
    match args.force {
        true => Database::replace(&args.output, &contents)?,
        false => Database::create(&args.output, &contents)?,
    }
    writeln!(io::stdout(), "{}", counted(files.len(), "file"))?;
    Ok(if files.is_empty() { Outcome::NoMatch } else { Outcome::Match })
}

/// Where the list of hits goes: beside the new database. Neither must exist.
fn hit_list_path(args: &PairArgs) -> anyhow::Result<PathBuf> {
    let path = args.output.with_extension("hfd");
    if !args.force {
        for path in [&path, &args.output] {
            ensure!(!path.exists(), "{} exists; --force writes over it", path.display());
        }
    }
    Ok(path)
}

/// What the new database says of its run, and the rules.
fn rules(
    args: &PairArgs,
    open: &OpenDatabase,
    options: &PairOptions,
) -> anyhow::Result<(Run, RuleSet)> {
    let mut run = open.run.clone();
    if args.conf.is_some() {
        (run.conf_path, run.conf) = super::read_conf(args.conf.as_deref())?;
    }
    run.set_pair_options(options);
    match args.validate {
        true => run.options.insert(VALIDATED.to_owned(), "yes".to_owned()),
        false => run.options.remove(VALIDATED),
    };
    let reading = conf::Options { compat: options.compat };
    let rules = conf::parse(&run.conf, &run.conf_path, reading)?;
    Ok((run, rules))
}
