//! Pipeline: reads an image and searches it at the same time, and passes on the hits in order.
//!
//! The image is cut into chunks. Each is read with some bytes after it, so that it has all bytes
//! of the hits that start in it. Strategies differ in which thread reads and searches which chunk
//! when; all give the same hits, for any buffer size and number of threads.
//!
//! | strategy | reads | searches |
//! |---|---|---|
//! | `overlapped`, the default | several chunks at once | every thread the chunk that it read |
//! | `sync` | one thread | the same thread, in turn with reading |
//! | `async` | the system, ahead of the search | one thread |
//! | `srms` | one thread | all threads a part of the chunk, in turn with reading |
//! | `srss` | one thread | another thread |
//! | `mars1` | the system, ahead of each thread | every thread its chunk; they wait for each other |
//! | `mars2` | the same | the same without waiting |
//!
//! Source of all but the first: Zha, dissertation, 5.4 and 5.5.

mod chunk;
mod collect;
mod journal;
mod mars1;
mod mars2;
mod one_thread;
mod overlapped;
mod srms;
mod srss;
mod stream;
#[cfg(test)]
mod tests;
mod workers;

pub use journal::JournalError;
pub use stream::scan_stream;

use crate::finder::{Finder, FinderError};
use crate::hit::Hits;
use crate::image::Image;
use crate::rule::RuleSet;
use chunk::Job;
use collect::Collector;
use journal::{Identity, Journal};
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::thread;

/// Who reads and who searches, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Several reads in flight, searches on all threads.
    #[default]
    Overlapped,
    /// One thread reads a buffer, then searches it: Scalpel's way.
    Sync,
    /// One thread searches a buffer while the system reads the next one.
    Async,
    /// Synchronous read, multicore search.
    Srms,
    /// Single core reads, single core searches.
    Srss,
    /// Multicore asynchronous read and search, in rounds.
    Mars1,
    /// Multicore asynchronous read and search, without rounds.
    Mars2,
}

impl Strategy {
    /// All strategies.
    pub const ALL: [Self; 7] = [
        Self::Overlapped,
        Self::Sync,
        Self::Async,
        Self::Srms,
        Self::Srss,
        Self::Mars1,
        Self::Mars2,
    ];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Overlapped => "overlapped",
            Self::Sync => "sync",
            Self::Async => "async",
            Self::Srms => "srms",
            Self::Srss => "srss",
            Self::Mars1 => "mars1",
            Self::Mars2 => "mars2",
        }
    }

    /// The strategy of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|strategy| strategy.name() == name)
    }

    /// Bytes of a buffer, unless the caller says otherwise.
    fn buffer(self) -> usize {
        match self {
            Self::Overlapped => OVERLAPPED_BUFFER,
            _ => SCALPEL_BUFFER,
        }
    }
}

/// Bytes of a buffer that stays in a core's cache while it is searched. Swept by the example
/// `scan_image` on an image in the page cache.
const OVERLAPPED_BUFFER: usize = 512 << 10;

/// Bytes of Scalpel's buffer.
const SCALPEL_BUFFER: usize = 10 << 20;

/// Buffers hold a multiple of this, a page of most systems.
const BUFFER_UNIT: u64 = 4096;

/// The largest buffer: offsets in it have 32 bits.
const MAX_BUFFER: u64 = 1 << 30;

/// How an image is scanned. None of it changes the hits, but for the range.
#[derive(Clone, Debug)]
pub struct ScanOptions {
    /// Who reads and who searches.
    pub strategy: Strategy,
    /// Threads that search. 0 is taken as 1.
    pub threads: usize,
    /// Bytes of a buffer, rounded up to a multiple of 4096; by default what suits the strategy.
    pub buffer: Option<u64>,
    /// The part of the image to search. Hits lie wholly within; offsets count from the image's
    /// start.
    pub range: Option<Range<u64>>,
    /// The engine of fyke that searches.
    pub engine: String,
    /// Where to keep what was found so far.
    pub journal: Option<JournalOptions>,
}

/// Where a scan keeps what it found so far, so that another one can go on.
#[derive(Clone, Debug)]
pub struct JournalOptions {
    /// The file. Remove it after the result was written elsewhere.
    pub path: PathBuf,
    /// Go on where the journal ends, if there is one. Otherwise it is written anew.
    pub resume: bool,
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self {
            strategy: Strategy::default(),
            threads: thread::available_parallelism().map_or(1, usize::from),
            buffer: None,
            range: None,
            engine: "auto".to_owned(),
            journal: None,
        }
    }
}

