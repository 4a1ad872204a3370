//! A compiled set, and scans of whole haystacks with it.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::ptr;
use std::sync::Arc;

use super::{HS_SUCCESS, Library, Mode};
use crate::matches::{FindAll, MatchSink};
use crate::rival::{Built, Memory, Refusal, Scanner};

/// A compiled set.
pub struct Database {
    pub(super) library: Arc<Library>,
    pub(super) database: *mut c_void,
    pub(super) mode: Mode,
}

// SAFETY: a database is not written to after it was compiled; hs_runtime.h lets any number of
// threads scan with one, each with its own scratch.
unsafe impl Send for Database {}
// SAFETY: a database is not written to after it was compiled; threads that share it by reference
// only read it, each with its own scratch.
unsafe impl Sync for Database {}

impl Drop for Database {
    fn drop(&mut self) {
        // SAFETY: it came from hs_compile_multi, and scanners, which borrow it, are gone.
        unsafe { (self.library.free_database)(self.database) };
    }
}

impl Database {
    /// Takes over what `hs_compile_multi` of a library returned.
    pub(super) fn new(library: &Arc<Library>, database: *mut c_void, mode: Mode) -> Self {
        Self { library: Arc::clone(library), database, mode }
    }

    pub(super) fn scratch(&self) -> Result<HsScanner<'_>, Refusal> {
        Ok(HsScanner { database: self, scratch: self.alloc_scratch()? })
    }

    /// A scratch that the caller frees.
    pub(super) fn alloc_scratch(&self) -> Result<*mut c_void, Refusal> {
        let mut scratch = ptr::null_mut();
        // SAFETY: a null scratch asks for a new one, written through a valid pointer.
        let code = unsafe { (self.library.alloc_scratch)(self.database, &raw mut scratch) };
        if code != HS_SUCCESS {
            return Err(Refusal(format!("hs_alloc_scratch gave code {code}")));
        }
        Ok(scratch)
    }

    /// Makes a scanner's scratch large enough for this database too.
    pub(super) fn grow_scratch(&self, scanner: &mut HsScanner<'_>) -> Result<(), Refusal> {
        // SAFETY: the scratch came from the same library, and no scan is running because the scanner
        // is borrowed exclusively; a larger one replaces it through the valid pointer.
        let code = unsafe { (self.library.alloc_scratch)(self.database, &raw mut scanner.scratch) };
        if code == HS_SUCCESS {
            return Ok(());
        }
        // A failed call may have freed the scratch already.
        scanner.scratch = ptr::null_mut();
        Err(Refusal(format!("hs_alloc_scratch gave code {code}")))
    }

    /// Bytes that it takes.
    pub fn size(&self) -> u64 {
        let mut bytes = 0;
        // SAFETY: the database is valid, and the size is written through a valid pointer.
        unsafe { (self.library.database_size)(self.database, &raw mut bytes) };
        bytes as u64
    }
}

impl Built for Database {
    fn scanner(&self) -> Result<Box<dyn Scanner + '_>, Refusal> {
        Ok(Box::new(self.scratch()?))
    }

    fn memory(&self) -> Option<Memory> {
        let bytes = self.size() + self.scratch().ok()?.size();
        Some(Memory { bytes, from: "hs_database_size() + hs_scratch_size()" })
    }
}

/// Scans whole haystacks.
pub(super) struct HsScanner<'a> {
    pub(super) database: &'a Database,
    pub(super) scratch: *mut c_void,
}

impl HsScanner<'_> {
    /// Bytes of the scratch.
    pub(super) fn size(&self) -> u64 {
        let mut bytes = 0;
        // SAFETY: the scratch is valid, and the size is written through a valid pointer.
        unsafe { (self.database.library.scratch_size)(self.scratch, &raw mut bytes) };
        bytes as u64
    }
}

impl Drop for HsScanner<'_> {
    fn drop(&mut self) {
        // SAFETY: it came from hs_alloc_scratch, and no scan is running: that takes `&mut self`.
        unsafe { (self.database.library.free_scratch)(self.scratch) };
    }
}

impl FindAll for HsScanner<'_> {
    fn find_all<S: MatchSink>(&mut self, haystack: &[u8], sink: &mut S) -> Result<(), Refusal> {
        let len = length(haystack)?;
        // SAFETY: database and scratch belong together, the haystack has `len` bytes, and `sink` is
        // borrowed for the call, during which the library passes it to `on_match` only.
        let code = unsafe {
            (self.database.library.scan)(
                self.database.database,
                haystack.as_ptr().cast(),
                len,
                0,
                self.scratch,
                on_match::<S>,
                ptr::from_mut(sink).cast(),
            )
        };
        if code == HS_SUCCESS { Ok(()) } else { Err(Refusal(format!("hs_scan gave code {code}"))) }
    }
}

/// The callback whose context is the sink of a running scan.
pub(super) extern "C" fn on_match<S: MatchSink>(
    id: c_uint,
    _from: c_ulonglong,
    to: c_ulonglong,
    _flags: c_uint,
    context: *mut c_void,
) -> c_int {
    // SAFETY: the context is the `sink` that the running `find_all` borrows exclusively and passed
    // on.
    let sink = unsafe { &mut *context.cast::<S>() };
    sink.on(to, id);
    0
}

/// The length of what one call scans.
pub(super) fn length(haystack: &[u8]) -> Result<c_uint, Refusal> {
    c_uint::try_from(haystack.len())
        .map_err(|_| Refusal("one call of libhs takes less than 4 GiB".into()))
}
