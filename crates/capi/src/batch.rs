//! Many small haystacks in one call.

use crate::abi::{Buffer, Match, OnBufferMatches, Status};
use crate::border::{array, bytes, checked, guarded, room};
use crate::error::Failure;
use crate::searcher::{Searcher, searcher_of};
use crate::sink::Delivery;
use std::ffi::c_void;

/// The bytes of buffers, all of which were checked.
///
/// # Safety
/// `buffers` is null or has `count` elements. The pointer of each is null or has as many bytes as
/// the element says. Nothing writes to either during `'a`.
unsafe fn haystacks<'a>(
    buffers: *const Buffer,
    count: usize,
) -> Result<impl Iterator<Item = &'a [u8]>, Failure> {
    // SAFETY: the caller promises that it is null or has the elements.
    let buffers = unsafe { array(buffers, count, "buffers") }?;
    let get = |b: &Buffer| -> Result<&'a [u8], Failure> {
        // SAFETY: the caller promises that each pointer is null or has as many bytes.
        unsafe { bytes(b.data, b.len, "its data") }
    };
    for (index, buffer) in buffers.iter().enumerate() {
        get(buffer).map_err(|failure| Failure {
            message: format!("buffer {index}: {}", failure.message),
            ..failure
        })?;
    }
    // What was checked cannot fail.
    Ok(buffers.iter().map(move |buffer| get(buffer).unwrap_or_default()))
}

/// Scans many small buffers, such as packets, which is much faster than a call for each. Offsets
/// count from the first byte of each buffer, and semantics hold for each by itself. The buffers
/// come in order; one may be called back for several times, and one without a match never.
///
/// Returns `FYKE_STOPPED` if the callback stopped the scan, of this and all later buffers.
///
/// # Safety
/// `searcher` is NULL or live; `buffers` is NULL or has `count` elements, whose `data` is NULL or
/// has `len` bytes; `on_matches` is NULL or may be called with `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_scan_batch(
    searcher: *const Searcher,
    buffers: *const Buffer,
    count: usize,
    on_matches: OnBufferMatches,
    context: *mut c_void,
) -> Status {
    guarded(|| {
        // SAFETY: the caller promises that it is null or live.
        let searcher = unsafe { searcher_of(searcher) }?;
        // SAFETY: the caller promises the elements and their bytes.
        let haystacks = unsafe { haystacks(buffers, count) }?;
        let call = on_matches.ok_or_else(|| Failure::invalid("on_matches is NULL"))?;
        let current = std::cell::Cell::new(0);
        let mut to = Delivery::new(|found: &[Match]| {
            // SAFETY: the caller promises that it may be called; the matches are a slice's.
            let status = unsafe { call(current.get(), found.as_ptr(), found.len(), context) };
            status == 0
        });
        // The delivery knows whether it was stopped.
        let _ = searcher.scan_batch(haystacks, |index, batch| {
            current.set(index);
            to.pass(batch)
        });
        Ok(to.finish())
    })
}

/// Counts the matches of each of many small buffers. `counts` has room for `count` numbers.
///
/// # Safety
/// `searcher` is NULL or live; `buffers` is NULL or has `count` elements, whose `data` is NULL or
/// has `len` bytes; `counts` is NULL or has room for `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_count_batch(
    searcher: *const Searcher,
    buffers: *const Buffer,
    count: usize,
    counts: *mut u64,
) -> Status {
    checked(|| {
        // SAFETY: the caller promises that it is null or live.
        let searcher = unsafe { searcher_of(searcher) }?;
        // SAFETY: the caller promises the elements and their bytes.
        let haystacks = unsafe { haystacks(buffers, count) }?;
        // SAFETY: the caller promises that it is null or has the room.
        let to = unsafe { room(counts, count, "counts") }?;
        let mut counted = Vec::with_capacity(count);
        searcher.count_batch(haystacks, &mut counted);
        to.write_copy_of_slice(&counted);
        Ok(())
    })
}
