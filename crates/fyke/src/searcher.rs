//! The front door.

use crate::parallel::{self, Haystack};
use crate::registry;
use fyke_core::{
    Block, Collect, Count, Exists, Filter, Match, Matcher, PatternError, PatternSet, Refusal,
    Scratch, Semantics, Sink, Sorter, Source, StateError, Stream,
};
use fyke_io::source::{self, Opened, ReadSource};
use std::fmt;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes that [`Searcher::find_iter`] scans ahead of what it gives out.
const LOOK_AHEAD: usize = 64 << 10;

/// A compiled pattern set with its way of searching; shared freely between threads.
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
    scratch: Mutex<Vec<Scratch>>,
}

/// Settings for a [`Searcher`].
#[derive(Clone, Debug)]
pub struct SearcherBuilder {
    engine: String,
    semantics: Semantics,
    threads: usize,
    nocase: bool,
    memory_limit: Option<u64>,
}

/// Why a searcher could not be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError(BuildErrorKind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum BuildErrorKind {
    Pattern(PatternError),
    Refused(String, Refusal),
}

impl BuildError {
    /// The engine's refusal, if that was the reason.
    pub fn refusal(&self) -> Option<&Refusal> {
        match &self.0 {
            BuildErrorKind::Refused(_, refusal) => Some(refusal),
            BuildErrorKind::Pattern(_) => None,
        }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            BuildErrorKind::Pattern(e) => e.fmt(f),
            BuildErrorKind::Refused(engine, refusal) => write!(f, "engine {engine}: {refusal}"),
        }
    }
}

impl std::error::Error for BuildError {}

impl From<PatternError> for BuildError {
    fn from(e: PatternError) -> Self {
        BuildError(BuildErrorKind::Pattern(e))
    }
}

impl Default for SearcherBuilder {
    fn default() -> Self {
        Self {
            engine: "auto".to_owned(),
            semantics: Semantics::All,
            threads: 1,
            nocase: false,
            memory_limit: None,
        }
    }
}

impl SearcherBuilder {
    /// The engine, by name, with its own options after a colon: `"ac-dfa:walks=4"`. `"auto"` chooses.
    pub fn engine(mut self, spec: &str) -> Self {
        self.engine = spec.to_owned();
        self
    }

    /// Which matches are reported. All of them, unless told otherwise.
    pub fn semantics(mut self, semantics: Semantics) -> Self {
        self.semantics = semantics;
        self
    }

    /// Threads for large haystacks, at least 1; 1 unless told otherwise.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Whether every pattern ignores ASCII case, whatever its own flag says.
    pub fn nocase(mut self, yes: bool) -> Self {
        self.nocase = yes;
        self
    }

    /// Most bytes that the compiled set may take. More is refused before it is allocated.
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = Some(bytes);
        self
    }

    /// Compiles a set.
    ///
    /// # Errors
    /// There is no such engine, or it refuses the set.
    pub fn build(&self, set: &PatternSet) -> Result<Searcher, BuildError> {
        let folded = self.nocase.then(|| set.to_nocase());
        let set = folded.as_ref().unwrap_or(set);
        let matcher = registry::compile(&self.engine, set, self.memory_limit)
            .map_err(|r| BuildError(BuildErrorKind::Refused(self.engine.clone(), r)))?;
        Ok(Searcher {
            matcher,
            semantics: self.semantics,
            threads: self.threads,
            scratch: Mutex::default(),
        })
    }
}

impl Searcher {
    /// A searcher for all occurrences, with the engine that fits the set. Ids are the positions of the patterns.
    ///
    /// # Errors
    /// A pattern is empty or longer than 65,535 bytes.
    pub fn new<I, P>(patterns: I) -> Result<Searcher, BuildError>
    where
        I: IntoIterator<Item = P>,
        P: AsRef<[u8]>,
    {
        Self::builder().build(&PatternSet::new(patterns)?)
    }

    /// Settings, to change before compiling.
    pub fn builder() -> SearcherBuilder {
        SearcherBuilder::default()
    }

    /// The patterns.
    pub fn set(&self) -> &PatternSet {
        self.matcher.set()
    }

    /// What was compiled, to be used directly: with your own [`Scratch`], blocks and sources.
    pub fn matcher(&self) -> &Arc<dyn Matcher> {
        &self.matcher
    }

    /// Which matches are reported.
    pub fn semantics(&self) -> Semantics {
        self.semantics
    }

    /// Whether there is any match. Stops at the first.
    pub fn is_match(&self, haystack: impl AsRef<[u8]>) -> bool {
        let mut exists = Exists::default();
        let block = Block::whole(haystack.as_ref());
        self.with_scratch(|s| self.matcher.scan(block, s, &mut exists).is_break() || exists.found)
    }

    /// The number of matches. A match of a pattern with several ids counts once for each.
    pub fn count(&self, haystack: impl AsRef<[u8]>) -> u64 {
        let haystack = haystack.as_ref();
        if self.semantics.needs_order() || self.semantics == Semantics::Exists {
            let mut count = Count::default();
            let _ = self.scan(haystack, &mut count);
            return count.matches;
        }
        if self.threads > 1 {
            let counts = parallel::fold(
                &*self.matcher,
                Haystack::Slice(haystack),
                self.threads,
                Count::default,
            );
            return counts.expect("memory cannot fail to be read").iter().map(|c| c.matches).sum();
        }
        let mut count = Count::default();
        let _ = self.with_scratch(|s| self.matcher.scan(Block::whole(haystack), s, &mut count));
        count.matches
    }

