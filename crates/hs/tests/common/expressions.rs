//! Compiles and scans with expressions that a test writes out.

use super::{Api, Compiled, Database, Found, own_file};
use fyke_hs::abi;
use std::ffi::{CString, c_char, c_uint, c_void};
use std::ptr;

const NULL: *mut c_void = ptr::null_mut();

/// The library under test.
pub(crate) fn api() -> Api {
    Api::open(&own_file()).unwrap()
}

/// Compiles one expression; an error is its message and index.
pub(crate) fn compile<'a>(api: &'a Api, text: &str, flags: u32, mode: u32) -> Compiled<'a> {
    let text = CString::new(text).unwrap();
    let (mut raw, mut error) = (NULL, ptr::null_mut());
    let (to, errors) = (&raw mut raw, &raw mut error);
    // SAFETY: the text is a C string, and the results have places.
    let status = unsafe { (api.hs_compile)(text.as_ptr(), flags, mode, ptr::null(), to, errors) };
    api.database(status, raw, error)
}

/// Compiles several expressions under the ids 0, 1, 2 ...
pub(crate) fn compile_all<'a>(api: &'a Api, texts: &[&str], flags: u32, mode: u32) -> Compiled<'a> {
    let texts: Vec<CString> = texts.iter().map(|t| CString::new(*t).unwrap()).collect();
    let pointers: Vec<*const c_char> = texts.iter().map(|t| t.as_ptr()).collect();
    let flags = vec![flags; texts.len()];
    let ids: Vec<c_uint> = (0..texts.len() as c_uint).collect();
    let (mut raw, mut error) = (NULL, ptr::null_mut());
    let (to, errors) = (&raw mut raw, &raw mut error);
    let (texts, flags, ids) = (pointers.as_ptr(), flags.as_ptr(), ids.as_ptr());
    let (compile, count, none) = (api.hs_compile_ext_multi, pointers.len() as c_uint, ptr::null());
    // SAFETY: the arrays have `count` elements, and the results have places.
    let status = unsafe { compile(texts, flags, ids, ptr::null(), count, mode, none, to, errors) };
    api.database(status, raw, error)
}

/// The matches of a haystack.
pub(crate) fn scan_all(database: &Database<'_>, haystack: &[u8]) -> Vec<Found> {
    let mut scratch = database.api.scratch();
    scratch.grow(database);
    let outcome = database.scan(&scratch, haystack, usize::MAX);
    assert_eq!(outcome.status, abi::SUCCESS);
    outcome.found
}
