//! `--tail`: scans files as they grow, each on a thread of its own, until an interrupt.
//!
//! A file is one stream, so matches that begin in one append and end in another are found. A file
//! that was truncated or replaced is another input with the same path.

use super::failure::Failure;
use super::interrupt;
use super::job::Job;
use super::output::Output;
use super::progress::Progress;
use super::totals::Totals;
use super::worker::Worker;
use fyke_io::source::{Change, GrowingFile};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How long to wait before a file is checked again: too short for a reader of the output to notice,
/// and long enough to cause almost no load. `tail` waits a second where it has to poll.
const POLL: Duration = Duration::from_millis(100);

/// Bytes that are read from a pipe at once, and reads that may wait to be scanned.
const PIPE_READ: usize = 64 << 10;
const PIPE_READS: usize = 4;

/// What the threads share.
struct Tail<'a> {
    job: &'a Job<'a>,
    output: &'a Output,
    progress: &'a Progress,
    /// Whether the scan is over because one match is enough or a thread failed.
    is_over: Arc<AtomicBool>,
    totals: Mutex<Totals>,
    failure: Mutex<Option<Failure>>,
}

/// Scans the files and pipes until an interrupt, or until no further match is needed.
pub(super) fn scan(
    job: &Job<'_>,
    paths: &[PathBuf],
    output: &Output,
    progress: &Progress,
) -> Result<Totals, Failure> {
    interrupt::ends_inputs();
    let tail = &Tail {
        job,
        output,
        progress,
        is_over: Arc::default(),
        totals: Mutex::default(),
        failure: Mutex::default(),
    };
    thread::scope(|scope| {
        for path in paths {
            let thread = thread::Builder::new().spawn_scoped(scope, move || tail.work(path));
            if let Err(error) = thread {
                tail.fail(Failure::reading(error).of(path));
            }
        }
    });
    match tail.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(failure) => Err(failure),
        None => {
            Ok(std::mem::take(&mut *tail.totals.lock().unwrap_or_else(PoisonError::into_inner)))
        }
    }
}

