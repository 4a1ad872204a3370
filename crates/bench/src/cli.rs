//! The command line of `fyke bench` and `cargo xtask bench`.
//!
//! Both are three lines that parse [`Args`] and call [`run()`].

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail, ensure};

use crate::common::Common;
use crate::contender::{self, Choice, Contender};
use crate::data::{Extent, Store};
use crate::definition::{self, Group};
use crate::lanes::Limits;
use crate::machine::Facts;
use crate::print;
use crate::record::{About, Record, Status};
use crate::run::{self, Plan};
use crate::summary;
use crate::table;
use crate::timing::memory;
use crate::timing::sampling::Budget;

/// Measures fyke's engines and other matchers on the same patterns and data.
///
/// Every contender is verified before it is timed: the same number of matches, the same
/// fingerprint. Contenders run in turn, and whoever is absent is named with the reason.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only cells whose name contains TEXT; may be given several times
    #[arg(short, long, value_name = "TEXT")]
    pub filter: Vec<String>,

    /// An engine to take, as NAME or NAME:OPTION=VALUE; may be given several times. Without it,
    /// all engines that are meant for use
    #[arg(short, long, value_name = "ENGINE")]
    pub engine: Vec<String>,

    /// Take every engine of the registry, also slow ones
    #[arg(long, conflicts_with = "engine")]
    pub all_engines: bool,

    /// A rival library to take; may be given several times. Without it, all of them
    #[arg(short, long, value_name = "RIVAL", conflicts_with = "no_rivals")]
    pub rival: Vec<String>,

    /// Take no rival libraries
    #[arg(long)]
    pub no_rivals: bool,

    /// Contenders or programs that have to be there: it is an error if one is not
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub require: Vec<String>,

    /// Smaller haystacks and fewer samples: a few minutes in all
    #[arg(short, long)]
    pub quick: bool,

    /// Verify all cells and time nothing; on the smaller haystacks, but golden rows in full
    #[arg(long)]
    pub verify_only: bool,

    /// Take cells that need several gigabytes of memory
    #[arg(long)]
    pub huge: bool,

    /// List the cells and stop
    #[arg(short, long)]
    pub list: bool,

    /// Write the record to DIR/MACHINE/DATE.csv
    #[arg(long, value_name = "DIR")]
    pub record: Option<PathBuf>,

    /// Compare with an earlier record
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,

    /// Compare two contenders in every cell, as OURS/THEIRS
    #[arg(long, value_name = "A/B")]
    pub pair: Option<String>,

    /// Print tables of a record as a Markdown document, and measure nothing
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,

    /// Print the tables of this run as a Markdown document at its end
    #[arg(long)]
    pub markdown: bool,

    /// How long, how much, where
    #[command(flatten)]
    pub common: Common,
}

/// Runs the benchmark and prints to standard output.
///
/// # Errors
/// Definitions or data are unsound, or nothing can be printed. The exit code is 1 if a contender
/// found wrong matches or a required one is absent.
pub fn run(args: &Args) -> Result<ExitCode> {
    run_to(args, &mut io::stdout().lock())
}

