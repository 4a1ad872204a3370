//! Definitions: a table or figure of a paper as data, `benchmarks/definitions/papers/<id>.toml`.
//!
//! ```toml
//! paper = "Zha 2010"
//! where = "table 5-7, page 85"
//! title = "Search time with one and two threads"
//! unit = "s for 16 GB"
//!
//! [base]                                  # settings of a cell: base + row + column
//! patterns.source.golden = "scalpel2-literals"
//! haystack.corpus = "elf"
//! metric = "ns-per-byte"
//! scale = 16
//!
//! [[column]]
//! label = "1"
//! set.threads = 1
//!
//! [[column]]
//! label = "2"
//! set.threads = 2
//!
//! [[column]]                              # computed from other cells
//! label = "speedup"
//! ratio.of.column = "1"
//! ratio.to.column = "2"
//!
//! [[row]]
//! label = "AC"
//! set.engine = "ac-dfa"
//! paper = [64, 58, 1.10]                  # one figure per column, "-" where there is none
//!
//! [[claim]]
//! says = "two threads gain less than a factor of 2"
//! bound = { of.column = "speedup", at-most = 2 }
//! ```
//!
//! Some tables are printed in two papers. `same-as = "Z-III"` copies another definition and
//! replaces the keys that this one has.

use anyhow::{Context, Result};
use fyke_bench::sweep;
use serde::Deserialize;
use toml::Table;

use super::cell_ref::Ratio;
use super::claim::written::Claim;
use super::settings::{Settings, patch};

/// A table or a figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Definition {
    /// Its name on the command line: the file's name without its extension.
    #[serde(skip)]
    pub id: String,
    /// The paper.
    pub paper: String,
    /// Where in it.
    pub r#where: String,
    /// What it shows.
    pub title: String,
    /// The unit of the figures.
    pub unit: String,
    /// Differences between the paper's setup and this one, one per line.
    #[serde(default)]
    pub differs: Vec<String>,
    /// Settings that all cells share.
    pub(super) base: Table,
    /// The rows.
    #[serde(rename = "row")]
    pub rows: Vec<Header>,
    /// The columns.
    #[serde(rename = "column")]
    pub columns: Vec<Header>,
    /// What the paper claims about them.
    #[serde(rename = "claim")]
    pub claims: Vec<Claim>,
    /// How to draw them.
    pub plot: Option<PlotOptions>,
}

/// The header of a row or column, with its settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Header {
    /// Its label.
    pub label: String,
    /// Its number, for slopes and plots.
    pub x: Option<f64>,
    /// Settings of its cells that replace those of the base.
    #[serde(default)]
    pub set: Table,
    /// Values for `{name}` in strings of its cells' settings.
    #[serde(default)]
    pub fill: Table,
    /// Its cells are computed from others.
    pub ratio: Option<Ratio>,
    /// Rows: the paper's figures, one per column.
    #[serde(default)]
    pub paper: Vec<PrintedFigure>,
}

/// A figure of the paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum PrintedFigure {
    /// A number.
    Number(f64),
    /// `"-"`: the paper has none.
    Gap(String),
}

/// How a table is drawn.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PlotOptions {
    /// Lines or bars.
    #[serde(default)]
    pub kind: PlotKind,
    /// Title of the axis of the columns, with its unit.
    pub x: String,
    /// Title of the axis of the figures, with its unit.
    pub y: String,
    /// Rows to draw; by default all.
    #[serde(default)]
    pub rows: Vec<String>,
    /// Columns to draw; by default all.
    #[serde(default)]
    pub columns: Vec<String>,
    /// Whether the axis of the columns is logarithmic.
    #[serde(default)]
    pub x_log: bool,
    /// Whether the axis of the figures is logarithmic.
    #[serde(default)]
    pub y_log: bool,
    /// A row whose figures are the positions on the axis of the columns.
    pub x_row: Option<String>,
}

/// A kind of plot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlotKind {
    /// One line per row, over the columns.
    #[default]
    Lines,
    /// Two bars per row, of one column: measured and printed.
    Bars,
}

impl PrintedFigure {
    /// The number, if there is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            PrintedFigure::Number(n) => Some(*n),
            PrintedFigure::Gap(_) => None,
        }
    }
}

impl Definition {
    /// The settings of a cell that is measured; `None` if it is computed from others.
    ///
    /// # Errors
    /// Base, row and column do not make a whole cell.
    pub fn settings(&self, row: usize, column: usize) -> Result<Option<Settings>> {
        let (row, column) = (&self.rows[row], &self.columns[column]);
        if row.ratio.is_some() || column.ratio.is_some() {
            return Ok(None);
        }
        let mut table = self.base.clone();
        [row, column].into_iter().for_each(|line| patch(&mut table, &line.set));
        for (name, value) in row.fill.iter().chain(&column.fill) {
            table = sweep::put(&table, name, value);
        }
        let settings: Settings = table.try_into()?;
        Ok(Some(settings))
    }

    /// The paper's figure of a cell.
    pub fn paper_figure(&self, row: usize, column: usize) -> Option<f64> {
        self.rows[row].paper.get(column).and_then(PrintedFigure::number)
    }

    /// The index of a row.
    ///
    /// # Errors
    /// There is none with this label.
    pub fn row(&self, label: &str) -> Result<usize> {
        find(&self.rows, label).with_context(|| format!("there is no row {label:?}"))
    }

    /// The index of a column.
    ///
    /// # Errors
    /// There is none with this label.
    pub fn column(&self, label: &str) -> Result<usize> {
        find(&self.columns, label).with_context(|| format!("there is no column {label:?}"))
    }
}

fn find(lines: &[Header], label: &str) -> Option<usize> {
    lines.iter().position(|l| l.label == label)
}
