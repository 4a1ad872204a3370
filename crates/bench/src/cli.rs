//! The command line of `fyke bench` and `cargo xtask bench`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail, ensure};

use crate::args::SharedArgs;
use crate::contender::args::ContenderArgs;
use crate::contender::choose::choose;
use crate::data::store::Store;
use crate::definition::{self, Group};
use crate::machine::Facts;
use crate::print;
use crate::record::cpu::CpuRecord;
use crate::record::file::Heading;
use crate::run::measure::measure;
use crate::run::settings::{Defaults, RunSettings};
use crate::session;
use crate::summary;
use crate::table;

/// Measures fyke's engines and other matchers on the same patterns and data.
///
/// Every contender is verified before it is timed: count and fingerprint of its matches have to
/// agree. Contenders take their samples in turn. Absent ones are named with the reason.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to measure
    #[command(flatten)]
    pub shared: SharedArgs,

    /// Verify all cells and time nothing; on the small haystacks, but golden rows in full
    #[arg(long)]
    pub verify_only: bool,

    /// Measure cells too that need several gigabytes of memory
    #[arg(long)]
    pub huge: bool,

    /// List the cells and stop
    #[arg(short, long)]
    pub list: bool,

    /// Compare with an earlier record
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,

    /// Compare two contenders in every cell, as OURS/THEIRS
    #[arg(long, value_name = "A/B")]
    pub pair: Option<String>,

    /// Print a record as a Markdown document, and measure nothing
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,

    /// Print this run as a Markdown document at its end
    #[arg(long)]
    pub markdown: bool,

    /// Which engines and rivals
    #[command(flatten)]
    pub contenders: ContenderArgs,
}

/// The kind of these records.
const KIND: &str = "cells";

/// Seconds of samples and milliseconds of builds for each cell.
const DEFAULTS: Defaults = Defaults { seconds: [10.0, 0.5], rebuild: [2000, 20], min_rounds: 5 };

/// Runs the benchmark and prints to standard output.
///
/// # Errors
/// Definitions or data are not well formed, or printing fails. The exit code is 1 if a contender
/// found wrong matches.
pub fn run(args: &Args) -> Result<ExitCode> {
    run_to(args, &mut io::stdout().lock())
}

/// The same, printing to `out`.
///
/// # Errors
/// As [`run()`].
pub fn run_to(args: &Args, out: &mut dyn Write) -> Result<ExitCode> {
    if let Some(file) = &args.report {
        write!(out, "{}", table::document(&CpuRecord::load(file)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    let place = args.shared.place()?;
    let groups = select(definition::load(&place.benchmarks.join("definitions"))?, args)?;
    if args.list {
        print::list(out, &groups)?;
        return Ok(ExitCode::SUCCESS);
    }
    let contenders = choose(&args.contenders.selection(&[], None))?;
    let mut facts = Facts::gather();
    let settings = RunSettings::new(&args.shared, args.verify_only, DEFAULTS, &mut facts)?;
    session::start(out, &facts, &contenders, &args.contenders.require, args.verify_only)?;
    let mut record = CpuRecord::new(facts);
    record.sections = groups.iter().map(heading).collect();
    let mut store = Store::open(place)?;
    for cell in groups.iter().flat_map(|g| &g.cells) {
        let rows = measure(cell, &contenders, &mut store, &settings)?;
        print::cell(out, &rows, args.verify_only)?;
        record.rows.extend(rows);
    }
    finish(args, &record, out)
}

fn heading(group: &Group) -> Heading {
    let Group { name, axis, about, .. } = group;
    Heading { name: name.clone(), axis: axis.clone(), about: about.clone() }
}

/// The cells that the arguments ask for.
fn select(mut groups: Vec<Group>, args: &Args) -> Result<Vec<Group>> {
    let quick = args.shared.quick || args.verify_only;
    for group in &mut groups {
        group.cells.retain(|c| {
            let fits = (!c.huge || args.huge) && !(c.slow && quick);
            args.shared.wants(&c.name) && (args.list || fits)
        });
    }
    groups.retain(|g| !g.cells.is_empty());
    ensure!(!groups.is_empty(), "no cell is left; --list shows their names");
    Ok(groups)
}

fn finish(args: &Args, record: &CpuRecord, out: &mut dyn Write) -> Result<ExitCode> {
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
    if let Some(folder) = &args.shared.record {
        writeln!(out, "record: {}", record.save(folder, KIND)?.display())?;
    }
    if let Some(line) = summary::line(&summary::comparisons(record)) {
        writeln!(out, "{line}")?;
    }
    Ok(session::exit_code(record))
}

fn pair(names: &str, record: &CpuRecord, out: &mut dyn Write) -> Result<()> {
    let Some((ours, theirs)) = names.split_once('/') else {
        bail!("--pair {names:?}: write two names with / between");
    };
    let comparisons = summary::pair(record, ours, theirs);
    for c in &comparisons {
        writeln!(out, "{:>7.3}x  {}", c.ratio, c.cell)?;
    }
    if let Some(line) = summary::line(&comparisons) {
        writeln!(out, "{ours} against {theirs}: {line}")?;
    }
    Ok(())
}

fn baseline(file: &Path, record: &CpuRecord, out: &mut dyn Write) -> Result<()> {
    let changes = summary::changes(&CpuRecord::load(file)?, record);
    ensure!(!changes.is_empty(), "{} has no row of this run's cells and data", file.display());
    for c in &changes {
        let note = if c.clear { "" } else { "  (within the spread)" };
        writeln!(out, "{:>7.3}x  {}{note}", c.ratio, c.what)?;
    }
    Ok(())
}
