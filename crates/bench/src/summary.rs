//! What a record says as a whole: ratios, losses, refusals, and changes since another record.

use std::collections::{BTreeMap, BTreeSet};

use crate::record::{Record, Row, Status};

/// The best of ours against the best rival in one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Duel {
    /// The cell.
    pub cell: String,
    /// Our fastest contender, and the fastest rival.
    pub names: (String, String),
    /// The rival's time over ours: above 1 is a win.
    pub ratio: f64,
}

/// Ours against the best rival in every cell that has both. Processes are left out.
pub fn duels(record: &Record) -> Vec<Duel> {
    let cells = cells(record).into_iter();
    let duel = |(cell, rows): (&str, Vec<&Row>)| {
        Some(duel(cell, ours(record, &rows)?, best(&rows, "rival")?))
    };
    cells.filter_map(duel).collect()
}

/// The same for processes: fyke's own against the best of the others.
pub fn process_duels(record: &Record) -> Vec<Duel> {
    let duel = |(cell, rows): (&str, Vec<&Row>)| {
        let (fyke, others): (Vec<&Row>, Vec<&Row>) =
            rows.into_iter().partition(|r| r.contender == "fyke");
        Some(duel(cell, best(&fyke, "program")?, best(&others, "program")?))
    };
    cells(record).into_iter().filter_map(duel).collect()
}

/// The fact that names the contender by which fyke is judged; without it, the best engine is.
pub const JUDGED: &str = "judged by";

/// The row of a cell by which fyke is judged.
pub fn ours<'a>(record: &Record, rows: &[&'a Row]) -> Option<&'a Row> {
    match record.facts.get(JUDGED) {
        "" => best(rows, "engine"),
        name => rows.iter().copied().find(|r| r.is_timed() && r.contender == name),
    }
}

/// Contender `ours` against contender `theirs` in every cell that has both.
pub fn pair(record: &Record, ours: &str, theirs: &str) -> Vec<Duel> {
    let named = |rows: &[&Row], name: &str| {
        rows.iter().copied().find(|r| r.is_timed() && r.contender == name).cloned()
    };
    let cells = cells(record).into_iter();
    cells
        .filter_map(|(cell, rows)| Some(duel(cell, &named(&rows, ours)?, &named(&rows, theirs)?)))
        .collect()
}

fn duel(cell: &str, ours: &Row, theirs: &Row) -> Duel {
    Duel {
        cell: cell.into(),
        names: (ours.contender.clone(), theirs.contender.clone()),
        ratio: theirs.median() / ours.median(),
    }
}

/// The rows of each cell, in the order of the record.
pub fn cells(record: &Record) -> Vec<(&str, Vec<&Row>)> {
    let mut cells: Vec<(&str, Vec<&Row>)> = Vec::new();
    for row in &record.rows {
        match cells.last_mut() {
            Some((cell, rows)) if *cell == row.cell => rows.push(row),
            _ => cells.push((&row.cell, vec![row])),
        }
    }
    cells
}

/// The fastest row of a side.
pub fn best<'a>(rows: &[&'a Row], side: &str) -> Option<&'a Row> {
    let side = rows.iter().copied().filter(|r| r.is_timed() && r.side == side);
    side.min_by(|a, b| a.median().total_cmp(&b.median()))
}

/// `geomean 1.23x worst 0.98x cell`: nothing if there are no duels.
pub fn line(duels: &[Duel]) -> Option<String> {
    let (mean, worst) = mean_and_worst(duels)?;
    Some(format!("geomean {mean:.2}x worst {:.2}x {}", worst.ratio, worst.cell))
}

/// The geometric mean of the ratios, and the worst of them.
pub fn mean_and_worst(duels: &[Duel]) -> Option<(f64, &Duel)> {
    let worst = duels.iter().min_by(|a, b| a.ratio.total_cmp(&b.ratio))?;
    let logs: f64 = duels.iter().map(|d| d.ratio.ln()).sum();
    Some(((logs / duels.len() as f64).exp(), worst))
}

/// Those of a group of cells.
pub fn of_group(record: &Record, duels: &[Duel], group: &str) -> Vec<Duel> {
    let rows = record.rows.iter().filter(|r| r.group == group);
    let cells: BTreeSet<&str> = rows.map(|r| &*r.cell).collect();
    duels.iter().filter(|d| cells.contains(&*d.cell)).cloned().collect()
}

/// How many rows have each status, and how often each reason for a refusal was given.
pub fn tally(record: &Record) -> String {
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

/// Refusals by contender and reason, with how often each was given.
pub fn refusals(record: &Record) -> BTreeMap<(&str, &str), usize> {
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
    /// Whether the change is larger than both spreads together.
    pub clear: bool,
}

/// How many median distances of both records a change has to exceed to be called clear.
const CLEAR_MADS: f64 = 3.0;

/// Changes of every contender of every cell that both records timed on the same bytes.
pub fn changes(earlier: &Record, later: &Record) -> Vec<Change> {
    let key = |r: &Row| {
        (r.cell.clone(), r.contender.clone(), r.haystack_sha256.clone(), r.threads, r.patterns)
    };
    let timed = earlier.rows.iter().filter(|r| r.is_timed());
    let before: BTreeMap<_, &Row> = timed.map(|r| (key(r), r)).collect();
    let both =
        later.rows.iter().filter(|r| r.is_timed()).filter_map(|r| Some((*before.get(&key(r))?, r)));
    both.map(|(a, b)| change(a, b)).collect()
}

fn change(before: &Row, now: &Row) -> Change {
    let distance = (before.median() - now.median()).abs();
    Change {
        what: format!("{} {}", now.cell, now.contender),
        ratio: before.median() / now.median(),
        clear: distance > CLEAR_MADS * (before.wall_mad + now.wall_mad),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cell: &str, contender: &str, side: &str, ns: f64) -> Row {
        Row {
            cell: cell.into(),
            contender: contender.into(),
            side: side.into(),
            status: Status::Timed,
            haystack_bytes: 100,
            ns_per_byte: ns,
            ..Row::default()
        }
    }

    fn record(rows: Vec<Row>) -> Record {
        Record { rows, ..Record::default() }
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
        let duels = duels(&record);
        assert_eq!(duels.len(), 2);
        assert_eq!((duels[0].names.0.as_str(), duels[0].ratio), ("ours", 2.0));
        assert_eq!(line(&duels).unwrap(), "geomean 1.00x worst 0.50x b");
        assert_eq!(pair(&record, "slow", "hs").len(), 1);
        assert!(line(&[]).is_none());
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
            Row { status: Status::Refused, reason: "why".into(), ..row("a", "x", "rival", 0.0) };
        let text = tally(&record(vec![refused.clone(), Row { cell: "b".into(), ..refused }]));
        assert!(text.contains("refused 2 times: x: why"), "{text}");
    }
}
