//! A scan: its inputs one after the other, or on several threads, each as a file or as a stream; or
//! all at once as they grow.

pub(crate) mod inputs;
pub(crate) mod interrupt;
pub(crate) mod job;
pub(crate) mod output;

mod failure;
mod pool;
mod printer;
pub(crate) mod progress;
mod records;
mod reporter;
mod scanner;
mod tail;
mod totals;
mod turns;
mod unordered;
mod worker;

use crate::outcome::Outcome;
use failure::Failure;
use fyke::Part;
use fyke_io::sink::json;
use fyke_io::source::walk;
use inputs::Input;
use job::{Job, Mode};
use output::Output;
use progress::Progress;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use totals::Totals;
use worker::Worker;

/// Output is written at least this often while files are scanned.
const FLUSH_AFTER: Duration = Duration::from_millis(50);

/// Scans all inputs and prints the results.
pub(crate) fn run(
    job: &Job<'_>,
    paths: &[PathBuf],
    walk: walk::Options,
    output: Output,
) -> anyhow::Result<Outcome> {
    let since = Instant::now();
    let progress = Arc::new(Progress::new(job, paths));
    let files = inputs::expand(paths, &walk, job.decompress);
    let alone = job.threads == 1 || inputs::is_one(paths, job.decompress);
    let scanned = match alone {
        _ if job.tail => tail::scan(job, paths, &output, &progress),
        true => scan_alone(job, files, &output, &progress),
        false => pool::scan(job, files, walk.order, &output, &progress),
    };
    match scanned {
        _ if interrupt::requested() => interrupt::end(&output),
        Ok(totals) if job.first_ends_scan() && totals.matches > 0 => Ok(Outcome::Match),
        Ok(totals) => finish(job, &totals, since, &output, &progress),
        Err(failure) => {
            progress.finish();
            Err(failure.into())
        }
    }
}

/// Scans the inputs on this thread; large files are still divided between several.
fn scan_alone(
    job: &Job<'_>,
    files: impl Iterator<Item = Result<Input, Failure>>,
    output: &Output,
    progress: &Progress,
) -> Result<Totals, Failure> {
    let mut worker = Worker::new(job, output.clone(), progress, None);
    let mut flushed = Instant::now();
    for input in files {
        match worker.scan(input) {
            Err(failure) if failure.is_of_input() => progress.report(&failure),
            done => done?,
        }
        if worker.has_enough() {
            break;
        }
        if flushed.elapsed() > FLUSH_AFTER {
            output.flush()?;
            flushed = Instant::now();
        }
    }
    Ok(worker.into_totals())
}

fn finish(
    job: &Job<'_>,
    totals: &Totals,
    since: Instant,
    output: &Output,
    progress: &Progress,
) -> anyhow::Result<Outcome> {
    let parts = job.matcher.parts();
    if job.mode == Mode::Json {
        let summary = totals.summary(&Part::names(&parts), since);
        output
            .lock()
            .try_record(|to| json::push_summary(to, &summary))
            .map_err(Failure::Output)??;
    }
    progress.finish();
    output.flush()?;
    if job.stats {
        totals.print(&parts, since)?;
    }
    Ok(match job.mode {
        _ if totals.errors > 0 => Outcome::Error,
        Mode::FilesWithout if totals.files > totals.files_with_matches => Outcome::Match,
        Mode::FilesWithout => Outcome::NoMatch,
        _ if totals.matches > 0 => Outcome::Match,
        _ => Outcome::NoMatch,
    })
}
