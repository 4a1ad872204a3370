//! Testing a claim on figures: orders, bounds, slopes, figures of the paper.

use anyhow::{Context, Result};

use super::verdict::Trial;
use super::{Bound, Order, Same, Slope, Verdict};
use crate::bench::definition::{At, Definition};
use crate::bench::grid::Grid;
use fyke_bench::figure::plain;

/// The places of columns; those that are measured if none is named.
pub(super) fn places(definition: &Definition, names: &[String]) -> Result<Vec<usize>> {
    if names.is_empty() {
        let all = 0..definition.columns.len();
        return Ok(all.filter(|c| definition.columns[*c].ratio.is_none()).collect());
    }
    names.iter().map(|c| definition.column(c)).collect()
}

/// The places of rows; all if none is named.
fn row_places(definition: &Definition, names: &[String]) -> Result<Vec<usize>> {
    if names.is_empty() {
        return Ok((0..definition.rows.len()).collect());
    }
    names.iter().map(|r| definition.row(r)).collect()
}

pub(super) fn order(order: &Order, definition: &Definition, grid: &Grid) -> Result<Verdict> {
    let rows = row_places(definition, &order.rows)?;
    let mut trial = Trial::default();
    for column in places(definition, &order.columns)? {
        let figures = rows.iter().map(|&r| (&*definition.rows[r].label, grid.get(r, column)));
        compare(&mut trial, figures, &definition.columns[column].label);
    }
    Ok(trial.verdict(order.share))
}

pub(super) fn rises(order: &Order, definition: &Definition, grid: &Grid) -> Result<Verdict> {
    let columns = places(definition, &order.columns)?;
    let mut trial = Trial::default();
    for row in row_places(definition, &order.rows)? {
        let figures = columns.iter().map(|&c| (&*definition.columns[c].label, grid.get(row, c)));
        compare(&mut trial, figures, &definition.rows[row].label);
    }
    Ok(trial.verdict(order.share))
}

/// One comparison: whether figures that are there stand in ascending order.
fn compare<'a>(trial: &mut Trial, figures: impl Iterator<Item = (&'a str, Option<f64>)>, of: &str) {
    let mut there: Vec<(&str, f64)> = Vec::new();
    for (label, value) in figures {
        match value {
            Some(value) => there.push((label, value)),
            None => trial.missing += 1,
        }
    }
    if there.len() < 2 {
        return;
    }
    let text = |side: &[(&str, f64)], between: &str| {
        let each: Vec<_> = side.iter().map(|(l, v)| format!("{l} ({})", plain(*v))).collect();
        format!("{of}: {}", each.join(between))
    };
    match there.windows(2).find(|pair| pair[0].1 >= pair[1].1) {
        Some(pair) => trial.add(false, text(pair, " >= ")),
        None => trial.add(true, text(&[there[0], there[there.len() - 1]], " < ")),
    }
}

pub(super) fn bound(bound: &Bound, definition: &Definition, grid: &Grid) -> Result<Verdict> {
    let mut trial = Trial::default();
    let rows = match &bound.of.row {
        Some(row) => vec![definition.row(row)?],
        None => row_places(definition, &bound.rows)?,
    };
    let columns = match &bound.of.column {
        Some(column) if column == "*" => vec![0],
        Some(column) => vec![definition.column(column)?],
        None => places(definition, &bound.columns)?,
    };
    let mut values = Vec::new();
    for &row in &rows {
        for &column in &columns {
            match bound.value(definition, grid, row, column) {
                Some(value) => values.push((value, bound.name(definition, row, column))),
                None => trial.missing += 1,
            }
        }
    }
    values.sort_by(|a, b| bound.excess(b.0).total_cmp(&bound.excess(a.0)));
    for (value, name) in values {
        trial
            .add(bound.excess(value) <= 0.0, format!("{name} is {}{}", plain(value), bound.text()));
    }
    Ok(trial.verdict(1.0))
}

impl Bound {
    fn value(
        &self,
        definition: &Definition,
        grid: &Grid,
        row: usize,
        column: usize,
    ) -> Option<f64> {
        let of = grid.at(definition, &self.of, row, column)?;
        match &self.to {
            None => Some(of),
            Some(to) => {
                grid.at(definition, to, row, column).filter(|t| *t != 0.0).map(|to| of / to)
            }
        }
    }

    /// How far a value is out of the bounds; negative if it is within.
    fn excess(&self, value: f64) -> f64 {
        let below = self.at_least.map_or(f64::NEG_INFINITY, |least| least - value);
        let above = self.at_most.map_or(f64::NEG_INFINITY, |most| value - most);
        below.max(above)
    }

    fn name(&self, definition: &Definition, row: usize, column: usize) -> String {
        let cell = |at: &At| {
            let row = at.row.as_deref().unwrap_or(&definition.rows[row].label);
            match at.column.as_deref().unwrap_or(&definition.columns[column].label) {
                "*" => format!("{row} over all columns"),
                column => format!("{row} at {column}"),
            }
        };
        match &self.to {
            None => cell(&self.of),
            Some(to) => format!("{} / {}", cell(&self.of), cell(to)),
        }
    }

    fn text(&self) -> String {
        let least = self.at_least.map(|l| format!("at least {}", plain(l)));
        let most = self.at_most.map(|m| format!("at most {}", plain(m)));
        let bounds: Vec<_> = least.into_iter().chain(most).collect();
        format!(" ({})", bounds.join(", "))
    }
}

pub(super) fn slope(slope: &Slope, definition: &Definition, grid: &Grid) -> Result<Verdict> {
    let columns = places(definition, &slope.columns)?;
    let mut trial = Trial::default();
    for label in &slope.rows {
        let row = definition.row(label)?;
        let mut points = Vec::new();
        for &column in &columns {
            match grid.get(row, column) {
                Some(y) => points.push((number(definition, column)?, y)),
                None => trial.missing += 1,
            }
        }
        if let Some(exponent) = exponent(&points) {
            let least = slope.at_least.is_none_or(|l| exponent >= l);
            let most = slope.at_most.is_none_or(|m| exponent <= m);
            trial.add(least && most, format!("{label} grows as the power {exponent:.2}"));
        }
    }
    Ok(trial.verdict(1.0))
}

pub(super) fn same(same: Same, definition: &Definition, grid: &Grid) -> Verdict {
    let mut trial = Trial::default();
    for (r, row) in definition.rows.iter().enumerate() {
        for (c, column) in definition.columns.iter().enumerate() {
            let Some(paper) = definition.paper_figure(r, c) else { continue };
            match grid.get(r, c) {
                None => trial.missing += 1,
                Some(here) => {
                    let near = (here - paper).abs() <= same.within * paper.abs();
                    let (here, paper) = (plain(here), plain(paper));
                    let cell = format!("{} at {}", row.label, column.label);
                    trial.add(near, format!("{cell} is {here}, the paper has {paper}"));
                }
            }
        }
    }
    trial.verdict(1.0)
}

/// The number of a column.
pub(super) fn number(definition: &Definition, column: usize) -> Result<f64> {
    let column = &definition.columns[column];
    column.x.with_context(|| format!("column {:?} has no number x", column.label))
}

/// The exponent of the power that fits best: least squares of the logarithms.
pub(super) fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let (mx, my) =
        (logs.iter().map(|p| p.0).sum::<f64>() / n, logs.iter().map(|p| p.1).sum::<f64>() / n);
    let spread: f64 = logs.iter().map(|p| (p.0 - mx).powi(2)).sum();
    let slope = logs.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum::<f64>() / spread;
    (logs.len() >= 2 && slope.is_finite()).then_some(slope)
}
