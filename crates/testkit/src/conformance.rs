//! The conformance program: every vector, in every way, on every variant of every engine.
//!
//! One test is one file of vectors on one variant, such as `ac-dfa:form=dense/boundaries`, which
//! keeps the list readable. A failure names the vector and the way. `FYKE_VECTOR=ushers` limits
//! all tests to the vectors whose names contain `ushers`.

use crate::audit::same;
use crate::case::Case;
use crate::expand::{BRIEF_WAYS, Run, WAYS, Way};
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
    let is_whole =
        args.filter.is_none() && args.skip.is_empty() && std::env::var_os(VECTOR).is_none();
    let unchecked =
        if is_whole && scope == Scope::Everything { suite.unchecked() } else { Vec::new() };
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
    for subject in suite.subjects() {
        trials.extend(files.iter().map(|f| {
            let name = format!("{}/{}", subject.label(), f.stem);
            Trial::test(name, move || {
                report(f.vectors.iter().flat_map(|v| check(suite, subject, v)))
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

/// All ways for the vector itself, a few ways for the cases derived from it.
fn check(suite: &Suite, subject: Subject, vector: &Vector) -> Vec<Result<(), String>> {
    let at = |what: &'static str| {
        move |r: Result<(), String>| r.map_err(|e| format!("vector {:?}, {what}{e}", vector.name))
    };
    let seed = fnv1a(vector.name.as_bytes(), FNV_BASIS);
    let mut results = Vec::new();
    results.extend(check_case(suite, subject, &vector.case, WAYS, seed).into_iter().map(at("")));
    results.extend(
        check_case(suite, subject, &vector.case.folded(), BRIEF_WAYS, seed)
            .into_iter()
            .map(at("nocase: ")),
    );
    results.extend(
        check_case(suite, subject, &vector.case.doubled(), BRIEF_WAYS, seed)
            .into_iter()
            .map(at("doubled: ")),
    );
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
