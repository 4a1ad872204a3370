//! The library's functions themselves: allocators of the caller, databases in memory of the caller,
//! what was freed, and that scans allocate nothing.

use fyke_hs::abi::{self, Status};
use fyke_hs::compile::{hs_compile, hs_compile_multi};
use fyke_hs::database::{Database, hs_database_info, hs_free_database};
use fyke_hs::scan::hs_scan;
use fyke_hs::scratch::{Scratch, hs_alloc_scratch, hs_free_scratch};
use fyke_hs::serialize::{
    hs_deserialize_database_at, hs_serialize_database, hs_serialized_database_info,
    hs_serialized_database_size,
};
use fyke_hs::stream::{Stream, hs_close_stream, hs_open_stream, hs_scan_stream};
use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the allocations of this thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

// SAFETY: everything is left to the allocator of the system.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller promises what the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller promises what the system's allocator asks for.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static GLOBAL: Counting = Counting;

/// The allocators are those of the process: one test at a time.
static ONE: Mutex<()> = Mutex::new(());

fn compile(mode: u32) -> *mut Database {
    let texts: [*const c_char; 3] = [c"abc".as_ptr(), c"bcd".as_ptr(), c"x".as_ptr()];
    let flags = [0, abi::FLAG_SINGLEMATCH, abi::FLAG_CASELESS];
    let ids = [1, 2, 3];
    let (mut database, mut error) = (ptr::null_mut(), ptr::null_mut());
    let (texts, flags, ids) = (texts.as_ptr(), flags.as_ptr(), ids.as_ptr());
    let (to, errors) = (&raw mut database, &raw mut error);
    // SAFETY: the arrays have three elements, and the results have places.
    let status = unsafe { hs_compile_multi(texts, flags, ids, 3, mode, ptr::null(), to, errors) };
    assert_eq!(status, abi::SUCCESS);
    database
}

fn scratch_for(database: *const Database) -> *mut Scratch {
    let mut scratch = ptr::null_mut();
    // SAFETY: the database is live, and the result has a place.
    assert_eq!(unsafe { hs_alloc_scratch(database, &raw mut scratch) }, abi::SUCCESS);
    scratch
}

unsafe extern "C" fn ignore(_: u32, _: u64, _: u64, _: u32, _: *mut c_void) -> i32 {
    0
}

#[test]
fn scans_allocate_nothing() {
    let _one = ONE.lock().unwrap();
    let (block, stream) = (compile(abi::MODE_BLOCK), compile(abi::MODE_STREAM));
    let mut scratch = scratch_for(block);
    // SAFETY: the database and the scratch are live.
    assert_eq!(unsafe { hs_alloc_scratch(stream, &raw mut scratch) }, abi::SUCCESS);
    let mut opened: *mut Stream = ptr::null_mut();
    // SAFETY: the database is live, and the result has a place.
    assert_eq!(unsafe { hs_open_stream(stream, 0, &raw mut opened) }, abi::SUCCESS);
    let haystack = b"abcdX .".repeat(300);
    let (data, none) = (haystack.as_ptr().cast(), ptr::null_mut());
    let scan = |len: u32| {
        // SAFETY: everything is live, and the haystack has at least as many bytes.
        let a = unsafe { hs_scan(block, data, len, 0, scratch, Some(ignore), none) };
        // SAFETY: the same.
        let b = unsafe { hs_scan_stream(opened, data, len, 0, scratch, Some(ignore), none) };
        assert_eq!((a, b), (abi::SUCCESS, abi::SUCCESS));
    };
    // The first call makes the buffers of the engine.
    scan(haystack.len() as u32);
    let before = ALLOCATIONS.get();
    for len in [1, 50, 700, 2100, 3, 2000] {
        scan(len);
    }
    assert_eq!(ALLOCATIONS.get(), before);
    // SAFETY: nothing is used again; without a handler no scratch is needed.
    unsafe { hs_close_stream(opened, ptr::null_mut(), None, none) };
    // SAFETY: the same.
    unsafe { hs_free_scratch(scratch) };
    // SAFETY: the same.
    unsafe { hs_free_database(block) };
    // SAFETY: the same.
    unsafe { hs_free_database(stream) };
}

