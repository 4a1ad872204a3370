//! Sets that are no literals go to a real Hyperscan, which `FYKE_HS_NEXT` names.

mod common;

use common::expressions::compile_all;
use common::{Api, Collector, Compiled, Database, Found, LIBHS, Scratch, collect, own_file};
use fyke_hs::abi::{self, ExprInfo};
use std::ffi::{CStr, c_int, c_uint, c_ulonglong, c_void};
use std::ptr;

const NULL: *mut c_void = ptr::null_mut();

/// Compiles expressions without flags, under the ids 0, 1, 2 ...
fn compile<'a>(api: &'a Api, texts: &[&str], mode: u32) -> Compiled<'a> {
    compile_all(api, texts, 0, mode)
}

/// The matches of chunks, by a stream that is copied, saved and restored on the way.
fn scan_stream(database: &Database<'_>, scratch: &Scratch<'_>, chunks: &[&[u8]]) -> Vec<Found> {
    let api = database.api;
    let (mut to, mut stream) = (Collector::stopping_at(usize::MAX), NULL);
    // SAFETY: the database is live, and the result has a place.
    let opened = unsafe { (api.hs_open_stream)(database.raw, 0, &raw mut stream) };
    assert_eq!(opened, abi::SUCCESS);
    for (i, chunk) in chunks.iter().enumerate() {
        stream = replace(database, stream, i);
        let (data, len) = (chunk.as_ptr(), chunk.len() as c_uint);
        let (scan, context) = (api.hs_scan_stream, to.context());
        // SAFETY: everything is live, and the chunk has as many bytes.
        let status = unsafe { scan(stream, data, len, 0, scratch.raw, Some(collect), context) };
        assert_eq!(status, abi::SUCCESS);
    }
    let context = to.context();
    // SAFETY: the stream is not used again.
    let closed = unsafe { (api.hs_close_stream)(stream, scratch.raw, Some(collect), context) };
    assert_eq!(closed, abi::SUCCESS);
    to.found
}

/// The stream, its copy, or what comes back of its saved state.
fn replace(database: &Database<'_>, stream: *mut c_void, way: usize) -> *mut c_void {
    let api = database.api;
    let (mut other, mut used, mut saved) = (NULL, 0, [0u8; 4096]);
    let (buffer, space) = (saved.as_mut_ptr().cast(), saved.len());
    // SAFETY: the stream is live, and the buffer has as many bytes.
    let status = unsafe { (api.hs_compress_stream)(stream, buffer, space, &raw mut used) };
    assert_eq!(status, abi::SUCCESS);
    let bytes = saved.as_ptr().cast();
    let status = match way % 4 {
        0 => return stream,
        // SAFETY: the stream is live, and the result has a place.
        1 => unsafe { (api.hs_copy_stream)(&raw mut other, stream) },
        // SAFETY: the database is live, and there are as many bytes.
        2 => unsafe { (api.hs_expand_stream)(database.raw, &raw mut other, bytes, used) },
        _ => {
            // SAFETY: the database is live, and the result has a place.
            unsafe { (api.hs_open_stream)(database.raw, 0, &raw mut other) };
            // SAFETY: the stream is live; without a handler it needs no scratch.
            unsafe { (api.hs_reset_stream)(other, 0, NULL, None, NULL) };
            // SAFETY: both streams are live.
            unsafe { (api.hs_reset_and_copy_stream)(other, stream, NULL, None, NULL) }
        }
    };
    assert_eq!(status, abi::SUCCESS, "way {way}");
    // SAFETY: it is not used again.
    unsafe { (api.hs_close_stream)(stream, NULL, None, NULL) };
    other
}

#[test]
fn sets_with_regular_expressions_go_to_the_next_library() {
    let Some(file) = common::real_files().into_iter().find(|file| file.is_file()) else {
        return fyke_testkit::require::refuse_without(LIBHS, "next", "no libhs.so.5");
    };
    // SAFETY: this is the only test of the file, and no other thread reads the environment yet.
    unsafe { std::env::set_var("FYKE_HS_NEXT", &file) };
    let api = Api::open(&own_file()).unwrap();
    blocks(&api);
    streams(&api);
    ends_of_streams(&api);
    scratches_at_ends_of_streams(&api);
    descriptions(&api);
    let (message, index) = compile(&api, &["fine", "a.(b"], abi::MODE_BLOCK).err().unwrap();
    assert!(message.contains("parenthes") && index == 1, "{message}");
}

