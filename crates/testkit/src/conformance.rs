//! The conformance program: every vector, in many ways, on every variant of every engine.
//!
//! One test is one file of vectors on one variant, such as `ac-dfa:form=dense/boundaries`, which
//! keeps the list readable. A failure names the vector and the way. `FYKE_VECTOR=ushers` limits
//! all tests to the vectors whose names contain `ushers`.
//!
//! Every variant scans every vector's haystack as one block. Of the other ways, and of the cases
//! derived from the vector, it runs its [share].

use crate::audit::same;
use crate::case::Case;
use crate::expand::{BRIEF_WAYS, Run, WAYS, Way};
use crate::share::{self, Share};
pub use crate::subject::Scope;
use crate::subject::{Subject, Suite};
use crate::vectors::{self, File, Vector};
use fyke_core::oracle;
use fyke_core::sink::{FNV_BASIS, fnv1a};
use libtest_mimic::{Arguments, Failed, Trial};
use std::process::ExitCode;

/// The environment variable with a part of a vector's name. Only vectors with that part run.
pub const VECTOR: &str = "FYKE_VECTOR";
/// Failures shown per test.
const SHOWN: usize = 5;
/// The way in which every vector runs.
const ALWAYS: &str = "whole";
/// The cases derived from a vector, by what a failure says of them.
const DERIVED: [(&str, Derive); 2] = [("nocase: ", Case::folded), ("doubled: ", Case::doubled)];
/// Makes a case from a vector's.
type Derive = fn(&Case) -> Case;

