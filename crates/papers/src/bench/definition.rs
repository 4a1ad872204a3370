//! Definitions: a table or figure of a paper as data, `benchmarks/definitions/papers/<id>.toml`.
//!
//! ```toml
//! paper = "Zha 2010"
//! where = "table 5-7, page 85"
//! title = "Search time with one and two threads"
//! unit = "s for 16 GB"
//!
//! [base]                                  # what a cell is made of: base + row + column
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
//! paper = [64, 58, 1.10]                  # one figure a column, "-" where there is none
//!
//! [[claim]]
//! says = "two threads gain less than a factor of 2"
//! bound = { of.column = "speedup", at-most = 2 }
//! ```
//!
//! Papers print some tables twice. `same-as = "Z-III"` takes another definition, with this one's keys in place of its own.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use toml::Table;

use super::claim::Claim;
use super::settings::{Settings, patch};
use fyke_bench::sweep;

/// The key of a definition that says which other one it is, but for the keys it has itself.
const SAME_AS: &str = "same-as";

/// A table or a figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Definition {
    /// Its name on the command line: the file's name without its ending.
    #[serde(skip)]
    pub id: String,
    /// The paper.
    pub paper: String,
    /// Where in it.
    pub r#where: String,
    /// What it shows.
    pub title: String,
    /// What the figures are in.
    pub unit: String,
    /// What differs between the paper's set-up and this one, a line each.
    #[serde(default)]
    pub differs: Vec<String>,
    /// Settings that all cells share.
    base: Table,
    /// The rows.
    #[serde(rename = "row")]
    pub rows: Vec<Line>,
    /// The columns.
    #[serde(rename = "column")]
    pub columns: Vec<Line>,
    /// What the paper says about them.
    #[serde(rename = "claim")]
    pub claims: Vec<Claim>,
    /// How to draw them.
    pub plot: Option<Plot>,
}

/// A row or a column.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Line {
    /// Its heading.
    pub label: String,
    /// Its number, for slopes and plots.
    pub x: Option<f64>,
    /// Settings that its cells have instead of those of the base.
    #[serde(default)]
    pub set: Table,
    /// What to put for `{name}` in the strings of its cells' settings.
    #[serde(default)]
    pub fill: Table,
    /// Its cells are computed from others.
    pub ratio: Option<Ratio>,
    /// Rows: the paper's figures, one a column.
    #[serde(default)]
    pub paper: Vec<Figure>,
}

/// A figure of the paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Figure {
    /// A number.
    Number(f64),
    /// `"-"`: the paper has none.
    Gap(String),
}

/// One cell over another.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ratio {
    /// The one above the line.
    pub of: At,
    /// The one below.
    pub to: At,
}

/// A cell. What is not given is that of the cell that is computed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct At {
    /// The row's label.
    pub row: Option<String>,
    /// The column's label; `"*"` is the sum over all columns that are measured.
    pub column: Option<String>,
}

/// How a table is drawn.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Plot {
    /// Lines or bars.
    #[serde(default)]
    pub kind: Kind,
    /// Title of the axis of the columns, with its unit.
    pub x: String,
    /// Title of the axis of the figures, with its unit.
    pub y: String,
    /// Rows to draw; all if none is named.
    #[serde(default)]
    pub rows: Vec<String>,
    /// Columns to draw; all if none is named.
    #[serde(default)]
    pub columns: Vec<String>,
    /// Powers of ten on the axis of the columns.
    #[serde(default)]
    pub x_log: bool,
    /// Powers of ten on the axis of the figures.
    #[serde(default)]
    pub y_log: bool,
    /// Another row whose figures are the places on the axis of the columns.
    pub x_row: Option<String>,
}

/// A kind of drawing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A line a row, over the columns.
    #[default]
    Lines,
    /// Bars a row, of one column: ours and the paper's.
    Bars,
}

impl Figure {
    /// The number, if there is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Figure::Number(n) => Some(*n),
            Figure::Gap(_) => None,
        }
    }
}

impl Definition {
    /// Reads a definition.
    ///
    /// # Errors
    /// The text is not well formed, or says something that has no meaning.
    pub fn parse(id: &str, text: &str) -> Result<Self> {
        toml::from_str::<Definition>(text)?.sound(id)
    }

