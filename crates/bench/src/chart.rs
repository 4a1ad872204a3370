//! Charts as SVG: lines over an axis, or bars side by side.

use std::fs;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::*;

type DrawingError = DrawingAreaErrorKind<std::io::Error>;

/// Width and height of a chart.
const SIZE: (u32, u32) = (900, 560);
/// Colors that people with color blindness can distinguish too (Okabe and Ito).
const COLORS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
    RGBColor(128, 128, 128),
];

/// One line of a chart, or the bars of one color.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its name in the legend.
    pub label: String,
    /// The number of its color, modulo the number of colors.
    pub color: usize,
    /// A solid line with dots; else a dashed one with crosses.
    pub solid: bool,
    /// Whether its points are joined.
    pub joined: bool,
    /// Its points.
    pub points: Vec<(f64, f64)>,
}

/// A chart.
pub struct Chart<'a> {
    /// The title above it.
    pub title: String,
    /// Title of the horizontal axis.
    pub x: &'a str,
    /// Title of the vertical axis.
    pub y: &'a str,
    /// Whether the horizontal axis is logarithmic.
    pub x_log: bool,
    /// Whether the vertical axis is logarithmic.
    pub y_log: bool,
    /// Bars instead of lines, at this many places: a solid and a dashed series side by side.
    pub bars: Option<usize>,
    /// The label below a place of the horizontal axis.
    pub label: &'a dyn Fn(f64) -> String,
    /// The lines.
    pub series: Vec<Series>,
}

