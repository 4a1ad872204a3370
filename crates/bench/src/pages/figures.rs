//! The headline figures: a table and sentences whose numbers come from the newest records.
//!
//! A mean is over all cells of its record, the lost ones included.

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::page::{PAGES, Page};
use crate::gpu::columns::{GpuRecord, GpuRow};
use crate::gpu::layout::{self, FILTER, RowDefinition};
use crate::record::cpu::CpuRecord;
use crate::record::newest::newest;
use crate::summary::{self, Comparison};

/// Width of a generated paragraph.
const WIDTH: usize = 98;

/// The text of a part.
///
/// # Errors
/// There is no such part, or a record is missing.
pub fn text(benchmarks: &Path, name: &str) -> Result<String> {
    let record = |kind: &str| {
        let file = newest(&benchmarks.join("record"), kind)?;
        file.with_context(|| format!("no record of kind {kind} in {}", benchmarks.display()))
    };
    match name {
        "cpu" => {
            let load = |page: &'static Page| Ok((page, CpuRecord::load(&record(page.kind)?)?));
            cpu(&PAGES.iter().map(load).collect::<Result<Vec<_>>>()?)
        }
        "gpu" => {
            let record = GpuRecord::load(&record("gpu")?)?;
            Ok(wrap(&gpu(&record, &layout::load(benchmarks)?)?))
        }
        _ => bail!("there are no figures named {name:?}: take cpu or gpu"),
    }
}

/// What the columns of the table of [`cpu`] mean.
const LEGEND: &str = "Each figure is the time of the fastest other matcher over fyke's, in one \
    thread: above 1, fyke is faster. It is the geometric mean over all cells, those that fyke \
    loses included. *Texts* are cells that report all occurrences in a text, *sorted* the same \
    cells with matches in order, as `Searcher::scan` gives them, and *calls* are questions that \
    users of a library ask about short texts.";

/// A row for each class of machine.
fn cpu(records: &[(&Page, CpuRecord)]) -> Result<String> {
    let mut text = wrap(LEGEND);
    text += "\n\n| machine | haystacks | texts | a rival is faster | sorted | calls | a rival is faster |\n";
    text += "|---|---|---:|---|---:|---:|---|\n";
    for (page, record) in records {
        text += &machine(page, record)?;
        text += "\n";
    }
    Ok(text)
}

/// The section whose cells are questions about short texts.
const CALLS: &str = "calls";

/// The row of a machine.
fn machine(page: &Page, record: &CpuRecord) -> Result<String> {
    let all = summary::comparisons(record);
    let calls = summary::of_section(record, &all, CALLS);
    let is_call = |c: &&Comparison| calls.iter().any(|call| call.cell == c.cell);
    let texts: Vec<_> = all.iter().filter(|c| !is_call(c)).cloned().collect();
    if texts.is_empty() {
        bail!("no cell of the record for {} was compared", page.file);
    }
    Ok(format!(
        "| [{}]({}) | {} | {} | {} | {} | {} | {} |",
        page.machine,
        page.file,
        record.facts.get("haystacks"),
        mean(&texts),
        losses(&texts),
        mean(&summary::ordered_comparisons(record)),
        mean(&calls),
        losses(&calls),
    ))
}

/// A mean of the table; a dash where nothing was compared.
fn mean(comparisons: &[Comparison]) -> String {
    let mean = summary::mean_and_worst(comparisons).map(|(mean, _)| format!("{mean:.2}x"));
    mean.unwrap_or_else(|| "-".into())
}

/// How many cells are lost, and the worst of them.
fn losses(comparisons: &[Comparison]) -> String {
    let lost = summary::losses(comparisons);
    let of = comparisons.len();
    match lost.first() {
        _ if of == 0 => "-".into(),
        None => format!("in none of {of}"),
        Some(worst) => {
            let (cell, ratio) = (&worst.cell, worst.ratio);
            format!("in {} of {of}; worst {ratio:.2}x, `{cell}`", lost.len())
        }
    }
}

fn gpu(record: &GpuRecord, rows: &[RowDefinition]) -> Result<String> {
    let device = record.rows.first().context("the record has no rows")?.extra.device.clone();
    let mut classes: Vec<&str> = Vec::new();
    for class in rows.iter().filter_map(|r| r.class.as_deref()) {
        if !classes.contains(&class) {
            classes.push(class);
        }
    }
    let shares: Vec<String> = classes.iter().filter_map(|c| share(record, rows, c)).collect();
    let (last, first) = shares.split_last().context("no row of the record has a class")?;
    Ok(format!(
        "On an {device}, text in device memory is searched at these shares of the rate at which a kernel \
         reads that memory: {} and {last}; [benchmarks/gpu.md](benchmarks/gpu.md) has every row.",
        first.join(", ")
    ))
}

