//! Streams: a haystack that arrives in chunks, with a state that can be saved.

use crate::abi::{FYKE_OK, FYKE_STOPPED, OnBytes, OnMatches, Status};
use crate::border::{Out, bytes, checked, guarded, reference};
use crate::error::Failure;
use crate::handle::{Exclusive, NewHandle, free_exclusive};
use crate::searcher::{Searcher, searcher_of, writer};
use crate::sink::{Delivery, callback};
use fyke::{Matcher, Semantics};
use std::ffi::c_void;
use std::io::Write;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A haystack that arrives in chunks. One thread at a time may use it.
pub struct Stream {
    state: Exclusive<State>,
}

struct State {
    matcher: Arc<dyn Matcher>,
    semantics: Semantics,
    phase: Phase,
    /// Bytes fed since the start.
    offset: u64,
}

/// What a stream is waiting for.
#[expect(clippy::large_enum_variant, reason = "a stream has one, on the heap")]
enum Phase {
    /// The next chunk, or the end.
    Open(fyke::Stream),
    /// The end: the semantics report no more matches.
    Complete,
    /// A reset, because a callback stopped it.
    Stopped,
    /// A reset, because it ended.
    Finished,
}

impl State {
    fn new(searcher: &fyke::Searcher, stream: fyke::Stream) -> Self {
        let (matcher, semantics) = (searcher.matcher().clone(), searcher.semantics());
        Self { matcher, semantics, offset: stream.offset(), phase: Phase::Open(stream) }
    }

    /// A failure if the stream has ended.
    fn check_not_finished(&self) -> Result<(), Failure> {
        match self.phase {
            Phase::Finished => Err(Failure::invalid("stream has ended: reset it")),
            _ => Ok(()),
        }
    }

    fn feed<F>(&mut self, chunk: &[u8], mut to: Delivery<F>) -> Result<Status, Failure>
    where
        F: FnMut(&[crate::abi::Match]) -> bool,
    {
        self.check_not_finished()?;
        let flow = match &mut self.phase {
            Phase::Open(stream) => stream.feed(chunk, &mut to),
            Phase::Stopped => return Ok(FYKE_STOPPED),
            _ => ControlFlow::Continue(()),
        };
        self.offset += chunk.len() as u64;
        let status = to.finish();
        if status == FYKE_STOPPED {
            self.phase = Phase::Stopped;
        } else if flow.is_break() {
            self.phase = Phase::Complete;
        }
        Ok(status)
    }

    fn finish<F>(&mut self, mut to: Delivery<F>) -> Result<Status, Failure>
    where
        F: FnMut(&[crate::abi::Match]) -> bool,
    {
        self.check_not_finished()?;
        match std::mem::replace(&mut self.phase, Phase::Finished) {
            Phase::Open(stream) => {
                // The delivery knows whether it was stopped.
                let _ = stream.finish(&mut to);
                Ok(to.finish())
            }
            Phase::Stopped => Ok(FYKE_STOPPED),
            _ => Ok(FYKE_OK),
        }
    }

    fn reset(&mut self) {
        let stream = fyke::Stream::new(self.matcher.clone(), self.semantics);
        (self.phase, self.offset) = (Phase::Open(stream), 0);
    }

    fn save(&self) -> Result<Vec<u8>, Failure> {
        match &self.phase {
            Phase::Open(stream) => Ok(stream.save()),
            _ => Err(Failure::invalid(
                "stream has no state to save: it ended, was stopped, or reported all matches that \
                 its semantics allow",
            )),
        }
    }
}

/// What a handle of a stream refers to.
///
/// # Safety
/// The pointer is null or live during `'a`.
unsafe fn stream_of<'a>(stream: *const Stream) -> Result<&'a Exclusive<State>, Failure> {
    // SAFETY: the caller promises the same.
    Ok(&unsafe { reference(stream, "stream") }?.state)
}

/// Opens a stream at the start of a haystack. It keeps what it needs of the searcher, which may be
/// freed before it. Free it with `fyke_stream_free`.
///
/// # Safety
/// `searcher` is NULL or live; `stream` is NULL or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_stream_new(
    searcher: *const Searcher,
    stream: *mut *mut Stream,
) -> Status {
    checked(|| {
        // SAFETY: the caller promises that it is null or a place.
        let new = unsafe { NewHandle::new(stream, "stream") }?;
        // SAFETY: the caller promises that it is null or live.
        let searcher = unsafe { searcher_of(searcher) }?;
        let state = State::new(searcher, searcher.stream());
        new.set(Stream { state: Exclusive::new(state) });
        Ok(())
    })
}

/// Frees a stream. NULL is allowed. Matches that leftmost semantics hold back are lost: call
/// `fyke_stream_finish` first.
///
/// Returns `FYKE_IN_USE`, and does not free it, in a callback of this stream.
///
/// # Safety
/// `stream` is NULL, or live and not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_stream_free(stream: *mut Stream) -> Status {
    // SAFETY: the caller promises the same.
    unsafe { free_exclusive(stream, "stream", |stream| &stream.state) }
}

