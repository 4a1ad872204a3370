//! Whether a claim is well formed.

use anyhow::{Result, ensure};

use super::places::{columns, x};
use super::written::Claim;
use crate::bench::definition::Definition;

impl Claim {
    /// Checks that it has one test, and names only rows and columns that exist.
    ///
    /// # Errors
    /// It does not.
    pub fn check(&self, definition: &Definition) -> Result<()> {
        let tests = [
            self.order.is_some(),
            self.rises.is_some(),
            self.bound.is_some(),
            self.slope.is_some(),
            self.same.is_some(),
        ];
        ensure!(tests.iter().filter(|t| **t).count() == 1, "a claim needs exactly one test");
        let (rows, named) = self.names();
        rows.iter().try_for_each(|r| definition.row(r).map(|_| ()))?;
        named.iter().try_for_each(|c| definition.column(c).map(|_| ()))?;
        if let Some(bound) = &self.bound {
            let bounded = bound.at_least.is_some() || bound.at_most.is_some();
            ensure!(bounded, "a bound needs at-least or at-most");
        }
        match &self.slope {
            Some(slope) => columns(definition, &slope.columns)?
                .into_iter()
                .try_for_each(|c| x(definition, c).map(|_| ())),
            None => Ok(()),
        }
    }

    /// The rows and columns that it names.
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
}
