//! Drawings of a record: every row under the roofs that the memory makes, and the papers' ladder.
//!
//! A roofline has a figure of work on its axis, and above it the most that the hardware allows for so much work. What an
//! engine must do is to read every byte and to write what it finds, so here the axis is bytes written for a byte read, and
//! the roof is the time for both at the rate at which a kernel reads that does nothing else. What lies below the roof is
//! instructions and waiting.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::print::COLUMNS;
use crate::chart::{Chart, Series, short};

/// Rows that write nothing are drawn here.
const LEAST: f64 = 1e-4;

/// Bytes of a state, which some engines write for each position, and of a record.
const STATE: f64 = 4.0;
const RECORD: f64 = 8.0;

/// The engines of Zha and Sahni 2011, table II, and how many times as fast as the first they are on 904 MB there.
const LADDER: [(&str, f64); 5] =
    [("gpu-ac0", 1.0), ("gpu-ac1", 1.95), ("gpu-ac2", 2.89), ("gpu-ac3", 4.97), ("gpu-ac4", 8.68)];

/// A row of a record, as far as it is drawn.
struct Point {
    row: String,
    engine: String,
    bytes: f64,
    records: f64,
    rate: f64,
    read_rate: f64,
}

/// Draws a record; the files that were written.
///
/// # Errors
/// The record is not one of `fyke bench gpu`, or a drawing cannot be written.
pub(super) fn draw(record: &Path, folder: &Path) -> Result<Vec<PathBuf>> {
    let text = fs::read_to_string(record).with_context(|| record.display().to_string())?;
    let points = read(&text).with_context(|| record.display().to_string())?;
    let mut drawn = Vec::new();
    for (name, chart) in [("roofline.svg", roofline(&points)), ("ladder.svg", ladder(&points))] {
        let file = folder.join(name);
        if chart.save(&file)? {
            drawn.push(file);
        }
    }
    Ok(drawn)
}

/// Reads the columns by their names: records of other versions have more or fewer.
fn read(text: &str) -> Result<Vec<Point>> {
    let mut lines = text.lines().filter(|l| !l.starts_with('#'));
    let names: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let column = |name: &str| {
        let at = names.iter().position(|n| *n == name);
        at.with_context(|| format!("no column {name:?}: a record begins with {COLUMNS}"))
    };
    let [row, engine] = [column("row")?, column("engine")?];
    let numbers = ["bytes", "records", "gb_per_s", "read_gb_per_s"].map(column);
    let numbers = numbers.into_iter().collect::<Result<Vec<_>>>()?;
    // Where matches were counted, the column of records has their number, and none was written.
    let counted = names.iter().position(|n| *n == "counted");
    let point = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        ensure!(cells.len() == names.len(), "{} cells, not {}: {line}", cells.len(), names.len());
        let number = |n: usize| {
            let cell = cells[numbers[n]];
            cell.parse::<f64>().with_context(|| format!("{cell:?} is not a number: {line}"))
        };
        Ok(Point {
            row: cells[row].into(),
            engine: cells[engine].into(),
            bytes: number(0)?,
            records: if counted.is_some_and(|at| cells[at] == "true") { 0.0 } else { number(1)? },
            rate: number(2)?,
            read_rate: number(3)?,
        })
    };
    lines.filter(|l| !l.is_empty()).map(point).collect()
}

impl Point {
    /// Bytes written for a byte read.
    fn written(&self) -> f64 {
        let each = if LADDER.iter().any(|(name, _)| *name == self.engine) { STATE } else { RECORD };
        (each * self.records / self.bytes.max(1.0)).max(LEAST)
    }
}

/// GB/s over bytes written, engine by engine, and the roof.
fn roofline(points: &[Point]) -> Chart<'static> {
    let mut engines: Vec<&str> = Vec::new();
    for point in points {
        // Those that were shown the text beforehand lie on the same places.
        if !point.engine.ends_with(" sampled") && !engines.contains(&&*point.engine) {
            engines.push(&point.engine);
        }
    }
    let read_rate = points.iter().map(|p| p.read_rate).fold(0.0, f64::max);
    let roof = (0..=15).map(|i| LEAST * 10_f64.powf(f64::from(i) / 3.0));
    let roof = roof.map(|x| (x, read_rate / (1.0 + x))).collect();
    let mut series = vec![Series {
        label: "reads and writes".into(),
        colour: 7,
        full: false,
        joined: true,
        points: roof,
    }];
    for (colour, engine) in engines.into_iter().enumerate() {
        let of_engine = points.iter().filter(|p| p.engine == engine);
        let points = of_engine.map(|p| (p.written(), p.rate)).collect();
        series.push(Series { label: engine.into(), colour, full: true, joined: false, points });
    }
    Chart {
        title: "Texts in device memory: every row under the roof of the memory".into(),
        x: "bytes written for a byte read (none: at the left edge)",
        y: "GB a second",
        x_log: true,
        y_log: true,
        bars: None,
        label: &short,
        series,
    }
}

/// How many times as fast as `gpu-ac0` each step is, here and in the paper.
fn ladder(points: &[Point]) -> Chart<'static> {
    let row = points.iter().find(|p| p.engine == LADDER[0].0).map_or("", |p| &p.row);
    let rate = |engine: &str| points.iter().find(|p| p.row == row && p.engine == engine);
    let here = LADDER.iter().enumerate().filter_map(|(place, (engine, _))| {
        Some((place as f64, rate(engine)?.rate / rate(LADDER[0].0)?.rate))
    });
    let here: Vec<(f64, f64)> = here.collect();
    let paper = (0..).zip(LADDER).map(|(place, (_, times))| (f64::from(place), times));
    let paper = if here.is_empty() { Vec::new() } else { paper.collect() };
    let bars = |label: &str, colour, points| {
        let full = label == "here";
        Series { label: label.into(), colour, full, joined: false, points }
    };
    Chart {
        title: format!("The ladder of Aho-Corasick, {row}"),
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

    const RECORD: &str = "# date: today\nrow,engine,bytes,records,gb_per_s,read_gb_per_s\n\
                          r/1,gpu-filter,1000,0,90,100\nr/1,gpu-ac0,1000,1000,10,100\nr/1,gpu-ac4,1000,1000,20,100\n";

    #[test]
    fn rows_are_drawn_with_what_they_write() {
        let points = read(RECORD).unwrap();
        let written: Vec<f64> = points.iter().map(Point::written).collect();
        assert_eq!(written, [LEAST, 4.0, 4.0]);
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join("record.csv");
        fs::write(&record, RECORD).unwrap();
        let drawn = draw(&record, folder.path()).unwrap();
        assert_eq!(drawn.len(), 2);
        assert!(fs::read_to_string(&drawn[1]).unwrap().contains("paper, 904 MB"));
    }

    #[test]
    fn a_file_that_is_no_record_is_an_error() {
        for (text, named) in [
            ("", "no column \"row\""),
            ("row,engine,bytes,records,gb_per_s\n", "read_gb_per_s"),
            (
                "row,engine,bytes,records,gb_per_s,read_gb_per_s\na,b,c,d,e,f\n",
                "\"c\" is not a number",
            ),
            ("row,engine,bytes,records,gb_per_s,read_gb_per_s\na,b\n", "2 cells, not 6"),
        ] {
            let why = format!("{:#}", read(text).err().unwrap());
            assert!(why.contains(named), "{why}");
        }
    }
}
