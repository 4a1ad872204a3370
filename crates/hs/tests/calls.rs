//! Every call with arguments that C can get wrong.

mod common;

use common::expressions::{api, compile, compile_all, scan_all};
use common::{Api, Collector, Database, collect};
use fyke_hs::abi::{self, CompileError, ExprInfo, PlatformInfo, Status};
use std::ffi::{CStr, c_int, c_uint, c_ulonglong, c_void};
use std::ptr;

const NULL: *mut c_void = ptr::null_mut();

/// A block database of several literals, and its scratch.
fn several(api: &Api) -> (Database<'_>, common::Scratch<'_>) {
    let database = compile_all(api, &["abc", "bc", "c"], 0, abi::MODE_BLOCK).unwrap();
    let mut scratch = api.scratch();
    scratch.grow(&database);
    (database, scratch)
}

#[test]
fn compile_calls_refuse_bad_arguments() {
    let api = api();
    let (mut raw, mut error) = (NULL, ptr::null_mut::<CompileError>());
    let text = c"a".as_ptr();
    let call = |text, mode, to: *mut *mut c_void, errors: *mut *mut CompileError| {
        // SAFETY: the text and the places of the results are null or valid.
        unsafe { (api.hs_compile)(text, 0, mode, ptr::null(), to, errors) }
    };
    assert_eq!(call(text, 1, &raw mut raw, ptr::null_mut()), abi::COMPILER_ERROR);
    assert!(raw.is_null());
    for (text, mode, to) in [
        (ptr::null(), 1, &raw mut raw),
        (text, 1, ptr::null_mut()),
        (text, 0, &raw mut raw),
        (text, 3, &raw mut raw),
        (text, 16, &raw mut raw),
    ] {
        assert_eq!(call(text, mode, to, &raw mut error), abi::COMPILER_ERROR);
        // SAFETY: a refused compilation leaves an error.
        assert_eq!(unsafe { (*error).expression }, -1);
        // SAFETY: the error is not used again.
        assert_eq!(unsafe { (api.hs_free_compile_error)(error) }, abi::SUCCESS);
    }
    // SAFETY: null is allowed.
    assert_eq!(unsafe { (api.hs_free_compile_error)(ptr::null_mut()) }, abi::SUCCESS);
    let compile = api.hs_compile_ext_multi;
    let (one, nulls) = ([text], [ptr::null()]);
    for (texts, count) in [(ptr::null(), 1), (one.as_ptr(), 0), (nulls.as_ptr(), 1)] {
        let (to, errors, none) = (&raw mut raw, &raw mut error, ptr::null());
        // SAFETY: the arrays are null or have an element, and the results have places.
        let status =
            unsafe { compile(texts, ptr::null(), none, ptr::null(), count, 1, NULL, to, errors) };
        assert_eq!(status, abi::COMPILER_ERROR);
        // SAFETY: the error is not used again.
        unsafe { (api.hs_free_compile_error)(error) };
    }
}

#[test]
fn compile_errors_name_the_expression() {
    let api = api();
    for (bad, what) in [("a.b", "FYKE_HS_NEXT"), ("a\\", "Unescaped"), ("", "empty buffer")] {
        let (message, index) =
            compile_all(&api, &["fine", bad, "x*"], 0, 1).err().expect("refused");
        assert_eq!(index, 1);
        assert!(message.contains(what), "{message}");
    }
    let (message, index) = compile(&api, "a", 16, 1).err().expect("refused");
    assert!(message.contains("HS_FLAG_ALLOWEMPTY") && index == 0);
}

#[test]
fn a_platform_is_checked_and_described() {
    let api = api();
    let mut info = PlatformInfo { reserved2: 7, ..PlatformInfo::default() };
    // SAFETY: the result has a place.
    assert_eq!(unsafe { (api.hs_populate_platform)(&raw mut info) }, abi::SUCCESS);
    assert_eq!((info.reserved1, info.reserved2), (0, 0));
    // SAFETY: null is noticed.
    assert_eq!(unsafe { (api.hs_populate_platform)(ptr::null_mut()) }, abi::INVALID);
    // SAFETY: the function takes nothing.
    assert_eq!(unsafe { (api.hs_valid_platform)() }, abi::SUCCESS);
    assert!(api.version().starts_with("5.4.0 fyke "));
    for (features, tune, wanted) in [(info.cpu_features, 0, 0), (1, 0, -4), (0, 99, -4)] {
        let platform = PlatformInfo { cpu_features: features, tune, ..PlatformInfo::default() };
        let (mut raw, mut error) = (NULL, ptr::null_mut());
        let (platform, to, errors) = ((&raw const platform).cast(), &raw mut raw, &raw mut error);
        // SAFETY: the text is a C string, the platform is valid, and the results have places.
        let status = unsafe { (api.hs_compile)(c"a".as_ptr(), 0, 1, platform, to, errors) };
        assert_eq!(status, wanted);
        drop(api.database(status, raw, error));
    }
}

