//! Text that a run of the matrix prints: one line per cell.

use std::io::{self, Write};

use crate::record::cpu::{CpuRecord, CpuRow, OWN_PROGRAM};
use crate::record::file::JUDGED;
use crate::record::row::Status;
use crate::summary;

/// The head of the table, with the unit of its times.
///
/// # Errors
/// `out` cannot be written.
pub fn head(out: &mut dyn Write, unit: &str) -> io::Result<()> {
    writeln!(
        out,
        "{:<42} {:>8} {:>8} {:>8} {:<20} {:>8} {:<18} {:>7} {:>9}",
        "cell", "patterns", unit, "ordered", "engine", unit, "fastest rival", "ratio", "matches/B"
    )
}

/// The line of a cell, and those of contenders that failed in it.
///
/// # Errors
/// `out` cannot be written.
pub fn cell(
    out: &mut dyn Write,
    record: &CpuRecord,
    rows: &[CpuRow],
    hostile: bool,
) -> io::Result<()> {
    let Some(first) = rows.first() else { return Ok(()) };
    let all: Vec<&CpuRow> = rows.iter().collect();
    let (ours, rival) = sides(record, &all);
    let ratio = match (ours, rival) {
        (Some(ours), Some(rival)) => format!("{:.2}x", rival.median_ns / ours.median_ns),
        _ => "-".into(),
    };
    writeln!(
        out,
        "{:<42} {:>8} {:>8} {:>8} {:<20} {:>8} {:<18} {:>7} {:>9.4}",
        first.cell,
        first.patterns,
        time(ours),
        time(ordered(record, &all)),
        ours.map_or("-", engine),
        time(rival),
        rival.map_or("-", |r| &r.contender),
        ratio,
        first.matches_per_byte(),
    )?;
    if let Some(costs) = summary::set_costs(record, &all) {
        writeln!(out, "    {costs}")?;
    }
    if hostile {
        writeln!(out, "    {}", complete(rows))?;
    }
    for row in rows.iter().filter(|r| has_line(r, hostile)) {
        let what = if row.status == Status::Wrong { "WRONG" } else { "refused" };
        writeln!(out, "    {} {what}: {}", row.contender, row.reason)?;
    }
    out.flush()
}

fn sides<'a>(record: &CpuRecord, rows: &[&'a CpuRow]) -> (Option<&'a CpuRow>, Option<&'a CpuRow>) {
    if rows.iter().any(|r| r.is_program()) {
        let [fyke, others] = summary::programs(rows);
        return (fyke, others);
    }
    (summary::ours(record, rows), summary::fastest(rows, CpuRow::is_rival))
}

/// The judged contender with sorted matches.
fn ordered<'a>(record: &CpuRecord, rows: &[&'a CpuRow]) -> Option<&'a CpuRow> {
    let name = format!("ordered:{}", record.facts.get(JUDGED));
    rows.iter().copied().find(|r| r.is_timed() && r.contender == name)
}

/// The engines that scanned.
fn engine(row: &CpuRow) -> &str {
    if row.extra.taken.is_empty() { &row.contender } else { &row.extra.taken }
}

fn time(row: Option<&CpuRow>) -> String {
    row.map_or("-".into(), |r| digits(r.time()))
}

/// A time per byte in picoseconds, or one per call.
fn digits(time: f64) -> String {
    if time < 1000.0 { format!("{time:.3}") } else { format!("{time:.0}") }
}

/// Whether a row has its own line: wrong matches, and refusals of fyke. Rivals that are not
/// installed or refuse the set are counted at the end.
fn has_line(row: &CpuRow, hostile: bool) -> bool {
    let ours = row.is_of_fyke() || row.contender == "-" || row.contender == OWN_PROGRAM;
    let failed = row.status == Status::Refused && (ours || hostile && is_installed(row));
    row.status == Status::Wrong || failed
}

/// Whether the contender is installed.
fn is_installed(row: &CpuRow) -> bool {
    !row.extra.version.is_empty()
}

/// Whether every installed rival completed a hostile haystack.
fn complete(rows: &[CpuRow]) -> String {
    let rivals = || rows.iter().filter(|r| r.is_rival() && is_installed(r));
    let fine = |r: &&CpuRow| matches!(r.status, Status::Timed | Status::Verified);
    let failed = rivals().filter(|r| !fine(r)).count();
    match failed {
        0 => format!("all {} rivals complete", rivals().count()),
        n => format!("{n} of {} rivals did not complete and are not compared:", rivals().count()),
    }
}

/// The lines at the end of a run: sections, losses, sorted matches, processes, and the mean.
///
/// # Errors
/// `out` cannot be written.
pub fn end(out: &mut dyn Write, record: &CpuRecord) -> io::Result<()> {
    let comparisons = summary::comparisons(record);
    for section in &record.sections {
        let own = summary::of_section(record, &comparisons, &section.name);
        if let Some(line) = summary::line(&own) {
            writeln!(out, "{:<12} {:>3} cells: {line}", section.name, own.len())?;
        }
    }
    let lost = summary::losses(&comparisons);
    writeln!(out, "cells below 1.0x: {}", lost.len())?;
    for c in lost {
        writeln!(out, "  {:.2}x {} against {}", c.ratio, c.cell, c.names.1)?;
    }
    let absent = unjudged(record);
    if !absent.is_empty() {
        writeln!(out, "cells without {}: {}", record.facts.get(JUDGED), absent.join(", "))?;
    }
    let ordered = summary::ordered_comparisons(record);
    if let Some(line) = summary::line(&ordered) {
        writeln!(out, "ordered      {:>3} cells: {line}", ordered.len())?;
    }
    let grouped = summary::grouped_comparisons(record);
    if let Some(line) = summary::line(&grouped) {
        writeln!(out, "grouped      {:>3} cells: {line}", grouped.len())?;
    }
    let processes = summary::process_comparisons(record);
    if let Some(line) = summary::line(&processes) {
        writeln!(out, "processes    {:>3} cells: {line}", processes.len())?;
    }
    if let Some(line) = summary::line(&comparisons) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Cells in which the judged contender did not take part although their data is there.
pub(super) fn unjudged(record: &CpuRecord) -> Vec<&str> {
    let ours = record.facts.get(JUDGED);
    let absent = record
        .rows
        .iter()
        .filter(|r| r.contender == ours && matches!(r.status, Status::Refused | Status::Wrong));
    absent.map(|r| &*r.cell).collect()
}
