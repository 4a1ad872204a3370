//! Gives the matches that the semantics select to a printer.

use super::failure::Failure;
use super::interrupt;
use super::job::{Job, Mode};
use super::output::Output;
use fyke::{Batch, Fingerprint, Sink, StreamMatch};
use fyke_io::sink::json::JsonPrinter;
use fyke_io::sink::{TextPrinter, Window};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

/// Reports the matches of one input after the other.
pub(crate) struct Reporter<'r> {
    printer: Printer<'r>,
    output: Output,
    fingerprint: Option<Fingerprint>,
    /// Matches of the current input, or lines with `--lines`.
    matches: u64,
    failure: Option<Failure>,
}

enum Printer<'r> {
    Text(TextPrinter<'r>),
    Json(JsonPrinter<'r>),
    /// Prints the number of matches.
    Count(TextPrinter<'r>),
    /// Prints the number of matching lines.
    CountLines(TextPrinter<'r>),
    /// Prints nothing.
    None,
}

impl<'r> Reporter<'r> {
    pub(crate) fn new(job: &Job<'r>, output: &Output) -> Self {
        let text = || TextPrinter::new(job.text.clone(), job.rules);
        let printer = match job.mode {
            Mode::Text => Printer::Text(text()),
            Mode::Json => Printer::Json(JsonPrinter::new(job.rules, job.text.line)),
            Mode::Count if job.lines => Printer::CountLines(text()),
            Mode::Count => Printer::Count(text()),
            _ => Printer::None,
        };
        let fingerprint = job.stats.then(Fingerprint::default);
        let output = output.clone();
        Self { printer, output, fingerprint, matches: 0, failure: None }
    }

    /// Begins an input.
    pub(crate) fn begin(&mut self, path: &Path) {
        self.matches = 0;
        match &mut self.printer {
            Printer::Text(p) | Printer::Count(p) | Printer::CountLines(p) => p.begin(path),
            Printer::Json(p) => p.begin(path),
            Printer::None => {}
        }
    }

    /// Takes a batch of matches, in order, with the window that shows them.
    pub(crate) fn batch(&mut self, window: &Window<'_>, batch: &Batch<'_>) -> ControlFlow<()> {
        if let Some(fingerprint) = &mut self.fingerprint {
            let _ = fingerprint.on_batch(batch);
        }
        let printed = self.print(window, batch);
        self.check(printed)
    }

    /// Ends a block: the reporter has every match that ends at or before `end`.
    pub(crate) fn end_of_block(&mut self, window: &Window<'_>, end: u64) -> ControlFlow<()> {
        let counted = match &mut self.printer {
            Printer::Text(p) | Printer::CountLines(p) => p.end_of_block(window, end),
            Printer::Json(p) => p.end_of_block(window, end),
            Printer::Count(_) | Printer::None => Ok(()),
        };
        self.check(counted.map_err(Failure::reading))
    }

    /// Ends an input of which `bytes` were scanned, and returns an earlier failure.
    pub(crate) fn end(&mut self, bytes: u64) -> Result<(), Failure> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let Printer::Json(p) = &self.printer else { return Ok(()) };
        let end = |to: &mut Vec<u8>| p.end(to, self.matches, bytes);
        let ended = self.output.lock().try_record(end).map_err(Failure::Output)?;
        ended.map_err(Failure::reading)
    }

    /// Ends an input that cannot be read any further. An earlier failure takes precedence.
    pub(crate) fn end_at_error(&mut self, error: io::Error) -> Failure {
        self.failure.take().unwrap_or(Failure::reading(error))
    }

    /// Prints the count of the current input.
    pub(crate) fn print_count(&self, count: u64) -> Result<(), Failure> {
        let (Printer::Count(p) | Printer::CountLines(p)) = &self.printer else {
            return Ok(());
        };
        self.output.lock().record(|to| p.print_count(to, count)).map_err(Failure::Output)
    }

    /// Matches of the current input so far, or lines with `--lines`.
    pub(crate) fn matches(&self) -> u64 {
        self.matches
    }

    /// Whether the scan of the current input was stopped by a failure.
    pub(crate) fn failed(&self) -> bool {
        self.failure.is_some()
    }

    pub(crate) fn fingerprint(&self) -> Option<&Fingerprint> {
        self.fingerprint.as_ref()
    }
}

impl Reporter<'_> {
    fn print(&mut self, window: &Window<'_>, batch: &Batch<'_>) -> Result<(), Failure> {
        if interrupt::requested() {
            return Err(Failure::Interrupted);
        }
        if matches!(self.printer, Printer::None | Printer::Count(_)) {
            self.matches += batch.count();
            return Ok(());
        }
        if let Printer::CountLines(p) = &mut self.printer {
            self.matches += p.new_lines(window, batch).map_err(Failure::reading)?;
            return Ok(());
        }
        let (printer, matches) = (&mut self.printer, &mut self.matches);
        let mut writer = self.output.lock();
        for m in batch.matches() {
            let printed =
                writer.try_record(|to| printer.print(to, window, m)).map_err(Failure::Output)?;
            *matches += u64::from(printed.map_err(Failure::reading)?);
        }
        Ok(())
    }

    /// Stores a failure until the end of the input, and stops the scan.
    fn check(&mut self, result: Result<(), Failure>) -> ControlFlow<()> {
        let Err(failure) = result else { return ControlFlow::Continue(()) };
        self.failure.get_or_insert(failure);
        ControlFlow::Break(())
    }
}

impl Printer<'_> {
    /// Prints a match. False if its line was already printed and lines are what is printed.
    fn print(&mut self, to: &mut Vec<u8>, window: &Window<'_>, m: StreamMatch) -> io::Result<bool> {
        match self {
            Printer::Text(p) => p.print(to, window, m),
            Printer::Json(p) => p.print(to, window, m).map(|()| true),
            Printer::Count(_) | Printer::CountLines(_) | Printer::None => Ok(true),
        }
    }
}