#[test]
fn expression_info_describes_literals() {
    let api = api();
    let (mut info, mut error) = (ptr::null_mut::<ExprInfo>(), ptr::null_mut());
    let (to, errors) = (&raw mut info, &raw mut error);
    // SAFETY: the text is a C string, and the results have places.
    let status = unsafe { (api.hs_expression_info)(c"ab\\x00".as_ptr(), 0, to, errors) };
    assert_eq!(status, abi::SUCCESS);
    let wanted = ExprInfo { min_width: 3, max_width: 3, ..ExprInfo::default() };
    // SAFETY: the library returned it.
    assert_eq!(unsafe { *info }, wanted);
    // SAFETY: it came from `malloc`, as no allocator was set.
    unsafe { common::free(info.cast()) };
    // SAFETY: the text is a C string, and the results have places.
    let status = unsafe { (api.hs_expression_info)(c"a+".as_ptr(), 0, to, errors) };
    assert_eq!((status, info.is_null()), (abi::COMPILER_ERROR, true));
    // SAFETY: the error is not used again.
    unsafe { (api.hs_free_compile_error)(error) };
    // SAFETY: null is noticed.
    let status = unsafe { (api.hs_expression_info)(ptr::null(), 0, to, errors) };
    assert_eq!(status, abi::COMPILER_ERROR);
    // SAFETY: the error is not used again.
    unsafe { (api.hs_free_compile_error)(error) };
}

#[test]
fn scans_refuse_bad_arguments() {
    let api = api();
    let (database, scratch) = several(&api);
    let data = b"abc".as_ptr();
    let scan = |database, data, scratch| {
        // SAFETY: the pointers are null, valid, or lead to memory without the mark.
        unsafe { (api.hs_scan)(database, data, 3, 0, scratch, None, NULL) }
    };
    let mut other = [0xdbdb_dbdb_u32; 64];
    let other: *mut c_void = other.as_mut_ptr().cast();
    assert_eq!(scan(NULL, data, scratch.raw), abi::INVALID);
    assert_eq!(scan(database.raw, ptr::null(), scratch.raw), abi::INVALID);
    assert_eq!(scan(database.raw, data, NULL), abi::INVALID);
    assert_eq!(scan(other, data, scratch.raw), abi::INVALID, "a database of another library");
    assert_eq!(scan(database.raw, data, other), abi::INVALID);
    assert_eq!(scan(scratch.raw, data, scratch.raw), abi::INVALID);
    assert_eq!(scan(database.raw, data, database.raw), abi::INVALID);
    assert_eq!(scan(database.raw.wrapping_byte_add(1), data, scratch.raw), abi::INVALID);
    assert_eq!(scan(database.raw, data, scratch.raw), abi::SUCCESS);
    let stream = compile(&api, "a", 0, abi::MODE_STREAM).unwrap();
    assert_eq!(scan(stream.raw, data, scratch.raw), abi::DB_MODE_ERROR);
    let singles = compile_all(&api, &["a", "b"], abi::FLAG_SINGLEMATCH, abi::MODE_BLOCK).unwrap();
    assert_eq!(scan(singles.raw, data, scratch.raw), abi::INVALID, "a scratch of another set");
    let vector = api.hs_scan_vector;
    let (parts, lens) = ([data, ptr::null()], [3, 1]);
    let vectored = compile(&api, "a", 0, abi::MODE_VECTORED).unwrap();
    for (database, parts, lens, wanted) in [
        (database.raw, parts.as_ptr(), lens.as_ptr(), abi::DB_MODE_ERROR),
        (vectored.raw, parts.as_ptr(), lens.as_ptr(), abi::INVALID),
        (vectored.raw, ptr::null(), lens.as_ptr(), abi::INVALID),
        (vectored.raw, parts.as_ptr(), ptr::null(), abi::INVALID),
    ] {
        // SAFETY: the arrays are null or have two elements, of which null is noticed.
        let status = unsafe { vector(database, parts, lens, 2, 0, scratch.raw, None, NULL) };
        assert_eq!(status, wanted);
    }
}

