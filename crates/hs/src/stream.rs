//! [`Stream`]: what C holds as `hs_stream_t`. It is one block of memory: a head, the last bytes of
//! the haystack, and the spent slots.

use crate::abi::{INVALID, MatchHandler, SCAN_TERMINATED, Status};
use crate::alloc::STREAM;
use crate::border::{array, guarded, put};
use crate::database::{Database, Kind};
use crate::engine::Engine;
use crate::next::{self, Library, NextDatabase};
use crate::report::Callback;
use crate::rules::Mode;
use crate::scan::ended;
use crate::scratch::{Claimed, Scratch};
use crate::window::Window;
use std::ffi::{c_char, c_uint, c_void};
use std::ptr;

/// The mark of a live stream.
const MAGIC: u32 = 0x6679_5354;
/// A haystack that arrives in chunks: `hs_stream_t`. The tail follows in memory. It has room for
/// the history, and a bit for each slot.
#[repr(C)]
pub struct Stream {
    magic: u32,
    /// How many bytes of history are held.
    pub(crate) held: u32,
    /// The caller keeps a database as long as its streams.
    database: *const Database,
    /// The stream of the next library; null if the database is not of it.
    pub(crate) next: *mut c_void,
    /// Bytes scanned so far.
    pub(crate) offset: u64,
    /// Bytes of history that the tail has room for, and bytes of bits after them.
    pub(crate) room: u32,
    bits: u32,
    /// Whether a handler ended the scan.
    pub(crate) terminated: bool,
}

/// A live stream and its tail.
pub(crate) struct Opened<'a> {
    pub(crate) head: &'a mut Stream,
    pub(crate) tail: &'a mut [u8],
    pub(crate) database: &'a Database,
}

/// Who gets the matches at the end of the data. Only the next library has such matches.
pub(crate) struct Ending<'a> {
    /// Claimed while the handler runs.
    scratch: Option<Claimed<'a>>,
    handler: Option<MatchHandler>,
    context: *mut c_void,
}

impl Ending<'_> {
    /// Nobody does, so no scratch is needed.
    pub(crate) const UNREPORTED: Ending<'static> =
        Ending { scratch: None, handler: None, context: ptr::null_mut() };

    /// Ends a stream of the next library.
    ///
    /// # Safety
    /// The stream is live. If it was closed, it is not used again.
    unsafe fn close(&self, library: &Library, stream: *mut c_void) -> Result<(), Status> {
        let scratch = self.scratch.as_ref().map_or(ptr::null_mut(), |state| state.next_raw());
        // SAFETY: the stream is live, as the caller promises; the library checks the scratch.
        next::check(unsafe { (library.close_stream)(stream, scratch, self.handler, self.context) })
    }
}

/// Bytes of the tail: of the history, and of the bits.
fn tail_of(engine: &Engine) -> (usize, usize) {
    (engine.overlap(), engine.slots().div_ceil(8))
}

impl Stream {
    /// A stream at the start of a haystack.
    pub(crate) fn allocate(database: &Database) -> Result<*mut Stream, Status> {
        let (room, bits) = match database.kind() {
            Kind::Own(engine) => tail_of(engine),
            Kind::Next(_) => (0, 0),
        };
        let (head, tail) = (size_of::<Stream>(), room + bits);
        let stream: *mut Stream = STREAM.allocate(head + tail)?.as_ptr().cast();
        let next = match database.kind() {
            Kind::Own(_) => Ok(ptr::null_mut()),
            Kind::Next(next) => open_next(next),
        };
        let next = next.inspect_err(|_| {
            // SAFETY: `STREAM` allocated the memory above, and no other pointer leads to it.
            unsafe { STREAM.release(stream.cast()) };
        })?;
        let value = Stream {
            magic: MAGIC,
            held: 0,
            database,
            next,
            offset: 0,
            room: room as u32,
            bits: bits as u32,
            terminated: false,
        };
        // SAFETY: the memory has room for it, is aligned, and nobody else knows it.
        unsafe { stream.write(value) };
        // SAFETY: the tail begins after the head, within the memory.
        let behind = unsafe { stream.cast::<u8>().add(head) };
        // SAFETY: the memory has that many bytes after the head.
        unsafe { behind.write_bytes(0, tail) };
        Ok(stream)
    }

