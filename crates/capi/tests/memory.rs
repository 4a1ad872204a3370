//! The functions as C calls them: what they give, who owns what, and what a stop does.
//! `.ci/run all` runs this file with the address sanitizer too.

#![allow(clippy::multiple_unsafe_ops_per_block, reason = "each is a call of the interface")]

mod common;

use common::*;
use fyke_capi::*;
use std::ffi::{CStr, CString, c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;

const SEMANTICS: [SemanticsCode; 5] =
    [FYKE_ALL, FYKE_ONCE, FYKE_STANDARD, FYKE_LEFTMOST_FIRST, FYKE_LEFTMOST_LONGEST];

/// A haystack with matches of every kind, longer than a piece of an iterator.
fn haystack() -> Vec<u8> {
    let mut text = b"usHers, heshers sheshe ".repeat(3000);
    text.extend(b"hersshe");
    text
}

fn array(capacity: usize) -> Vec<MaybeUninit<Match>> {
    vec![MaybeUninit::uninit(); capacity]
}

/// The first matches of an array.
fn rows(array: &[MaybeUninit<Match>], count: usize) -> Vec<Row> {
    // SAFETY: the library wrote as many.
    array[..count].iter().map(|m| row(unsafe { m.assume_init_ref() })).collect()
}

#[test]
fn a_scan_reports_ids_and_offsets() {
    let searcher = searcher_with(FYKE_ALL);
    assert_eq!(scan(&searcher, b"usHers"), [(SHE, 1, 4)]);
    assert_eq!(scan(&searcher, b"ushers"), [(SHE, 1, 4), (HE, 2, 4), (HERS, 2, 6)]);
    assert_eq!(scan(&searcher, b""), []);
}

#[test]
fn every_semantics_selects() {
    let expected: [&[Row]; 5] = [
        &[(SHE, 1, 4), (HE, 2, 4), (HERS, 2, 6), (HE, 7, 9)],
        &[(SHE, 1, 4), (HE, 2, 4), (HERS, 2, 6)],
        &[(SHE, 1, 4), (HE, 7, 9)],
        &[(SHE, 1, 4), (HE, 7, 9)],
        &[(SHE, 1, 4), (HE, 7, 9)],
    ];
    for (semantics, expected) in SEMANTICS.into_iter().zip(expected) {
        assert_eq!(scan(&searcher_with(semantics), b"ushers he"), expected, "{semantics}");
    }
    assert_eq!(scan(&searcher_with(FYKE_LEFTMOST_FIRST), b"hers"), [(HE, 0, 2)]);
    assert_eq!(scan(&searcher_with(FYKE_LEFTMOST_LONGEST), b"hers"), [(HERS, 0, 4)]);
}

#[test]
fn all_calls_agree_with_the_scan() {
    let text = haystack();
    let (data, len) = (text.as_ptr().cast(), text.len());
    for semantics in SEMANTICS {
        let searcher = searcher_with(semantics);
        let expected = scan(&searcher, &text);
        let (mut count, mut found) = (0, false);
        let mut first = Match { id: 0, start: 0, end: 0 };
        // SAFETY: everything is live.
        assert_eq!(unsafe { fyke_count(searcher.0, data, len, &raw mut count) }, FYKE_OK);
        assert_eq!(count, expected.len() as u64);
        // SAFETY: the same.
        assert_eq!(unsafe { fyke_is_match(searcher.0, data, len, &raw mut found) }, FYKE_OK);
        assert!(found);
        let (to, is) = (&raw mut first, &raw mut found);
        // SAFETY: the same.
        assert_eq!(unsafe { fyke_find(searcher.0, data, len, to, is) }, FYKE_OK);
        assert_eq!((found, row(&first)), (true, expected[0]));
        assert_eq!(through_an_iterator(&searcher, &text, 1), expected);
        assert_eq!(through_an_iterator(&searcher, &text, 1000), expected);
        for chunk in [1, 7, 5000] {
            assert_eq!(through_a_stream(&searcher, &text, chunk), expected, "{semantics} {chunk}");
        }
    }
}

fn through_an_iterator(searcher: &Handle<Searcher>, text: &[u8], capacity: usize) -> Vec<Row> {
    let (data, len) = (text.as_ptr().cast(), text.len());
    let free = fyke_iter_free;
    // SAFETY: everything is live.
    let iterator = Handle::new(free, |to| unsafe { fyke_iter_new(searcher.0, data, len, to) });
    let (mut all, mut matches, mut count) = (Vec::new(), array(capacity), 0);
    loop {
        let to = matches.as_mut_ptr().cast();
        // SAFETY: the array has the room.
        let status = unsafe { fyke_iter_next(iterator.0, to, capacity, &raw mut count) };
        all.extend(rows(&matches, count));
        if status != FYKE_MORE {
            assert_eq!(status, FYKE_OK);
            return all;
        }
        assert_eq!(count, capacity);
    }
}

fn stream_of(searcher: &Handle<Searcher>) -> Handle<Stream> {
    // SAFETY: the searcher is live and the place valid.
    Handle::new(fyke_stream_free, |to| unsafe { fyke_stream_new(searcher.0, to) })
}

fn feed(stream: &Handle<Stream>, chunk: &[u8], found: &mut Found) -> Status {
    let (data, context) = (chunk.as_ptr().cast(), found.context());
    // SAFETY: everything is live.
    unsafe { fyke_stream_feed(stream.0, data, chunk.len(), Some(collect), context) }
}

fn finish(stream: &Handle<Stream>, found: &mut Found) -> Status {
    // SAFETY: everything is live.
    unsafe { fyke_stream_finish(stream.0, Some(collect), found.context()) }
}

fn offset(stream: &Handle<Stream>) -> u64 {
    let mut offset = 0;
    // SAFETY: everything is live.
    assert_eq!(unsafe { fyke_stream_offset(stream.0, &raw mut offset) }, FYKE_OK);
    offset
}

fn through_a_stream(searcher: &Handle<Searcher>, text: &[u8], chunk: usize) -> Vec<Row> {
    let (stream, mut found) = (stream_of(searcher), Found::default());
    for chunk in text.chunks(chunk) {
        assert_eq!(feed(&stream, chunk, &mut found), FYKE_OK);
    }
    assert_eq!(offset(&stream), text.len() as u64);
    assert_eq!(finish(&stream, &mut found), FYKE_OK);
    found.rows
}

#[test]
fn an_array_that_is_full_says_that_there_are_more() {
    let searcher = searcher_with(FYKE_ALL);
    let text = b"ushers";
    for (capacity, status, len) in [(0, FYKE_MORE, 0), (2, FYKE_MORE, 2), (3, FYKE_OK, 3)] {
        let (mut matches, mut count) = (array(capacity), 99);
        let (to, data) = (matches.as_mut_ptr().cast(), text.as_ptr().cast());
        let mut collect = |len| {
            // SAFETY: the array has the room, and everything else is live.
            unsafe { fyke_collect(searcher.0, data, len, to, capacity, &raw mut count) }
        };
        assert_eq!(collect(text.len()), status);
        assert_eq!(count, len);
        assert_eq!(rows(&matches, len), scan(&searcher, text)[..len]);
    }
}

#[test]
fn a_callback_stops_a_scan() {
    let searcher = searcher_with(FYKE_ALL);
    let text = haystack();
    let mut found = Found { stop_at: Some(2), ..Found::default() };
    let (data, context) = (text.as_ptr().cast(), found.context());
    // SAFETY: everything is live.
    let status = unsafe { fyke_scan(searcher.0, data, text.len(), Some(collect), context) };
    assert_eq!((status, found.calls), (FYKE_STOPPED, 2));
    assert_eq!(found.rows, scan(&searcher, &text)[..found.rows.len()]);
}

#[test]
fn a_batch_reports_each_buffer_by_itself() {
    let searcher = searcher_with(FYKE_LEFTMOST_LONGEST);
    let texts: [&[u8]; 4] = [b"us", b"hers he", b"", b"she"];
    let mut buffers = texts.map(|t| Buffer { data: t.as_ptr().cast(), len: t.len() });
    buffers[2].data = ptr::null();
    let mut found = Found::default();
    let (data, context) = (buffers.as_ptr(), found.context());
    // SAFETY: everything is live.
    let status = unsafe { fyke_scan_batch(searcher.0, data, 4, Some(collect_of), context) };
    assert_eq!(status, FYKE_OK);
    assert_eq!(found.rows, [(HERS, 0, 4), (HE, 5, 7), (SHE, 0, 3)]);
    assert_eq!(found.buffers, [1, 1, 3]);
    let mut counts = [9; 4];
    // SAFETY: there is room for four numbers.
    assert_eq!(unsafe { fyke_count_batch(searcher.0, data, 4, counts.as_mut_ptr()) }, FYKE_OK);
    assert_eq!(counts, [0, 2, 0, 1]);

    let mut found = Found { stop_at: Some(1), ..Found::default() };
    let context = found.context();
    // SAFETY: everything is live.
    let status = unsafe { fyke_scan_batch(searcher.0, data, 4, Some(collect_of), context) };
    assert_eq!((status, found.calls), (FYKE_STOPPED, 1));
}

#[test]
fn a_stream_ends_stops_and_starts_again() {
    let searcher = searcher_with(FYKE_LEFTMOST_LONGEST);
    let (stream, mut found) = (stream_of(&searcher), Found::default());
    drop(searcher);
    assert_eq!(feed(&stream, b"he", &mut found), FYKE_OK);
    assert_eq!(found.rows, [], "it may be longer");
    assert_eq!(finish(&stream, &mut found), FYKE_OK);
    assert_eq!(found.rows, [(HE, 0, 2)]);
    assert_eq!(feed(&stream, b"he", &mut found), FYKE_INVALID);
    assert_eq!(last_error(), "stream has ended: reset it");
    assert_eq!(finish(&stream, &mut found), FYKE_INVALID);

    // SAFETY: the stream is live.
    assert_eq!(unsafe { fyke_stream_reset(stream.0) }, FYKE_OK);
    assert_eq!(offset(&stream), 0);
    let mut found = Found { stop_at: Some(1), ..Found::default() };
    assert_eq!(feed(&stream, b"hers hers", &mut found), FYKE_STOPPED);
    assert_eq!(feed(&stream, b" hers", &mut found), FYKE_STOPPED);
    assert_eq!(finish(&stream, &mut found), FYKE_STOPPED);
    assert_eq!(found.calls, 1);
}

#[test]
fn a_stream_with_nothing_left_to_report_goes_on() {
    let searcher = searcher_with(FYKE_ONCE);
    let (stream, mut found) = (stream_of(&searcher), Found::default());
    for _ in 0..3 {
        assert_eq!(feed(&stream, b"ushers ", &mut found), FYKE_OK);
    }
    assert_eq!(found.rows.len(), 3);
    assert_eq!(offset(&stream), 21);
    assert_eq!(finish(&stream, &mut found), FYKE_OK);
}

#[test]
fn a_saved_stream_goes_on_elsewhere() {
    let searcher = searcher_with(FYKE_LEFTMOST_LONGEST);
    let (stream, mut found) = (stream_of(&searcher), Found::default());
    assert_eq!(feed(&stream, b"us", &mut found), FYKE_OK);
    assert_eq!(feed(&stream, b"he", &mut found), FYKE_OK);
    let mut saved: Vec<u8> = Vec::new();
    let context = (&raw mut saved).cast();
    // SAFETY: everything is live.
    assert_eq!(unsafe { fyke_stream_save(stream.0, Some(append), context) }, FYKE_OK);
    let (data, len) = (saved.as_ptr().cast(), saved.len());
    let restore = |to| {
        // SAFETY: everything is live.
        unsafe { fyke_stream_restore(searcher.0, data, len, to) }
    };
    let other = Handle::new(fyke_stream_free, restore);
    assert_eq!(offset(&other), 4);
    assert_eq!(feed(&other, b"rs", &mut found), FYKE_OK);
    assert_eq!(finish(&other, &mut found), FYKE_OK);
    assert_eq!(found.rows, [(SHE, 1, 4)]);
}

/// The database of a searcher.
fn saved(searcher: &Handle<Searcher>) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::new();
    let context = (&raw mut bytes).cast();
    // SAFETY: everything is live.
    assert_eq!(unsafe { fyke_searcher_save_to(searcher.0, Some(append), context) }, FYKE_OK);
    bytes
}

