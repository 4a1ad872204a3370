//! The rows of a cell.

use fyke_core::PatternSet;
use fyke_rivals::{Memory, Refusal, SetCall, Tally};

use crate::contender::choose::{Contender, plain_spec};
use crate::data::replay::PreparedReplay;
use crate::data::sha256;
use crate::data::store::Prepared;
use crate::definition::Cell;
use crate::entrant::Entrant;
use crate::machine::cores;
use crate::record::cpu::{CpuColumns, CpuRow, REPLAY};
use crate::record::row::Status;
use crate::timing::clock::{Clock, Span};
use crate::timing::stats::Stats;
use crate::verify::{self, Verdict};

/// The row of a cell before any contender is known.
pub fn blank(cell: &Cell, prepared: &Prepared) -> CpuRow {
    let set = &prepared.set;
    let named = named(cell);
    CpuRow {
        patterns: set.len(),
        pattern_bytes: set.total_bytes(),
        bytes: prepared.haystack.len(),
        haystack_sha256: prepared.sha256.clone(),
        extra: CpuColumns {
            min_len: set.min_len(),
            max_len: set.max_len(),
            nocase: set.nocase_count(),
            call_bytes: prepared.call,
            golden: prepared.golden.is_some(),
            ..named.extra
        },
        ..named
    }
}

/// The row of a cell that replays calls with many sets. Patterns are those of all sets.
pub fn blank_replay(cell: &Cell, prepared: &PreparedReplay, calls: &[SetCall<'_>]) -> CpuRow {
    let (sets, named) = (&prepared.sets, named(cell));
    let sum = |of: fn(&PatternSet) -> usize| sets.iter().map(of).sum::<usize>();
    let scanned: Vec<&[u8]> = calls.iter().map(|c| c.haystack).collect();
    let scanned = scanned.concat();
    CpuRow {
        patterns: sum(PatternSet::len),
        pattern_bytes: sum(PatternSet::total_bytes),
        bytes: scanned.len(),
        haystack_sha256: sha256(&scanned),
        extra: CpuColumns {
            min_len: sets.iter().map(PatternSet::min_len).min().unwrap_or(0),
            max_len: sets.iter().map(PatternSet::max_len).max().unwrap_or(0),
            nocase: sum(PatternSet::nocase_count),
            call_bytes: scanned.len() / calls.len().max(1),
            sets: sets.len(),
            calls: calls.len(),
            ..named.extra
        },
        ..named
    }
}

fn named(cell: &Cell) -> CpuRow {
    let work = cell.process.map_or(cell.work.name(), |p| p.name());
    let work = cell.question.map_or(work, |q| q.0.name());
    let work = cell.replay.as_ref().map_or(work, |_| REPLAY).into();
    CpuRow {
        section: cell.group.clone(),
        cell: cell.name.clone(),
        haystack: haystack_name(cell),
        threads: threads(cell),
        extra: CpuColumns { work, ..CpuColumns::default() },
        ..CpuRow::default()
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

/// The threads of a cell.
pub fn threads(cell: &Cell) -> usize {
    if cell.threads == 0 { cores() } else { cell.threads }
}

/// The row of a cell whose data is missing.
pub fn refused_cell(cell: &Cell, why: &Refusal) -> CpuRow {
    CpuRow { contender: "-".into(), reason: why.to_string(), ..named(cell) }
}

/// The row of a contender that does not take part.
pub fn refused(row: CpuRow, contender: &Contender, why: &Refusal) -> CpuRow {
    CpuRow { reason: why.to_string(), ..of_contender(row, contender) }
}

/// The row of a contender of which nothing is known yet.
pub fn of_contender(mut row: CpuRow, contender: &Contender) -> CpuRow {
    row.contender = contender.name.clone();
    row.extra.side = contender.side.name().into();
    row.extra.isa = isa(&contender.name).into();
    row.extra.version = contender.rival.version().unwrap_or_default();
    row
}

/// The instruction set that an engine's specification names.
fn isa(spec: &str) -> &str {
    let options = spec.split_once(':').map_or("", |(_, options)| options).split([',', ':']);
    options.filter_map(|o| o.strip_prefix("isa=")).next().unwrap_or("")
}

/// Writes what building took into a contender's row, and which engines scan if they are not the one
/// that was asked for.
pub fn built(row: &mut CpuRow, build: &Stats, memory: Option<Memory>, taken: Option<String>) {
    let asked = plain_spec(&row.contender).split(':').next().unwrap_or("");
    row.extra.taken = taken.filter(|t| t != asked).unwrap_or_default();
    row.extra.build_median = build.median;
    row.extra.builds = build.samples;
    row.extra.memory_bytes = memory.map_or(0, |m| m.bytes);
    row.extra.memory_from = memory.map_or("", |m| m.from).into();
}

/// The row of a contender whose matches were compared.
pub fn verified(row: CpuRow, entrant: &Entrant<'_>, verdict: Verdict) -> CpuRow {
    let mut row = of_contender(row, entrant.contender);
    built(&mut row, &entrant.build, entrant.memory, entrant.built.taken());
    match verdict {
        Verdict::Same(tally) => found(CpuRow { status: Status::Verified, ..row }, tally),
        Verdict::Refused(why) => CpuRow { reason: why.to_string(), ..row },
        Verdict::Other { found: tally, expected, by } => {
            let reason = verify::explain(tally, expected, &by);
            found(CpuRow { status: Status::Wrong, reason, ..row }, tally)
        }
    }
}

fn found(row: CpuRow, tally: Tally) -> CpuRow {
    let fingerprint = format!("{:016x}", tally.sum);
    CpuRow { matches: Some(tally.count), fingerprint, ..row }
}

/// Writes the statistics of a contender's samples into its row.
pub fn timed(row: &mut CpuRow, samples: &[Span], clock: Clock) {
    let stats = |of: fn(&Span) -> f64| Stats::of(&samples.iter().map(of).collect::<Vec<_>>());
    let (wall, cpu) = (stats(|s| s.wall), stats(|s| s.cpu));
    row.status = Status::Timed;
    // CPU time does not show what several threads gain.
    let clock = if row.threads > 1 { Clock::Wall } else { clock };
    row.set_times(if clock == Clock::Cpu { &cpu } else { &wall }, clock);
    let extra = &mut row.extra;
    (extra.wall_min, extra.wall_median, extra.wall_max) = (wall.min, wall.median, wall.max);
    (extra.wall_mad, extra.outliers) = (wall.mad, wall.outliers);
    (extra.cpu_min, extra.cpu_median, extra.cpu_mad) = (cpu.min, cpu.median, cpu.mad);
}
