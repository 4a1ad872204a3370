//! [`Stream`]: a haystack fed in chunks of any size, whose state can be saved and restored.
//!
//! A stream keeps the last `max_len - 1` bytes as the overlap of the next block. A small chunk is
//! appended to that history. Of a large chunk only the first `max_len - 1` bytes are copied, to
//! find matches across the boundary. The rest is scanned in place, with the chunk's own head as
//! overlap. Automata carry their state across the boundary and walk no byte twice.

use crate::block::Block;
use crate::driver::Driver;
use crate::engine::Matcher;
use crate::error::{StateError, StateErrorKind};
use crate::pattern::PatternSet;
use crate::semantics::{Reader, Semantics, SemanticsFilter};
use crate::sink::{FNV_BASIS, Sink, fnv1a};
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The version of the saved state.
pub const STATE_VERSION: u32 = 2;
const MAGIC: &[u8; 4] = b"fykS";

/// Chunks that are at most this many bytes longer than the overlap are copied whole: scanning them
/// in place takes a second call, which costs more than the copy (`call-cost`).
const GATHER: usize = 256;

/// Scans one haystack that arrives in chunks. Matches come in canonical order for every engine.
///
/// ```
/// # use fyke_core::{Collect, Matcher, Semantics, StateError, Stream};
/// # use std::sync::Arc;
/// # fn scan(matcher: Arc<dyn Matcher>) -> Result<Collect, StateError> {
/// let mut found = Collect::default();
/// let mut stream = Stream::new(matcher.clone(), Semantics::All);
/// let _ = stream.feed(b"hay nee", &mut found);
/// let state = stream.save(); // to disk, or to another process
///
/// let mut stream = Stream::restore(matcher, Semantics::All, &state)?;
/// let _ = stream.feed(b"dle hay", &mut found);
/// let _ = stream.finish(&mut found);
/// # Ok(found)
/// # }
/// ```
///
/// `fyke::Searcher::stream` has the same example with a searcher.
pub struct Stream {
    matcher: Arc<dyn Matcher>,
    driver: Driver,
    /// The last bytes fed: at least the overlap, if as many were fed.
    window: Vec<u8>,
    /// Bytes fed so far.
    offset: u64,
}

impl Stream {
    /// A stream at the start of a haystack.
    pub fn new(matcher: Arc<dyn Matcher>, semantics: Semantics) -> Self {
        let driver = Driver::new(semantics, matcher.set());
        Self { matcher, driver, window: Vec::new(), offset: 0 }
    }

    /// Scans the next bytes of the haystack. Returns `Break` if the sink or the semantics ended the
    /// scan. The stream is finished then: feed it no more.
    pub fn feed(&mut self, chunk: &[u8], sink: &mut dyn Sink) -> ControlFlow<()> {
        let overlap = self.matcher.set().overlap();
        if chunk.len() <= overlap + GATHER {
            self.feed_gathered(chunk, sink)?;
        } else {
            self.feed_in_place(chunk, overlap, sink)?;
        }
        ControlFlow::Continue(())
    }

    /// Ends the haystack. Leftmost semantics report the matches that they still hold back.
    pub fn finish(mut self, sink: &mut dyn Sink) -> ControlFlow<()> {
        self.driver.finish(self.matcher.set(), sink)
    }

    /// Bytes fed so far.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Matches reported so far, without those that an engine added to a [`Sink::counter`].
    pub fn matches(&self) -> u64 {
        self.driver.matches()
    }

    /// The set it looks for.
    pub fn set(&self) -> &PatternSet {
        self.matcher.set()
    }

    /// Appends the chunk to the window and scans it there.
    fn feed_gathered(&mut self, chunk: &[u8], sink: &mut dyn Sink) -> ControlFlow<()> {
        let history = self.window.len();
        let start = self.offset - history as u64;
        self.window.extend_from_slice(chunk);
        self.offset += chunk.len() as u64;
        let keep = self.matcher.set().overlap();
        let skip = history.saturating_sub(keep);
        let window = std::mem::take(&mut self.window);
        let block =
            Block { bytes: &window[skip..], overlap: history - skip, offset: start + skip as u64 };
        let flow = self.scan(block, sink);
        self.window = window;
        self.trim(keep);
        flow
    }

