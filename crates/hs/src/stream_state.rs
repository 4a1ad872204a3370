//! The state of a stream as bytes, from which another stream goes on.

use crate::abi::{INSUFFICIENT_SPACE, INVALID, MatchHandler, Status};
use crate::border::{array, guarded, put};
use crate::database::{Database, Kind};
use crate::next;
use crate::rules::Mode;
use crate::scratch::Scratch;
use crate::stream::{Ending, Opened, Stream, check_scratch, hs_close_stream};
use crate::wire::Reader;
use fyke_core::sink::{FNV_BASIS, fnv1a};
use std::ffi::{c_char, c_void};
use std::ptr;

/// The mark of a saved stream; its last byte is the version.
const SAVED: &[u8; 8] = b"fykeHSs\x01";
/// Bytes of a saved stream beside its tail: mark, digest of the database, offset, bytes held,
/// whether a handler ended the scan, and checksum.
const SAVED_HEADER: usize = 8 + 8 + 8 + 4 + 4 + 8;

impl Opened<'_> {
    /// The stream's state as bytes.
    fn save(&self) -> Result<Vec<u8>, Status> {
        let mut out = Vec::with_capacity(SAVED_HEADER + self.tail.len());
        out.extend_from_slice(SAVED);
        out.extend_from_slice(&self.database.digest()?.to_le_bytes());
        out.extend_from_slice(&self.head.offset.to_le_bytes());
        out.extend_from_slice(&self.head.held.to_le_bytes());
        out.extend_from_slice(&u32::from(self.head.terminated).to_le_bytes());
        out.extend_from_slice(self.tail);
        out.extend_from_slice(&fnv1a(&out, FNV_BASIS).to_le_bytes());
        Ok(out)
    }

    /// Takes over a state that was saved with the same database. The state is checked whole before
    /// anything changes.
    fn restore(&mut self, saved: &[u8]) -> Result<(), Status> {
        let mut reader = Reader(saved);
        if reader.take(SAVED.len())? != SAVED || reader.u64()? != self.database.digest()? {
            return Err(INVALID);
        }
        let (offset, held) = (reader.u64()?, reader.u32()?);
        let (terminated, tail) = (reader.u32()?, reader.take(self.tail.len())?);
        let checksum = reader.u64()?;
        let is_sound = reader.0.is_empty()
            && checksum == fnv1a(&saved[..saved.len() - 8], FNV_BASIS)
            && u64::from(held) == offset.min(u64::from(self.head.room))
            && terminated <= 1;
        if !is_sound {
            return Err(INVALID);
        }
        (self.head.offset, self.head.held) = (offset, held);
        self.head.terminated = terminated == 1;
        self.tail.copy_from_slice(tail);
        Ok(())
    }
}

/// Writes the state of a stream to the caller's buffer.
///
/// # Safety
/// `stream` is as in `hs_scan_stream`; `buffer` is null or has `space` bytes; `used` is null or
/// valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_compress_stream(
    stream: *const Stream,
    buffer: *mut c_char,
    space: usize,
    used: *mut usize,
) -> Status {
    guarded(|| {
        // SAFETY: the contract of this function demands of `stream` what `open` does.
        let stream = unsafe { Stream::open(stream.cast_mut()) }?;
        if used.is_null() || (space > 0 && buffer.is_null()) {
            return Err(INVALID);
        }
        if let Some(library) = stream.next() {
            // SAFETY: the stream of the next library is live; the caller promises the rest.
            return next::check(unsafe {
                (library.compress_stream)(stream.head.next, buffer, space, used)
            });
        }
        let saved = stream.save()?;
        // SAFETY: the caller promises that it is valid.
        unsafe { put(used, saved.len()) }?;
        if space < saved.len() {
            return Err(INSUFFICIENT_SPACE);
        }
        // SAFETY: the buffer has at least as many bytes, and the new vector does not overlap it.
        unsafe { ptr::copy_nonoverlapping(saved.as_ptr(), buffer.cast(), saved.len()) };
        Ok(())
    })
}

/// Takes over a saved state.
fn expand(stream: &mut Opened<'_>, saved: &[u8], ending: &Ending<'_>) -> Result<(), Status> {
    let Kind::Next(next) = stream.database.kind() else { return stream.restore(saved) };
    let mut expanded = ptr::null_mut();
    let (bytes, len) = (saved.as_ptr().cast(), saved.len());
    // SAFETY: the database is valid, the bytes are there, and so is the place of the result.
    next::check(unsafe {
        (next.library.expand_stream)(next.raw(), &raw mut expanded, bytes, len)
    })?;
    // SAFETY: it was made just now.
    unsafe { stream.replace_next(next.library, expanded, ending) }
}

/// Makes a stream from a saved state.
///
/// # Safety
/// `database` is as in `hs_scan`; `stream` is null or valid for writes; `buffer` is null or has
/// `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_expand_stream(
    database: *const Database,
    stream: *mut *mut Stream,
    buffer: *const c_char,
    size: usize,
) -> Status {
    guarded(|| {
        // SAFETY: the caller promises that it is null or valid.
        unsafe { put(stream, ptr::null_mut()) }?;
        // SAFETY: `buffer` is null or has `size` bytes, as the caller promises.
        let saved = unsafe { array(buffer.cast::<u8>(), size) }?;
        // SAFETY: the contract of this function demands of `database` what `check` does.
        let database = unsafe { Database::check(database) }?;
        database.check_mode(Mode::Stream)?;
        let new = Stream::allocate(database)?;
        // SAFETY: it was allocated just now.
        let mut opened = unsafe { Stream::open(new) }?;
        if let Err(status) = expand(&mut opened, saved, &Ending::UNREPORTED) {
            // SAFETY: the stream was allocated above, so it is live, and no other pointer leads to
            // it.
            unsafe { hs_close_stream(new, ptr::null_mut(), None, ptr::null_mut()) };
            return Err(status);
        }
        // SAFETY: `stream` was found not to be null, so the caller promises that it is valid.
        unsafe { put(stream, new) }
    })
}

/// Ends a stream and gives it a saved state.
///
/// # Safety
/// `stream` is as in `hs_scan_stream`; `buffer` is null or has `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_reset_and_expand_stream(
    stream: *mut Stream,
    buffer: *const c_char,
    size: usize,
    scratch: *mut Scratch,
    handler: Option<MatchHandler>,
    context: *mut c_void,
) -> Status {
    guarded(|| {
        // SAFETY: `buffer` is null or has `size` bytes, as the caller promises.
        let saved = unsafe { array(buffer.cast::<u8>(), size) }?;
        // SAFETY: the contract of this function demands of `stream` what `open` does.
        let mut stream = unsafe { Stream::open(stream) }?;
        // SAFETY: the contract of this function demands of `scratch` what `check_scratch` does.
        let ending = unsafe { check_scratch(scratch, handler, context, stream.database) }?;
        expand(&mut stream, saved, &ending)
    })
}
