//! Reads definitions and checks what can be checked without measuring.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use toml::Table;

use super::cell_ref::CellRef;
use super::claim::written::Claim;
use super::definition::{Definition, PlotKind, PrintedFigure};

/// The key that names another definition to copy.
const SAME_AS: &str = "same-as";

/// Reads a definition.
///
/// # Errors
/// The text is not well formed.
pub fn parse(id: &str, text: &str) -> Result<Definition> {
    checked(id, toml::from_str(text)?)
}

fn checked(id: &str, mut definition: Definition) -> Result<Definition> {
    definition.id = id.into();
    check(&definition)?;
    Ok(definition)
}

/// Checks everything that can be checked without measuring.
fn check(d: &Definition) -> Result<()> {
    for row in &d.rows {
        let (figures, columns) = (row.paper.len(), d.columns.len());
        ensure!(
            figures == 0 || figures == columns,
            "row {:?} has {figures} figures for {columns} columns",
            row.label
        );
        for figure in &row.paper {
            let gap = matches!(figure, PrintedFigure::Gap(text) if text != "-");
            ensure!(!gap, "row {:?}: {figure:?} is neither a number nor \"-\"", row.label);
        }
    }
    for line in d.rows.iter().chain(&d.columns) {
        line.ratio.iter().flat_map(|r| [&r.of, &r.to]).try_for_each(|at| check_ref(d, at))?;
    }
    check_cells(d)?;
    check_plot(d)?;
    let claim = |c: &Claim| c.check(d).with_context(|| format!("claim {:?}", c.says));
    d.claims.iter().try_for_each(claim)
}

fn check_ref(d: &Definition, at: &CellRef) -> Result<()> {
    if let Some(row) = &at.row {
        d.row(row)?;
    }
    match &at.column {
        Some(column) if column != "*" => d.column(column).map(|_| ()),
        _ => Ok(()),
    }
}

fn check_cells(d: &Definition) -> Result<()> {
    for row in 0..d.rows.len() {
        for column in 0..d.columns.len() {
            let place =
                || format!("row {:?}, column {:?}", d.rows[row].label, d.columns[column].label);
            let Some(settings) = d.settings(row, column).with_context(place)? else {
                continue;
            };
            if settings.metric.reads_a_haystack() && settings.haystack.is_none() {
                bail!("{}: there is no haystack", place());
            }
        }
    }
    Ok(())
}

fn check_plot(d: &Definition) -> Result<()> {
    let Some(plot) = &d.plot else { return Ok(()) };
    plot.rows.iter().chain(&plot.x_row).try_for_each(|r| d.row(r).map(|_| ()))?;
    let bars = plot.kind == PlotKind::Bars;
    ensure!(!bars || plot.columns.len() == 1, "a plot with bars names one column");
    plot.columns.iter().try_for_each(|c| d.column(c).map(|_| ()))
}

/// Reads every definition of a folder, in the order of the papers' numbers.
///
/// # Errors
/// A file cannot be read or is not well formed.
pub fn load(folder: &Path) -> Result<Vec<Definition>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let files = entries.flatten().map(|e| e.path());
    let files = files.filter(|f| f.extension().is_some_and(|e| e == "toml"));
    let mut all = files.map(|f| load_file(&f)).collect::<Result<Vec<_>>>()?;
    all.sort_by_cached_key(|d| natural(&d.id));
    Ok(all)
}

pub(super) fn load_file(file: &Path) -> Result<Definition> {
    let id = file.file_stem().unwrap_or_default().to_string_lossy();
    let read = || {
        let text = fs::read_to_string(file)?;
        let mut own: Table = toml::from_str(&text)?;
        match own.remove(SAME_AS) {
            None => parse(&id, &text),
            Some(other) => checked(&id, merged(file, &other, own)?.try_into()?),
        }
    };
    read().with_context(|| file.display().to_string())
}

/// The definition that `same-as` names, with this one's own keys.
fn merged(file: &Path, other: &toml::Value, own: Table) -> Result<Table> {
    let other = other.as_str().context("same-as is not an id")?;
    let text = fs::read_to_string(file.with_file_name(format!("{other}.toml")))
        .with_context(|| format!("same-as: there is no {other}"))?;
    let mut table: Table = toml::from_str(&text)?;
    ensure!(
        !table.contains_key(SAME_AS),
        "same-as: {other} is itself the same as a third one; name that"
    );
    table.extend(own);
    Ok(table)
}

/// A key that sorts `D-2-9` before `D-2-10`.
pub(super) fn natural(id: &str) -> Vec<(u64, String)> {
    id.split('-').map(|part| (part.parse().unwrap_or(u64::MAX), part.to_string())).collect()
}