    /// Scans the boundary in the window, then the chunk in place, with its own head as overlap.
    fn feed_in_place(
        &mut self,
        chunk: &[u8],
        overlap: usize,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let chunk_start = self.offset;
        self.feed_gathered(&chunk[..overlap], sink)?;
        self.scan(Block { bytes: chunk, overlap, offset: chunk_start }, sink)?;
        self.window.clear();
        self.window.extend_from_slice(&chunk[chunk.len() - overlap..]);
        self.offset = chunk_start + chunk.len() as u64;
        ControlFlow::Continue(())
    }

    fn scan(&mut self, block: Block<'_>, sink: &mut dyn Sink) -> ControlFlow<()> {
        self.driver.scan(&*self.matcher, block, sink)
    }

    /// Drops old history. It waits until there is so much that each byte is moved about once.
    fn trim(&mut self, keep: usize) {
        if self.window.len() > 2 * keep + 4 * GATHER {
            self.window.drain(..self.window.len() - keep);
        }
    }

    /// The state as bytes: offset, history, and the state of the semantics.
    ///
    /// The format has a version and a checksum, and names the set by its digest. Any engine that
    /// was compiled from the same set can restore it, in another process too.
    pub fn save(&self) -> Vec<u8> {
        let history = &self.window[self.window.len().saturating_sub(self.set().overlap())..];
        let mut state = MAGIC.to_vec();
        state.extend(STATE_VERSION.to_le_bytes());
        state.extend(self.set().digest().to_le_bytes());
        state.extend(self.offset.to_le_bytes());
        state.extend((history.len() as u32).to_le_bytes());
        state.extend(history);
        self.driver.encode(self.set(), &mut state);
        let checksum = fnv1a(&state, FNV_BASIS);
        state.extend(checksum.to_le_bytes());
        state
    }

    /// Restores a stream from a saved state.
    ///
    /// # Errors
    /// The bytes are no state, are damaged, have another version, or were saved with another set
    /// or other semantics.
    pub fn restore(
        matcher: Arc<dyn Matcher>,
        semantics: Semantics,
        state: &[u8],
    ) -> Result<Self, StateError> {
        let body = checked_body(state)?;
        let mut from = Reader(body);
        if from.u64()? != matcher.set().digest() {
            return Err(StateError(StateErrorKind::OtherSet));
        }
        let offset = from.count()?;
        let len = from.u32()? as usize;
        let window = from.take(len)?.to_vec();
        let filter = SemanticsFilter::decode(matcher.set(), offset, &mut from)?;
        if filter.semantics() != semantics {
            return Err(StateError(StateErrorKind::OtherSemantics));
        }
        let history_fits = len as u64 == offset.min(matcher.set().overlap() as u64);
        if !from.0.is_empty() || !history_fits {
            return Err(StateError(StateErrorKind::Damaged));
        }
        Ok(Self { matcher, driver: Driver::with(filter), window, offset })
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("engine", &self.matcher.info().name)
            .field("set", self.set())
            .field("offset", &self.offset)
            .field("matches", &self.matches())
            .finish_non_exhaustive()
    }
}

/// The bytes between version and checksum, after checking both and the magic number.
fn checked_body(state: &[u8]) -> Result<&[u8], StateError> {
    let mut from = Reader(state);
    if from.take(4).ok() != Some(MAGIC) {
        return Err(StateError(StateErrorKind::NotAState));
    }
    let version = from.u32()?;
    if version != STATE_VERSION {
        return Err(StateError(StateErrorKind::Version(version)));
    }
    let split = from.0.len().checked_sub(8).ok_or(StateError(StateErrorKind::Damaged))?;
    let (body, mut checksum) = (&from.0[..split], Reader(&from.0[split..]));
    let intact = checksum.u64()? == fnv1a(&state[..state.len() - 8], FNV_BASIS);
    if intact { Ok(body) } else { Err(StateError(StateErrorKind::Damaged)) }
}
