//! The rows of a table for the record.

use fyke_bench::record::file::{Columns, Record};
use fyke_bench::record::row::{Row, Status};
use fyke_bench::timing::Clock;
use serde::{Deserialize, Serialize};

use super::definition::Definition;
use super::grid::Grid;
use super::measure::{Reading, Readings};

/// A row of a paper's table.
pub type PaperRow = Row<PaperColumns>;

/// A record of tables.
pub type PaperRecord = Record<PaperColumns>;

/// What tables record besides the shared columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PaperColumns {
    /// The row's label.
    pub row: String,
    /// The column's label.
    pub column: String,
    /// The unit of the figures.
    pub unit: String,
    /// The figure of the paper.
    pub paper: Option<f64>,
    /// The figure that was measured, or computed from others.
    pub here: Option<f64>,
    /// The device that was measured, if any.
    pub device: String,
}

impl Columns for PaperColumns {
    fn round(&mut self) {}
}

/// One row per cell, computed ones too.
pub fn rows(d: &Definition, readings: &Readings, paper: &Grid, here: &Grid) -> Vec<PaperRow> {
    let mut rows = Vec::new();
    for (r, cells) in readings.iter().enumerate() {
        for (c, reading) in cells.iter().enumerate() {
            let mut row = reading.as_ref().map_or_else(computed, measured);
            let (label, column) = (&d.rows[r].label, &d.columns[c].label);
            row.section.clone_from(&d.id);
            row.cell = format!("{label} at {column}");
            row.extra = PaperColumns {
                row: label.clone(),
                column: column.clone(),
                unit: d.unit.clone(),
                paper: paper.get(r, c),
                here: here.get(r, c),
                ..row.extra
            };
            rows.push(row);
        }
    }
    rows
}

/// A cell without a measurement of its own.
fn computed() -> PaperRow {
    PaperRow { status: Status::Verified, ..PaperRow::default() }
}

fn measured(reading: &Reading) -> PaperRow {
    let facts = &reading.facts;
    let timed = reading.stats.samples > 0;
    let status = match &reading.figure {
        Err(skip) if skip.wrong => Status::Wrong,
        Err(_) => Status::Refused,
        Ok(_) if timed => Status::Timed,
        Ok(_) => Status::Verified,
    };
    let mut row = PaperRow {
        contender: reading.engine.clone(),
        status,
        reason: reading.figure.as_ref().err().map_or(String::new(), |s| s.why.clone()),
        threads: reading.threads,
        patterns: facts.patterns,
        pattern_bytes: facts.pattern_bytes as usize,
        bytes: facts.haystack_bytes,
        haystack_sha256: reading.haystack_sha256.clone(),
        matches: facts.matches,
        extra: PaperColumns { device: reading.device.clone(), ..PaperColumns::default() },
        ..PaperRow::default()
    };
    if timed {
        let clock = if reading.device.is_empty() { reading.clock } else { Clock::Device };
        row.set_times(&reading.stats, clock);
    }
    row
}
