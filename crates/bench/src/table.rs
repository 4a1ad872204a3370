//! Tables in Markdown, made from a record.

use std::fmt::Write;

use crate::record::{About, Record, Row, Status};
use crate::size::Size;
use crate::summary;

/// The whole document: what ran, a table for each group, build times, memory, losses, refusals.
pub fn document(record: &Record) -> String {
    let mut text = String::from(INTRODUCTION);
    facts(&mut text, record);
    for group in &record.groups {
        self::group(&mut text, record, group);
    }
    losses(&mut text, record);
    refusals(&mut text, record);
    text
}

const INTRODUCTION: &str = "\
# Benchmarks

<!-- Made by `cargo xtask bench --report RECORD`; do not edit. -->

Every figure here comes from one record: one run on one machine, contenders in turn, verified before
they were timed. [benchmarks/README.md](benchmarks/README.md) says how, and where the method favours
somebody. Times are medians in nanoseconds per byte of haystack, lower is better; **bold** is the
fastest of the row. The last column is the best rival's time over that of fyke's best engine: above
1 fyke is faster, below 1 it is slower. `-` took no part (the reasons are at the end); `wrong` found
other matches than expected and was not timed.
";

/// What is known about the run.
pub(crate) fn facts(text: &mut String, record: &Record) {
    text.push_str("\n| | |\n|---|---|\n");
    for (name, value) in &record.facts.0 {
        let _ = writeln!(text, "| {name} | {} |", escape(value));
    }
    if let Some(line) = summary::line(&summary::duels(record)) {
        let _ = writeln!(text, "\nAll cells together, best engine against best rival: {line}.");
    }
}

fn group(text: &mut String, record: &Record, group: &About) {
    let rows: Vec<&Row> = record.rows.iter().filter(|r| r.group == group.name).collect();
    if rows.is_empty() {
        return;
    }
    let (axis, name) = (sentence(&group.axis), &group.name);
    let _ = writeln!(text, "\n## {axis} (`{name}`)\n\n{}.\n", escape(&group.about));
    let names = contenders(&rows);
    let cells = by_cell(&rows);
    times(text, record, &cells, &names);
    calls(text, &cells, &names);
    resources(text, &cells, &names);
}

/// The contenders that took part at least once, in the order of the record.
pub(crate) fn contenders<'a>(rows: &[&'a Row]) -> Vec<&'a str> {
    let mut names = Vec::new();
    for row in rows.iter().filter(|r| matches!(r.status, Status::Timed | Status::Wrong)) {
        if !names.contains(&&*row.contender) {
            names.push(&*row.contender);
        }
    }
    names
}

/// Rows by their cells.
pub(crate) type Cells<'a> = [(&'a str, Vec<&'a Row>)];

/// The rows of each cell.
pub(crate) fn by_cell<'a>(rows: &[&'a Row]) -> Vec<(&'a str, Vec<&'a Row>)> {
    let mut cells: Vec<(&str, Vec<&Row>)> = Vec::new();
    for row in rows {
        match cells.last_mut() {
            Some((cell, rows)) if *cell == row.cell => rows.push(row),
            _ => cells.push((&row.cell, vec![row])),
        }
    }
    cells
}

fn times(text: &mut String, record: &Record, cells: &Cells<'_>, names: &[&str]) {
    head(
        text,
        &["cell", "patterns", "haystack", "matches/B"],
        names,
        &["of read rate", "fyke / best rival"],
    );
    for (cell, rows) in cells {
        let first = rows[0];
        let _ = write!(
            text,
            "| {cell} | {} | {} {} | {} |",
            first.patterns,
            Size(first.haystack_bytes),
            first.haystack,
            per_byte(first)
        );
        let fastest = fastest(rows);
        for name in names {
            let _ = write!(text, " {} |", time(find(rows, name), fastest));
        }
        let _ = writeln!(text, " {} | {} |", share(rows), ratio(record, rows));
    }
}

/// The head of a table.
pub(crate) fn head(text: &mut String, before: &[&str], names: &[&str], after: &[&str]) {
    let columns: Vec<&str> = before.iter().chain(names).chain(after).copied().collect();
    let _ = writeln!(text, "| {} |", columns.join(" | "));
    let _ = writeln!(text, "|---{}|", "|---:".repeat(columns.len() - 1));
}

/// The row of a contender.
pub(crate) fn find<'a>(rows: &[&'a Row], name: &str) -> Option<&'a Row> {
    rows.iter().copied().find(|r| r.contender == name)
}

/// A time in a table, **bold** if nothing is faster.
pub(crate) fn time(row: Option<&Row>, fastest: f64) -> String {
    match row {
        Some(r) if r.is_timed() && r.median() <= fastest => {
            format!("**{}**", digits(r.ns_per_byte))
        }
        Some(r) if r.is_timed() => digits(r.ns_per_byte),
        Some(r) if r.status == Status::Wrong => "wrong".into(),
        _ => "-".into(),
    }
}

/// Three digits that matter.
pub(crate) fn digits(value: f64) -> String {
    match value {
        v if v.abs() >= 100.0 => format!("{v:.0}"),
        v if v.abs() >= 10.0 => format!("{v:.1}"),
        v if v.abs() >= 1.0 => format!("{v:.2}"),
        v => format!("{v:.3}"),
    }
}

