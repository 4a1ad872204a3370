//! The command line of `fyke bench gpu`.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use anyhow::{Context, Result};
use fyke_core::PatternSet;

use super::columns::{GpuColumns, GpuRecord, GpuRow};
use super::layout::{self, FILTER, Packets, RowDefinition};
use super::packets::{self, Traffic};
use super::resident::{How, resident};
use super::spread::spread;
use super::stream::{StreamTimes, WayTimes, streams};
use super::turn::Turn;
use super::verify::WRONG;
use super::{plot, print};
use crate::args::SharedArgs;
use crate::data::store::{Extent, Prepared, Store};
use crate::machine::{DEVICE, Facts};
use crate::own_data::OwnFiles;
use crate::record::row::Status;
use crate::size::Size;
use crate::timing::clock::Clock;
use crate::timing::stats::Stats;

/// Measures the GPU engines on texts in device memory.
///
/// Every row is verified first: count and fingerprint have to be those of a CPU engine. The rate
/// is on the device's clock, beside that of a kernel which only reads the same memory. Packets are in
/// host memory: their rate is on the wall clock, beside that of plain copies.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to measure
    #[command(flatten)]
    pub shared: SharedArgs,

    /// Measure this engine, as NAME or NAME:OPTION=VALUE, instead of the row's; may be given
    /// several times
    #[arg(short, long, value_name = "ENGINE")]
    pub engine: Vec<String>,

    /// Verify all rows and time nothing
    #[arg(long, conflicts_with_all = ["stream", "devices"])]
    pub verify_only: bool,

    /// Bytes of text to hold on the device, or to copy to it: the text is repeated [default: 4 GiB,
    /// 64 MiB with --quick]
    #[arg(long, value_name = "SIZE")]
    pub resident: Option<Size>,

    /// Copy the text to the device in each search: from pinned memory, from other memory, from
    /// memory that is registered with the driver, and from a cached file; also measure plain
    /// copies, and a CPU engine
    #[arg(long)]
    pub stream: bool,

    /// Threads of the CPU engine for packets and with --stream, and threads that read the file
    /// [default: the number of cores]
    #[arg(short = 'j', long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,

    /// Also distribute the text over N devices, and compare with one
    #[arg(long, value_name = "N", conflicts_with = "stream")]
    #[arg(value_parser = clap::value_parser!(u8).range(2..))]
    pub devices: Option<u8>,

    /// Give engines the text as sample data, as `fyke scan --sample` does
    #[arg(long)]
    pub sample: bool,

    /// With --patterns, count matches instead of writing records; rows of the matrix say which
    /// they do
    #[arg(long)]
    pub count: bool,

    /// Print what was compiled for each row
    #[arg(short, long)]
    pub verbose: bool,

    /// Draw a record and measure nothing: the rows under the bounds of the memory, and the ladder
    /// of the papers' engines
    #[arg(long, value_name = "FILE", conflicts_with_all = ["record", "stream"])]
    pub report: Option<PathBuf>,

    /// Where --report draws [default: plots/ in the folder of benchmarks]
    #[arg(long, value_name = "DIR", requires = "report")]
    pub plots: Option<PathBuf>,

    /// Files instead of the rows
    #[command(flatten)]
    pub files: OwnFiles,
}

/// Bytes of text, full and with `--quick`.
const RESIDENT: [usize; 2] = [4 << 30, 64 << 20];

impl Args {
    fn bytes(&self) -> usize {
        self.resident.map_or(RESIDENT[usize::from(self.shared.quick)], |s| s.0)
    }

    fn threads(&self) -> usize {
        let cores = || thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        self.threads.unwrap_or_else(cores).get()
    }

    fn how(&self, row: &RowDefinition) -> How {
        let (sample, counted) = (self.sample, row.counted);
        How { sample, counted, verify_only: self.verify_only }
    }

    /// The kind of these records.
    fn kind(&self) -> String {
        match self.devices {
            _ if self.stream => "stream".into(),
            Some(devices) => format!("{devices}-devices"),
            None => "gpu".into(),
        }
    }
}

