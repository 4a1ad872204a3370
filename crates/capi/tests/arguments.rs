//! Every bad argument of every function: a status and a message, and nothing is written or leaked.

#![allow(clippy::multiple_unsafe_ops_per_block, reason = "each is a call of the interface")]

mod common;

use common::*;
use fyke_capi::*;
use std::ffi::CString;
use std::ptr;

/// Asserts a status and the message of a failure.
#[track_caller]
fn fails(status: Status, expected: Status, message: &str) {
    assert_eq!(status, expected, "{}", last_error());
    let last = last_error();
    assert!(last.contains(message), "{last:?} lacks {message:?}");
}

/// Asserts that an argument is refused, with its name.
#[track_caller]
fn invalid(status: Status, message: &str) {
    fails(status, FYKE_INVALID, message);
}

const TEXT: &[u8] = b"ushers";

fn match_of() -> Match {
    Match { id: 1, start: 2, end: 3 }
}

#[test]
fn freeing_null_is_allowed() {
    // SAFETY: null is allowed.
    let statuses = unsafe {
        [
            fyke_builder_free(ptr::null_mut()),
            fyke_searcher_free(ptr::null_mut()),
            fyke_stream_free(ptr::null_mut()),
            fyke_iter_free(ptr::null_mut()),
        ]
    };
    assert_eq!(statuses, [FYKE_OK; 4]);
}

#[test]
fn builders() {
    let (null, none) = (ptr::null_mut::<Builder>(), ptr::null());
    // SAFETY: null is allowed.
    unsafe {
        invalid(fyke_builder_new(ptr::null_mut()), "builder is NULL");
        invalid(fyke_builder_add(null, TEXT.as_ptr().cast(), 6, 0, 0), "builder is NULL");
        invalid(fyke_builder_semantics(null, FYKE_ALL), "builder is NULL");
        invalid(fyke_builder_engine(null, c"auto".as_ptr()), "builder is NULL");
        invalid(fyke_builder_threads(null, 1), "builder is NULL");
        invalid(fyke_builder_memory_limit(null, 1), "builder is NULL");
        invalid(fyke_builder_expected_bytes(null, 1), "builder is NULL");
        invalid(fyke_builder_expected_call(null, 1), "builder is NULL");
        invalid(fyke_builder_sample(null, none, 0), "builder is NULL");
    }
    let builder = builder();
    let b = builder.0;
    let odd = b.wrapping_byte_add(1);
    // SAFETY: null and misaligned pointers are allowed, and the builder is live.
    unsafe {
        invalid(fyke_builder_threads(odd, 1), "builder is misaligned: 0x");
        invalid(fyke_builder_add(b, none, 1, 0, 0), "pattern is NULL");
        invalid(fyke_builder_add(b, TEXT.as_ptr().cast(), usize::MAX, 0, 0), "pattern: 18446744");
        invalid(fyke_builder_add(b, TEXT.as_ptr().cast(), 6, 0, 6), "flags: 0x6");
        invalid(fyke_builder_semantics(b, 5), "semantics: 5");
        invalid(fyke_builder_engine(b, ptr::null()), "engine is NULL");
        invalid(fyke_builder_sample(b, none, 1), "sample is NULL");
    }
    assert_eq!(scan(&build(&builder), TEXT).len(), 3, "the builder is as it was");
}

#[test]
fn patterns() {
    let builder = builder();
    let long = vec![b'x'; 65_536];
    let add = |bytes: &[u8], len| {
        // SAFETY: the builder is live, and the pattern has as many bytes.
        unsafe { fyke_builder_add(builder.0, bytes.as_ptr().cast(), len, 0, 0) }
    };
    fails(add(b"", 0), FYKE_BAD_PATTERN, "empty");
    fails(add(&long, long.len()), FYKE_BAD_PATTERN, "65535");
    assert_eq!(add(&long, 65_535), FYKE_OK);
}

