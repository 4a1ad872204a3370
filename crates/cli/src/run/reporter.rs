//! Gives the matches that the user wants to a printer.
//!
//! Matches pass through what the job asks for, in this order: what must surround them (`-w`, `-x`,
//! `fullword`), the semantics, `-m`.

use super::failure::Failure;
use super::interrupt;
use super::job::{Job, Mode};
use super::output::Output;
use super::printer::Printer;
use fyke::{Batch, Fingerprint, PatternSet, Semantics, Sink};
use fyke_core::SemanticsFilter;
use fyke_io::sink::{
    Boundaries, BoundaryFilter, FileHits, LineLimit, ScanReport, TextPrinter, Window,
};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Reports the matches of one input after the other.
pub(crate) struct Reporter<'r> {
    bounded: Option<Bounded<'r>>,
    delivery: Delivery<'r>,
    /// Prints the count of each input, if that is wanted.
    counts: Option<TextPrinter<'r>>,
}

/// Selects matches by what surrounds them, and then by the semantics: a match without the boundary
/// must not hide one that has it.
struct Bounded<'r> {
    boundaries: &'r Boundaries,
    boundary: BoundaryFilter<'r>,
    semantics: Semantics,
    filter: SemanticsFilter,
    set: &'r PatternSet,
}

/// Takes the matches that were selected.
struct Delivery<'r> {
    limit: Option<LineLimit>,
    printer: Printer<'r>,
    output: Output,
    fingerprint: Option<Fingerprint>,
    /// The hits of the current input, and the report that they are added to.
    report: Option<(FileHits, &'r Mutex<ScanReport>)>,
    first_is_enough: bool,
    /// Matches of the current input, or lines with `--lines`.
    matches: u64,
    /// Whether no further match of the current input is reported.
    stopped: bool,
    failure: Option<Failure>,
}

impl<'r> Reporter<'r> {
    pub(crate) fn new(job: &'r Job<'r>, output: &Output) -> Self {
        let set = job.matcher.set();
        let bounded = job.boundaries.as_ref().map(|boundaries| Bounded {
            boundaries,
            boundary: BoundaryFilter::new(boundaries),
            semantics: job.semantics,
            filter: SemanticsFilter::new(job.semantics, set),
            set,
        });
        let delivery = Delivery {
            limit: job.max_lines.filter(|_| job.lines.is_none()).map(LineLimit::new),
            printer: Printer::new(job),
            output: output.clone(),
            fingerprint: job.stats.then(Fingerprint::default),
            report: job.report.map(|report| (FileHits::default(), report)),
            first_is_enough: job.first_is_enough(),
            matches: 0,
            stopped: false,
            failure: None,
        };
        let counts =
            (job.mode == Mode::Count).then(|| TextPrinter::new(job.text.clone(), job.rules));
        Self { bounded, delivery, counts }
    }

    /// The semantics that the driver has to apply: all matches, if boundaries are checked here
    /// first.
    pub(crate) fn semantics_before(job: &Job<'_>) -> Semantics {
        if job.boundaries.is_some() { Semantics::All } else { job.semantics }
    }

    /// Begins an input.
    pub(crate) fn begin(&mut self, path: &Path) {
        if let Some(Bounded { boundary, semantics, filter, set, .. }) = &mut self.bounded {
            boundary.restart();
            filter.restart(*semantics, set);
        }
        if let Some(counts) = &mut self.counts {
            counts.begin(path);
        }
        self.delivery.begin(path);
    }

    /// As [`TextPrinter::restart_output`].
    pub(crate) fn restart_output(&mut self) {
        self.delivery.printer.restart_output();
    }

    /// Takes a batch of matches, in order, with the window that shows them.
    pub(crate) fn batch(&mut self, window: &Window<'_>, batch: &Batch<'_>) -> ControlFlow<()> {
        match &mut self.bounded {
            None => self.delivery.take(window, batch),
            Some(bounded) => {
                bounded.release(window, false, &mut self.delivery)?;
                bounded.take(window, batch, &mut self.delivery)
            }
        }
    }

