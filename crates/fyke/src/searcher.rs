//! The front door.

use crate::batch::{Room, Run, Store, To};
use crate::parallel::{self, Haystack};
use crate::registry;
use fyke_core::{
    Batch, Block, Collect, Count, Exists, Filter, Match, Matcher, Options, PatternError,
    PatternSet, Refusal, Scratch, Semantics, Sink, Sorter, Source, StateError, Stream,
};
use fyke_io::source::{self, Opened, ReadSource};
use std::fmt;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

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
    kept: Mutex<Kept>,
    /// For calls that come while another one is using `kept`.
    more: Mutex<Vec<Kept>>,
}

/// What calls write to, kept for later ones: buffers grow once.
struct Kept {
    /// Follows the pieces of one haystack; to be told to forget when another one begins.
    scratch: Scratch,
    /// Made by the first call that needs one.
    filter: Option<Filter>,
    store: Store,
    room: Room,
}

impl Default for Kept {
    fn default() -> Self {
        let (scratch, filter) = (Scratch::following(), None);
        Self { scratch, filter, store: Store::default(), room: Room::default() }
    }
}

/// Settings for a [`Searcher`].
#[derive(Clone, Debug)]
pub struct SearcherBuilder {
    engine: String,
    semantics: Semantics,
    threads: usize,
    nocase: bool,
    options: Options,
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
            options: Options::default(),
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
        self.options.memory_limit = Some(bytes);
        self
    }

    /// Some of the data that will be scanned, or data like it; a few hundred kilobytes are enough. Engines are
    /// chosen, and patterns known, by what is rare in it. Matches are the same without it.
    pub fn sample(mut self, bytes: impl Into<Arc<[u8]>>) -> Self {
        self.options = self.options.sampled(bytes);
        self
    }

    /// Bytes that will be scanned in all, roughly. `"auto"` takes a graphics processor only for so many bytes that
    /// this pays, and none if it is not told: to open one takes some tenths of a second. Matches are the same.
    ///
    /// ```
    /// use fyke::{Device, PatternSet, Searcher};
    ///
    /// let set = PatternSet::new(["needle", "pin"])?;
    /// let searcher = Searcher::builder().threads(4).expected_bytes(1 << 20).build(&set)?;
    /// assert_eq!(searcher.matcher().info().device, Device::Cpu); // a megabyte is too little, wherever this runs
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn expected_bytes(mut self, bytes: u64) -> Self {
        self.options.expected_bytes = Some(bytes);
        self
    }

    /// Compiles a set.
    ///
    /// # Errors
    /// There is no such engine, or it refuses the set.
    pub fn build(&self, set: &PatternSet) -> Result<Searcher, BuildError> {
        let folded = self.nocase.then(|| set.to_nocase());
        let set = folded.as_ref().unwrap_or(set);
        let options = self.options.clone().expecting(self.options.expected_bytes, self.threads);
        let matcher = registry::compile_with(&self.engine, set, &options)
            .map_err(|r| BuildError(BuildErrorKind::Refused(self.engine.clone(), r)))?;
        Ok(Searcher {
            matcher,
            semantics: self.semantics,
            threads: self.threads,
            kept: Mutex::default(),
            more: Mutex::default(),
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
        self.with_kept(|kept| {
            self.matcher.scan(block, &mut kept.scratch, &mut exists).is_break() || exists.found
        })
    }

    /// The number of matches. A match of a pattern with several ids counts once for each.
    pub fn count(&self, haystack: impl AsRef<[u8]>) -> u64 {
        let haystack = haystack.as_ref();
        match self.semantics {
            Semantics::All | Semantics::Count => self.count_all(haystack),
            Semantics::Exists => u64::from(self.is_match(haystack)),
            // Which occurrence of a pattern is its first depends on the order, how many there are does not.
            Semantics::Once => self.with_kept(|kept| {
                let (block, mut count) = (Block::whole(haystack), Count::default());
                let filter = self.filter(&mut kept.filter);
                let _ = self.matcher.scan(block, &mut kept.scratch, &mut filter.sink(&mut count));
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
        let _ = self.with_kept(|kept| self.matcher.scan(block, &mut kept.scratch, &mut count));
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
        self.with_kept(|kept| {
            let filter = self.filter(&mut kept.filter);
            if self.threads > 1 && haystack.len() > parallel::SEGMENT {
                let whole = Haystack::Slice(haystack);
                let each = &mut |s: parallel::Segment<'_>| filter.apply(&s.batch, sink);
                let flow = parallel::scan(&*self.matcher, whole, self.threads, each);
                flow.expect("memory cannot fail to be read")?;
            } else {
                // In pieces, so that what an engine finds out of order is sorted while it is in a cache.
                let piece = parallel::segment(&*self.matcher);
                let pieces = Block::whole(haystack).pieces(piece, self.set().overlap());
                let mut sink = filter.sink(sink);
                for piece in pieces {
                    self.scan_block(piece, &mut kept.scratch, &mut sink)?;
                }
            }
            filter.finish(sink)
        })
    }

    /// Scans many small haystacks in one call, such as packets or lines: much faster than a call for each.
    /// Haystack by haystack `each` is given its number, from 0, and its matches, in canonical order, their
    /// positions counted from its own first byte. The semantics hold for every haystack by itself.
    ///
    /// Matches of one haystack may come in several batches; a haystack without a match is passed over.
    /// `Break` ends the whole call. Bytes are copied, but for haystacks of some KiB and more; those that lie
    /// one after the other need not be, see [`scan_packed`](Self::scan_packed). Packets are scanned on the
    /// calling thread: a searcher may be shared by as many threads as there are.
    ///
    /// ```
    /// use fyke::Searcher;
    /// use std::ops::ControlFlow;
    ///
    /// let packets: [&[u8]; 3] = [b"GET /a", b"POST /b", b"GE"];
    /// let searcher = Searcher::new(["GET", "/"])?;
    /// let mut found = Vec::new();
    /// let _ = searcher.scan_batch(packets, |packet, batch| {
    ///     found.extend(batch.matches().map(|m| (packet, m.start, m.end)));
    ///     ControlFlow::Continue(())
    /// });
    /// assert_eq!(found, [(0, 0, 3), (0, 4, 5), (1, 5, 6)]);
    /// # Ok::<(), fyke::BuildError>(())
    /// ```
    pub fn scan_batch<H: AsRef<[u8]>>(
        &self,
        haystacks: impl IntoIterator<Item = H>,
        mut each: impl FnMut(usize, &Batch<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.with_run(To::Each(&mut each), |run, store| run.copied(haystacks, store))
    }

    /// As [`scan_batch`](Self::scan_batch), for haystacks that lie one after the other: haystack i ends
    /// before `bytes[ends[i]]`, and the next one starts there. Nothing is copied.
    ///
    /// # Panics
    /// The ends do not ascend, or the last one is beyond `bytes`.
    pub fn scan_packed(
        &self,
        bytes: &[u8],
        ends: &[usize],
        mut each: impl FnMut(usize, &Batch<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        check_ends(bytes, ends);
        self.with_run(To::Each(&mut each), |run, _| run.in_place(bytes, ends))
    }

    /// The number of matches of each of many small haystacks, put into `counts`. With [`Semantics::Exists`]
    /// that is 1 or 0.
    ///
    /// ```
    /// let searcher = fyke::Searcher::new(["he", "she"])?;
    /// let mut counts = Vec::new();
    /// searcher.count_batch(["she", "s", "hehe"], &mut counts);
    /// assert_eq!(counts, [2, 0, 2]);
    /// # Ok::<(), fyke::BuildError>(())
    /// ```
    pub fn count_batch<H: AsRef<[u8]>>(
        &self,
        haystacks: impl IntoIterator<Item = H>,
        counts: &mut Vec<u64>,
    ) {
        counts.clear();
        let _ = self.with_run(To::Counts(counts), |run, store| run.copied(haystacks, store));
    }

    /// As [`count_batch`](Self::count_batch), for haystacks that lie one after the other, as in
    /// [`scan_packed`](Self::scan_packed).
    ///
    /// # Panics
    /// The ends do not ascend, or the last one is beyond `bytes`.
    pub fn count_packed(&self, bytes: &[u8], ends: &[usize], counts: &mut Vec<u64>) {
        check_ends(bytes, ends);
        counts.clear();
        let _ = self.with_run(To::Counts(counts), |run, _| run.in_place(bytes, ends));
    }

    fn with_run(
        &self,
        mut to: To<'_>,
        scan: impl FnOnce(&mut Run<'_, '_>, &mut Store) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.with_kept(|kept| {
            let filter = self.filter(&mut kept.filter);
            let (scratch, room, to) = (&mut kept.scratch, &mut kept.room, &mut to);
            scan(&mut Run { searcher: self, scratch, filter, room, to }, &mut kept.store)
        })
    }

    /// The filter that was kept, at the start of a haystack.
    fn filter<'k>(&self, kept: &'k mut Option<Filter>) -> &'k mut Filter {
        let filter = kept.get_or_insert_with(|| Filter::new(self.semantics, self.set()));
        filter.restart();
        filter
    }

    /// The same over anything that can be read, in bounded memory: two buffers of some 256 KiB, whatever comes,
    /// or of 16 MiB where a graphics processor searches.
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
        let piece = parallel::segment(&*self.matcher);
        let mut source = ReadSource::new(reader, piece, self.set().overlap());
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
        if matches!(self.semantics, Semantics::Exists | Semantics::Count) {
            return self.matcher.scan(block, scratch, sink);
        }
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

    /// Runs with what is kept for later calls.
    fn with_kept<T>(&self, f: impl FnOnce(&mut Kept) -> T) -> T {
        let f = |kept: &mut Kept| {
            kept.scratch.forget();
            f(kept)
        };
        match self.kept.try_lock() {
            Ok(mut kept) => return f(&mut kept),
            Err(TryLockError::Poisoned(kept)) => return f(&mut kept.into_inner()),
            Err(TryLockError::WouldBlock) => {}
        }
        let more = || self.more.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = more().pop();
        let mut kept = taken.unwrap_or_default();
        let result = f(&mut kept);
        more().push(kept);
        result
    }
}

/// Refuses ends that are not those of haystacks one after the other.
fn check_ends(bytes: &[u8], ends: &[usize]) {
    assert!(ends.is_sorted(), "a haystack would end before it starts");
    assert!(ends.last().is_none_or(|&end| end <= bytes.len()), "a haystack ends beyond the bytes");
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
        let overlap = self.matcher.set().overlap().min(self.at);
        let block = Block {
            bytes: &self.haystack[self.at - overlap..end],
            overlap,
            offset: (self.at - overlap) as u64,
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
