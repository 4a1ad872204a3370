//! Scans one input: a small file in one piece, a large one with several threads, anything else as a
//! stream.

use super::FLUSH_AFTER;
use super::failure::Failure;
use super::inputs::Input;
use super::job::Job;
use super::output::Output;
use super::progress::Progress;
use super::reporter::Reporter;
use super::totals::InputTotals;
use super::turns::Place;
use super::unordered::UnorderedSink;
use crate::warning;
use fyke::{Batch, Fingerprint, Sink};
use fyke_core::{Block, Cursor, Driver};
use fyke_cpu::parallel::{self, Haystack, Segment};
use fyke_io::container::zip::Archive;
use fyke_io::container::{self, BoxRead};
use fyke_io::sink::Window;
use fyke_io::source::{self, DataFile, Opened, ReadSource};
use std::fs::File;
use std::io::{self, Read};
use std::mem;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

/// Minimum size of the buffer of a stream, and the largest file that is scanned in one piece.
const STREAM_BUFFER: usize = 1 << 20;

/// Where other threads scan other files, a file of this size is divided between all threads. A
/// smaller one takes a thread a few milliseconds.
const LARGE: u64 = 4 << 20;

/// Scans inputs for a job. It keeps its buffers from one input to the next.
pub(crate) struct Scanner<'a> {
    job: &'a Job<'a>,
    output: Output,
    progress: &'a Progress,
    /// The place of this thread, if other threads scan other inputs.
    place: Option<Place>,
    driver: Driver,
    /// Whether the semantics may select another match of the input.
    selecting: bool,
    reporter: Reporter<'a>,
    unordered: UnorderedSink,
    buffer: Vec<u8>,
    totals: InputTotals,
    /// Whether the current input is a pipe or a device, whose bytes may have to be waited for.
    is_live: bool,
    /// When output was last written in the middle of an input.
    shown: Instant,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(
        job: &'a Job<'a>,
        output: Output,
        progress: &'a Progress,
        place: Option<Place>,
    ) -> Self {
        Self {
            job,
            progress,
            place,
            driver: Driver::new(Reporter::semantics_before(job), job.matcher.set()),
            selecting: true,
            reporter: Reporter::new(job, &output),
            unordered: UnorderedSink::for_job(job),
            buffer: Vec::new(),
            totals: InputTotals::default(),
            is_live: false,
            shown: Instant::now(),
            output,
        }
    }

    /// The totals of the current input.
    pub(crate) fn totals(&self) -> InputTotals {
        self.totals
    }

    /// The fingerprint of the matches of all inputs, if it was asked for.
    pub(crate) fn fingerprint(&self) -> Option<&Fingerprint> {
        match self.job.needs_order() {
            true => self.reporter.fingerprint(),
            false => self.unordered.fingerprint(),
        }
    }

    /// Begins an output that goes between those of other threads.
    pub(crate) fn restart_output(&mut self) {
        self.reporter.restart_output();
    }

    /// Scans an input. Matches before a failure count.
    pub(crate) fn scan(&mut self, input: &Input) -> Result<(), Failure> {
        self.counting(|scanner| match input {
            Input::Stdin => scanner.scan_stdin(input),
            Input::Path(path) => scanner.scan_path(path),
            Input::Member { archive, index, name } => scanner.scan_member(archive, *index, name),
        })
    }

    /// Scans a reader whose bytes have to be waited for.
    pub(crate) fn scan_live(&mut self, name: &Path, reader: BoxRead) -> Result<(), Failure> {
        self.counting(|scanner| {
            scanner.begin(name);
            scanner.is_live = true;
            scanner.transcoded(reader)
        })
    }

    /// Counts the matches of an input.
    fn counting(
        &mut self,
        scan: impl FnOnce(&mut Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.totals = InputTotals::default();
        self.unordered.begin();
        let before = self.unordered.matches();
        let scanned = scan(self);
        self.totals.matches = match self.job.needs_order() {
            true if self.totals.opened => self.reporter.matches(),
            true => 0,
            false => self.unordered.matches() - before,
        };
        scanned
    }

    /// Prints the count of the current input.
    pub(crate) fn print_count(&self, count: u64) -> Result<(), Failure> {
        self.reporter.print_count(count)
    }

    fn begin(&mut self, name: &Path) {
        self.totals.opened = true;
        self.is_live = false;
        self.driver.restart(Reporter::semantics_before(self.job), self.job.matcher.set());
        self.selecting = true;
        self.reporter.begin(name);
    }

    fn scan_stdin(&mut self, input: &Input) -> Result<(), Failure> {
        self.begin(input.name());
        self.is_live = true;
        self.enter()?;
        match self.job.decompress {
            true => self.decompressed(Box::new(io::stdin()), input.name()),
            false => self.transcoded(Box::new(io::stdin())),
        }
    }

    fn scan_member(&mut self, archive: &Archive, index: usize, name: &Path) -> Result<(), Failure> {
        let member = archive.read(&archive.members()[index]).map_err(Failure::reading)?;
        self.begin(name);
        self.transcoded(member)
    }

    fn scan_path(&mut self, path: &Path) -> Result<(), Failure> {
        let mut is_file = false;
        let opened = source::open_checked(path, |file, meta| {
            is_file = meta.is_file();
            self.output.refuse_as_input(file)
        })
        .map_err(Failure::reading)?;
        self.begin(path);
        match opened {
            Opened::File(file) if self.job.decompress => {
                self.decompressed(Box::new(file.into_reader()), path)
            }
            Opened::File(file) if file.len() <= STREAM_BUFFER as u64 => self.whole(&file),
            Opened::File(file) if self.is_utf_16(&file)? => {
                self.transcoded(Box::new(file.into_reader()))
            }
            Opened::File(file) => self.file(&file),
            Opened::Stream(file) if is_file => self.opened_stream(file, path),
            Opened::Stream(file) => {
                self.is_live = true;
                self.enter()?;
                self.opened_stream(file, path)
            }
        }
    }

    /// Before an input that may take long: waits for the turn of this thread and writes what was
    /// found so far.
    fn enter(&self) -> Result<(), Failure> {
        self.output.flush()?;
        self.place.as_ref().map_or(Ok(()), Place::enter).map_err(Failure::Output)
    }

    /// Writes what was found so far: at once if more has to be waited for, otherwise now and then.
    fn show(&mut self) -> Result<(), Failure> {
        if !self.is_live && self.shown.elapsed() < FLUSH_AFTER {
            return Ok(());
        }
        self.shown = Instant::now();
        self.output.flush()?;
        self.place.as_ref().map_or(Ok(()), Place::show).map_err(Failure::Output)
    }

    fn opened_stream(&mut self, file: File, name: &Path) -> Result<(), Failure> {
        match self.job.decompress {
            true => self.decompressed(Box::new(file), name),
            false => self.transcoded(Box::new(file)),
        }
    }

    /// Whether a large file is to be converted from UTF-16.
    fn is_utf_16(&self, file: &DataFile) -> Result<bool, Failure> {
        let mut start = [0; 4];
        if !self.job.transcode || file.len() < start.len() as u64 {
            return Ok(false);
        }
        file.read_at(0, &mut start).map_err(Failure::reading)?;
        Ok(container::is_utf_16(&start))
    }

    fn transcoded(&mut self, reader: BoxRead) -> Result<(), Failure> {
        if !self.job.transcode {
            return self.stream(reader);
        }
        self.stream(container::transcode(reader).map_err(Failure::reading)?)
    }

    fn decompressed(&mut self, reader: BoxRead, name: &Path) -> Result<(), Failure> {
        let name = name.display().to_string();
        let warn = Box::new(move |what: &str| {
            warning::print(format_args!("warning: {name}: {what}"));
        });
        self.transcoded(container::decompress_with(reader, warn).map_err(Failure::reading)?)
    }

    /// Scans a small file in one piece.
    fn whole(&mut self, file: &DataFile) -> Result<(), Failure> {
        let mut buffer = mem::take(&mut self.buffer);
        let (bytes, read) = file.read_whole(&mut buffer);
        self.progress.advance(bytes.len());
        self.totals.bytes = bytes.len() as u64;
        let scanned = match self.job.needs_order() {
            _ if self.job.transcode && container::is_utf_16(bytes) => {
                self.whole_utf_16(bytes, read)
            }
            true => self.whole_in_order(bytes, read),
            false => {
                self.whole_unordered(bytes);
                read.map_err(Failure::reading)
            }
        };
        self.buffer = buffer;
        scanned
    }

    fn whole_utf_16(&mut self, bytes: &[u8], read: io::Result<()>) -> Result<(), Failure> {
        self.transcoded(Box::new(io::Cursor::new(bytes.to_vec())))?;
        read.map_err(Failure::reading)
    }

    fn whole_unordered(&mut self, bytes: &[u8]) {
        let (matcher, scratch) = (self.job.matcher, self.driver.parts().0);
        if !self.job.first_is_enough() {
            let _ = matcher.scan(Block::whole(bytes), scratch, &mut self.unordered);
            return;
        }
        let mut cursor = Cursor::default();
        while let Some(block) = cursor.next(matcher, bytes) {
            if matcher.scan(block, scratch, &mut self.unordered).is_break() {
                break;
            }
        }
    }

    fn whole_in_order(&mut self, bytes: &[u8], read: io::Result<()>) -> Result<(), Failure> {
        let window = Window::new(bytes, 0);
        let from = self.job.matcher.first_candidate(bytes);
        if from < bytes.len() {
            let block = Block { bytes: &bytes[from..], overlap: 0, offset: from as u64 };
            let _ = self.block_in_order(block, &window);
        }
        let end = bytes.len() as u64;
        self.finish_in_order(&window);
        match read {
            Ok(()) => self.reporter.end(&window, end),
            Err(error) => Err(self.reporter.end_early(&window, end, error)),
        }
    }

    fn stream(&mut self, reader: impl Read) -> Result<(), Failure> {
        let mut reader = Metered { reader, progress: self.progress, bytes: 0, error: None };
        let scanned = match self.job.needs_order() {
            true => self.stream_in_order(&mut reader),
            false => self.stream_unordered(&mut reader),
        };
        self.totals.bytes = reader.bytes;
        scanned
    }

    fn stream_unordered<R: Read>(&mut self, reader: &mut Metered<'_, R>) -> Result<(), Failure> {
        let (matcher, buffer) = (self.job.matcher, mem::take(&mut self.buffer));
        let overlap = matcher.set().overlap();
        let mut source = ReadSource::with_buffer(&mut *reader, buffer, STREAM_BUFFER, overlap);
        let driven = matcher.drive(&mut source, &mut self.unordered);
        self.buffer = source.into_buffer();
        let _ = driven.map_err(Failure::reading)?;
        reader.error.take().map_or(Ok(()), |error| Err(Failure::reading(error)))
    }

    /// Scans blocks that keep enough bytes around them to print every match with its line. Some
    /// semantics report a match later than it ends, hence the history of two patterns.
    fn stream_in_order<R: Read>(&mut self, reader: &mut Metered<'_, R>) -> Result<(), Failure> {
        let reach = self.job.reach();
        let look_back = 2;
        let history = 2 * self.job.matcher.set().max_len() + look_back + reach.unwrap_or(0);
        let size = STREAM_BUFFER.max(parallel::segment(self.job.matcher));
        let buffer = mem::take(&mut self.buffer);
        let source = ReadSource::with_buffer(&mut *reader, buffer, size, history);
        let mut source = match reach {
            Some(reach) => source.look_ahead(reach),
            None => source.whole_lines(),
        };
        let scanned = self.blocks_in_order(&mut source, history as u64);
        self.buffer = source.into_buffer();
        scanned
    }

    fn blocks_in_order<R: Read>(
        &mut self,
        source: &mut ReadSource<&mut Metered<'_, R>>,
        history: u64,
    ) -> Result<(), Failure> {
        let mut flow = ControlFlow::Continue(());
        while flow.is_continue() {
            let Some(view) = source.next_view().map_err(|e| self.reporter.end_at_error(e))? else {
                break;
            };
            let window = Window::new(view.bytes, view.offset);
            flow = self.block_in_order(view.block, &window);
            let end = view.block.offset + view.block.bytes.len() as u64;
            let needed = self.reporter.needed_from(&window, end.saturating_sub(history));
            source.keep_from(needed);
            self.show()?;
        }
        let error = source.reader_mut().error.take();
        let (bytes, offset) = source.buffered();
        let (window, end) = (Window::new(bytes, offset), offset + bytes.len() as u64);
        self.finish_in_order(&window);
        match error {
            None => self.reporter.end(&window, end),
            Some(error) => Err(self.reporter.end_early(&window, end, error)),
        }
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
        self.finish_in_order(window);
        self.reporter.end(window, bytes)
    }

    /// Reports the matches that waited for the end of the input.
    fn finish_in_order(&mut self, window: &Window<'_>) {
        if !self.reporter.failed() {
            let mut to = WindowSink { reporter: &mut self.reporter, window };
            let _ = self.driver.finish(self.job.matcher.set(), &mut to);
        }
    }

    /// Number of threads for a file. If other threads scan other files, those of a large file
    /// start when it is its turn.
    fn threads(&self, file: &DataFile) -> Result<usize, Failure> {
        if self.place.is_some() && file.len() < LARGE {
            return Ok(1);
        }
        self.enter()?;
        Ok(self.job.threads)
    }

    fn file(&mut self, file: &DataFile) -> Result<(), Failure> {
        let (threads, progress) = (self.threads(file)?, self.progress);
        let read = |at: u64, to: &mut [u8]| {
            progress.advance(to.len());
            file.read_at(at, to)
        };
        let haystack = Haystack::ReadAt { len: file.len(), read: &read };
        if self.job.needs_order() {
            return self.file_in_order(file, haystack, threads);
        }
        let make = || UnorderedSink::for_job(self.job);
        let sinks = parallel::fold(self.job.matcher, haystack, threads, make);
        sinks.map_err(Failure::reading)?.iter().for_each(|sink| self.unordered.merge(sink));
        self.totals.bytes = file.len();
        Ok(())
    }

    fn file_in_order(
        &mut self,
        file: &DataFile,
        haystack: Haystack<'_>,
        threads: usize,
    ) -> Result<(), Failure> {
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
        let done = parallel::scan(job.matcher, haystack, threads, &mut each);
        let _ = done.map_err(|e| self.reporter.end_at_error(e))?;
        self.end_in_order(&Window::on_file(&[], len, len, &read), len)
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

/// A reader that counts its bytes and advances the progress bar. It ends at an error as at the end
/// of the input, so that all matches before the error are reported, and keeps the error.
struct Metered<'a, R> {
    reader: R,
    progress: &'a Progress,
    bytes: u64,
    error: Option<io::Error>,
}

impl<R: Read> Read for Metered<'_, R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.error.is_some() {
            return Ok(0);
        }
        let n = match self.reader.read(to) {
            Ok(n) => n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            Err(error) => {
                self.error = Some(error);
                return Ok(0);
            }
        };
        self.progress.advance(n);
        self.bytes += n as u64;
        Ok(n)
    }
}
