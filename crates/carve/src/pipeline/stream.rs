//! Images that can only be read once, from start to end: standard input.

use super::chunk::{Chunk, Found};
use super::collect::Collector;
use super::workers::Working;
use super::{Observer, ScanError, ScanOptions, Scanned, buffer_size};
use crate::finder::Finder;
use crate::image::{MAGIC, must_be_raw};
use crate::rule::RuleSet;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Buffers that wait for a thread, beside one per thread. Not measured: a guess.
const READ_AHEAD: usize = 2;

/// Finds the hits of all needles of `rules` in an image that comes as a stream.
///
/// The calling thread reads, and the threads of the options search. A stream has no strategy and no
/// journal, because it cannot be read again. The length of the image is known at its end, and a
/// range that ends later is cut there.
///
/// # Errors
/// A regular expression is wrong, reading fails, the stream ends before the range begins or is not
/// that of a raw image, or the observer stopped the scan.
pub fn scan_stream(
    reader: &mut dyn Read,
    name: &str,
    rules: &RuleSet,
    options: &ScanOptions,
    observer: &dyn Observer,
) -> Result<Scanned, ScanError> {
    let finder = Finder::with_engine(rules, &options.engine)?;
    let range = options.range.clone().unwrap_or(0..u64::MAX);
    let unreadable = |error| ScanError::Read { name: name.to_owned(), error };
    let mut reader = raw(reader).map_err(unreadable)?;
    let skipped =
        io::copy(&mut (&mut reader).take(range.start), &mut io::sink()).map_err(unreadable)?;
    if skipped < range.start {
        return Err(ScanError::Range { range, len: skipped });
    }
    let mut rest = reader.take(range.end.saturating_sub(range.start));
    let size = buffer_size(options) as usize;
    let mut source = Chunks { reader: &mut rest, at: range.start, size, ahead: Vec::new() };
    let mut collector = Collector::new(&finder, range.start, observer);
    let threads = options.threads.max(1);
    thread::scope(|scope| {
        let (filled, to_search) = channel();
        let (found, results) = channel();
        let to_search = Arc::new(Mutex::new(to_search));
        for _ in 0..threads {
            let (to_search, found, finder) = (to_search.clone(), found.clone(), &finder);
            scope.spawn(move || search_all(finder, &to_search, &found));
        }
        drop(found);
        let mut in_flight = InFlight { results, waiting: 0, spare: Vec::new() };
        for index in 0.. {
            if observer.interrupted() {
                return Err(ScanError::Interrupted);
            }
            let mut chunk = in_flight.chunk(threads + READ_AHEAD, &mut collector)?;
            let more = source.next(&finder, &mut chunk).map_err(unreadable)?;
            in_flight.waiting += 1;
            // The searching threads end after this sender.
            let _ = filled.send((index, chunk));
            if !more {
                break;
            }
        }
        drop(filled);
        while in_flight.waiting > 0 {
            in_flight.receive(&mut collector)?;
        }
        collector.ends_at(source.at);
        Ok(())
    })?;
    collector.finish()
}

/// The whole stream, if it is that of a raw image.
fn raw(reader: &mut dyn Read) -> io::Result<impl Read> {
    let mut start = Vec::new();
    reader.take(MAGIC).read_to_end(&mut start)?;
    must_be_raw(&start)?;
    Ok(io::Cursor::new(start).chain(reader))
}

/// Cuts a stream into chunks.
struct Chunks<'r> {
    reader: &'r mut dyn Read,
    /// The position of the next chunk.
    at: u64,
    size: usize,
    /// Bytes of the next chunk that the last one had as its look-ahead.
    ahead: Vec<u8>,
}

impl Chunks<'_> {
    /// Reads the next chunk. False if it is the last one.
    fn next(&mut self, finder: &Finder, chunk: &mut Chunk) -> io::Result<bool> {
        let wanted = self.size + finder.look_ahead();
        let bytes = chunk.begin(self.at..self.at, wanted);
        let known = self.ahead.len();
        bytes[..known].copy_from_slice(&self.ahead);
        let len = known + fill(self.reader, &mut bytes[known..])?;
        let more = len == wanted;
        let owned = if more { self.size } else { len };
        self.ahead.clear();
        self.ahead.extend_from_slice(&bytes[owned..len]);
        let end = self.at + owned as u64;
        chunk.shorten(self.at..end, len);
        self.at = end;
        Ok(more)
    }
}

fn fill(reader: &mut dyn Read, buf: &mut [u8]) -> io::Result<usize> {
    let mut done = 0;
    while done < buf.len() {
        match reader.read(&mut buf[done..]) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// The chunks in flight.
struct InFlight {
    results: Receiver<(u64, Chunk, Found)>,
    waiting: usize,
    spare: Vec<Chunk>,
}

impl InFlight {
    /// A chunk to fill, once fewer than `most` are in flight.
    fn chunk(&mut self, most: usize, collector: &mut Collector<'_>) -> Result<Chunk, ScanError> {
        while self.waiting >= most {
            self.receive(collector)?;
        }
        Ok(self.spare.pop().unwrap_or_default())
    }

    fn receive(&mut self, collector: &mut Collector<'_>) -> Result<(), ScanError> {
        let (index, chunk, found) = self.results.recv().expect("a searching thread panicked");
        collector.take(index, found)?;
        self.spare.push(chunk);
        self.waiting -= 1;
        Ok(())
    }
}

/// Searches chunks until there are no more.
fn search_all(
    finder: &Finder,
    chunks: &Mutex<Receiver<(u64, Chunk)>>,
    results: &Sender<(u64, Chunk, Found)>,
) {
    let mut working = Working::default();
    loop {
        let next = chunks.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((index, chunk)) = next else { return };
        let mut found = Found::default();
        chunk.search(finder, &mut working.scratch, &mut found);
        if results.send((index, chunk, found)).is_err() {
            return;
        }
    }
}

impl Chunk {
    /// Keeps the first `len` bytes, which own another range.
    fn shorten(&mut self, owned: Range<u64>, len: usize) {
        self.begin(owned, len);
    }
}
