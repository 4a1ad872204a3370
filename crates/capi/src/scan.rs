//! Searches of one haystack in memory, and of a file.

use crate::abi::FYKE_IO;
use crate::abi::{Match, OnMatches, Status};
use crate::border::{Out, bytes, checked, guarded, path, room};
use crate::error::Failure;
use crate::searcher::{Searcher, searcher_of};
use crate::sink::{Delivery, Fill, callback};
use std::ffi::{c_char, c_void};

/// Tells whether a haystack has a match. The scan ends soon after the first one.
///
/// # Safety
/// `searcher` is NULL or live; `haystack` is NULL or has `len` bytes; `found` is NULL or a place
/// for the answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_is_match(
    searcher: *const Searcher,
    haystack: *const c_void,
    len: usize,
    found: *mut bool,
) -> Status {
    checked(|| {
        // SAFETY: the caller promises that it is null or a place.
        let found = unsafe { Out::new(found, "found") }?;
        // SAFETY: the caller promises that it is null or live.
        let searcher = unsafe { searcher_of(searcher) }?;
        // SAFETY: the caller promises that it is null or has as many bytes.
        found.set(searcher.is_match(unsafe { bytes(haystack, len, "haystack") }?));
        Ok(())
    })
}

/// Finds the first match that `fyke_scan` would report. `*found` tells whether there is one;
/// `*match` is written if so.
///
/// # Safety
/// `searcher` is NULL or live; `haystack` is NULL or has `len` bytes; `match` and `found` are NULL
/// or places for the results.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_find(
    searcher: *const Searcher,
    haystack: *const c_void,
    len: usize,
    r#match: *mut Match,
    found: *mut bool,
) -> Status {
    checked(|| {
        // SAFETY: the caller promises that it is null or a place.
        let to = unsafe { Out::new(r#match, "match") }?;
        // SAFETY: the caller promises that it is null or a place.
        let found = unsafe { Out::new(found, "found") }?;
        // SAFETY: the caller promises that it is null or live.
        let searcher = unsafe { searcher_of(searcher) }?;
        // SAFETY: the caller promises that it is null or has as many bytes.
        let first = searcher.find(unsafe { bytes(haystack, len, "haystack") }?);
        found.set(first.is_some());
        if let Some(m) = first {
            to.set(Match { id: m.pattern.0, start: m.start as u64, end: m.end as u64 });
        }
        Ok(())
    })
}

/// Counts the matches that `fyke_scan` would report.
///
/// # Safety
/// `searcher` is NULL or live; `haystack` is NULL or has `len` bytes; `count` is NULL or a place
/// for the number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_count(
    searcher: *const Searcher,
    haystack: *const c_void,
    len: usize,
    count: *mut u64,
) -> Status {
    checked(|| {
        // SAFETY: the caller promises that it is null or a place.
        let count = unsafe { Out::new(count, "count") }?;
        // SAFETY: the caller promises that it is null or live.
        let searcher = unsafe { searcher_of(searcher) }?;
        // SAFETY: the caller promises that it is null or has as many bytes.
        count.set(searcher.count(unsafe { bytes(haystack, len, "haystack") }?));
        Ok(())
    })
}

/// Calls back with the matches of a haystack, in order of their ends, then starts, then ids;
/// leftmost semantics report them from left to right. A callback gets many matches at once.
///
/// Returns `FYKE_STOPPED` if the callback stopped the scan. Large haystacks are scanned by the
/// threads that the builder set; callbacks are called on this thread.
///
/// # Safety
/// `searcher` is NULL or live; `haystack` is NULL or has `len` bytes, which do not change during
/// the call; `on_matches` is NULL or may be called with `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_scan(
    searcher: *const Searcher,
    haystack: *const c_void,
    len: usize,
    on_matches: OnMatches,
    context: *mut c_void,
) -> Status {
    guarded(|| {
        // SAFETY: the caller promises that it is null or live.
        let searcher = unsafe { searcher_of(searcher) }?;
        // SAFETY: the caller promises that it is null or has as many bytes.
        let haystack = unsafe { bytes(haystack, len, "haystack") }?;
        // SAFETY: the caller promises that it is null or may be called.
        let mut to = Delivery::new(unsafe { callback(on_matches, context) }?);
        // The sink knows whether it was stopped; semantics may end a scan early too.
        let _ = searcher.scan_into(haystack, &mut to);
        Ok(to.finish())
    })
}

/// As `fyke_scan`, for a file. It is read and never mapped; one that shrinks during the scan is an
/// error.
///
/// Returns `FYKE_IO` if the file cannot be read.
///
/// # Safety
/// `searcher` is NULL or live; `file` is NULL or a path; `on_matches` is NULL or may be called with
/// `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_scan_file(
    searcher: *const Searcher,
    file: *const c_char,
    on_matches: OnMatches,
    context: *mut c_void,
) -> Status {
    guarded(|| {
        // SAFETY: the caller promises that it is null or live.
        let searcher = unsafe { searcher_of(searcher) }?;
        // SAFETY: the caller promises that it is null or a string.
        let file = unsafe { path(file, "file") }?;
        // SAFETY: the caller promises that it is null or may be called.
        let mut to = Delivery::new(unsafe { callback(on_matches, context) }?);
        let scanned = searcher.scan_file(&file, &mut to);
        let status = to.finish();
        let failed = |error| Failure::new(FYKE_IO, format_args!("{}: {error}", file.display()));
        scanned.map(|_| status).map_err(failed)
    })
}

/// Writes the first matches that `fyke_scan` would report to an array of `capacity` matches, and
/// their number to `*count`.
///
/// Returns `FYKE_MORE` if there are more than that. An iterator, `fyke_iter_new`, gives all of them
/// in parts.
///
/// # Safety
/// `searcher` is NULL or live; `haystack` is NULL or has `len` bytes; `matches` is NULL or has room
/// for `capacity` matches; `count` is NULL or a place for the number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_collect(
    searcher: *const Searcher,
    haystack: *const c_void,
    len: usize,
    matches: *mut Match,
    capacity: usize,
    count: *mut usize,
) -> Status {
    guarded(|| {
        // SAFETY: the caller promises that it is null or a place.
        let count = unsafe { Out::new(count, "count") }?;
        // SAFETY: the caller promises that it is null or live.
        let searcher = unsafe { searcher_of(searcher) }?;
        // SAFETY: the caller promises that it is null or has as many bytes.
        let haystack = unsafe { bytes(haystack, len, "haystack") }?;
        // SAFETY: the caller promises that it is null or has the room.
        let mut to = Fill::new(unsafe { room(matches, capacity, "matches") }?);
        // The sink knows whether it was full; semantics may end a scan early too.
        let _ = searcher.scan_into(haystack, &mut to);
        count.set(to.count);
        Ok(to.status())
    })
}
