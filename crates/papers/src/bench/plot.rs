//! A table as a plot: measured figures as solid lines, the paper's as dashed ones.

use std::path::Path;

use anyhow::Result;

use super::definition::{Definition, Header, PlotKind, PlotOptions};
use super::grid::Grid;
use fyke_bench::chart::{Chart, Series, short};

/// Draws `<folder>/<id>.svg`.
///
/// # Errors
/// It cannot be written. A table without a single figure is not drawn.
pub fn draw(
    folder: &Path,
    d: &Definition,
    plot: &PlotOptions,
    paper: &Grid,
    here: &Grid,
) -> Result<()> {
    let series = match plot.kind {
        PlotKind::Lines => all_series(d, plot, paper, here)?,
        PlotKind::Bars => bars(d, plot, paper, here)?,
    };
    let chart = Chart {
        title: format!("{}  {}, {}", d.id, d.paper, d.r#where),
        x: &plot.x,
        y: &plot.y,
        x_log: plot.x_log,
        y_log: plot.y_log,
        bars: (plot.kind == PlotKind::Bars).then_some(d.rows.len()),
        label: &|x| place_label(d, plot, x),
        series,
    };
    chart.save(&folder.join(format!("{}.svg", d.id)))?;
    Ok(())
}

/// The lines that have points: the measured one and the paper's of each row.
fn all_series(
    d: &Definition,
    plot: &PlotOptions,
    paper: &Grid,
    here: &Grid,
) -> Result<Vec<Series>> {
    let rows = match &plot.rows[..] {
        [] => (0..d.rows.len()).filter(|r| d.rows[*r].ratio.is_none()).collect(),
        named => named.iter().map(|r| d.row(r)).collect::<Result<Vec<_>>>()?,
    };
    let mut all = Vec::new();
    for (n, row) in rows.into_iter().enumerate() {
        for (who, grid) in [("here", here), ("paper", paper)] {
            let points = points(d, plot, grid, row)?;
            let label = format!("{}, {who}", d.rows[row].label);
            all.push(Series { label, color: n, solid: who == "here", joined: true, points });
        }
    }
    all.retain(|s| !s.points.is_empty());
    Ok(all)
}

/// Two series of bars, measured and printed: one point per row.
fn bars(d: &Definition, plot: &PlotOptions, paper: &Grid, here: &Grid) -> Result<Vec<Series>> {
    let column = d.column(&plot.columns[0])?;
    let series = |(label, grid): (&str, &Grid), color| {
        let rows = (0..d.rows.len()).filter_map(|r| Some((r as f64, grid.get(r, column)?)));
        Series {
            label: label.into(),
            color,
            solid: label == "here",
            joined: true,
            points: rows.collect(),
        }
    };
    let mut all = vec![series(("here", here), 0), series(("paper", paper), 1)];
    all.retain(|s| !s.points.is_empty());
    Ok(all)
}

fn points(d: &Definition, plot: &PlotOptions, grid: &Grid, row: usize) -> Result<Vec<(f64, f64)>> {
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

/// The label below a position of the horizontal axis: its number, or the label of the column or,
/// for bars, of the row there.
fn place_label(d: &Definition, plot: &PlotOptions, x: f64) -> String {
    if plot.kind == PlotKind::Bars {
        return label_at(&d.rows, x);
    }
    if plot.x_row.is_some() || d.columns.iter().any(|c| c.x.is_some()) {
        return short(x);
    }
    label_at(&d.columns, x)
}

/// The label of the row or column at exactly this position.
fn label_at(headers: &[Header], x: f64) -> String {
    let near = (x - x.round()).abs() < 1e-6 && x > -0.5;
    headers.get(x.round() as usize).filter(|_| near).map_or(String::new(), |l| l.label.clone())
}
