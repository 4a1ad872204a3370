//! [`Searcher`]: a compiled pattern set with the calls that users need.

mod builder;
mod engine_name;
mod find;
mod find_iter;
mod first;
mod input;
pub(crate) mod pool;
mod proceed;
mod replace;
mod short;
mod stream_find;

pub use builder::{BuildError, SearcherBuilder};
pub use engine_name::EngineName;
pub use find::MatchKind;
pub use find_iter::FindIter;
pub use input::Input;
pub use proceed::Proceed;
pub use stream_find::StreamFindIter;

use fyke_core::{
    Block, Count, Device, ForEach, Match, Matcher, PatternSet, Semantics, Sink, Source, StateError,
    Stream, driver::piece_size,
};
use fyke_cpu::parallel::{self, Haystack};
use fyke_io::source::{self, Opened, ReadSource};
use pool::{Lease, OwnStates};
use short::Short;
use std::fmt;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::path::Path;
use std::sync::Arc;

/// A compiled pattern set. It is immutable; threads share it, and a clone shares its memory.
///
/// There are two families of calls:
///
/// * `is_match`, `find`, `find_iter`, `replace_all` and the like are those of the crate
///   `aho-corasick`: matches do not overlap, and [`MatchKind`] says which are reported.
/// * `scan`, `count`, [`stream`](Self::stream), `scan_batch` and the like report every occurrence,
///   or those that [`Semantics`] select. `scan`, `count` and `scan_file` can use several threads
///   for a large haystack.
///
/// ```
/// use fyke::{MatchKind, PatternSet, Searcher};
///
/// let set = PatternSet::new(["Sam", "Samwise"])?;
/// let searcher = Searcher::builder().match_kind(MatchKind::LeftmostLongest).build(&set)?;
/// let spans: Vec<_> = searcher.find_iter("Samwise and Sam").map(|m| m.range()).collect();
/// assert_eq!(spans, [0..7, 12..15]);
/// assert_eq!(searcher.count("Samwise and Sam"), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Searcher {
    matcher: Arc<dyn Matcher>,
    /// Its part that finds first matches.
    find_first_part: Arc<dyn Matcher>,
    semantics: Semantics,
    kind: MatchKind,
    threads: usize,
    /// States that hold device memory. `None` for a matcher on the CPU: see the module `pool`.
    own_states: Option<Arc<OwnStates>>,
    /// The fast path of the `find` calls, if `"auto"` chose the engine.
    short: Option<Arc<Short>>,
    /// The settings it was built with, for a database.
    #[cfg(feature = "database")]
    builder: Arc<SearcherBuilder>,
}

// A scan writes to its scratch, which a panic drops. A matcher's few caches are atomics and
// `OnceLock`s, which a panic leaves whole.
impl UnwindSafe for Searcher {}
impl RefUnwindSafe for Searcher {}

impl Searcher {
    /// A searcher for a compiled set.
    fn of(matcher: Arc<dyn Matcher>, builder: &SearcherBuilder, short: Option<Short>) -> Searcher {
        let on_gpu = matcher.info().device == Device::Gpu;
        let find_first_part = Arc::clone(matcher.find_first_part().unwrap_or(&matcher));
        Searcher {
            matcher,
            find_first_part,
            semantics: builder.semantics,
            kind: builder.kind,
            threads: builder.threads,
            own_states: on_gpu.then(Arc::<OwnStates>::default),
            short: short.map(Arc::new),
            #[cfg(feature = "database")]
            builder: Arc::new(builder.clone()),
        }
    }

    /// Settings that build this searcher again.
    #[cfg(feature = "database")]
    pub(crate) fn settings(&self) -> SearcherBuilder {
        let settings = SearcherBuilder::clone(&self.builder);
        settings.semantics(self.semantics).match_kind(self.kind).threads(self.threads)
    }