/// Runs the conformance tests of a registry: the `main` of a test program without harness.
pub fn main(suite: Suite) -> ExitCode {
    let suite: &'static Suite = Box::leak(Box::new(suite));
    match vectors::load(&vectors::folder()) {
        Ok(files) => run_program(suite, trials(suite, narrowed(files)), Scope::Everything),
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}

/// Runs trials as `cargo test` does, then prints what was checked, refused and skipped.
pub fn run_program(suite: &'static Suite, mut trials: Vec<Trial>, scope: Scope) -> ExitCode {
    let args = Arguments::from_args();
    trials.extend(required(suite));
    let conclusion = libtest_mimic::run(&args, trials);
    if args.list {
        return ExitCode::SUCCESS;
    }
    println!("{}", suite.tally);
    let is_unfiltered = args.filter.is_none() && args.skip.is_empty() && !is_narrowed();
    let unchecked =
        if is_unfiltered && scope == Scope::Everything { suite.unchecked() } else { Vec::new() };
    for name in &unchecked {
        eprintln!("{name} is required, but no test checked it");
    }
    if unchecked.is_empty() { conclusion.exit_code() } else { ExitCode::FAILURE }
}

/// A test that fails if a required engine is missing.
fn required(suite: &'static Suite) -> Option<Trial> {
    let fail = |problems: Vec<String>| {
        if problems.is_empty() { Ok(()) } else { Err(Failed::from(problems.join("\n"))) }
    };
    Some(Trial::test("required", move || fail(suite.unmet())))
}

/// Whether [`VECTOR`] limits the vectors.
fn is_narrowed() -> bool {
    std::env::var_os(VECTOR).is_some()
}

fn narrowed(mut files: Vec<File>) -> Vec<File> {
    let part = std::env::var(VECTOR).unwrap_or_default();
    files.iter_mut().for_each(|f| f.vectors.retain(|v| v.name.contains(&part)));
    files.retain(|f| !f.vectors.is_empty());
    files
}

fn trials(suite: &'static Suite, files: Vec<File>) -> Vec<Trial> {
    let files: &'static [File] = Box::leak(files.into_boxed_slice());
    let mut trials: Vec<Trial> = files
        .iter()
        .map(|f| {
            Trial::test(format!("vectors/{}", f.stem), || report(f.vectors.iter().map(is_right)))
        })
        .collect();
    trials.push(Trial::test("share", || share::is_complete(suite).map_err(Failed::from)));
    for subject in suite.subjects() {
        trials.extend(files.iter().map(|f| {
            let name = format!("{}/{}", subject.label(), f.stem);
            Trial::test(name, move || {
                let share = share_of(suite, subject);
                let vectors = f.vectors.iter().enumerate();
                report(
                    vectors.flat_map(|(i, v)| check(suite, subject, v, |way| share.has(i + way))),
                )
            })
        }));
    }
    trials
}

/// Collects failures and shows the first few.
pub(crate) fn report(results: impl Iterator<Item = Result<(), String>>) -> Result<(), Failed> {
    let failures: Vec<String> = results.filter_map(Result::err).collect();
    match failures.len() {
        0 => Ok(()),
        n => Err(format!("{n} failures\n{}", failures[..n.min(SHOWN)].join("\n")).into()),
    }
}

/// Whether a vector states what the naive search and the oracle find.
fn is_right(vector: &Vector) -> Result<(), String> {
    let named = |what: &str, e: String| format!("vector {:?}, {what}: {e}", vector.name);
    let case = &vector.case;
    for (semantics, stated) in &vector.stated {
        same(stated, &case.under(*semantics)).map_err(|e| named(semantics.name(), e))?;
    }
    match vector.count {
        Some(n) if n != case.expected.len() as u64 => {
            return Err(named(
                "count",
                format!("{n} is stated, the naive search finds {}", case.expected.len()),
            ));
        }
        _ => {}
    }
    let oracle = oracle::find_all(&case.set, &case.haystack);
    same(&case.expected, &oracle).map_err(|e| named("oracle", e))
}

/// All of a vector that is chosen by name, and the variant's share of others.
fn share_of(suite: &Suite, subject: Subject) -> Share {
    if is_narrowed() {
        Share::everything()
    } else {
        Share::of(suite, subject, share::parts_for(subject))
    }
}

/// Runs the variant's share of all ways on the vector, and of a few ways on the cases derived from
/// it. `has` says whether a way or a derived case belongs to it, by its number.
fn check(
    suite: &Suite,
    subject: Subject,
    vector: &Vector,
    has: impl Fn(usize) -> bool,
) -> Vec<Result<(), String>> {
    let seed = fnv1a(vector.name.as_bytes(), FNV_BASIS);
    let check = |case: &Case, ways: &[(&str, Way)], what: &'static str| {
        let results = check_case(suite, subject, case, ways, seed).into_iter();
        results.map(move |r| r.map_err(|e| format!("vector {:?}, {what}{e}", vector.name)))
    };
    let ways = WAYS.iter().enumerate().filter(|(i, (way, _))| *way == ALWAYS || has(*i));
    let ways: Vec<_> = ways.map(|(_, way)| *way).collect();
    let derived = (WAYS.len()..).zip(DERIVED).filter(|(i, _)| has(*i));
    let derived: Vec<_> = derived.map(|(_, derived)| derived).collect();
    let left_out = WAYS.len() - ways.len() + DERIVED.len() - derived.len();
    if left_out > 0 {
        let why = "ways and derived cases of vectors; FYKE_SHARE=all runs them";
        suite.tally.skipped_many(&subject.label(), why, left_out as u64);
    }
    let mut results: Vec<_> = check(&vector.case, &ways, "").collect();
    for (what, derive) in derived {
        results.extend(check(&derive(&vector.case), BRIEF_WAYS, what));
    }
    results
}

/// Compiles a case and runs it in the given ways. Each failure names its way.
pub fn check_case(
    suite: &Suite,
    subject: Subject,
    case: &Case,
    ways: &[(&str, Way)],
    seed: u64,
) -> Vec<Result<(), String>> {
    let label = subject.label();
    let matcher = match suite.compile(&subject, &case.set) {
        Ok(Some(matcher)) => matcher,
        Ok(None) => return Vec::new(),
        Err(e) => return vec![Err(e)],
    };
    let skipped = |why: &str| suite.tally.skipped(&label, why);
    let run = Run { matcher, case, parallel: suite.parallel, seed, skipped: &skipped };
    let one = |(name, way): &(&str, Way)| {
        suite.tally.checked(&label);
        way(&run).map_err(|e| format!("{name}: {e}"))
    };
    ways.iter().map(one).collect()
}
