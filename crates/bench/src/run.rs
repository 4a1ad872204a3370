//! A run: every cell is prepared, built, verified, timed.

use std::io::Write;

use anyhow::Result;
use fyke_core::Block;
use fyke_rivals::{Refusal, Tally};

use crate::contender::{Contender, Side};
use crate::data::{Extent, Prepared, Store};
use crate::definition::Cell;
use crate::lanes::{self, Lane, Limits};
use crate::machine::cores;
use crate::matrix::growth;
use crate::print;
use crate::process;
use crate::record::{Row, Status};
use crate::timing::sampling::{self, Budget, Pass};
use crate::timing::{Clock, Span, Stats};
use crate::verify::{self, Verdict};

/// How a run goes.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// How much of each haystack is taken.
    pub extent: Extent,
    /// Verifies and does not time.
    pub verify_only: bool,
    /// Builds once more in a process of its own, to see how far it grows.
    pub build_growth: bool,
    /// What contenders may cost.
    pub limits: Limits,
    /// How long samples are taken.
    pub budget: Budget,
    /// The clock that ratios are taken of.
    pub clock: Clock,
    /// Bytes per nanosecond that the memory gives; 0 if it was not measured.
    pub read_rate: f64,
}

/// Runs one cell and prints it.
///
/// # Errors
/// Data is unsound, or nothing can be printed. What is merely missing becomes a refused row.
pub fn run_cell(
    cell: &Cell,
    contenders: &[Contender],
    store: &mut Store,
    plan: &Plan,
    out: &mut dyn Write,
) -> Result<Vec<Row>> {
    let rows = measure(cell, contenders, store, plan)?;
    print::cell(out, &rows, plan)?;
    Ok(rows)
}

/// Runs one cell.
///
/// # Errors
/// Data is unsound. What is merely missing becomes a refused row.
pub fn measure(
    cell: &Cell,
    contenders: &[Contender],
    store: &mut Store,
    plan: &Plan,
) -> Result<Vec<Row>> {
    let prepared = match store.prepare(cell, plan.extent) {
        Ok(prepared) => prepared,
        Err(error) => {
            let refusal = error.downcast::<Refusal>()?;
            return Ok(vec![refused_cell(cell, &refusal)]);
        }
    };
    match cell.process {
        Some(output) => {
            let mut rows = process::run(cell, &prepared, output, plan)?;
            rate(&mut rows, plan);
            Ok(rows)
        }
        None => Ok(contest(cell, &prepared, contenders, plan)),
    }
}

/// Runs the libraries of a cell whose data is ready.
pub fn contest(
    cell: &Cell,
    prepared: &Prepared,
    contenders: &[Contender],
    plan: &Plan,
) -> Vec<Row> {
    let mut rows = compete(cell, prepared, contenders, plan);
    rate(&mut rows, plan);
    rows
}

/// What a row says before anybody competes.
pub fn blank(cell: &Cell, prepared: &Prepared) -> Row {
    let set = &prepared.set;
    Row {
        patterns: set.len(),
        pattern_bytes: set.total_bytes(),
        min_len: set.min_len(),
        max_len: set.max_len(),
        nocase: set.nocase_count(),
        haystack_bytes: prepared.haystack.len(),
        haystack_sha256: prepared.sha256.clone(),
        call_bytes: prepared.call,
        golden: prepared.golden.is_some(),
        ..named(cell)
    }
}

fn named(cell: &Cell) -> Row {
    Row {
        group: cell.group.clone(),
        cell: cell.name.clone(),
        haystack: haystack_name(cell),
        threads: threads(cell),
        work: cell.process.map_or(cell.work.name(), |p| p.name()).into(),
        ..Row::default()
    }
}

fn haystack_name(cell: &Cell) -> String {
    let haystack = &cell.haystack;
    if let Some(kind) = haystack.hostile {
        return format!("hostile {}", kind.name());
    }
    let planted = haystack.planted.unwrap_or(0);
    let made = || format!("random{} with {planted} % planted", haystack.alphabet);
    haystack.corpus.clone().unwrap_or_else(made)
}

fn threads(cell: &Cell) -> usize {
    if cell.threads == 0 { cores() } else { cell.threads }
}

fn refused_cell(cell: &Cell, why: &Refusal) -> Row {
    Row { contender: "-".into(), reason: why.to_string(), ..named(cell) }
}

fn compete(cell: &Cell, prepared: &Prepared, contenders: &[Contender], plan: &Plan) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut lanes = Vec::new();
    for contender in contenders {
        match lanes::open(contender, prepared, &plan.limits) {
            Ok(lane) => lanes.push(lane),
            Err(why) => rows.push(refused(blank(cell, prepared), contender, &why)),
        }
    }
    let verdicts = verify::verify(&lanes, prepared, threads(cell));
    let mut entered = Vec::new();
    for (lane, verdict) in lanes.iter().zip(verdicts) {
        let mut row = verified(blank(cell, prepared), lane, verdict);
        if plan.build_growth && row.status == Status::Verified {
            let grown = growth::measure(lane.contender, &prepared.set, plan.limits.memory);
            row.build_peak_bytes = grown.unwrap_or(0);
        }
        if row.status == Status::Verified { entered.push((lane, row)) } else { rows.push(row) }
    }
    if !plan.verify_only && !entered.is_empty() {
        time_all(cell, prepared, &mut entered, plan);
    }
    let mut all: Vec<Row> = entered.into_iter().map(|(_, row)| row).collect();
    all.append(&mut rows);
    all
}

fn refused(row: Row, contender: &Contender, why: &Refusal) -> Row {
    Row { reason: why.to_string(), ..entrant(row, contender) }
}

