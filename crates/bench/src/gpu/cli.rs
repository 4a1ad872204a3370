//! The command line of `fyke bench gpu`.

use std::fs;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};

use super::print::{COLUMNS, STREAM_COLUMNS};
use super::rows::{self, Row};
use super::turn::Turn;
use super::{plot, run, stream};
use crate::common::Common;
use crate::data::{Extent, Prepared, Store};
use crate::machine::Facts;
use crate::matrix::own;
use crate::size::Size;

/// Measures engines of graphics processors on texts in device memory.
///
/// Every row is verified first: count and fingerprint have to be those of the processor. The rate is on the
/// device's clock, beside that of a kernel which only reads the same memory.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only rows whose name contains TEXT; may be given several times
    #[arg(short, long, value_name = "TEXT")]
    pub filter: Vec<String>,

    /// The engines to take, as NAME or NAME:OPTION=VALUE, in place of the row's; may be given several times
    #[arg(short, long, value_name = "ENGINE")]
    pub engine: Vec<String>,

    /// Bytes to hold on the device, or to bring to it: the text is repeated
    #[arg(long, value_name = "SIZE", default_value = "4 GiB")]
    pub resident: Size,

    /// Bring the text to the device anew for each search: from pinned memory, from other memory and from a file in the
    /// system's cache, beside plain copies and beside the processor
    #[arg(long)]
    pub stream: bool,

    /// Threads that read the file, and of the processor's engine; as many as there are cores if not given
    #[arg(short = 'j', long, value_name = "N", requires = "stream")]
    pub threads: Option<NonZeroUsize>,

    /// Also spread the text over so many devices, and say how many times as fast that is as one
    #[arg(long, value_name = "N", conflicts_with = "stream")]
    #[arg(value_parser = clap::value_parser!(u8).range(2..))]
    pub devices: Option<u8>,

    /// Show engines the text beforehand, as `fyke scan --sample` does
    #[arg(long)]
    pub sample: bool,

    /// Count the matches of the files in place of writing records; rows say themselves what they do
    #[arg(long)]
    pub count: bool,

    /// Say what was built for each row
    #[arg(short, long)]
    pub verbose: bool,

    /// Write the record to FILE
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,

    /// Draw a record and measure nothing: the rows under the roofs of the memory, and the papers' ladder
    #[arg(long, value_name = "FILE", conflicts_with_all = ["record", "stream"])]
    pub report: Option<PathBuf>,

    /// Where --report draws [default: plots/ in the folder of benchmarks]
    #[arg(long, value_name = "DIR", requires = "report")]
    pub plots: Option<PathBuf>,

    /// Files instead of the rows
    #[command(flatten)]
    pub files: own::Files,

    /// How long, how much, where
    #[command(flatten)]
    pub common: Common,
}

/// Runs and prints to `out`.
///
/// # Errors
/// Files or data are unsound, or nothing can be written. The exit code is 1 if a row found other matches than the
/// processor, or could not be measured.
pub fn run_to(args: &Args, out: &mut dyn Write) -> Result<ExitCode> {
    if let Some(file) = &args.report {
        let folder = match &args.plots {
            Some(folder) => folder.clone(),
            None => args.common.place()?.benchmarks.join("plots"),
        };
        for drawn in plot::draw(file, &folder)? {
            writeln!(out, "{}", drawn.display())?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let _turn = Turn::wait();
    let mut record = Vec::new();
    let facts = Facts::gather();
    for (name, value) in &facts.0 {
        record.push(format!("# {name}: {value}"));
    }
    record.push(if args.stream { STREAM_COLUMNS } else { COLUMNS }.into());
    let mut failed = false;
    for (row, prepared) in cells(args, out)? {
        for engine in engines(args, &row) {
            match measure(args, &row, &prepared, &engine, out) {
                Ok(lines) => record.extend(lines),
                Err(why) => {
                    failed = true;
                    record.push(format!("# {} {engine}: {why:#}", row.name));
                    writeln!(out, "{} {engine}: {why:#}", row.name)?;
                }
            }
        }
    }
    if let Some(file) = &args.record {
        fs::write(file, record.join("\n") + "\n").with_context(|| file.display().to_string())?;
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Measures and prints a row; its lines of the record.
fn measure(
    args: &Args,
    row: &Row,
    prepared: &Prepared,
    engine: &str,
    out: &mut dyn Write,
) -> Result<Vec<String>> {
    let (set, text, bytes) = (&prepared.set, &prepared.haystack, args.resident.0);
    if args.stream {
        let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let threads = args.threads.unwrap_or_else(cores).get();
        let streams = stream::streams(engine, set, text, bytes, threads)?;
        streams.lines(row, out)?;
        return Ok(streams.csv(row));
    }
    let how = run::How { sample: args.sample, counted: row.counted };
    let measured = run::resident(engine, set, text, how, bytes as u64)?;
    measured.line(row, out)?;
    if args.verbose {
        writeln!(out, "    {}", measured.about)?;
    }
    let mut record = vec![measured.csv(row)];
    if let Some(devices) = args.devices.map(usize::from) {
        let seconds = run::spread(engine, set, text, how, bytes as u64, devices)
            .with_context(|| format!("{devices} devices"))?;
        let (rate, times) = (bytes as f64 / seconds / 1e9, measured.seconds / seconds);
        let line = format!("{engine} on {devices} devices: {rate:.1} GB/s, {times:.2} times one");
        writeln!(out, "    {line}")?;
        record.push(format!("# {} {line}", row.name));
    }
    Ok(record)
}

fn engines(args: &Args, row: &Row) -> Vec<String> {
    if args.engine.is_empty() { vec![row.engine.clone()] } else { args.engine.clone() }
}

/// The rows with their data. Those whose data is not there are named.
fn cells(args: &Args, out: &mut dyn Write) -> Result<Vec<(Row, Prepared)>> {
    if let Some((cell, prepared)) = args.files.cell()? {
        let row = Row {
            name: cell.name,
            must: None,
            aim: None,
            engine: "gpu-filter".into(),
            counted: args.count,
            patterns: cell.patterns,
            haystack: cell.haystack,
        };
        return Ok(vec![(row, prepared)]);
    }
    let place = args.common.place()?;
    let mut rows = rows::load(&place.benchmarks)?;
    rows.retain(|r| args.filter.is_empty() || args.filter.iter().any(|f| r.name.contains(f)));
    let mut store = Store::open(place)?;
    let mut ready = Vec::new();
    for row in rows {
        match store.prepare(&row.cell(), Extent::Full) {
            Ok(prepared) => ready.push((row, prepared)),
            Err(why) => writeln!(out, "{}: {why:#}", row.name)?,
        }
    }
    Ok(ready)
}