#[test]
fn builds() {
    let mut searcher = ptr::dangling_mut();
    let builder = builder();
    // SAFETY: null is allowed, and the builder is live.
    unsafe {
        invalid(fyke_builder_build(ptr::null(), &raw mut searcher), "builder is NULL");
        assert!(searcher.is_null(), "a failed build leaves NULL");
        invalid(fyke_builder_build(builder.0, ptr::null_mut()), "searcher is NULL");
        assert_eq!(fyke_builder_engine(builder.0, c"no-such".as_ptr()), FYKE_OK);
        fails(fyke_builder_build(builder.0, &raw mut searcher), FYKE_REFUSED, "no-such");
        assert_eq!(fyke_builder_engine(builder.0, c"ac-dfa:x=1".as_ptr()), FYKE_OK);
        fails(fyke_builder_build(builder.0, &raw mut searcher), FYKE_REFUSED, "x");
        assert_eq!(fyke_builder_engine(builder.0, c"ac-dfa".as_ptr()), FYKE_OK);
        assert_eq!(fyke_builder_memory_limit(builder.0, 1), FYKE_OK);
        fails(fyke_builder_build(builder.0, &raw mut searcher), FYKE_REFUSED, "ac-dfa");
    }
    assert!(searcher.is_null());
}

#[test]
fn searchers() {
    let (null, none) = (ptr::null::<Searcher>(), ptr::null_mut());
    let searcher = searcher_with(FYKE_ALL);
    let s = searcher.0;
    let (mut count, mut memory) = (5, 5);
    // SAFETY: null is allowed, and the searcher is live.
    unsafe {
        assert!(fyke_searcher_engine(null).is_null());
        invalid(fyke_searcher_pattern_count(null, &raw mut count), "searcher is NULL");
        invalid(fyke_searcher_pattern_count(s, ptr::null_mut()), "count is NULL");
        invalid(fyke_searcher_memory(null, &raw mut memory), "searcher is NULL");
        invalid(fyke_searcher_memory(s, ptr::null_mut()), "bytes is NULL");
        invalid(fyke_searcher_save(null, c"x".as_ptr()), "searcher is NULL");
        invalid(fyke_searcher_save(s, ptr::null()), "file is NULL");
        invalid(fyke_searcher_save_to(null, Some(append), none), "searcher is NULL");
        invalid(fyke_searcher_save_to(s, None, none), "on_bytes is NULL");
        fails(fyke_searcher_save_to(s, Some(full), none), FYKE_IO, "on_bytes could not write");
        fails(fyke_searcher_save(s, c"".as_ptr()), FYKE_IO, "");
        fails(fyke_searcher_save(s, c"/no/such/folder/x".as_ptr()), FYKE_IO, "/no/such/folder/x");
    }
    assert_eq!((count, memory), (5, 5));
}

#[test]
fn databases() {
    let mut to = ptr::dangling_mut();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("text");
    std::fs::write(&file, "no database").unwrap();
    let file = CString::new(file.to_str().unwrap()).unwrap();
    let (text, none) = (TEXT.as_ptr().cast(), ptr::null());
    // SAFETY: null is allowed.
    unsafe {
        invalid(fyke_searcher_load(ptr::null(), &raw mut to), "file is NULL");
        assert!(to.is_null());
        invalid(fyke_searcher_load(file.as_ptr(), ptr::null_mut()), "searcher is NULL");
        fails(fyke_searcher_load(c"/no/such".as_ptr(), &raw mut to), FYKE_IO, "/no/such");
        let status = fyke_searcher_load(file.as_ptr(), &raw mut to);
        fails(status, FYKE_BAD_DATABASE, file.to_str().unwrap());
        invalid(fyke_searcher_load_from(none, 6, &raw mut to), "database is NULL");
        invalid(fyke_searcher_load_from(text, 6, ptr::null_mut()), "searcher is NULL");
        fails(fyke_searcher_load_from(text, 6, &raw mut to), FYKE_BAD_DATABASE, "database");
        fails(fyke_searcher_load_from(none, 0, &raw mut to), FYKE_BAD_DATABASE, "database");
    }
    assert!(to.is_null());
}

#[test]
fn searches() {
    let (null, none) = (ptr::null::<Searcher>(), ptr::null());
    let searcher = searcher_with(FYKE_ALL);
    let (s, text) = (searcher.0, TEXT.as_ptr().cast());
    let (mut m, mut found, mut count) = (match_of(), true, 7);
    let (m, found, count) = (&raw mut m, &raw mut found, &raw mut count);
    // SAFETY: null is allowed, and everything else is live.
    unsafe {
        invalid(fyke_is_match(null, text, 6, found), "searcher is NULL");
        invalid(fyke_is_match(s, none, 6, found), "haystack is NULL");
        invalid(fyke_is_match(s, text, usize::MAX, found), "haystack: ");
        invalid(fyke_is_match(s, text, 6, ptr::null_mut()), "found is NULL");
        invalid(fyke_find(null, text, 6, m, found), "searcher is NULL");
        invalid(fyke_find(s, none, 6, m, found), "haystack is NULL");
        invalid(fyke_find(s, text, 6, ptr::null_mut(), found), "match is NULL");
        invalid(fyke_find(s, text, 6, m, ptr::null_mut()), "found is NULL");
        invalid(fyke_find(s, text, 6, m.wrapping_byte_add(1), found), "match is misaligned");
        invalid(fyke_count(null, text, 6, count), "searcher is NULL");
        invalid(fyke_count(s, none, 6, count), "haystack is NULL");
        invalid(fyke_count(s, text, 6, ptr::null_mut()), "count is NULL");
        assert_eq!((*m, *found, *count), (match_of(), true, 7), "nothing is written");
        assert_eq!(fyke_find(s, none, 0, m, found), FYKE_OK);
        assert_eq!((*m, *found), (match_of(), false), "NULL of 0 bytes is a haystack");
    }
}

