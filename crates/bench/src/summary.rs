//! Summaries of a record: ratios, losses, refusals, and changes since another record.

use std::collections::{BTreeMap, BTreeSet};

use crate::record::cpu::{CpuRecord, CpuRow, OWN_PROGRAM};
use crate::record::file::JUDGED;
use crate::record::row::Status;

/// fyke compared with the fastest rival in one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The cell.
    pub cell: String,
    /// The contender of fyke, and the rival.
    pub names: (String, String),
    /// The rival's time over fyke's: above 1, fyke is faster.
    pub ratio: f64,
}

/// fyke and the fastest rival in every cell that has both, without processes.
pub fn comparisons(record: &CpuRecord) -> Vec<Comparison> {
    let one = |(cell, rows): (&str, Vec<&CpuRow>)| {
        Some(compare(cell, ours(record, &rows)?, fastest(&rows, CpuRow::is_rival)?))
    };
    cells(record).into_iter().filter_map(one).collect()
}

/// The same, with the contender of fyke whose matches are sorted. Empty if none was measured.
pub fn ordered_comparisons(record: &CpuRecord) -> Vec<Comparison> {
    comparisons_of(record, "ordered")
}

/// The same for replays, with the contender of fyke that gets all calls at once.
pub fn grouped_comparisons(record: &CpuRecord) -> Vec<Comparison> {
    comparisons_of(record, "grouped")
}

/// The same with the contender of this side in place of the judged one.
fn comparisons_of(record: &CpuRecord, side: &str) -> Vec<Comparison> {
    let name = format!("{side}:{}", record.facts.get(JUDGED));
    let one = |(cell, rows): (&str, Vec<&CpuRow>)| {
        let ours = rows.iter().copied().find(|r| r.is_timed() && r.contender == name)?;
        Some(compare(cell, ours, fastest(&rows, CpuRow::is_rival)?))
    };
    cells(record).into_iter().filter_map(one).collect()
}

/// The same for processes: fyke's program and the fastest of the others.
pub fn process_comparisons(record: &CpuRecord) -> Vec<Comparison> {
    let one = |(cell, rows): (&str, Vec<&CpuRow>)| {
        let [fyke, others] = programs(&rows);
        Some(compare(cell, fyke?, others?))
    };
    cells(record).into_iter().filter_map(one).collect()
}

/// fyke's own program and the fastest of the others, among the rows of a cell.
pub fn programs<'a>(rows: &[&'a CpuRow]) -> [Option<&'a CpuRow>; 2] {
    let ours = |r: &CpuRow| r.is_program() && r.contender == OWN_PROGRAM;
    let others = |r: &CpuRow| r.is_program() && r.contender != OWN_PROGRAM;
    [fastest(rows, ours), fastest(rows, others)]
}

/// The row of a cell by which fyke is judged.
pub fn ours<'a>(record: &CpuRecord, rows: &[&'a CpuRow]) -> Option<&'a CpuRow> {
    match record.facts.get(JUDGED) {
        "" => fastest(rows, CpuRow::is_engine),
        name => rows.iter().copied().find(|r| r.is_timed() && r.contender == name),
    }
}

/// What compiling the sets of a replay costs, beside the fastest rival; `None` for other cells.
pub fn set_costs(record: &CpuRecord, rows: &[&CpuRow]) -> Option<String> {
    let ours = ours(record, rows).filter(|r| r.is_replay())?;
    let rival = fastest(rows, CpuRow::is_rival)?;
    let both = |of: fn(&CpuRow) -> f64, unit: &str| {
        let (a, b) = (of(ours), of(rival));
        format!("{a:.1} {unit} for {b:.1} ({:.2}x)", a / b)
    };
    let compile = both(|r| r.extra.build_median / 1e6, "ms");
    let memory = both(|r| r.extra.memory_bytes as f64 / f64::from(1 << 10), "KiB");
    Some(format!("compiles in {compile}, takes {memory} of {}", rival.contender))
}

/// Contenders `ours` and `theirs` in every cell that has both.
pub fn pair(record: &CpuRecord, ours: &str, theirs: &str) -> Vec<Comparison> {
    fn named<'a>(rows: &[&'a CpuRow], name: &str) -> Option<&'a CpuRow> {
        rows.iter().copied().find(|r| r.is_timed() && r.contender == name)
    }
    let one = |(cell, rows): (&str, Vec<&CpuRow>)| {
        Some(compare(cell, named(&rows, ours)?, named(&rows, theirs)?))
    };
    cells(record).into_iter().filter_map(one).collect()
}