#[test]
fn a_searcher_is_saved_and_loaded() {
    let searcher = searcher_with(FYKE_LEFTMOST_LONGEST);
    let bytes = saved(&searcher);
    let (data, len) = (bytes.as_ptr().cast(), bytes.len());
    let free = fyke_searcher_free;
    // SAFETY: everything is live.
    let loaded = Handle::new(free, |to| unsafe { fyke_searcher_load_from(data, len, to) });
    assert_eq!(scan(&loaded, b"ushers hers"), [(SHE, 1, 4), (HERS, 7, 11)]);

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("set.fykedb");
    let name = CString::new(file.to_str().unwrap()).unwrap();
    for _ in 0..2 {
        // SAFETY: everything is live.
        assert_eq!(unsafe { fyke_searcher_save(searcher.0, name.as_ptr()) }, FYKE_OK);
    }
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no part is left");
    // SAFETY: everything is live.
    let loaded = Handle::new(free, |to| unsafe { fyke_searcher_load(name.as_ptr(), to) });
    let (mut patterns, mut memory) = (0, 0);
    // SAFETY: everything is live.
    let status = unsafe { fyke_searcher_pattern_count(loaded.0, &raw mut patterns) };
    assert_eq!((status, patterns), (FYKE_OK, 3));
    // SAFETY: the same.
    assert_eq!(unsafe { fyke_searcher_memory(loaded.0, &raw mut memory) }, FYKE_OK);
    assert!(memory > 0);
}

