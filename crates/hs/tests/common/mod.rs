//! A library with Hyperscan's interface, opened by its file, and what tests do with it.
#![allow(dead_code, reason = "each test file uses a part")]

pub(crate) mod case;
pub(crate) mod expressions;
pub(crate) mod random;

use fyke_hs::abi::{self, CompileError, ExprExt, ExprInfo, MatchHandler, PlatformInfo, Status};
use std::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

/// The requirement that stands for a real Hyperscan.
pub(crate) const LIBHS: &str = fyke_testkit::require::LIBHS;

type Handler = Option<MatchHandler>;
type Db = *mut c_void;
type Errors = *mut *mut CompileError;

macro_rules! api {
    ($($name:ident: fn($($arg:ty),*) -> $result:ty;)*) => {
        /// The functions of a library, by their names.
        pub(crate) struct Api {
            $(pub(crate) $name: unsafe extern "C" fn($($arg),*) -> $result,)*
            _handle: libloading::Library,
        }

        impl Api {
            /// Opens a library.
            pub(crate) fn open(file: &Path) -> Result<Api, String> {
                let failed = |e: libloading::Error| format!("{}: {e}", file.display());
                // SAFETY: loading runs the initializers of libhs or of the library under test.
                let handle = unsafe { libloading::Library::new(file) }.map_err(failed)?;
                $(
                    // SAFETY: the types are those of Hyperscan's headers.
                    let $name = *unsafe { handle.get(stringify!($name).as_bytes()) }
                        .map_err(failed)?;
                )*
                Ok(Api { $($name,)* _handle: handle })
            }
        }
    };
}

api! {
    hs_version: fn() -> *const c_char;
    hs_valid_platform: fn() -> Status;
    hs_populate_platform: fn(*mut PlatformInfo) -> Status;
    hs_compile: fn(*const c_char, c_uint, c_uint, *const c_void, *mut Db, Errors) -> Status;
    hs_compile_ext_multi: fn(*const *const c_char, *const c_uint, *const c_uint,
        *const *const ExprExt, c_uint, c_uint, *const c_void, *mut Db, Errors) -> Status;
    hs_compile_lit_multi: fn(*const *const c_char, *const c_uint, *const c_uint, *const usize,
        c_uint, c_uint, *const c_void, *mut Db, Errors) -> Status;
    hs_expression_info: fn(*const c_char, c_uint, *mut *mut ExprInfo, Errors) -> Status;
    hs_free_compile_error: fn(*mut CompileError) -> Status;
    hs_free_database: fn(Db) -> Status;
    hs_database_size: fn(Db, *mut usize) -> Status;
    hs_database_info: fn(Db, *mut *mut c_char) -> Status;
    hs_serialize_database: fn(Db, *mut *mut c_char, *mut usize) -> Status;
    hs_deserialize_database: fn(*const c_char, usize, *mut Db) -> Status;
    hs_alloc_scratch: fn(Db, *mut *mut c_void) -> Status;
    hs_clone_scratch: fn(*mut c_void, *mut *mut c_void) -> Status;
    hs_scratch_size: fn(*mut c_void, *mut usize) -> Status;
    hs_free_scratch: fn(*mut c_void) -> Status;
    hs_scan: fn(Db, *const u8, c_uint, c_uint, *mut c_void, Handler, *mut c_void) -> Status;
    hs_scan_vector: fn(Db, *const *const u8, *const c_uint, c_uint, c_uint, *mut c_void, Handler,
        *mut c_void) -> Status;
    hs_open_stream: fn(Db, c_uint, *mut *mut c_void) -> Status;
    hs_scan_stream: fn(*mut c_void, *const u8, c_uint, c_uint, *mut c_void, Handler, *mut c_void)
        -> Status;
    hs_close_stream: fn(*mut c_void, *mut c_void, Handler, *mut c_void) -> Status;
    hs_reset_stream: fn(*mut c_void, c_uint, *mut c_void, Handler, *mut c_void) -> Status;
    hs_copy_stream: fn(*mut *mut c_void, *mut c_void) -> Status;
    hs_reset_and_copy_stream: fn(*mut c_void, *mut c_void, *mut c_void, Handler, *mut c_void)
        -> Status;
    hs_stream_size: fn(Db, *mut usize) -> Status;
    hs_compress_stream: fn(*mut c_void, *mut c_char, usize, *mut usize) -> Status;
    hs_expand_stream: fn(Db, *mut *mut c_void, *const c_char, usize) -> Status;
    hs_reset_and_expand_stream: fn(*mut c_void, *const c_char, usize, *mut c_void, Handler,
        *mut c_void) -> Status;
}