fn compare(cell: &str, ours: &CpuRow, theirs: &CpuRow) -> Comparison {
    Comparison {
        cell: cell.into(),
        names: (ours.contender.clone(), theirs.contender.clone()),
        ratio: theirs.median_ns / ours.median_ns,
    }
}

/// The rows of each cell, in the order of the record.
pub fn cells(record: &CpuRecord) -> Vec<(&str, Vec<&CpuRow>)> {
    let mut cells: Vec<(&str, Vec<&CpuRow>)> = Vec::new();
    for row in &record.rows {
        match cells.last_mut() {
            Some((cell, rows)) if *cell == row.cell => rows.push(row),
            _ => cells.push((&row.cell, vec![row])),
        }
    }
    cells
}

/// The fastest timed row that passes a filter.
pub fn fastest<'a>(rows: &[&'a CpuRow], wanted: impl Fn(&CpuRow) -> bool) -> Option<&'a CpuRow> {
    let wanted = rows.iter().copied().filter(|r| r.is_timed() && wanted(r));
    wanted.min_by(|a, b| a.median_ns.total_cmp(&b.median_ns))
}

/// `geomean 1.23x worst 0.98x cell`; `None` without comparisons.
pub fn line(comparisons: &[Comparison]) -> Option<String> {
    let (mean, worst) = mean_and_worst(comparisons)?;
    Some(format!("geomean {mean:.2}x worst {:.2}x {}", worst.ratio, worst.cell))
}

/// The geometric mean of the ratios, and the worst of them.
pub fn mean_and_worst(comparisons: &[Comparison]) -> Option<(f64, &Comparison)> {
    let worst = comparisons.iter().min_by(|a, b| a.ratio.total_cmp(&b.ratio))?;
    let logs: f64 = comparisons.iter().map(|d| d.ratio.ln()).sum();
    Some(((logs / comparisons.len() as f64).exp(), worst))
}

/// The comparisons in which a rival is faster, the worst first.
pub fn losses(comparisons: &[Comparison]) -> Vec<&Comparison> {
    let mut lost: Vec<&Comparison> = comparisons.iter().filter(|d| d.ratio < 1.0).collect();
    lost.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    lost
}

/// The comparisons of one section.
pub fn of_section(
    record: &CpuRecord,
    comparisons: &[Comparison],
    section: &str,
) -> Vec<Comparison> {
    let rows = record.rows.iter().filter(|r| r.section == section);
    let cells: BTreeSet<&str> = rows.map(|r| &*r.cell).collect();
    comparisons.iter().filter(|d| cells.contains(&*d.cell)).cloned().collect()
}

/// The number of rows of each status, and of each reason for a refusal.
pub fn tally(record: &CpuRecord) -> String {
    let count = |s: Status| record.rows.iter().filter(|r| r.status == s).count();
    let cells = cells(record).len();
    let (timed, verified) = (count(Status::Timed), count(Status::Verified));
    let (refused, wrong) = (count(Status::Refused), count(Status::Wrong));
    let mut text = format!(
        "{cells} cells: {timed} contenders timed, {verified} verified only, {refused} refused, {wrong} wrong\n"
    );
    for ((contender, reason), times) in refusals(record) {
        text += &format!("  refused {times} times: {contender}: {reason}\n");
    }
    text
}

/// Refusals counted by contender and reason.
pub fn refusals(record: &CpuRecord) -> BTreeMap<(&str, &str), usize> {
    let mut reasons = BTreeMap::new();
    for row in record.rows.iter().filter(|r| r.status == Status::Refused) {
        *reasons.entry((&*row.contender, &*row.reason)).or_insert(0) += 1;
    }
    reasons
}

/// A change against an earlier record.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Cell and contender.
    pub what: String,
    /// The earlier time over the later: above 1 is faster now.
    pub ratio: f64,
    /// Whether the difference of the times is beyond what the spreads of both records explain.
    pub clear: bool,
}

/// A change is clear beyond this many times the sum of the median distances of both records.
const CLEAR_MADS: f64 = 3.0;

/// Changes of every contender of every cell that both records timed on the same bytes.
pub fn changes(earlier: &CpuRecord, later: &CpuRecord) -> Vec<Change> {
    let key = |r: &CpuRow| {
        (r.cell.clone(), r.contender.clone(), r.haystack_sha256.clone(), r.threads, r.patterns)
    };
    let timed = earlier.rows.iter().filter(|r| r.is_timed());
    let before: BTreeMap<_, &CpuRow> = timed.map(|r| (key(r), r)).collect();
    let both =
        later.rows.iter().filter(|r| r.is_timed()).filter_map(|r| Some((*before.get(&key(r))?, r)));
    both.map(|(a, b)| change(a, b)).collect()
}