/// What a handler needs to scan again.
struct Again<'a> {
    api: &'a Api,
    database: *mut c_void,
    scratch: *mut c_void,
    statuses: Vec<Status>,
}

unsafe extern "C" fn scan_again(
    _id: c_uint,
    _start: c_ulonglong,
    _end: c_ulonglong,
    _flags: c_uint,
    context: *mut c_void,
) -> c_int {
    // SAFETY: the test below passes this, and borrows it for the scan.
    let again = unsafe { &mut *context.cast::<Again<'_>>() };
    let (api, scratch) = (again.api, again.scratch);
    let data = b"abc".as_ptr();
    // SAFETY: everything is live; the scratch is in use, which is noticed.
    let scanned = unsafe { (api.hs_scan)(again.database, data, 3, 0, scratch, None, NULL) };
    // SAFETY: the same.
    let freed = unsafe { (api.hs_free_scratch)(scratch) };
    let mut copy = scratch;
    // SAFETY: the same.
    let grown = unsafe { (api.hs_alloc_scratch)(again.database, &raw mut copy) };
    again.statuses.extend([scanned, freed, grown]);
    0
}

#[test]
fn a_scratch_in_use_is_noticed() {
    let api = api();
    let (database, scratch) = several(&api);
    let mut again =
        Again { api: &api, database: database.raw, scratch: scratch.raw, statuses: Vec::new() };
    let context = (&raw mut again).cast();
    let (scan, data) = (api.hs_scan, b"a c".as_ptr());
    // SAFETY: everything is live, and the handler takes this context.
    let status = unsafe { scan(database.raw, data, 3, 0, scratch.raw, Some(scan_again), context) };
    assert_eq!(status, abi::SUCCESS);
    assert_eq!(again.statuses, [abi::SCRATCH_IN_USE; 3]);
    assert_eq!(database.scan(&scratch, b"abc", usize::MAX).found.len(), 3, "free again");
}

#[test]
fn a_scratch_in_use_by_another_thread_is_noticed() {
    use std::sync::atomic::{AtomicI32, Ordering};
    unsafe extern "C" fn wait(
        _: c_uint,
        _: c_ulonglong,
        _: c_ulonglong,
        _: c_uint,
        context: *mut c_void,
    ) -> c_int {
        // SAFETY: the test below passes this atomic, which outlives the scan.
        let state = unsafe { &*context.cast::<AtomicI32>() };
        state.store(1, Ordering::SeqCst);
        while state.load(Ordering::SeqCst) == 1 {
            std::thread::yield_now();
        }
        1
    }
    let api = api();
    let (database, scratch) = several(&api);
    let state = AtomicI32::new(0);
    let (db, shared) = (database.raw.expose_provenance(), scratch.raw.expose_provenance());
    std::thread::scope(|scope| {
        let (api, state) = (&api, &state);
        let first = scope.spawn(move || {
            let (db, shared) =
                (ptr::with_exposed_provenance_mut(db), ptr::with_exposed_provenance_mut(shared));
            let context = ptr::from_ref(state).cast_mut().cast();
            // SAFETY: everything is live until the scope ends.
            unsafe { (api.hs_scan)(db, b"abc".as_ptr(), 3, 0, shared, Some(wait), context) }
        });
        while state.load(Ordering::SeqCst) == 0 {
            std::thread::yield_now();
        }
        // SAFETY: everything is live; the scratch is in use, which is noticed.
        let second =
            unsafe { (api.hs_scan)(database.raw, b"abc".as_ptr(), 3, 0, scratch.raw, None, NULL) };
        state.store(2, Ordering::SeqCst);
        assert_eq!(second, abi::SCRATCH_IN_USE);
        assert_eq!(first.join().unwrap(), abi::SCAN_TERMINATED);
    });
}

#[test]
fn scratches_are_cloned_and_checked() {
    let api = api();
    let (database, scratch) = several(&api);
    let (mut copy, mut size) = (NULL, 0);
    // SAFETY: the scratch is live, and the result has a place.
    assert_eq!(unsafe { (api.hs_clone_scratch)(scratch.raw, &raw mut copy) }, abi::SUCCESS);
    // SAFETY: the scratch is live, and the result has a place.
    assert_eq!(unsafe { (api.hs_scratch_size)(copy, &raw mut size) }, abi::SUCCESS);
    assert!(size > 0);
    // SAFETY: everything is live.
    let status = unsafe { (api.hs_scan)(database.raw, b"a".as_ptr(), 1, 0, copy, None, NULL) };
    assert_eq!(status, abi::SUCCESS);
    // SAFETY: it is not used again.
    assert_eq!(unsafe { (api.hs_free_scratch)(copy) }, abi::SUCCESS);
    // SAFETY: null is allowed.
    assert_eq!(unsafe { (api.hs_free_scratch)(NULL) }, abi::SUCCESS);
    // SAFETY: null is noticed.
    assert_eq!(unsafe { (api.hs_clone_scratch)(NULL, &raw mut copy) }, abi::INVALID);
    // SAFETY: null is noticed.
    assert_eq!(unsafe { (api.hs_scratch_size)(NULL, &raw mut size) }, abi::INVALID);
    // SAFETY: null is noticed.
    assert_eq!(unsafe { (api.hs_alloc_scratch)(NULL, &raw mut copy) }, abi::INVALID);
    // SAFETY: null is noticed.
    let status = unsafe { (api.hs_alloc_scratch)(database.raw, ptr::null_mut()) };
    assert_eq!(status, abi::INVALID);
    let mut wrong = database.raw;
    // SAFETY: what is no scratch is noticed by its mark.
    let status = unsafe { (api.hs_alloc_scratch)(database.raw, &raw mut wrong) };
    assert_eq!(status, abi::INVALID);
    // SAFETY: what is no scratch is noticed by its mark.
    assert_eq!(unsafe { (api.hs_free_scratch)(database.raw) }, abi::INVALID);
    // SAFETY: what is no database is noticed by its mark.
    assert_eq!(unsafe { (api.hs_free_database)(scratch.raw) }, abi::INVALID);
    // SAFETY: null is allowed.
    assert_eq!(unsafe { (api.hs_free_database)(NULL) }, abi::SUCCESS);
}

#[test]
fn database_calls_refuse_bad_arguments() {
    let api = api();
    let (database, _scratch) = several(&api);
    let (mut size, mut text, mut len) = (0, ptr::null_mut(), 0);
    // SAFETY: null is noticed.
    assert_eq!(unsafe { (api.hs_database_size)(NULL, &raw mut size) }, abi::INVALID);
    // SAFETY: null is noticed.
    let status = unsafe { (api.hs_database_size)(database.raw, ptr::null_mut()) };
    assert_eq!(status, abi::INVALID);
    // SAFETY: null is noticed.
    assert_eq!(unsafe { (api.hs_database_info)(NULL, &raw mut text) }, abi::INVALID);
    // SAFETY: null is noticed.
    let status = unsafe { (api.hs_database_info)(database.raw, ptr::null_mut()) };
    assert_eq!(status, abi::INVALID);
    let serialize = api.hs_serialize_database;
    let odd = database.raw.wrapping_byte_add(1);
    for (database, text, len, wanted) in [
        (NULL, &raw mut text, &raw mut len, abi::INVALID),
        (database.raw, ptr::null_mut(), &raw mut len, abi::INVALID),
        (database.raw, &raw mut text, ptr::null_mut(), abi::INVALID),
        (odd, &raw mut text, &raw mut len, abi::BAD_ALIGN),
    ] {
        // SAFETY: what is null or not aligned is noticed.
        assert_eq!(unsafe { serialize(database, text, len) }, wanted);
    }
}

#[test]
fn all_block_databases_have_the_same_information() {
    let api = api();
    let info = |database: &Database<'_>| {
        let mut text = ptr::null_mut();
        // SAFETY: the database is live, and the result has a place.
        assert_eq!(unsafe { (api.hs_database_info)(database.raw, &raw mut text) }, abi::SUCCESS);
        // SAFETY: the library returned a C string.
        let copy = unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned();
        // SAFETY: it came from `malloc`, as no allocator was set.
        unsafe { common::free(text.cast()) };
        copy
    };
    let (database, _scratch) = several(&api);
    let single = compile(&api, "single", 1, abi::MODE_BLOCK).unwrap();
    let stream = compile(&api, "single", 1, abi::MODE_STREAM).unwrap();
    assert_eq!(info(&database), info(&single));
    assert!(info(&single).starts_with("Version: 5.4.0 Features: "));
    assert!(info(&single).ends_with(" Mode: BLOCK"));
    assert!(info(&stream).ends_with(" Mode: STREAM"));
}

