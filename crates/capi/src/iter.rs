//! Iterators: the matches of one haystack, in arrays of the caller.
//!
//! An iterator feeds the haystack to a stream, in pieces, and keeps the matches of a piece until
//! the caller has taken them. So it works with all semantics, and needs no memory for all matches.

use crate::abi::{FYKE_MORE, FYKE_OK, Match, Status};
use crate::border::{Out, bytes, checked, guarded, reference, room};
use crate::error::Failure;
use crate::handle::{Exclusive, NewHandle, free_exclusive};
use crate::searcher::{Searcher, searcher_of};
use fyke::{Collect, Stream, StreamMatch};
use std::ffi::c_void;
use std::mem::MaybeUninit;

/// Fewest bytes of a piece. Not measured: a guess.
const PIECE: usize = 16 << 10;

/// The matches of one haystack. One thread at a time may use it.
pub struct Iter {
    state: Exclusive<State>,
}

struct State {
    /// None when the haystack was scanned.
    stream: Option<Stream>,
    /// The rest of the haystack.
    rest: &'static [u8],
    found: Collect,
    /// How many of these were given.
    given: usize,
}

impl State {
    fn new(stream: Stream, haystack: &'static [u8]) -> Self {
        Self { stream: Some(stream), rest: haystack, found: Collect::default(), given: 0 }
    }

    /// Scans the next piece. False if there is none.
    fn scan(&mut self) -> bool {
        let Some(mut stream) = self.stream.take() else { return false };
        self.found.matches.clear();
        self.given = 0;
        // A stream copies as many bytes of a piece as its patterns are long.
        let piece = PIECE.max(4 * stream.set().max_len()).min(self.rest.len());
        let (piece, rest) = self.rest.split_at(piece);
        self.rest = rest;
        let flow = stream.feed(piece, &mut self.found);
        if flow.is_continue() && !rest.is_empty() {
            self.stream = Some(stream);
        } else if flow.is_continue() {
            // A sink that collects never stops a stream.
            let _ = stream.finish(&mut self.found);
        }
        true
    }

    fn next(&mut self) -> Option<StreamMatch> {
        loop {
            if let Some(&m) = self.found.matches.get(self.given) {
                self.given += 1;
                return Some(m);
            }
            if !self.scan() {
                return None;
            }
        }
    }

    /// Writes the next matches. Returns their number, and whether there may be more.
    fn fill(&mut self, to: &mut [MaybeUninit<Match>]) -> (usize, Status) {
        for (count, place) in to.iter_mut().enumerate() {
            let Some(m) = self.next() else { return (count, FYKE_OK) };
            place.write(m.into());
        }
        (to.len(), FYKE_MORE)
    }
}

/// Makes an iterator over the matches that `fyke_scan` would report. The haystack must stay where
/// it is, and unchanged, until the iterator is freed; the searcher may be freed before. Free the
/// iterator with `fyke_iter_free`.
///
/// # Safety
/// `searcher` is NULL or live; `haystack` is NULL or has `len` bytes until the iterator is freed;
/// `iterator` is NULL or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_iter_new(
    searcher: *const Searcher,
    haystack: *const c_void,
    len: usize,
    iterator: *mut *mut Iter,
) -> Status {
    checked(|| {
        // SAFETY: the caller promises that it is null or a place.
        let new = unsafe { NewHandle::new(iterator, "iterator") }?;
        // SAFETY: the caller promises that it is null or live.
        let searcher = unsafe { searcher_of(searcher) }?;
        // SAFETY: the caller promises that it is null or has as many bytes until the iterator is
        // freed, and only the iterator gets the slice.
        let haystack: &'static [u8] = unsafe { bytes(haystack, len, "haystack") }?;
        new.set(Iter { state: Exclusive::new(State::new(searcher.stream(), haystack)) });
        Ok(())
    })
}

/// Writes the next matches to an array of `capacity` matches, and their number to `*count`.
///
/// Returns `FYKE_MORE` if the array is full: call it again. Returns `FYKE_OK` with the last
/// matches; there may be none. A capacity of 0 is `FYKE_INVALID`.
///
/// # Safety
/// `iterator` is NULL or live; `matches` is NULL or has room for `capacity` matches; `count` is
/// NULL or a place for the number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_iter_next(
    iterator: *mut Iter,
    matches: *mut Match,
    capacity: usize,
    count: *mut usize,
) -> Status {
    guarded(|| {
        // SAFETY: the caller promises that it is null or a place.
        let count = unsafe { Out::new(count, "count") }?;
        // SAFETY: the caller promises that it is null or live.
        let mut state = unsafe { reference(iterator, "iterator") }?.state.take("iterator")?;
        // SAFETY: the caller promises that it is null or has the room.
        let to = unsafe { room(matches, capacity, "matches") }?;
        if to.is_empty() {
            return Err(Failure::invalid("capacity is 0"));
        }
        let (written, status) = state.fill(to);
        count.set(written);
        Ok(status)
    })
}

/// Frees an iterator. NULL is allowed.
///
/// # Safety
/// `iterator` is NULL, or live and not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_iter_free(iterator: *mut Iter) -> Status {
    // SAFETY: the caller promises the same.
    unsafe { free_exclusive(iterator, "iterator", |iterator| &iterator.state) }
}
