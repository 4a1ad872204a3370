//! A record of the matrix as a document with tables and drawings.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;

use super::{Args, plot};
use crate::record::{About, Record, Row, Status};
use crate::size::Size;
use crate::summary;
use crate::table::{self, digits, escape};

/// Prints the document and draws its plots.
///
/// # Errors
/// Something cannot be written.
pub fn run_to(args: &Args, record: &Record, out: &mut dyn Write) -> Result<ExitCode> {
    let folder = match &args.plots {
        Some(folder) => folder.clone(),
        None => args.common.place()?.benchmarks.join("plots"),
    };
    if let Some(folder) = &args.record {
        eprintln!("record: {}", record.save(folder)?.display());
    }
    let drawn = plot::draw(&folder, record)?;
    write!(out, "{}", document(record, &beside(&folder), &drawn))?;
    Ok(ExitCode::SUCCESS)
}

/// The folder as the document in the working directory links to it.
fn beside(folder: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    folder.strip_prefix(&here).unwrap_or(folder).to_path_buf()
}

/// The document. `plots` is the folder of the drawings.
pub fn document(record: &Record, plots: &Path, drawn: &[plot::Drawn]) -> String {
    let mut text = String::from(INTRODUCTION);
    summary_of(&mut text, record);
    table::losses(&mut text, record);
    drawings(&mut text, plots, drawn);
    for group in &record.groups {
        section(&mut text, record, group);
    }
    text.push_str(METHOD);
    table::facts(&mut text, record);
    table::refusals(&mut text, record);
    text
}

const INTRODUCTION: &str = "\
# Benchmarks

<!-- Made by `fyke bench cpu --report RECORD`; do not edit. -->

How fyke stands to other exact matchers: Hyperscan, Vectorscan, aho-corasick, daachorse, and the programs ripgrep
and GNU grep. Every figure comes from one record: one run on one machine, in one thread, everybody verified to
find the same matches before anybody was timed, and every match read. Times are medians in nanoseconds a byte of
haystack, lower is better. The ratio is the time of the best rival of the cell over fyke's: above 1 fyke is faster.
";

const METHOD: &str = "
## Method and bias

* All contenders of a cell find all occurrences of all patterns, overlapping ones too. Number and fingerprint
  of the matches are compared, with a result computed apart from fyke where there is one (*golden*), before
  anything is timed. Who finds something else is not timed and is called `wrong`.
* They take their samples in turn in one process; the figure is the median of the samples. The record has the
  spread, and the processor time beside the wall time.
* fyke is one contender, the one the record says it is judged by, and not the best of its engines. The rival is
  the fastest of all that are installed, another one in each cell.
* In *hostile* cells the haystack is made from the set; a rival that gives up there with an error is named and is
  not the best. *packets* are handed to fyke in one call, to rivals by a call each: they have no other.
* Programs are started, read patterns and haystack from files, and print. They take leftmost matches that do not
  overlap, and so does fyke there.
* Written by the people who write fyke, whose thresholds were tuned on some of these very sets. Rivals are used
  through the fastest way to all occurrences that their documentation offers, in the versions that distributions
  ship. Build time is a median where building is short; memory is what each contender says itself; the peak while
  building is by how much a process of its own grew, measured in full runs.
* [benchmarks/README.md](benchmarks/README.md) has the whole method, and `fyke bench cpu` does it again anywhere.

## The run
";

fn summary_of(text: &mut String, record: &Record) {
    let duels = summary::duels(record);
    let _ = writeln!(text, "\n| section | cells | geometric mean | worst | worst cell |");
    text.push_str("|---|---:|---:|---:|---|\n");
    for group in &record.groups {
        row_of(text, &group.name, &summary::of_group(record, &duels, &group.name));
    }
    row_of(text, "**all of these**", &duels);
    row_of(text, "processes, by wall time", &summary::process_duels(record));
}

fn row_of(text: &mut String, name: &str, duels: &[summary::Duel]) {
    let Some((mean, worst)) = summary::mean_and_worst(duels) else { return };
    let _ = writeln!(
        text,
        "| {name} | {} | {mean:.2}x | {:.2}x | {} |",
        duels.len(),
        worst.ratio,
        worst.cell
    );
}