    /// Ends a block: the reporter has every match that ends at or before `end`.
    pub(crate) fn end_of_block(&mut self, window: &Window<'_>, end: u64) -> ControlFlow<()> {
        if let Some(bounded) = &mut self.bounded {
            bounded.release(window, false, &mut self.delivery)?;
            // A match that ends with the block may still wait for the bytes after it.
            let known = end.saturating_sub(bounded.boundaries.look_ahead());
            let decided = bounded.decide(window, Some(known), &mut self.delivery);
            if decided.is_break() && !self.wants_rest() {
                return ControlFlow::Break(());
            }
        }
        self.delivery.end_of_block(window, end)
    }

    /// Ends an input of which `bytes` were scanned, and returns an earlier failure.
    pub(crate) fn end(&mut self, window: &Window<'_>, bytes: u64) -> Result<(), Failure> {
        self.finish(window, bytes)?;
        self.delivery.end_record(bytes)
    }

    /// Ends an input of which only `bytes` could be read. An earlier failure takes precedence.
    pub(crate) fn end_early(
        &mut self,
        window: &Window<'_>,
        bytes: u64,
        error: io::Error,
    ) -> Failure {
        match self.finish(window, bytes) {
            Ok(()) => Failure::reading(error),
            Err(earlier) => earlier,
        }
    }

    /// Reports what waited for the end of the input.
    fn finish(&mut self, window: &Window<'_>, bytes: u64) -> Result<(), Failure> {
        if let Some(bounded) = &mut self.bounded
            && !self.delivery.stopped
        {
            let released = bounded.release(window, true, &mut self.delivery);
            let _ =
                released.is_continue().then(|| bounded.decide(window, None, &mut self.delivery));
        }
        self.delivery.end(window, bytes)
    }

    /// Ends an input that cannot be read any further. An earlier failure takes precedence.
    pub(crate) fn end_at_error(&mut self, error: io::Error) -> Failure {
        self.delivery.failure.take().unwrap_or(Failure::reading(error))
    }

    /// Whether the rest of the input is wanted although no further match is.
    pub(crate) fn wants_rest(&self) -> bool {
        !self.delivery.stopped && self.delivery.printer.wants_rest()
    }

    /// Start of the bytes that are needed to report what comes after `end`; `None` if those of
    /// the block are enough.
    pub(crate) fn needed_from(&mut self, window: &Window<'_>, end: u64) -> Option<u64> {
        let needed = self.delivery.printer.needed_from(window, end);
        self.delivery.check(needed.map_err(Failure::reading)).flatten()
    }

    /// Prints the count of the current input.
    pub(crate) fn print_count(&self, count: u64) -> Result<(), Failure> {
        let Some(counts) = &self.counts else { return Ok(()) };
        let record = |to: &mut Vec<u8>| counts.print_count(to, count);
        self.delivery.output.lock().record(record).map_err(Failure::Output)
    }

    /// Matches of the current input so far, or lines with `--lines`.
    pub(crate) fn matches(&self) -> u64 {
        self.delivery.matches
    }

    /// Whether the scan of the current input was stopped by a failure.
    pub(crate) fn failed(&self) -> bool {
        self.delivery.failure.is_some()
    }

    pub(crate) fn fingerprint(&self) -> Option<&Fingerprint> {
        self.delivery.fingerprint.as_ref()
    }
}

impl Bounded<'_> {
    fn take(
        &mut self,
        window: &Window<'_>,
        batch: &Batch<'_>,
        delivery: &mut Delivery<'_>,
    ) -> ControlFlow<()> {
        let selected = self.boundary.select(window, batch).map_err(Failure::reading);
        let Some(batch) = delivery.check(selected) else { return ControlFlow::Break(()) };
        self.filter
            .apply(&batch, &mut BoundedSink { boundaries: self.boundaries, delivery, window })
    }

    /// Takes the matches that waited for the next bytes.
    fn release(
        &mut self,
        window: &Window<'_>,
        at_end: bool,
        delivery: &mut Delivery<'_>,
    ) -> ControlFlow<()> {
        let released = self.boundary.release(window, at_end, self.set).map_err(Failure::reading);
        match delivery.check(released) {
            Some(Some(batch)) => {
                let boundaries = self.boundaries;
                self.filter.apply(&batch, &mut BoundedSink { boundaries, delivery, window })
            }
            Some(None) => ControlFlow::Continue(()),
            None => ControlFlow::Break(()),
        }
    }

    /// Passes on what was selected by its surroundings, once every match that ends at or before
    /// `known` was; all of it without `known`.
    fn decide(
        &mut self,
        window: &Window<'_>,
        known: Option<u64>,
        delivery: &mut Delivery<'_>,
    ) -> ControlFlow<()> {
        let mut to = BoundedSink { boundaries: self.boundaries, delivery, window };
        match known {
            Some(known) => self.filter.advance(known, self.set, &mut to),
            None => self.filter.finish(self.set, &mut to),
        }
    }
}