#[test]
fn a_file_is_scanned() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("text");
    std::fs::write(&file, "ushers").unwrap();
    let name = CString::new(file.to_str().unwrap()).unwrap();
    let (searcher, mut found) = (searcher_with(FYKE_ALL), Found::default());
    let (name, context) = (name.as_ptr(), found.context());
    // SAFETY: everything is live.
    assert_eq!(unsafe { fyke_scan_file(searcher.0, name, Some(collect), context) }, FYKE_OK);
    assert_eq!(found.rows, scan(&searcher, b"ushers"));
}

#[test]
fn settings_change_the_engine_and_not_the_matches() {
    let builder = builder();
    let sample = haystack();
    // SAFETY: everything is live.
    let set = unsafe {
        [
            fyke_builder_engine(builder.0, c"ac-dfa:walks=4".as_ptr()),
            fyke_builder_threads(builder.0, 2),
            fyke_builder_memory_limit(builder.0, 64 << 20),
            fyke_builder_expected_bytes(builder.0, 1 << 20),
            fyke_builder_expected_call(builder.0, 1200),
            fyke_builder_sample(builder.0, sample.as_ptr().cast(), sample.len()),
        ]
    };
    assert_eq!(set, [FYKE_OK; 6]);
    let searcher = build(&builder);
    // SAFETY: the searcher is live, and the string is its own.
    let engine = unsafe { CStr::from_ptr(fyke_searcher_engine(searcher.0)) };
    assert!(engine.to_str().unwrap().starts_with("ac-dfa"), "{engine:?}");
    let large = haystack().repeat(20);
    assert_eq!(scan(&searcher, &large), scan(&searcher_with(FYKE_ALL), &large));
}