#[test]
fn streams_refuse_bad_arguments() {
    let api = api();
    let database = compile_all(&api, &["abc", "b"], 0, abi::MODE_STREAM).unwrap();
    let (block, scratch) = several(&api);
    let (mut stream, mut size) = (NULL, 0);
    let open = |database, to| {
        // SAFETY: what is null is noticed.
        unsafe { (api.hs_open_stream)(database, 0, to) }
    };
    assert_eq!(open(NULL, &raw mut stream), abi::INVALID);
    assert_eq!(open(database.raw, ptr::null_mut()), abi::INVALID);
    assert_eq!(open(block.raw, &raw mut stream), abi::DB_MODE_ERROR);
    // SAFETY: the database is live, and the result has a place.
    let status = unsafe { (api.hs_stream_size)(block.raw, &raw mut size) };
    assert_eq!(status, abi::DB_MODE_ERROR);
    assert_eq!(open(database.raw, &raw mut stream), abi::SUCCESS);
    let scan = |stream, data, scratch| {
        // SAFETY: what is null is noticed.
        unsafe { (api.hs_scan_stream)(stream, data, 1, 0, scratch, None, NULL) }
    };
    let data = b"a".as_ptr();
    assert_eq!(scan(NULL, data, scratch.raw), abi::INVALID);
    assert_eq!(scan(stream, ptr::null(), scratch.raw), abi::INVALID);
    assert_eq!(scan(stream, data, NULL), abi::INVALID);
    assert_eq!(scan(database.raw, data, scratch.raw), abi::INVALID);
    assert_eq!(scan(stream, data, scratch.raw), abi::SUCCESS);
    // SAFETY: with a handler, a null scratch is noticed.
    let status = unsafe { (api.hs_close_stream)(stream, NULL, Some(collect), NULL) };
    assert_eq!(status, abi::INVALID);
    // SAFETY: null is noticed.
    let status = unsafe { (api.hs_reset_stream)(NULL, 0, NULL, None, NULL) };
    assert_eq!(status, abi::INVALID);
    // SAFETY: a stream and itself are noticed.
    let status = unsafe { (api.hs_reset_and_copy_stream)(stream, stream, NULL, None, NULL) };
    assert_eq!(status, abi::INVALID);
    // SAFETY: a size is asked for; null is noticed.
    let status = unsafe { (api.hs_compress_stream)(stream, ptr::null_mut(), 9, &raw mut size) };
    assert_eq!(status, abi::INVALID);
    // SAFETY: it is not used again.
    assert_eq!(unsafe { (api.hs_close_stream)(stream, NULL, None, NULL) }, abi::SUCCESS);
}

