//! Rows of the record.

use std::path::Path;

use fyke_core::PatternSet;
use fyke_rivals::Refusal;

use super::columns::{HsColumns, HsRow};
use super::compile::Entrant;
use super::haystacks::Haystacks;
use super::libraries::Named;
use super::scan::Timed;
use super::way::Way;
use crate::record::row::Status;
use crate::timing::clock::Clock;
use crate::timing::stats::Stats;

/// The name of the cell of a rule file.
pub(super) fn cell_name(rules: &Path) -> String {
    rules.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// What all rows have in common.
pub(super) fn blank(cell: &str, set: &PatternSet, haystacks: &Haystacks) -> HsRow {
    HsRow {
        section: "hs".into(),
        cell: cell.into(),
        threads: 1,
        patterns: set.len(),
        pattern_bytes: set.total_bytes(),
        haystack: haystacks.names.clone(),
        bytes: haystacks.bytes(),
        haystack_sha256: haystacks.sha256.clone(),
        ..HsRow::default()
    }
}

/// The row of a library before it is measured.
pub(super) fn of(blank: &HsRow, way: &Way, library: &Named, haystacks: &Haystacks) -> HsRow {
    let longest = way.longest_call(haystacks);
    HsRow {
        cell: format!("{}/{}", blank.cell, way.name),
        contender: library.name.into(),
        extra: HsColumns {
            way: way.name.into(),
            version: library.library.version().into(),
            calls: way.calls(haystacks),
            call_bytes: longest,
            ..HsColumns::default()
        },
        ..blank.clone()
    }
}

/// The row of a library that took no part.
pub(super) fn refused(row: HsRow, why: &Refusal) -> HsRow {
    HsRow { status: Status::Refused, reason: why.to_string(), ..row }
}

/// The row of a library that compiled the set.
pub(super) fn measured(
    mut row: HsRow,
    entrant: &Entrant<'_>,
    compile: Option<&Stats>,
    timed: Timed,
    clock: Clock,
) -> HsRow {
    let extra = &mut row.extra;
    extra.database_bytes = entrant.database.size();
    (extra.scratch_bytes, extra.stream_bytes) = (entrant.scratch_bytes, entrant.stream_bytes);
    if let Some(stats) = compile {
        (extra.compile_ns, extra.compile_mad_ns) = (stats.median, stats.mad);
        extra.compiles = stats.samples;
    }
    let found = match timed.found {
        Ok(found) => found,
        Err(why) => return refused(row, &why),
    };
    row.status = Status::Verified;
    (row.matches, row.fingerprint) = (Some(found.count), format!("{:016x}", found.sum));
    if !timed.samples.is_empty() {
        let samples: Vec<f64> = timed.samples.iter().map(|s| s.on(clock)).collect();
        row.status = Status::Timed;
        row.set_times(&Stats::of(&samples), clock);
        row.extra.call_ns = row.median_ns / row.extra.calls.max(1) as f64;
    }
    row
}

/// Fills in the ratios of two rows of one way.
pub(super) fn rate(rows: &mut [HsRow]) {
    if let [one, two] = rows
        && one.is_timed()
        && two.is_timed()
    {
        one.extra.ratio = two.median_ns / one.median_ns;
        two.extra.ratio = one.median_ns / two.median_ns;
    }
}
