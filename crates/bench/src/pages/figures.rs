//! The headline figures: a table and sentences whose numbers come from the newest records.
//!
//! A mean is over all cells of its record, the lost ones included.

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::page::{PAGES, Page};
use crate::gpu::columns::{GpuRecord, GpuRow};
use crate::gpu::layout::{self, FILTER, RowDefinition};
use crate::matrix::report::{overview_head, overview_row};
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

/// What the table of [`cpu`] shows.
const LEGEND: &str = "A ratio is the time of the fastest other matcher over fyke's, in one thread: \
    above 1, fyke is faster. A mean is over all cells of its row, those where a rival is faster included. \
    *Texts* are cells that report all occurrences in a text. *Sorted* are the same cells with \
    matches in order, as `Searcher::scan` gives them. *Calls* are questions that users of a library \
    ask about short texts. Machines differ in their cells: each page lists its sections.";

/// The rows of every class of machine.
fn cpu(records: &[(&Page, CpuRecord)]) -> Result<String> {
    let mut text = wrap(LEGEND);
    text += "\n\n";
    overview_head(&mut text, "machine");
    for (page, record) in records {
        machine(&mut text, page, record)?;
    }
    Ok(text)
}

/// The section whose cells are questions about short texts.
const CALLS: &str = "calls";

/// The rows of a machine.
fn machine(text: &mut String, page: &Page, record: &CpuRecord) -> Result<()> {
    let all = summary::comparisons(record);
    if all.is_empty() {
        bail!("no cell of the record for {} was compared", page.file);
    }
    let (calls, texts) = divided(record, &all);
    let sizes = record.facts.get("haystacks");
    overview_row(text, &format!("**[{}]({})**, {sizes}", page.machine, page.file), &all);
    overview_row(text, "texts", &texts);
    overview_row(text, "sorted", &summary::ordered_comparisons(record));
    overview_row(text, "calls", &calls);
    Ok(())
}

/// Calls on short texts, and the other cells, which report all occurrences.
fn divided(record: &CpuRecord, all: &[Comparison]) -> (Vec<Comparison>, Vec<Comparison>) {
    let calls = summary::of_section(record, all, CALLS);
    all.iter().cloned().partition(|c| calls.iter().any(|call| call.cell == c.cell))
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
    fn means_include_lost_cells_and_name_the_worst() {
        let mut record = CpuRecord::new(Facts::default());
        record.rows = vec![
            row("won/1", "auto", "engine", 1.0),
            row("won/1", "hs", "rival", 8.0),
            row("lost/1", "auto", "engine", 2.0),
            row("lost/1", "hs", "rival", 1.0),
        ];
        record.facts.add("haystacks", "full sizes");
        let text = cpu(&[(&PAGES[0], record)]).unwrap();
        let all = "**[Intel, AVX-512](BENCHMARKS.md)**, full sizes";
        assert!(text.contains(&format!("| {all} | 2 | 2.00x | 0.50x | lost/1 | 1 |")), "{text}");
        assert!(!text.contains("| calls |"), "{text}");
    }

    #[test]
    fn calls_have_a_mean_of_their_own_beside_that_of_all_cells() {
        let mut record = CpuRecord::new(Facts::default());
        record.rows = vec![
            row("won/1", "auto", "engine", 1.0),
            row("won/1", "hs", "rival", 8.0),
            row("calls/1", "auto", "engine", 2.0),
            row("calls/1", "ac", "rival", 1.0),
        ];
        let text = cpu(&[(&PAGES[0], record)]).unwrap();
        assert!(text.contains("| 2 | 2.00x | 0.50x | calls/1 | 1 |"), "{text}");
        assert!(text.contains("| texts | 1 | 8.00x | 8.00x | won/1 | 0 |"), "{text}");
        assert!(text.contains("| calls | 1 | 0.50x | 0.50x | calls/1 | 1 |"), "{text}");
    }

    #[test]
    fn a_record_without_compared_cells_is_refused() {
        assert!(cpu(&[(&PAGES[0], CpuRecord::new(Facts::default()))]).is_err());
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
