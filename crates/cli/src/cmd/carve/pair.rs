//! `fyke carve pair`: the hits of a scan under other rules, without reading the image.

use super::database::OpenDatabase;
use super::scan::watch::validate_files;
use crate::number;
use crate::outcome::Outcome;
use crate::run::interrupt;
use anyhow::{Context, ensure};
use clap::Args;
use fyke_carve::database::{Contents, Database, Run, VALIDATED};
use fyke_carve::pair::{PairOptions, pair};
use fyke_carve::{Compat, Hits, RuleSet, again, conf, hit_list};
use std::fs::File;
use std::io::{self, BufWriter, Write};
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

/// How to pair.
#[derive(Args, Debug)]
#[command(next_help_heading = "Pairing")]
pub(super) struct PairFlags {
    /// Carve files of FORWARD rules without a footer too, with the rule's longest length
    #[arg(short = 'b', long)]
    missing_footer: bool,

    /// Carve only files that begin at a multiple of this, such as the size of a cluster
    #[arg(short = 'q', long, value_name = "N", value_parser = number::within(1..=u64::MAX))]
    cluster: Option<u64>,

    /// Ignore hits that overlap an earlier hit of the same header or footer
    #[arg(short = 'r', long)]
    no_overlap: bool,

    /// Ignore hits in so many first bytes of the image
    #[arg(short = 's', long, value_name = "N", default_value = "0", hide_default_value = true, value_parser = number::size)]
    skip: u64,

    /// Write the offsets of all headers and footers to NEWDB with the extension hfd, too
    #[arg(short = 'd', long)]
    hit_list: bool,

    /// Reproduce the bugs of a version of Scalpel
    #[arg(long, value_name = "VERSION", value_parser = super::compat())]
    compat: Option<Compat>,
}

impl PairFlags {
    fn options(&self) -> PairOptions {
        PairOptions {
            missing_footer: self.missing_footer,
            cluster: self.cluster,
            no_overlap: self.no_overlap,
            skip: self.skip,
            all_footers: self.hit_list,
            compat: self.compat.unwrap_or_default(),
        }
    }
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
        write_hit_list(args, &rules, &hits, &options)?;
    }
    match args.force {
        true => Database::replace(&args.output, &contents)?,
        false => Database::create(&args.output, &contents)?,
    }
    writeln!(io::stdout(), "{} files", files.len())?;
    Ok(if files.is_empty() { Outcome::NoMatch } else { Outcome::Match })
}

/// Writes the list of hits beside the new database, which must not exist, as the list must not.
fn write_hit_list(
    args: &PairArgs,
    rules: &RuleSet,
    hits: &Hits,
    options: &PairOptions,
) -> anyhow::Result<()> {
    let path = args.output.with_extension("hfd");
    if !args.force {
        for path in [&path, &args.output] {
            ensure!(!path.exists(), "{} exists; --force writes over it", path.display());
        }
    }
    let write = || {
        let mut out = BufWriter::new(File::create(&path)?);
        hit_list::write(&mut out, rules, hits, options)?;
        out.flush()
    };
    write().with_context(|| format!("cannot write {}", path.display()))
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
