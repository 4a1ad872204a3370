//! The command line of `fyke bench cpu`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::layout::{self, Layout, Part};
use super::{growth, own, print, report};
use crate::cli::{budget, require};
use crate::common::Common;
use crate::contender::{self, Choice, Contender};
use crate::data::{Extent, Store};
use crate::definition;
use crate::machine::Facts;
use crate::print::facts as print_facts;
use crate::record::{About, Record, Row, Status};
use crate::run::{self, Plan};
use crate::summary;
use crate::timing::memory;
use crate::timing::sampling::Budget;

/// Measures what the processor's engines are judged by: a matrix of sets, data and rivals.
///
/// Every contender is verified before it is timed, all take their samples in turn, in one thread, and
/// every match is read. A line a cell says how fyke stands to the best rival; the last line is the
/// geometric mean of all cells and the worst of them.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only cells or sections whose name contains TEXT; may be given several times
    #[arg(short, long, value_name = "TEXT")]
    pub filter: Vec<String>,

    /// The engine to judge, as NAME or NAME:OPTION=VALUE. More may be given: they are measured too
    #[arg(short, long, value_name = "ENGINE", default_value = "auto")]
    pub engine: Vec<String>,

    /// Hold the engines to an instruction set, such as avx2; as if `isa=ISA` stood in each --engine
    #[arg(long, value_name = "ISA")]
    pub isa: Option<String>,

    /// A rival library to take; may be given several times. Without it, those that the matrix names,
    /// and all of them for --patterns
    #[arg(short, long, value_name = "RIVAL")]
    pub rival: Vec<String>,

    /// Contenders or programs that have to be there: it is an error if one is not
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub require: Vec<String>,

    /// Smaller haystacks, fewer cells and fewer samples: a few minutes in all
    #[arg(short, long)]
    pub quick: bool,

    /// Verify all cells and time nothing
    #[arg(long)]
    pub verify_only: bool,

    /// Write the record to DIR/MACHINE/DATE.csv
    #[arg(long, value_name = "DIR")]
    pub record: Option<PathBuf>,

    /// Print a record as a Markdown document, draw its plots, and measure nothing. Several records of one
    /// machine, such as of a section each, are put together; --record then writes what they make
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub report: Vec<PathBuf>,

    /// Where --report draws [default: plots/ in the folder of benchmarks]
    #[arg(long, value_name = "DIR", requires = "report")]
    pub plots: Option<PathBuf>,

    /// Build a set from standard input and print how far memory grew: what a run asks of a process of
    /// its own
    #[arg(long, value_name = "CONTENDER", hide = true)]
    pub build_growth: Option<String>,

    /// Files instead of the matrix
    #[command(flatten)]
    pub files: own::Files,

    /// How long, how much, where
    #[command(flatten)]
    pub common: Common,
}

