//! `benchmarks/matrix/gpu.toml`: the rows.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::definition::{Cell, Haystack, Patterns, WorkName};

/// A row as the file has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    pub(super) name: String,
    /// Shares of the read rate: what has to be reached, and what is aimed at.
    pub(super) must: Option<f64>,
    pub(super) aim: Option<f64>,
    #[serde(default = "filter")]
    pub(super) engine: String,
    /// Whether matches are counted, and no record is written.
    #[serde(default)]
    pub(super) counted: bool,
    pub(super) patterns: Patterns,
    pub(super) haystack: Haystack,
}

fn filter() -> String {
    "gpu-filter".into()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    row: Vec<Row>,
}

/// Reads the file.
pub(super) fn load(benchmarks: &Path) -> Result<Vec<Row>> {
    let file = benchmarks.join("matrix/gpu.toml");
    let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    let File { row } = toml::from_str(&text).with_context(|| file.display().to_string())?;
    Ok(row)
}

impl Row {
    /// The same as a cell, to be prepared as cells are.
    pub(super) fn cell(&self) -> Cell {
        Cell {
            group: "gpu".into(),
            name: self.name.clone(),
            patterns: self.patterns.clone(),
            haystack: self.haystack.clone(),
            threads: 1,
            work: WorkName::Touch,
            process: None,
            call_cost: false,
            batch: false,
            slow: false,
            huge: false,
        }
    }
}
