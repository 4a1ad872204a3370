//! What a run says while it runs.

use std::io::{self, Write};

use fyke_rivals::PROGRAMS;

use crate::contender::Contender;
use crate::definition::Group;
use crate::machine::Facts;
use crate::record::{Row, Status};
use crate::run::Plan;
use crate::size::Size;

/// Says who takes part, and who does not and why.
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

/// Says what the run is about.
///
/// # Errors
/// `out` cannot be written.
pub fn facts(out: &mut dyn Write, facts: &Facts) -> io::Result<()> {
    facts.0.iter().try_for_each(|(name, value)| writeln!(out, "{name}: {value}"))
}

/// Lists the cells.
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
pub fn cell(out: &mut dyn Write, rows: &[Row], plan: &Plan) -> io::Result<()> {
    let Some(first) = rows.first() else { return Ok(()) };
    writeln!(out, "\n{}: {}", first.cell, describe(first))?;
    if plan.verify_only {
        let agree = rows.iter().filter(|r| r.status == Status::Verified).count();
        let golden = if first.golden { ", and with the golden row" } else { "" };
        let what = if first.work == "process -o" { "ran; the first printed" } else { "agree on" };
        writeln!(out, "  {agree} {what} {} matches{golden}", first.matches)?;
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

fn describe(row: &Row) -> String {
    let per_byte = row.matches as f64 / row.haystack_bytes.max(1) as f64;
    let mut text = format!(
        "{} patterns of {}-{} bytes in {} of {}, {per_byte:.4} matches a byte",
        row.patterns,
        row.min_len,
        row.max_len,
        Size(row.haystack_bytes),
        row.haystack
    );
    if row.call_bytes < row.haystack_bytes {
        text += &format!(", {} a call", Size(row.call_bytes));
    }
    if row.threads > 1 {
        text += &format!(", {} threads", row.threads);
    }
    text
}

fn timed(out: &mut dyn Write, row: &Row) -> io::Result<()> {
    let spread = 100.0 * row.wall_mad / row.wall_median.max(1.0);
    write!(
        out,
        "  {:<24} {:>9.4} ns/B  cpu {:>9.4}  min {:>9.4}  max {:>9.4}  mad {spread:>4.1} %",
        row.contender,
        row.ns_per_byte,
        row.cpu_median / row.haystack_bytes as f64,
        row.wall_min / row.haystack_bytes as f64,
        row.wall_max / row.haystack_bytes as f64,
    )?;
    if row.ratio > 0.0 {
        write!(out, "  {:>6.2}x", row.ratio)?;
    }
    if row.call_ns != 0.0 {
        write!(out, "  {:>7.1} ns a call beside its bytes", row.call_ns)?;
    }
    let outliers = if row.outliers > 0 { outliers(row) } else { String::new() };
    writeln!(out, "{outliers}")
}

fn outliers(row: &Row) -> String {
    format!(
        "\n    warning: {} of {} samples lie far off: something else ran on this machine",
        row.outliers, row.samples
    )
}
