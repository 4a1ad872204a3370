//! The command line of `fyke bench cpu`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::layout::{self, Layout, SectionCells};
use super::{print, regret, report};
use crate::args::SharedArgs;
use crate::contender::args::ContenderArgs;
use crate::contender::choose::{Contender, choose};
use crate::contender::forced;
use crate::data::store::{Extent, Prepared, Store};
use crate::definition::{self, Cell};
use crate::growth;
use crate::machine::Facts;
use crate::own_data::OwnFiles;
use crate::print as print_run;
use crate::record::cpu::{CpuRecord, CpuRow};
use crate::record::file::{Heading, JUDGED};
use crate::run::measure;
use crate::run::settings::{Defaults, RunSettings};
use crate::session;
use crate::summary;

/// Measures the matrix by which the CPU engines are judged: sets, data and rivals.
///
/// Every contender is verified before it is timed. All take their samples in turn, in one thread,
/// and read every match. One line per cell compares fyke with the fastest rival; the last line has
/// the geometric mean over all cells and the worst cell.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to measure
    #[command(flatten)]
    pub shared: SharedArgs,

    /// Verify all cells and time nothing
    #[arg(long)]
    pub verify_only: bool,

    /// Print the planner's regret: the time of `auto` over that of the fastest of its choices, which
    /// are every product engine and every cut. --engine names other choices; no rival takes part
    #[arg(long, conflicts_with_all = ["all_engines", "rival", "require"])]
    pub regret: bool,

    /// Print a record as a Markdown document, draw its plots, and measure nothing. Several records
    /// of one machine, such as one per section, are merged; --record then writes the result
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub report: Vec<PathBuf>,

    /// Where --report draws [default: plots/ in the folder of benchmarks]
    #[arg(long, value_name = "DIR", requires = "report")]
    pub plots: Option<PathBuf>,

    /// Build a set from standard input and print how far memory grew: what a run asks of a separate
    /// process
    #[arg(long, value_name = "CONTENDER", hide = true)]
    pub build_growth: Option<String>,

    /// Which engines and rivals
    #[command(flatten)]
    pub contenders: ContenderArgs,

    /// Files instead of the matrix
    #[command(flatten)]
    pub files: OwnFiles,
}

/// Seconds of samples and milliseconds of builds for each cell. A slow contender takes seconds for
/// one sample of the largest haystacks, hence few rounds.
const DEFAULTS: Defaults = Defaults { seconds: [3.0, 0.3], rebuild: [300, 5], min_rounds: 3 };

/// The engine by which fyke is judged, unless another is named.
const JUDGE: &str = "auto";

