//! Claims as definitions write them.

use serde::Deserialize;

use crate::bench::cell_ref::CellRef;

/// A claim: a sentence and a test of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Claim {
    /// The claim in words.
    pub says: String,
    /// With fewer cores it cannot be tested.
    #[serde(default)]
    pub cores: usize,
    /// With this many cores or more it cannot be tested: the claim is about more threads than
    /// cores.
    pub cores_below: Option<usize>,
    /// Why it does not hold for the paper's own figures, if so.
    pub paper_fails: Option<String>,
    /// Rows in ascending order of their figures, in every column.
    pub order: Option<Order>,
    /// Columns in ascending order of their figures, in every row.
    pub rises: Option<Order>,
    /// Figures, or ratios of figures, within bounds.
    pub bound: Option<Bound>,
    /// How a row grows with the numbers of its columns.
    pub slope: Option<Slope>,
    /// Figures close to the paper's.
    pub same: Option<Same>,
}

/// An order of rows or of columns.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Order {
    /// The rows.
    #[serde(default)]
    pub(super) rows: Vec<String>,
    /// The columns; by default all measured ones.
    #[serde(default)]
    pub(super) columns: Vec<String>,
    /// The share of lines in which it has to hold.
    #[serde(default = "all")]
    pub(super) share: f64,
}

/// Bounds of figures.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Bound {
    /// The figures: all rows or columns unless named.
    pub(super) of: CellRef,
    /// The divisor.
    pub(super) to: Option<CellRef>,
    /// The rows if `of` names none; by default all.
    #[serde(default)]
    pub(super) rows: Vec<String>,
    /// The columns if `of` names none; by default all measured ones.
    #[serde(default)]
    pub(super) columns: Vec<String>,
    /// The lower bound.
    pub(super) at_least: Option<f64>,
    /// The upper bound.
    pub(super) at_most: Option<f64>,
}

/// Bounds of the best-fitting exponent: 1 is linear, 0 is constant.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Slope {
    /// The rows.
    pub(super) rows: Vec<String>,
    /// The columns; by default all measured ones.
    #[serde(default)]
    pub(super) columns: Vec<String>,
    /// The lower bound of the exponent.
    pub(super) at_least: Option<f64>,
    /// The upper bound.
    pub(super) at_most: Option<f64>,
}

/// Figures close to those of the paper, wherever it has one.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Same {
    /// The greatest difference, relative to the paper's figure.
    pub(super) within: f64,
}

fn all() -> f64 {
    1.0
}
