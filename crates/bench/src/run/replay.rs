//! Cells that replay calls, each with one of many sets, as intrusion detection makes them.

use fyke_rivals::{BuiltSets, Job, Refusal, SetCall, Tally, Work};

use super::measure::rate;
use super::rows;
use super::settings::RunSettings;
use crate::contender::choose::{Contender, Side};
use crate::data::replay::PreparedReplay;
use crate::definition::Cell;
use crate::entrant::{self, Limits, SAMPLE};
use crate::record::cpu::CpuRow;
use crate::record::row::Status;
use crate::timing::clock::time;
use crate::timing::sampling::{self, Pass};
use crate::verify;

/// Builds all sets with every contender, compares every call, and times the whole replay.
pub fn contest(
    cell: &Cell,
    prepared: &PreparedReplay,
    contenders: &[Contender],
    settings: &RunSettings,
) -> Vec<CpuRow> {
    let calls = prepared.calls();
    let blank = rows::blank_replay(cell, prepared, &calls);
    let (mut expected, mut verified, mut refused) = (None, Vec::new(), Vec::new());
    let takes = |c: &&Contender| c.rival.finds_all() || c.side == Side::Grouped;
    for contender in contenders.iter().filter(takes) {
        let mut row = rows::of_contender(blank.clone(), contender);
        let compared = enter(contender, prepared, &settings.limits, &mut row)
            .and_then(|built| compare(&*built, &calls, &mut expected, &mut row).map(|()| built));
        match compared {
            Ok(built) if row.status == Status::Verified => verified.push((built, row)),
            Ok(_) => refused.push(row),
            Err(why) => refused.push(CpuRow { reason: why.to_string(), ..row }),
        }
    }
    if !settings.verify_only {
        time_all(&calls, &mut verified, settings);
    }
    let mut rows: Vec<CpuRow> = verified.into_iter().map(|(_, row)| row).collect();
    rows.append(&mut refused);
    rate(&mut rows, settings);
    rows
}

/// Builds all sets; their time and memory go into the row.
fn enter(
    contender: &Contender,
    prepared: &PreparedReplay,
    limits: &Limits,
    row: &mut CpuRow,
) -> Result<Box<dyn BuiltSets>, Refusal> {
    contender.rival.version()?;
    let sample = &prepared.haystack[..prepared.haystack.len().min(SAMPLE)];
    let expected_call = Some(prepared.mean_call());
    let job = |set| Job { set, sample, threads: 1, expected_call, memory_limit: limits.memory };
    let jobs: Vec<Job<'_>> = prepared.sets.iter().map(job).collect();
    let (built, first) = time(|| contender.rival.build_sets(&jobs));
    let built = built?;
    let again = || contender.rival.build_sets(&jobs).map(drop);
    let build = entrant::rebuild(again, first, limits.rebuild)?;
    rows::built(row, &build, built.memory(), built.taken());
    Ok(built)
}

/// What every call found, and who found it.
type Expected = (Vec<Tally>, String);

/// Compares every call with the first contender's. A difference becomes the row's reason.
fn compare(
    built: &dyn BuiltSets,
    calls: &[SetCall<'_>],
    expected: &mut Option<Expected>,
    row: &mut CpuRow,
) -> Result<(), Refusal> {
    let mut scanner = built.scanner()?;
    let mut one = |call: &SetCall<'_>| scanner.scan_calls(&[*call], Work::Fingerprint);
    let found = calls.iter().map(&mut one).collect::<Result<Vec<Tally>, _>>()?;
    let sum = found.iter().copied().fold(Tally::default(), Tally::plus);
    row.matches = Some(sum.count);
    row.fingerprint = format!("{:016x}", sum.sum);
    let (right, by) = expected.get_or_insert_with(|| (found.clone(), row.contender.clone()));
    let pairs = found.iter().zip(right.iter());
    row.status = Status::Verified;
    if let Some((i, (found, right))) = pairs.enumerate().find(|(_, (found, right))| found != right)
    {
        row.status = Status::Wrong;
        let why = verify::explain(*found, *right, by);
        row.reason = format!("call {i} with set {}: {why}", calls[i].set);
    }
    Ok(())
}

/// Times the contenders in turn. A pass is the whole replay.
fn time_all(
    calls: &[SetCall<'_>],
    verified: &mut [(Box<dyn BuiltSets>, CpuRow)],
    settings: &RunSettings,
) {
    let mut passes: Vec<Pass<'_>> =
        verified.iter().map(|(built, _)| pass(&**built, calls)).collect();
    let samples = sampling::sample(&mut passes, &settings.budget);
    drop(passes);
    for ((_, row), samples) in verified.iter_mut().zip(&samples) {
        rows::timed(row, samples, settings.clock);
    }
}

fn pass<'a>(built: &'a dyn BuiltSets, calls: &'a [SetCall<'a>]) -> Pass<'a> {
    let mut scanner = built.scanner().expect("verified before");
    Box::new(move || {
        let tally = scanner.scan_calls(std::hint::black_box(calls), Work::Touch);
        std::hint::black_box(tally).expect("verified before");
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_rivals::{Memory, SetsScanner};

    /// Finds the haystack's length in each call, but one match too many in long ones.
    struct Fake {
        right: bool,
    }

    impl BuiltSets for Fake {
        fn scanner(&self) -> Result<Box<dyn SetsScanner + '_>, Refusal> {
            Ok(Box::new(Fake { ..*self }))
        }

        fn memory(&self) -> Option<Memory> {
            None
        }
    }

    impl SetsScanner for Fake {
        fn scan_calls(&mut self, calls: &[SetCall<'_>], _: Work) -> Result<Tally, Refusal> {
            let count = |c: &SetCall<'_>| (c.haystack.len() + usize::from(!self.right)) as u64;
            Ok(Tally { count: calls.iter().map(count).sum(), ..Tally::default() })
        }
    }

    #[test]
    fn one_wrong_call_is_named() {
        let calls = [SetCall { set: 0, haystack: b"ab" }, SetCall { set: 7, haystack: b"abc" }];
        let mut expected = Some((vec![Tally { count: 2, ..Tally::default() }; 2], "x".to_string()));
        let mut row = CpuRow::default();
        compare(&Fake { right: true }, &calls, &mut expected, &mut row).unwrap();
        assert_eq!(row.status, Status::Wrong);
        assert!(row.reason.starts_with("call 1 with set 7: finds 3 matches"), "{}", row.reason);
        let mut first = None;
        for (right, status) in [(true, Status::Verified), (false, Status::Wrong)] {
            compare(&Fake { right }, &calls, &mut first, &mut row).unwrap();
            assert_eq!(row.status, status);
        }
        assert_eq!(row.matches, Some(7));
    }
}
