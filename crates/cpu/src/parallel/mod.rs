//! Scans one large haystack on several threads.
//!
//! The haystack is cut into segments under the ownership rule (see [`fyke_core::Block`]), and each
//! free thread takes the next segment. There are two ways to get the matches:
//!
//! * [`scan`] passes all matches to one function on the calling thread, segment by segment **in
//!   order**, with the bytes they were found in. Matches of later segments wait in buffers of
//!   bounded size: a thread with too many waits until its segment is next.
//! * [`fold`] gives every thread its own sink and returns the sinks at the end. Use it for results
//!   that do not depend on the order, such as counts and fingerprints: the threads exchange
//!   nothing.
//!
//! One matcher serves all threads, since it is immutable. Zha and Sahni 2011, VI-A2, and Zha 2010,
//! 5.3, scan with an overlap of `max_len - 1` as here, but with a copy of the automaton per thread.
//! [`fold_each`] does that.

mod fold;
mod ordered;

pub use fold::{fold, fold_each};
pub use ordered::scan;

#[cfg(test)]
mod tests;

use fyke_core::{Batch, Block, Device, Matcher, Memory, driver};
use std::io;
use std::ops::{Deref, DerefMut};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, Builder, Scope, ScopedJoinHandle};

/// The minimum number of bytes that a segment owns. They fit in an L2 cache together with an
/// automaton, and scanning them takes much longer than taking a segment. `threads` measures the
/// speedup.
pub const SEGMENT: usize = driver::PIECE;

/// The minimum number of segments per thread: starting a thread takes as long as a fast engine
/// needs for one or two. A guess: `threads` has no haystack this small.
const SEGMENTS_PER_THREAD: u64 = 2;

/// The maximum number of threads that feed a GPU. Each has a stream and buffers there, and all
/// share the bus. Swept by `threads`: throughput grows to 12 threads and is flat beyond.
const DEVICE_THREADS: usize = 16;

/// Fills a buffer with the bytes at a position, from any thread.
pub type ReadAt<'a> = dyn Fn(u64, &mut [u8]) -> io::Result<()> + Sync + 'a;

/// A haystack that several threads can read.
#[derive(Clone, Copy)]
pub enum Haystack<'a> {
    /// Bytes in memory.
    Slice(&'a [u8]),
    /// Bytes to read piece by piece, such as those of a file.
    ReadAt {
        /// Length in bytes.
        len: u64,
        /// Fills a buffer with the bytes at a position.
        read: &'a ReadAt<'a>,
    },
}

/// Matches of a segment, or its end.
#[derive(Clone, Copy)]
pub struct Segment<'a> {
    /// The segment's bytes with their overlap.
    pub block: Block<'a>,
    /// Some of its matches, in canonical order.
    pub batch: Batch<'a>,
    /// Whether these are the last of this segment.
    pub last: bool,
}

impl Haystack<'_> {
    /// Length in bytes.
    pub fn len(&self) -> u64 {
        match self {
            Haystack::Slice(bytes) => bytes.len() as u64,
            Haystack::ReadAt { len, .. } => *len,
        }
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Bytes that a segment owns for a matcher.
pub fn segment(matcher: &dyn Matcher) -> usize {
    driver::piece_size(matcher)
}

/// Most threads that scan with a matcher at once.
pub fn most_threads(matcher: &dyn Matcher) -> usize {
    match matcher.info().device {
        Device::Cpu => usize::MAX,
        Device::Gpu => DEVICE_THREADS,
    }
}

/// The bytes of a segment that was read.
#[derive(Default)]
struct ReadBuffer {
    /// Memory of the kind that the matcher prefers.
    memory: Option<Memory>,
    len: usize,
}

impl Deref for ReadBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.memory.as_ref().map_or(&[], |m| &m[..self.len])
    }
}

impl DerefMut for ReadBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.memory.as_mut().map_or(&mut [], |m| &mut m[..self.len])
    }
}

/// A haystack and its segments.
#[derive(Clone, Copy)]
struct Segmentation<'a> {
    haystack: Haystack<'a>,
    size: u64,
    overlap: u64,
    most_threads: usize,
}