/// A match as the handler gets it: end, id, start.
pub(crate) type Found = (u64, u32, u64);

/// What a scan gave: its status and the matches, in the order of the calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) status: Status,
    pub(crate) found: Vec<Found>,
}

impl Outcome {
    /// The same with the matches in canonical order.
    pub(crate) fn sorted(mut self) -> Outcome {
        self.found.sort_unstable();
        self
    }
}

/// Collects matches, and ends the scan after some.
pub(crate) struct Collector {
    pub(crate) found: Vec<Found>,
    most: usize,
}

impl Collector {
    /// Ends the scan with the match of this number, counted from 1.
    pub(crate) fn stopping_at(most: usize) -> Self {
        Self { found: Vec::new(), most }
    }

    /// The context for [`collect`].
    pub(crate) fn context(&mut self) -> *mut c_void {
        ptr::from_mut(self).cast()
    }
}

/// The handler whose context is a [`Collector`].
pub(crate) unsafe extern "C" fn collect(
    id: c_uint,
    start: c_ulonglong,
    end: c_ulonglong,
    _flags: c_uint,
    context: *mut c_void,
) -> c_int {
    // SAFETY: the callers of this module pass a collector, which they borrow for the scan.
    let collector = unsafe { &mut *context.cast::<Collector>() };
    collector.found.push((end, id, start));
    c_int::from(collector.found.len() >= collector.most)
}

/// The library under test, as programs load it.
pub(crate) fn own_file() -> PathBuf {
    let test = std::env::current_exe().expect("the test knows its file");
    let folder = test.parent().expect("the test is in a folder");
    let name = "libfyke_hs.so";
    let file = [folder.join(name), folder.join("..").join(name)].into_iter().find(|f| f.is_file());
    file.expect("cargo builds the shared library with the tests")
}

/// A real Hyperscan, or why there is none.
pub(crate) fn real() -> Result<Api, String> {
    open_real().map(|(api, _)| api)
}

/// The file of a real Hyperscan, or why there is none.
pub(crate) fn real_file() -> Result<PathBuf, String> {
    open_real().map(|(_, file)| file)
}

fn open_real() -> Result<(Api, PathBuf), String> {
    let mut reasons = Vec::new();
    for file in real_files() {
        match Api::open(&file) {
            Ok(api) if api.version().contains("fyke") => {
                reasons.push(format!("{} is this library", file.display()));
            }
            Ok(api) => return Ok((api, file)),
            Err(why) => reasons.push(why),
        }
    }
    Err(format!("{}; install Debian's package libhyperscan5", reasons.join("; ")))
}

/// Where a real Hyperscan may be.
pub(crate) fn real_files() -> Vec<PathBuf> {
    if let Some(file) = std::env::var_os("FYKE_HYPERSCAN") {
        return vec![file.into()];
    }
    let folders = ["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"];
    folders.iter().map(|folder| Path::new(folder).join("libhs.so.5")).collect()
}

/// A database of a library.
pub(crate) struct Database<'a> {
    pub(crate) api: &'a Api,
    pub(crate) raw: Db,
}

impl Drop for Database<'_> {
    fn drop(&mut self) {
        // SAFETY: it is a database of this library, dropped once.
        let status = unsafe { (self.api.hs_free_database)(self.raw) };
        assert_eq!(status, abi::SUCCESS);
    }
}

/// A scratch of a library.
pub(crate) struct Scratch<'a> {
    api: &'a Api,
    pub(crate) raw: *mut c_void,
}

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        // SAFETY: it is a scratch of this library, dropped once.
        let status = unsafe { (self.api.hs_free_scratch)(self.raw) };
        assert_eq!(status, abi::SUCCESS);
    }
}