#[test]
fn scans() {
    let (null, none) = (ptr::null::<Searcher>(), ptr::null());
    let searcher = searcher_with(FYKE_ALL);
    let (s, text) = (searcher.0, TEXT.as_ptr().cast());
    let mut found = Found::default();
    let (to, context) = (Some(collect as _), found.context());
    // SAFETY: null is allowed, and everything else is live.
    unsafe {
        invalid(fyke_scan(null, text, 6, to, context), "searcher is NULL");
        invalid(fyke_scan(s, none, 6, to, context), "haystack is NULL");
        invalid(fyke_scan(s, text, 6, None, context), "on_matches is NULL");
        invalid(fyke_scan_file(null, c"x".as_ptr(), to, context), "searcher is NULL");
        invalid(fyke_scan_file(s, ptr::null(), to, context), "file is NULL");
        invalid(fyke_scan_file(s, c"x".as_ptr(), None, context), "on_matches is NULL");
        fails(fyke_scan_file(s, c"/no/such".as_ptr(), to, context), FYKE_IO, "/no/such");
    }
    assert_eq!(found.calls, 0);
}

#[test]
fn arrays() {
    let searcher = searcher_with(FYKE_ALL);
    let (null, s, text) = (ptr::null::<Searcher>(), searcher.0, TEXT.as_ptr().cast());
    let (mut matches, mut count) = ([match_of(); 4], 7);
    let (to, n) = (matches.as_mut_ptr(), &raw mut count);
    // SAFETY: null is allowed, and the array has room for four.
    unsafe {
        invalid(fyke_collect(null, text, 6, to, 4, n), "searcher is NULL");
        invalid(fyke_collect(s, ptr::null(), 6, to, 4, n), "haystack is NULL");
        invalid(fyke_collect(s, text, 6, ptr::null_mut(), 4, n), "matches is NULL");
        invalid(fyke_collect(s, text, 6, to, usize::MAX, n), "matches: ");
        invalid(fyke_collect(s, text, 6, to, 4, ptr::null_mut()), "count is NULL");
    }
    assert_eq!((matches, count), ([match_of(); 4], 7));
}

#[test]
fn batches() {
    let searcher = searcher_with(FYKE_ALL);
    let (null, s) = (ptr::null::<Searcher>(), searcher.0);
    let good = Buffer { data: TEXT.as_ptr().cast(), len: 6 };
    let buffers = [good, Buffer { data: ptr::null(), len: 1 }];
    let (bad, none) = (buffers.as_ptr(), ptr::null());
    let (mut found, mut counts) = (Found::default(), [7; 2]);
    let (to, context, counts_to) = (Some(collect_of as _), found.context(), counts.as_mut_ptr());
    // SAFETY: null is allowed, and everything else is live.
    unsafe {
        invalid(fyke_scan_batch(null, bad, 1, to, context), "searcher is NULL");
        invalid(fyke_scan_batch(s, none, 1, to, context), "buffers is NULL");
        invalid(fyke_scan_batch(s, bad, usize::MAX, to, context), "buffers: ");
        invalid(fyke_scan_batch(s, bad, 2, to, context), "buffer 1: its data is NULL");
        invalid(fyke_scan_batch(s, bad, 1, None, context), "on_matches is NULL");
        assert_eq!(fyke_scan_batch(s, none, 0, to, context), FYKE_OK);
        invalid(fyke_count_batch(null, bad, 1, counts_to), "searcher is NULL");
        invalid(fyke_count_batch(s, none, 1, counts_to), "buffers is NULL");
        invalid(fyke_count_batch(s, bad, 2, counts_to), "buffer 1: its data is NULL");
        invalid(fyke_count_batch(s, bad, 1, ptr::null_mut()), "counts is NULL");
    }
    assert_eq!((found.calls, counts), (0, [7; 2]));
}

