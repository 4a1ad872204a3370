//! A table as text: the paper's figures above the measured ones, and the verdicts on the claims.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::claim::Verdict;
use super::definition::{Definition, Header};
use super::grid::Grid;
use super::measure::Readings;
use fyke_bench::machine::Facts;
use fyke_bench::number::plain;

/// Prints the names of the tables and figures.
///
/// # Errors
/// `out` cannot be written.
pub fn list(out: &mut dyn Write, definitions: &[Definition]) -> io::Result<()> {
    let widths = |cell: fn(&Definition) -> &str| definitions.iter().map(|d| cell(d).len()).max();
    let (id, source) = (widths(|d| &d.id).unwrap_or(0), widths(|d| &d.paper).unwrap_or(0));
    let place = widths(|d| &d.r#where).unwrap_or(0);
    for d in definitions {
        writeln!(out, "{:<id$}  {:<source$}  {:<place$}  {}", d.id, d.paper, d.r#where, d.title)?;
    }
    Ok(())
}

/// Prints what a table is.
///
/// # Errors
/// `out` cannot be written.
pub fn heading(out: &mut dyn Write, d: &Definition) -> io::Result<()> {
    writeln!(out, "\n{}  {}, {}: {}", d.id, d.paper, d.r#where, d.title)?;
    writeln!(out, "in {}", d.unit)?;
    d.differs.iter().try_for_each(|line| writeln!(out, "differs: {line}"))
}

/// Prints the table.
///
/// # Errors
/// `out` cannot be written.
pub fn table(out: &mut dyn Write, d: &Definition, paper: &Grid, here: &Grid) -> io::Result<()> {
    let columns: Vec<Vec<String>> = (0..d.columns.len())
        .map(|c| column(&d.columns[c], |r| [paper.get(r, c), here.get(r, c)], d.rows.len()))
        .collect();
    let labels = d.rows.iter().map(|r| r.label.chars().count()).max().unwrap_or(0);
    let line = |out: &mut dyn Write, label: &str, who: &str, n: usize| {
        write!(out, "{label:<labels$}  {who:<5}")?;
        for cells in &columns {
            let width = cells.iter().map(|c| c.chars().count()).max().unwrap_or(0);
            write!(out, "  {:>width$}", cells[n])?;
        }
        writeln!(out)
    };
    line(out, "", "", 0)?;
    for (r, row) in d.rows.iter().enumerate() {
        if (0..d.columns.len()).any(|c| paper.get(r, c).is_some()) {
            line(out, &row.label, "paper", 1 + 2 * r)?;
            line(out, "", "here", 2 + 2 * r)?;
        } else {
            line(out, &row.label, "here", 2 + 2 * r)?;
        }
    }
    Ok(())
}

/// The texts of a column from top to bottom: its label, then two per row.
fn column(
    column: &Header,
    figures: impl Fn(usize) -> [Option<f64>; 2],
    rows: usize,
) -> Vec<String> {
    let text = |f: Option<f64>| f.map_or("-".into(), plain);
    let mut cells = vec![column.label.clone()];
    (0..rows).for_each(|r| cells.extend(figures(r).map(text)));
    cells
}

/// Prints the verdict on a claim.
///
/// # Errors
/// `out` cannot be written.
pub fn verdict(out: &mut dyn Write, says: &str, verdict: &Verdict) -> io::Result<()> {
    match verdict {
        Verdict::Holds(figures) => writeln!(out, "holds: {says}: {figures}"),
        Verdict::Fails(figures) => writeln!(out, "does not hold: {says}: {figures}"),
        Verdict::Untold(why) => writeln!(out, "cannot be told: {says}: {why}"),
    }
}

/// Cells that are printed for one reason.
const NAMED: usize = 6;

/// Prints the cells without figures and why, and returns their number.
///
/// # Errors
/// `out` cannot be written.
pub fn skipped(out: &mut dyn Write, d: &Definition, readings: &Readings) -> io::Result<usize> {
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (r, line) in readings.iter().enumerate() {
        for (c, reading) in line.iter().enumerate() {
            if let Some(Err(skip)) = reading.as_ref().map(|r| &r.figure) {
                let cell = format!("{} at {}", d.rows[r].label, d.columns[c].label);
                reasons.entry(skip.why.clone()).or_default().push(cell);
            }
        }
    }
    for (why, cells) in &reasons {
        let more = if cells.len() > NAMED { ", ..." } else { "" };
        let named = cells[..cells.len().min(NAMED)].join(", ");
        writeln!(out, "skipped {}: {why} ({named}{more})", cells.len())?;
    }
    Ok(reasons.values().map(Vec::len).sum())
}

/// Prints where and when it was measured.
///
/// # Errors
/// `out` cannot be written.
pub fn machine(out: &mut dyn Write, facts: &Facts) -> io::Result<()> {
    let [cpu, cores, date] = ["cpu", "cores", "date"].map(|n| facts.get(n));
    let [commit, profile, haystacks] = ["commit", "profile", "haystacks"].map(|n| facts.get(n));
    writeln!(
        out,
        "measured on: {cpu}, {cores} cores, {date}, commit {commit}, {profile} build, {haystacks}"
    )
}

/// Prints the devices that were measured.
///
/// # Errors
/// `out` cannot be written.
pub fn devices(out: &mut dyn Write, readings: &Readings) -> io::Result<()> {
    let cells = readings.iter().flatten().flatten().filter(|r| !r.device.is_empty());
    let devices: BTreeSet<_> = cells.map(|r| (&r.device, r.on_pocl)).collect();
    devices.iter().try_for_each(|(name, on_pocl)| {
        let note = if *on_pocl { ", OpenCL on the CPU: no claim is judged by it" } else { "" };
        writeln!(out, "device: {name}{note}")
    })
}
