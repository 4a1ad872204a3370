//! Properties: generated sets and haystacks, in which every engine must find what the naive search
//! finds.
//!
//! Proptest shrinks a failure and prints it as a vector, to be pasted into `vectors/` with the
//! fix. `PROPTEST_CASES=100000` runs longer, and `FYKE_SHARE=all` runs proptest's own number.

use crate::audit::{Audit, same};
use crate::case::Case;
use crate::conformance::{Scope, check_case, run_program};
use crate::expand::WAYS;
use crate::share;
use crate::strategies::{case, chunking, cut};
use crate::subject::{Subject, Suite};
use fyke_core::{Matcher, Semantics, Stream, oracle};
use libtest_mimic::Trial;
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use std::process::ExitCode;
use std::sync::Arc;

/// Proptest's variable with the number of cases.
const CASES: &str = "PROPTEST_CASES";
/// Pieces of a haystack for tests that run many ways, and for tests that run few.
const SHORT: usize = 12;
const LONG: usize = 120;
/// Of proptest's own number of cases, one in this many runs with each change.
const CASES_PARTS: u32 = 4;
/// An engine's first variant runs all cases; each other variant runs one in this many.
const VARIANT_PARTS: u32 = 4;
/// Time limit for shrinking a failing case, in milliseconds.
const SHRINK_MS: u32 = 10_000;

/// Runs the property tests of a registry: the `main` of a test program without harness.
pub fn main(suite: Suite) -> ExitCode {
    let suite: &'static Suite = Box::leak(Box::new(suite));
    let all = ProptestConfig::default().cases;
    let oracle = move || run(all, case(LONG), |c| oracle_is_right(&c));
    let mut trials = vec![Trial::test("oracle", oracle)];
    for subject in suite.subjects() {
        let label = subject.label();
        let parts = if subject.is_first_variant() { 1 } else { VARIANT_PARTS };
        let cases = cases().div_ceil(parts);
        let left_out = all.div_ceil(parts) - cases;
        if left_out > 0 {
            let why = "generated cases; FYKE_SHARE=all runs them";
            suite.tally.skipped_many(&label, why, 2 * u64::from(left_out));
        }
        trials.push(Trial::test(format!("{label}/ways"), move || {
            run(cases, case(SHORT), |c| all_ways(suite, subject, &c))
        }));
        trials.push(Trial::test(format!("{label}/streams"), move || {
            run(cases, (case(LONG), chunking(), any::<u64>()), |(c, sizes, saves)| {
                stream_equals(suite, subject, &c, &sizes, saves)
            })
        }));
    }
    run_program(suite, trials, Scope::Everything)
}

/// The number of cases for an engine's first variant.
fn cases() -> u32 {
    let all = ProptestConfig::default().cases;
    let is_asked = share::is_whole() || std::env::var_os(CASES).is_some();
    if is_asked { all } else { all.div_ceil(CASES_PARTS) }
}

/// Checks a property in this number of cases.
fn run<S: Strategy>(
    cases: u32,
    strategy: S,
    property: impl Fn(S::Value) -> Result<(), String>,
) -> Result<(), libtest_mimic::Failed> {
    let config = ProptestConfig {
        cases,
        failure_persistence: None,
        max_shrink_time: SHRINK_MS,
        ..ProptestConfig::default()
    };
    let test = |value| property(value).map_err(TestCaseError::fail);
    TestRunner::new(config).run(&strategy, test).map_err(|e| e.to_string().into())
}

/// The two definitions of the correct result agree.
fn oracle_is_right(case: &Case) -> Result<(), String> {
    same(&case.expected, &oracle::find_all(&case.set, &case.haystack))
}

/// Every way of `expand`, for generated cases.
fn all_ways(suite: &Suite, subject: Subject, case: &Case) -> Result<(), String> {
    let seed = case.set.digest();
    check_case(suite, subject, case, WAYS, seed).into_iter().collect()
}

/// A stream under all semantics, with chunks of any sizes, saved and restored where a bit of
/// `saves` is set. Restores alternate between the oracle's engine and this one, because a state is
/// independent of the engine.
fn stream_equals(
    suite: &Suite,
    subject: Subject,
    case: &Case,
    sizes: &[usize],
    saves: u64,
) -> Result<(), String> {
    let Some(matcher) = suite.compile(&subject, &case.set)? else { return Ok(()) };
    let Some(other) = suite.compile(&suite.oracle(), &case.set)? else { return Ok(()) };
    let chunks = cut(&case.haystack, sizes);
    for semantics in
        [Semantics::All, Semantics::Once, Semantics::LeftmostFirst, Semantics::LeftmostLongest]
    {
        suite.tally.checked(&subject.label());
        let mut audit = Audit::of_haystack(&case.set, case.haystack.len());
        feed(&[&matcher, &other], semantics, &chunks, saves, &mut audit)?;
        let result = audit.finish_ordered(&case.under(semantics));
        result.map_err(|e| format!("{semantics}, chunks of {sizes:?}, saves {saves:#x}: {e}"))?;
    }
    Ok(())
}

fn feed(
    matchers: &[&Arc<dyn Matcher>; 2],
    semantics: Semantics,
    chunks: &[&[u8]],
    saves: u64,
    audit: &mut Audit<'_>,
) -> Result<(), String> {
    let mut stream = Stream::new(matchers[0].clone(), semantics);
    for (i, chunk) in chunks.iter().enumerate() {
        if stream.feed(chunk, audit).is_break() {
            return Ok(());
        }
        if saves >> (i % 64) & 1 == 1 {
            let next = matchers[(i + 1) % 2].clone();
            stream = Stream::restore(next, semantics, &stream.save()).map_err(|e| e.to_string())?;
        }
    }
    let _ = stream.finish(audit);
    Ok(())
}