#[test]
fn streams() {
    let searcher = searcher_with(FYKE_ALL);
    let (null, s, text) = (ptr::null_mut::<Stream>(), searcher.0, TEXT.as_ptr().cast());
    let mut found = Found::default();
    let (to, context) = (Some(collect as _), found.context());
    let (mut stream, mut offset, none) = (ptr::dangling_mut(), 7, ptr::null_mut());
    // SAFETY: null is allowed, and everything else is live.
    unsafe {
        invalid(fyke_stream_new(ptr::null(), &raw mut stream), "searcher is NULL");
        assert!(stream.is_null());
        invalid(fyke_stream_new(s, ptr::null_mut()), "stream is NULL");
        invalid(fyke_stream_feed(null, text, 6, to, context), "stream is NULL");
        invalid(fyke_stream_finish(null, to, context), "stream is NULL");
        invalid(fyke_stream_reset(null), "stream is NULL");
        invalid(fyke_stream_offset(null, &raw mut offset), "stream is NULL");
        invalid(fyke_stream_save(null, Some(append), none), "stream is NULL");
        invalid(fyke_stream_restore(ptr::null(), text, 6, &raw mut stream), "searcher is NULL");
        invalid(fyke_stream_restore(s, ptr::null(), 6, &raw mut stream), "saved is NULL");
        invalid(fyke_stream_restore(s, text, 6, ptr::null_mut()), "stream is NULL");
        fails(fyke_stream_restore(s, text, 6, &raw mut stream), FYKE_BAD_STATE, "state");
        assert!(stream.is_null());
        assert_eq!(fyke_stream_new(s, &raw mut stream), FYKE_OK);
        invalid(fyke_stream_feed(stream, ptr::null(), 6, to, context), "chunk is NULL");
        invalid(fyke_stream_feed(stream, text, 6, None, context), "on_matches is NULL");
        invalid(fyke_stream_finish(stream, None, context), "on_matches is NULL");
        invalid(fyke_stream_offset(stream, ptr::null_mut()), "offset is NULL");
        invalid(fyke_stream_save(stream, None, none), "on_bytes is NULL");
        fails(fyke_stream_save(stream, Some(full), none), FYKE_IO, "on_bytes could not write");
        assert_eq!(fyke_stream_feed(stream, text, 6, to, context), FYKE_OK, "it is as it was");
        assert_eq!(fyke_stream_finish(stream, to, context), FYKE_OK);
        invalid(fyke_stream_save(stream, Some(append), none), "stream has no state to save");
        assert_eq!(fyke_stream_free(stream), FYKE_OK);
    }
    assert_eq!((found.rows.len(), offset), (3, 7));
}

#[test]
fn iterators() {
    let searcher = searcher_with(FYKE_ALL);
    let (null, s, text) = (ptr::null_mut::<Iter>(), searcher.0, TEXT.as_ptr().cast());
    let (mut iterator, mut count, mut m) = (ptr::dangling_mut(), 7, match_of());
    let (to, n) = (&raw mut m, &raw mut count);
    // SAFETY: null is allowed, and everything else is live.
    unsafe {
        invalid(fyke_iter_new(ptr::null(), text, 6, &raw mut iterator), "searcher is NULL");
        assert!(iterator.is_null());
        invalid(fyke_iter_new(s, ptr::null(), 6, &raw mut iterator), "haystack is NULL");
        invalid(fyke_iter_new(s, text, 6, ptr::null_mut()), "iterator is NULL");
        invalid(fyke_iter_next(null, to, 1, n), "iterator is NULL");
        assert_eq!(fyke_iter_new(s, text, 6, &raw mut iterator), FYKE_OK);
        invalid(fyke_iter_next(iterator, ptr::null_mut(), 1, n), "matches is NULL");
        invalid(fyke_iter_next(iterator, to, 0, n), "capacity is 0");
        invalid(fyke_iter_next(iterator, to, 1, ptr::null_mut()), "count is NULL");
        assert_eq!((*to, *n), (match_of(), 7));
        assert_eq!(fyke_iter_next(iterator, to, 1, n), FYKE_MORE, "no match was lost");
        assert_eq!((row(&*to), *n), ((SHE, 1, 4), 1));
        assert_eq!(fyke_iter_free(iterator), FYKE_OK);
    }
}
