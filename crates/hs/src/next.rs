//! The next library: a real Hyperscan for sets with a regular expression.
//!
//! The environment variable `FYKE_HS_NEXT` names its file. It is opened when it is first needed and
//! never closed. A set goes to it whole; its databases, scratches and streams stay behind this
//! library's own.

use crate::abi::{CompileError, ExprExt, ExprInfo, MatchHandler, SUCCESS, Status};
use crate::alloc::MISC;
use std::ffi::{CStr, OsStr, OsString, c_char, c_int, c_uint, c_void};
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

/// The environment variable with the file of the next library.
pub(crate) const NEXT: &str = "FYKE_HS_NEXT";

type Platform = *const c_void;
type Errors = *mut *mut CompileError;
type Handler = Option<MatchHandler>;
type CompileExtMulti = unsafe extern "C" fn(
    *const *const c_char,
    *const c_uint,
    *const c_uint,
    *const *const ExprExt,
    c_uint,
    c_uint,
    Platform,
    *mut *mut c_void,
    Errors,
) -> Status;
type CompileLitMulti = unsafe extern "C" fn(
    *const *const c_char,
    *const c_uint,
    *const c_uint,
    *const usize,
    c_uint,
    c_uint,
    Platform,
    *mut *mut c_void,
    Errors,
) -> Status;
type ExpressionInfo = unsafe extern "C" fn(
    *const c_char,
    c_uint,
    *const ExprExt,
    *mut *mut ExprInfo,
    Errors,
) -> Status;
type Take = unsafe extern "C" fn(*mut c_void) -> Status;
type TakeError = unsafe extern "C" fn(*mut CompileError) -> Status;
type Grow = unsafe extern "C" fn(*const c_void, *mut *mut c_void) -> Status;
type CopyStream = unsafe extern "C" fn(*mut *mut c_void, *const c_void) -> Status;
type Size = unsafe extern "C" fn(*const c_void, *mut usize) -> Status;
type Scan = unsafe extern "C" fn(
    *const c_void,
    *const c_char,
    c_uint,
    c_uint,
    *mut c_void,
    Handler,
    *mut c_void,
) -> Status;
type ScanVector = unsafe extern "C" fn(
    *const c_void,
    *const *const c_char,
    *const c_uint,
    c_uint,
    c_uint,
    *mut c_void,
    Handler,
    *mut c_void,
) -> Status;
type Open = unsafe extern "C" fn(*const c_void, c_uint, *mut *mut c_void) -> Status;
type ScanStream = unsafe extern "C" fn(
    *mut c_void,
    *const c_char,
    c_uint,
    c_uint,
    *mut c_void,
    Handler,
    *mut c_void,
) -> Status;
type Close = unsafe extern "C" fn(*mut c_void, *mut c_void, Handler, *mut c_void) -> Status;
type Compress = unsafe extern "C" fn(*const c_void, *mut c_char, usize, *mut usize) -> Status;
type Expand = unsafe extern "C" fn(*const c_void, *mut *mut c_void, *const c_char, usize) -> Status;
type Serialize = unsafe extern "C" fn(*const c_void, *mut *mut c_char, *mut usize) -> Status;
type Deserialize = unsafe extern "C" fn(*const c_char, usize, *mut *mut c_void) -> Status;

/// The functions of the next library that are used.
pub(crate) struct Library {
    pub(crate) compile_ext_multi: CompileExtMulti,
    pub(crate) compile_lit_multi: CompileLitMulti,
    pub(crate) expression_ext_info: ExpressionInfo,
    pub(crate) free_compile_error: TakeError,
    pub(crate) free_database: Take,
    pub(crate) database_size: Size,
    pub(crate) serialize_database: Serialize,
    pub(crate) deserialize_database: Deserialize,
    pub(crate) alloc_scratch: Grow,
    pub(crate) clone_scratch: Grow,
    pub(crate) scratch_size: Size,
    pub(crate) free_scratch: Take,
    pub(crate) scan: Scan,
    pub(crate) scan_vector: ScanVector,
    pub(crate) open_stream: Open,
    pub(crate) scan_stream: ScanStream,
    pub(crate) close_stream: Close,
    pub(crate) copy_stream: CopyStream,
    pub(crate) stream_size: Size,
    pub(crate) compress_stream: Compress,
    pub(crate) expand_stream: Expand,
}

