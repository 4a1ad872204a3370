//! The library against a real Hyperscan: both are opened by their files and get the same calls.
//!
//! `FYKE_HS_CASES` is the number of databases; each has a hundred scans. `FYKE_HS_SEED` is the first
//! seed.

mod common;

use common::case::{Alphabet, Case};
use common::random::Random;
use common::{Api, Collector, Database, LIBHS, Outcome, Scratch, collect, own_file, real};
use fyke_hs::abi;
use std::ffi::{c_uint, c_void};
use std::ptr;

/// Databases of the ordinary test.
const CASES: u64 = 300;
/// Scans of each database.
const SCANS: usize = 100;

fn number(variable: &str, default: u64) -> u64 {
    let text = std::env::var(variable).ok();
    text.map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{variable}={text}")))
}

/// What was compared.
#[derive(Default, Debug)]
struct Tally {
    databases: u64,
    refused: u64,
    scans: u64,
    matches: u64,
    terminated: u64,
    /// Scans that Hyperscan gave up with an internal error, as 5.4.0 does for some long literals
    /// with starts.
    given_up: u64,
}

#[test]
fn random_sets_agree_with_a_real_hyperscan() {
    let real = match real() {
        Ok(real) => real,
        Err(why) => return fyke_testkit::require::refuse_without(LIBHS, "differential", &why),
    };
    let own = Api::open(&own_file()).unwrap();
    let seed = number("FYKE_HS_SEED", 1);
    let mut tally = Tally::default();
    let (mut ours, mut theirs) = (own.scratch(), real.scratch());
    for case in 0..number("FYKE_HS_CASES", CASES) {
        compare(seed + case, (&own, &mut ours), (&real, &mut theirs), &mut tally);
    }
    eprintln!("compared with Hyperscan {}: {tally:?}", real.version());
    assert!(tally.databases > 9 * tally.refused && tally.matches > tally.databases);
    assert!(tally.scans > 100 * tally.given_up);
}

fn compare<'a>(
    seed: u64,
    (own, ours): (&'a Api, &mut Scratch<'a>),
    (real, theirs): (&'a Api, &mut Scratch<'a>),
    tally: &mut Tally,
) {
    let r = &mut Random(seed);
    let alphabet = Alphabet::random(r);
    let case = Case::random(r, &alphabet);
    tally.databases += 1;
    let pair = match (case.compile(own), case.compile(real)) {
        (Ok(a), Ok(b)) => (a, b),
        (Err((ours, a)), Err((theirs, b))) => {
            assert_eq!(a, b, "seed {seed}: {ours} / {theirs}");
            tally.refused += 1;
            return;
        }
        (a, b) => {
            let (a, b) = (a.err(), b.err());
            panic!("seed {seed}: ours {a:?}, theirs {b:?}\n{}", case.describe());
        }
    };
    ours.grow(&pair.0);
    theirs.grow(&pair.1);
    let own_again = if r.once_in(4) { Some(read_back(&pair.0)) } else { None };
    let own_database = own_again.as_ref().unwrap_or(&pair.0);
    for scan in 0..SCANS {
        let haystack = case.haystack(r, &alphabet);
        let most = if r.once_in(8) { 1 + r.below(5) } else { usize::MAX };
        let how = r.number();
        let a = run(own_database, ours, &case, &haystack, most, how);
        let b = run(&pair.1, theirs, &case, &haystack, most, how);
        assert_ne!(a.status, abi::UNKNOWN_ERROR, "seed {seed}");
        if b.status == abi::UNKNOWN_ERROR {
            tally.given_up += 1;
            continue;
        }
        tally.scans += 1;
        tally.matches += a.found.len() as u64;
        tally.terminated += u64::from(a.status == abi::SCAN_TERMINATED);
        let context = || {
            let haystack = haystack.escape_ascii();
            format!("seed {seed} scan {scan} most {most}\n{}\n{haystack}", case.describe())
        };
        assert!(a.found.is_sorted_by_key(|m| m.0), "not in order of ends: {}", context());
        if most == usize::MAX {
            assert_eq!(a.sorted(), b.sorted(), "{}", context());
        } else {
            // Which matches come first is not promised, as Hyperscan keeps no order with starts.
            let count = |o: &Outcome| (o.status, o.found.len());
            assert_eq!(count(&a), count(&b), "{}", context());
        }
    }
}

/// The database as it comes back from its serialized form.
fn read_back<'a>(database: &Database<'a>) -> Database<'a> {
    let (api, bytes) = (database.api, database.serialize());
    let mut raw = ptr::null_mut();
    let (data, len) = (bytes.as_ptr().cast(), bytes.len());
    // SAFETY: there are as many bytes, and the result has a place.
    let status = unsafe { (api.hs_deserialize_database)(data, len, &raw mut raw) };
    assert_eq!(status, abi::SUCCESS);
    Database { api, raw }
}

/// Scans as the mode of the case says, with cuts that follow from `how`.
fn run(
    database: &Database<'_>,
    scratch: &Scratch<'_>,
    case: &Case,
    haystack: &[u8],
    most: usize,
    how: u64,
) -> Outcome {
    let r = &mut Random(how);
    match case.mode & 7 {
        abi::MODE_BLOCK => database.scan(scratch, haystack, most),
        abi::MODE_VECTORED => {
            let parts = cut(r, haystack);
            database.scan_vector(scratch, &parts, most)
        }
        _ => run_stream(database, scratch, &cut(r, haystack), most, r),
    }
}

