//! Body of the target `hs_database`, also included by `crates/hs/tests/regressions.rs`.
//!
//! The first byte of an input says what the rest is. With bit 7 it is a whole serialized database.
//! Otherwise bits 0 to 3 choose one, bit 6 asks for a sound length and checksum after the changes,
//! and the second byte is the number of changes, each of five bytes: how, where (three bytes), and a
//! value. What remains is the haystack.

use fyke_core::sink::{FNV_BASIS, fnv1a};
use fyke_hs::abi::{self, Status};
use fyke_hs::compile::hs_compile_lit_multi;
use fyke_hs::database::{Database, hs_database_info, hs_database_size, hs_free_database};
use fyke_hs::scan::{hs_scan, hs_scan_vector};
use fyke_hs::scratch::{Scratch, hs_alloc_scratch, hs_free_scratch};
use fyke_hs::serialize::{
    hs_deserialize_database, hs_deserialize_database_at, hs_serialize_database,
    hs_serialized_database_info, hs_serialized_database_size,
};
use fyke_hs::stream::{Stream, hs_close_stream, hs_open_stream, hs_scan_stream};
use std::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::ptr;
use std::sync::LazyLock;

unsafe extern "C" {
    fn malloc(bytes: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

/// A match: end, id, start.
type Found = (u64, u32, u64);

/// A set and its serialized form.
struct Scene {
    bytes: Vec<u8>,
    mode: u32,
}

/// Number of literals, flags of every third one, and mode.
const SPECS: [(u32, u32, u32); 9] = [
    (1, 0, abi::MODE_BLOCK),
    (1, abi::FLAG_CASELESS, abi::MODE_STREAM),
    (1, abi::FLAG_SINGLEMATCH, abi::MODE_VECTORED),
    (5, abi::FLAG_SOM_LEFTMOST, abi::MODE_BLOCK),
    (12, abi::FLAG_SINGLEMATCH, abi::MODE_STREAM),
    (12, abi::FLAG_CASELESS, abi::MODE_VECTORED),
    (12, abi::FLAG_SINGLEMATCH | abi::FLAG_CASELESS, abi::MODE_BLOCK),
    (30, abi::FLAG_CASELESS, abi::MODE_BLOCK),
    (24, 0, abi::MODE_STREAM),
];

static SCENES: LazyLock<Vec<Scene>> = LazyLock::new(|| SPECS.iter().map(scene).collect());

fn scene(&(count, flags, mode): &(u32, u32, u32)) -> Scene {
    let literals: Vec<String> = (0..count).map(literal).collect();
    let texts: Vec<*const c_char> = literals.iter().map(|l| l.as_ptr().cast()).collect();
    let lens: Vec<usize> = literals.iter().map(String::len).collect();
    let flags: Vec<u32> = (0..count).map(|i| if i % 3 == 0 { flags } else { 0 }).collect();
    let ids: Vec<u32> = (0..count).collect();
    let (mut raw, mut error) = (ptr::null_mut(), ptr::null_mut());
    let (to, errors, none) = (&raw mut raw, &raw mut error, ptr::null());
    let (texts, flags, ids, lens) = (texts.as_ptr(), flags.as_ptr(), ids.as_ptr(), lens.as_ptr());
    // SAFETY: the arrays have `count` elements, which lead to as many bytes as `lens` says, and the
    // results have places.
    let status =
        unsafe { hs_compile_lit_multi(texts, flags, ids, lens, count, mode, none, to, errors) };
    assert_eq!(status, abi::SUCCESS);
    Scene { bytes: Owned(raw).serialize(), mode }
}

/// Literals of many lengths; many begin alike.
fn literal(i: u32) -> String {
    match i % 3 {
        0 => format!("Key{i}{}", "x".repeat(i as usize % 50)),
        1 => format!("same{i}"),
        _ => format!("{i:02}"),
    }
}

/// Reads a serialized database in every way: an error, or a database that scans and serializes.
pub(crate) fn hs_database(data: &[u8]) {
    let (&how, rest) = data.split_first().unwrap_or((&0, &[]));
    if how & 0x80 != 0 {
        check(rest, b"Key0 KEY33 same1 same4 02 05x");
        return;
    }
    let scene = &SCENES[usize::from(how & 15) % SCENES.len()];
    let (&count, mut rest) = rest.split_first().unwrap_or((&0, &[]));
    let mut bytes = scene.bytes.clone();
    for _ in 0..count {
        let Some((&change, after)) = rest.split_first_chunk() else { break };
        rest = after;
        apply(&mut bytes, change);
    }
    if how & 0x40 != 0 {
        seal(&mut bytes);
    }
    let haystack = [rest, b"Key0 KEY33 same1", rest, b"same4 02 05x"].concat();
    let found = check(&bytes, &haystack);
    if bytes == scene.bytes {
        assert_eq!(found.map(|(mode, _)| mode), Some(scene.mode), "an unchanged one is read");
    }
}

/// Most bytes that one change appends: many changes would double them without end.
const MOST_ADDED: usize = 64;

/// Changes some bytes: one of them, a number, or their length.
fn apply(bytes: &mut Vec<u8>, [how, a, b, c, value]: [u8; 5]) {
    if bytes.is_empty() {
        return;
    }
    let at = u32::from_le_bytes([a, b, c, 0]) as usize % bytes.len();
    match how % 6 {
        0 => bytes[at] = value,
        1 => bytes[at] ^= 1 << (value % 8),
        2 => bytes[at] = bytes[at].wrapping_add(value),
        3 => {
            let at = at & !3;
            let number = i32::from(value as i8).to_le_bytes();
            let end = bytes.len().min(at + 4);
            bytes[at..end].copy_from_slice(&number[..end - at]);
        }
        4 => bytes.truncate(at + 1),
        _ => bytes.extend_from_within(at..bytes.len().min(at + MOST_ADDED)),
    }
}

/// Bytes of the header; its last 16 are the length and the checksum of what follows.
const HEADER: usize = 40;

/// Writes a sound length and checksum: a fuzzer would not guess them.
fn seal(bytes: &mut [u8]) {
    let Some((header, body)) = bytes.split_at_mut_checked(HEADER) else { return };
    header[24..32].copy_from_slice(&(body.len() as u64).to_le_bytes());
    let checksum = fnv1a(body, fnv1a(&header[..32], FNV_BASIS));
    header[32..].copy_from_slice(&checksum.to_le_bytes());
}

/// Reads a database in every way. Gives its mode and what it finds, or nothing if it is refused.
fn check(bytes: &[u8], haystack: &[u8]) -> Option<(u32, Vec<Found>)> {
    let (size, info) = (serialized_size(bytes), serialized_info(bytes));
    assert_eq!(size.is_ok(), info.is_ok());
    let Ok(database) = Owned::read(bytes) else {
        let at = size.map(|size| Owned::read_at(bytes, size));
        assert!(!matches!(at, Ok(Ok(_))), "one call reads what the other refuses");
        return None;
    };
    assert_eq!(info, Ok(database.info()));
    let mode = mode_of(&database.info());
    let found = database.find(mode, haystack);
    let at = Owned::read_at(bytes, size.expect("it was read")).expect("it was read before");
    assert_eq!(at.find(mode, haystack), found, "in memory of the caller");
    let serialized = database.serialize();
    assert_eq!(at.serialize(), serialized);
    let again = Owned::read(&serialized).expect("just serialized");
    assert_eq!(again.find(mode, haystack), found, "after a round trip");
    assert_eq!(again.serialize(), serialized);
    Some((mode, found))
}

fn mode_of(info: &str) -> u32 {
    match info.rsplit(' ').next() {
        Some("BLOCK") => abi::MODE_BLOCK,
        Some("STREAM") => abi::MODE_STREAM,
        Some("VECTORED") => abi::MODE_VECTORED,
        _ => panic!("no mode in {info}"),
    }
}

fn serialized_size(bytes: &[u8]) -> Result<usize, Status> {
    let mut size = 0;
    let data = bytes.as_ptr().cast();
    // SAFETY: there are as many bytes, and the result has a place.
    let status = unsafe { hs_serialized_database_size(data, bytes.len(), &raw mut size) };
    ok(status).map(|()| size)
}

fn serialized_info(bytes: &[u8]) -> Result<String, Status> {
    let mut info = ptr::null_mut();
    let data = bytes.as_ptr().cast();
    // SAFETY: there are as many bytes, and the result has a place.
    let status = unsafe { hs_serialized_database_info(data, bytes.len(), &raw mut info) };
    ok(status).map(|()| taken(info))
}

/// The text of the library, whose memory is freed.
fn taken(text: *mut c_char) -> String {
    // SAFETY: the library returned a C string.
    let copy = unsafe { CStr::from_ptr(text) }.to_str().expect("it is ASCII").to_owned();
    // SAFETY: it came from `malloc`, as no allocator is set, and is not used again.
    unsafe { free(text.cast()) };
    copy
}

/// Success, or one of the statuses that say what is wrong with a database.
fn ok(status: Status) -> Result<(), Status> {
    let refusals = [abi::INVALID, abi::DB_VERSION_ERROR, abi::DB_PLATFORM_ERROR];
    assert!(status == abi::SUCCESS || refusals.contains(&status), "status {status}");
    if status == abi::SUCCESS { Ok(()) } else { Err(status) }
}

/// A database that is freed at the end. One in memory of the caller has that from `malloc`, which
/// is the allocator of databases too.
struct Owned(*mut Database);

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: it is live, dropped once, and its memory came from `malloc`.
        assert_eq!(unsafe { hs_free_database(self.0) }, abi::SUCCESS);
    }
}

