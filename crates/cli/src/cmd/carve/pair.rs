//! `fyke carve pair`: the hits of a scan under other rules, without reading the image.

use super::database::OpenDatabase;
use crate::number;
use crate::outcome::Outcome;
use clap::Args;
use fyke_carve::database::{Contents, Database, Run};
use fyke_carve::pair::{PairOptions, pair};
use fyke_carve::{Compat, RuleSet, again, conf, validate};
use std::io::{self, Write};
use std::path::PathBuf;

const NOTES: &str = "\
The configuration may have other lengths, modes, extensions and footers than that of the scan, and \
fewer rules. Each header and footer must be one that was searched.

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
            all_footers: false,
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
        validate::validate_all(&*image, &mut files, number::threads("0").unwrap_or(1));
    }
    let bad = open.database.bad()?;
    let contents = Contents { run: &run, rules: &rules, hits: &hits, files: &files, bad: &bad };
    match args.force {
        true => Database::replace(&args.output, &contents)?,
        false => Database::create(&args.output, &contents)?,
    }
    writeln!(io::stdout(), "{} files", files.len())?;
    Ok(if files.is_empty() { Outcome::NoMatch } else { Outcome::Match })
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
    let reading = conf::Options { compat: options.compat };
    let rules = conf::parse(&run.conf, &run.conf_path, reading)?;
    Ok((run, rules))
}