#[test]
fn saved_streams_of_other_databases_are_refused() {
    let api = api();
    let database = compile_all(&api, &["abc", "b"], 0, abi::MODE_STREAM).unwrap();
    let other = compile_all(&api, &["abd", "b"], 0, abi::MODE_STREAM).unwrap();
    let (mut stream, mut used, mut expanded) = (NULL, 0, NULL);
    // SAFETY: the database is live, and the result has a place.
    unsafe { (api.hs_open_stream)(database.raw, 0, &raw mut stream) };
    let mut saved = [0u8; 200];
    let (buffer, space) = (saved.as_mut_ptr().cast(), saved.len());
    // SAFETY: the stream is live, and the buffer has as many bytes.
    let status = unsafe { (api.hs_compress_stream)(stream, buffer, space, &raw mut used) };
    assert_eq!(status, abi::SUCCESS);
    let mut expand = |database: &Database<'_>, saved: &[u8]| {
        let (bytes, len) = (saved.as_ptr().cast(), saved.len());
        // SAFETY: the database is live, and there are as many bytes.
        let status = unsafe { (api.hs_expand_stream)(database.raw, &raw mut expanded, bytes, len) };
        // SAFETY: null is noticed; what is a stream is not used again.
        unsafe { (api.hs_close_stream)(expanded, NULL, None, NULL) };
        status
    };
    let saved = &saved[..used];
    assert_eq!(expand(&other, saved), abi::INVALID);
    assert_eq!(expand(&database, saved), abi::SUCCESS);
    for len in 0..used {
        assert_eq!(expand(&database, &saved[..len]), abi::INVALID);
        let mut changed = saved.to_vec();
        changed[len] ^= 4;
        assert_eq!(expand(&database, &changed), abi::INVALID);
    }
    // SAFETY: it is not used again.
    assert_eq!(unsafe { (api.hs_close_stream)(stream, NULL, None, NULL) }, abi::SUCCESS);
}