/// The next library; an error says why there is none.
pub(crate) fn library() -> Result<&'static Library, &'static str> {
    static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
    let opened = LIBRARY.get_or_init(|| match std::env::var_os(NEXT) {
        Some(file) if !file.is_empty() => open(file),
        _ => Err(String::new()),
    });
    opened.as_ref().map_err(String::as_str)
}

fn open(file: OsString) -> Result<Library, String> {
    let why = |error: libloading::Error| {
        format!("{NEXT} names {}, which cannot be used: {error}", file.display())
    };
    let handle = open_local(&file).map_err(why)?;
    let itself = crate::info::hs_version as *const c_void;
    let version: *const c_void = symbol(&handle, c"hs_version").map_err(why)?;
    if ptr::eq(version, itself) {
        return Err(format!("{NEXT} names this library itself"));
    }
    let library = Library::resolve(&handle).map_err(why)?;
    // Its functions are used until the process ends.
    std::mem::forget(handle);
    Ok(library)
}

fn open_local(file: &OsStr) -> Result<libloading::Library, libloading::Error> {
    // SAFETY: loading runs the initializers of a library that the user of this process named.
    unsafe { libloading::Library::new(file) }
}

fn symbol<T: Copy>(handle: &libloading::Library, name: &CStr) -> Result<T, libloading::Error> {
    // SAFETY: `T` is what Hyperscan's headers declare for the name; the handle is never closed once
    // a symbol is used.
    unsafe { handle.get::<T>(name) }.map(|s| *s)
}

impl Library {
    fn resolve(handle: &libloading::Library) -> Result<Library, libloading::Error> {
        Ok(Library {
            compile_ext_multi: symbol(handle, c"hs_compile_ext_multi")?,
            compile_lit_multi: symbol(handle, c"hs_compile_lit_multi")?,
            expression_ext_info: symbol(handle, c"hs_expression_ext_info")?,
            free_compile_error: symbol(handle, c"hs_free_compile_error")?,
            free_database: symbol(handle, c"hs_free_database")?,
            database_size: symbol(handle, c"hs_database_size")?,
            serialize_database: symbol(handle, c"hs_serialize_database")?,
            deserialize_database: symbol(handle, c"hs_deserialize_database")?,
            alloc_scratch: symbol(handle, c"hs_alloc_scratch")?,
            clone_scratch: symbol(handle, c"hs_clone_scratch")?,
            scratch_size: symbol(handle, c"hs_scratch_size")?,
            free_scratch: symbol(handle, c"hs_free_scratch")?,
            scan: symbol(handle, c"hs_scan")?,
            scan_vector: symbol(handle, c"hs_scan_vector")?,
            open_stream: symbol(handle, c"hs_open_stream")?,
            scan_stream: symbol(handle, c"hs_scan_stream")?,
            close_stream: symbol(handle, c"hs_close_stream")?,
            copy_stream: symbol(handle, c"hs_copy_stream")?,
            stream_size: symbol(handle, c"hs_stream_size")?,
            compress_stream: symbol(handle, c"hs_compress_stream")?,
            expand_stream: symbol(handle, c"hs_expand_stream")?,
        })
    }
}

/// The status as a result.
pub(crate) fn check(status: Status) -> Result<(), Status> {
    if status == SUCCESS { Ok(()) } else { Err(status) }
}

/// The message and the index of an error of the library, which is freed.
///
/// # Safety
/// `error` is null, or an error that the library returned and that is not used again.
pub(crate) unsafe fn take_error(library: &Library, error: *mut CompileError) -> (String, c_int) {
    // SAFETY: the caller promises that it is null or an error.
    let Some(details) = (unsafe { error.as_ref() }) else {
        return ("The next library gave no reason.".into(), -1);
    };
    // SAFETY: the message of an error is a C string.
    let message = unsafe { CStr::from_ptr(details.message) }.to_string_lossy().into_owned();
    let expression = details.expression;
    // SAFETY: the caller does not use the error again.
    unsafe { (library.free_compile_error)(error) };
    (message, expression)
}

/// A database of the next library.
pub(crate) struct NextDatabase {
    raw: NonNull<c_void>,
    pub(crate) library: &'static Library,
}

impl NextDatabase {
    /// Takes a database over.
    ///
    /// # Safety
    /// It is a database of this library that nobody else frees.
    pub(crate) unsafe fn new(raw: NonNull<c_void>, library: &'static Library) -> Self {
        Self { raw, library }
    }

    pub(crate) fn raw(&self) -> *const c_void {
        self.raw.as_ptr()
    }

