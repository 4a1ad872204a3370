//! Every public call against the naive search: the cases of other matchers, random ones, and ones
//! with matches across the boundaries of pieces.

#[path = "support/boundaries.rs"]
mod boundaries;
#[path = "support/every_call.rs"]
mod every_call;
#[path = "support/parallel.rs"]
mod parallel;
#[path = "support/random_case.rs"]
mod random_case;

use every_call::{Calls, searchers};
use fyke::{Device, Input, Searcher, StreamMatch, registry};
use fyke_core::Family;
use fyke_testkit::conformance::run_program;
use fyke_testkit::foreign::{self, Collection, ForeignCase};
use fyke_testkit::share::Share;
use fyke_testkit::subject::Scope;
use fyke_testkit::{Case, Subject, Suite};
use libtest_mimic::{Failed, Trial};
use std::process::ExitCode;

/// Engines that share the foreign cases here: the default, and one that never refuses a set. The
/// suite `foreign` runs these cases on other engines too.
const FOREIGN_ON: [&str; 2] = ["auto", "ac-nfa"];

/// Random cases per engine.
const RANDOM_CASES: u64 = 300;

/// Of the random cases and of those with matches across boundaries, an engine runs one in this many
/// with each change. The default engine runs all.
const PARTS: usize = 4;

/// Bytes of the longest pattern that a set takes.
const MAX_PATTERN: usize = 65_535;

fn main() -> ExitCode {
    let suite: &'static Suite =
        Box::leak(Box::new(Suite::new(registry::engines(), parallel::parallel)));
    let collections: &'static [Collection] = match foreign::carried() {
        Ok(collections) => Box::leak(collections.into_boxed_slice()),
        Err(e) => {
            eprintln!("{e}");
            return ExitCode::FAILURE;
        }
    };
    let mut trials = Vec::new();
    for subject in suite.subjects().into_iter().filter(is_tested) {
        let label = subject.label();
        let share = Share::of(suite, subject, PARTS);
        if let Some(place) = FOREIGN_ON.iter().position(|on| *on == label) {
            let share = Share::new(place, FOREIGN_ON.len());
            let trial = |c: &'static Collection| {
                let run = move || foreign_suite(suite, subject, c, share);
                Trial::test(format!("{label}/foreign/{}", c.name), run)
            };
            trials.extend(collections.iter().map(trial));
        }
        trials.push(Trial::test(format!("{label}/random"), move || random(suite, subject, share)));
        // The calls do not differ between engines, and the naive one is slow.
        if subject.engine.info().family != Family::Oracle {
            let run = move || boundaries(suite, subject, share);
            trials.push(Trial::test(format!("{label}/boundaries"), run));
        }
    }
    run_program(suite, trials, Scope::Chosen)
}

/// The calls are the same for every form of an engine, and a GPU takes tens of microseconds a call.
fn is_tested(subject: &Subject) -> bool {
    subject.params.is_empty() && subject.engine.info().device == Device::Cpu
}

/// The searchers for a case, or none if the engine refuses the set, which is counted.
fn accepted(
    suite: &Suite,
    subject: Subject,
    case: &Case,
    threads: usize,
) -> Result<Vec<Searcher>, Failed> {
    match suite.compile(&subject, &case.set)? {
        Some(_) => searchers(&subject.label(), case, threads).map_err(|e| e.to_string().into()),
        None => Ok(Vec::new()),
    }
}

fn foreign_suite(
    suite: &Suite,
    subject: Subject,
    c: &Collection,
    share: Share,
) -> Result<(), Failed> {
    let label = subject.label();
    for (reason, n) in &c.left_out {
        suite.tally.skipped_many(&label, reason, *n);
    }
    let mut number = 0;
    for group in c.share(share, suite, &label) {
        let searchers = accepted(suite, subject, &group[0].case, 1)?;
        for case in group {
            number += 1;
            if searchers.is_empty() {
                continue;
            }
            for (i, searcher) in searchers.iter().enumerate() {
                stated(searcher, case).map_err(|e| format!("{}: {e}", case.name))?;
                if has_semantics(searcher, case) || i == number % searchers.len() {
                    let mut calls = Calls::new(searcher, &case.case, number as u64);
                    calls.all().map_err(|e| format!("{}: {e}", case.name))?;
                }
            }
            suite.tally.checked_in(&label, &c.name);
        }
    }
    Ok(())
}

/// Whether a call of the searcher has the semantics that a foreign case is about. Through all calls
/// of such a searcher the case runs, and of one other.
fn has_semantics(searcher: &Searcher, case: &ForeignCase) -> bool {
    let semantics = case.semantics();
    searcher.match_kind().semantics() == semantics
        || searcher.semantics() == semantics && !case.is_anchored()
}

/// The calls that a foreign case is about, if this searcher has the semantics of the case.
fn stated(searcher: &Searcher, foreign: &ForeignCase) -> Result<(), String> {
    let (case, semantics) = (&foreign.case, foreign.semantics());
    let expected = foreign.expected();
    if searcher.match_kind().semantics() == semantics {
        let input = Input::new(&case.haystack).anchored(foreign.is_anchored());
        let found: Vec<_> = searcher.find_iter(input.clone()).collect();
        let spans = |m: &StreamMatch| (m.pattern, m.start as usize..m.end as usize);
        let got: Vec<_> = found.iter().map(|m| (m.pattern, m.range())).collect();
        let wanted: Vec<_> = expected.iter().map(spans).collect();
        if got != wanted {
            return Err(format!("find_iter: {got:?} instead of {wanted:?} in {case:?}"));
        }
        if searcher.is_match(input) == wanted.is_empty() {
            return Err(format!("is_match is wrong in {case:?}"));
        }
    }
    let counted = searcher.count(&case.haystack);
    let all = case.under(searcher.semantics()).len() as u64;
    if counted != all {
        return Err(format!("count: {counted} instead of {all} in {case:?}"));
    }
    Ok(())
}

fn random(suite: &Suite, subject: Subject, share: Share) -> Result<(), Failed> {
    for seed in (0..RANDOM_CASES).filter(|&seed| runs(suite, subject, share, seed)) {
        every_searcher(suite, subject, &random_case::case(seed), 1, seed)?;
    }
    Ok(())
}

/// Whether a case is in the engine's share. What is left out is counted.
fn runs(suite: &Suite, subject: Subject, share: Share, case: u64) -> bool {
    let has = share.has(case as usize);
    if !has {
        let why = "cases not in the engine's share; FYKE_SHARE=all runs them";
        suite.tally.skipped(&subject.label(), why);
    }
    has
}

fn every_searcher(
    suite: &Suite,
    subject: Subject,
    case: &Case,
    threads: usize,
    seed: u64,
) -> Result<(), Failed> {
    for searcher in accepted(suite, subject, case, threads)? {
        let mut calls = Calls::new(&searcher, case, seed);
        calls.all().map_err(|e| format!("seed {seed}: {e}"))?;
        suite.tally.checked_in(&subject.label(), "searchers with random or long cases");
    }
    Ok(())
}

fn boundaries(suite: &Suite, subject: Subject, share: Share) -> Result<(), Failed> {
    let runs = |case| runs(suite, subject, share, case);
    let mut next = 0;
    for case in boundaries::cases() {
        if runs(next) {
            every_searcher(suite, subject, &case, 1, next)?;
        }
        next += 1;
    }
    if runs(next) {
        every_searcher(suite, subject, &boundaries::long(40), 1, 0)?;
    }
    if runs(next + 1) {
        every_searcher(suite, subject, &boundaries::long(MAX_PATTERN), 3, 1)?;
    }
    Ok(())
}