/// Allocations that are live.
static LIVE: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" {
    fn malloc(bytes: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

unsafe extern "C" fn counted(bytes: usize) -> *mut c_void {
    LIVE.fetch_add(1, Ordering::SeqCst);
    // SAFETY: any size is allowed.
    unsafe { malloc(bytes) }
}

/// What was to be freed, as addresses.
static KEPT: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// Does not free yet, so that what was freed can be looked at.
unsafe extern "C" fn keep(memory: *mut c_void) {
    assert!(!memory.is_null());
    LIVE.fetch_sub(1, Ordering::SeqCst);
    KEPT.lock().unwrap().push(memory.expose_provenance());
}

unsafe extern "C" fn none(_bytes: usize) -> *mut c_void {
    ptr::null_mut()
}

unsafe extern "C" fn unaligned(bytes: usize) -> *mut c_void {
    // SAFETY: any size is allowed.
    unsafe { malloc(bytes + 1) }.wrapping_byte_add(1)
}

unsafe extern "C" fn free_unaligned(memory: *mut c_void) {
    // SAFETY: `unaligned` moved it by one byte.
    unsafe { free(memory.wrapping_byte_sub(1)) }
}

/// Sets all allocators.
fn set(alloc: Option<abi::AllocFn>, free: Option<abi::FreeFn>) {
    // SAFETY: the functions of this file do what allocators do, or refuse.
    assert_eq!(unsafe { fyke_hs::hs_set_allocator(alloc, free) }, abi::SUCCESS);
}

#[test]
fn the_callers_allocators_are_used_and_what_was_freed_is_noticed() {
    let _one = ONE.lock().unwrap();
    set(Some(counted), Some(keep));
    let database = compile(abi::MODE_STREAM);
    let scratch = scratch_for(database);
    let (mut stream, mut info) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the database is live, and the result has a place.
    assert_eq!(unsafe { hs_open_stream(database, 0, &raw mut stream) }, abi::SUCCESS);
    // SAFETY: the database is live, and the result has a place.
    assert_eq!(unsafe { hs_database_info(database, &raw mut info) }, abi::SUCCESS);
    assert_eq!(LIVE.load(Ordering::SeqCst), 4);
    let no: *mut c_void = ptr::null_mut();
    // SAFETY: the allocator frees nothing, so that what was freed is still readable.
    let close = || unsafe { hs_close_stream(stream, no.cast(), None, no) };
    assert_eq!((close(), close()), (abi::SUCCESS, abi::INVALID));
    // SAFETY: the same.
    let free_scratch = || unsafe { hs_free_scratch(scratch) };
    assert_eq!((free_scratch(), free_scratch()), (abi::SUCCESS, abi::INVALID));
    // SAFETY: the same.
    let free_database = || unsafe { hs_free_database(database) };
    assert_eq!((free_database(), free_database()), (abi::SUCCESS, abi::INVALID));
    // SAFETY: the same.
    let scanned = unsafe { hs_scan(database, c"a".as_ptr(), 1, 0, scratch, None, no) };
    assert_eq!(scanned, abi::INVALID);
    assert_eq!(LIVE.load(Ordering::SeqCst), 1, "the caller frees the information");
    // SAFETY: it came from `counted`, to which this function belongs.
    unsafe { keep(info.cast()) };
    for memory in KEPT.lock().unwrap().drain(..) {
        // SAFETY: it came from `malloc`, and nothing uses it any more.
        unsafe { free(ptr::with_exposed_provenance_mut(memory)) };
    }
    set(None, None);
}

#[test]
fn failing_allocators_are_noticed() {
    let _one = ONE.lock().unwrap();
    let database = compile(abi::MODE_STREAM);
    let (mut scratch, mut stream) = (ptr::null_mut(), ptr::null_mut());
    let (mut other, mut error) = (ptr::null_mut(), ptr::null_mut());
    for (alloc, free, wanted) in [
        (none as abi::AllocFn, None, abi::NOMEM),
        (unaligned, Some(free_unaligned as abi::FreeFn), abi::BAD_ALLOC),
    ] {
        set(Some(alloc), free);
        let (to, errors) = (&raw mut other, &raw mut error);
        // SAFETY: the text is a C string, and the results have places.
        let status = unsafe { hs_compile(c"a".as_ptr(), 0, 1, ptr::null(), to, errors) };
        assert_eq!(status, abi::COMPILER_ERROR);
        // SAFETY: there is an error, if only the constant one.
        assert!(!unsafe { (*error).message }.is_null());
        // SAFETY: it is not used again.
        assert_eq!(unsafe { fyke_hs::hs_free_compile_error(error) }, abi::SUCCESS);
        // SAFETY: the database is live, and the result has a place.
        assert_eq!(unsafe { hs_alloc_scratch(database, &raw mut scratch) }, wanted);
        // SAFETY: the database is live, and the result has a place.
        assert_eq!(unsafe { hs_open_stream(database, 0, &raw mut stream) }, wanted);
        set(None, None);
    }
    // SAFETY: it is not used again.
    assert_eq!(unsafe { hs_free_database(database) }, abi::SUCCESS);
}

#[test]
fn a_database_lives_in_memory_of_the_caller() {
    let _one = ONE.lock().unwrap();
    let database = compile(abi::MODE_BLOCK);
    let (mut bytes, mut len, mut size, mut info) = (ptr::null_mut(), 0, 0, ptr::null_mut());
    // SAFETY: the database is live, and the results have places.
    let status = unsafe { hs_serialize_database(database, &raw mut bytes, &raw mut len) };
    assert_eq!(status, abi::SUCCESS);
    // SAFETY: there are as many bytes, and the result has a place.
    let status = unsafe { hs_serialized_database_size(bytes, len, &raw mut size) };
    assert_eq!(status, abi::SUCCESS);
    // SAFETY: there are as many bytes, and the result has a place.
    let status = unsafe { hs_serialized_database_info(bytes, len, &raw mut info) };
    assert_eq!(status, abi::SUCCESS);
    // SAFETY: the library returned a C string.
    assert!(unsafe { CStr::from_ptr(info) }.to_str().unwrap().ends_with("BLOCK"));
    // SAFETY: the memory has the size that the library asked for.
    let at = unsafe { malloc(size) }.cast::<Database>();
    let read = |len: usize, at: *mut Database| -> Status {
        // SAFETY: there are as many bytes; what is null or not aligned is noticed.
        unsafe { hs_deserialize_database_at(bytes, len, at) }
    };
    assert_eq!(read(len, ptr::null_mut()), abi::INVALID);
    assert_eq!(read(len, at.wrapping_byte_add(1)), abi::BAD_ALIGN);
    assert_eq!(read(len - 1, at), abi::INVALID);
    assert_eq!(read(len, at), abi::SUCCESS);
    let scratch = scratch_for(at);
    let none = ptr::null_mut();
    // SAFETY: everything is live.
    let status = unsafe { hs_scan(at, c"abcd".as_ptr(), 4, 0, scratch, Some(ignore), none) };
    assert_eq!(status, abi::SUCCESS);
    // SAFETY: nothing is used again.
    unsafe { hs_free_scratch(scratch) };
    // SAFETY: the memory came from `malloc`, which is the allocator of databases too.
    unsafe { hs_free_database(at) };
    // SAFETY: nothing is used again.
    unsafe { hs_free_database(database) };
    // SAFETY: it came from the allocator for what the caller frees, which is `malloc`.
    unsafe { free(bytes.cast()) };
    // SAFETY: the same.
    unsafe { free(info.cast()) };
}