    /// Bytes that it takes.
    pub(crate) fn size(&self) -> Result<usize, Status> {
        let mut size = 0;
        // SAFETY: the database is valid, and so is the place of the result.
        check(unsafe { (self.library.database_size)(self.raw(), &raw mut size) })?;
        Ok(size)
    }

    /// Its serialized form.
    pub(crate) fn serialize(&self) -> Result<Vec<u8>, Status> {
        let (mut bytes, mut len) = (ptr::null_mut(), 0);
        // SAFETY: the database is valid, and so are the places of the results.
        let status =
            unsafe { (self.library.serialize_database)(self.raw(), &raw mut bytes, &raw mut len) };
        check(status)?;
        // SAFETY: the library returned as many bytes.
        let copy = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), len) }.to_vec();
        // SAFETY: the next library uses `malloc`: its allocators are not set.
        unsafe { free(bytes.cast()) };
        Ok(copy)
    }

    /// Reads a serialized form.
    pub(crate) fn deserialize(bytes: &[u8], library: &'static Library) -> Result<Self, Status> {
        // The form holds numbers of 64 bits, which the library reads in place.
        let aligned: Vec<u64> = bytes
            .chunks(8)
            .map(|c| {
                let mut word = [0; 8];
                word[..c.len()].copy_from_slice(c);
                u64::from_ne_bytes(word)
            })
            .collect();
        let mut raw = ptr::null_mut();
        // SAFETY: there are as many bytes, and the place of the result is valid.
        let status = unsafe {
            (library.deserialize_database)(aligned.as_ptr().cast(), bytes.len(), &raw mut raw)
        };
        check(status)?;
        let raw = NonNull::new(raw).ok_or(crate::abi::UNKNOWN_ERROR)?;
        // SAFETY: the library made it just now, for this caller.
        Ok(unsafe { Self::new(raw, library) })
    }
}

unsafe extern "C" {
    fn free(memory: *mut c_void);
}

impl Drop for NextDatabase {
    fn drop(&mut self) {
        // SAFETY: `new` promises that it is a database which nobody else frees.
        unsafe { (self.library.free_database)(self.raw.as_ptr()) };
    }
}

/// A scratch of the next library.
pub(crate) struct NextScratch {
    raw: *mut c_void,
    library: &'static Library,
}

// SAFETY: a scratch belongs to no thread; only one uses it at a time.
unsafe impl Send for NextScratch {}

impl NextScratch {
    /// A scratch for a database.
    pub(crate) fn new(database: &NextDatabase) -> Result<Self, Status> {
        let mut scratch = Self { raw: ptr::null_mut(), library: database.library };
        scratch.grow(database)?;
        Ok(scratch)
    }

    /// Makes it large enough for another database.
    pub(crate) fn grow(&mut self, database: &NextDatabase) -> Result<(), Status> {
        // SAFETY: the database is valid; the scratch is null or valid, and borrowed exclusively.
        check(unsafe { (self.library.alloc_scratch)(database.raw(), &raw mut self.raw) })
    }

    /// A copy for another thread.
    pub(crate) fn duplicate(&self) -> Result<Self, Status> {
        let mut copy = Self { raw: ptr::null_mut(), library: self.library };
        // SAFETY: the scratch is valid, and so is the place of the result.
        check(unsafe { (self.library.clone_scratch)(self.raw, &raw mut copy.raw) })?;
        Ok(copy)
    }

    /// Bytes that it takes.
    pub(crate) fn size(&self) -> usize {
        let mut size = 0;
        // SAFETY: the scratch is valid, and so is the place of the result.
        let status = unsafe { (self.library.scratch_size)(self.raw, &raw mut size) };
        if status == SUCCESS { size } else { 0 }
    }

    pub(crate) fn raw(&self) -> *mut c_void {
        self.raw
    }
}

impl Drop for NextScratch {
    fn drop(&mut self) {
        // SAFETY: it is null or valid, and dropped once.
        unsafe { (self.library.free_scratch)(self.raw) };
    }
}

/// Copies what the library says of an expression into memory of the caller's allocator, and frees
/// the original.
///
/// # Safety
/// `info` came from the next library and is not used again.
pub(crate) unsafe fn adopt_info(info: *mut ExprInfo) -> Result<*mut ExprInfo, Status> {
    // SAFETY: the caller promises that the library returned it.
    let copy = unsafe { info.read() };
    // SAFETY: the next library uses `malloc`: its allocators are not set.
    unsafe { free(info.cast()) };
    MISC.place(copy)
}