/// Runs and prints to `out`.
///
/// # Errors
/// Files, definitions or data are not well formed, or writing fails. The exit code is 1 if a
/// contender found wrong matches.
pub fn run_to(args: &Args, out: &mut dyn Write) -> Result<ExitCode> {
    if let Some(name) = &args.build_growth {
        let limits = args.shared.limits(false, Duration::ZERO, Duration::ZERO);
        growth::answer(name, limits.memory, &mut std::io::stdin().lock(), out)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some((first, more)) = args.report.split_first() {
        return print_report(args, first, more, out);
    }
    if let Some((cell, prepared)) = args.files.cell()? {
        return own_data(args, &cell, &prepared, out);
    }
    let place = args.shared.place()?;
    let layout = layout::load(&place.benchmarks)?;
    let groups = definition::load(&place.benchmarks.join("definitions"))?;
    let sections = select(args, &layout, &groups)?;
    let contenders = contenders(args, Some(&layout.rivals))?;
    let (mut record, settings) = start(args, &contenders, out)?;
    record.sections = sections.iter().map(|s| s.section.heading()).collect();
    let mut store = Store::open(place)?;
    all_cells(args, &sections, &contenders, &mut store, &settings, &mut record, out)?;
    for note in store.notes() {
        record.facts.add(&note.name, note.text.clone());
        writeln!(out, "{}: {}", note.name, note.text)?;
    }
    finish(args, &record, out)
}

/// The contenders that the arguments ask for.
fn contenders(args: &Args, rivals: Option<&[String]>) -> Result<Vec<Contender>> {
    let named = &args.contenders;
    match args.regret {
        true => forced::contenders(&named.engine, named.isa.as_deref()),
        false => choose(&named.selection(&[JUDGE], rivals)),
    }
}

fn print_report(
    args: &Args,
    first: &Path,
    more: &[PathBuf],
    out: &mut dyn Write,
) -> Result<ExitCode> {
    let mut record = CpuRecord::load(first)?;
    for file in more {
        record.add(CpuRecord::load(file)?).with_context(|| file.display().to_string())?;
    }
    if let Some(folder) = &args.shared.record {
        eprintln!("record: {}", record.save(folder, &kind(args))?.display());
    }
    if args.regret {
        regret::table(out, &record)?;
        return Ok(ExitCode::SUCCESS);
    }
    let folder = args.shared.plots(args.plots.as_ref())?;
    let here = std::env::current_dir().unwrap_or_default();
    let link = folder.strip_prefix(&here).unwrap_or(&folder);
    write!(out, "{}", report::write(&record, &folder, link)?)?;
    Ok(ExitCode::SUCCESS)
}

/// The kind of these records: those that are limited to an instruction set have their own.
fn kind(args: &Args) -> String {
    let isa = args.contenders.isa.as_ref().map_or(String::new(), |isa| format!("-{isa}"));
    let kind = if args.regret { "regret" } else { "matrix" };
    format!("{kind}{isa}")
}

/// The sections with the cells that the arguments ask for.
fn select(args: &Args, layout: &Layout, groups: &[definition::Group]) -> Result<Vec<SectionCells>> {
    let quick = args.shared.quick || args.verify_only;
    let mut sections = layout::sections(layout, groups, quick)?;
    for part in &mut sections {
        let whole = args.shared.filter.contains(&part.section.name);
        part.cells.retain(|c| whole || args.shared.wants(&c.name));
        // The planner of a process is that of the library.
        part.cells.retain(|c| !args.regret || c.process.is_none());
    }
    sections.retain(|p| !p.cells.is_empty());
    ensure!(!sections.is_empty(), "no cell of the matrix is left; matrix/cpu.toml has their names");
    Ok(sections)
}

/// Prints and records what is known before anything is measured.
fn start(
    args: &Args,
    contenders: &[Contender],
    out: &mut dyn Write,
) -> Result<(CpuRecord, RunSettings)> {
    let mut facts = Facts::gather();
    facts.add(JUDGED, contenders[0].name.clone());
    let settings = RunSettings::new(&args.shared, args.verify_only, DEFAULTS, &mut facts)?;
    session::start(out, &facts, contenders, &args.contenders.require, args.verify_only)?;
    Ok((CpuRecord::new(facts), settings))
}

fn all_cells(
    args: &Args,
    sections: &[SectionCells],
    contenders: &[Contender],
    store: &mut Store,
    settings: &RunSettings,
    record: &mut CpuRecord,
    out: &mut dyn Write,
) -> Result<()> {
    let start = Instant::now();
    let count: usize = sections.iter().map(|s| s.cells.len()).sum();
    let mut unit = "";
    let cells = sections.iter().flat_map(|s| s.cells.iter().map(|c| (c, s.section.build_growth)));
    for (done, (cell, growth)) in cells.enumerate() {
        eprintln!("[{:>3}/{count}] {:>4} s  {}", done + 1, start.elapsed().as_secs(), cell.name);
        let build_growth = growth && settings.extent == Extent::Full;
        let settings = &RunSettings { build_growth, ..*settings };
        let rows = measure::measure(cell, contenders, store, settings)?;
        if let Some(row) = rows.first().filter(|r| !settings.verify_only && r.unit() != unit) {
            unit = row.unit();
            head(args, unit, out)?;
        }
        show(args, record, &rows, cell, settings, out)?;
        record.rows.extend(rows);
    }
    Ok(())
}

fn head(args: &Args, unit: &str, out: &mut dyn Write) -> Result<()> {
    match args.regret {
        true => regret::head(out)?,
        false => print::head(out, unit)?,
    }
    Ok(())
}

fn show(
    args: &Args,
    record: &CpuRecord,
    rows: &[CpuRow],
    cell: &Cell,
    settings: &RunSettings,
    out: &mut dyn Write,
) -> Result<()> {
    match (settings.verify_only, args.regret) {
        (true, _) => print_run::cell(out, rows, true)?,
        (false, true) => regret::cell(out, record, rows)?,
        (false, false) => print::cell(out, record, rows, cell.haystack.hostile.is_some())?,
    }
    Ok(())
}

fn own_data(
    args: &Args,
    cell: &Cell,
    prepared: &Prepared,
    out: &mut dyn Write,
) -> Result<ExitCode> {
    let contenders = contenders(args, None)?;
    let (mut record, settings) = start(args, &contenders, out)?;
    let [name, axis, about] =
        ["own", "files", "The user's own patterns and data"].map(String::from);
    record.sections = vec![Heading { name, axis, about }];
    record.rows = measure::contest(cell, prepared, &contenders, &settings);
    print_run::cell(out, &record.rows, settings.verify_only)?;
    if !settings.verify_only {
        writeln!(out)?;
        head(args, "ns/B", out)?;
        show(args, &record, &record.rows, cell, &settings, out)?;
    }
    finish(args, &record, out)
}

fn finish(args: &Args, record: &CpuRecord, out: &mut dyn Write) -> Result<ExitCode> {
    writeln!(out, "\n{}", summary::tally(record).trim_end())?;
    if let Some(folder) = &args.shared.record {
        writeln!(out, "record: {}", record.save(folder, &kind(args))?.display())?;
    }
    match args.regret {
        true => regret::table(out, record)?,
        false => print::end(out, record)?,
    }
    Ok(session::exit_code(record))
}
