//! References to cells of a table.

use serde::Deserialize;

/// The quotient of two cells.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ratio {
    /// The dividend.
    pub of: CellRef,
    /// The divisor.
    pub to: CellRef,
}

/// A cell. Missing parts are those of the cell that refers to it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellRef {
    /// The row's label.
    pub row: Option<String>,
    /// The column's label; `"*"` is the sum over all measured columns.
    pub column: Option<String>,
}