    fn sound(mut self, id: &str) -> Result<Self> {
        self.id = id.into();
        self.check()?;
        Ok(self)
    }

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
        self.rows[row].paper.get(column).and_then(Figure::number)
    }

    /// The place of a row.
    ///
    /// # Errors
    /// There is none of this label.
    pub fn row(&self, label: &str) -> Result<usize> {
        find(&self.rows, label).with_context(|| format!("there is no row {label:?}"))
    }

    /// The place of a column.
    ///
    /// # Errors
    /// There is none of this label.
    pub fn column(&self, label: &str) -> Result<usize> {
        find(&self.columns, label).with_context(|| format!("there is no column {label:?}"))
    }

    /// Checks everything that can be checked without measuring.
    fn check(&self) -> Result<()> {
        for row in &self.rows {
            let (figures, columns) = (row.paper.len(), self.columns.len());
            ensure!(
                figures == 0 || figures == columns,
                "row {:?} has {figures} figures for {columns} columns",
                row.label
            );
            for figure in &row.paper {
                let gap = matches!(figure, Figure::Gap(text) if text != "-");
                ensure!(!gap, "row {:?}: {figure:?} is neither a number nor \"-\"", row.label);
            }
        }
        for line in self.rows.iter().chain(&self.columns) {
            line.ratio.iter().flat_map(|r| [&r.of, &r.to]).try_for_each(|at| self.check_at(at))?;
        }
        self.each_cell()?;
        self.check_plot()?;
        let claim = |c: &Claim| c.check(self).with_context(|| format!("claim {:?}", c.says));
        self.claims.iter().try_for_each(claim)
    }

    fn check_at(&self, at: &At) -> Result<()> {
        if let Some(row) = &at.row {
            self.row(row)?;
        }
        match &at.column {
            Some(column) if column != "*" => self.column(column).map(|_| ()),
            _ => Ok(()),
        }
    }

    fn each_cell(&self) -> Result<()> {
        for row in 0..self.rows.len() {
            for column in 0..self.columns.len() {
                let place = || {
                    format!(
                        "row {:?}, column {:?}",
                        self.rows[row].label, self.columns[column].label
                    )
                };
                let Some(settings) = self.settings(row, column).with_context(place)? else {
                    continue;
                };
                if settings.metric.reads_a_haystack() && settings.haystack.is_none() {
                    bail!("{}: there is no haystack", place());
                }
            }
        }
        Ok(())
    }

    fn check_plot(&self) -> Result<()> {
        let Some(plot) = &self.plot else { return Ok(()) };
        plot.rows.iter().chain(&plot.x_row).try_for_each(|r| self.row(r).map(|_| ()))?;
        let bars = plot.kind == Kind::Bars;
        ensure!(!bars || plot.columns.len() == 1, "a plot with bars names one column");
        plot.columns.iter().try_for_each(|c| self.column(c).map(|_| ()))
    }
}

fn find(lines: &[Line], label: &str) -> Option<usize> {
    lines.iter().position(|l| l.label == label)
}

/// Reads every definition of a folder, ordered as the papers number them.
///
/// # Errors
/// A file cannot be read or is not sound.
pub fn load(folder: &Path) -> Result<Vec<Definition>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let files = entries.flatten().map(|e| e.path());
    let files = files.filter(|f| f.extension().is_some_and(|e| e == "toml"));
    let mut all = files.map(|f| load_file(&f)).collect::<Result<Vec<_>>>()?;
    all.sort_by_cached_key(|d| natural(&d.id));
    Ok(all)
}

fn load_file(file: &Path) -> Result<Definition> {
    let id = file.file_stem().unwrap_or_default().to_string_lossy();
    let read = || {
        let text = fs::read_to_string(file)?;
        let mut own: Table = toml::from_str(&text)?;
        match own.remove(SAME_AS) {
            None => Definition::parse(&id, &text),
            Some(other) => merged(file, &other, own)?.try_into::<Definition>()?.sound(&id),
        }
    };
    read().with_context(|| file.display().to_string())
}

