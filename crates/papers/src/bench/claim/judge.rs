//! Tests a claim on figures: orders, bounds, slopes, figures of the paper.

use anyhow::{Context, Result};
use fyke_bench::number::plain;

use super::places::{columns, rows, x};
use super::verdict::{Comparisons, Verdict};
use super::written::{Bound, Claim, Order, Same, Slope};
use crate::bench::cell_ref::CellRef;
use crate::bench::definition::Definition;
use crate::bench::grid::Grid;

impl Claim {
    /// Tests it on figures that were measured on a machine with this many cores.
    ///
    /// # Errors
    /// It names a row or column that does not exist.
    pub fn test_on(&self, cores: usize, definition: &Definition, grid: &Grid) -> Result<Verdict> {
        if cores < self.cores {
            let (takes, has) = (self.cores, cores);
            return Ok(Verdict::Untold(format!("it needs {takes} cores, and there are {has}")));
        }
        if let Some(limit) = self.cores_below.filter(|limit| cores >= *limit) {
            let why = format!("it needs fewer than {limit} cores, and there are {cores}");
            return Ok(Verdict::Untold(why));
        }
        self.test(definition, grid)
    }

    /// Tests it on figures.
    ///
    /// # Errors
    /// It names a row or column that does not exist.
    pub fn test(&self, definition: &Definition, grid: &Grid) -> Result<Verdict> {
        if let Some(wanted) = &self.order {
            return order(wanted, definition, grid);
        }
        if let Some(wanted) = &self.rises {
            return rises(wanted, definition, grid);
        }
        if let Some(wanted) = &self.bound {
            return bound(wanted, definition, grid);
        }
        if let Some(wanted) = &self.same {
            return Ok(same(*wanted, definition, grid));
        }
        slope(self.slope.as_ref().context("no test")?, definition, grid)
    }
}

fn order(order: &Order, definition: &Definition, grid: &Grid) -> Result<Verdict> {
    let rows = rows(definition, &order.rows)?;
    let mut found = Comparisons::default();
    for column in columns(definition, &order.columns)? {
        let figures = rows.iter().map(|&r| (&*definition.rows[r].label, grid.get(r, column)));
        compare(&mut found, figures, &definition.columns[column].label);
    }
    Ok(found.verdict(order.share))
}

fn rises(order: &Order, definition: &Definition, grid: &Grid) -> Result<Verdict> {
    let columns = columns(definition, &order.columns)?;
    let mut found = Comparisons::default();
    for row in rows(definition, &order.rows)? {
        let figures = columns.iter().map(|&c| (&*definition.columns[c].label, grid.get(row, c)));
        compare(&mut found, figures, &definition.rows[row].label);
    }
    Ok(found.verdict(order.share))
}

/// One comparison: whether figures that are there stand in ascending order.
fn compare<'a>(
    found: &mut Comparisons,
    figures: impl Iterator<Item = (&'a str, Option<f64>)>,
    of: &str,
) {
    let mut there: Vec<(&str, f64)> = Vec::new();
    for (label, value) in figures {
        match value {
            Some(value) => there.push((label, value)),
            None => found.missing += 1,
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
        Some(pair) => found.add(false, text(pair, " >= ")),
        None => found.add(true, text(&[there[0], there[there.len() - 1]], " < ")),
    }
}

fn bound(bound: &Bound, definition: &Definition, grid: &Grid) -> Result<Verdict> {
    let mut found = Comparisons::default();
    let rows = match &bound.of.row {
        Some(row) => vec![definition.row(row)?],
        None => rows(definition, &bound.rows)?,
    };
    let columns = match &bound.of.column {
        Some(column) if column == "*" => vec![0],
        Some(column) => vec![definition.column(column)?],
        None => columns(definition, &bound.columns)?,
    };
    let mut values = Vec::new();
    for &row in &rows {
        for &column in &columns {
            match bound.value(definition, grid, row, column) {
                Some(value) => values.push((value, bound.name(definition, row, column))),
                None => found.missing += 1,
            }
        }
    }
    values.sort_by(|a, b| bound.excess(b.0).total_cmp(&bound.excess(a.0)));
    for (value, name) in values {
        found
            .add(bound.excess(value) <= 0.0, format!("{name} is {}{}", plain(value), bound.text()));
    }
    Ok(found.verdict(1.0))
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
        let cell = |at: &CellRef| {
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

fn slope(slope: &Slope, definition: &Definition, grid: &Grid) -> Result<Verdict> {
    let columns = columns(definition, &slope.columns)?;
    let mut found = Comparisons::default();
    for label in &slope.rows {
        let row = definition.row(label)?;
        let mut points = Vec::new();
        for &column in &columns {
            match grid.get(row, column) {
                Some(y) => points.push((x(definition, column)?, y)),
                None => found.missing += 1,
            }
        }
        if let Some(exponent) = exponent(&points) {
            let least = slope.at_least.is_none_or(|l| exponent >= l);
            let most = slope.at_most.is_none_or(|m| exponent <= m);
            found.add(least && most, format!("{label} grows as the power {exponent:.2}"));
        }
    }
    Ok(found.verdict(1.0))
}

fn same(same: Same, definition: &Definition, grid: &Grid) -> Verdict {
    let mut found = Comparisons::default();
    for (r, row) in definition.rows.iter().enumerate() {
        for (c, column) in definition.columns.iter().enumerate() {
            let Some(paper) = definition.paper_figure(r, c) else { continue };
            match grid.get(r, c) {
                None => found.missing += 1,
                Some(here) => {
                    let near = (here - paper).abs() <= same.within * paper.abs();
                    let (here, paper) = (plain(here), plain(paper));
                    let cell = format!("{} at {}", row.label, column.label);
                    found.add(near, format!("{cell} is {here}, the paper has {paper}"));
                }
            }
        }
    }
    found.verdict(1.0)
}

/// The exponent of the power that fits best: least squares of the logarithms.
pub(in crate::bench) fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let (mx, my) =
        (logs.iter().map(|p| p.0).sum::<f64>() / n, logs.iter().map(|p| p.1).sum::<f64>() / n);
    let spread: f64 = logs.iter().map(|p| (p.0 - mx).powi(2)).sum();
    let slope = logs.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum::<f64>() / spread;
    (logs.len() >= 2 && slope.is_finite()).then_some(slope)
}