/// Cuts a haystack into random chunks.
fn cut<'h>(r: &mut Random, mut haystack: &'h [u8]) -> Vec<&'h [u8]> {
    let largest = r.element(&[1, 3, 16, 100, 2000]);
    let mut chunks = Vec::new();
    while !haystack.is_empty() {
        let (chunk, rest) = haystack.split_at(r.below(largest + 1).min(haystack.len()));
        chunks.push(chunk);
        haystack = rest;
    }
    chunks
}

/// Scans chunks as a stream, which is copied, saved or restored in between.
fn run_stream(
    database: &Database<'_>,
    scratch: &Scratch<'_>,
    chunks: &[&[u8]],
    most: usize,
    r: &mut Random,
) -> Outcome {
    let api = database.api;
    let mut to = Collector::stopping_at(most);
    let mut stream = ptr::null_mut();
    // SAFETY: the database is live, and the result has a place.
    let mut status = unsafe { (api.hs_open_stream)(database.raw, 0, &raw mut stream) };
    assert_eq!(status, abi::SUCCESS);
    for chunk in chunks {
        if r.once_in(10) {
            stream = replaced(database, stream, scratch, r);
        }
        let (data, len) = (chunk.as_ptr(), chunk.len() as c_uint);
        let (scan, context) = (api.hs_scan_stream, to.context());
        // SAFETY: everything is live, and the chunk has as many bytes.
        status = unsafe { scan(stream, data, len, 0, scratch.raw, Some(collect), context) };
        if status != abi::SUCCESS && r.once_in(2) {
            break;
        }
    }
    let context = to.context();
    // SAFETY: everything is live, and the stream is not used again.
    let closed = unsafe { (api.hs_close_stream)(stream, scratch.raw, Some(collect), context) };
    if closed == abi::UNKNOWN_ERROR {
        status = closed;
    } else {
        assert_eq!(closed, abi::SUCCESS);
    }
    Outcome { status, found: to.found }
}

/// The same stream by another way.
fn replaced(
    database: &Database<'_>,
    stream: *mut c_void,
    scratch: &Scratch<'_>,
    r: &mut Random,
) -> *mut c_void {
    let api = database.api;
    let mut other = ptr::null_mut();
    match r.below(4) {
        0 => {
            // SAFETY: the stream is live, and the result has a place.
            let status = unsafe { (api.hs_copy_stream)(&raw mut other, stream) };
            assert_eq!(status, abi::SUCCESS);
        }
        1 => {
            let saved = saved(api, stream);
            let (bytes, len) = (saved.as_ptr().cast(), saved.len());
            // SAFETY: the database is live, there are as many bytes, and the result has a place.
            let status =
                unsafe { (api.hs_expand_stream)(database.raw, &raw mut other, bytes, len) };
            assert_eq!(status, abi::SUCCESS);
        }
        way => {
            // SAFETY: the database is live, and the result has a place.
            let status = unsafe { (api.hs_open_stream)(database.raw, 0, &raw mut other) };
            assert_eq!(status, abi::SUCCESS);
            used(api, other, scratch);
            let none = ptr::null_mut();
            let status = if way == 2 {
                // SAFETY: both streams are live.
                unsafe { (api.hs_reset_and_copy_stream)(other, stream, none, None, none) }
            } else {
                let saved = saved(api, stream);
                let (expand, bytes) = (api.hs_reset_and_expand_stream, saved.as_ptr().cast());
                // SAFETY: the stream is live, and there are as many bytes.
                unsafe { expand(other, bytes, saved.len(), none, None, none) }
            };
            assert_eq!(status, abi::SUCCESS);
        }
    }
    // SAFETY: it is live, not used again, and without a handler it needs no scratch.
    let status = unsafe { (api.hs_close_stream)(stream, ptr::null_mut(), None, ptr::null_mut()) };
    assert_eq!(status, abi::SUCCESS);
    other
}

/// Leaves something in a stream that must not stay.
fn used(api: &Api, stream: *mut c_void, scratch: &Scratch<'_>) {
    let text = b"aAbB\0\xffab before";
    let (data, len, none) = (text.as_ptr(), text.len() as c_uint, ptr::null_mut());
    // SAFETY: the stream and the scratch are live, and the text has as many bytes.
    let status = unsafe { (api.hs_scan_stream)(stream, data, len, 0, scratch.raw, None, none) };
    assert!([abi::SUCCESS, abi::UNKNOWN_ERROR].contains(&status));
}

/// The saved state of a stream.
fn saved(api: &Api, stream: *mut c_void) -> Vec<u8> {
    let mut used = 0;
    // SAFETY: the stream is live, and the result has a place; there is no buffer.
    let status = unsafe { (api.hs_compress_stream)(stream, ptr::null_mut(), 0, &raw mut used) };
    assert_eq!(status, abi::INSUFFICIENT_SPACE);
    let mut saved = vec![0u8; used];
    let (buffer, space) = (saved.as_mut_ptr().cast(), saved.len());
    // SAFETY: the stream is live, the buffer has as many bytes, and the result has a place.
    let status = unsafe { (api.hs_compress_stream)(stream, buffer, space, &raw mut used) };
    assert_eq!(status, abi::SUCCESS);
    saved.truncate(used);
    saved
}