/// The same, printing to `out`.
///
/// # Errors
/// As [`run()`].
pub fn run_to(args: &Args, out: &mut dyn Write) -> Result<ExitCode> {
    if let Some(file) = &args.report {
        write!(out, "{}", table::document(&Record::load(file)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    let place = args.common.place()?;
    let groups = select(definition::load(&place.benchmarks.join("definitions"))?, args)?;
    if args.list {
        print::list(out, &groups)?;
        return Ok(ExitCode::SUCCESS);
    }
    let contenders = contender::choose(&choice(args))?;
    let mut record = start(args, &groups, &contenders, out)?;
    let plan = plan(args, &mut record.facts)?;
    let mut store = Store::open(place)?;
    for cell in groups.iter().flat_map(|g| &g.cells) {
        record.rows.extend(run::run_cell(cell, &contenders, &mut store, &plan, out)?);
    }
    finish(args, &record, out)
}

/// Leaves the cells that the arguments ask for.
fn select(mut groups: Vec<Group>, args: &Args) -> Result<Vec<Group>> {
    for group in &mut groups {
        group.cells.retain(|c| {
            let wanted = args.filter.is_empty() || args.filter.iter().any(|f| c.name.contains(f));
            let quick = args.quick || args.verify_only;
            wanted && (args.list || (!c.huge || args.huge) && !(c.slow && quick))
        });
    }
    groups.retain(|g| !g.cells.is_empty());
    ensure!(!groups.is_empty(), "no cell is left: --list shows the names");
    Ok(groups)
}

fn choice(args: &Args) -> Choice {
    let rivals = if args.no_rivals { Some(Vec::new()) } else { None };
    let named = (!args.rival.is_empty()).then(|| args.rival.clone());
    Choice { engines: args.engine.clone(), rivals: named.or(rivals), all_engines: args.all_engines }
}

/// Prints and records what is known before anything is measured.
fn start(
    args: &Args,
    groups: &[Group],
    contenders: &[Contender],
    out: &mut dyn Write,
) -> Result<Record> {
    let facts = Facts::gather();
    print::facts(out, &facts)?;
    print::contenders(out, contenders)?;
    require(&args.require, contenders)?;
    if !args.verify_only && facts.get("profile") != "release" {
        writeln!(out, "warning: this is not a release build; its times say nothing")?;
    }
    let about =
        |g: &Group| About { name: g.name.clone(), axis: g.axis.clone(), about: g.about.clone() };
    Ok(Record { facts, groups: groups.iter().map(about).collect(), rows: Vec::new() })
}

/// Checks that everybody who has to be there is.
pub(crate) fn require(names: &[String], contenders: &[Contender]) -> Result<()> {
    for name in names {
        let library = contenders.iter().find(|c| c.name == *name).map(|c| c.rival.version());
        let program =
            || fyke_rivals::PROGRAMS.iter().find(|p| p.name() == name).map(|p| p.version());
        match library.or_else(program) {
            None => bail!("--require {name}: there is no such contender in this run"),
            Some(Err(why)) => bail!("--require {name}: {why}"),
            Some(Ok(_)) => {}
        }
    }
    Ok(())
}

/// Bounds and budgets; measures the memory if anything is timed.
fn plan(args: &Args, facts: &mut Facts) -> Result<Plan> {
    let quick = args.quick || args.verify_only;
    let time = args.common.time(if quick { 0.5 } else { 10.0 })?;
    let read_rate = if args.verify_only { 0.0 } else { memory::read_rate() };
    facts.add("haystacks", if quick { "quick sizes: a few MiB, in a cache" } else { "full sizes" });
    facts.add("ratios of", format!("{:?} time", args.common.clock).to_lowercase());
    if read_rate > 0.0 {
        facts.add("memory read rate of one thread, GB/s", format!("{read_rate:.2}"));
    }
    Ok(Plan {
        extent: match (args.verify_only, args.quick) {
            (true, _) => Extent::Verify,
            (false, true) => Extent::Quick,
            (false, false) => Extent::Full,
        },
        verify_only: args.verify_only,
        build_growth: false,
        limits: limits(args, quick),
        budget: budget(time, quick),
        clock: args.common.clock,
        read_rate,
    })
}

fn limits(args: &Args, quick: bool) -> Limits {
    let scan = Duration::from_secs(if quick { 5 } else { 60 });
    let rebuild = Duration::from_millis(match (args.verify_only, quick) {
        (true, _) => 0,
        (false, true) => 20,
        (false, false) => 2000,
    });
    args.common.limits(quick, scan, rebuild)
}

/// How long samples are taken.
pub(crate) fn budget(cell: Duration, quick: bool) -> Budget {
    if quick {
        let sample = Duration::from_millis(4);
        return Budget { cell, sample, min_rounds: 5, max_rounds: 51 };
    }
    Budget { cell, sample: Duration::from_millis(20), min_rounds: 5, max_rounds: 301 }
}

fn finish(args: &Args, record: &Record, out: &mut dyn Write) -> Result<ExitCode> {
    writeln!(out, "\n{}", summary::tally(record).trim_end())?;
    if args.markdown {
        writeln!(out, "\n{}", table::document(record))?;
    }
    if let Some(names) = &args.pair {
        pair(names, record, out)?;
    }
    if let Some(file) = &args.baseline {
        baseline(file, record, out)?;
    }
    if let Some(folder) = &args.record {
        writeln!(out, "record: {}", record.save(folder)?.display())?;
    }
    if let Some(line) = summary::line(&summary::duels(record)) {
        writeln!(out, "{line}")?;
    }
    let wrong = record.rows.iter().any(|r| r.status == Status::Wrong);
    Ok(if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn pair(names: &str, record: &Record, out: &mut dyn Write) -> Result<()> {
    let Some((ours, theirs)) = names.split_once('/') else {
        bail!("--pair {names:?}: write two names with / between");
    };
    let duels = summary::pair(record, ours, theirs);
    for d in &duels {
        writeln!(out, "{:>7.3}x  {}", d.ratio, d.cell)?;
    }
    if let Some(line) = summary::line(&duels) {
        writeln!(out, "{ours} against {theirs}: {line}")?;
    }
    Ok(())
}

fn baseline(file: &Path, record: &Record, out: &mut dyn Write) -> Result<()> {
    let changes = summary::changes(&Record::load(file)?, record);
    ensure!(!changes.is_empty(), "{} has no row of this run's cells and data", file.display());
    for c in &changes {
        let note = if c.clear { "" } else { "  (within the spread)" };
        writeln!(out, "{:>7.3}x  {}{note}", c.ratio, c.what)?;
    }
    Ok(())
}
