//! The command line of `fyke bench paper`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, ensure};

use super::claim::Verdict;
use super::definition::{self, Definition};
use super::grid::Grid;
use super::measure::{self, Plan, Readings};
use super::{plot, print, write};
use fyke_bench::common::Common;
use fyke_bench::data::Store;
use fyke_bench::machine::{self, Facts};
use fyke_bench::timing::sampling::Budget;

/// Prints a table or figure of a paper again, beside the paper's own figures.
///
/// Every engine is verified before it is timed. One line a claim of the paper says whether it holds
/// here.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The table: `list` shows the names, `all` takes all of them
    #[arg(value_name = "ID")]
    pub id: String,

    /// Smaller haystacks and fewer samples: a few minutes for all tables
    #[arg(short, long)]
    pub quick: bool,

    /// Draw what the paper draws, as DIR/ID.svg
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,

    /// Write every cell to DIR/ID.csv
    #[arg(long, value_name = "DIR")]
    pub csv: Option<PathBuf>,

    /// How long, how much, where
    #[command(flatten)]
    pub common: Common,
}

/// Verdicts and cells, counted.
#[derive(Debug, Default)]
struct Tally {
    holds: usize,
    fails: usize,
    untold: usize,
    skipped: usize,
    wrong: usize,
}

/// Runs and prints to `out`.
///
/// # Errors
/// There is no such table, definitions or data are unsound, or nothing can be written. The exit code
/// is 1 if an engine found wrong matches.
pub fn run_to(args: &Args, out: &mut dyn Write) -> Result<ExitCode> {
    fyke::registry::add(crate::engines());
    let place = args.common.place()?;
    let definitions = definition::load(&place.benchmarks.join("definitions/papers"))?;
    if args.id.eq_ignore_ascii_case("list") {
        print::list(out, &definitions)?;
        return Ok(ExitCode::SUCCESS);
    }
    let wanted = select(&definitions, &args.id)?;
    let plan = plan(args)?;
    let mut facts = Facts::gather();
    facts.add("haystacks", if args.quick { "quick sizes" } else { "full sizes" });
    if facts.get("profile") != "release" {
        writeln!(out, "warning: this is not a release build; its times say nothing")?;
    }
    let mut store = Store::open(place)?;
    let mut tally = Tally::default();
    for d in &wanted {
        one(d, args, &plan, &facts, &mut store, &mut tally, out)?;
    }
    summary(&wanted, &tally, out)?;
    Ok(if tally.wrong > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn select<'a>(definitions: &'a [Definition], id: &str) -> Result<Vec<&'a Definition>> {
    let wanted = |d: &&Definition| id.eq_ignore_ascii_case("all") || d.id.eq_ignore_ascii_case(id);
    let chosen: Vec<&Definition> = definitions.iter().filter(wanted).collect();
    let names = || definitions.iter().map(|d| &*d.id).collect::<Vec<_>>().join(", ");
    ensure!(!chosen.is_empty(), "there is no table {id:?}: take all or one of {}", names());
    Ok(chosen)
}

fn plan(args: &Args) -> Result<Plan> {
    let time = args.common.time(if args.quick { 2.0 } else { 30.0 })?;
    let scan = Duration::from_secs(if args.quick { 5 } else { 120 });
    let rebuild = Duration::from_millis(if args.quick { 20 } else { 1000 });
    Ok(Plan {
        quick: args.quick,
        limits: args.common.limits(false, scan, rebuild),
        budget: Budget {
            cell: time,
            sample: Duration::from_millis(if args.quick { 2 } else { 20 }),
            // A pass of the papers' slowest engines takes ten seconds.
            min_rounds: 3,
            max_rounds: 301,
        },
        clock: args.common.clock,
    })
}

fn one(
    d: &Definition,
    args: &Args,
    plan: &Plan,
    facts: &Facts,
    store: &mut Store,
    tally: &mut Tally,
    out: &mut dyn Write,
) -> Result<()> {
    print::heading(out, d)?;
    let readings = measure::measure(d, store, plan)?;
    let paper = Grid::of_paper(d);
    let figure = |r: usize, c: usize| readings[r][c].as_ref()?.figure.clone().ok();
    let here = Grid::of_measured(d, figure);
    let is_played =
        |r: usize, c: usize| readings[r][c].as_ref().is_some_and(|reading| reading.played);
    let judged = Grid::of_measured(d, |r, c| figure(r, c).filter(|_| !is_played(r, c)));
    writeln!(out)?;
    print::table(out, d, &paper, &here)?;
    writeln!(out)?;
    for claim in &d.claims {
        let verdict = claim.test_on(machine::cores(), d, &judged)?;
        tally.add(&verdict);
        print::verdict(out, &claim.says, &verdict)?;
    }
    tally.skipped += print::skipped(out, d, &readings)?;
    tally.wrong += wrong(&readings);
    print::machine(out, facts)?;
    print::devices(out, &readings)?;
    if let Some(folder) = &args.csv {
        write::csv(folder, d, &readings, [&paper, &here], facts)?;
    }
    if let (Some(folder), Some(wanted)) = (&args.svg, &d.plot) {
        plot::draw(folder, d, wanted, &paper, &here)?;
    }
    Ok(())
}

fn wrong(readings: &Readings) -> usize {
    let cells = readings.iter().flatten().flatten();
    cells.filter(|r| r.figure.as_ref().is_err_and(|s| s.wrong)).count()
}

impl Tally {
    fn add(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Holds(_) => self.holds += 1,
            Verdict::Fails(_) => self.fails += 1,
            Verdict::Untold(_) => self.untold += 1,
        }
    }
}

fn summary(wanted: &[&Definition], tally: &Tally, out: &mut dyn Write) -> Result<()> {
    let Tally { holds, fails, untold, skipped, wrong } = tally;
    let tables = if wanted.len() == 1 { "table" } else { "tables" };
    writeln!(
        out,
        "\n{} {tables}: {holds} claims hold, {fails} do not, {untold} cannot be told; {skipped} cells \
         skipped, {wrong} wrong",
        wanted.len()
    )?;
    Ok(())
}