impl Owned {
    fn read(bytes: &[u8]) -> Result<Owned, Status> {
        let mut raw = ptr::null_mut();
        let data = bytes.as_ptr().cast();
        // SAFETY: there are as many bytes, and the result has a place.
        let status = unsafe { hs_deserialize_database(data, bytes.len(), &raw mut raw) };
        assert_eq!(raw.is_null(), status != abi::SUCCESS);
        ok(status).map(|()| Owned(raw))
    }

    fn read_at(bytes: &[u8], size: usize) -> Result<Owned, Status> {
        // SAFETY: any size is allowed.
        let raw = unsafe { malloc(size) }.cast::<Database>();
        let data = bytes.as_ptr().cast();
        // SAFETY: there are as many bytes, and the memory has the size that the library asked for.
        let status = unsafe { hs_deserialize_database_at(data, bytes.len(), raw) };
        ok(status).map(|()| Owned(raw)).inspect_err(|_| {
            // SAFETY: it came from `malloc`, and a refused call leaves nothing in it.
            unsafe { free(raw.cast()) };
        })
    }

    fn info(&self) -> String {
        let mut info = ptr::null_mut();
        // SAFETY: the database is live, and the result has a place.
        assert_eq!(unsafe { hs_database_info(self.0, &raw mut info) }, abi::SUCCESS);
        taken(info)
    }