/// Gets the progress of a scan, and can stop it. Any thread may call it.
pub trait Observer: Sync {
    /// The journal has what an earlier scan found in this part of the image.
    fn resumed(&self, _range: &Range<u64>) {}

    /// Bytes were read and searched.
    fn advanced(&self, _bytes: u64) {}

    /// These bytes cannot be read. No hit contains any of them.
    fn bad(&self, _range: &Range<u64>) {}

    /// Whether the scan has to stop. It ends with [`ScanError::Interrupted`] soon after.
    fn interrupted(&self) -> bool {
        false
    }
}

/// Does not observe.
impl Observer for () {}

/// What a scan found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scanned {
    /// The hits of all needles.
    pub hits: Hits,
    /// What could not be read, in ascending order.
    pub bad: Vec<Range<u64>>,
}

/// Why a scan ended without a result.
#[derive(Debug)]
#[non_exhaustive]
pub enum ScanError {
    /// The needles cannot be searched.
    Finder(FinderError),
    /// The range does not lie in the image.
    Range {
        /// The range.
        range: Range<u64>,
        /// The length of the image.
        len: u64,
    },
    /// The image cannot be read. Bad sectors are not errors.
    Read {
        /// The name of the image.
        name: String,
        /// Why.
        error: io::Error,
    },
    /// The journal cannot be used.
    Journal(JournalError),
    /// The observer stopped the scan.
    Interrupted,
}

impl fmt::Display for ScanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finder(error) => error.fmt(f),
            Self::Range { range, len } => write!(
                f,
                "the range {}..{} is not within the image, which has {len} bytes",
                range.start, range.end
            ),
            Self::Read { name, error } => write!(f, "cannot read the image {name}: {error}"),
            Self::Journal(error) => error.fmt(f),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

/// Messages are whole: they contain that of the cause, so there is no source.
impl std::error::Error for ScanError {}

impl From<FinderError> for ScanError {
    fn from(error: FinderError) -> Self {
        Self::Finder(error)
    }
}

impl From<JournalError> for ScanError {
    fn from(error: JournalError) -> Self {
        Self::Journal(error)
    }
}

/// Finds the hits of all needles of `rules` in an image.
///
/// Bad sectors are skipped: see [`read_readable`](crate::image::read_readable).
///
/// # Errors
/// A regular expression is wrong, the range is not within the image, the image ends too soon, the
/// journal is of another scan or cannot be written, or the observer stopped the scan.
pub fn scan(
    image: &dyn Image,
    rules: &RuleSet,
    options: &ScanOptions,
    observer: &dyn Observer,
) -> Result<Scanned, ScanError> {
    let finder = Finder::with_engine(rules, &options.engine)?;
    let len = image.len();
    let range = options.range.clone().unwrap_or(0..len);
    if range.start > range.end || range.end > len {
        return Err(ScanError::Range { range, len });
    }
    let mut collector = Collector::new(&finder, range.end, observer);
    let mut from = range.start;
    if let Some(journal) = &options.journal {
        let identity = Identity::of(image, rules, &range);
        let (journal, at) = Journal::open(journal, &identity, &mut collector)?;
        collector.keep(journal);
        observer.resumed(&(range.start..at));
        from = at;
    }
    let size = buffer_size(options);
    let job = Job::new(image, &finder, observer, from..range.end, size, options.threads.max(1));
    let collector = match options.strategy {
        Strategy::Overlapped => overlapped::run(&job, collector),
        Strategy::Sync => one_thread::run(&job, collector, false),
        Strategy::Async => one_thread::run(&job, collector, true),
        Strategy::Srms => srms::run(&job, collector),
        Strategy::Srss => srss::run(&job, collector),
        Strategy::Mars1 => mars1::run(&job, collector),
        Strategy::Mars2 => mars2::run(&job, collector),
    }?;
    collector.finish()
}

fn buffer_size(options: &ScanOptions) -> u64 {
    let wanted = options.buffer.unwrap_or(options.strategy.buffer() as u64);
    wanted.clamp(1, MAX_BUFFER).next_multiple_of(BUFFER_UNIT)
}