impl Chart<'_> {
    /// Writes the chart as SVG. `false` if it has no point and was not written.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, file: &Path) -> Result<bool> {
        let shown = |v: f64, log: bool| v.is_finite() && (!log || v > 0.0);
        let fits = |p: &&(f64, f64)| shown(p.0, self.x_log) && shown(p.1, self.y_log);
        let points = || self.series.iter().flat_map(|s| &s.points).filter(fits);
        if points().next().is_none() {
            return Ok(false);
        }
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        let x = range(points().map(|p| p.0), self.x_log, true);
        let x = self.bars.map_or(x, |places| -0.6..places as f64 - 0.4);
        let y = range(points().map(|p| p.1), self.y_log, false);
        let canvas = SVGBackend::new(file, SIZE).into_drawing_area();
        let drawn = match (self.x_log, self.y_log) {
            (false, false) => self.draw(&canvas, x, y),
            (true, false) => self.draw(&canvas, x.log_scale(), y),
            (false, true) => self.draw(&canvas, x, y.log_scale()),
            (true, true) => self.draw(&canvas, x.log_scale(), y.log_scale()),
        };
        drawn.with_context(|| file.display().to_string())?;
        Ok(true)
    }

    fn draw<X, Y>(&self, canvas: &DrawingArea<SVGBackend<'_>, Shift>, x: X, y: Y) -> Result<()>
    where
        X: AsRangedCoord<Value = f64>,
        Y: AsRangedCoord<Value = f64>,
        X::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
        Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let failed = |e: DrawingError| anyhow!("{e}");
        canvas.fill(&WHITE).map_err(failed)?;
        let (plot, legend) = canvas.split_horizontally(SIZE.0 as i32 - self.legend_width());
        let mut chart = ChartBuilder::on(&plot)
            .caption(&self.title, ("sans-serif", 20))
            .margin(12)
            .x_label_area_size(48)
            .y_label_area_size(76)
            .build_cartesian_2d(x, y)
            .map_err(failed)?;
        let mut mesh = chart.configure_mesh();
        if self.bars.is_some() {
            mesh.disable_x_mesh();
        }
        mesh.light_line_style(TRANSPARENT)
            .max_light_lines(1)
            .bold_line_style(BLACK.mix(0.12))
            .x_desc(self.x)
            .y_desc(self.y)
            .x_label_formatter(&|x| (self.label)(*x))
            .y_label_formatter(&|y| short(*y))
            .axis_desc_style(("sans-serif", 16))
            .label_style(("sans-serif", 14))
            .draw()
            .map_err(failed)?;
        for series in &self.series {
            self.draw_series(&mut chart, series).map_err(failed)?;
        }
        self.legend(&legend).map_err(failed)?;
        canvas.present().map_err(failed)
    }

    fn draw_series<X, Y>(
        &self,
        chart: &mut ChartContext<'_, SVGBackend<'_>, Cartesian2d<X, Y>>,
        series: &Series,
    ) -> Result<(), DrawingError>
    where
        X: Ranged<ValueType = f64>,
        Y: Ranged<ValueType = f64>,
    {
        if self.bars.is_some() {
            chart.draw_series(series.points.iter().map(|p| bar(*p, series)))?;
            return Ok(());
        }
        let style = series.style().stroke_width(2);
        let points = series.points.iter().copied();
        if series.solid {
            let line = if series.joined { points.clone().collect() } else { Vec::new() };
            chart.draw_series(LineSeries::new(line, style))?;
            chart.draw_series(points.map(|p| Circle::new(p, 4, series.style().filled())))?;
        } else {
            chart.draw_series(DashedLineSeries::new(points.clone(), 7, 5, style))?;
            chart.draw_series(points.map(|p| Cross::new(p, 4, style)))?;
        }
        Ok(())
    }

    /// Room for the longest label.
    fn legend_width(&self) -> i32 {
        let longest = self.series.iter().map(|s| s.label.chars().count()).max().unwrap_or(0);
        (60 + 8 * longest as i32).min(SIZE.0 as i32 / 2)
    }

    fn legend(&self, area: &DrawingArea<SVGBackend<'_>, Shift>) -> Result<(), DrawingError> {
        for (n, series) in self.series.iter().enumerate() {
            let y = 60 + 22 * n as i32;
            let style = series.style().stroke_width(2);
            if self.bars.is_some() {
                area.draw(&Rectangle::new([(12, y - 7), (34, y + 7)], series.style().filled()))?;
            } else if series.solid {
                let from = if series.joined { 4 } else { 19 };
                area.draw(&PathElement::new(vec![(from, y), (2 * 19 - from, y)], style))?;
                area.draw(&Circle::new((19, y), 4, series.style().filled()))?;
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
}

impl Series {
    fn style(&self) -> RGBColor {
        COLORS[self.color % COLORS.len()]
    }
}

/// A bar beside the middle of its place: on the left if its series is solid, else on the right.
fn bar((x, y): (f64, f64), series: &Series) -> Rectangle<(f64, f64)> {
    let (from, to) = if series.solid { (x - 0.36, x - 0.02) } else { (x + 0.02, x + 0.36) };
    Rectangle::new([(from, 0.0), (to, y)], series.style().filled())
}

/// The range of an axis, with some margin. A linear axis starts at 0, a logarithmic one at a power
/// of ten, because there are no labels below the first one.
fn range(values: impl Iterator<Item = f64>, log: bool, tight: bool) -> Range<f64> {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    values.for_each(|v| (low, high) = (low.min(v), high.max(v)));
    if log {
        return 10_f64.powf(low.log10().floor())..high * 1.3;
    }
    let room = if tight { 0.03 * (high - low).max(1e-9) } else { 0.08 * high.max(1e-9) };
    if tight { low - room..high + room } else { 0.0..high + room }
}

/// A number on an axis, without trailing zeros.
pub fn short(value: f64) -> String {
    if value.abs() >= 1.0 && (value - value.round()).abs() < 1e-9 && value.abs() < 1000.0 {
        return format!("{value:.0}");
    }
    let text = crate::number::rounded(value);
    match text.contains('.') && !text.contains('e') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_reach_over_their_figures() {
        assert_eq!(range([0.25, 4.0].into_iter(), true, false), 0.1..5.2);
        assert_eq!(range([20.0, 1000.0].into_iter(), true, true).start, 10.0);
        assert_eq!(range([3.0, 10.0].into_iter(), false, false), 0.0..10.8);
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.svg");
        let chart = |points: Vec<(f64, f64)>| Chart {
            title: "t".into(),
            x: "x",
            y: "y",
            x_log: true,
            y_log: true,
            bars: None,
            label: &short,
            series: vec![Series { label: "s".into(), color: 0, solid: true, joined: true, points }],
        };
        assert!(!chart(vec![(0.0, 1.0)]).save(&file).unwrap() && !file.exists());
        assert!(chart(vec![(20.0, 1.0), (40.0, 2.0)]).save(&file).unwrap() && file.exists());
    }
}