/// One scratch serves databases of both libraries.
fn blocks(api: &Api) {
    let own = compile(api, &["abc", "c"], abi::MODE_BLOCK).unwrap();
    let next = compile(api, &["abc", "a.c", "[0-9]+x"], abi::MODE_BLOCK).unwrap();
    let vectored = compile(api, &["a.*z"], abi::MODE_VECTORED).unwrap();
    let mut scratch = api.scratch();
    scratch.grow(&own);
    let early = next.scan(&scratch, b"abc", 9).status;
    assert_eq!(early, abi::INVALID, "the scratch was not grown for it");
    scratch.grow(&next);
    scratch.grow(&vectored);
    for _ in 0..2 {
        assert_eq!(own.scan(&scratch, b"abc", 9).found, [(3, 0, 0), (3, 1, 0)]);
        let found = next.scan(&scratch, b"abc 12x", 9).sorted().found;
        assert_eq!(found, [(3, 0, 0), (3, 1, 0), (7, 2, 0)]);
        let stopped = next.scan(&scratch, b"abc 12x", 1);
        assert_eq!((stopped.status, stopped.found.len()), (abi::SCAN_TERMINATED, 1));
    }
    let found = vectored.scan_vector(&scratch, &[b"xa", b"", b"bcz"], 9).found;
    assert_eq!(found, [(5, 0, 0)]);
    assert!(next.size() > 100);
    let (bytes, mut raw) = (next.serialize(), NULL);
    let (data, len) = (bytes.as_ptr().cast(), bytes.len());
    // SAFETY: there are as many bytes, and the result has a place.
    let status = unsafe { (api.hs_deserialize_database)(data, len, &raw mut raw) };
    assert_eq!(status, abi::SUCCESS);
    let again = Database { api, raw };
    assert_eq!(again.scan(&scratch, b"9x", 9).found, [(2, 2, 0)]);
    let mut copy = NULL;
    // SAFETY: the scratch is live, and the result has a place.
    assert_eq!(unsafe { (api.hs_clone_scratch)(scratch.raw, &raw mut copy) }, abi::SUCCESS);
    let data = b"9x".as_ptr();
    // SAFETY: everything is live.
    let status = unsafe { (api.hs_scan)(again.raw, data, 2, 0, copy, None, NULL) };
    assert_eq!(status, abi::SUCCESS);
    // SAFETY: it is not used again.
    assert_eq!(unsafe { (api.hs_free_scratch)(copy) }, abi::SUCCESS);
}

fn streams(api: &Api) {
    let own = compile(api, &["abc", "bcd"], abi::MODE_STREAM).unwrap();
    let next = compile(api, &["ab+c", "cd"], abi::MODE_STREAM).unwrap();
    let mut scratch = api.scratch();
    scratch.grow(&next);
    scratch.grow(&own);
    let chunks: Vec<&[u8]> = b"xabcdx".chunks(1).collect();
    assert_eq!(scan_stream(&own, &scratch, &chunks), [(4, 0, 0), (5, 1, 0)]);
    assert_eq!(scan_stream(&next, &scratch, &chunks), [(4, 0, 0), (5, 1, 0)]);
    let mut size = 0;
    // SAFETY: the database is live, and the result has a place.
    let status = unsafe { (api.hs_stream_size)(next.raw, &raw mut size) };
    assert!(status == abi::SUCCESS && size > 0);
}

/// A regular expression may match at the end of the data, and every call that ends a stream says
/// so.
fn ends_of_streams(api: &Api) {
    let next = compile(api, &["abc$"], abi::MODE_STREAM).unwrap();
    let mut scratch = api.scratch();
    scratch.grow(&next);
    for way in 0..4 {
        let (mut to, mut fresh, mut stream) = (Collector::stopping_at(usize::MAX), NULL, NULL);
        let (mut saved, mut used) = ([0u8; 4096], 0);
        let (buffer, space) = (saved.as_mut_ptr().cast(), saved.len());
        let (handler, context) = (Some(collect as _), to.context());
        for place in [&raw mut fresh, &raw mut stream] {
            // SAFETY: the database is live, and the result has a place.
            unsafe { (api.hs_open_stream)(next.raw, 0, place) };
        }
        // SAFETY: the stream is live, and the buffer has as many bytes.
        unsafe { (api.hs_compress_stream)(fresh, buffer, space, &raw mut used) };
        let (scan, data) = (api.hs_scan_stream, b"xabc".as_ptr().cast());
        // SAFETY: everything is live, and the data has four bytes.
        let scanned = unsafe { scan(stream, data, 4, 0, scratch.raw, handler, context) };
        assert_eq!(to.found, []);
        let ended = match way {
            0 => abi::SUCCESS, // closing alone
            // SAFETY: everything is live.
            1 => unsafe { (api.hs_reset_stream)(stream, 0, scratch.raw, handler, context) },
            2 => {
                let copy = api.hs_reset_and_copy_stream;
                // SAFETY: everything is live.
                unsafe { copy(stream, fresh, scratch.raw, handler, context) }
            }
            _ => {
                let (expand, saved) = (api.hs_reset_and_expand_stream, saved.as_ptr().cast());
                // SAFETY: everything is live, and there are as many saved bytes.
                unsafe { expand(stream, saved, used, scratch.raw, handler, context) }
            }
        };
        // SAFETY: everything is live, and the stream is not used again.
        unsafe { (api.hs_close_stream)(stream, scratch.raw, handler, context) };
        // SAFETY: the stream is live and not used again; without a handler it needs no scratch.
        unsafe { (api.hs_close_stream)(fresh, NULL, None, NULL) };
        assert_eq!([scanned, ended], [abi::SUCCESS; 2], "way {way}");
        assert_eq!(to.found, [(4, 0, 0)], "way {way}");
    }
}

