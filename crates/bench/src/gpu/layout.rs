//! `benchmarks/matrix/gpu.toml`: the rows.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::definition::{Cell, Haystack, Patterns, Replay, WorkName};
use crate::size::Size;

/// A row of the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowDefinition {
    /// Its name.
    pub name: String,
    /// The kind of patterns, for rows whose shares are summarized together.
    pub class: Option<String>,
    /// The share of the read rate that it has to reach.
    pub must: Option<f64>,
    /// The share that it aims at.
    pub aim: Option<f64>,
    /// The engine.
    #[serde(default = "filter")]
    pub engine: String,
    /// Whether matches are counted, and no records written.
    #[serde(default)]
    pub counted: bool,
    /// The patterns.
    pub patterns: Patterns,
    /// The text.
    pub haystack: Haystack,
    /// How the text is cut into packets, each of which is searched for one of several sets.
    pub packets: Option<Packets>,
}

/// Packets of a text in host memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Packets {
    /// Bytes of a packet.
    pub bytes: Size,
    /// The number of patterns of each set, as in a [`Replay`].
    pub sets: Vec<usize>,
}

fn filter() -> String {
    FILTER.into()
}

/// The engine of rows that name none.
pub const FILTER: &str = "gpu-filter";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Layout {
    row: Vec<RowDefinition>,
}

/// Reads the file.
///
/// # Errors
/// It cannot be read or is not well formed.
pub fn load(benchmarks: &Path) -> Result<Vec<RowDefinition>> {
    let file = benchmarks.join("matrix/gpu.toml");
    let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    let Layout { row } = toml::from_str(&text).with_context(|| file.display().to_string())?;
    for Packets { bytes, sets } in row.iter().filter_map(|r| r.packets.as_ref()) {
        ensure!(
            bytes.0 > 0 && !sets.is_empty(),
            "{}: packets without bytes or sets",
            file.display()
        );
    }
    Ok(row)
}

impl RowDefinition {
    /// The replay whose sets the packets are searched for.
    pub fn replay(&self) -> Option<Replay> {
        let Packets { bytes, sets } = self.packets.clone()?;
        Some(Replay { sets, calls: 1, min: bytes, max: bytes })
    }

    /// The row as a cell, which can be prepared.
    pub fn cell(&self) -> Cell {
        Cell {
            group: "gpu".into(),
            name: self.name.clone(),
            patterns: self.patterns.clone(),
            haystack: self.haystack.clone(),
            threads: 1,
            work: WorkName::Touch,
            process: None,
            question: None,
            replay: None,
            call_cost: false,
            batch: false,
            slow: false,
            huge: false,
        }
    }
}