#[test]
fn a_builder_builds_again() {
    let builder = builder();
    let first = build(&builder);
    // SAFETY: the builder is live, and the pattern has as many bytes.
    assert_eq!(unsafe { fyke_builder_add(builder.0, b"us".as_ptr().cast(), 2, 1, 0) }, FYKE_OK);
    let second = build(&builder);
    assert_eq!((scan(&first, b"us").len(), scan(&second, b"us")), (0, vec![(1, 0, 2)]));
}

#[test]
fn the_library_says_what_it_is() {
    let text = |s| {
        // SAFETY: the strings are valid forever.
        unsafe { CStr::from_ptr(s) }.to_str().unwrap()
    };
    assert_eq!(text(fyke_version()), env!("CARGO_PKG_VERSION"));
    assert!(["avx512", "avx2", "neon", "scalar"].contains(&text(fyke_isa())));
    assert_eq!(text(fyke_status_name(FYKE_IN_USE)), "FYKE_IN_USE");
    assert_eq!(text(fyke_status_name(77)), "?");
    let engines: Vec<&str> = (0..)
        .map(|index| fyke_engine_name(index))
        .take_while(|name| !name.is_null())
        .map(text)
        .collect();
    assert!(engines.contains(&"teddy") && engines.contains(&"ac-dfa"), "{engines:?}");
    assert_eq!(engines.contains(&"gpu-dfa"), fyke_has_gpu());
}

