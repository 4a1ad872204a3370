//! A scan: its inputs one after the other, each as a file or as a stream.

pub(crate) mod inputs;
pub(crate) mod interrupt;
pub(crate) mod job;
pub(crate) mod output;

mod failure;
mod progress;
mod reporter;
mod scanner;
mod totals;
mod unordered;

use crate::outcome::Outcome;
use failure::Failure;
use fyke::Part;
use fyke_io::sink::json;
use fyke_io::source::walk;
use inputs::Input;
use job::{Job, Mode};
use output::Output;
use progress::Progress;
use scanner::Scanner;
use std::path::PathBuf;
use totals::{InputTotals, Totals};

/// Scans all inputs and prints the results.
pub(crate) fn run(
    job: &Job<'_>,
    paths: &[PathBuf],
    walk: walk::Options,
    output: Output,
) -> anyhow::Result<Outcome> {
    let progress = Progress::new(job, paths);
    let mut totals = Totals::start();
    let mut scanner = Scanner::new(job, &output, &progress);
    for input in inputs::expand(paths, walk, job.decompress) {
        let result =
            input.and_then(|input| scan_one(job, &mut scanner, &mut totals, &input, &output));
        match result {
            Ok(()) => {}
            Err(failure) if failure.is_of_input() => {
                totals.errors += 1;
                progress.suspend(|| eprintln!("fyke: {failure}"));
            }
            Err(Failure::Interrupted) => return interrupt::end(&output),
            Err(failure) => {
                progress.finish();
                return Err(failure.into());
            }
        }
        if job.mode == Mode::Quiet && job.first_is_enough() && totals.matches > 0 {
            return Ok(Outcome::Match);
        }
    }
    finish(job, &scanner, &totals, &output, &progress)
}

fn scan_one(
    job: &Job<'_>,
    scanner: &mut Scanner<'_>,
    totals: &mut Totals,
    input: &Input,
    output: &Output,
) -> Result<(), Failure> {
    output.refuse_as_input(input)?;
    totals.files += 1;
    let scanned = scanner.scan(input);
    let of_input = scanner.totals();
    totals.add(of_input);
    let partly = scanned.as_ref().is_err_and(Failure::is_of_input) && of_input.bytes > 0;
    if scanned.is_ok() || partly {
        print_result(job, scanner, of_input, input, output)?;
    }
    scanned.map_err(|f| f.of(input.name()))
}

/// Prints what is printed once for each input, also for one that could be read only in part.
fn print_result(
    job: &Job<'_>,
    scanner: &Scanner<'_>,
    of_input: InputTotals,
    input: &Input,
    output: &Output,
) -> Result<(), Failure> {
    match job.mode {
        Mode::Count => scanner.print_count(of_input.matches),
        Mode::Files if of_input.matches > 0 => output.path(input.name(), job.text.colors),
        _ => Ok(()),
    }
}

fn finish(
    job: &Job<'_>,
    scanner: &Scanner<'_>,
    totals: &Totals,
    output: &Output,
    progress: &Progress,
) -> anyhow::Result<Outcome> {
    let parts = job.matcher.parts();
    if job.mode == Mode::Json {
        let summary = totals.summary(&Part::names(&parts));
        output
            .lock()
            .try_record(|to| json::push_summary(to, &summary))
            .map_err(Failure::Output)??;
    }
    progress.finish();
    output.flush()?;
    if job.stats {
        totals.print(&parts, scanner.fingerprint())?;
    }
    Ok(match totals {
        Totals { errors: 1.., .. } => Outcome::Error,
        Totals { matches: 1.., .. } => Outcome::Match,
        _ => Outcome::NoMatch,
    })
}
