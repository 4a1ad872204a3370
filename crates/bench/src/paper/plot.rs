//! A table as a drawing: ours in full lines, the paper's in dashed ones.

use std::fs;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::*;

use super::definition::{Definition, Kind, Line, Plot};
use super::grid::Grid;
use super::print::figure;

/// Width and height of a drawing.
const SIZE: (u32, u32) = (900, 560);
/// Colours that are told apart, also by people who do not see red or green (Okabe and Ito).
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
    RGBColor(128, 128, 128),
];

/// One line of a drawing.
struct Series {
    label: String,
    colour: RGBColor,
    ours: bool,
    points: Vec<(f64, f64)>,
}

/// Draws `<folder>/<id>.svg`.
///
/// # Errors
/// It cannot be written. A table without a single figure is not drawn.
pub fn draw(folder: &Path, d: &Definition, plot: &Plot, paper: &Grid, here: &Grid) -> Result<()> {
    let series = match plot.kind {
        Kind::Lines => all_series(d, plot, paper, here)?,
        Kind::Bars => bars(d, plot, paper, here)?,
    };
    if series.is_empty() {
        return Ok(());
    }
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let file = folder.join(format!("{}.svg", d.id));
    let points = || series.iter().flat_map(|s| &s.points);
    let x = range(points().map(|p| p.0), plot.x_log, true);
    let y = range(points().map(|p| p.1), plot.y_log, false);
    let canvas = SVGBackend::new(&file, SIZE).into_drawing_area();
    let page = Page { d, plot, series: &series };
    let x = if plot.kind == Kind::Bars { -0.6..d.rows.len() as f64 - 0.4 } else { x };
    let drawn = match (plot.x_log, plot.y_log) {
        (false, false) => page.draw(&canvas, x, y),
        (true, false) => page.draw(&canvas, x.log_scale(), y),
        (false, true) => page.draw(&canvas, x, y.log_scale()),
        (true, true) => page.draw(&canvas, x.log_scale(), y.log_scale()),
    };
    drawn.with_context(|| file.display().to_string())
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
            let colour = COLOURS[n % COLOURS.len()];
            all.push(Series { label, colour, ours: who == "here", points });
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
        Series { label: label.into(), colour, ours: label == "here", points: rows.collect() }
    };
    let mut all = vec![series(("here", here), COLOURS[0]), series(("paper", paper), COLOURS[1])];
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

/// What an axis has to reach over, with some room. Axes of figures that are not powers begin at 0.
fn range(values: impl Iterator<Item = f64>, log: bool, tight: bool) -> Range<f64> {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    values.for_each(|v| (low, high) = (low.min(v), high.max(v)));
    if log {
        return low / 1.3..high * 1.3;
    }
    let room = if tight { 0.03 * (high - low).max(1e-9) } else { 0.08 * high.max(1e-9) };
    if tight { low - room..high + room } else { 0.0..high + room }
}

/// What a drawing shows.
struct Page<'a> {
    d: &'a Definition,
    plot: &'a Plot,
    series: &'a [Series],
}