/// The least and the greatest share of the rows of a class.
fn share(record: &GpuRecord, rows: &[RowDefinition], class: &str) -> Option<String> {
    let of_class = |r: &GpuRow| {
        let definition = rows.iter().find(|d| d.name == r.cell);
        r.contender == FILTER && definition.is_some_and(|d| d.class.as_deref() == Some(class))
    };
    let shares = record.rows.iter().filter(|r| r.is_timed() && of_class(r));
    let shares: Vec<f64> = shares.filter_map(|r| r.extra.share).map(|s| 100.0 * s).collect();
    let least = shares.iter().copied().reduce(f64::min)?;
    let most = shares.iter().copied().reduce(f64::max)?;
    let range = match (least.round(), most.round()) {
        (a, b) if a < b => format!("{a:.0} to {b:.0} %"),
        (a, _) => format!("{a:.0} %"),
    };
    Some(format!("{range} for {class}"))
}

/// Breaks a paragraph into lines.
fn wrap(text: &str) -> String {
    let (mut out, mut width) = (String::new(), 0);
    for word in text.split_whitespace() {
        let len = word.chars().count();
        if width > 0 && width + 1 + len > WIDTH {
            out += "\n";
            width = 0;
        } else if width > 0 {
            out += " ";
            width += 1;
        }
        out += word;
        width += len;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::columns::GpuColumns;
    use crate::machine::Facts;
    use crate::record::cpu::{CpuColumns, CpuRow};
    use crate::record::row::Status;

    fn row(cell: &str, contender: &str, side: &str, ns: f64) -> CpuRow {
        CpuRow {
            section: cell.split('/').next().unwrap_or_default().into(),
            cell: cell.into(),
            contender: contender.into(),
            status: Status::Timed,
            bytes: 1,
            median_ns: ns,
            extra: CpuColumns { side: side.into(), ..CpuColumns::default() },
            ..CpuRow::default()
        }
    }

    #[test]
    fn a_row_has_the_mean_over_all_cells_and_names_the_worst() {
        let mut record = CpuRecord::new(Facts::default());
        record.rows = vec![
            row("won/1", "auto", "engine", 1.0),
            row("won/1", "hs", "rival", 8.0),
            row("lost/1", "auto", "engine", 2.0),
            row("lost/1", "hs", "rival", 1.0),
            row("calls/1", "auto", "engine", 4.0),
            row("calls/1", "ac", "rival", 1.0),
        ];
        let page = &PAGES[0];
        let text = cpu(&[(page, record)]).unwrap();
        let texts = "| 2.00x | in 1 of 2; worst 0.50x, `lost/1` |";
        let calls = "| - | 0.25x | in 1 of 1; worst 0.25x, `calls/1` |";
        let head = format!("| [{}]({}) |  ", page.machine, page.file);
        assert!(text.contains(&format!("{head}{texts}{}", &calls[1..])), "{text}");
    }

    #[test]
    fn a_record_without_calls_has_dashes_and_one_without_cells_is_refused() {
        let mut record = CpuRecord::new(Facts::default());
        assert!(cpu(&[(&PAGES[0], record.clone())]).is_err());
        record.rows = vec![row("won/1", "auto", "engine", 1.0), row("won/1", "hs", "rival", 8.0)];
        let text = cpu(&[(&PAGES[0], record)]).unwrap();
        assert!(text.contains("| 8.00x | in none of 1 | - | - | - |"), "{text}");
    }

    #[test]
    fn every_class_has_its_range() {
        let row = |cell: &str, share| GpuRow {
            cell: cell.into(),
            contender: FILTER.into(),
            status: Status::Timed,
            extra: GpuColumns { device: "GPU".into(), share: Some(share), ..GpuColumns::default() },
            ..GpuRow::default()
        };
        let mut record = GpuRecord::new(Facts::default());
        record.rows = vec![row("a", 0.5), row("b", 0.931), row("c", 0.04)];
        let definition = |name: &str, class: &str| -> RowDefinition {
            toml::from_str(&format!(
                "name = {name:?}\nclass = {class:?}\npatterns.source.random = 4\nhaystack.corpus = 'k'"
            ))
            .unwrap()
        };
        let rows = [definition("a", "noise"), definition("b", "noise"), definition("c", "words")];
        let text = gpu(&record, &rows).unwrap();
        assert!(text.contains("50 to 93 % for noise and 4 % for words"), "{text}");
    }
}