/// A handler's own call, with the scratch of the call that it serves.
struct Nested<'a> {
    api: &'a Api,
    database: *mut c_void,
    scratch: *mut c_void,
    statuses: Vec<c_int>,
}

unsafe extern "C" fn scan_again(
    _id: c_uint,
    _from: c_ulonglong,
    _to: c_ulonglong,
    _flags: c_uint,
    context: *mut c_void,
) -> c_int {
    // SAFETY: the test below passes such a value, which nothing else uses during the call.
    let own = unsafe { &mut *context.cast::<Nested<'_>>() };
    let (scan, data) = (own.api.hs_scan, b"x".as_ptr().cast());
    // SAFETY: everything is live, and the data has a byte.
    own.statuses.push(unsafe { scan(own.database, data, 1, 0, own.scratch, None, NULL) });
    0
}

/// The scratch is in use while a handler gets the matches at the end of the data.
fn scratches_at_ends_of_streams(api: &Api) {
    let next = compile(api, &["abc$"], abi::MODE_STREAM).unwrap();
    let own = compile(api, &["x"], abi::MODE_BLOCK).unwrap();
    let mut scratch = api.scratch();
    scratch.grow(&next);
    scratch.grow(&own);
    let statuses = Vec::new();
    let mut nested = Nested { api, database: own.raw, scratch: scratch.raw, statuses };
    let context = (&raw mut nested).cast();
    let mut stream = NULL;
    // SAFETY: the database is live, and the result has a place.
    unsafe { (api.hs_open_stream)(next.raw, 0, &raw mut stream) };
    let (scan, data) = (api.hs_scan_stream, b"xabc".as_ptr().cast());
    // SAFETY: everything is live, and the data has four bytes.
    unsafe { scan(stream, data, 4, 0, scratch.raw, Some(scan_again), context) };
    // SAFETY: everything is live, and the stream is not used again.
    unsafe { (api.hs_close_stream)(stream, scratch.raw, Some(scan_again), context) };
    assert_eq!(nested.statuses, [abi::SCRATCH_IN_USE]);
}

fn descriptions(api: &Api) {
    let (mut info, mut error) = (ptr::null_mut::<ExprInfo>(), ptr::null_mut());
    let (to, errors) = (&raw mut info, &raw mut error);
    // SAFETY: the text is a C string, and the results have places.
    let status = unsafe { (api.hs_expression_info)(c"ab{2,5}".as_ptr(), 0, to, errors) };
    assert_eq!(status, abi::SUCCESS);
    // SAFETY: the library returned it.
    let described = unsafe { *info };
    assert_eq!((described.min_width, described.max_width), (3, 6));
    // SAFETY: it came from `malloc`, as no allocator was set.
    unsafe { common::free(info.cast()) };
    let information = |texts: &[&str]| {
        let database = compile(api, texts, abi::MODE_BLOCK).unwrap();
        let mut text = ptr::null_mut();
        // SAFETY: the database is live, and the result has a place.
        unsafe { (api.hs_database_info)(database.raw, &raw mut text) };
        // SAFETY: the library returned a C string.
        let copy = unsafe { CStr::from_ptr(text) }.to_owned();
        // SAFETY: it came from `malloc`, as no allocator was set.
        unsafe { common::free(text.cast()) };
        copy
    };
    assert_eq!(information(&["abc"]), information(&["a.c"]));
}
