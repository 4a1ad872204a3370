//! Whether haystacks have a match: the callback ends each scan at the first one.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::ptr;

use super::database::{Database, length};
use super::{HS_SCAN_TERMINATED, HS_SUCCESS};
use crate::calls::{Answer, Caller};
use crate::rival::Refusal;

/// A database and a scratch for its calls.
pub(super) struct HsCaller {
    database: Database,
    scratch: *mut c_void,
}

impl HsCaller {
    pub(super) fn new(database: Database) -> Result<Self, Refusal> {
        let scratch = database.alloc_scratch()?;
        Ok(Self { database, scratch })
    }

    #[inline]
    fn is_match(&mut self, haystack: &[u8]) -> Result<bool, Refusal> {
        let len = length(haystack)?;
        // SAFETY: database and scratch belong together, no other scan uses the scratch because this
        // takes `&mut self`, the haystack has `len` bytes, and the callback ignores its context.
        let code = unsafe {
            (self.database.library.scan)(
                self.database.database,
                haystack.as_ptr().cast(),
                len,
                0,
                self.scratch,
                on_first,
                ptr::null_mut(),
            )
        };
        match code {
            HS_SUCCESS => Ok(false),
            HS_SCAN_TERMINATED => Ok(true),
            code => Err(Refusal(format!("hs_scan gave code {code}"))),
        }
    }
}

impl Drop for HsCaller {
    fn drop(&mut self) {
        // SAFETY: it came from hs_alloc_scratch, no scan is running, and the library is open as long
        // as the database, which is dropped after this.
        unsafe { (self.database.library.free_scratch)(self.scratch) };
    }
}

impl Caller for HsCaller {
    fn call_each(&mut self, haystacks: &[&[u8]]) -> Result<Answer, Refusal> {
        let mut answer = Answer::default();
        for haystack in haystacks {
            answer.count += u64::from(self.is_match(haystack)?);
        }
        Ok(answer)
    }
}

extern "C" fn on_first(
    _id: c_uint,
    _from: c_ulonglong,
    _to: c_ulonglong,
    _flags: c_uint,
    _context: *mut c_void,
) -> c_int {
    1
}
