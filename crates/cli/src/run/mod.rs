//! A scan: its inputs one after the other, each as a file or as a stream.

pub(crate) mod inputs;
pub(crate) mod interrupt;
pub(crate) mod job;
pub(crate) mod output;

mod failure;
mod printer;
mod progress;
mod records;
mod reporter;
mod scanner;
mod totals;
mod unordered;

use crate::outcome::Outcome;
use crate::warning;
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
use totals::Totals;

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
    for input in inputs::expand(paths, &walk) {
        let result =
            input.and_then(|input| scan_one(job, &mut scanner, &mut totals, &input, &output));
        match result {
            Ok(()) => {}
            Err(failure) if failure.is_of_input() => {
                totals.errors += 1;
                if job.messages {
                    progress.suspend(|| warning::print(format_args!("{failure}")));
                }
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
    let scanned = scanner.scan(input);
    let of_input = scanner.totals();
    totals.add(of_input);
    scanned.map_err(|f| f.of(input.name()))?;
    totals.files += 1;
    match job.mode {
        Mode::Count => scanner.print_count(of_input.matches),
        Mode::Files if of_input.matches > 0 => output.path(input.name(), &job.text),
        Mode::FilesWithout if of_input.matches == 0 => output.path(input.name(), &job.text),
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
    Ok(match job.mode {
        _ if totals.errors > 0 => Outcome::Error,
        Mode::FilesWithout if totals.files > totals.files_with_matches => Outcome::Match,
        Mode::FilesWithout => Outcome::NoMatch,
        _ if totals.matches > 0 => Outcome::Match,
        _ => Outcome::NoMatch,
    })
}
