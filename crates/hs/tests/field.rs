//! Cases that users of Hyperscan and Snort reported, by the numbers of their issues.

mod common;

use common::expressions::{api, compile, compile_all, scan_all};
use fyke_hs::abi;
use std::ffi::{c_char, c_void};
use std::ptr;

const NULL: *mut c_void = ptr::null_mut();

/// Literals of NULs only, and beside others (hyperscan #303, #353).
#[test]
fn literals_of_nuls_are_found() {
    let api = api();
    let texts = [r"\x00", r"\x00\x00", r"\x00\x00\x00\x00", r"a\x00\x00b", r"\x00a"];
    let database = compile_all(&api, &texts, 0, abi::MODE_BLOCK).unwrap();
    let found = scan_all(&database, b"\0a\0\0b");
    assert_eq!(found, [(1, 0, 0), (2, 4, 0), (3, 0, 0), (4, 1, 0), (4, 0, 0), (5, 3, 0)]);
    let single = compile(&api, r"\x00\x00\x00\x00", 1, abi::MODE_BLOCK).unwrap();
    assert_eq!(scan_all(&single, b"\0\0\0\0\0"), [(4, 0, 0), (5, 0, 0)]);
}

/// An expression ends at its NUL, and a pure literal at its length, which may lie before one or
/// after one (hyperscan #205, #238). The bytes after it are in memory that must not be read.
#[test]
fn lengths_are_kept() {
    let api = api();
    let text: Box<[u8]> = Box::from(&b"ab\0cd"[..]);
    for (len, haystack, ends) in
        [(2, &b"ab ab\0cd"[..], vec![2, 5]), (4, &b"ab\0c"[..], vec![4]), (5, b"ab\0c", vec![])]
    {
        let (mut raw, mut error) = (NULL, ptr::null_mut());
        let (texts, lens) = ([text.as_ptr().cast::<c_char>()], [len]);
        let (compile, none) = (api.hs_compile_lit_multi, ptr::null());
        let (texts, lens) = (texts.as_ptr(), lens.as_ptr());
        let (to, errors) = (&raw mut raw, &raw mut error);
        // SAFETY: the arrays have an element, the text is longer, and the results have places.
        let status = unsafe { compile(texts, none, none, lens, 1, 1, NULL, to, errors) };
        let database = api.database(status, raw, error).unwrap();
        let found: Vec<u64> = scan_all(&database, haystack).iter().map(|m| m.0).collect();
        assert_eq!(found, ends);
    }
}

/// An empty expression is refused and not a crash (hyperscan #302).
#[test]
fn empty_expressions_are_refused() {
    let api = api();
    for text in ["", r"\E", r"\Q\E"] {
        let (message, index) = compile(&api, text, 0, abi::MODE_BLOCK).err().expect("refused");
        assert!(message.contains("matches empty buffer") && index == 0);
    }
}

/// One scratch grows over all databases, and serves each of them (snort3 #366).
#[test]
fn one_scratch_serves_all_databases() {
    let api = api();
    let mut scratch = api.scratch();
    let mut databases = Vec::new();
    for count in [1, 40, 3, 300, 2] {
        let texts: Vec<String> = (0..count).map(|i| format!("literal {i:03}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let flags = abi::FLAG_SINGLEMATCH | abi::FLAG_CASELESS;
        databases.push((count, compile_all(&api, &texts, flags, abi::MODE_BLOCK).unwrap()));
        scratch.grow(&databases.last().unwrap().1);
    }
    let haystack: String = (0..300).map(|i| format!("LITERAL {i:03} ")).collect();
    for _ in 0..3 {
        for (count, database) in &databases {
            let found = database.scan(&scratch, haystack.as_bytes(), usize::MAX).found;
            assert_eq!(found.len(), *count);
        }
    }
}

/// A single match with limits is the first within them, not the first of all.
#[test]
fn a_single_match_lies_within_its_limits() {
    let api = api();
    let ext = abi::ExprExt { flags: 3, min_offset: 5, max_offset: 9, ..Default::default() };
    let (texts, flags) = ([c"ab".as_ptr(); 2], [8, 0]);
    let (ids, ext) = ([1, 2], [ptr::from_ref(&ext); 2]);
    for count in [1, 2] {
        let (mut raw, mut error) = (NULL, ptr::null_mut());
        let (to, errors) = (&raw mut raw, &raw mut error);
        let (compile, texts, flags) = (api.hs_compile_ext_multi, texts.as_ptr(), flags.as_ptr());
        let (ids, ext) = (ids.as_ptr(), ext.as_ptr());
        // SAFETY: the arrays have two elements, and the results have places.
        let status = unsafe { compile(texts, flags, ids, ext, count, 1, NULL, to, errors) };
        let database = api.database(status, raw, error).unwrap();
        let found = scan_all(&database, b"ababababababab");
        let wanted = [(6, 1, 0), (6, 2, 0), (8, 2, 0)];
        assert_eq!(found, wanted[..if count == 1 { 1 } else { 3 }]);
    }
}