    /// A state for one call.
    #[inline]
    pub(crate) fn lease(&self) -> Lease<'_> {
        pool::lease(self.own_states.as_deref())
    }

    /// The patterns.
    pub fn set(&self) -> &PatternSet {
        self.matcher.set()
    }

    /// The compiled set, for use with your own scratch, blocks and sources.
    pub fn matcher(&self) -> &Arc<dyn Matcher> {
        &self.matcher
    }

    /// Which matches `scan`, `count`, batches and streams report.
    pub fn semantics(&self) -> Semantics {
        self.semantics
    }

    /// Which matches the `find` and `replace_all` calls report.
    pub fn match_kind(&self) -> MatchKind {
        self.kind
    }

    /// The same compiled set with other semantics. It shares the memory. Only fyke's own bindings
    /// use it.
    #[doc(hidden)]
    pub fn with_semantics(&self, semantics: Semantics) -> Searcher {
        Searcher { semantics, ..self.clone() }
    }

    /// The number of matches that the searcher's [`Semantics`] select. A pattern with several ids
    /// counts once for each id. With [`Semantics::Once`] a single thread scans.
    pub fn count(&self, haystack: impl AsRef<[u8]>) -> u64 {
        let haystack = haystack.as_ref();
        match self.semantics {
            Semantics::All => self.count_all(haystack),
            // Needs no sorting: the order decides which occurrence of a pattern is its first, not
            // how many patterns occur.
            Semantics::Once => {
                let mut state = self.lease();
                state.driver.restart(self.semantics, self.set());
                let (scratch, filter) = state.driver.parts();
                let (block, mut count) = (Block::whole(haystack), Count::default());
                let _ = self.matcher.scan(block, scratch, &mut filter.sink(&mut count));
                count.matches
            }
            _ => {
                let mut count = Count::default();
                let _ = self.scan_into(haystack, &mut count);
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
        let Some(block) = self.skip_to_candidate(haystack) else { return 0 };
        let mut state = self.lease();
        let scratch = state.driver.parts().0;
        scratch.forget();
        let mut count = Count::default();
        let _ = self.matcher.scan(block, scratch, &mut count);
        count.matches
    }

    /// The haystack from its first candidate on. `None` if it has no match.
    #[inline]
    fn skip_to_candidate<'h>(&self, haystack: &'h [u8]) -> Option<Block<'h>> {
        let from = self.matcher.first_candidate(haystack);
        let block = Block { bytes: &haystack[from..], overlap: 0, offset: from as u64 };
        (from < haystack.len()).then_some(block)
    }

    /// Calls `each` with every match, in canonical order: by end, then start, then id. `each`
    /// returns nothing, or a [`ControlFlow`] that can end the scan; then `scan` also returns one.
    ///
    /// A large haystack is scanned by the threads that the builder set. `each` runs on the calling
    /// thread.
    ///
    /// ```
    /// let searcher = fyke::Searcher::new(["ee", "tree"])?;
    /// let mut spans = Vec::new();
    /// searcher.scan("needle in a tree", |m| spans.push(m.range()));
    /// assert_eq!(spans, [1..3, 12..16, 14..16]);
    /// # Ok::<(), fyke::BuildError>(())
    /// ```
    pub fn scan<P: Proceed>(
        &self,
        haystack: impl AsRef<[u8]>,
        mut each: impl FnMut(Match) -> P,
    ) -> P::Flow {
        let mut each = ForEach(|m| each(Match::in_memory(m)).proceed());
        P::flow(self.scan_into(haystack, &mut each))
    }

    /// As [`scan`](Self::scan), with the first occurrence of each pattern only, whatever the
    /// searcher's [`Semantics`] are.
    ///
    /// ```
    /// let searcher = fyke::Searcher::new(["a", "b"])?;
    /// let mut found = Vec::new();
    /// searcher.once("banana", |m| found.push((m.pattern.0, m.start)));
    /// assert_eq!(found, [(1, 0), (0, 1)]);
    /// # Ok::<(), fyke::BuildError>(())
    /// ```
    pub fn once<P: Proceed>(
        &self,
        haystack: impl AsRef<[u8]>,
        each: impl FnMut(Match) -> P,
    ) -> P::Flow {
        self.with_semantics(Semantics::Once).scan(haystack, each)
    }

    /// As [`scan`](Self::scan), for a [`Sink`], which gets the matches in batches.
    ///
    /// Returns `Break` if the sink or the semantics stopped the scan.
    ///
    /// ```
    /// use fyke::{Collect, Searcher};
    /// let mut found = Collect::default();
    /// let _ = Searcher::new(["ee", "tree"])?.scan_into("needle in a tree", &mut found);
    /// let spans: Vec<_> = found.matches.iter().map(|m| m.start..m.end).collect();
    /// assert_eq!(spans, [1..3, 12..16, 14..16]);
    /// # Ok::<(), fyke::BuildError>(())
    /// ```
    pub fn scan_into(&self, haystack: impl AsRef<[u8]>, sink: &mut dyn Sink) -> ControlFlow<()> {
        let haystack = haystack.as_ref();
        if self.threads > 1 && haystack.len() > parallel::SEGMENT {
            let scanned = self.scan_parallel(Haystack::Slice(haystack), sink);
            return scanned.expect("memory cannot fail to be read");
        }
        let Some(block) = self.skip_to_candidate(haystack) else {
            return ControlFlow::Continue(());
        };
        let mut state = self.lease();
        let driver = &mut state.driver;
        driver.restart(self.semantics, self.set());
        driver.scan(&*self.matcher, block, sink)?;
        driver.finish(self.set(), sink)
    }

    /// Scans with several threads. After each segment, the sink gets the matches that are decided.
    fn scan_parallel(
        &self,
        haystack: Haystack<'_>,
        sink: &mut dyn Sink,
    ) -> io::Result<ControlFlow<()>> {
        let mut state = self.lease();
        state.driver.restart(self.semantics, self.set());
        let filter = state.driver.parts().1;
        let each = &mut |segment: parallel::Segment<'_>| {
            filter.apply(&segment.batch, sink)?;
            if !segment.last {
                return ControlFlow::Continue(());
            }
            let end = segment.block.offset + segment.block.bytes.len() as u64;
            filter.advance(end, self.set(), sink)
        };
        if parallel::scan(&*self.matcher, haystack, self.threads, each)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        Ok(filter.finish(self.set(), sink))
    }

    /// As [`scan_into`](Self::scan_into), for a reader. It is read in order, by one thread, in
    /// bounded memory: a buffer of 256 KiB, or of 8 MiB if a GPU engine scans, and larger if
    /// patterns are longer than a sixteenth of that.
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
        let mut source = ReadSource::new(reader, piece_size(&*self.matcher), self.set().overlap());
        let mut state = self.lease();
        state.driver.restart(self.semantics, self.set());
        while let Some(block) = source.next()? {
            if state.driver.scan(&*self.matcher, block, sink).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(state.driver.finish(self.set(), sink))
    }

    /// As [`scan_into`](Self::scan_into), for a file, by the threads that the builder set. A path
    /// without a length, such as a FIFO, is read as by [`scan_read`](Self::scan_read). The file is
    /// read and never mapped: if it shrinks during the scan, that is an error.
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
        self.scan_parallel(haystack, sink)
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
}

impl fmt::Debug for Searcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Searcher")
            .field("engine", &self.matcher.info().name)
            .field("set", self.set())
            .field("semantics", &self.semantics)
            .field("match_kind", &self.kind)
            .field("threads", &self.threads)
            .finish()
    }
}
