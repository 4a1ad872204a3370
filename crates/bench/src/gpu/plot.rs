//! Plots of a record: every row under the bounds that the memory sets, and the papers' ladder.
//!
//! A roofline plot has a measure of work on its axis, and above the points the most that the
//! hardware allows for this work. The work of a matcher is to read every byte and to write what it
//! finds, so the axis is bytes written per byte read. The bound is the time for both at the rate
//! of a kernel that only reads. What lies below it is instructions and waiting.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::columns::{GpuRecord, GpuRow};
use crate::chart::{Chart, Series, short};

/// Rows that write nothing are drawn here.
const LEAST: f64 = 1e-4;

/// Bytes of a state, which some engines write for each position, and of a record.
const STATE: f64 = 4.0;
const RECORD: f64 = 8.0;

/// The engines of Zha and Sahni 2011, table II, and their speedups over the first on 904 MB there.
const LADDER: [(&str, f64); 5] =
    [("gpu-ac0", 1.0), ("gpu-ac1", 1.95), ("gpu-ac2", 2.89), ("gpu-ac3", 4.97), ("gpu-ac4", 8.68)];

/// Draws a record; the files that were written.
///
/// # Errors
/// A plot cannot be written.
pub fn draw(record: &GpuRecord, folder: &Path) -> Result<Vec<PathBuf>> {
    let is_resident =
        |r: &&GpuRow| r.is_timed() && r.extra.way == "resident" && r.extra.devices == 1;
    let rows: Vec<&GpuRow> = record.rows.iter().filter(is_resident).collect();
    let mut drawn = Vec::new();
    for (name, chart) in [("roofline.svg", roofline(&rows)), ("ladder.svg", ladder(&rows))] {
        let file = folder.join(name);
        if chart.save(&file)? {
            drawn.push(file);
        }
    }
    Ok(drawn)
}

/// Bytes written per byte read.
fn written(row: &GpuRow) -> f64 {
    let each = if LADDER.iter().any(|(name, _)| *name == row.contender) { STATE } else { RECORD };
    // Counted matches are not written.
    let records = row.extra.records.filter(|_| !row.extra.counted).unwrap_or(0);
    (each * records as f64 / row.bytes.max(1) as f64).max(LEAST)
}

/// GB/s over bytes written, engine by engine, and the bound.
fn roofline(rows: &[&GpuRow]) -> Chart<'static> {
    let mut engines: Vec<&str> = Vec::new();
    for row in rows {
        // Engines with sample data have nearly the same points.
        if !row.contender.ends_with(" sampled") && !engines.contains(&&*row.contender) {
            engines.push(&row.contender);
        }
    }
    let read_rate = rows.iter().filter_map(|r| r.extra.bound_gb_per_s).fold(0.0, f64::max);
    let roof = (0..=15).map(|i| LEAST * 10_f64.powf(f64::from(i) / 3.0));
    let roof = roof.map(|x| (x, read_rate / (1.0 + x))).collect();
    let mut series = vec![Series {
        label: "reads and writes".into(),
        color: 7,
        solid: false,
        joined: true,
        points: roof,
    }];
    for (color, engine) in engines.into_iter().enumerate() {
        let of_engine = rows.iter().filter(|r| r.contender == engine);
        let points = of_engine.map(|r| (written(r), r.extra.gb_per_s)).collect();
        series.push(Series { label: engine.into(), color, solid: true, joined: false, points });
    }
    Chart {
        title: "Texts in device memory: every row under the bound of the memory".into(),
        x: "bytes written per byte read (none: at the left edge)",
        y: "GB/s",
        x_log: true,
        y_log: true,
        bars: None,
        label: &short,
        series,
    }
}

/// The speedup of each step over `gpu-ac0`, here and in the paper.
fn ladder(rows: &[&GpuRow]) -> Chart<'static> {
    let cell = rows.iter().find(|r| r.contender == LADDER[0].0).map_or("", |r| &r.cell);
    let rate = |engine: &str| {
        let row = rows.iter().find(|r| r.cell == cell && r.contender == engine);
        row.map(|r| r.extra.gb_per_s)
    };
    let here = LADDER.iter().enumerate().filter_map(|(place, (engine, _))| {
        Some((place as f64, rate(engine)? / rate(LADDER[0].0)?))
    });
    let here: Vec<(f64, f64)> = here.collect();
    let paper = (0..).zip(LADDER).map(|(place, (_, times))| (f64::from(place), times));
    let paper = if here.is_empty() { Vec::new() } else { paper.collect() };
    let bars = |label: &str, color, points| {
        let solid = label == "here";
        Series { label: label.into(), color, solid, joined: false, points }
    };
    Chart {
        title: format!("The ladder of Aho-Corasick, {cell}"),
        x: "",
        y: "times as fast as gpu-ac0",
        x_log: false,
        y_log: false,
        bars: Some(LADDER.len()),
        label: &|x| {
            let place = LADDER.get(x.round() as usize).filter(|_| (x - x.round()).abs() < 0.01);
            place.map_or(String::new(), |(engine, _)| (*engine).into())
        },
        series: vec![bars("here", 0, here), bars("paper, 904 MB", 1, paper)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::columns::GpuColumns;
    use crate::machine::Facts;
    use crate::record::row::Status;

    #[test]
    fn rows_are_drawn_with_what_they_write() {
        let row = |engine: &str, records, rate| GpuRow {
            cell: "r/1".into(),
            contender: engine.into(),
            status: Status::Timed,
            bytes: 1000,
            extra: GpuColumns {
                devices: 1,
                way: "resident".into(),
                records: Some(records),
                gb_per_s: rate,
                bound_gb_per_s: Some(100.0),
                ..GpuColumns::default()
            },
            ..GpuRow::default()
        };
        let mut record = GpuRecord::new(Facts::default());
        record.rows = vec![
            row("gpu-filter", 0, 90.0),
            row("gpu-ac0", 1000, 10.0),
            row("gpu-ac4", 1000, 20.0),
        ];
        let bytes: Vec<f64> = record.rows.iter().map(written).collect();
        assert_eq!(bytes, [LEAST, 4.0, 4.0]);
        let folder = tempfile::tempdir().unwrap();
        let drawn = draw(&record, folder.path()).unwrap();
        assert_eq!(drawn.len(), 2);
        assert!(std::fs::read_to_string(&drawn[1]).unwrap().contains("paper, 904 MB"));
        let counted = GpuColumns { counted: true, ..record.rows[1].extra.clone() };
        assert_eq!(written(&GpuRow { extra: counted, ..record.rows[1].clone() }), LEAST);
    }
}