impl Api {
    /// What the library says it is.
    pub(crate) fn version(&self) -> String {
        // SAFETY: the function takes nothing.
        let text = unsafe { (self.hs_version)() };
        // SAFETY: it returns a C string that lives as long as the library.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }

    /// An empty scratch, to be grown.
    pub(crate) fn scratch(&self) -> Scratch<'_> {
        Scratch { api: self, raw: ptr::null_mut() }
    }

    /// The database, or the message and the index of the error.
    pub(crate) fn database(
        &self,
        status: Status,
        raw: Db,
        error: *mut CompileError,
    ) -> Compiled<'_> {
        if status == abi::SUCCESS {
            assert!(error.is_null());
            return Ok(Database { api: self, raw });
        }
        assert_eq!(status, abi::COMPILER_ERROR);
        assert!(raw.is_null());
        // SAFETY: a refused compilation leaves an error.
        let details = unsafe { &*error };
        // SAFETY: its message is a C string.
        let message = unsafe { CStr::from_ptr(details.message) }.to_string_lossy().into_owned();
        let index = details.expression;
        // SAFETY: the error is not used again.
        unsafe { (self.hs_free_compile_error)(error) };
        Err((message, index))
    }
}

/// A database, or the message and the index of the error.
pub(crate) type Compiled<'a> = Result<Database<'a>, (String, c_int)>;

impl Scratch<'_> {
    /// Makes it large enough for a database.
    pub(crate) fn grow(&mut self, database: &Database<'_>) {
        // SAFETY: both are live and of this library.
        let status = unsafe { (self.api.hs_alloc_scratch)(database.raw, &raw mut self.raw) };
        assert_eq!(status, abi::SUCCESS);
    }
}

impl Database<'_> {
    /// Scans a haystack. The scan ends with the match of number `most`.
    pub(crate) fn scan(&self, scratch: &Scratch<'_>, haystack: &[u8], most: usize) -> Outcome {
        let mut to = Collector::stopping_at(most);
        let (data, len) = (haystack.as_ptr(), haystack.len() as c_uint);
        let (scan, context) = (self.api.hs_scan, to.context());
        // SAFETY: everything is live, and the haystack has as many bytes.
        let status = unsafe { scan(self.raw, data, len, 0, scratch.raw, Some(collect), context) };
        Outcome { status, found: to.found }
    }

    /// Scans a haystack that is cut into buffers.
    pub(crate) fn scan_vector(
        &self,
        scratch: &Scratch<'_>,
        parts: &[&[u8]],
        most: usize,
    ) -> Outcome {
        let mut to = Collector::stopping_at(most);
        let data: Vec<*const u8> = parts.iter().map(|p| p.as_ptr()).collect();
        let lens: Vec<c_uint> = parts.iter().map(|p| p.len() as c_uint).collect();
        let (scan, context, count) = (self.api.hs_scan_vector, to.context(), parts.len() as c_uint);
        let (data, lens) = (data.as_ptr(), lens.as_ptr());
        // SAFETY: everything is live, and the buffers have as many bytes.
        let status =
            unsafe { scan(self.raw, data, lens, count, 0, scratch.raw, Some(collect), context) };
        Outcome { status, found: to.found }
    }

    /// Bytes that it takes.
    pub(crate) fn size(&self) -> usize {
        let mut size = 0;
        // SAFETY: it is live, and the result has a place.
        let status = unsafe { (self.api.hs_database_size)(self.raw, &raw mut size) };
        assert_eq!(status, abi::SUCCESS);
        size
    }

    /// Its serialized form.
    pub(crate) fn serialize(&self) -> Vec<u8> {
        let (mut bytes, mut len) = (ptr::null_mut(), 0);
        // SAFETY: it is live, and the results have places.
        let status =
            unsafe { (self.api.hs_serialize_database)(self.raw, &raw mut bytes, &raw mut len) };
        assert_eq!(status, abi::SUCCESS);
        // SAFETY: the library returned as many bytes.
        let copy = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), len) }.to_vec();
        // SAFETY: they came from `malloc`, as no allocator was set.
        unsafe { free(bytes.cast()) };
        copy
    }
}

unsafe extern "C" {
    /// Frees what `malloc` returned.
    pub(crate) fn free(memory: *mut c_void);
}
