//! The planner's regret: the time of its choice over that of the fastest choice, cell by cell.

use std::io::{self, Write};

use super::print::unjudged;
use crate::record::cpu::{CpuRecord, CpuRow};
use crate::record::file::JUDGED;
use crate::record::row::Status;
use crate::summary;

/// Cells above this regret are counted.
const MOST: f64 = 1.3;

/// The planner and the fastest contender in one cell. The planner is a contender, too.
#[derive(Clone, Copy, Debug)]
pub struct Regret<'a> {
    ours: &'a CpuRow,
    fastest: &'a CpuRow,
}

impl<'a> Regret<'a> {
    /// Compares the rows of a cell. `None` if the planner was not timed.
    pub fn of(record: &CpuRecord, rows: &[&'a CpuRow]) -> Option<Regret<'a>> {
        let ours = summary::ours(record, rows)?;
        let fastest = summary::fastest(rows, CpuRow::is_engine)?;
        Some(Regret { ours, fastest })
    }

    /// The planner's time over the fastest one: 1 or more.
    pub fn ratio(&self) -> f64 {
        self.ours.median_ns / self.fastest.median_ns
    }

    /// Whether the fastest contender scans with other engines than the planner chose.
    fn is_by_choice(&self) -> bool {
        engines(self.ours) != engines(self.fastest)
    }
}

/// The regrets of a record, the worst first.
pub fn regrets(record: &CpuRecord) -> Vec<Regret<'_>> {
    let cells = summary::cells(record);
    let mut all: Vec<_> = cells.iter().filter_map(|(_, rows)| Regret::of(record, rows)).collect();
    all.sort_by(|a, b| b.ratio().total_cmp(&a.ratio()));
    all
}

/// Prints the head of the table.
///
/// # Errors
/// `out` cannot be written.
pub fn head(out: &mut dyn Write) -> io::Result<()> {
    let [cell, patterns, parts, fastest] = ["cell", "patterns", "auto's parts", "fastest"];
    let (time, regret) = ("time", "regret");
    writeln!(
        out,
        "{cell:<46} {patterns:>8} {parts:<24} {time:>9} {fastest:<44} {time:>9} {:<7} {regret:>7}",
        "unit"
    )
}

/// Prints the line of a cell, and those of contenders that found wrong matches.
///
/// # Errors
/// `out` cannot be written.
pub fn cell(out: &mut dyn Write, record: &CpuRecord, rows: &[CpuRow]) -> io::Result<()> {
    match Regret::of(record, &rows.iter().collect::<Vec<_>>()) {
        Some(regret) => line(out, &regret)?,
        None => {
            let judged = record.facts.get(JUDGED);
            // The row "-" says why the whole cell was refused.
            let row = rows.iter().find(|r| r.contender == judged || r.contender == "-");
            let (cell, reason) = row.map_or(("", "no row"), |r| (&r.cell, &r.reason));
            writeln!(out, "{cell:<46} {judged} was not timed: {reason}")?;
        }
    }
    for row in rows.iter().filter(|r| r.status == Status::Wrong) {
        writeln!(out, "    {} WRONG: {}", row.contender, row.reason)?;
    }
    out.flush()
}

fn line(out: &mut dyn Write, regret: &Regret<'_>) -> io::Result<()> {
    let Regret { ours, fastest } = regret;
    let time = |row: &CpuRow| match row.is_call() {
        true => format!("{:.1}", row.time()),
        false => format!("{:.4}", row.time()),
    };
    writeln!(
        out,
        "{:<46} {:>8} {:<24} {:>9} {:<44} {:>9} {:<7} {:>6.2}x",
        ours.cell,
        ours.patterns,
        ours.extra.taken,
        time(ours),
        choice(fastest),
        time(fastest),
        ours.unit(),
        regret.ratio()
    )
}

/// The engines that scan for a contender.
fn engines(row: &CpuRow) -> &str {
    match &*row.extra.taken {
        "" => row.contender.split(':').next().unwrap_or(""),
        taken => taken,
    }
}

/// A contender, with the engines that scan if its name does not say them.
fn choice(row: &CpuRow) -> String {
    match &*row.extra.taken {
        "" => row.contender.clone(),
        taken => format!("{} ({taken})", row.contender),
    }
}

/// Prints the table, the worst cell first, and a line with the mean.
///
/// # Errors
/// `out` cannot be written.
pub fn table(out: &mut dyn Write, record: &CpuRecord) -> io::Result<()> {
    let regrets = regrets(record);
    head(out)?;
    regrets.iter().try_for_each(|regret| line(out, regret))?;
    let absent = unjudged(record);
    if !absent.is_empty() {
        writeln!(out, "cells without {}: {}", record.facts.get(JUDGED), absent.join(", "))?;
    }
    writeln!(out, "{}", mean(&regrets))
}

/// The geometric mean, the worst cell, and the number of cells above [`MOST`].
fn mean(regrets: &[Regret<'_>]) -> String {
    let Some(worst) = regrets.first() else { return "regret: no cell was timed".into() };
    let logs: f64 = regrets.iter().map(|r| r.ratio().ln()).sum();
    let mean = (logs / regrets.len() as f64).exp();
    let above = || regrets.iter().filter(|r| r.ratio() > MOST);
    let chosen = above().filter(|r| r.is_by_choice()).count();
    format!(
        "regret of {} cells: geomean {mean:.3}x worst {:.2}x {}; cells above {MOST}x: {}, \
         {chosen} of them with other engines",
        regrets.len(),
        worst.ratio(),
        worst.ours.cell,
        above().count()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Facts;
    use crate::record::cpu::CpuColumns;

    fn row(cell: &str, contender: &str, taken: &str, ns: f64) -> CpuRow {
        let side = if contender == "hs" { "rival" } else { "engine" };
        CpuRow {
            cell: cell.into(),
            contender: contender.into(),
            status: if ns > 0.0 { Status::Timed } else { Status::Refused },
            bytes: 100,
            median_ns: 100.0 * ns,
            extra: CpuColumns { side: side.into(), taken: taken.into(), ..CpuColumns::default() },
            ..CpuRow::default()
        }
    }

    fn record() -> CpuRecord {
        let mut facts = Facts::default();
        facts.add(JUDGED, "auto");
        let rows = vec![
            row("a", "auto", "teddy", 1.0),
            row("a", "ac-dfa", "", 2.0),
            row("a", "hs", "", 0.1),
            row("b", "auto", "ac-dfa", 4.0),
            row("b", "auto:cut=4", "teddy+ac-simd", 1.0),
            row("c", "auto", "", 0.0),
            row("c", "ac-dfa", "", 1.0),
        ];
        CpuRecord { facts, rows, ..CpuRecord::default() }
    }

    #[test]
    fn the_worst_cell_is_first_and_no_regret_is_below_1() {
        let record = record();
        let ratios: Vec<f64> = regrets(&record).iter().map(Regret::ratio).collect();
        assert_eq!(ratios, [4.0, 1.0], "a rival is no choice, and cell c has no planner");
    }

    #[test]
    fn engines_are_compared_without_their_options() {
        let auto = row("a", "auto", "teddy", 2.0);
        let is_by_choice = |contender: &str, taken: &str| {
            let fastest = row("a", contender, taken, 1.0);
            Regret { ours: &auto, fastest: &fastest }.is_by_choice()
        };
        assert!(!is_by_choice("teddy:isa=avx2", "") && !is_by_choice("auto:cut=4", "teddy"));
        assert!(is_by_choice("ac-dfa", "") && is_by_choice("auto:cut=4", "teddy+ac-dfa"));
    }

    #[test]
    fn the_table_ends_with_the_mean() {
        let mut out = Vec::new();
        table(&mut out, &record()).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].starts_with("b ") && lines[1].ends_with(" 4.00x"), "{text}");
        assert!(lines[1].contains("auto:cut=4 (teddy+ac-simd)"), "{text}");
        assert!(lines[2].contains(" teddy ") && lines[2].contains(" auto (teddy) "), "{text}");
        assert_eq!(lines[3], "cells without auto: c");
        let last = "regret of 2 cells: geomean 2.000x worst 4.00x b; cells above 1.3x: 1, 1 of them with other engines";
        assert_eq!(lines[4], last);
        assert_eq!(mean(&[]), "regret: no cell was timed");
    }
}
