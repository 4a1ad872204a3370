//! The drawings of a record: one line for each contender, ours in full and rivals dashed.

use std::path::Path;

use anyhow::Result;

use crate::chart::{Chart, Series, short};
use crate::record::{Record, Row};
use crate::summary;

/// What a drawing shows of which cells.
struct Spec {
    /// The file's name without its ending.
    name: &'static str,
    title: &'static str,
    /// How the names of its cells begin.
    cells: &'static str,
    x: Axis,
    y: Axis,
}

/// A figure of a row.
#[derive(Clone, Copy)]
struct Axis {
    name: &'static str,
    log: bool,
    of: fn(&Row) -> f64,
}

const PATTERNS: Axis = Axis { name: "patterns", log: true, of: |r| r.patterns as f64 };
const CALL: Axis = Axis { name: "bytes of a haystack", log: true, of: |r| r.call_bytes as f64 };
const DENSITY: Axis = Axis {
    name: "matches a byte",
    log: false,
    of: |r| r.matches as f64 / r.haystack_bytes.max(1) as f64,
};
const RATE: Axis =
    Axis { name: "GB a second, one thread", log: true, of: |r| r.ns_per_byte.recip() };
const BUILD: Axis = Axis { name: "milliseconds to build", log: true, of: |r| r.build_median / 1e6 };
const MEMORY: Axis =
    Axis { name: "MiB of the compiled set", log: true, of: |r| mebibytes(r.memory_bytes) };
const PEAK: Axis =
    Axis { name: "MiB more while building", log: true, of: |r| mebibytes(r.build_peak_bytes) };

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
        title: "Random strings of 8 to 16 letters, hardly a match",
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
        title: "1,000 words, a call for each haystack",
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

/// A drawing that was written: the file's name and what it shows.
pub type Drawn = (String, &'static str);

/// Draws what the record has figures for.
///
/// # Errors
/// A file cannot be written.
pub fn draw(folder: &Path, record: &Record) -> Result<Vec<Drawn>> {
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

fn lines(spec: &Spec, record: &Record) -> Chart<'static> {
    let timed = |r: &&Row| r.is_timed() && r.cell.starts_with(spec.cells);
    let rows: Vec<&Row> = record.rows.iter().filter(timed).collect();
    let mut names: Vec<&str> = Vec::new();
    for row in &rows {
        if !names.contains(&&*row.contender) {
            names.push(&row.contender);
        }
    }
    // The same colour in all drawings: the order of the record's first cell may differ.
    names.sort_by_key(|n| (rows.iter().any(|r| r.contender == *n && r.side == "rival"), *n));
    let series = names.iter().enumerate().map(|(colour, name)| {
        let mine: Vec<&Row> = rows.iter().copied().filter(|r| r.contender == *name).collect();
        let full = mine.iter().any(|r| r.side == "engine");
        let mut points: Vec<_> = mine.iter().map(|r| ((spec.x.of)(r), (spec.y.of)(r))).collect();
        points.retain(|p| p.1 > 0.0);
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Series { label: (*name).to_string(), colour, full, joined: true, points }
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

/// Every cell of the record by its ratio, from the worst to the best: a line for each section.
fn ratios(record: &Record) -> (&'static str, Chart<'static>) {
    let duels = summary::duels(record);
    let of_group = |name: &str| {
        let of_group = summary::of_group(record, &duels, name);
        let mut ratios: Vec<f64> = of_group.iter().map(|d| d.ratio).collect();
        ratios.sort_by(f64::total_cmp);
        ratios.into_iter().enumerate().map(|(n, r)| (n as f64 + 1.0, r)).collect::<Vec<_>>()
    };
    let series = record.groups.iter().enumerate().map(|(colour, group)| {
        let points = of_group(&group.name);
        Series { label: group.name.clone(), colour, full: true, joined: true, points }
    });
    let title = "Every cell: the best rival's time over fyke's";
    let chart = Chart {
        title: title.into(),
        x: "cells of a section, from the worst",
        y: "times as fast as the best rival",
        x_log: false,
        y_log: true,
        bars: None,
        label: &short,
        series: series.filter(|s| !s.points.is_empty()).collect(),
    };
    (title, chart)
}