impl Page<'_> {
    fn draw<X, Y>(
        &self,
        canvas: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
        x: X,
        y: Y,
    ) -> Result<()>
    where
        X: AsRangedCoord<Value = f64>,
        Y: AsRangedCoord<Value = f64>,
        X::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
        Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let failed = |e: DrawingAreaErrorKind<std::io::Error>| anyhow!("{e}");
        canvas.fill(&WHITE).map_err(failed)?;
        let (drawing, legend) = canvas.split_horizontally(SIZE.0 as i32 - self.legend_width());
        let title = format!("{}  {}, {}", self.d.id, self.d.paper, self.d.r#where);
        let mut chart = ChartBuilder::on(&drawing)
            .caption(title, ("sans-serif", 20))
            .margin(12)
            .x_label_area_size(48)
            .y_label_area_size(76)
            .build_cartesian_2d(x, y)
            .map_err(failed)?;
        let mut mesh = chart.configure_mesh();
        if self.plot.kind == Kind::Bars {
            mesh.disable_x_mesh();
        }
        mesh.light_line_style(TRANSPARENT)
            .max_light_lines(1)
            .bold_line_style(BLACK.mix(0.12))
            .x_desc(&self.plot.x)
            .y_desc(&self.plot.y)
            .x_label_formatter(&|x| self.place_label(*x))
            .y_label_formatter(&|y| short(*y))
            .axis_desc_style(("sans-serif", 16))
            .label_style(("sans-serif", 14))
            .draw()
            .map_err(failed)?;
        for series in self.series {
            if self.plot.kind == Kind::Bars {
                let bars = series.points.iter().map(|p| bar(*p, series));
                chart.draw_series(bars).map_err(failed)?;
                continue;
            }
            let style = series.colour.stroke_width(2);
            let points = series.points.iter().copied();
            if series.ours {
                chart.draw_series(LineSeries::new(points.clone(), style)).map_err(failed)?;
                let dots = points.map(|p| Circle::new(p, 4, series.colour.filled()));
                chart.draw_series(dots).map_err(failed)?;
            } else {
                let dashes = DashedLineSeries::new(points.clone(), 7, 5, style);
                chart.draw_series(dashes).map_err(failed)?;
                let crosses = points.map(|p| Cross::new(p, 4, series.colour.stroke_width(2)));
                chart.draw_series(crosses).map_err(failed)?;
            }
        }
        self.legend(&legend).map_err(failed)?;
        canvas.present().map_err(failed)
    }

    /// Room for the longest label.
    fn legend_width(&self) -> i32 {
        let longest = self.series.iter().map(|s| s.label.chars().count()).max().unwrap_or(0);
        (60 + 8 * longest as i32).min(SIZE.0 as i32 / 2)
    }

    fn legend(
        &self,
        area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    ) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
        for (n, series) in self.series.iter().enumerate() {
            let y = 60 + 22 * n as i32;
            let style = series.colour.stroke_width(2);
            if self.plot.kind == Kind::Bars {
                area.draw(&Rectangle::new([(12, y - 7), (34, y + 7)], series.colour.filled()))?;
            } else if series.ours {
                area.draw(&PathElement::new(vec![(4, y), (34, y)], style))?;
                area.draw(&Circle::new((19, y), 4, series.colour.filled()))?;
            } else {
                for dash in [4, 16, 28] {
                    area.draw(&PathElement::new(vec![(dash, y), (dash + 7, y)], style))?;
                }
                area.draw(&Cross::new((19, y), 4, style))?;
            }
            area.draw(&Text::new(series.label.clone(), (42, y - 7), ("sans-serif", 14)))?;
        }
        Ok(())
    }

    /// What stands below a place on the axis of the columns: its number, or the label of the column
    /// or, below bars, of the row there.
    fn place_label(&self, x: f64) -> String {
        if self.plot.kind == Kind::Bars {
            return label_at(&self.d.rows, x);
        }
        if self.plot.x_row.is_some() || self.d.columns.iter().any(|c| c.x.is_some()) {
            return short(x);
        }
        label_at(&self.d.columns, x)
    }
}

/// The label of a line, if there is one at that very place.
fn label_at(lines: &[Line], x: f64) -> String {
    let near = (x - x.round()).abs() < 1e-6 && x > -0.5;
    lines.get(x.round() as usize).filter(|_| near).map_or(String::new(), |l| l.label.clone())
}

/// A bar beside the middle of its place: ours on the left, the paper's on the right.
fn bar((x, y): (f64, f64), series: &Series) -> Rectangle<(f64, f64)> {
    let (from, to) = if series.ours { (x - 0.36, x - 0.02) } else { (x + 0.02, x + 0.36) };
    Rectangle::new([(from, 0.0), (to, y)], series.colour.filled())
}

/// A number on an axis: no digits that say nothing.
fn short(value: f64) -> String {
    if value.abs() >= 1.0 && (value - value.round()).abs() < 1e-9 && value.abs() < 1000.0 {
        return format!("{value:.0}");
    }
    let text = figure(value);
    match text.contains('.') && !text.contains('e') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text,
    }
}
