//! A table as a drawing: ours in full lines, the paper's in dashed ones.

use std::path::Path;

use anyhow::Result;

use super::definition::{Definition, Kind, Line, Plot};
use super::grid::Grid;
use fyke_bench::chart::{Chart, Series, short};

/// Draws `<folder>/<id>.svg`.
///
/// # Errors
/// It cannot be written. A table without a single figure is not drawn.
pub fn draw(folder: &Path, d: &Definition, plot: &Plot, paper: &Grid, here: &Grid) -> Result<()> {
    let series = match plot.kind {
        Kind::Lines => all_series(d, plot, paper, here)?,
        Kind::Bars => bars(d, plot, paper, here)?,
    };
    let chart = Chart {
        title: format!("{}  {}, {}", d.id, d.paper, d.r#where),
        x: &plot.x,
        y: &plot.y,
        x_log: plot.x_log,
        y_log: plot.y_log,
        bars: (plot.kind == Kind::Bars).then_some(d.rows.len()),
        label: &|x| place_label(d, plot, x),
        series,
    };
    chart.save(&folder.join(format!("{}.svg", d.id)))?;
    Ok(())
}

/// The lines that have points: ours and the paper's of each row.
fn all_series(d: &Definition, plot: &Plot, paper: &Grid, here: &Grid) -> Result<Vec<Series>> {
    let rows = match &plot.rows[..] {
        [] => (0..d.rows.len()).filter(|r| d.rows[*r].ratio.is_none()).collect(),
        named => named.iter().map(|r| d.row(r)).collect::<Result<Vec<_>>>()?,
    };
    let mut all = Vec::new();
    for (n, row) in rows.into_iter().enumerate() {
        for (who, grid) in [("here", here), ("paper", paper)] {
            let points = points(d, plot, grid, row)?;
            let label = format!("{}, {who}", d.rows[row].label);
            all.push(Series { label, colour: n, full: who == "here", joined: true, points });
        }
    }
    all.retain(|s| !s.points.is_empty());
    Ok(all)
}

/// Two series of bars, ours and the paper's: a point a row, at its place.
fn bars(d: &Definition, plot: &Plot, paper: &Grid, here: &Grid) -> Result<Vec<Series>> {
    let column = d.column(&plot.columns[0])?;
    let series = |(label, grid): (&str, &Grid), colour| {
        let rows = (0..d.rows.len()).filter_map(|r| Some((r as f64, grid.get(r, column)?)));
        Series {
            label: label.into(),
            colour,
            full: label == "here",
            joined: true,
            points: rows.collect(),
        }
    };
    let mut all = vec![series(("here", here), 0), series(("paper", paper), 1)];
    all.retain(|s| !s.points.is_empty());
    Ok(all)
}

fn points(d: &Definition, plot: &Plot, grid: &Grid, row: usize) -> Result<Vec<(f64, f64)>> {
    let columns = match &plot.columns[..] {
        [] => (0..d.columns.len()).filter(|c| d.columns[*c].ratio.is_none()).collect(),
        named => named.iter().map(|c| d.column(c)).collect::<Result<Vec<_>>>()?,
    };
    let x_row = plot.x_row.as_ref().map(|r| d.row(r)).transpose()?;
    let at = |c: usize| {
        let x = match x_row {
            Some(row) => grid.get(row, c)?,
            None => d.columns[c].x.unwrap_or(c as f64),
        };
        let shown = |v: f64, log: bool| !log || v > 0.0;
        let y = grid.get(row, c)?;
        (shown(x, plot.x_log) && shown(y, plot.y_log)).then_some((x, y))
    };
    Ok(columns.into_iter().filter_map(at).collect())
}

/// What stands below a place on the axis of the columns: its number, or the label of the column
/// or, below bars, of the row there.
fn place_label(d: &Definition, plot: &Plot, x: f64) -> String {
    if plot.kind == Kind::Bars {
        return label_at(&d.rows, x);
    }
    if plot.x_row.is_some() || d.columns.iter().any(|c| c.x.is_some()) {
        return short(x);
    }
    label_at(&d.columns, x)
}

/// The label of a line, if there is one at that very place.
fn label_at(lines: &[Line], x: f64) -> String {
    let near = (x - x.round()).abs() < 1e-6 && x > -0.5;
    lines.get(x.round() as usize).filter(|_| near).map_or(String::new(), |l| l.label.clone())
}
