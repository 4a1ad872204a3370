//! One thread of a scan: scans inputs one after the other, prints their results and adds them up.

use super::failure::Failure;
use super::inputs::Input;
use super::job::{Job, Mode};
use super::output::Output;
use super::progress::Progress;
use super::scanner::Scanner;
use super::totals::Totals;
use super::turns::Place;

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
        let done = input.and_then(|input| self.scan_one(&input));
        self.totals.errors += u64::from(done.as_ref().is_err_and(Failure::is_of_input));
        done
    }

    /// Begins what goes between the outputs of other threads: they are separated like files.
    pub(super) fn restart_output(&mut self) {
        self.scanner.restart_output();
    }

    /// Whether there is a match, and one is enough.
    pub(super) fn has_enough(&self) -> bool {
        self.job.first_ends_it() && self.totals.matches > 0
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

    fn scan_one(&mut self, input: &Input) -> Result<(), Failure> {
        let scanned = self.scanner.scan(input);
        let of_input = self.scanner.totals();
        self.totals.add(of_input);
        let partly = scanned.as_ref().is_err_and(Failure::is_of_input) && of_input.bytes > 0;
        if scanned.is_ok() || partly {
            self.print_result(input, of_input.matches)?;
        }
        scanned.map_err(|f| f.of(input.name()))
    }

    /// Prints what is printed once for each input, also for one that could be read only in part.
    fn print_result(&self, input: &Input, matches: u64) -> Result<(), Failure> {
        match self.job.mode {
            Mode::Count => self.scanner.print_count(matches),
            Mode::Files if matches > 0 => self.output.path(input.name(), &self.job.text),
            Mode::FilesWithout if matches == 0 => self.output.path(input.name(), &self.job.text),
            _ => Ok(()),
        }
    }
}