fn entrant(row: Row, contender: &Contender) -> Row {
    Row {
        contender: contender.name.clone(),
        side: contender.side.name().into(),
        isa: isa(&contender.name).into(),
        version: contender.rival.version().unwrap_or_default(),
        ..row
    }
}

/// The engine that works for a contender, if it is not the one that was asked for.
fn taken(lane: &Lane<'_>) -> String {
    let asked = lane.contender.name.split(':').next().unwrap_or("");
    lane.built.taken().filter(|t| t != asked).unwrap_or_default()
}

/// The instruction set that an engine's specification names.
fn isa(spec: &str) -> &str {
    let options = spec.split_once(':').map_or("", |(_, options)| options).split(',');
    options.filter_map(|o| o.strip_prefix("isa=")).next().unwrap_or("")
}

fn verified(row: Row, lane: &Lane<'_>, verdict: Verdict) -> Row {
    let row = Row {
        build_median: lane.build.median,
        builds: lane.build.samples,
        memory_bytes: lane.memory.map_or(0, |m| m.bytes),
        memory_from: lane.memory.map_or("", |m| m.from).into(),
        taken: taken(lane),
        ..entrant(row, lane.contender)
    };
    match verdict {
        Verdict::Same(tally) => found(Row { status: Status::Verified, ..row }, tally),
        Verdict::Refused(why) => Row { reason: why.to_string(), ..row },
        Verdict::Other { found: tally, expected, by } => {
            let reason = verify::explain(tally, expected, &by);
            found(Row { status: Status::Wrong, reason, ..row }, tally)
        }
    }
}

fn found(row: Row, tally: Tally) -> Row {
    Row { matches: tally.count, fingerprint: format!("{:016x}", tally.sum), ..row }
}

/// Times the contenders that were verified, in turn.
fn time_all(cell: &Cell, prepared: &Prepared, entered: &mut [(&Lane<'_>, Row)], plan: &Plan) {
    let threads = threads(cell);
    let mut passes: Vec<Pass<'_>> =
        entered.iter().map(|(lane, _)| pass(lane, cell, prepared, threads)).collect();
    if cell.call_cost {
        passes.extend(entered.iter().map(|(lane, _)| whole_pass(lane, cell, prepared)));
    }
    let samples = sampling::sample(&mut passes, &plan.budget);
    drop(passes);
    let count = entered.len();
    for (i, (_, row)) in entered.iter_mut().enumerate() {
        timed(row, &samples[i], plan.clock);
        if cell.call_cost {
            let whole = median(&samples[count + i], plan.clock);
            row.call_ns = (row.median() - whole) / prepared.calls() as f64;
        }
    }
}

fn pass<'a>(lane: &'a Lane<'_>, cell: &Cell, prepared: &'a Prepared, threads: usize) -> Pass<'a> {
    let work = cell.work.work();
    if threads > 1 {
        return Box::new(move || {
            std::hint::black_box(lane.scan(prepared, threads, work)).expect("verified before");
        });
    }
    let mut scanner = lane.built.scanner().expect("verified before");
    if prepared.batch {
        let pieces: Vec<&[u8]> = prepared.pieces().collect();
        return Box::new(move || {
            let tally = scanner.scan_each(std::hint::black_box(&pieces), work);
            std::hint::black_box(tally).expect("verified before");
        });
    }
    Box::new(move || {
        for piece in prepared.pieces() {
            let tally = scanner.scan(Block::whole(std::hint::black_box(piece)), work);
            std::hint::black_box(tally).expect("verified before");
        }
    })
}

/// The same bytes in one call, to tell the cost of a call from that of its bytes.
fn whole_pass<'a>(lane: &'a Lane<'_>, cell: &Cell, prepared: &'a Prepared) -> Pass<'a> {
    let work = cell.work.work();
    let mut scanner = lane.built.scanner().expect("verified before");
    Box::new(move || {
        let block = Block::whole(std::hint::black_box(&prepared.haystack[..]));
        std::hint::black_box(scanner.scan(block, work)).expect("verified before");
    })
}

fn median(samples: &[Span], clock: Clock) -> f64 {
    Stats::of(&samples.iter().map(|s| s.on(clock)).collect::<Vec<_>>()).median
}

/// Writes the statistics of a contender's samples into its row.
pub fn timed(row: &mut Row, samples: &[Span], clock: Clock) {
    let wall = Stats::of(&samples.iter().map(|s| s.wall).collect::<Vec<_>>());
    let cpu = Stats::of(&samples.iter().map(|s| s.cpu).collect::<Vec<_>>());
    row.status = Status::Timed;
    row.samples = wall.samples;
    (row.wall_min, row.wall_median, row.wall_max) = (wall.min, wall.median, wall.max);
    (row.wall_mad, row.outliers) = (wall.mad, wall.outliers);
    (row.cpu_min, row.cpu_median, row.cpu_mad) = (cpu.min, cpu.median, cpu.mad);
    // The processors' time says nothing about what several threads gain.
    let clock = if row.threads > 1 { Clock::Wall } else { clock };
    row.ns_per_byte = median(samples, clock) / row.haystack_bytes.max(1) as f64;
}

/// Fills in what compares contenders: the ratio to the best rival, the share of the read rate.
fn rate(rows: &mut [Row], plan: &Plan) {
    let theirs = |r: &&Row| r.is_timed() && r.side != Side::Ours.name() && r.contender != "fyke";
    let times = rows.iter().filter(theirs).map(Row::median);
    let best = times.fold(f64::INFINITY, f64::min);
    for row in rows.iter_mut().filter(|r| r.is_timed() && r.ns_per_byte > 0.0) {
        row.ratio = if best.is_finite() { best / row.median() } else { 0.0 };
        if plan.read_rate > 0.0 {
            row.read_share = 1.0 / row.ns_per_byte / plan.read_rate;
        }
    }
}