fn drawings(text: &mut String, plots: &Path, drawn: &[plot::Drawn]) {
    if drawn.is_empty() {
        return;
    }
    text.push_str("\n## Drawings\n\n");
    for (file, title) in drawn {
        let _ = writeln!(text, "![{title}]({})", plots.join(file).display());
    }
}

/// The cells of a section: every contender's time, and what it took to build.
fn section(text: &mut String, record: &Record, group: &About) {
    let rows: Vec<&Row> = record.rows.iter().filter(|r| r.group == group.name).collect();
    if rows.is_empty() {
        return;
    }
    let axis = table::sentence(&group.axis);
    let _ = writeln!(text, "\n## {axis} (`{}`)\n\n{}.\n", group.name, escape(&group.about));
    let names = table::contenders(&rows);
    let cells = table::by_cell(&rows);
    let ours = record.facts.get(summary::JUDGED);
    let columns: Vec<&str> = names.iter().copied().filter(|n| *n != ours).collect();
    let judged = names.contains(&ours);
    let before: &[&str] = match judged {
        true => &["cell", "patterns", "haystack", "matches/B", "ratio", "by", ours],
        false => &["cell", "patterns", "haystack", "matches/B", "ratio"],
    };
    table::head(text, before, &columns, &[]);
    for (cell, rows) in &cells {
        let fastest = table::fastest(rows);
        let _ = write!(text, "| {cell} | {} | {} | ", rows[0].patterns, haystack(rows[0]));
        let _ = write!(text, "{} | {} |", table::per_byte(rows[0]), table::ratio(record, rows));
        if judged {
            let mine = table::find(rows, ours);
            let by = mine.map_or("", |r| &r.taken);
            let _ = write!(text, " {} | {} |", escape(by), table::time(mine, fastest));
        }
        for name in &columns {
            let _ = write!(text, " {} |", table::time(table::find(rows, name), fastest));
        }
        text.push('\n');
    }
    incomplete(text, &cells);
    resources(text, &cells, &names);
}

fn haystack(row: &Row) -> String {
    let size = Size(row.haystack_bytes);
    if row.call_bytes < row.haystack_bytes {
        return format!("{size} {} by {}", row.haystack, Size(row.call_bytes));
    }
    format!("{size} {}", row.haystack)
}

/// Rivals that are installed and gave up. Where haystacks are hostile, it is said that nobody did, too.
fn incomplete(text: &mut String, cells: &table::Cells<'_>) {
    let gave_up = |r: &&&Row| {
        let there = r.side == "rival" && !r.version.is_empty();
        there && matches!(r.status, Status::Refused | Status::Wrong)
    };
    let mut lines = String::new();
    for (cell, rows) in cells {
        for row in rows.iter().filter(gave_up) {
            let _ = writeln!(lines, "* {cell}: {}: {}", row.contender, escape(&row.reason));
        }
    }
    let hostile = cells.iter().any(|(_, rows)| rows[0].haystack.starts_with("hostile"));
    if lines.is_empty() && hostile {
        text.push_str("\nEvery rival that is installed went through all of them.\n");
    }
    if !lines.is_empty() {
        let _ =
            write!(text, "\nRivals that did not complete, and are not the best there:\n\n{lines}");
    }
}

/// Build time, memory, and growth while building.
fn resources(text: &mut String, cells: &table::Cells<'_>, names: &[&str]) {
    if !cells.iter().any(|(_, rows)| rows.iter().any(|r| r.builds > 0)) {
        return;
    }
    text.push_str(
        "\n<details><summary>Build time in milliseconds / memory of the compiled set in MiB / growth of a \
         process while it builds in MiB</summary>\n\n",
    );
    table::head(text, &["cell"], names, &[]);
    for (cell, rows) in cells {
        let _ = write!(text, "| {cell} |");
        for name in names {
            let row = table::find(rows, name).filter(|r| r.builds > 0);
            let _ = write!(text, " {} |", row.map_or("-".into(), costs));
        }
        text.push('\n');
    }
    text.push_str("\n</details>\n");
}

fn costs(row: &Row) -> String {
    let mebibytes = |bytes: u64| digits(bytes as f64 / f64::from(1 << 20));
    let memory = mebibytes(row.memory_bytes);
    let peak = if row.build_peak_bytes > 0 { mebibytes(row.build_peak_bytes) } else { "-".into() };
    format!("{} / {memory} / {peak}", digits(row.build_median / 1e6))
}
