//! Scans of whole haystacks: one buffer, or several that belong together.

use crate::abi::{INVALID, MatchHandler, SCAN_TERMINATED, Status};
use crate::border::{array, guarded};
use crate::database::{Database, Kind};
use crate::engine::Engine;
use crate::next;
use crate::report::Callback;
use crate::rules::Mode;
use crate::scratch::{Claimed, Scratch, State};
use crate::window::Window;
use std::ffi::{c_char, c_uint, c_void};

/// The status of a scan that the handler ended, or not.
pub(crate) fn ended(stopped: bool) -> Result<(), Status> {
    if stopped { Err(SCAN_TERMINATED) } else { Ok(()) }
}

/// Scans a buffer.
///
/// # Safety
/// `database` is null or leads to readable memory, which is a live database if it has the mark of
/// one. The same holds for `scratch`. `data` is null or has `length` bytes. The handler can be
/// called with the context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_scan(
    database: *const Database,
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
        // SAFETY: the contract of this function demands of `database` what `check` does.
        let database = unsafe { Database::check(database) }?;
        database.check_mode(Mode::Block)?;
        // SAFETY: the contract of this function demands of `scratch` what `claim` does.
        let mut state = unsafe { Scratch::claim(scratch) }?;
        // SAFETY: the caller promises that the handler can be called with the context during this
        // call.
        let callback = unsafe { Callback::new(handler, context) };
        match database.kind() {
            Kind::Own(engine) => scan_own(engine, bytes, &mut state, callback),
            Kind::Next(next) => {
                let (scan, raw) = (next.library.scan, state.next_raw());
                // SAFETY: the database is valid, the caller promises the data and the handler, and
                // the library checks the scratch, which is null or its own.
                next::check(unsafe { scan(next.raw(), data, length, flags, raw, handler, context) })
            }
        }
    })
}

fn scan_own(
    engine: &Engine,
    bytes: &[u8],
    state: &mut State,
    callback: Callback,
) -> Result<(), Status> {
    state.check_fits(engine)?;
    if bytes.is_empty() || !callback.is_set() {
        return Ok(());
    }
    ended(state.scan_whole(engine, bytes, callback))
}

/// Scans several buffers as one haystack.
///
/// # Safety
/// As [`hs_scan`]. `data` and `length` are null or have `count` elements, and each buffer has as
/// many bytes as its length says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_scan_vector(
    database: *const Database,
    data: *const *const c_char,
    length: *const c_uint,
    count: c_uint,
    flags: c_uint,
    scratch: *mut Scratch,
    handler: Option<MatchHandler>,
    context: *mut c_void,
) -> Status {
    guarded(|| {
        // SAFETY: `data` is null or has `count` values, as the caller promises.
        let buffers = unsafe { array(data, count as usize) }?;
        // SAFETY: `length` is null or has `count` values, as the caller promises.
        let lengths = unsafe { array(length, count as usize) }?;
        // SAFETY: the contract of this function demands of `database` what `check` does.
        let database = unsafe { Database::check(database) }?;
        database.check_mode(Mode::Vectored)?;
        // SAFETY: the contract of this function demands of `scratch` what `claim` does.
        let mut state = unsafe { Scratch::claim(scratch) }?;
        // SAFETY: the caller promises that the handler can be called with the context during this
        // call.
        let callback = unsafe { Callback::new(handler, context) };
        let engine = match database.kind() {
            Kind::Own(engine) => engine,
            Kind::Next(next) => {
                let (scan, raw) = (next.library.scan_vector, state.next_raw());
                // SAFETY: the database is valid, the caller promises the arrays and the handler,
                // and the library checks the scratch, which is null or its own.
                return next::check(unsafe {
                    scan(next.raw(), data, length, count, flags, raw, handler, context)
                });
            }
        };
        let buffers = || buffers.iter().zip(lengths);
        if buffers().any(|(data, &length)| data.is_null() && length > 0) {
            return Err(INVALID);
        }
        let buffers = buffers().filter(|(_, length)| **length > 0).map(|(&data, &length)| {
            // SAFETY: the caller promises the bytes, and the pointer is not null.
            unsafe { std::slice::from_raw_parts(data.cast::<u8>(), length as usize) }
        });
        scan_buffers(engine, buffers, &mut state, callback)
    })
}

/// Scans buffers as a stream whose state is in the scratch.
fn scan_buffers<'a>(
    engine: &Engine,
    buffers: impl Iterator<Item = &'a [u8]>,
    state: &mut Claimed<'_>,
    callback: Callback,
) -> Result<(), Status> {
    state.check_fits(engine)?;
    if !callback.is_set() {
        return Ok(());
    }
    let mut history = std::mem::take(&mut state.history);
    let mut bits = std::mem::take(&mut state.bits);
    bits.fill(0);
    let (mut offset, mut held) = (0, 0);
    let bytes = &mut history[..engine.overlap()];
    let mut window = Window { offset: &mut offset, held: &mut held, bytes };
    let stopped = state.scan_blocks(engine, &mut bits, callback, |joined, scan| {
        for buffer in buffers {
            if window.feed(buffer, joined, &mut *scan).is_break() {
                return;
            }
        }
    });
    (state.history, state.bits) = (history, bits);
    ended(stopped)
}