    /// The stream behind a pointer of the caller, with its tail.
    ///
    /// # Safety
    /// The pointer is null, or leads to readable memory of a `Stream`'s size. If that has the mark
    /// of a live stream, it is one, nobody else uses it during `'a`, and its database is live.
    pub(crate) unsafe fn open<'a>(stream: *mut Stream) -> Result<Opened<'a>, Status> {
        if stream.is_null() || !stream.is_aligned() {
            return Err(INVALID);
        }
        // SAFETY: the caller promises readable memory; it is aligned, and the mark comes first.
        let magic = unsafe { stream.cast::<u32>().read() };
        if magic != MAGIC {
            return Err(INVALID);
        }
        // SAFETY: the tail begins after the head, in the memory that `allocate` took.
        let tail = unsafe { stream.cast::<u8>().add(size_of::<Stream>()) };
        // SAFETY: it has the mark, so the caller promises that it is live and used by nobody else.
        let head = unsafe { &mut *stream };
        let len = head.room as usize + head.bits as usize;
        // SAFETY: `allocate` took as many bytes for the tail, which the head does not overlap.
        let tail = unsafe { std::slice::from_raw_parts_mut(tail, len) };
        // SAFETY: the caller promises that the database of the stream is live.
        let database = unsafe { Database::check(head.database) }?;
        Ok(Opened { head, tail, database })
    }

    /// Frees a stream.
    ///
    /// # Safety
    /// It is live and not used again.
    unsafe fn free(stream: *mut Stream) {
        // SAFETY: it is live, so its head can be written.
        unsafe { stream.cast::<u32>().write_volatile(0) };
        // SAFETY: `Stream::allocate` took the memory of every live stream from this allocator.
        unsafe { STREAM.release(stream.cast()) };
    }
}

impl Opened<'_> {
    pub(crate) fn next(&self) -> Option<&'static Library> {
        match self.database.kind() {
            Kind::Own(_) => None,
            Kind::Next(next) => Some(next.library),
        }
    }

    /// Replaces the stream that the next library has for this one. If the old one cannot be closed,
    /// it stays.
    ///
    /// # Safety
    /// `new` is a live stream of this library that nobody else uses.
    pub(crate) unsafe fn replace_next(
        &mut self,
        library: &Library,
        new: *mut c_void,
        ending: &Ending<'_>,
    ) -> Result<(), Status> {
        // SAFETY: the stream of an open stream is live; it is not used again once it is closed.
        let closed = unsafe { ending.close(library, self.head.next) };
        if closed.is_err() {
            // SAFETY: it is live, as the caller promises, and not used again.
            let _ = unsafe { Ending::UNREPORTED.close(library, new) };
            return closed;
        }
        self.head.next = new;
        Ok(())
    }

    /// Returns to the start of a haystack.
    fn reset(&mut self) {
        (self.head.held, self.head.offset, self.head.terminated) = (0, 0, false);
        self.tail.fill(0);
    }

    /// Takes over the state of another stream of the same database.
    fn copy_from(&mut self, other: &Opened<'_>) {
        (self.head.held, self.head.offset) = (other.head.held, other.head.offset);
        self.head.terminated = other.head.terminated;
        self.tail.copy_from_slice(other.tail);
    }
}

fn open_next(next: &NextDatabase) -> Result<*mut c_void, Status> {
    let mut stream = ptr::null_mut();
    // SAFETY: the database is valid, and so is the place of the result.
    next::check(unsafe { (next.library.open_stream)(next.raw(), 0, &raw mut stream) })?;
    Ok(stream)
}

/// Checks the scratch of a call that ends or resets a stream. Hyperscan reports matches at the end
/// of the data there, and needs a scratch if there is a handler. Literals have no such matches.
///
/// # Safety
/// `scratch` is as in `hs_scan`, and a live scratch is not freed during `'a`.
pub(crate) unsafe fn check_scratch<'a>(
    scratch: *mut Scratch,
    handler: Option<MatchHandler>,
    context: *mut c_void,
    database: &Database,
) -> Result<Ending<'a>, Status> {
    if handler.is_none() {
        return Ok(Ending::UNREPORTED);
    }
    // SAFETY: the contract of this function demands of `scratch` what `claim` does.
    let state = unsafe { Scratch::claim(scratch) }?;
    if let Kind::Own(engine) = database.kind() {
        state.check_fits(engine)?;
    }
    Ok(Ending { scratch: Some(state), handler, context })
}