/// Calls on the stream that is calling back.
unsafe extern "C-unwind" fn nested(_: *const Match, _: usize, context: *mut c_void) -> c_int {
    let stream: *mut Stream = context.cast();
    let (mut offset, none) = (0, ptr::null_mut());
    // SAFETY: the stream is live.
    let statuses = unsafe {
        [
            fyke_stream_feed(stream, ptr::null(), 0, Some(nested), none),
            fyke_stream_finish(stream, Some(nested), none),
            fyke_stream_reset(stream),
            fyke_stream_offset(stream, &raw mut offset),
            fyke_stream_save(stream, Some(full), none),
            fyke_stream_free(stream),
        ]
    };
    c_int::from(statuses == [FYKE_IN_USE; 6])
}

#[test]
fn a_stream_in_use_is_neither_used_nor_freed() {
    let searcher = searcher_with(FYKE_ALL);
    let stream = stream_of(&searcher);
    let text = b"ushers";
    let (data, context) = (text.as_ptr().cast(), stream.0.cast());
    // SAFETY: everything is live.
    let status = unsafe { fyke_stream_feed(stream.0, data, text.len(), Some(nested), context) };
    assert_eq!(status, FYKE_STOPPED, "all calls within must be refused");
}

/// A callback that panics, as one written in Rust may do.
unsafe extern "C-unwind" fn panics(_: *const Match, _: usize, _: *mut c_void) -> c_int {
    panic!("in the callback");
}

#[test]
fn a_panic_is_a_status_and_the_stream_can_only_be_freed() {
    let searcher = searcher_with(FYKE_ALL);
    let text = b"ushers";
    let (data, none) = (text.as_ptr().cast(), ptr::null_mut());
    // SAFETY: everything is live.
    let status = unsafe { fyke_scan(searcher.0, data, text.len(), Some(panics), none) };
    assert_eq!(status, FYKE_INTERNAL);
    assert!(last_error().contains("in the callback"));
    let stream = stream_of(&searcher);
    // SAFETY: the same.
    let status = unsafe { fyke_stream_feed(stream.0, data, text.len(), Some(panics), none) };
    assert_eq!(status, FYKE_INTERNAL);
    assert_eq!(feed(&stream, text, &mut Found::default()), FYKE_INTERNAL);
    assert!(last_error().contains("free it"));
    assert_eq!(scan(&searcher, text).len(), 3, "the searcher is whole");
}

#[test]
fn threads_share_a_searcher() {
    struct Shared(Handle<Searcher>);
    // SAFETY: any number of threads may use a searcher.
    unsafe impl Sync for Shared {}
    let shared = &Shared(searcher_with(FYKE_ALL));
    let text = haystack();
    let expected = scan(&shared.0, &text);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(scan(&shared.0, &text), expected));
        }
    });
}