#[test]
fn a_terminated_stream_stays_terminated() {
    let api = api();
    let database = compile(&api, "a", 0, abi::MODE_STREAM).unwrap();
    let mut scratch = api.scratch();
    scratch.grow(&database);
    let mut stream = NULL;
    // SAFETY: the database is live, and the result has a place.
    unsafe { (api.hs_open_stream)(database.raw, 0, &raw mut stream) };
    let mut to = Collector::stopping_at(1);
    let scan = |to: &mut Collector| {
        let (data, context) = (b"aa".as_ptr(), to.context());
        // SAFETY: everything is live.
        unsafe { (api.hs_scan_stream)(stream, data, 2, 0, scratch.raw, Some(collect), context) }
    };
    assert_eq!(scan(&mut to), abi::SCAN_TERMINATED);
    assert_eq!(scan(&mut to), abi::SCAN_TERMINATED);
    assert_eq!(to.found.len(), 1);
    // SAFETY: the stream is live.
    assert_eq!(unsafe { (api.hs_reset_stream)(stream, 0, NULL, None, NULL) }, abi::SUCCESS);
    assert_eq!(scan(&mut to), abi::SCAN_TERMINATED);
    assert_eq!(to.found, [(1, 0, 0); 2]);
    // SAFETY: it is not used again.
    unsafe { (api.hs_close_stream)(stream, NULL, None, NULL) };
}

#[test]
fn empty_buffers_have_no_matches() {
    let api = api();
    let (database, scratch) = several(&api);
    assert_eq!(database.scan(&scratch, b"", 1).found, []);
    let single = compile(&api, "a", 0, abi::MODE_BLOCK).unwrap();
    assert_eq!(scan_all(&single, b""), []);
}

#[test]
fn long_literals_are_found() {
    let api = api();
    for len in [255, 256, 257, 5000, 65_535] {
        let text = "aB".repeat(len).split_off(len);
        let database = compile(&api, &text, abi::FLAG_CASELESS, abi::MODE_BLOCK).unwrap();
        let found = scan_all(&database, b"bbbb");
        assert_eq!(found, []);
        let haystack = "Ab".repeat(len / 2 + 2);
        let ends: Vec<u64> = scan_all(&database, haystack.as_bytes()).iter().map(|m| m.0).collect();
        let first = (len + usize::from(text.starts_with('B'))) as u64;
        assert_eq!(ends[..2], [first, first + 2]);
    }
}

#[test]
fn serialized_databases_are_checked() {
    let api = api();
    let (database, _scratch) = several(&api);
    let bytes = database.serialize();
    let read = |bytes: &[u8]| {
        let mut raw = NULL;
        let (data, len) = (bytes.as_ptr().cast(), bytes.len());
        // SAFETY: there are as many bytes, and the result has a place.
        let status = unsafe { (api.hs_deserialize_database)(data, len, &raw mut raw) };
        assert_eq!(status == abi::SUCCESS, !raw.is_null());
        // SAFETY: null is allowed; what is a database is not used again.
        unsafe { (api.hs_free_database)(raw) };
        status
    };
    assert_eq!(read(&bytes), abi::SUCCESS);
    assert_eq!(read(&bytes[..bytes.len() - 1]), abi::INVALID);
    assert_eq!(read(b""), abi::INVALID);
    assert_eq!(read(&[0xdb; 2000]), abi::INVALID, "the magic number of Hyperscan");
    let mut later = bytes.clone();
    later[8] += 1;
    assert_eq!(read(&later), abi::DB_VERSION_ERROR);
    let mut raw = NULL;
    // SAFETY: null is noticed.
    let status = unsafe { (api.hs_deserialize_database)(ptr::null(), 9, &raw mut raw) };
    assert_eq!(status, abi::INVALID);
}