/// Opens a stream.
///
/// # Safety
/// `database` is as in `hs_scan`; `stream` is null or valid for writes. The database lives as long
/// as the stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_open_stream(
    database: *const Database,
    _flags: c_uint,
    stream: *mut *mut Stream,
) -> Status {
    guarded(|| {
        // SAFETY: the caller promises that it is null or valid.
        unsafe { put(stream, ptr::null_mut()) }?;
        // SAFETY: the contract of this function demands of `database` what `check` does.
        let database = unsafe { Database::check(database) }?;
        database.check_mode(Mode::Stream)?;
        // SAFETY: `stream` was found not to be null, so the caller promises that it is valid.
        unsafe { put(stream, Stream::allocate(database)?) }
    })
}

/// Scans the next chunk of a stream.
///
/// # Safety
/// `stream` is null or leads to readable memory, which is a live stream if it has the mark of one,
/// and which no other call uses. The rest is as in `hs_scan`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_scan_stream(
    stream: *mut Stream,
    data: *const c_char,
    length: c_uint,
    flags: c_uint,
    scratch: *mut Scratch,
    handler: Option<MatchHandler>,
    context: *mut c_void,
) -> Status {
    guarded(|| {
        // SAFETY: `data` is null or has `length` bytes, as the caller promises.
        let bytes = unsafe { array(data.cast::<u8>(), length as usize) }?;
        // SAFETY: the contract of this function demands of `stream` what `open` does.
        let stream = unsafe { Stream::open(stream) }?;
        // SAFETY: the contract of this function demands of `scratch` what `claim` does.
        let mut state = unsafe { Scratch::claim(scratch) }?;
        // SAFETY: the caller promises that the handler can be called with the context during this
        // call.
        let callback = unsafe { Callback::new(handler, context) };
        let engine = match stream.database.kind() {
            Kind::Own(engine) => engine,
            Kind::Next(next) => {
                let (scan, raw) = (next.library.scan_stream, state.next_raw());
                // SAFETY: the stream is live, and so is that of the next library; the caller
                // promises the data and the handler, and the library checks the scratch.
                return next::check(unsafe {
                    scan(stream.head.next, data, length, flags, raw, handler, context)
                });
            }
        };
        state.check_fits(engine)?;
        if stream.head.terminated {
            return Err(SCAN_TERMINATED);
        }
        let (room, bits) = stream.tail.split_at_mut(stream.head.room as usize);
        let (offset, held) = (&mut stream.head.offset, &mut stream.head.held);
        let mut window = Window { offset, held, bytes: room };
        stream.head.terminated = state.scan_blocks(engine, bits, callback, |joined, scan| {
            let _ = window.feed(bytes, joined, scan);
        });
        ended(stream.head.terminated)
    })
}

/// Ends and frees a stream.
///
/// # Safety
/// As [`hs_scan_stream`]; the stream is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_close_stream(
    stream: *mut Stream,
    scratch: *mut Scratch,
    handler: Option<MatchHandler>,
    context: *mut c_void,
) -> Status {
    guarded(|| {
        // SAFETY: the contract of this function demands of `stream` what `open` does.
        let opened = unsafe { Stream::open(stream) }?;
        // SAFETY: the contract of this function demands of `scratch` what `check_scratch` does.
        let ending = unsafe { check_scratch(scratch, handler, context, opened.database) }?;
        if let Some(library) = opened.next() {
            // SAFETY: it is live; once it is closed, so is the stream that led to it.
            unsafe { ending.close(library, opened.head.next) }?;
        }
        // SAFETY: it is live, and the caller does not use it again.
        unsafe { Stream::free(stream) };
        Ok(())
    })
}