/// Matches a byte.
pub(crate) fn per_byte(row: &Row) -> String {
    digits(row.matches as f64 / row.haystack_bytes.max(1) as f64)
}

/// The share of the memory's read rate that the best engine reaches.
fn share(rows: &[&Row]) -> String {
    let best = summary::best(rows, "engine").filter(|r| r.read_share > 0.0);
    best.map_or("-".into(), |r| format!("{:.0} %", 100.0 * r.read_share))
}

/// The least time of a cell.
pub(crate) fn fastest(rows: &[&Row]) -> f64 {
    rows.iter().filter(|r| r.is_timed()).map(|r| r.median()).fold(f64::MAX, f64::min)
}

/// The best rival's time over ours.
pub(crate) fn ratio(record: &Record, rows: &[&Row]) -> String {
    let fyke = find(rows, "fyke").filter(|r| r.is_timed());
    let ours = summary::ours(record, rows).or(fyke);
    ours.filter(|r| r.ratio > 0.0).map_or("-".into(), |r| format!("{:.2}x", r.ratio))
}

/// The cost of a call beside that of its bytes, where it was measured.
fn calls(text: &mut String, cells: &Cells<'_>, names: &[&str]) {
    let measured = |rows: &[&Row]| rows.iter().any(|r| r.call_ns != 0.0);
    if !cells.iter().any(|(_, rows)| measured(rows)) {
        return;
    }
    text.push_str(
        "\nNanoseconds a call, less its bytes at the contender's rate on one long haystack:\n\n",
    );
    head(text, &["cell", "bytes a call"], names, &[]);
    for (cell, rows) in cells.iter().filter(|(_, rows)| measured(rows)) {
        let _ = write!(text, "| {cell} | {} |", rows[0].call_bytes);
        for name in names {
            let row = find(rows, name).filter(|r| r.call_ns != 0.0);
            let _ = write!(text, " {} |", row.map_or("-".into(), |r| format!("{:.0}", r.call_ns)));
        }
        text.push('\n');
    }
}

/// Build time and memory, where contenders tell them.
fn resources(text: &mut String, cells: &Cells<'_>, names: &[&str]) {
    if !cells.iter().any(|(_, rows)| rows.iter().any(|r| r.builds > 0)) {
        return;
    }
    text.push_str("\nBuild time in milliseconds / memory of the compiled set in MiB:\n\n");
    head(text, &["cell"], names, &[]);
    for (cell, rows) in cells {
        let _ = write!(text, "| {cell} |");
        for name in names {
            let row = find(rows, name).filter(|r| r.builds > 0);
            let _ = write!(text, " {} |", row.map_or("-".into(), build_and_memory));
        }
        text.push('\n');
    }
}

fn build_and_memory(row: &Row) -> String {
    let memory = row.memory_bytes as f64 / f64::from(1 << 20);
    format!("{} / {}", digits(row.build_median / 1e6), digits(memory))
}

/// The cells that fyke loses.
pub(crate) fn losses(text: &mut String, record: &Record) {
    let mut lost = summary::duels(record);
    lost.retain(|d| d.ratio < 1.0);
    lost.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    text.push_str("\n## Cells where a rival is faster\n\n");
    if lost.is_empty() {
        text.push_str("None in this record.\n");
        return;
    }
    text.push_str("| cell | best engine | best rival | fyke / best rival |\n|---|---|---|---:|\n");
    for d in &lost {
        let _ = writeln!(text, "| {} | {} | {} | {:.2}x |", d.cell, d.names.0, d.names.1, d.ratio);
    }
}

/// Who took no part, and why.
pub(crate) fn refusals(text: &mut String, record: &Record) {
    text.push_str("\n## Who took no part, and why\n\n");
    let refusals = summary::refusals(record);
    if refusals.is_empty() {
        text.push_str("Everybody took part everywhere.\n");
        return;
    }
    text.push_str("| contender | cells | reason |\n|---|---:|---|\n");
    for ((contender, reason), times) in refusals {
        let _ = writeln!(text, "| {contender} | {times} | {} |", escape(reason));
    }
}

/// With a capital letter.
pub(crate) fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// Without what would end a cell of a table.
pub(crate) fn escape(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_shows_losses_and_refusals() {
        let row = |contender: &str, side: &str, ns: f64, ratio: f64| Row {
            group: "g".into(),
            cell: "g/1".into(),
            contender: contender.into(),
            side: side.into(),
            status: Status::Timed,
            haystack_bytes: 1 << 20,
            ns_per_byte: ns,
            ratio,
            ..Row::default()
        };
        let refused = Row {
            status: Status::Refused,
            reason: "not | here".into(),
            ..row("absent", "rival", 0.0, 0.0)
        };
        let rows = vec![row("ours", "engine", 2.0, 0.5), row("hs", "rival", 1.0, 1.0), refused];
        let about = About { name: "g".into(), axis: "count".into(), about: "words".into() };
        let text = document(&Record { groups: vec![about], rows, ..Record::default() });
        assert!(text.contains("| 2.00 | **1.00** | - | 0.50x |"), "{text}");
        assert!(text.contains("| g/1 | ours | hs | 0.50x |"), "{text}");
        assert!(text.contains("| absent | 1 | not \\| here |"), "{text}");
    }
}