/// Runs and prints to `out`.
///
/// # Errors
/// Files, definitions or data are unsound, or nothing can be written. The exit code is 1 if a
/// contender found wrong matches or a required one is absent.
pub fn run_to(args: &Args, out: &mut dyn Write) -> Result<ExitCode> {
    if let Some(name) = &args.build_growth {
        let limits = args.common.limits(false, Duration::ZERO, Duration::ZERO);
        growth::answer(name, limits.memory, &mut std::io::stdin().lock(), out)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some((first, more)) = args.report.split_first() {
        let mut record = Record::load(first)?;
        for file in more {
            record.add(Record::load(file)?).with_context(|| file.display().to_string())?;
        }
        return report::run_to(args, &record, out);
    }
    if let Some((cell, prepared)) = args.files.cell()? {
        return own_data(args, &cell, &prepared, out);
    }
    let place = args.common.place()?;
    let layout = layout::load(&place.benchmarks)?;
    let parts = select(args, &layout, &definition::load(&place.benchmarks.join("definitions"))?)?;
    let contenders = contender::choose(&choice(args, Some(&layout.rivals)))?;
    let (mut record, plan) = start(args, &contenders, out)?;
    record.groups = parts.iter().map(|p| about(&p.section)).collect();
    let mut store = Store::open(place)?;
    if !plan.verify_only {
        print::head(out)?;
    }
    all_cells(&parts, &contenders, &mut store, &plan, &mut record, out)?;
    for note in store.notes() {
        record.facts.add(&note.name, note.text.clone());
        writeln!(out, "{}: {}", note.name, note.text)?;
    }
    finish(args, &record, out)
}

fn about(section: &layout::Section) -> About {
    let layout::Section { name, axis, about, .. } = section;
    About { name: name.clone(), axis: axis.clone(), about: about.clone() }
}

/// The sections with the cells that the arguments ask for.
fn select(args: &Args, layout: &Layout, groups: &[definition::Group]) -> Result<Vec<Part>> {
    let mut parts = layout::parts(layout, groups, args.quick || args.verify_only)?;
    for part in &mut parts {
        let section = &part.section.name;
        let wanted = |name: &str| {
            args.filter.is_empty() || args.filter.iter().any(|f| name.contains(f) || section == f)
        };
        part.cells.retain(|c| wanted(&c.name));
    }
    parts.retain(|p| !p.cells.is_empty());
    ensure!(!parts.is_empty(), "no cell of the matrix is left: matrix/cpu.toml has the names");
    Ok(parts)
}

/// Who takes part. `rivals` are those to take if none is named; all if that is not given.
fn choice(args: &Args, rivals: Option<&[String]>) -> Choice {
    let named = (!args.rival.is_empty()).then_some(&args.rival[..]);
    Choice {
        engines: engines(args),
        rivals: named.or(rivals).map(<[String]>::to_vec),
        all_engines: false,
    }
}

/// The engines' specifications, with the instruction set that they are held to.
fn engines(args: &Args) -> Vec<String> {
    let held = |spec: &String| match &args.isa {
        None => spec.clone(),
        Some(isa) if spec.contains(':') => format!("{spec},isa={isa}"),
        Some(isa) => format!("{spec}:isa={isa}"),
    };
    args.engine.iter().map(held).collect()
}

/// Prints and records what is known before anything is measured.
fn start(args: &Args, contenders: &[Contender], out: &mut dyn Write) -> Result<(Record, Plan)> {
    let mut facts = Facts::gather();
    facts.add(summary::JUDGED, contenders[0].name.clone());
    let plan = plan(args, &mut facts)?;
    print_facts(out, &facts)?;
    crate::print::contenders(out, contenders)?;
    require(&args.require, contenders)?;
    if !plan.verify_only && facts.get("profile") != "release" {
        writeln!(out, "warning: this is not a release build; its times say nothing")?;
    }
    Ok((Record { facts, ..Record::default() }, plan))
}

/// Seconds of samples for a cell: 90 cells take some 3 minutes with `--quick`.
const QUICK_SECONDS: f64 = 0.3;
/// The same without it.
const SECONDS: f64 = 3.0;
/// Samples of a contender that there are in any case: on the largest haystacks a slow one takes seconds for
/// each.
const MIN_ROUNDS: usize = 3;

fn plan(args: &Args, facts: &mut Facts) -> Result<Plan> {
    let quick = args.quick || args.verify_only;
    let time = args.common.time(if quick { QUICK_SECONDS } else { SECONDS })?;
    let scan = Duration::from_secs(if quick { 5 } else { 60 });
    let rebuild = Duration::from_millis(match (args.verify_only, quick) {
        (true, _) => 0,
        (false, true) => 5,
        (false, false) => 300,
    });
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
        limits: args.common.limits(quick, scan, rebuild),
        budget: Budget { min_rounds: MIN_ROUNDS, ..budget(time, quick) },
        clock: args.common.clock,
        read_rate,
    })
}

fn all_cells(
    parts: &[Part],
    contenders: &[Contender],
    store: &mut Store,
    plan: &Plan,
    record: &mut Record,
    out: &mut dyn Write,
) -> Result<()> {
    let start = Instant::now();
    let count: usize = parts.iter().map(|p| p.cells.len()).sum();
    let mut done = 0;
    let of_part = |part: &'_ Part| vec![part.section.build_growth; part.cells.len()];
    let growth: Vec<bool> = parts.iter().flat_map(of_part).collect();
    for (cell, growth) in parts.iter().flat_map(|p| &p.cells).zip(growth) {
        done += 1;
        eprintln!("[{done:>3}/{count}] {:>4} s  {}", start.elapsed().as_secs(), cell.name);
        let plan = &Plan { build_growth: growth && plan.extent == Extent::Full, ..*plan };
        let rows = run::measure(cell, contenders, store, plan)?;
        show(record, &rows, cell.haystack.hostile.is_some(), plan, out)?;
        record.rows.extend(rows);
    }
    Ok(())
}

fn show(
    record: &Record,
    rows: &[Row],
    hostile: bool,
    plan: &Plan,
    out: &mut dyn Write,
) -> Result<()> {
    if plan.verify_only {
        crate::print::cell(out, rows, plan)?;
    } else {
        print::cell(out, record, rows, hostile)?;
    }
    Ok(())
}

fn own_data(
    args: &Args,
    cell: &definition::Cell,
    prepared: &crate::data::Prepared,
    out: &mut dyn Write,
) -> Result<ExitCode> {
    let contenders = contender::choose(&choice(args, None))?;
    let (mut record, plan) = start(args, &contenders, out)?;
    let about = "patterns and data of one's own".into();
    record.groups = vec![About { name: "own".into(), axis: "files".into(), about }];
    record.rows = run::contest(cell, prepared, &contenders, &plan);
    crate::print::cell(out, &record.rows, &plan)?;
    if !plan.verify_only {
        writeln!(out)?;
        print::head(out)?;
        print::cell(out, &record, &record.rows, false)?;
    }
    finish(args, &record, out)
}

fn finish(args: &Args, record: &Record, out: &mut dyn Write) -> Result<ExitCode> {
    writeln!(out, "\n{}", summary::tally(record).trim_end())?;
    if let Some(folder) = &args.record {
        writeln!(out, "record: {}", record.save(folder)?.display())?;
    }
    print::end(out, record)?;
    let wrong = record.rows.iter().any(|r| r.status == Status::Wrong);
    Ok(if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
