//! What a paper says about its figures, and whether it holds for others.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::definition::{At, Definition};
use super::grid::Grid;

mod judge;
#[cfg(test)]
mod tests;
mod verdict;

pub use verdict::Verdict;

/// A claim: one sentence, and one test of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Claim {
    /// The claim in words.
    pub says: String,
    /// The cores that it takes to tell.
    #[serde(default)]
    pub cores: usize,
    /// With so many cores or more it cannot be told, because the claim is about more threads than that.
    pub cores_below: Option<usize>,
    /// Why the paper's own figures do not bear it out, if they do not.
    pub paper_fails: Option<String>,
    /// Rows in the order of their figures, the least first, in every column.
    pub order: Option<Order>,
    /// Columns in the order of their figures, the least first, in every row.
    pub rises: Option<Order>,
    /// Figures, or ratios of two, within bounds.
    pub bound: Option<Bound>,
    /// How a row grows with the numbers of its columns.
    pub slope: Option<Slope>,
    /// Figures that are the paper's.
    pub same: Option<Same>,
}

/// An order of rows or of columns.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Order {
    /// The rows.
    #[serde(default)]
    rows: Vec<String>,
    /// The columns; all that are measured if none is named.
    #[serde(default)]
    columns: Vec<String>,
    /// The share of lines in which it has to hold.
    #[serde(default = "all")]
    share: f64,
}

/// Bounds of figures.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Bound {
    /// The figures: all rows or columns that are not named.
    of: At,
    /// What they are divided by.
    to: Option<At>,
    /// Rows that are meant, if `of` names none; all if none is named here either.
    #[serde(default)]
    rows: Vec<String>,
    /// The same of columns; all that are measured if none is named.
    #[serde(default)]
    columns: Vec<String>,
    /// The least.
    at_least: Option<f64>,
    /// The greatest.
    at_most: Option<f64>,
}

/// Bounds of the exponent that fits best: 1 is linear, 0 is flat.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Slope {
    /// The rows.
    rows: Vec<String>,
    /// The columns; all that are measured if none is named.
    #[serde(default)]
    columns: Vec<String>,
    /// The least exponent.
    at_least: Option<f64>,
    /// The greatest.
    at_most: Option<f64>,
}

/// Figures that are the paper's, wherever it has one.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Same {
    /// How far off they may be, as a share of the paper's.
    within: f64,
}

fn all() -> f64 {
    1.0
}

impl Claim {
    /// Checks that what it names is there.
    ///
    /// # Errors
    /// A row or column is not there, or there is not one test.
    pub fn check(&self, definition: &Definition) -> Result<()> {
        let tests = [
            self.order.is_some(),
            self.rises.is_some(),
            self.bound.is_some(),
            self.slope.is_some(),
            self.same.is_some(),
        ];
        ensure!(tests.iter().filter(|t| **t).count() == 1, "it needs one test");
        let (rows, columns) = self.names();
        rows.iter().try_for_each(|r| definition.row(r).map(|_| ()))?;
        columns.iter().try_for_each(|c| definition.column(c).map(|_| ()))?;
        if let Some(bound) = &self.bound {
            let bounded = bound.at_least.is_some() || bound.at_most.is_some();
            ensure!(bounded, "a bound needs at-least or at-most");
        }
        match &self.slope {
            Some(slope) => judge::places(definition, &slope.columns)?
                .into_iter()
                .try_for_each(|c| judge::number(definition, c).map(|_| ())),
            None => Ok(()),
        }
    }

    /// Every row and column that it names.
    fn names(&self) -> (Vec<String>, Vec<String>) {
        let mut rows = Vec::new();
        let mut columns = Vec::new();
        for order in self.order.iter().chain(&self.rises) {
            rows.extend_from_slice(&order.rows);
            columns.extend_from_slice(&order.columns);
        }
        if let Some(bound) = &self.bound {
            rows.extend_from_slice(&bound.rows);
            columns.extend_from_slice(&bound.columns);
            for at in std::iter::once(&bound.of).chain(&bound.to) {
                rows.extend(at.row.clone());
                columns.extend(at.column.clone().filter(|c| c != "*"));
            }
        }
        if let Some(slope) = &self.slope {
            rows.extend_from_slice(&slope.rows);
            columns.extend_from_slice(&slope.columns);
        }
        (rows, columns)
    }

    /// Tests it on figures that were measured on a machine of so many cores.
    ///
    /// # Errors
    /// It names what is not there.
    pub fn test_on(&self, cores: usize, definition: &Definition, grid: &Grid) -> Result<Verdict> {
        if cores < self.cores {
            let (takes, has) = (self.cores, cores);
            return Ok(Verdict::Untold(format!("it takes {takes} cores, and there are {has}")));
        }
        if let Some(limit) = self.cores_below.filter(|limit| cores >= *limit) {
            let why = format!("it takes fewer than {limit} cores, and there are {cores}");
            return Ok(Verdict::Untold(why));
        }
        self.test(definition, grid)
    }

    /// Tests it on figures.
    ///
    /// # Errors
    /// It names what is not there.
    pub fn test(&self, definition: &Definition, grid: &Grid) -> Result<Verdict> {
        if let Some(order) = &self.order {
            return judge::order(order, definition, grid);
        }
        if let Some(order) = &self.rises {
            return judge::rises(order, definition, grid);
        }
        if let Some(bound) = &self.bound {
            return judge::bound(bound, definition, grid);
        }
        if let Some(same) = &self.same {
            return Ok(judge::same(*same, definition, grid));
        }
        judge::slope(self.slope.as_ref().context("no test")?, definition, grid)
    }
}