    fn serialize(&self) -> Vec<u8> {
        let (mut bytes, mut len) = (ptr::null_mut::<c_char>(), 0);
        // SAFETY: the database is live, and the results have places.
        let status = unsafe { hs_serialize_database(self.0, &raw mut bytes, &raw mut len) };
        assert_eq!(status, abi::SUCCESS);
        // SAFETY: the library returned as many bytes.
        let copy = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), len) }.to_vec();
        // SAFETY: they came from `malloc`, as no allocator is set, and are not used again.
        unsafe { free(bytes.cast()) };
        copy
    }

    /// All matches, sorted. A stream and buffers get the haystack in two parts.
    fn find(&self, mode: u32, haystack: &[u8]) -> Vec<Found> {
        let mut size = 0;
        // SAFETY: the database is live, and the result has a place.
        assert_eq!(unsafe { hs_database_size(self.0, &raw mut size) }, abi::SUCCESS);
        assert!(size > 0);
        let mut scratch: *mut Scratch = ptr::null_mut();
        // SAFETY: the database is live, and the result has a place.
        assert_eq!(unsafe { hs_alloc_scratch(self.0, &raw mut scratch) }, abi::SUCCESS);
        let mut found: Vec<Found> = Vec::new();
        let context = (&raw mut found).cast();
        let parts: [&[u8]; 2] = haystack.split_at(haystack.len() / 2).into();
        match mode {
            abi::MODE_BLOCK => self.scan(haystack, scratch, context),
            abi::MODE_STREAM => self.scan_stream(parts, scratch, context),
            _ => self.scan_vector(parts, scratch, context),
        }
        // SAFETY: the scratch is live and not used again.
        assert_eq!(unsafe { hs_free_scratch(scratch) }, abi::SUCCESS);
        found.sort_unstable();
        found
    }

    fn scan(&self, haystack: &[u8], scratch: *mut Scratch, to: *mut c_void) {
        let (data, len) = (haystack.as_ptr().cast(), haystack.len() as c_uint);
        // SAFETY: everything is live, the haystack has as many bytes, and `collect` takes `to`.
        let status = unsafe { hs_scan(self.0, data, len, 0, scratch, Some(collect), to) };
        assert_eq!(status, abi::SUCCESS);
    }

    fn scan_stream(&self, parts: [&[u8]; 2], scratch: *mut Scratch, to: *mut c_void) {
        let mut stream: *mut Stream = ptr::null_mut();
        // SAFETY: the database is live, and the result has a place.
        assert_eq!(unsafe { hs_open_stream(self.0, 0, &raw mut stream) }, abi::SUCCESS);
        for part in parts {
            let (data, len) = (part.as_ptr().cast(), part.len() as c_uint);
            // SAFETY: everything is live, the part has as many bytes, and `collect` takes `to`.
            let status =
                unsafe { hs_scan_stream(stream, data, len, 0, scratch, Some(collect), to) };
            assert_eq!(status, abi::SUCCESS);
        }
        // SAFETY: the stream is live and not used again, and `collect` takes `to`.
        let status = unsafe { hs_close_stream(stream, scratch, Some(collect), to) };
        assert_eq!(status, abi::SUCCESS);
    }

    fn scan_vector(&self, parts: [&[u8]; 2], scratch: *mut Scratch, to: *mut c_void) {
        let data = parts.map(|part| part.as_ptr().cast::<c_char>());
        let lens = parts.map(|part| part.len() as c_uint);
        let (data, lens) = (data.as_ptr(), lens.as_ptr());
        // SAFETY: everything is live, the parts have as many bytes, and `collect` takes `to`.
        let status =
            unsafe { hs_scan_vector(self.0, data, lens, 2, 0, scratch, Some(collect), to) };
        assert_eq!(status, abi::SUCCESS);
    }
}

/// The handler whose context is a list of matches.
unsafe extern "C" fn collect(
    id: c_uint,
    start: c_ulonglong,
    end: c_ulonglong,
    _flags: c_uint,
    context: *mut c_void,
) -> c_int {
    // SAFETY: the context is the list in `Owned::find`, which outlives the scan and is not touched
    // otherwise during it.
    unsafe { &mut *context.cast::<Vec<Found>>() }.push((end, id, start));
    0
}