/// The table that a definition is the same as, with the definition's own keys.
fn merged(file: &Path, other: &toml::Value, own: Table) -> Result<Table> {
    let other = other.as_str().context("same-as is not an id")?;
    let text = fs::read_to_string(file.with_file_name(format!("{other}.toml")))
        .with_context(|| format!("same-as: there is no {other}"))?;
    let mut table: Table = toml::from_str(&text)?;
    ensure!(!table.contains_key(SAME_AS), "same-as: {other} is the same as a third one, take that");
    table.extend(own);
    Ok(table)
}

/// A key that sorts `D-2-9` before `D-2-10`.
fn natural(id: &str) -> Vec<(u64, String)> {
    id.split('-').map(|part| (part.parse().unwrap_or(u64::MAX), part.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        paper = "P"
        where = "table 1"
        title = "t"
        unit = "bytes"
        [base]
        patterns.source.random = 4
        patterns.count = 3
        patterns.min_len = 2
        engine = "ac-dfa"
        metric = "footprint"
        [[column]]
        label = "3"
        [[column]]
        label = "9"
        set.patterns.count = "{n}"
        set.patterns.source.golden = "{list}"
        fill = { n = 9, list = "words" }
        [[column]]
        label = "share"
        ratio = { of.column = "3", to.column = "9" }
        [[row]]
        label = "nfa"
        set.engine = "ac-nfa"
        paper = [1, "-", 0.5]
        [[claim]]
        says = "c"
        bound = { of.row = "nfa", at-most = 3 }
    "#;

    #[test]
    fn a_cell_is_base_and_row_and_column() {
        let d = Definition::parse("x", TEXT).unwrap();
        let cell = d.settings(0, 1).unwrap().unwrap();
        assert_eq!(
            (cell.spec().as_str(), cell.patterns.count, cell.threads),
            ("ac-nfa", Some(9), 1)
        );
        assert!(
            matches!(&cell.patterns.source, fyke_bench::definition::Source::Golden(l) if l == "words")
        );
        assert!(d.settings(0, 2).unwrap().is_none(), "it is computed");
        assert_eq!((d.paper_figure(0, 0), d.paper_figure(0, 1)), (Some(1.0), None));
    }

    #[test]
    fn mistakes_are_named() {
        for (right, wrong, named) in [
            ("[1, \"-\", 0.5]", "[1, 2]", "2 figures for 3 columns"),
            ("of.column = \"3\"", "of.column = \"4\"", "no column \"4\""),
            ("of.row = \"nfa\"", "of.row = \"dfa\"", "no row \"dfa\""),
            ("metric = \"footprint\"", "metric = \"foot\"", "foot"),
            ("metric = \"footprint\"", "metric = \"ms\"", "no haystack"),
            ("unit = ", "untie = ", "untie"),
            ("\"-\"", "\"+\"", "neither a number"),
        ] {
            assert!(TEXT.contains(right), "{right}");
            let error = Definition::parse("x", &TEXT.replace(right, wrong)).unwrap_err();
            assert!(format!("{error:#}").contains(named), "{error:#} should name {named}");
        }
    }

    #[test]
    fn a_definition_may_be_another_one_under_its_own_name() {
        let folder = tempfile::tempdir().unwrap();
        let write = |id: &str, text: &str| {
            let file = folder.path().join(format!("{id}.toml"));
            fs::write(&file, text).unwrap();
            load_file(&file)
        };
        let original = write("x", TEXT).unwrap();
        let copy = write("y", "same-as = 'x'\npaper = 'Q'\n").unwrap();
        assert_eq!((copy.id.as_str(), copy.paper.as_str(), copy.title.as_str()), ("y", "Q", "t"));
        assert_eq!(copy.rows.len(), original.rows.len());
        for (text, named) in [
            ("same-as = 'w'", "there is no w"),
            ("same-as = 3", "not an id"),
            ("same-as = 'y'", "a third one"),
            ("same-as = 'x'\nuntie = ''", "untie"),
        ] {
            let error = format!("{:#}", write("z", text).unwrap_err());
            assert!(error.contains(named) && error.contains("z.toml"), "{error}");
        }
    }

    #[test]
    fn ids_are_in_the_order_of_the_tables() {
        let mut ids = ["D-2-10", "Z-III", "D-2-9", "B-6", "D-fig-4-5"];
        ids.sort_by_key(|id| natural(id));
        assert_eq!(ids, ["B-6", "D-2-9", "D-2-10", "D-fig-4-5", "Z-III"]);
    }
}