/// Scans the next bytes of the haystack, of any number. A match may begin in one chunk and end in
/// another: the matches are those of all chunks in one haystack, and offsets count from its start.
///
/// Returns `FYKE_STOPPED` if the callback stops the stream, and from then on until it is reset.
/// Returns `FYKE_INVALID` after `fyke_stream_finish`.
///
/// # Safety
/// `stream` is NULL or live; `chunk` is NULL or has `len` bytes; `on_matches` is NULL or may be
/// called with `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_stream_feed(
    stream: *mut Stream,
    chunk: *const c_void,
    len: usize,
    on_matches: OnMatches,
    context: *mut c_void,
) -> Status {
    guarded(|| {
        // SAFETY: the caller promises that it is null or live.
        let mut state = unsafe { stream_of(stream) }?.take("stream")?;
        // SAFETY: the caller promises that it is null or has as many bytes.
        let chunk = unsafe { bytes(chunk, len, "chunk") }?;
        // SAFETY: the caller promises that it is null or may be called.
        let to = Delivery::new(unsafe { callback(on_matches, context) }?);
        state.feed(chunk, to)
    })
}

/// Ends the haystack. Leftmost semantics report the matches that they still hold back. Then the
/// stream can be reset or freed.
///
/// # Safety
/// `stream` is NULL or live; `on_matches` is NULL or may be called with `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_stream_finish(
    stream: *mut Stream,
    on_matches: OnMatches,
    context: *mut c_void,
) -> Status {
    guarded(|| {
        // SAFETY: the caller promises that it is null or live.
        let mut state = unsafe { stream_of(stream) }?.take("stream")?;
        // SAFETY: the caller promises that it is null or may be called.
        let to = Delivery::new(unsafe { callback(on_matches, context) }?);
        state.finish(to)
    })
}

/// Puts a stream at the start of another haystack. Matches that leftmost semantics hold back are
/// lost.
///
/// # Safety
/// `stream` is NULL or live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_stream_reset(stream: *mut Stream) -> Status {
    checked(|| {
        // SAFETY: the caller promises that it is null or live.
        unsafe { stream_of(stream) }?.take("stream")?.reset();
        Ok(())
    })
}

/// Gives the number of bytes that a stream was fed since its start.
///
/// # Safety
/// `stream` is NULL or live; `offset` is NULL or a place for the number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_stream_offset(stream: *const Stream, offset: *mut u64) -> Status {
    checked(|| {
        // SAFETY: the caller promises that it is null or a place.
        let offset = unsafe { Out::new(offset, "offset") }?;
        // SAFETY: the caller promises that it is null or live.
        offset.set(unsafe { stream_of(stream) }?.take("stream")?.offset);
        Ok(())
    })
}

/// Saves the state of a stream, part by part, to a callback. The stream goes on.
///
/// Returns `FYKE_INVALID` if the stream has ended, was stopped, or reported all matches that its
/// semantics allow; `FYKE_IO` if the callback returns another value than 0.
///
/// # Safety
/// `stream` is NULL or live; `on_bytes` is NULL or may be called with `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_stream_save(
    stream: *const Stream,
    on_bytes: OnBytes,
    context: *mut c_void,
) -> Status {
    checked(|| {
        // SAFETY: the caller promises that it is null or live.
        let state = unsafe { stream_of(stream) }?.take("stream")?;
        // SAFETY: the caller promises that it is null or may be called.
        let mut to = unsafe { writer(on_bytes, context) }?;
        Ok(to.write_all(&state.save()?)?)
    })
}

/// Opens a stream in the state that another one had, in this process or another one. The searcher
/// must have the same patterns and semantics as that stream's; engines may differ.
///
/// Returns `FYKE_BAD_STATE` if the bytes are no such state. `*stream` is NULL after a failure.
///
/// # Safety
/// `searcher` is NULL or live; `saved` is NULL or has `len` bytes; `stream` is NULL or a place for
/// a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_stream_restore(
    searcher: *const Searcher,
    saved: *const c_void,
    len: usize,
    stream: *mut *mut Stream,
) -> Status {
    checked(|| {
        // SAFETY: the caller promises that it is null or a place.
        let new = unsafe { NewHandle::new(stream, "stream") }?;
        // SAFETY: the caller promises that it is null or live.
        let searcher = unsafe { searcher_of(searcher) }?;
        // SAFETY: the caller promises that it is null or has as many bytes.
        let saved = unsafe { bytes(saved, len, "saved") }?;
        let state = State::new(searcher, searcher.restore(saved)?);
        new.set(Stream { state: Exclusive::new(state) });
        Ok(())
    })
}