impl<'a> Segmentation<'a> {
    fn new(matcher: &dyn Matcher, haystack: Haystack<'a>) -> Self {
        let (size, overlap) = (segment(matcher) as u64, matcher.set().overlap() as u64);
        Segmentation { haystack, size, overlap, most_threads: most_threads(matcher) }
    }

    fn count(&self) -> u64 {
        self.haystack.len().div_ceil(self.size)
    }

    /// How many of `threads` can have work.
    fn useful(&self, threads: usize) -> usize {
        let most = self.count().div_ceil(SEGMENTS_PER_THREAD).max(1);
        threads.min(self.most_threads).clamp(1, usize::try_from(most).unwrap_or(usize::MAX))
    }

    /// Where the overlap and the owned bytes of segment `i` begin, and where it ends.
    fn bounds(&self, i: u64) -> (u64, u64, u64) {
        let start = i * self.size;
        (start - self.overlap.min(start), start, self.haystack.len().min(start + self.size))
    }

    /// Reads the bytes of segment `i` into the buffer, unless they are in memory.
    fn fill(&self, matcher: &dyn Matcher, i: u64, buffer: &mut ReadBuffer) -> io::Result<()> {
        let Haystack::ReadAt { len, read } = self.haystack else { return Ok(()) };
        let (from, _, to) = self.bounds(i);
        buffer.len = (to - from) as usize;
        if buffer.memory.as_ref().is_none_or(|m| m.len() < buffer.len) {
            let most = usize::try_from(len.min(self.overlap + self.size)).unwrap_or(usize::MAX);
            buffer.memory = Some(matcher.memory(most));
        }
        read(from, buffer)
    }

    /// Segment `i`, from memory or from the buffer that was filled for it.
    fn view<'b>(&self, i: u64, buffer: &'b [u8]) -> Block<'b>
    where
        'a: 'b,
    {
        let (from, start, to) = self.bounds(i);
        let bytes = match self.haystack {
            Haystack::Slice(all) => &all[from as usize..to as usize],
            Haystack::ReadAt { .. } => buffer,
        };
        Block { bytes, overlap: (start - from) as usize, offset: from }
    }

    /// The next segment that no thread has taken.
    fn take(&self, next: &AtomicU64, stop: &AtomicBool) -> Option<u64> {
        let i = next.fetch_add(1, Ordering::Relaxed);
        (i < self.count() && !stop.load(Ordering::Relaxed)).then_some(i)
    }
}

/// Calls a function when it is dropped, also while a panic unwinds.
struct OnDrop<F: Fn()>(F);

impl<F: Fn()> OnDrop<F> {
    /// Drops the guard without calling the function.
    fn disarm(self) {
        std::mem::forget(self);
    }
}

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// The threads of a scan. They are joined when this is dropped, also while a panic unwinds. A scope
/// alone waits for their work, but not until they have ended.
struct Threads<'scope, T>(Vec<ScopedJoinHandle<'scope, T>>);

impl<'scope, T: Send + 'scope> Threads<'scope, T> {
    /// Starts a thread for each piece of work. It stops at the first one that the system cannot
    /// start: the limit is reached, or there are no threads, as in WebAssembly. The threads that
    /// exist then do the work.
    fn start<W: FnOnce() -> T + Send + 'scope>(
        scope: &'scope Scope<'scope, '_>,
        work: impl Iterator<Item = W>,
    ) -> Self {
        Threads(work.map_while(|w| Builder::new().spawn_scoped(scope, w).ok()).collect())
    }

    /// Waits for all threads and returns their results, or panics with the panic of the first one
    /// that panicked.
    fn join(mut self) -> Vec<T> {
        let results: Vec<thread::Result<T>> =
            self.0.drain(..).map(ScopedJoinHandle::join).collect();
        results.into_iter().map(|r| r.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    }
}

impl<T> Drop for Threads<'_, T> {
    fn drop(&mut self) {
        self.0.drain(..).for_each(|thread| drop(thread.join()));
    }
}
