//! The CSV of a run: one line a cell, below lines `# name: value` about the machine.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;

use super::definition::Definition;
use super::grid::Grid;
use super::measure::{Reading, Readings};
use fyke_bench::machine::Facts;

/// A line.
#[derive(Debug, Default, Serialize)]
struct Line<'a> {
    id: &'a str,
    row: &'a str,
    column: &'a str,
    unit: &'a str,
    paper: Option<f64>,
    here: Option<f64>,
    skipped: &'a str,
    engine: &'a str,
    threads: usize,
    patterns: usize,
    pattern_bytes: u64,
    haystack_bytes: usize,
    haystack_sha256: &'a str,
    matches: Option<u64>,
    samples: usize,
    median_ns: f64,
    mad_ns: f64,
    device: &'a str,
}

/// Writes `<folder>/<id>.csv`.
///
/// # Errors
/// It cannot be written.
pub fn csv(
    folder: &Path,
    d: &Definition,
    readings: &Readings,
    [paper, here]: [&Grid; 2],
    facts: &Facts,
) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let file = folder.join(format!("{}.csv", d.id));
    let mut text = Vec::new();
    facts.0.iter().try_for_each(|(name, value)| writeln!(text, "# {name}: {value}"))?;
    let mut writer = csv::Writer::from_writer(&mut text);
    for (r, cells) in readings.iter().enumerate() {
        for (c, reading) in cells.iter().enumerate() {
            writer.serialize(Line {
                id: &d.id,
                row: &d.rows[r].label,
                column: &d.columns[c].label,
                unit: &d.unit,
                paper: paper.get(r, c),
                here: here.get(r, c),
                ..reading.as_ref().map(measured).unwrap_or_default()
            })?;
        }
    }
    writer.flush()?;
    drop(writer);
    fs::write(&file, text).with_context(|| file.display().to_string())
}

fn measured(reading: &Reading) -> Line<'_> {
    Line {
        skipped: reading.figure.as_ref().err().map_or("", |s| &s.why),
        engine: &reading.engine,
        threads: reading.threads,
        patterns: reading.facts.patterns,
        pattern_bytes: reading.facts.pattern_bytes,
        haystack_bytes: reading.facts.haystack_bytes,
        haystack_sha256: &reading.haystack_sha256,
        matches: reading.facts.matches,
        samples: reading.stats.samples,
        median_ns: reading.stats.median,
        mad_ns: reading.stats.mad,
        device: &reading.device,
        ..Line::default()
    }
}
