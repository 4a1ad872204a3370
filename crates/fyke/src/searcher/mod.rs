//! [`Searcher`]: a compiled pattern set with the calls that users need.

mod builder;
mod call_state;
mod find_iter;

pub use builder::{BuildError, SearcherBuilder};
pub(crate) use call_state::{CallParts, CallState};
pub use find_iter::FindIter;

use crate::parallel::{self, Haystack};
use fyke_core::{
    Block, Count, Exists, Matcher, PatternSet, Scratch, Semantics, SemanticsFilter, Sink, Sorter,
    Source, StateError, Stream,
};
use fyke_io::source::{self, Opened, ReadSource};
use std::fmt;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

/// A compiled pattern set with its match semantics. It is immutable; threads share it.
///
/// ```
/// use fyke::{PatternSet, Searcher, Semantics};
///
/// let set = PatternSet::new(["Sam", "Samwise"])?;
/// let searcher = Searcher::builder().semantics(Semantics::LeftmostLongest).build(&set)?;
/// let spans: Vec<_> = searcher.find_iter(b"Samwise and Sam").map(|m| m.start..m.end).collect();
/// assert_eq!(spans, [0..7, 12..15]);
/// assert_eq!(searcher.count(b"Samwise and Sam"), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Searcher {
    matcher: Arc<dyn Matcher>,
    semantics: Semantics,
    threads: usize,
    /// Buffers of earlier calls, so that they grow once.
    idle: Mutex<CallState>,
    /// For calls that find `idle` in use by another thread.
    more_idle: Mutex<Vec<CallState>>,
}

impl Searcher {
    /// The patterns.
    pub fn set(&self) -> &PatternSet {
        self.matcher.set()
    }

    /// The compiled set, for use with your own [`Scratch`], blocks and sources.
    pub fn matcher(&self) -> &Arc<dyn Matcher> {
        &self.matcher
    }

    /// Which matches are reported.
    pub fn semantics(&self) -> Semantics {
        self.semantics
    }

    /// Whether the haystack has a match. Stops at the first one.
    pub fn is_match(&self, haystack: impl AsRef<[u8]>) -> bool {
        let mut exists = Exists::default();
        let block = Block::whole(haystack.as_ref());
        self.with_state(|state| {
            self.matcher.scan(block, &mut state.scratch, &mut exists).is_break() || exists.found
        })
    }

    /// The number of matches. A pattern with several ids counts once for each id.
    pub fn count(&self, haystack: impl AsRef<[u8]>) -> u64 {
        let haystack = haystack.as_ref();
        match self.semantics {
            Semantics::All | Semantics::Count => self.count_all(haystack),
            Semantics::Exists => u64::from(self.is_match(haystack)),
            // The order decides which occurrence of a pattern is its first, not how many patterns
            // occur.
            Semantics::Once => self.with_state(|state| {
                let CallParts { scratch, filter, .. } = state.parts(self.semantics, self.set());
                let (block, mut count) = (Block::whole(haystack), Count::default());
                let _ = self.matcher.scan(block, scratch, &mut filter.sink(&mut count));
                count.matches
            }),
            Semantics::LeftmostFirst | Semantics::LeftmostLongest => {
                let mut count = Count::default();
                let _ = self.scan(haystack, &mut count);
                count.matches
            }
        }
    }

    fn count_all(&self, haystack: &[u8]) -> u64 {
        if self.threads > 1 && haystack.len() > parallel::SEGMENT {
            let whole = Haystack::Slice(haystack);
            let counts = parallel::fold(&*self.matcher, whole, self.threads, Count::default);
            return counts.expect("memory cannot fail to be read").iter().map(|c| c.matches).sum();
        }
        let (block, mut count) = (Block::whole(haystack), Count::default());
        let _ = self.with_state(|state| self.matcher.scan(block, &mut state.scratch, &mut count));
        count.matches
    }

    /// Gives the sink all matches, in canonical order: by end, then start, then id. A large
    /// haystack is scanned by the threads that the builder set.
    ///
    /// Returns `Break` if the sink or the semantics stopped the scan.
    ///
    /// ```
    /// use fyke::{Collect, Searcher};
    /// let mut found = Collect::default();
    /// let _ = Searcher::new(["ee", "tree"])?.scan("needle in a tree", &mut found);
    /// let spans: Vec<_> = found.matches.iter().map(|m| m.start..m.end).collect();
    /// assert_eq!(spans, [1..3, 12..16, 14..16]);
    /// # Ok::<(), fyke::BuildError>(())
    /// ```
    pub fn scan(&self, haystack: impl AsRef<[u8]>, sink: &mut dyn Sink) -> ControlFlow<()> {
        let haystack = haystack.as_ref();
        self.with_state(|state| {
            let CallParts { scratch, filter, .. } = state.parts(self.semantics, self.set());
            if self.threads > 1 && haystack.len() > parallel::SEGMENT {
                let whole = Haystack::Slice(haystack);
                let each = &mut |s: parallel::Segment<'_>| filter.apply(&s.batch, sink);
                let flow = parallel::scan(&*self.matcher, whole, self.threads, each);
                flow.expect("memory cannot fail to be read")?;
            } else {
                // In pieces, so that unordered matches are sorted while they are in a cache.
                let piece = parallel::segment(&*self.matcher);
                let pieces = Block::whole(haystack).pieces(piece, self.set().overlap());
                let mut sink = filter.sink(sink);
                for piece in pieces {
                    self.scan_block(piece, scratch, &mut sink)?;
                }
            }
            filter.finish(sink)
        })
    }

