//! The rows and columns that a claim names.

use anyhow::{Context, Result};

use crate::bench::definition::Definition;

/// The indices of columns; of all measured ones if none is named.
pub(super) fn columns(definition: &Definition, names: &[String]) -> Result<Vec<usize>> {
    if names.is_empty() {
        let all = 0..definition.columns.len();
        return Ok(all.filter(|c| definition.columns[*c].ratio.is_none()).collect());
    }
    names.iter().map(|c| definition.column(c)).collect()
}

/// The indices of rows; of all if none is named.
pub(super) fn rows(definition: &Definition, names: &[String]) -> Result<Vec<usize>> {
    if names.is_empty() {
        return Ok((0..definition.rows.len()).collect());
    }
    names.iter().map(|r| definition.row(r)).collect()
}

/// The number of a column, for slopes.
pub(super) fn x(definition: &Definition, column: usize) -> Result<f64> {
    let column = &definition.columns[column];
    column.x.with_context(|| format!("column {:?} has no number x", column.label))
}
