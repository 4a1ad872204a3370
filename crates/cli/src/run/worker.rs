//! One thread of a scan: scans inputs one after the other, prints their results and adds them up.

use super::failure::Failure;
use super::inputs::Input;
use super::job::{Job, Mode};
use super::output::Output;
use super::progress::Progress;
use super::scanner::Scanner;
use super::totals::Totals;
use super::turns::Place;
use fyke_io::container::BoxRead;
use std::path::Path;

/// Scans inputs, and keeps its buffers from one to the next.
pub(super) struct Worker<'a> {
    job: &'a Job<'a>,
    output: Output,
    scanner: Scanner<'a>,
    totals: Totals,
}

impl<'a> Worker<'a> {
    /// A worker; with a place if it is one of several.
    pub(super) fn new(
        job: &'a Job<'a>,
        output: Output,
        progress: &'a Progress,
        place: Option<Place>,
    ) -> Self {
        let scanner = Scanner::new(job, output.clone(), progress, place);
        Self { job, output, scanner, totals: Totals::default() }
    }

    /// Scans an input and prints its results. The failure of an input is counted and returned.
    pub(super) fn scan(&mut self, input: Result<Input, Failure>) -> Result<(), Failure> {
        let done = input.and_then(|input| {
            let scanned = self.scanner.scan(&input);
            self.end(input.name(), scanned)
        });
        self.count_error(done)
    }

    /// As [`scan`](Self::scan), for a reader whose bytes have to be waited for.
    pub(super) fn scan_live(&mut self, name: &Path, reader: BoxRead) -> Result<(), Failure> {
        let scanned = self.scanner.scan_live(name, reader);
        let done = self.end(name, scanned);
        self.count_error(done)
    }

    fn count_error(&mut self, done: Result<(), Failure>) -> Result<(), Failure> {
        self.totals.errors += u64::from(done.as_ref().is_err_and(Failure::is_of_input));
        done
    }

    /// Begins an output that goes between those of other threads. Outputs are separated like files.
    pub(super) fn restart_output(&mut self) {
        self.scanner.restart_output();
    }

    /// Whether there is a match and one match is enough.
    pub(super) fn has_enough(&self) -> bool {
        self.job.first_ends_scan() && self.totals.matches > 0
    }

    /// Bytes of the last input.
    pub(super) fn last_bytes(&self) -> u64 {
        self.scanner.totals().bytes
    }

    /// The totals of all inputs.
    pub(super) fn into_totals(mut self) -> Totals {
        if let Some(fingerprint) = self.scanner.fingerprint() {
            self.totals.add_fingerprint(fingerprint);
        }
        self.totals
    }

    /// Adds up an input that was scanned, and prints its results.
    fn end(&mut self, name: &Path, scanned: Result<(), Failure>) -> Result<(), Failure> {
        let of_input = self.scanner.totals();
        self.totals.add(of_input);
        let partly = scanned.as_ref().is_err_and(Failure::is_of_input) && of_input.bytes > 0;
        if scanned.is_ok() || partly {
            self.print_result(name, of_input.matches)?;
        }
        scanned.map_err(|f| f.of(name))
    }

    /// Prints what is printed once for each input, also for one that could be read only in part.
    fn print_result(&self, name: &Path, matches: u64) -> Result<(), Failure> {
        match self.job.mode {
            Mode::Count => self.scanner.print_count(matches),
            Mode::Files if matches > 0 => self.output.path(name, &self.job.text),
            Mode::FilesWithout if matches == 0 => self.output.path(name, &self.job.text),
            _ => Ok(()),
        }
    }
}