impl Tail<'_> {
    /// What the thread of a path does. A panic of it ends the others.
    fn work(&self, path: &Path) {
        let end_all = EndOnPanic(&self.is_over);
        let mut worker = Worker::new(self.job, self.output.clone(), self.progress, None);
        if let Err(failure) = self.scan_path(&mut worker, path) {
            self.fail(failure);
        }
        let mut totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner);
        totals.merge(&worker.into_totals());
        std::mem::forget(end_all);
    }

    /// Ends all threads with the first failure that is given here.
    fn fail(&self, failure: Failure) {
        self.is_over.store(true, Ordering::Relaxed);
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
    }

    /// Scans a path until an interrupt. Only failures that end the whole scan are returned.
    fn scan_path(&self, worker: &mut Worker<'_>, path: &Path) -> Result<(), Failure> {
        let (mut is_open, mut is_missing) = (true, false);
        while is_open && !is_over(&self.is_over) {
            let scanned = match kind_of(path) {
                Ok(Kind::Pipe) => self.scan_pipe(worker, path).map(|()| false),
                Ok(Kind::File) => self.scan_file(worker, path),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    if !std::mem::replace(&mut is_missing, true) {
                        self.say(path, "there is no such file: waiting for it");
                    }
                    thread::sleep(POLL);
                    Ok(true)
                }
                Err(error) => worker.scan(Err(Failure::reading(error).of(path))).map(|()| false),
            };
            self.output.flush()?;
            is_open = match scanned {
                Err(failure) if failure.is_of_input() => {
                    self.progress.report(&failure);
                    false
                }
                scanned => scanned?,
            };
            if worker.has_enough() {
                self.is_over.store(true, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// Scans a file until it changes. Returns whether it did, and is to be opened again.
    fn scan_file(&self, worker: &mut Worker<'_>, path: &Path) -> Result<bool, Failure> {
        let opened = GrowingFile::open(path, |file, _| self.output.refuse_as_input(file));
        let file = match opened {
            Ok(file) => file,
            // It vanished just now.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            Err(error) => {
                return worker.scan(Err(Failure::reading(error).of(path))).map(|()| false);
            }
        };
        let change = Arc::new(Mutex::new(None));
        let reader = FileReader { file, change: change.clone(), is_over: self.is_over.clone() };
        worker.scan_live(path, Box::new(reader))?;
        let change = change.lock().unwrap_or_else(PoisonError::into_inner).take();
        match change {
            Some(Change::Truncated) => {
                self.say(path, "the file was truncated: reading it again from its start");
            }
            Some(Change::Replaced) => {
                self.say(path, "the file was replaced: reading the new one from its start");
            }
            None => {}
        }
        Ok(change.is_some())
    }

    fn scan_pipe(&self, worker: &mut Worker<'_>, path: &Path) -> Result<(), Failure> {
        let reader = PipeReader::start(path, self.is_over.clone());
        let reader = reader.map_err(|error| Failure::reading(error).of(path))?;
        let name = if is_stdin(path) { Path::new("<stdin>") } else { path };
        worker.scan_live(name, Box::new(reader))
    }

    fn say(&self, path: &Path, what: &str) {
        self.progress.say(format_args!("warning: {}: {what}", path.display()));
    }
}

/// Whether no more bytes are to be read.
fn is_over(of_scan: &AtomicBool) -> bool {
    of_scan.load(Ordering::Relaxed) || interrupt::ended_inputs()
}

enum Kind {
    File,
    /// Anything else that can be read. It is read to its end, as without `--tail`.
    Pipe,
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn kind_of(path: &Path) -> io::Result<Kind> {
    if is_stdin(path) {
        return Ok(Kind::Pipe);
    }
    let meta = fs::metadata(path)?;
    match () {
        () if meta.is_dir() => {
            let what = "this is a folder, and --tail scans files as they grow: name its files";
            Err(io::Error::new(io::ErrorKind::IsADirectory, what))
        }
        () if meta.is_file() => Ok(Kind::File),
        () => Ok(Kind::Pipe),
    }
}

/// Reads a file and waits for more. It ends when the file changes or the scan is over.
struct FileReader {
    file: GrowingFile,
    /// Why it ended.
    change: Arc<Mutex<Option<Change>>>,
    is_over: Arc<AtomicBool>,
}

impl Read for FileReader {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let mut ended = self.change.lock().unwrap_or_else(PoisonError::into_inner);
        while ended.is_none() && !is_over(&self.is_over) {
            let n = self.file.read(to)?;
            if n > 0 {
                return Ok(n);
            }
            if let Some(change) = self.file.change()? {
                // Bytes that were appended before the change.
                let n = self.file.read(to)?;
                *ended = (n == 0).then_some(change);
                return Ok(n);
            }
            thread::sleep(POLL);
        }
        Ok(0)
    }
}

/// Reads what another thread reads from a pipe, because only the end of the pipe ends a read.
struct PipeReader {
    reads: Receiver<io::Result<Vec<u8>>>,
    bytes: io::Cursor<Vec<u8>>,
    is_over: Arc<AtomicBool>,
}

impl PipeReader {
    fn start(path: &Path, is_over: Arc<AtomicBool>) -> io::Result<Self> {
        let (to, reads) = mpsc::sync_channel(PIPE_READS);
        let path = path.to_owned();
        // The process does not wait for this thread.
        thread::Builder::new().spawn(move || {
            let opened: io::Result<Box<dyn Read>> = match is_stdin(&path) {
                true => Ok(Box::new(io::stdin())),
                false => File::open(path).map(|file| Box::new(file) as Box<dyn Read>),
            };
            let mut pipe = match opened {
                Ok(pipe) => pipe,
                Err(error) => return to.send(Err(error)).unwrap_or_default(),
            };
            loop {
                let mut bytes = vec![0; PIPE_READ];
                let read = pipe.read(&mut bytes).map(|n| {
                    bytes.truncate(n);
                    bytes
                });
                let is_last = read.as_ref().map_or(true, Vec::is_empty);
                if to.send(read).is_err() || is_last {
                    return;
                }
            }
        })?;
        Ok(Self { reads, bytes: io::Cursor::default(), is_over })
    }
}

impl Read for PipeReader {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while !is_over(&self.is_over) {
            let n = self.bytes.read(to)?;
            if n > 0 {
                return Ok(n);
            }
            match self.reads.recv_timeout(POLL) {
                Ok(read) => self.bytes = io::Cursor::new(read?),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
        }
        Ok(0)
    }
}

/// Ends all threads when it is dropped by a panic.
struct EndOnPanic<'a>(&'a AtomicBool);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
