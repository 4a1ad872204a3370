//! The headline figures: sentences whose numbers come from the newest records.
//!
//! A mean is over all cells of its record, the lost ones included. It names the sections that the
//! record has, because a record may be older than a section of the matrix.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::gpu::columns::{GpuRecord, GpuRow};
use crate::gpu::layout::{self, FILTER, RowDefinition};
use crate::record::cpu::CpuRecord;
use crate::record::newest::newest;
use crate::summary;

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
    let sentences = match name {
        "cpu" => {
            let avx512 = CpuRecord::load(&record("matrix")?)?;
            let avx2 = CpuRecord::load(&record("matrix-avx2")?)?;
            let zen4 = CpuRecord::load(&record("matrix-zen4")?)?;
            cpu(&avx512, &avx2)? + &on_zen4(&zen4)?
        }
        "gpu" => gpu(&GpuRecord::load(&record("gpu")?)?, &layout::load(benchmarks)?)?,
        _ => bail!("there are no figures named {name:?}: take cpu or gpu"),
    };
    Ok(wrap(&sentences))
}

fn cpu(avx512: &CpuRecord, avx2: &CpuRecord) -> Result<String> {
    let [wide, narrow] = [summary::comparisons(avx512), summary::comparisons(avx2)];
    let (mean, _) = summary::mean_and_worst(&wide).context("no cell of the matrix was compared")?;
    let (mean_avx2, _) = summary::mean_and_worst(&narrow).context("no cell was compared")?;
    let mut text = format!(
        "With AVX-512, fyke is {mean:.2} times as fast as the fastest other matcher of each cell, by the \
         geometric mean over all {} cells of [BENCHMARKS.md](BENCHMARKS.md){}{}. Limited to AVX2, it is \
         {mean_avx2:.2} times as fast over all {} cells of [benchmarks/avx2.md](benchmarks/avx2.md){}{}.",
        wide.len(),
        sections(avx512, &wide),
        halves(avx512, &wide),
        narrow.len(),
        sections(avx2, &narrow),
        halves(avx2, &narrow),
    );
    text += match summary::mean_and_worst(&summary::ordered_comparisons(avx512)) {
        Some((ordered, _)) => {
            format!(
                " With matches sorted, as `Searcher::scan` gives them, it is {ordered:.2} times where all \
                 occurrences are reported."
            )
        }
        None => " These figures are of matches in the order in which engines find them.".into(),
    }
    .as_str();
    Ok(text)
}

/// The mean on a Zen 4.
fn on_zen4(record: &CpuRecord) -> Result<String> {
    let all = summary::comparisons(record);
    let (mean, _) = summary::mean_and_worst(&all).context("no cell was compared on Zen 4")?;
    Ok(format!(
        " On a Zen 4 (AVX-512 with slow gathers; {}), it is {mean:.2} times as fast over all {} cells of \
         [benchmarks/zen4.md](benchmarks/zen4.md){}{}.",
        record.facts.get("haystacks"),
        all.len(),
        sections(record, &all),
        halves(record, &all),
    ))
}

/// The section whose cells are questions about short texts: too many of them to name those lost.
const CALLS: &str = "calls";

/// What is behind a mean: cells that report all occurrences, and calls on short texts.
fn halves(record: &CpuRecord, comparisons: &[summary::Comparison]) -> String {
    let calls = summary::of_section(record, comparisons, CALLS);
    let is_call = |c: &summary::Comparison| calls.iter().any(|call| call.cell == c.cell);
    let scans: Vec<_> = comparisons.iter().filter(|c| !is_call(c)).cloned().collect();
    let means = (summary::mean_and_worst(&scans), summary::mean_and_worst(&calls));
    let (Some((scan, _)), Some((call, worst))) = means else {
        return format!("; {}", losses(comparisons));
    };
    format!(
        ". That is {scan:.2} times over the {} cells in which all occurrences in a text are reported; {}. \
         It is {call:.2} times over the {} calls that users of a library make on short texts; a rival is \
         faster in {} of them ({:.2} at worst)",
        scans.len(),
        losses(&scans),
        calls.len(),
        summary::losses(&calls).len(),
        worst.ratio,
    )
}

/// The sections of the record that the mean covers.
fn sections(record: &CpuRecord, comparisons: &[summary::Comparison]) -> String {
    let names = record.sections.iter().map(|s| &*s.name);
    let covers = |n: &&str| !summary::of_section(record, comparisons, n).is_empty();
    let names: Vec<String> = names.filter(covers).map(|n| format!("`{n}`")).collect();
    if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
}

fn losses(comparisons: &[summary::Comparison]) -> String {
    let lost = summary::losses(comparisons);
    match lost.first() {
        None => "no rival is faster in any of them".into(),
        Some(worst) => {
            let cells: Vec<_> = lost.iter().map(|c| format!("`{}`", c.cell)).collect();
            let (cells, ratio) = (cells.join(", "), worst.ratio);
            format!("a rival is faster in {} of them ({cells}; {ratio:.2} at worst)", lost.len())
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
    use crate::record::file::Heading;
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
    fn means_include_lost_cells_and_name_them() {
        let mut record = CpuRecord::new(Facts::default());
        record.rows = vec![
            row("won/1", "auto", "engine", 1.0),
            row("won/1", "hs", "rival", 8.0),
            row("lost/1", "auto", "engine", 2.0),
            row("lost/1", "hs", "rival", 1.0),
        ];
        let heading = |name: &str| Heading { name: name.into(), ..Heading::default() };
        record.sections = ["won", "empty", "lost"].map(heading).to_vec();
        let zen4 = on_zen4(&record).unwrap();
        assert!(zen4.contains("all 2 cells of [benchmarks/zen4.md](benchmarks/zen4.md)"), "{zen4}");
        let text = cpu(&record, &record).unwrap();
        assert!(text.contains("all 2 cells of [BENCHMARKS.md](BENCHMARKS.md) (`won`, `lost`);"));
        assert!(text.contains("2.00 times as fast"), "{text}");
        assert!(text.contains("faster in 1 of them (`lost/1`; 0.50 at worst)"), "{text}");
        assert!(text.contains("in the order in which"), "{text}");
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
        let heading = |name: &str| Heading { name: name.into(), ..Heading::default() };
        record.sections = ["won", CALLS].map(heading).to_vec();
        let text = cpu(&record, &record).unwrap();
        assert!(text.contains("fyke is 2.00 times as fast"), "{text}");
        assert!(text.contains("That is 8.00 times over the 1 cells"), "{text}");
        assert!(text.contains("It is 0.50 times over the 1 calls"), "{text}");
        assert!(text.contains("faster in 1 of them (0.50 at worst)"), "{text}");
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