    /// As [`scan`](Self::scan), for a reader. It is read in order, by one thread, in bounded
    /// memory: two buffers of 256 KiB, or of 16 MiB if a GPU engine scans.
    ///
    /// # Errors
    /// Reading failed. The sink got the matches before the error.
    ///
    /// ```
    /// use fyke::{Count, Searcher};
    /// let mut count = Count::default();
    /// let _ = Searcher::new(["ee"])?.scan_read(&b"needle in a tree"[..], &mut count)?;
    /// assert_eq!(count.matches, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn scan_read(&self, reader: impl Read, sink: &mut dyn Sink) -> io::Result<ControlFlow<()>> {
        let piece = parallel::segment(&*self.matcher);
        let mut source = ReadSource::new(reader, piece, self.set().overlap());
        let mut filter = SemanticsFilter::new(self.semantics, self.set());
        let mut scratch = Scratch::following();
        while let Some(block) = source.next()? {
            if self.scan_block(block, &mut scratch, &mut filter.sink(sink)).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(filter.finish(sink))
    }

    /// As [`scan`](Self::scan), for a file, by the threads that the builder set. A path without a
    /// length, such as a FIFO, is read as by [`scan_read`](Self::scan_read). The file is read and
    /// never mapped: if it shrinks during the scan, that is an error.
    ///
    /// # Errors
    /// The path cannot be opened or read.
    pub fn scan_file(
        &self,
        path: impl AsRef<Path>,
        sink: &mut dyn Sink,
    ) -> io::Result<ControlFlow<()>> {
        let file = match source::open(path.as_ref())? {
            Opened::Stream(stream) => return self.scan_read(stream, sink),
            Opened::File(file) => file,
        };
        let read = |at: u64, to: &mut [u8]| file.read_at(at, to);
        let haystack = Haystack::ReadAt { len: file.len(), read: &read };
        let mut filter = SemanticsFilter::new(self.semantics, self.set());
        let each = &mut |s: parallel::Segment<'_>| filter.apply(&s.batch, sink);
        if parallel::scan(&*self.matcher, haystack, self.threads, each)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        Ok(filter.finish(sink))
    }

    fn scan_block(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        if matches!(self.semantics, Semantics::Exists | Semantics::Count) {
            return self.matcher.scan(block, scratch, sink);
        }
        let mut sorter = Sorter::new(sink);
        self.matcher.scan(block, scratch, &mut sorter)?;
        sorter.finish()
    }

    /// A stream: a haystack that arrives in chunks of any size.
    ///
    /// ```
    /// use fyke::{Collect, Searcher};
    /// let searcher = Searcher::new(["needle"])?;
    /// let mut found = Collect::default();
    ///
    /// let mut stream = searcher.stream();
    /// let _ = stream.feed(b"hay nee", &mut found);
    /// let saved = stream.save(); // to disk, to another process ...
    ///
    /// let mut stream = searcher.restore(&saved)?;
    /// let _ = stream.feed(b"dle hay", &mut found);
    /// let _ = stream.finish(&mut found);
    /// assert_eq!((found.matches[0].start, found.matches[0].end), (4, 10));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stream(&self) -> Stream {
        Stream::new(self.matcher.clone(), self.semantics)
    }

    /// Restores a stream from a state that [`Stream::save`] wrote.
    ///
    /// # Errors
    /// The state is damaged, or was saved with another pattern set, other semantics or another
    /// version.
    pub fn restore(&self, state: &[u8]) -> Result<Stream, StateError> {
        Stream::restore(self.matcher.clone(), self.semantics, state)
    }

    /// Calls `f` with an idle state, or a new one if other threads use them all.
    pub(crate) fn with_state<T>(&self, f: impl FnOnce(&mut CallState) -> T) -> T {
        let f = |state: &mut CallState| {
            state.scratch.forget();
            f(state)
        };
        match self.idle.try_lock() {
            Ok(mut state) => return f(&mut state),
            Err(TryLockError::Poisoned(state)) => return f(&mut state.into_inner()),
            Err(TryLockError::WouldBlock) => {}
        }
        let more = || self.more_idle.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = more().pop();
        let mut state = taken.unwrap_or_default();
        let result = f(&mut state);
        more().push(state);
        result
    }
}

impl fmt::Debug for Searcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Searcher")
            .field("engine", &self.matcher.info().name)
            .field("set", self.set())
            .field("semantics", &self.semantics)
            .field("threads", &self.threads)
            .finish()
    }
}