fn change(before: &CpuRow, now: &CpuRow) -> Change {
    let distance = (before.median_ns - now.median_ns).abs();
    let spread = before.extra.wall_mad + now.extra.wall_mad;
    Change {
        what: format!("{} {}", now.cell, now.contender),
        ratio: before.median_ns / now.median_ns,
        clear: distance > CLEAR_MADS * spread,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::cpu::CpuColumns;

    fn row(cell: &str, contender: &str, side: &str, ns: f64) -> CpuRow {
        CpuRow {
            cell: cell.into(),
            contender: contender.into(),
            status: Status::Timed,
            bytes: 100,
            median_ns: 100.0 * ns,
            extra: CpuColumns { side: side.into(), ..CpuColumns::default() },
            ..CpuRow::default()
        }
    }

    fn record(rows: Vec<CpuRow>) -> CpuRecord {
        CpuRecord { rows, ..CpuRecord::default() }
    }

    #[test]
    fn the_best_of_each_side_meet() {
        let record = record(vec![
            row("a", "slow", "engine", 4.0),
            row("a", "ours", "engine", 1.0),
            row("a", "hs", "rival", 2.0),
            row("b", "ours", "engine", 2.0),
            row("b", "hs", "rival", 1.0),
            row("c", "ours", "engine", 2.0),
        ]);
        let comparisons = comparisons(&record);
        assert_eq!(comparisons.len(), 2);
        assert_eq!((comparisons[0].names.0.as_str(), comparisons[0].ratio), ("ours", 2.0));
        assert_eq!(line(&comparisons).unwrap(), "geomean 1.00x worst 0.50x b");
        assert_eq!(losses(&comparisons).len(), 1);
        assert_eq!(pair(&record, "slow", "hs").len(), 1);
        assert!(line(&[]).is_none());
    }

    #[test]
    fn sorted_matches_are_compared_by_themselves() {
        let mut record = record(vec![
            row("a", "auto", "engine", 1.0),
            row("a", "ordered:auto", "ordered", 2.0),
            row("a", "hs", "rival", 4.0),
            row("b", "auto", "engine", 1.0),
            row("b", "hs", "rival", 4.0),
        ]);
        record.facts.add(JUDGED, "auto");
        let ratios = |all: Vec<Comparison>| all.iter().map(|c| c.ratio).collect::<Vec<_>>();
        assert_eq!(ratios(comparisons(&record)), [4.0, 4.0]);
        assert_eq!(ratios(ordered_comparisons(&record)), [2.0]);
    }

    #[test]
    fn sets_of_a_replay_have_costs() {
        let mut rows = [row("a", "ours", "engine", 1.0), row("a", "hs", "rival", 2.0)];
        let costs =
            |rows: &[CpuRow]| set_costs(&record(Vec::new()), &rows.iter().collect::<Vec<_>>());
        assert_eq!(costs(&rows), None);
        for (row, [compile, memory]) in rows.iter_mut().zip([[3e6, 1024.0], [6e6, 512.0]]) {
            row.extra.work = "replay".into();
            (row.extra.build_median, row.extra.memory_bytes) = (compile, memory as u64);
        }
        let text = "compiles in 3.0 ms for 6.0 (0.50x), takes 1.0 KiB for 0.5 (2.00x) of hs";
        assert_eq!(costs(&rows).unwrap(), text);
    }

    #[test]
    fn changes_are_of_the_same_contender_and_bytes() {
        let before = record(vec![row("a", "x", "engine", 2.0), row("a", "y", "engine", 2.0)]);
        let now = record(vec![row("a", "x", "engine", 1.0), row("b", "y", "engine", 2.0)]);
        let changes = changes(&before, &now);
        assert_eq!(changes, [Change { what: "a x".into(), ratio: 2.0, clear: true }]);
    }

    #[test]
    fn refusals_are_counted() {
        let refused =
            CpuRow { status: Status::Refused, reason: "why".into(), ..row("a", "x", "rival", 0.0) };
        let text = tally(&record(vec![refused.clone(), CpuRow { cell: "b".into(), ..refused }]));
        assert!(text.contains("refused 2 times: x: why"), "{text}");
    }
}