/// Ends a stream and returns it to the start of a haystack.
///
/// # Safety
/// As [`hs_scan_stream`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_reset_stream(
    stream: *mut Stream,
    _flags: c_uint,
    scratch: *mut Scratch,
    handler: Option<MatchHandler>,
    context: *mut c_void,
) -> Status {
    guarded(|| {
        // SAFETY: the contract of this function demands of `stream` what `open` does.
        let mut opened = unsafe { Stream::open(stream) }?;
        // SAFETY: the contract of this function demands of `scratch` what `check_scratch` does.
        let ending = unsafe { check_scratch(scratch, handler, context, opened.database) }?;
        if let Kind::Next(next) = opened.database.kind() {
            // SAFETY: it was opened just now.
            unsafe { opened.replace_next(next.library, open_next(next)?, &ending) }?;
        }
        opened.reset();
        Ok(())
    })
}

/// Copies a stream to a new one.
///
/// # Safety
/// `source` is as in [`hs_scan_stream`]; `copy` is null or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_copy_stream(copy: *mut *mut Stream, source: *const Stream) -> Status {
    guarded(|| {
        // SAFETY: the caller promises that it is null or valid.
        unsafe { put(copy, ptr::null_mut()) }?;
        // SAFETY: the contract of this function demands of `source` what `open` does.
        let source = unsafe { Stream::open(source.cast_mut()) }?;
        let stream = Stream::allocate(source.database)?;
        // SAFETY: it was allocated just now.
        let mut opened = unsafe { Stream::open(stream) }?;
        opened.copy_from(&source);
        if let Some(library) = opened.next()
            && let Err(status) = copy_next(&mut opened, &source, library, &Ending::UNREPORTED)
        {
            // SAFETY: the stream was allocated above, so it is live, and no other pointer leads to
            // it.
            unsafe { hs_close_stream(stream, ptr::null_mut(), None, ptr::null_mut()) };
            return Err(status);
        }
        // SAFETY: `copy` was found not to be null, so the caller promises that it is valid.
        unsafe { put(copy, stream) }
    })
}

/// Replaces the stream that the next library has for `to` by a copy of the one for `from`.
fn copy_next(
    to: &mut Opened<'_>,
    from: &Opened<'_>,
    library: &'static Library,
    ending: &Ending<'_>,
) -> Result<(), Status> {
    let mut copy = ptr::null_mut();
    // SAFETY: the stream is live, and so is the place of the result.
    next::check(unsafe { (library.copy_stream)(&raw mut copy, from.head.next) })?;
    // SAFETY: it was made just now.
    unsafe { to.replace_next(library, copy, ending) }
}

/// Ends a stream and makes it a copy of another of the same database.
///
/// # Safety
/// Both streams are as in [`hs_scan_stream`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_reset_and_copy_stream(
    to: *mut Stream,
    from: *const Stream,
    scratch: *mut Scratch,
    handler: Option<MatchHandler>,
    context: *mut c_void,
) -> Status {
    guarded(|| {
        if ptr::eq(to, from) {
            return Err(INVALID);
        }
        // SAFETY: the contract of this function demands of `from` what `open` does, and the two
        // streams are not the same.
        let from = unsafe { Stream::open(from.cast_mut()) }?;
        // SAFETY: the contract of this function demands of `to` what `open` does, and the two
        // streams are not the same.
        let mut to = unsafe { Stream::open(to) }?;
        if !ptr::eq(to.database, from.database) {
            return Err(INVALID);
        }
        // SAFETY: the contract of this function demands of `scratch` what `check_scratch` does.
        let ending = unsafe { check_scratch(scratch, handler, context, to.database) }?;
        if let Some(library) = to.next() {
            copy_next(&mut to, &from, library, &ending)?;
        }
        to.copy_from(&from);
        Ok(())
    })
}

/// Bytes that a stream of a database takes.
///
/// # Safety
/// `database` is as in `hs_scan`; `size` is null or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_stream_size(database: *const Database, size: *mut usize) -> Status {
    guarded(|| {
        // SAFETY: the contract of this function demands of `database` what `check` does.
        let database = unsafe { Database::check(database) }?;
        database.check_mode(Mode::Stream)?;
        let tail = match database.kind() {
            Kind::Own(engine) => {
                let (room, bits) = tail_of(engine);
                room + bits
            }
            Kind::Next(next) => {
                let mut size = 0;
                // SAFETY: the database is valid, and so is the place of the result.
                next::check(unsafe { (next.library.stream_size)(next.raw(), &raw mut size) })?;
                size
            }
        };
        // SAFETY: the caller promises that it is null or valid.
        unsafe { put(size, size_of::<Stream>() + tail) }
    })
}