impl Delivery<'_> {
    fn begin(&mut self, path: &Path) {
        (self.matches, self.stopped) = (0, false);
        if let Some(limit) = &mut self.limit {
            limit.restart();
        }
        if let Some((hits, _)) = &mut self.report {
            hits.begin(path);
        }
        self.printer.begin(path);
    }

    fn take(&mut self, window: &Window<'_>, batch: &Batch<'_>) -> ControlFlow<()> {
        if self.stopped {
            return ControlFlow::Break(());
        }
        let taken = self.try_take(window, batch);
        self.check(taken);
        self.flow()
    }

    fn try_take(&mut self, window: &Window<'_>, batch: &Batch<'_>) -> Result<(), Failure> {
        let selected = match &mut self.limit {
            Some(limit) => limit.select(window, batch).map_err(Failure::reading)?,
            None => *batch,
        };
        if let Some(fingerprint) = &mut self.fingerprint {
            let _ = fingerprint.on_batch(&selected);
        }
        if let Some((hits, _)) = &mut self.report {
            hits.add(&selected);
        }
        if interrupt::requested() {
            return Err(Failure::Interrupted);
        }
        self.printer.print(window, &selected, &self.output, &mut self.matches)?;
        self.stopped = selected.records.len() < batch.records.len()
            || self.first_is_enough && self.matches > 0
            || self.printer.is_done();
        Ok(())
    }

    fn end_of_block(&mut self, window: &Window<'_>, end: u64) -> ControlFlow<()> {
        let reached = self.limit.as_mut().map_or(Ok(false), |limit| limit.is_reached(window, end));
        let reached = self.check(reached.map_err(Failure::reading)).unwrap_or(true);
        let ended = self.printer.end_of_block(window, end, &self.output, &mut self.matches);
        self.check(ended);
        self.stopped |=
            reached || self.first_is_enough && self.matches > 0 || self.printer.is_done();
        self.flow()
    }

    fn end(&mut self, window: &Window<'_>, bytes: u64) -> Result<(), Failure> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        if !self.stopped {
            self.printer.end(window, bytes, &self.output, &mut self.matches)?;
        }
        if let Some((hits, report)) = &self.report {
            report.lock().unwrap_or_else(PoisonError::into_inner).add(hits, bytes);
        }
        Ok(())
    }

    fn end_record(&self, bytes: u64) -> Result<(), Failure> {
        self.printer.end_record(bytes, self.matches, &self.output)
    }

    /// Stores a failure until the end of the input, and stops the scan.
    fn check<T>(&mut self, result: Result<T, Failure>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(failure) => {
                self.failure.get_or_insert(failure);
                self.stopped = true;
                None
            }
        }
    }

    fn flow(&self) -> ControlFlow<()> {
        if self.stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Passes matches to the delivery, with the window that shows them and without the ids that ask for
/// other surroundings.
struct BoundedSink<'a, 'r, 'w> {
    boundaries: &'a Boundaries,
    delivery: &'a mut Delivery<'r>,
    window: &'a Window<'w>,
}

impl Sink for BoundedSink<'_, '_, '_> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        let divided = self.boundaries.with_their_ids(self.window, batch);
        let Some(batches) = self.delivery.check(divided.map_err(Failure::reading)) else {
            return ControlFlow::Break(());
        };
        batches.iter().try_for_each(|batch| self.delivery.take(self.window, batch))
    }
}
