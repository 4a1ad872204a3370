//! One input: a regular file by position and on several threads, anything else as a stream.

use super::failure::Failure;
use super::fold::Fold;
use super::inputs::Input;
use super::output::Output;
use super::progress::Progress;
use super::reporter::Reporter;
use super::totals::Found;
use super::{Job, Mode};
use fyke::parallel::{self, Haystack, SEGMENT, Segment};
use fyke::{Batch, Block, Fingerprint, Scratch, Sink, Sorter};
use fyke_io::container::{self, BoxRead};
use fyke_io::sink::Window;
use fyke_io::source::{self, DataFile, Opened, ReadSource};
use std::io::{self, Read};
use std::ops::ControlFlow;

/// Bytes of a stream that are read and scanned at once, at least.
const STREAM_BLOCK: usize = 1 << 20;

/// Scans inputs for a job.
pub(crate) struct Scanner<'a> {
    job: &'a Job<'a>,
    output: &'a Output,
    progress: &'a Progress,
    reporter: Reporter<'a>,
    fingerprint: Fingerprint,
    found: Found,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(job: &'a Job<'a>, output: &'a Output, progress: &'a Progress) -> Self {
        let (reporter, fingerprint) = (Reporter::new(job, output), Fingerprint::default());
        Self { job, output, progress, reporter, fingerprint, found: Found::default() }
    }

    /// What was found in the input at hand.
    pub(crate) fn found(&self) -> Found {
        self.found
    }

    /// Of all inputs.
    pub(crate) fn fingerprint(&self) -> &Fingerprint {
        self.reporter.fingerprint().filter(|_| self.job.needs_order()).unwrap_or(&self.fingerprint)
    }

    /// Scans an input. What was found before a failure counts.
    pub(crate) fn scan(&mut self, input: &Input) -> Result<(), Failure> {
        self.found = Found::default();
        self.reporter.begin(input.name(), self.job.matcher.set());
        let scanned = self.open_and_scan(input);
        if self.job.needs_order() {
            self.found.units = self.reporter.units();
        }
        scanned
    }

    /// Prints how many there are in the input at hand.
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
            false => self.stream_folded(&mut reader),
        };
        self.found.bytes = reader.bytes;
        scanned
    }

    fn stream_folded(&mut self, reader: &mut impl Read) -> Result<(), Failure> {
        let matcher = self.job.matcher;
        let mut source = ReadSource::new(reader, STREAM_BLOCK, matcher.set().overlap());
        let mut fold = Fold::for_job(self.job);
        let driven = matcher.drive(&mut source, &mut fold);
        self.take(fold);
        driven.map(|_| ()).map_err(Failure::reading)
    }

    /// Blocks with enough around them to show every match in its line, those included that the
    /// semantics hold back for a while.
    fn stream_in_order(&mut self, reader: &mut impl Read) -> Result<(), Failure> {
        let reach = self.job.reach();
        let history = 2 * self.job.matcher.set().max_len() + reach;
        let size = STREAM_BLOCK.max(parallel::segment(self.job.matcher));
        let mut source = ReadSource::new(reader, size, history).look_ahead(reach);
        let mut scratch = Scratch::following();
        let mut flow = ControlFlow::Continue(());
        while flow.is_continue() {
            let Some(view) = source.next_view().map_err(|e| self.reporter.end_at_error(e))? else {
                break;
            };
            let window = Window::new(view.bytes, view.offset);
            flow = self.block_in_order(view.block, &window, &mut scratch);
            self.output.flush()?;
        }
        let (bytes, offset) = source.at_hand();
        self.reporter.end(&Window::new(bytes, offset), offset + bytes.len() as u64)
    }

    fn block_in_order(
        &mut self,
        block: Block<'_>,
        window: &Window<'_>,
        scratch: &mut Scratch,
    ) -> ControlFlow<()> {
        let matcher = self.job.matcher;
        let spare_overlap = block.overlap.saturating_sub(matcher.set().overlap());
        let (overlap, offset) =
            (block.overlap - spare_overlap, block.offset + spare_overlap as u64);
        let block = Block { bytes: &block.bytes[spare_overlap..], overlap, offset };
        let mut to = InWindow { reporter: &mut self.reporter, window };
        let mut sorted = Sorter::new(&mut to);
        matcher.scan(block, scratch, &mut sorted)?;
        sorted.finish()?;
        self.reporter.end_of_block(window, offset + block.bytes.len() as u64)
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
        let make = || Fold::for_job(self.job);
        let folds = parallel::fold(self.job.matcher, haystack, self.job.threads, make);
        folds.map_err(Failure::reading)?.into_iter().for_each(|fold| self.take(fold));
        self.found.bytes = file.len();
        Ok(())
    }

    fn file_in_order(&mut self, file: &DataFile, haystack: Haystack<'_>) -> Result<(), Failure> {
        let (len, job) = (file.len(), self.job);
        let read = |at: u64, to: &mut [u8]| file.read_at(at, to);
        let (reporter, scanned) = (&mut self.reporter, &mut self.found.bytes);
        let mut each = |segment: Segment<'_>| {
            let Block { bytes, offset, .. } = segment.block;
            let window = Window::on_file(bytes, offset, len, &read);
            reporter.batch(&window, &segment.batch)?;
            if !segment.last {
                return ControlFlow::Continue(());
            }
            *scanned = offset + bytes.len() as u64;
            reporter.end_of_block(&window, *scanned)
        };
        let done = parallel::scan(job.matcher, haystack, job.threads, &mut each);
        let _ = done.map_err(|e| self.reporter.end_at_error(e))?;
        self.reporter.end(&Window::on_file(&[], len, len, &read), len)
    }

    /// Adds what a thread found.
    fn take(&mut self, fold: Fold) {
        self.found.units += fold.matches();
        if let Fold::Stats(fingerprint) = fold {
            self.fingerprint.merge(&fingerprint);
        }
    }
}

impl Job<'_> {
    /// Bytes around a match that the printer has to see.
    fn reach(&self) -> usize {
        match self.mode {
            Mode::Text if !self.text.only_matching => self.text.columns + 1,
            _ => 0,
        }
    }
}

/// Reports what is found in a window.
struct InWindow<'a, 'r, 'w> {
    reporter: &'a mut Reporter<'r>,
    window: &'a Window<'w>,
}

impl Sink for InWindow<'_, '_, '_> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        self.reporter.batch(self.window, batch)
    }
}

/// Counts the bytes that pass.
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