    /// The matches, in canonical order: by end, then start, then id.
    pub fn find_iter<'a>(&'a self, haystack: &'a (impl AsRef<[u8]> + ?Sized)) -> FindIter<'a> {
        FindIter {
            matcher: &*self.matcher,
            scratch: Scratch::following(),
            filter: Some(Filter::new(self.semantics, self.set())),
            haystack: haystack.as_ref(),
            at: 0,
            found: Vec::new().into_iter(),
        }
    }

    /// Gives the sink all matches, in canonical order. Uses the threads it was built with.
    ///
    /// Returns `Break` if the sink, or the semantics, wanted no more.
    pub fn scan(&self, haystack: impl AsRef<[u8]>, sink: &mut dyn Sink) -> ControlFlow<()> {
        let haystack = haystack.as_ref();
        let mut filter = Filter::new(self.semantics, self.set());
        if self.threads > 1 && haystack.len() > parallel::SEGMENT {
            let whole = Haystack::Slice(haystack);
            let each = &mut |s: parallel::Segment<'_>| filter.apply(&s.batch, sink);
            let flow = parallel::scan(&*self.matcher, whole, self.threads, each);
            flow.expect("memory cannot fail to be read")?;
        } else {
            let block = Block::whole(haystack);
            self.with_scratch(|scratch| self.scan_block(block, scratch, &mut filter.sink(sink)))?;
        }
        filter.finish(sink)
    }

    /// The same over anything that can be read, in bounded memory: two buffers of some 256 KiB, whatever comes.
    ///
    /// # Errors
    /// Reading failed. Matches before the error were given.
    ///
    /// ```
    /// use fyke::{Count, Searcher};
    /// let mut count = Count::default();
    /// let _ = Searcher::new(["ee"])?.scan_read(&b"needle in a tree"[..], &mut count)?;
    /// assert_eq!(count.matches, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn scan_read(&self, reader: impl Read, sink: &mut dyn Sink) -> io::Result<ControlFlow<()>> {
        let mut source = ReadSource::new(reader, parallel::SEGMENT, self.set().lead());
        let mut filter = Filter::new(self.semantics, self.set());
        let mut scratch = Scratch::following();
        while let Some(block) = source.next()? {
            if self.scan_block(block, &mut scratch, &mut filter.sink(sink)).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(filter.finish(sink))
    }

    /// The same over a file, with the threads the searcher was built with. What has no length, such as a
    /// FIFO, is read as a stream. A file is read and not mapped: one that shrinks meanwhile is an error.
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
        let mut filter = Filter::new(self.semantics, self.set());
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
        let mut sorter = Sorter::new(sink);
        self.matcher.scan(block, scratch, &mut sorter)?;
        sorter.finish()
    }

    /// A stream: a haystack that arrives in chunks.
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

    /// A stream that goes on where [`Stream::save`] left off.
    ///
    /// # Errors
    /// The state is damaged, or belongs to other patterns or semantics.
    pub fn restore(&self, state: &[u8]) -> Result<Stream, StateError> {
        Stream::restore(self.matcher.clone(), self.semantics, state)
    }

    /// Runs with a scratch that is kept for later calls.
    fn with_scratch<T>(&self, f: impl FnOnce(&mut Scratch) -> T) -> T {
        let pool = || self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scratch = pool().pop().unwrap_or_default();
        let result = f(&mut scratch);
        pool().push(scratch);
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

/// Iterator over matches; scans as far ahead as it has to.
pub struct FindIter<'a> {
    matcher: &'a dyn Matcher,
    scratch: Scratch,
    /// Gone once the haystack is through.
    filter: Option<Filter>,
    haystack: &'a [u8],
    at: usize,
    found: std::vec::IntoIter<Match>,
}

impl FindIter<'_> {
    /// Scans the next piece; `None` if there is none.
    fn scan_piece(&mut self) -> Option<Vec<Match>> {
        let filter = self.filter.as_mut()?;
        let mut found = Collect::default();
        let end = self.haystack.len().min(self.at + LOOK_AHEAD);
        let lead = self.matcher.set().lead().min(self.at);
        let block = Block {
            bytes: &self.haystack[self.at - lead..end],
            lead,
            offset: (self.at - lead) as u64,
        };
        let flow = {
            let mut filtered = filter.sink(&mut found);
            let mut sorter = Sorter::new(&mut filtered);
            match self.matcher.scan(block, &mut self.scratch, &mut sorter) {
                ControlFlow::Continue(()) => sorter.finish(),
                stop => stop,
            }
        };
        self.at = end;
        if flow.is_break() || end == self.haystack.len() {
            let _ = filter.finish(&mut found);
            self.filter = None;
        }
        Some(found.matches)
    }
}

impl Iterator for FindIter<'_> {
    type Item = Match;

    fn next(&mut self) -> Option<Match> {
        loop {
            if let Some(m) = self.found.next() {
                return Some(m);
            }
            self.found = self.scan_piece()?.into_iter();
        }
    }
}
