//! The plots of a record: one line per contender, solid for fyke and dashed for rivals.

use std::path::Path;

use anyhow::Result;

use crate::chart::{Chart, Series, short};
use crate::record::cpu::{CpuRecord, CpuRow};
use crate::summary;

/// What a plot shows of which cells.
struct Spec {
    /// The file's name without its extension.
    name: &'static str,
    title: &'static str,
    /// What the names of its cells begin with.
    cells: &'static str,
    x: Axis,
    y: Axis,
}

/// A figure of a row.
#[derive(Clone, Copy)]
struct Axis {
    name: &'static str,
    log: bool,
    of: fn(&CpuRow) -> f64,
}

const PATTERNS: Axis = Axis { name: "patterns", log: true, of: |r| r.patterns as f64 };
const CALL: Axis =
    Axis { name: "bytes per haystack", log: true, of: |r| r.extra.call_bytes as f64 };
const DENSITY: Axis = Axis { name: "matches per byte", log: false, of: CpuRow::matches_per_byte };
const RATE: Axis = Axis { name: "GB/s, one thread", log: true, of: CpuRow::gb_per_s };
const BUILD: Axis =
    Axis { name: "milliseconds to build", log: true, of: |r| r.extra.build_median / 1e6 };
const MEMORY: Axis =
    Axis { name: "MiB of the compiled set", log: true, of: |r| mebibytes(r.extra.memory_bytes) };
const PEAK: Axis = Axis {
    name: "MiB of growth while building",
    log: true,
    of: |r| mebibytes(r.extra.build_peak_bytes),
};

fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

const SPECS: &[Spec] = &[
    Spec {
        name: "words",
        title: "English words in documents",
        cells: "words/",
        x: PATTERNS,
        y: RATE,
    },
    Spec { name: "elf", title: "Byte strings in programs", cells: "elf/", x: PATTERNS, y: RATE },
    Spec { name: "dna", title: "20-mers in a genome", cells: "dna/", x: PATTERNS, y: RATE },
    Spec {
        name: "random",
        title: "Random strings of 8 to 16 letters, hardly any match",
        cells: "count/",
        x: PATTERNS,
        y: RATE,
    },
    Spec {
        name: "density",
        title: "1,000 strings of 2 to 4 bytes, every match read",
        cells: "density/",
        x: DENSITY,
        y: RATE,
    },
    Spec {
        name: "haystack-size",
        title: "1,000 words, one call per haystack",
        cells: "size/",
        x: CALL,
        y: RATE,
    },
    Spec {
        name: "packets-100",
        title: "100 rule strings in packets",
        cells: "packets/100-",
        x: CALL,
        y: RATE,
    },
    Spec {
        name: "packets-5000",
        title: "5,000 rule strings in packets",
        cells: "packets/5000-",
        x: CALL,
        y: RATE,
    },
    Spec { name: "build", title: "Building sets of words", cells: "words/", x: PATTERNS, y: BUILD },
    Spec {
        name: "memory",
        title: "Memory of sets of words",
        cells: "words/",
        x: PATTERNS,
        y: MEMORY,
    },
    Spec {
        name: "build-memory",
        title: "Memory while building sets of words",
        cells: "words/",
        x: PATTERNS,
        y: PEAK,
    },
];

/// A plot that was written: the file's name and the title.
pub type Drawn = (String, &'static str);

/// Draws the plots that the record has figures for.
///
/// # Errors
/// A file cannot be written.
pub fn draw(folder: &Path, record: &CpuRecord) -> Result<Vec<Drawn>> {
    let mut drawn = Vec::new();
    let mut save = |name: &str, title: &'static str, chart: Chart<'_>| -> Result<()> {
        let file = format!("{name}.svg");
        if chart.save(&folder.join(&file))? {
            drawn.push((file, title));
        }
        Ok(())
    };
    let (title, chart) = ratios(record);
    save("ratios", title, chart)?;
    for spec in SPECS {
        save(spec.name, spec.title, lines(spec, record))?;
    }
    Ok(drawn)
}

fn lines(spec: &Spec, record: &CpuRecord) -> Chart<'static> {
    let timed = |r: &&CpuRow| r.is_timed() && r.cell.starts_with(spec.cells);
    let rows: Vec<&CpuRow> = record.rows.iter().filter(timed).collect();
    let mut names: Vec<&str> = Vec::new();
    for row in &rows {
        if !names.contains(&&*row.contender) {
            names.push(&row.contender);
        }
    }
    // The same color in all plots: the order of contenders may differ from cell to cell.
    names.sort_by_key(|n| (rows.iter().any(|r| r.contender == *n && r.is_rival()), *n));
    let series = names.iter().enumerate().map(|(color, name)| {
        let own: Vec<&CpuRow> = rows.iter().copied().filter(|r| r.contender == *name).collect();
        let solid = own.iter().any(|r| r.is_of_fyke());
        let mut points: Vec<_> = own.iter().map(|r| ((spec.x.of)(r), (spec.y.of)(r))).collect();
        points.retain(|p| p.1 > 0.0);
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Series { label: (*name).to_string(), color, solid, joined: true, points }
    });
    let (x_log, y_log) = (spec.x.log, spec.y.log);
    Chart {
        title: spec.title.into(),
        x: spec.x.name,
        y: spec.y.name,
        x_log,
        y_log,
        bars: None,
        label: &short,
        series: series.filter(|s| !s.points.is_empty()).collect(),
    }
}

/// The ratios of all cells, from the worst to the best: one line per section.
fn ratios(record: &CpuRecord) -> (&'static str, Chart<'static>) {
    let comparisons = summary::comparisons(record);
    let of_section = |name: &str| {
        let own = summary::of_section(record, &comparisons, name);
        let mut ratios: Vec<f64> = own.iter().map(|c| c.ratio).collect();
        ratios.sort_by(f64::total_cmp);
        ratios.into_iter().enumerate().map(|(n, r)| (n as f64 + 1.0, r)).collect::<Vec<_>>()
    };
    let series = record.sections.iter().enumerate().map(|(color, section)| {
        let points = of_section(&section.name);
        Series { label: section.name.clone(), color, solid: true, joined: true, points }
    });
    let title = "Every cell: the fastest rival's time over fyke's";
    let chart = Chart {
        title: title.into(),
        x: "cells of a section, from the worst",
        y: "times as fast as the fastest rival",
        x_log: false,
        y_log: true,
        bars: None,
        label: &short,
        series: series.filter(|s| !s.points.is_empty()).collect(),
    };
    (title, chart)
}
