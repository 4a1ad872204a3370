//! Runs one cell: prepare, build, verify, time.

use anyhow::Result;
use fyke_core::Block;
use fyke_rivals::Refusal;

use super::calls;
use super::replay;
use super::rows::{self, blank, threads};
use super::settings::RunSettings;
use crate::contender::choose::Contender;
use crate::data::store::{Prepared, Store};
use crate::definition::Cell;
use crate::entrant::{self, Entrant};
use crate::growth;
use crate::parallel;
use crate::process;
use crate::record::cpu::{CpuRow, OWN_PROGRAM};
use crate::record::row::Status;
use crate::timing::clock::{Clock, Span};
use crate::timing::sampling::{self, Pass};
use crate::timing::stats::Stats;
use crate::verify;

/// Runs one cell.
///
/// # Errors
/// Data is unsound. What is merely missing becomes a refused row.
pub fn measure(
    cell: &Cell,
    contenders: &[Contender],
    store: &mut Store,
    settings: &RunSettings,
) -> Result<Vec<CpuRow>> {
    let absent = |error: anyhow::Error| {
        let refusal = error.downcast::<Refusal>()?;
        Ok(vec![rows::refused_cell(cell, &refusal)])
    };
    if let Some(wanted) = &cell.replay {
        let prepared = store.replay(cell, wanted);
        let rows = prepared.map(|p| replay::contest(cell, &p, contenders, settings));
        return rows.or_else(absent);
    }
    let prepared = match store.prepare(cell, settings.extent) {
        Ok(prepared) => prepared,
        Err(error) => return absent(error),
    };
    if let Some(output) = cell.process {
        let mut rows = process::run(cell, &prepared, output, settings)?;
        rate(&mut rows, settings);
        return Ok(rows);
    }
    Ok(match cell.question {
        Some(question) => calls::contest(cell, &prepared, question.0, contenders, settings),
        None => contest(cell, &prepared, contenders, settings),
    })
}

/// Runs the libraries of a cell whose data is ready.
pub fn contest<'c>(
    cell: &Cell,
    prepared: &Prepared,
    contenders: &'c [Contender],
    settings: &RunSettings,
) -> Vec<CpuRow> {
    let mut refused = Vec::new();
    let mut entrants = Vec::new();
    let wanted: Vec<&Contender> = contenders.iter().filter(|c| c.rival.finds_all()).collect();
    let enter = |c: &&'c Contender| entrant::enter(c, prepared, threads(cell), &settings.limits);
    // Builds are timed, so they run in turn unless nothing is.
    let entered: Vec<_> = match settings.verify_only {
        true => parallel::map(&wanted, enter),
        false => wanted.iter().map(enter).collect(),
    };
    for (contender, entered) in wanted.into_iter().zip(entered) {
        match entered {
            Ok(entrant) => entrants.push(entrant),
            Err(why) => refused.push(rows::refused(blank(cell, prepared), contender, &why)),
        }
    }
    let verdicts = verify::verify(&entrants, prepared, threads(cell));
    let mut verified = Vec::new();
    for (entrant, verdict) in entrants.iter().zip(verdicts) {
        let mut row = rows::verified(blank(cell, prepared), entrant, verdict);
        if row.status != Status::Verified {
            refused.push(row);
            continue;
        }
        if settings.build_growth {
            let limit = settings.limits.memory;
            let grown = growth::measure(entrant.contender, &prepared.set, limit);
            row.extra.build_peak_bytes = grown.unwrap_or(0);
        }
        verified.push((entrant, row));
    }
    if !settings.verify_only && !verified.is_empty() {
        time_all(cell, prepared, &mut verified, settings);
    }
    let mut rows: Vec<CpuRow> = verified.into_iter().map(|(_, row)| row).collect();
    rows.append(&mut refused);
    rate(&mut rows, settings);
    rows
}

/// Times the contenders that were verified, in turn.
fn time_all(
    cell: &Cell,
    prepared: &Prepared,
    verified: &mut [(&Entrant<'_>, CpuRow)],
    settings: &RunSettings,
) {
    let mut passes: Vec<Pass<'_>> =
        verified.iter().map(|(entrant, _)| pass(entrant, cell, prepared)).collect();
    if cell.call_cost {
        passes.extend(verified.iter().map(|(entrant, _)| whole_pass(entrant, cell, prepared)));
    }
    let samples = sampling::sample(&mut passes, &settings.budget);
    drop(passes);
    let count = verified.len();
    for (i, (_, row)) in verified.iter_mut().enumerate() {
        rows::timed(row, &samples[i], settings.clock);
        if cell.call_cost {
            let whole = median(&samples[count + i], settings.clock);
            row.extra.call_ns = (row.median_ns - whole) / prepared.calls() as f64;
        }
    }
}

fn pass<'a>(entrant: &'a Entrant<'_>, cell: &Cell, prepared: &'a Prepared) -> Pass<'a> {
    let (work, threads) = (cell.work.work(), threads(cell));
    if threads > 1 {
        return Box::new(move || {
            std::hint::black_box(entrant.scan(prepared, threads, work)).expect("verified before");
        });
    }
    let mut scanner = entrant.built.scanner().expect("verified before");
    if prepared.batch {
        let pieces: Vec<&[u8]> = prepared.pieces().collect();
        return Box::new(move || {
            let tally = scanner.scan_each(std::hint::black_box(&pieces), work);
            std::hint::black_box(tally).expect("verified before");
        });
    }
    Box::new(move || {
        for piece in prepared.pieces() {
            let tally = scanner.scan(Block::whole(std::hint::black_box(piece)), work);
            std::hint::black_box(tally).expect("verified before");
        }
    })
}

/// The same bytes in one call, to tell the cost of a call from that of its bytes.
fn whole_pass<'a>(entrant: &'a Entrant<'_>, cell: &Cell, prepared: &'a Prepared) -> Pass<'a> {
    let work = cell.work.work();
    let mut scanner = entrant.built.scanner().expect("verified before");
    Box::new(move || {
        let block = Block::whole(std::hint::black_box(&prepared.haystack[..]));
        std::hint::black_box(scanner.scan(block, work)).expect("verified before");
    })
}

fn median(samples: &[Span], clock: Clock) -> f64 {
    Stats::of(&samples.iter().map(|s| s.on(clock)).collect::<Vec<_>>()).median
}

/// Fills in the ratio to the fastest rival and the share of the memory's read rate.
pub(super) fn rate(rows: &mut [CpuRow], settings: &RunSettings) {
    let theirs = |r: &&CpuRow| r.is_timed() && !r.is_of_fyke() && r.contender != OWN_PROGRAM;
    let times = rows.iter().filter(theirs).map(|r| r.median_ns);
    let best = times.fold(f64::INFINITY, f64::min);
    for row in rows.iter_mut().filter(|r| r.is_timed() && r.median_ns > 0.0) {
        row.extra.ratio = if best.is_finite() { best / row.median_ns } else { 0.0 };
        // A call may end long before its haystack does.
        if settings.read_rate > 0.0 && !row.is_call() {
            row.extra.read_share = row.gb_per_s() / settings.read_rate;
        }
    }
}
