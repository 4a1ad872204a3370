//! Scans one input: a large regular file with several threads, anything else as a stream.

use super::failure::Failure;
use super::inputs::Input;
use super::job::Job;
use super::output::Output;
use super::progress::Progress;
use super::reporter::Reporter;
use super::totals::InputTotals;
use super::unordered::UnorderedSink;
use fyke::{Batch, Fingerprint, Sink};
use fyke_core::{Block, Driver};
use fyke_cpu::parallel::{self, Haystack, SEGMENT, Segment};
use fyke_io::container::{self, BoxRead};
use fyke_io::sink::Window;
use fyke_io::source::{self, DataFile, Opened, ReadSource};
use std::io::{self, Read};
use std::ops::ControlFlow;

/// Minimum size of the buffer of a stream.
const STREAM_BUFFER: usize = 1 << 20;

/// Scans inputs for a job.
pub(crate) struct Scanner<'a> {
    job: &'a Job<'a>,
    output: &'a Output,
    progress: &'a Progress,
    driver: Driver,
    /// Whether the semantics may select another match of the input.
    selecting: bool,
    reporter: Reporter<'a>,
    fingerprint: Fingerprint,
    totals: InputTotals,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(job: &'a Job<'a>, output: &'a Output, progress: &'a Progress) -> Self {
        Self {
            job,
            output,
            progress,
            driver: Driver::new(Reporter::semantics_before(job), job.matcher.set()),
            selecting: true,
            reporter: Reporter::new(job, output),
            fingerprint: Fingerprint::default(),
            totals: InputTotals::default(),
        }
    }

    /// The totals of the current input.
    pub(crate) fn totals(&self) -> InputTotals {
        self.totals
    }

    /// The fingerprint of the matches of all inputs.
    pub(crate) fn fingerprint(&self) -> &Fingerprint {
        self.reporter.fingerprint().filter(|_| self.job.needs_order()).unwrap_or(&self.fingerprint)
    }

    /// Scans an input. Matches before a failure count.
    pub(crate) fn scan(&mut self, input: &Input) -> Result<(), Failure> {
        self.totals = InputTotals::default();
        self.driver.restart(Reporter::semantics_before(self.job), self.job.matcher.set());
        self.selecting = true;
        self.reporter.begin(input.name());
        let scanned = self.open_and_scan(input);
        if self.job.needs_order() {
            self.totals.matches = self.reporter.matches();
        }
        scanned
    }

    /// Prints the count of the current input.
    pub(crate) fn print_count(&self, count: u64) -> Result<(), Failure> {
        self.reporter.print_count(count)
    }

    fn open_and_scan(&mut self, input: &Input) -> Result<(), Failure> {
        let opened = match input {
            Input::Stdin if self.job.decompress => return self.decompressed(Box::new(io::stdin())),
            Input::Stdin => return self.stream(io::stdin().lock()),
            Input::Path(path) => source::open(path).map_err(Failure::reading)?,
        };
        match opened {
            Opened::File(file) if self.job.decompress => {
                self.decompressed(Box::new(file.into_reader()))
            }
            Opened::Stream(file) if self.job.decompress => self.decompressed(Box::new(file)),
            Opened::File(file) if file.len() <= SEGMENT as u64 => self.stream(file.into_reader()),
            Opened::File(file) => self.file(&file),
            Opened::Stream(file) => self.stream(file),
        }
    }

    fn decompressed(&mut self, reader: BoxRead) -> Result<(), Failure> {
        let inside = container::decompress(reader).map_err(Failure::reading)?;
        self.stream(inside)
    }

    fn stream(&mut self, reader: impl Read) -> Result<(), Failure> {
        let mut reader = Metered { reader, progress: self.progress, bytes: 0 };
        let scanned = match self.job.needs_order() {
            true => self.stream_in_order(&mut reader),
            false => self.stream_unordered(&mut reader),
        };
        self.totals.bytes = reader.bytes;
        scanned
    }

    fn stream_unordered(&mut self, reader: &mut impl Read) -> Result<(), Failure> {
        let matcher = self.job.matcher;
        let mut source = ReadSource::new(reader, STREAM_BUFFER, matcher.set().overlap());
        let mut sink = UnorderedSink::for_job(self.job);
        let driven = matcher.drive(&mut source, &mut sink);
        self.add(&sink);
        driven.map(|_| ()).map_err(Failure::reading)
    }

    /// Scans blocks that keep enough bytes around them to print every match with its line. Some
    /// semantics report a match later than it ends, hence the history of two patterns.
    fn stream_in_order(&mut self, reader: &mut impl Read) -> Result<(), Failure> {
        let reach = self.job.reach();
        let history = 2 * self.job.matcher.set().max_len() + reach.unwrap_or(0);
        let size = STREAM_BUFFER.max(parallel::segment(self.job.matcher));
        let source = ReadSource::new(reader, size, history);
        let mut source = match reach {
            Some(reach) => source.look_ahead(reach),
            None => source.whole_lines(),
        };
        let mut flow = ControlFlow::Continue(());
        while flow.is_continue() {
            let Some(view) = source.next_view().map_err(|e| self.reporter.end_at_error(e))? else {
                break;
            };
            let window = Window::new(view.bytes, view.offset);
            flow = self.block_in_order(view.block, &window);
            let end = view.block.offset + view.block.bytes.len() as u64;
            let needed = self.reporter.needed_from(&window, end.saturating_sub(history as u64));
            source.keep_from(needed);
            self.output.flush()?;
        }
        let (bytes, offset) = source.buffered();
        self.end_in_order(&Window::new(bytes, offset), offset + bytes.len() as u64)
    }

    fn block_in_order(&mut self, block: Block<'_>, window: &Window<'_>) -> ControlFlow<()> {
        let mut to = WindowSink { reporter: &mut self.reporter, window };
        if self.selecting {
            self.selecting = self.driver.scan(self.job.matcher, block, &mut to).is_continue();
        }
        if !self.selecting && !self.reporter.wants_rest() {
            return ControlFlow::Break(());
        }
        self.reporter.end_of_block(window, block.offset + block.bytes.len() as u64)
    }

    /// Ends an input of which `bytes` were scanned, and returns an earlier failure.
    fn end_in_order(&mut self, window: &Window<'_>, bytes: u64) -> Result<(), Failure> {
        if !self.reporter.failed() {
            let mut to = WindowSink { reporter: &mut self.reporter, window };
            let _ = self.driver.finish(self.job.matcher.set(), &mut to);
        }
        self.reporter.end(window, bytes)
    }

    fn file(&mut self, file: &DataFile) -> Result<(), Failure> {
        let progress = self.progress;
        let read = |at: u64, to: &mut [u8]| {
            progress.advance(to.len());
            file.read_at(at, to)
        };
        let haystack = Haystack::ReadAt { len: file.len(), read: &read };
        if self.job.needs_order() {
            return self.file_in_order(file, haystack);
        }
        let make = || UnorderedSink::for_job(self.job);
        let sinks = parallel::fold(self.job.matcher, haystack, self.job.threads, make);
        sinks.map_err(Failure::reading)?.iter().for_each(|sink| self.add(sink));
        self.totals.bytes = file.len();
        Ok(())
    }

    fn file_in_order(&mut self, file: &DataFile, haystack: Haystack<'_>) -> Result<(), Failure> {
        let (len, job) = (file.len(), self.job);
        let read = |at: u64, to: &mut [u8]| file.read_at(at, to);
        let (reporter, scanned) = (&mut self.reporter, &mut self.totals.bytes);
        let selecting = &mut self.selecting;
        let filter = self.driver.parts().1;
        let mut each = |segment: Segment<'_>| {
            let Block { bytes, offset, .. } = segment.block;
            let window = Window::on_file(bytes, offset, len, &read);
            let mut to = WindowSink { reporter: &mut *reporter, window: &window };
            *selecting = *selecting && filter.apply(&segment.batch, &mut to).is_continue();
            if segment.last {
                *scanned = offset + bytes.len() as u64;
                let decided = filter.advance(*scanned, job.matcher.set(), &mut to);
                *selecting = *selecting && decided.is_continue();
            }
            if !*selecting && !reporter.wants_rest() {
                return ControlFlow::Break(());
            }
            if !segment.last {
                return ControlFlow::Continue(());
            }
            reporter.end_of_block(&window, *scanned)
        };
        let done = parallel::scan(job.matcher, haystack, job.threads, &mut each);
        let _ = done.map_err(|e| self.reporter.end_at_error(e))?;
        self.end_in_order(&Window::on_file(&[], len, len, &read), len)
    }

    /// Adds the results of one thread.
    fn add(&mut self, sink: &UnorderedSink) {
        self.totals.matches += sink.matches();
        if let UnorderedSink::Stats(fingerprint) = sink {
            self.fingerprint.merge(fingerprint);
        }
    }
}

/// Passes matches to the reporter, with the window that shows them.
struct WindowSink<'a, 'r, 'w> {
    reporter: &'a mut Reporter<'r>,
    window: &'a Window<'w>,
}

impl Sink for WindowSink<'_, '_, '_> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        self.reporter.batch(self.window, batch)
    }
}

/// A reader that counts its bytes and advances the progress bar.
struct Metered<'a, R> {
    reader: R,
    progress: &'a Progress,
    bytes: u64,
}

impl<R: Read> Read for Metered<'_, R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(to)?;
        self.progress.advance(n);
        self.bytes += n as u64;
        Ok(n)
    }
}
