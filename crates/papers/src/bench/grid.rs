//! The figures of a table: measured ones, and those computed from them.

use super::cell_ref::{CellRef, Ratio};
use super::definition::Definition;

/// Figures by row and column.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid(Vec<Vec<Option<f64>>>);

impl Grid {
    /// The figures that the paper prints.
    pub fn of_paper(definition: &Definition) -> Self {
        Self::fill(definition, |row, column| definition.paper_figure(row, column))
    }

    /// Measured figures, and what the definition computes from them.
    pub fn of_measured(
        definition: &Definition,
        measured: impl Fn(usize, usize) -> Option<f64>,
    ) -> Self {
        let base = Self::fill(definition, |row, column| {
            if is_computed(definition, row, column) { None } else { measured(row, column) }
        });
        Self::fill(definition, |row, column| {
            let (of_row, of_column) =
                (&definition.rows[row].ratio, &definition.columns[column].ratio);
            match (of_row, of_column) {
                (None, None) => base.get(row, column),
                (Some(ratio), None) | (None, Some(ratio)) => {
                    base.ratio(definition, ratio, row, column)
                }
                (Some(_), Some(_)) => None,
            }
        })
    }

    fn fill(definition: &Definition, figure: impl Fn(usize, usize) -> Option<f64>) -> Self {
        let columns = definition.columns.len();
        let row = |r: usize| (0..columns).map(|c| figure(r, c)).collect();
        Self((0..definition.rows.len()).map(row).collect())
    }

    /// A figure.
    pub fn get(&self, row: usize, column: usize) -> Option<f64> {
        self.0[row][column].filter(|f| f.is_finite())
    }

    /// The quotient of two figures that a cell at `row` and `column` refers to.
    fn ratio(
        &self,
        definition: &Definition,
        ratio: &Ratio,
        row: usize,
        column: usize,
    ) -> Option<f64> {
        let of = self.at(definition, &ratio.of, row, column)?;
        let to = self.at(definition, &ratio.to, row, column)?;
        (to != 0.0).then_some(of / to)
    }

    /// The figure that a cell at `row` and `column` refers to by `at`.
    pub fn at(
        &self,
        definition: &Definition,
        at: &CellRef,
        row: usize,
        column: usize,
    ) -> Option<f64> {
        let row = at.row.as_ref().map_or(Some(row), |r| definition.row(r).ok())?;
        match &at.column {
            None => self.get(row, column),
            Some(all) if all == "*" => {
                let measured = |c: &usize| definition.columns[*c].ratio.is_none();
                (0..definition.columns.len()).filter(measured).map(|c| self.get(row, c)).sum()
            }
            Some(column) => self.get(row, definition.column(column).ok()?),
        }
    }
}

/// Whether a cell is computed from others.
pub fn is_computed(definition: &Definition, row: usize, column: usize) -> bool {
    definition.rows[row].ratio.is_some() || definition.columns[column].ratio.is_some()
}
