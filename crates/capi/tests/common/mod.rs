//! Handles that free themselves, and callbacks, for tests that call the functions as C does.
#![allow(dead_code, reason = "each test file uses a part")]

use fyke_capi::*;
use std::ffi::{CStr, c_int, c_void};
use std::ptr;

/// The ids of the patterns of [`builder`].
pub(crate) const HE: u32 = 7;
pub(crate) const SHE: u32 = 8;
pub(crate) const HERS: u32 = 9;

/// A match as (id, start, end).
pub(crate) type Row = (u32, u64, u64);

/// The message of the last failure.
pub(crate) fn last_error() -> String {
    // SAFETY: the string is valid until the next failure of this thread.
    unsafe { CStr::from_ptr(fyke_last_error()) }.to_str().unwrap().to_owned()
}

/// A handle, which is freed at the end.
pub(crate) struct Handle<T>(pub(crate) *mut T, unsafe extern "C" fn(*mut T) -> Status);

impl<T> Handle<T> {
    pub(crate) fn new(
        free: unsafe extern "C" fn(*mut T) -> Status,
        make: impl FnOnce(*mut *mut T) -> Status,
    ) -> Self {
        let mut handle = ptr::null_mut();
        let status = make(&raw mut handle);
        assert_eq!(status, FYKE_OK, "{}", last_error());
        assert!(!handle.is_null());
        Self(handle, free)
    }
}

impl<T> Drop for Handle<T> {
    fn drop(&mut self) {
        // SAFETY: the handle is live and not used again.
        assert_eq!(unsafe { (self.1)(self.0) }, FYKE_OK);
    }
}

/// A builder with "he", "SHE" in any case, and "hers".
pub(crate) fn builder() -> Handle<Builder> {
    // SAFETY: the place is valid.
    let builder = Handle::new(fyke_builder_free, |to| unsafe { fyke_builder_new(to) });
    for (text, id, flags) in [("he", HE, 0), ("SHE", SHE, FYKE_NOCASE), ("hers", HERS, 0)] {
        // SAFETY: the builder is live, and the pattern has as many bytes.
        let status =
            unsafe { fyke_builder_add(builder.0, text.as_ptr().cast(), text.len(), id, flags) };
        assert_eq!(status, FYKE_OK, "{}", last_error());
    }
    builder
}

pub(crate) fn build(builder: &Handle<Builder>) -> Handle<Searcher> {
    // SAFETY: the builder is live and the place valid.
    Handle::new(fyke_searcher_free, |to| unsafe { fyke_builder_build(builder.0, to) })
}

/// A searcher for the patterns of [`builder`].
pub(crate) fn searcher_with(semantics: SemanticsCode) -> Handle<Searcher> {
    let builder = builder();
    // SAFETY: the builder is live.
    assert_eq!(unsafe { fyke_builder_semantics(builder.0, semantics) }, FYKE_OK);
    build(&builder)
}

/// What a callback got.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) rows: Vec<Row>,
    /// The index of the buffer of each match, in a batch.
    pub(crate) buffers: Vec<usize>,
    pub(crate) calls: usize,
    /// Stop at this call.
    pub(crate) stop_at: Option<usize>,
}

impl Found {
    pub(crate) fn context(&mut self) -> *mut c_void {
        ptr::from_mut(self).cast()
    }

    fn take(&mut self, found: &[Match]) -> c_int {
        assert!(!found.is_empty());
        self.rows.extend(found.iter().map(row));
        self.calls += 1;
        c_int::from(self.stop_at.is_some_and(|at| self.calls >= at))
    }
}

pub(crate) fn row(m: &Match) -> Row {
    (m.id, m.start, m.end)
}

/// Collects matches in a [`Found`].
pub(crate) unsafe extern "C-unwind" fn collect(
    matches: *const Match,
    count: usize,
    context: *mut c_void,
) -> c_int {
    // SAFETY: the library gives a slice.
    let matches = unsafe { std::slice::from_raw_parts(matches, count) };
    // SAFETY: the tests give a `Found`.
    unsafe { &mut *context.cast::<Found>() }.take(matches)
}

/// The same for a batch.
pub(crate) unsafe extern "C-unwind" fn collect_of(
    buffer: usize,
    matches: *const Match,
    count: usize,
    context: *mut c_void,
) -> c_int {
    // SAFETY: the tests give a `Found`.
    unsafe { &mut *context.cast::<Found>() }.buffers.extend(std::iter::repeat_n(buffer, count));
    // SAFETY: the same.
    unsafe { collect(matches, count, context) }
}

/// Appends bytes to a vector.
pub(crate) unsafe extern "C-unwind" fn append(
    bytes: *const c_void,
    len: usize,
    context: *mut c_void,
) -> c_int {
    // SAFETY: the library gives a slice.
    let bytes = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), len) };
    // SAFETY: the tests give a vector.
    unsafe { &mut *context.cast::<Vec<u8>>() }.extend(bytes);
    0
}

/// Takes no bytes.
pub(crate) unsafe extern "C-unwind" fn full(_: *const c_void, _: usize, _: *mut c_void) -> c_int {
    1
}

/// The matches of a scan.
pub(crate) fn scan(searcher: &Handle<Searcher>, haystack: &[u8]) -> Vec<Row> {
    let mut found = Found::default();
    let (data, context) = (haystack.as_ptr().cast(), found.context());
    // SAFETY: everything is live.
    let status = unsafe { fyke_scan(searcher.0, data, haystack.len(), Some(collect), context) };
    assert_eq!(status, FYKE_OK, "{}", last_error());
    found.rows
}
