//! The figures of a table: measured ones, and those that are computed from them.

use super::definition::{At, Definition, Ratio};

/// Figures by row and column; `None` where there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid(Vec<Vec<Option<f64>>>);

impl Grid {
    /// The paper's figures, as they are printed.
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

    /// One figure over another, as a cell at `row` and `column` refers to them.
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

    /// The figure that a cell at `row` and `column` means by `at`.
    pub fn at(&self, definition: &Definition, at: &At, row: usize, column: usize) -> Option<f64> {
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

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        paper = "P"
        where = "table 1"
        title = "t"
        unit = "s"
        claim = []
        base = { patterns.source.random = 4, engine = "e", metric = "footprint" }
        column = [
            { label = "1" }, { label = "2" },
            { label = "all", ratio = { of.column = "*", to = { row = "a", column = "*" } } },
        ]
        row = [
            { label = "a" }, { label = "b" },
            { label = "a/b", ratio = { of.row = "a", to.row = "b" } },
            { label = "speedup", ratio = { of = { row = "b", column = "1" }, to.row = "b" } },
        ]
    "#;

    #[test]
    fn ratios_are_of_rows_columns_and_sums() {
        let d = Definition::parse("x", TEXT).unwrap();
        let figures = [[1.0, 3.0], [2.0, 8.0]];
        let grid = Grid::of_measured(&d, |r, c| Some(figures[r][c]));
        let row = |r| (0..3).map(|c| grid.get(r, c)).collect::<Vec<_>>();
        assert_eq!(row(0), [Some(1.0), Some(3.0), Some(1.0)]);
        assert_eq!(row(1), [Some(2.0), Some(8.0), Some(2.5)]);
        assert_eq!(row(2), [Some(0.5), Some(0.375), None]);
        assert_eq!(row(3), [Some(1.0), Some(0.25), None]);
    }

    #[test]
    fn what_is_missing_makes_what_depends_on_it_missing() {
        let d = Definition::parse("x", TEXT).unwrap();
        let grid = Grid::of_measured(&d, |r, c| ((r, c) != (1, 1)).then_some(1.0));
        assert_eq!(grid.get(1, 2), None, "a sum with a gap");
        assert_eq!((grid.get(2, 0), grid.get(2, 1)), (Some(1.0), None));
    }
}
