//! What a run of the matrix says: a line a cell.

use std::io::{self, Write};

use crate::record::{Record, Row, Status};
use crate::summary::{self, Duel};

/// The head of the table.
///
/// # Errors
/// `out` cannot be written.
pub fn head(out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "{:<42} {:>8} {:>8} {:<20} {:>8} {:<18} {:>7} {:>9}",
        "cell", "patterns", "ns/B", "by", "ns/B", "best rival", "ratio", "matches/B"
    )
}

/// The line of a cell, and what is to be said about those who failed in it.
///
/// # Errors
/// `out` cannot be written.
pub fn cell(out: &mut dyn Write, record: &Record, rows: &[Row], hostile: bool) -> io::Result<()> {
    let Some(first) = rows.first() else { return Ok(()) };
    let all: Vec<&Row> = rows.iter().collect();
    let (ours, rival) = sides(record, &all);
    let ratio = match (ours, rival) {
        (Some(ours), Some(rival)) => format!("{:.2}x", rival.median() / ours.median()),
        _ => "-".into(),
    };
    writeln!(
        out,
        "{:<42} {:>8} {:>8} {:<20} {:>8} {:<18} {:>7} {:>9.4}",
        first.cell,
        first.patterns,
        time(ours),
        ours.map_or("-", by),
        time(rival),
        rival.map_or("-", |r| &r.contender),
        ratio,
        first.matches as f64 / first.haystack_bytes.max(1) as f64,
    )?;
    if hostile {
        writeln!(out, "    {}", complete(rows))?;
    }
    for row in rows.iter().filter(|r| tells(r, hostile)) {
        let what = if row.status == Status::Wrong { "WRONG" } else { "refused" };
        writeln!(out, "    {} {what}: {}", row.contender, row.reason)?;
    }
    out.flush()
}

fn sides<'a>(record: &Record, rows: &[&'a Row]) -> (Option<&'a Row>, Option<&'a Row>) {
    if rows.iter().any(|r| r.side == "program") {
        let (fyke, others): (Vec<&Row>, Vec<&Row>) =
            rows.iter().partition(|r| r.contender == "fyke");
        return (summary::best(&fyke, "program"), summary::best(&others, "program"));
    }
    (summary::ours(record, rows), summary::best(rows, "rival"))
}

/// What ours was done by.
fn by(row: &Row) -> &str {
    if row.taken.is_empty() { &row.contender } else { &row.taken }
}

fn time(row: Option<&Row>) -> String {
    row.map_or("-".into(), |r| format!("{:.3}", r.ns_per_byte))
}

/// Whether a row has a line of its own: wrong matches, and refusals of ours. Rivals that are not
/// installed or take no such set are counted at the end.
fn tells(row: &Row, hostile: bool) -> bool {
    let ours = row.side == "engine" || row.contender == "-" || row.contender == "fyke";
    let failed = row.status == Status::Refused && (ours || hostile && is_there(row));
    row.status == Status::Wrong || failed
}

/// Whether the contender is installed.
fn is_there(row: &Row) -> bool {
    !row.version.is_empty()
}

/// Whether every rival that is installed went through a hostile haystack.
fn complete(rows: &[Row]) -> String {
    let rivals = || rows.iter().filter(|r| r.side == "rival" && is_there(r));
    let fine = |r: &&Row| matches!(r.status, Status::Timed | Status::Verified);
    let failed = rivals().filter(|r| !fine(r)).count();
    match failed {
        0 => format!("all {} rivals complete", rivals().count()),
        n => format!("{n} of {} rivals did not complete, and are not the best:", rivals().count()),
    }
}

/// The lines at the end of a run: each section's, the losses, the processes', and the last one.
///
/// # Errors
/// `out` cannot be written.
pub fn end(out: &mut dyn Write, record: &Record) -> io::Result<()> {
    let duels = summary::duels(record);
    for group in &record.groups {
        let of_group = summary::of_group(record, &duels, &group.name);
        if let Some(line) = summary::line(&of_group) {
            writeln!(out, "{:<12} {:>3} cells: {line}", group.name, of_group.len())?;
        }
    }
    let mut lost: Vec<&Duel> = duels.iter().filter(|d| d.ratio < 1.0).collect();
    lost.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    writeln!(out, "cells below 1.0x: {}", lost.len())?;
    for duel in lost {
        writeln!(out, "  {:.2}x {} against {}", duel.ratio, duel.cell, duel.names.1)?;
    }
    let absent = unjudged(record);
    if !absent.is_empty() {
        writeln!(
            out,
            "cells without {}: {}",
            record.facts.get(summary::JUDGED),
            absent.join(", ")
        )?;
    }
    let processes = summary::process_duels(record);
    if let Some(line) = summary::line(&processes) {
        writeln!(out, "processes    {:>3} cells: {line}", processes.len())?;
    }
    if let Some(line) = summary::line(&duels) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Cells that ours took no part in although their data is there.
fn unjudged(record: &Record) -> Vec<&str> {
    let ours = record.facts.get(summary::JUDGED);
    let absent = record
        .rows
        .iter()
        .filter(|r| r.contender == ours && matches!(r.status, Status::Refused | Status::Wrong));
    absent.map(|r| &*r.cell).collect()
}
