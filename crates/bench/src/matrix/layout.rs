//! `benchmarks/matrix/cpu.toml`: the sections of the matrix and their cells.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::definition::{Cell, Group, WorkName};
use crate::record::file::Heading;

/// The whole matrix.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// The rivals that take part unless the arguments name others.
    pub rivals: Vec<String>,
    /// The sections, in the order they run.
    #[serde(rename = "section")]
    pub sections: Vec<Section>,
}

/// A part of the matrix.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// Its name; `--filter` accepts it too.
    pub name: String,
    /// What varies from cell to cell.
    pub axis: String,
    /// One line about it.
    pub about: String,
    /// Names of cells; `prefix*` stands for all that begin with the prefix. Cells of an earlier
    /// section are left out.
    pub cells: Vec<String>,
    /// Whether full runs build every set once more in a separate process, to see how far it grows.
    #[serde(default)]
    pub build_growth: bool,
    /// The cells of `--quick` runs, if not all of them.
    pub quick: Option<Vec<String>>,
}

/// A section with its cells.
#[derive(Clone, Debug)]
pub struct SectionCells {
    /// The section.
    pub section: Section,
    /// Its cells.
    pub cells: Vec<Cell>,
}

impl Section {
    /// What it is about, for records.
    pub fn heading(&self) -> Heading {
        let Section { name, axis, about, .. } = self;
        Heading { name: name.clone(), axis: axis.clone(), about: about.clone() }
    }
}

/// Reads the file.
///
/// # Errors
/// It cannot be read or is not well formed.
pub fn load(benchmarks: &Path) -> Result<Layout> {
    let file = benchmarks.join("matrix/cpu.toml");
    let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    toml::from_str(&text).with_context(|| file.display().to_string())
}

/// The cells of each section.
///
/// # Errors
/// A section names a cell that no definition has.
pub fn sections(layout: &Layout, groups: &[Group], quick: bool) -> Result<Vec<SectionCells>> {
    let all: Vec<&Cell> = groups.iter().flat_map(|g| &g.cells).collect();
    let mut taken = BTreeSet::new();
    let mut sections = Vec::new();
    for section in &layout.sections {
        let mut cells = named(section, &section.cells, &all)?;
        let wanted = named(section, section.quick.as_ref().unwrap_or(&section.cells), &all)?;
        cells.retain(|c| taken.insert(c.name.clone()));
        cells.retain(|c| !quick || !c.slow && wanted.iter().any(|w| w.name == c.name));
        cells.retain(|c| !c.huge);
        sections.push(SectionCells { section: section.clone(), cells });
    }
    Ok(sections)
}

/// The cells of a list of names, assigned to the section, with every match read.
fn named(section: &Section, names: &[String], all: &[&Cell]) -> Result<Vec<Cell>> {
    let mut cells = Vec::new();
    for name in names {
        let fits = |c: &&&Cell| match name.strip_suffix('*') {
            Some(front) => c.name.starts_with(front),
            None => c.name == *name,
        };
        let found: Vec<&Cell> = all.iter().filter(fits).copied().collect();
        ensure!(!found.is_empty(), "matrix section {}: no cell is named {name}", section.name);
        cells.extend(found.into_iter().map(|cell| Cell {
            group: section.name.clone(),
            work: WorkName::Touch,
            ..cell.clone()
        }));
    }
    Ok(cells)
}
