//! Matches one by one and in order, on their way through the semantics to a printer.

use super::failure::Failure;
use super::interrupt;
use super::output::Output;
use super::{Job, Mode};
use fyke::{Batch, Filter, Fingerprint, Match, Semantics, Sink};
use fyke_io::sink::json::JsonPrinter;
use fyke_io::sink::{TextPrinter, Window};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

/// Reports the matches of one input after the other.
pub(crate) struct Reporter<'r> {
    filter: Filter,
    semantics: Semantics,
    show: Show<'r>,
}

/// What happens to the matches that the semantics let through.
struct Show<'r> {
    printer: Printer<'r>,
    output: Output,
    fingerprint: Option<Fingerprint>,
    /// Records printed of this input: matches or lines.
    units: u64,
    failure: Option<Failure>,
}

enum Printer<'r> {
    Text(TextPrinter<'r>),
    Json(JsonPrinter<'r>),
    /// Matches are counted, and the count is printed.
    Count(TextPrinter<'r>),
    /// Lines are counted, and the count is printed.
    CountLines(TextPrinter<'r>),
    /// Nothing is printed.
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
        let show = Show { printer, output: output.clone(), fingerprint, units: 0, failure: None };
        let filter = Filter::new(job.semantics, job.matcher.set());
        Self { filter, semantics: job.semantics, show }
    }

    /// Begins an input.
    pub(crate) fn begin(&mut self, path: &Path, set: &fyke::PatternSet) {
        self.filter = Filter::new(self.semantics, set);
        self.show.units = 0;
        match &mut self.show.printer {
            Printer::Text(p) | Printer::Count(p) | Printer::CountLines(p) => p.begin(path),
            Printer::Json(p) => p.begin(path),
            Printer::None => {}
        }
    }

    /// Takes matches, in order.
    pub(crate) fn batch(&mut self, window: &Window<'_>, batch: &Batch<'_>) -> ControlFlow<()> {
        self.filter.apply(batch, &mut Showing { show: &mut self.show, window })
    }

    /// Ends a block: every match that ends up to `end` was given.
    pub(crate) fn end_of_block(&mut self, window: &Window<'_>, end: u64) -> ControlFlow<()> {
        self.filter.advance(end, &mut Showing { show: &mut self.show, window })?;
        let counted = match &mut self.show.printer {
            Printer::Text(p) | Printer::CountLines(p) => p.end_of_block(window, end),
            Printer::Json(p) => p.end_of_block(window, end),
            Printer::Count(_) | Printer::None => Ok(()),
        };
        self.show.check(counted.map_err(Failure::reading))
    }

    /// Ends an input, of which `bytes` were scanned. What failed before comes out here.
    pub(crate) fn end(&mut self, window: &Window<'_>, bytes: u64) -> Result<(), Failure> {
        if self.show.failure.is_none() {
            let _ = self.filter.finish(&mut Showing { show: &mut self.show, window });
        }
        if let Some(failure) = self.show.failure.take() {
            return Err(failure);
        }
        let Printer::Json(p) = &self.show.printer else { return Ok(()) };
        let end = |to: &mut Vec<u8>| p.end(to, self.show.units, bytes);
        let ended = self.show.output.lock().try_record(end).map_err(Failure::Output)?;
        ended.map_err(Failure::reading)
    }

    /// The input could not be read on: why, or what failed before that.
    pub(crate) fn end_at_error(&mut self, error: io::Error) -> Failure {
        self.show.failure.take().unwrap_or(Failure::reading(error))
    }

    /// Prints how many there are in the input at hand.
    pub(crate) fn print_count(&self, count: u64) -> Result<(), Failure> {
        let (Printer::Count(p) | Printer::CountLines(p)) = &self.show.printer else {
            return Ok(());
        };
        self.show.output.lock().record(|to| p.print_count(to, count)).map_err(Failure::Output)
    }

    /// Matches or lines of this input so far.
    pub(crate) fn units(&self) -> u64 {
        self.show.units
    }

    pub(crate) fn fingerprint(&self) -> Option<&Fingerprint> {
        self.show.fingerprint.as_ref()
    }
}

/// A sink while a window is open.
struct Showing<'a, 'r, 'w> {
    show: &'a mut Show<'r>,
    window: &'a Window<'w>,
}

impl Sink for Showing<'_, '_, '_> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        if let Some(fingerprint) = &mut self.show.fingerprint {
            let _ = fingerprint.on_batch(batch);
        }
        let shown = self.show.batch(self.window, batch);
        self.show.check(shown)
    }
}

impl Show<'_> {
    fn batch(&mut self, window: &Window<'_>, batch: &Batch<'_>) -> Result<(), Failure> {
        if interrupt::requested() {
            return Err(Failure::Interrupted);
        }
        if matches!(self.printer, Printer::None | Printer::Count(_)) {
            self.units += batch.count();
            return Ok(());
        }
        if let Printer::CountLines(p) = &mut self.printer {
            self.units += p.new_lines(window, batch).map_err(Failure::reading)?;
            return Ok(());
        }
        let (printer, units) = (&mut self.printer, &mut self.units);
        let mut writer = self.output.lock();
        for m in batch.matches() {
            let printed =
                writer.try_record(|to| printer.print(to, window, m)).map_err(Failure::Output)?;
            *units += u64::from(printed.map_err(Failure::reading)?);
        }
        Ok(())
    }

    /// Keeps a failure for the end of the input, and stops the scan.
    fn check(&mut self, result: Result<(), Failure>) -> ControlFlow<()> {
        let Err(failure) = result else { return ControlFlow::Continue(()) };
        self.failure.get_or_insert(failure);
        ControlFlow::Break(())
    }
}

impl Printer<'_> {
    /// Prints a match; whether it counts as a record of its own.
    fn print(&mut self, to: &mut Vec<u8>, window: &Window<'_>, m: Match) -> io::Result<bool> {
        match self {
            Printer::Text(p) => p.print(to, window, m),
            Printer::Json(p) => p.print(to, window, m).map(|()| true),
            Printer::Count(_) | Printer::CountLines(_) | Printer::None => Ok(true),
        }
    }
}
