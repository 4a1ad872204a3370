//! A next library that cannot be opened is named in the compile error.

mod common;

use common::{Api, own_file};
use fyke_hs::abi;
use std::ptr;

#[test]
fn the_reason_is_in_the_compile_error() {
    // SAFETY: this is the only test of the file, and no other thread reads the environment yet.
    unsafe { std::env::set_var("FYKE_HS_NEXT", "no/such/libhs.so.5") };
    let api = Api::open(&own_file()).unwrap();
    for _ in 0..2 {
        let (mut raw, mut error) = (ptr::null_mut(), ptr::null_mut());
        let (to, errors) = (&raw mut raw, &raw mut error);
        let (text, none) = (c"a+".as_ptr(), ptr::null());
        // SAFETY: the text is a C string, and the results have places.
        let status = unsafe { (api.hs_compile)(text, 0, abi::MODE_BLOCK, none, to, errors) };
        let (message, index) = api.database(status, raw, error).err().expect("refused");
        assert!(message.contains("FYKE_HS_NEXT names no/such/libhs.so.5"), "{message}");
        assert_eq!(index, 0);
    }
}
