//! The command line of `fyke bench paper`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use fyke_bench::args::SharedArgs;
use fyke_bench::data::Store;
use fyke_bench::machine::{self, DEVICE, Facts};

use super::claim::Verdict;
use super::definition::Definition;
use super::grid::Grid;
use super::load;
use super::measure::{self, MeasureSettings, Readings};
use super::record::{self, PaperRecord};
use super::{plot, print};

/// Measures a table or figure of a paper and prints it beside the paper's own figures.
///
/// Every engine is verified before it is timed. One line per claim of the paper says whether it
/// holds for the measured figures.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The table: `list` prints their names, `all` measures all of them
    #[arg(value_name = "ID")]
    pub id: String,

    /// What to measure
    #[command(flatten)]
    pub shared: SharedArgs,

    /// Draw what the paper draws, as DIR/ID.svg
    #[arg(long, value_name = "DIR")]
    pub plots: Option<PathBuf>,
}

/// The kind of these records.
const KIND: &str = "papers";

/// Verdicts and cells, counted.
#[derive(Debug, Default)]
struct Counts {
    holds: usize,
    fails: usize,
    untold: usize,
    skipped: usize,
    wrong: usize,
}

/// Runs and prints to `out`.
///
/// # Errors
/// There is no such table, definitions or data are not well formed, or writing fails. The exit
/// code is 1 if an engine found wrong matches.
pub fn run_to(args: &Args, out: &mut dyn Write) -> Result<ExitCode> {
    fyke::registry::add(crate::engines());
    let place = args.shared.place()?;
    let definitions = load::load(&place.benchmarks.join("definitions/papers"))?;
    if args.id.eq_ignore_ascii_case("list") {
        print::list(out, &definitions)?;
        return Ok(ExitCode::SUCCESS);
    }
    let wanted = select(&definitions, args)?;
    let settings = MeasureSettings::new(&args.shared)?;
    let mut facts = Facts::gather();
    facts.add("haystacks", if args.shared.quick { "quick sizes" } else { "full sizes" });
    if facts.get("profile") != "release" {
        writeln!(out, "warning: this is not a release build; its times mean nothing")?;
    }
    let mut record = PaperRecord::new(facts);
    let mut store = Store::open(place)?;
    let mut counts = Counts::default();
    for d in &wanted {
        print::heading(out, d)?;
        let readings = measure::measure(d, &mut store, &settings)?;
        show(d, args, &readings, &mut record, &mut counts, out)?;
    }
    summary(&wanted, &counts, out)?;
    if let Some(folder) = &args.shared.record {
        writeln!(out, "record: {}", record.save(folder, KIND)?.display())?;
    }
    Ok(if counts.wrong > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn select<'a>(definitions: &'a [Definition], args: &Args) -> Result<Vec<&'a Definition>> {
    let id = &args.id;
    let wanted = |d: &&Definition| id.eq_ignore_ascii_case("all") || d.id.eq_ignore_ascii_case(id);
    let chosen: Vec<&Definition> = definitions.iter().filter(wanted).collect();
    let names = || definitions.iter().map(|d| &*d.id).collect::<Vec<_>>().join(", ");
    ensure!(!chosen.is_empty(), "there is no table {id:?}: choose all or one of {}", names());
    let chosen: Vec<_> = chosen.into_iter().filter(|d| args.shared.wants(&d.id)).collect();
    ensure!(!chosen.is_empty(), "no table is left; `fyke bench paper list` shows their names");
    Ok(chosen)
}

/// Prints a table with its claims, draws it, and adds it to the record.
fn show(
    d: &Definition,
    args: &Args,
    readings: &Readings,
    record: &mut PaperRecord,
    counts: &mut Counts,
    out: &mut dyn Write,
) -> Result<()> {
    let paper = Grid::of_paper(d);
    let figure = |r: usize, c: usize| readings[r][c].as_ref()?.figure.clone().ok();
    let here = Grid::of_measured(d, figure);
    let on_gpu = |r: usize, c: usize| readings[r][c].as_ref().is_none_or(|cell| !cell.on_pocl);
    let judged = Grid::of_measured(d, |r, c| figure(r, c).filter(|_| on_gpu(r, c)));
    writeln!(out)?;
    print::table(out, d, &paper, &here)?;
    writeln!(out)?;
    for claim in &d.claims {
        let verdict = claim.test_on(machine::cores(), d, &judged)?;
        counts.add(&verdict);
        print::verdict(out, &claim.says, &verdict)?;
    }
    counts.skipped += print::skipped(out, d, readings)?;
    counts.wrong += wrong(readings);
    print::machine(out, &record.facts)?;
    print::devices(out, readings)?;
    let gpus = || readings.iter().flatten().flatten().filter(|cell| !cell.on_pocl);
    if let Some(cell) = gpus().find(|cell| !cell.device.is_empty())
        && record.facts.get(DEVICE).is_empty()
    {
        let name = cell.device.split(" (").next().unwrap_or_default();
        record.facts.add(DEVICE, name);
    }
    record.rows.extend(record::rows(d, readings, &paper, &here));
    if let (Some(folder), Some(wanted)) = (&args.plots, &d.plot) {
        plot::draw(folder, d, wanted, &paper, &here)?;
    }
    Ok(())
}

fn wrong(readings: &Readings) -> usize {
    let cells = readings.iter().flatten().flatten();
    cells.filter(|r| r.figure.as_ref().is_err_and(|s| s.wrong)).count()
}

impl Counts {
    fn add(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Holds(_) => self.holds += 1,
            Verdict::Fails(_) => self.fails += 1,
            Verdict::Untold(_) => self.untold += 1,
        }
    }
}

fn summary(wanted: &[&Definition], counts: &Counts, out: &mut dyn Write) -> Result<()> {
    let Counts { holds, fails, untold, skipped, wrong } = counts;
    let tables = if wanted.len() == 1 { "table" } else { "tables" };
    writeln!(
        out,
        "\n{} {tables}: {holds} claims hold, {fails} do not, {untold} cannot be told; {skipped} cells \
         skipped, {wrong} wrong",
        wanted.len()
    )?;
    Ok(())
}
