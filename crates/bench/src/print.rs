//! Text that a run prints as it goes.

use std::io::{self, Write};

use fyke_rivals::PROGRAMS;

use crate::contender::choose::Contender;
use crate::definition::Group;
use crate::machine::Facts;
use crate::record::cpu::CpuRow;
use crate::record::row::Status;
use crate::size::Size;

/// Prints the contenders and programs, and why absent ones are.
///
/// # Errors
/// `out` cannot be written.
pub fn contenders(out: &mut dyn Write, contenders: &[Contender]) -> io::Result<()> {
    for c in contenders {
        match c.rival.version() {
            Ok(version) => writeln!(out, "  {:<24} {version}  {}", c.name, c.rival.about())?,
            Err(why) => writeln!(out, "  {:<24} refused: {why}", c.name)?,
        }
    }
    for p in PROGRAMS {
        match p.version() {
            Ok(version) => writeln!(out, "  {:<24} {version}  {}", p.name(), p.about())?,
            Err(why) => writeln!(out, "  {:<24} refused: {why}", p.name())?,
        }
    }
    Ok(())
}

/// Prints the facts about a run.
///
/// # Errors
/// `out` cannot be written.
pub fn facts(out: &mut dyn Write, facts: &Facts) -> io::Result<()> {
    facts.0.iter().try_for_each(|(name, value)| writeln!(out, "{name}: {value}"))
}

/// Prints the names of the cells.
///
/// # Errors
/// `out` cannot be written.
pub fn list(out: &mut dyn Write, groups: &[Group]) -> io::Result<()> {
    for group in groups {
        writeln!(out, "{}: {} ({})", group.name, group.about, group.axis)?;
        for cell in &group.cells {
            let slow = if cell.slow { "  (not with --quick)" } else { "" };
            let huge = if cell.huge { "  (with --huge only)" } else { "" };
            writeln!(out, "  {}{slow}{huge}", cell.name)?;
        }
    }
    Ok(())
}

/// Prints the rows of a cell.
///
/// # Errors
/// `out` cannot be written.
pub fn cell(out: &mut dyn Write, rows: &[CpuRow], verify_only: bool) -> io::Result<()> {
    let Some(first) = rows.first() else { return Ok(()) };
    writeln!(out, "\n{}: {}", first.cell, describe(first))?;
    if verify_only {
        let agree = rows.iter().filter(|r| r.status == Status::Verified).count();
        let golden = if first.extra.golden { ", and with the golden row" } else { "" };
        let what =
            if first.extra.work == "process -o" { "ran; the first printed" } else { "agree on" };
        writeln!(out, "  {agree} {what} {} matches{golden}", first.matches.unwrap_or(0))?;
    }
    for row in rows {
        match row.status {
            Status::Timed => timed(out, row)?,
            Status::Verified => {}
            Status::Refused => writeln!(out, "  {:<24} refused: {}", row.contender, row.reason)?,
            Status::Wrong => writeln!(out, "  {:<24} WRONG: {}", row.contender, row.reason)?,
        }
    }
    out.flush()
}

fn describe(row: &CpuRow) -> String {
    let mut text = format!(
        "{} patterns of {}-{} bytes in {} of {}, {:.4} matches per byte",
        row.patterns,
        row.extra.min_len,
        row.extra.max_len,
        Size(row.bytes),
        row.haystack,
        row.matches_per_byte()
    );
    if row.is_replay() {
        text += &format!(", {} sets, {} calls", row.extra.sets, row.extra.calls);
    }
    if row.extra.call_bytes < row.bytes {
        text += &format!(", {} per call", Size(row.extra.call_bytes));
    }
    if row.threads > 1 {
        text += &format!(", {} threads", row.threads);
    }
    text
}

fn timed(out: &mut dyn Write, row: &CpuRow) -> io::Result<()> {
    let extra = &row.extra;
    // Nanoseconds for the haystack in one of the row's units.
    let unit = row.median_ns / row.time();
    let spread = 100.0 * extra.wall_mad / extra.wall_median.max(1.0);
    write!(
        out,
        "  {:<24} {:>9.4} {}  cpu {:>9.4}  min {:>9.4}  max {:>9.4}  mad {spread:>4.1} %",
        row.contender,
        row.time(),
        row.unit(),
        extra.cpu_median / unit,
        extra.wall_min / unit,
        extra.wall_max / unit,
    )?;
    if extra.ratio > 0.0 {
        write!(out, "  {:>6.2}x", extra.ratio)?;
    }
    if extra.call_ns != 0.0 {
        write!(out, "  {:>7.1} ns per call without its bytes", extra.call_ns)?;
    }
    let outliers = if extra.outliers > 0 { outliers(row) } else { String::new() };
    writeln!(out, "{outliers}")
}

fn outliers(row: &CpuRow) -> String {
    format!(
        "\n    warning: {} of {} samples are outliers: another program ran on this machine",
        row.extra.outliers, row.samples
    )
}