/// Runs and prints to `out`.
///
/// # Errors
/// Files or data are not well formed, or writing fails. The exit code is 1 if a row found wrong
/// matches or could not be measured.
pub fn run_to(args: &Args, out: &mut dyn Write) -> Result<ExitCode> {
    if let Some(file) = &args.report {
        let folder = args.shared.plots(args.plots.as_ref())?;
        for drawn in plot::draw(&GpuRecord::load(file)?, &folder)? {
            writeln!(out, "{}", drawn.display())?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let _turn = Turn::wait();
    let mut record = GpuRecord::new(Facts::gather());
    for cell in cells(args, out)? {
        let row = &cell.row;
        let engines =
            if args.engine.is_empty() { vec![row.engine.clone()] } else { args.engine.clone() };
        for engine in engines {
            let blank = blank(row, &cell.prepared, &engine, args);
            let rows = match measure(args, &cell, &engine, &blank, out) {
                Ok(rows) => rows,
                Err(why) => vec![failed(blank, &format!("{why:#}"))],
            };
            rows.iter().try_for_each(|r| print::row(out, r))?;
            record.rows.extend(rows);
        }
    }
    let bad = |r: &GpuRow| matches!(r.status, Status::Wrong | Status::Refused);
    let failed = record.rows.iter().any(bad);
    if let Some(folder) = &args.shared.record {
        let device = record.rows.iter().map(|r| &r.extra.device).find(|d| !d.is_empty());
        device.cloned().iter().for_each(|name| record.facts.add(DEVICE, name));
        writeln!(out, "record: {}", record.save(folder, &args.kind())?.display())?;
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The row before it is measured.
fn blank(row: &RowDefinition, prepared: &Prepared, engine: &str, args: &Args) -> GpuRow {
    let cell = row.cell();
    let sampled = if args.sample { " sampled" } else { "" };
    GpuRow {
        section: "gpu".into(),
        contender: format!("{engine}{sampled}"),
        threads: 1,
        patterns: prepared.set.len(),
        pattern_bytes: prepared.set.total_bytes(),
        haystack: cell.haystack.corpus.unwrap_or_default(),
        bytes: args.bytes(),
        haystack_sha256: prepared.sha256.clone(),
        extra: GpuColumns {
            devices: 1,
            way: "resident".into(),
            counted: row.counted,
            must: row.must,
            aim: row.aim,
            ..GpuColumns::default()
        },
        cell: cell.name,
        ..GpuRow::default()
    }
}

fn failed(row: GpuRow, why: &str) -> GpuRow {
    let status = if why.contains(WRONG) { Status::Wrong } else { Status::Refused };
    GpuRow { status, reason: why.into(), ..row }
}

/// Measures one engine on one row.
fn measure(
    args: &Args,
    cell: &ReadyRow,
    engine: &str,
    blank: &GpuRow,
    out: &mut dyn Write,
) -> Result<Vec<GpuRow>> {
    let ReadyRow { row, prepared, sets } = cell;
    if let Some(cut) = &row.packets {
        return packet_rows(args, prepared, sets, cut, engine, blank);
    }
    if args.stream {
        return stream_rows(args, prepared, engine, blank);
    }
    let (set, text, bytes) = (&prepared.set, &prepared.haystack, args.bytes() as u64);
    let how = args.how(row);
    let times = resident(engine, set, text, how, bytes)?;
    if args.verbose {
        writeln!(out, "    {}", times.about)?;
    }
    let mut one = blank.clone();
    one.matches = Some(times.found.matches);
    one.fingerprint = format!("{:016x}", times.found.sum);
    (one.extra.backend, one.extra.device) = (times.backend.into(), times.device.clone());
    if args.verify_only {
        return Ok(vec![GpuRow { status: Status::Verified, ..one }]);
    }
    one.status = Status::Timed;
    one.set_times(&times.stats(), Clock::Device);
    one.set_rates(bytes as f64 / times.read_ns);
    one.extra.records = Some(times.records);
    one.extra.candidates = Some(times.candidates);
    let mut rows = vec![one];
    if let Some(devices) = args.devices.map(usize::from) {
        let samples = spread(engine, set, text, how, bytes, devices)
            .with_context(|| format!("{devices} devices"))?;
        rows.push(on_devices(&rows[0], &Stats::of(&samples), devices));
    }
    Ok(rows)
}

/// The row of several devices, beside that of one.
fn on_devices(one: &GpuRow, stats: &Stats, devices: usize) -> GpuRow {
    let mut row = one.clone();
    row.set_times(stats, Clock::Device);
    row.extra = GpuColumns {
        devices,
        records: None,
        candidates: None,
        gb_per_s: row.gb_per_s(),
        bound_gb_per_s: None,
        share: None,
        must: None,
        aim: None,
        times_one: Some(one.median_ns / stats.median),
        ..row.extra
    };
    row
}

fn stream_rows(
    args: &Args,
    prepared: &Prepared,
    engine: &str,
    blank: &GpuRow,
) -> Result<Vec<GpuRow>> {
    let threads = args.threads();
    let times = streams(engine, &prepared.set, &prepared.haystack, args.bytes(), threads)?;
    let row = |way: &WayTimes| GpuRow { threads, ..way_row(blank, &times, way) };
    Ok(times.ways.iter().map(row).collect())
}

/// The row of one way to search text in host memory.
fn way_row(blank: &GpuRow, times: &StreamTimes, way: &WayTimes) -> GpuRow {
    let mut row = blank.clone();
    (row.status, row.matches) = (Status::Timed, Some(way.matches));
    row.set_times(&way.stats, Clock::Wall);
    row.extra.way = way.way.into();
    (row.extra.must, row.extra.aim) = (None, None);
    (row.extra.backend, row.extra.device) = (times.backend.into(), times.device.clone());
    row.extra.devices = times.devices;
    row.set_rates(times.copy_rate);
    if times.devices > 1 {
        // Copies are measured to one device.
        (row.extra.bound_gb_per_s, row.extra.share) = (None, None);
    }
    row
}

fn packet_rows(
    args: &Args,
    prepared: &Prepared,
    sets: &[PatternSet],
    cut: &Packets,
    engine: &str,
    blank: &GpuRow,
) -> Result<Vec<GpuRow>> {
    let traffic = Traffic::new(&prepared.haystack, args.bytes(), cut);
    let patterns = sets.iter().map(PatternSet::len).sum();
    let blank = GpuRow { patterns, bytes: traffic.len(), ..blank.clone() };
    if args.verify_only {
        let matches = Some(packets::verify(engine, sets, &traffic)?);
        return Ok(vec![GpuRow { status: Status::Verified, matches, ..blank }]);
    }
    let threads = args.threads();
    let times = packets::packets(engine, sets, &traffic, cut.bytes.0, threads)?;
    let row = |way: &WayTimes| {
        let threads = if way.way == packets::ON_THREADS { threads } else { 1 };
        GpuRow { threads, ..way_row(&blank, &times, way) }
    };
    Ok(times.ways.iter().map(row).collect())
}

/// A row with its data.
struct ReadyRow {
    row: RowDefinition,
    prepared: Prepared,
    /// The sets that packets are searched for.
    sets: Vec<PatternSet>,
}

/// The rows with their data. Rows whose data is missing are named.
fn cells(args: &Args, out: &mut dyn Write) -> Result<Vec<ReadyRow>> {
    if let Some((cell, prepared)) = args.files.cell()? {
        let row = RowDefinition {
            name: cell.name,
            class: None,
            must: None,
            aim: None,
            engine: FILTER.into(),
            counted: args.count,
            patterns: cell.patterns,
            haystack: cell.haystack,
            packets: None,
        };
        return Ok(vec![ReadyRow { row, prepared, sets: Vec::new() }]);
    }
    let place = args.shared.place()?;
    let mut rows = layout::load(&place.benchmarks)?;
    rows.retain(|r| args.shared.wants(&r.name));
    let mut store = Store::open(place)?;
    let mut ready = Vec::new();
    for row in rows {
        if row.packets.is_some() && (args.sample || args.devices.is_some()) {
            writeln!(out, "{}: packets are measured without --sample and --devices", row.name)?;
            continue;
        }
        match ready_row(&mut store, &row) {
            Ok(cell) => ready.push(cell),
            Err(why) => writeln!(out, "{}: {why:#}", row.name)?,
        }
    }
    Ok(ready)
}

fn ready_row(store: &mut Store, row: &RowDefinition) -> Result<ReadyRow> {
    let prepared = store.prepare(&row.cell(), Extent::Full)?;
    let sets = match row.replay() {
        Some(replay) => store.replay(&row.cell(), &replay)?.sets,
        None => Vec::new(),
    };
    Ok(ReadyRow { row: row.clone(), prepared, sets })
}
