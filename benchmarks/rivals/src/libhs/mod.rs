//! The C interface that Hyperscan and Vectorscan share, opened at run time.
//!
//! `hs_compile_multi` compiles the patterns, one expression each, in block mode with all matches
//! reported. Bytes other than letters and digits are written as `\xNN`; the compiler recognizes
//! such an expression as a literal. Unlike `hs_compile_lit_multi`, this call takes every byte
//! value in every version of both libraries (Vectorscan 5.4.9 refuses literals that begin with
//! NUL).
//!
//! Both libraries have the same file name. [`Library::open`] tries a list of files and asks each
//! for its version.

mod caller;
mod database;
mod sets;
mod stream;

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::Arc;

use fyke_core::{Pattern, PatternSet};

use crate::calls::{CallJob, Caller, Question};
use crate::rival::{Built, Job, Refusal};
use crate::sets::BuiltSets;
use caller::HsCaller;
pub use database::Database;
use sets::Databases;

const HS_SUCCESS: c_int = 0;
/// The callback ended the scan.
const HS_SCAN_TERMINATED: c_int = -3;
const HS_FLAG_CASELESS: c_uint = 1;
const HS_FLAG_DOTALL: c_uint = 2;
const HS_MODE_BLOCK: c_uint = 1;
const HS_MODE_STREAM: c_uint = 2;

/// What a database is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Haystacks that are whole: `hs_scan`.
    Block,
    /// Haystacks that come in chunks: `hs_scan_stream`.
    Stream,
}

impl Mode {
    fn flag(self) -> c_uint {
        match self {
            Mode::Block => HS_MODE_BLOCK,
            Mode::Stream => HS_MODE_STREAM,
        }
    }
}

type OnMatch = extern "C" fn(c_uint, c_ulonglong, c_ulonglong, c_uint, *mut c_void) -> c_int;

/// `hs_compile_error_t`.
#[repr(C)]
struct CompileError {
    message: *const c_char,
    expression: c_int,
}

type Version = unsafe extern "C" fn() -> *const c_char;
type ValidPlatform = unsafe extern "C" fn() -> c_int;
type CompileMulti = unsafe extern "C" fn(
    *const *const c_char,
    *const c_uint,
    *const c_uint,
    c_uint,
    c_uint,
    *const c_void,
    *mut *mut c_void,
    *mut *mut CompileError,
) -> c_int;
type FreeCompileError = unsafe extern "C" fn(*mut CompileError) -> c_int;
type Free = unsafe extern "C" fn(*mut c_void) -> c_int;
type Size = unsafe extern "C" fn(*const c_void, *mut usize) -> c_int;
type AllocScratch = unsafe extern "C" fn(*const c_void, *mut *mut c_void) -> c_int;
type Scan = unsafe extern "C" fn(
    *const c_void,
    *const c_char,
    c_uint,
    c_uint,
    *mut c_void,
    OnMatch,
    *mut c_void,
) -> c_int;
type OpenStream = unsafe extern "C" fn(*const c_void, c_uint, *mut *mut c_void) -> c_int;
type ScanStream = unsafe extern "C" fn(
    *mut c_void,
    *const c_char,
    c_uint,
    c_uint,
    *mut c_void,
    OnMatch,
    *mut c_void,
) -> c_int;
type CloseStream =
    unsafe extern "C" fn(*mut c_void, *mut c_void, Option<OnMatch>, *mut c_void) -> c_int;

/// An open library: the functions used, and the handle that keeps them valid.
pub struct Library {
    version: String,
    file: PathBuf,
    compile_multi: CompileMulti,
    free_compile_error: FreeCompileError,
    free_database: Free,
    database_size: Size,
    alloc_scratch: AllocScratch,
    free_scratch: Free,
    scratch_size: Size,
    scan: Scan,
    open_stream: OpenStream,
    scan_stream: ScanStream,
    close_stream: CloseStream,
    stream_size: Size,
    _handle: libloading::Library,
}

impl Library {
    /// Opens the first of `files` that is a library whose version passes `accept`.
    ///
    /// # Errors
    /// None of them is; the reason names each file and its failure.
    pub fn open(files: &[PathBuf], accept: fn(&str) -> bool) -> Result<Self, Refusal> {
        let mut reasons = Vec::new();
        for file in files {
            match Self::open_one(file) {
                Ok(library) if accept(&library.version) => return Ok(library),
                Ok(library) => {
                    reasons.push(format!("{} is version {}", file.display(), library.version));
                }
                Err(why) => reasons.push(why),
            }
        }
        Err(Refusal(reasons.join("; ")))
    }

    fn open_one(file: &Path) -> Result<Self, String> {
        let name = |e: libloading::Error| format!("{}: {e}", file.display());
        // SAFETY: loading runs the library's initialisers; the file is one that the caller named or
        // the system's libhs, whose initialisers set up its own tables only.
        let handle = unsafe { libloading::Library::new(file) }.map_err(name)?;
        let opened = Self::resolve(file, handle).map_err(name)?;
        opened.map_err(|why| format!("{}: {why}", file.display()))
    }

    fn resolve(
        file: &Path,
        handle: libloading::Library,
    ) -> Result<Result<Self, String>, libloading::Error> {
        let version: Version = symbol(&handle, c"hs_version")?;
        let valid_platform: ValidPlatform = symbol(&handle, c"hs_valid_platform")?;
        // SAFETY: the function takes nothing and gives its answer as a code.
        if unsafe { valid_platform() } != HS_SUCCESS {
            return Ok(Err("the library needs SSSE3, which this CPU lacks".into()));
        }
        Ok(Ok(Self {
            version: version_text(version),
            file: file.to_path_buf(),
            compile_multi: symbol(&handle, c"hs_compile_multi")?,
            free_compile_error: symbol(&handle, c"hs_free_compile_error")?,
            free_database: symbol(&handle, c"hs_free_database")?,
            database_size: symbol(&handle, c"hs_database_size")?,
            alloc_scratch: symbol(&handle, c"hs_alloc_scratch")?,
            free_scratch: symbol(&handle, c"hs_free_scratch")?,
            scratch_size: symbol(&handle, c"hs_scratch_size")?,
            scan: symbol(&handle, c"hs_scan")?,
            open_stream: symbol(&handle, c"hs_open_stream")?,
            scan_stream: symbol(&handle, c"hs_scan_stream")?,
            close_stream: symbol(&handle, c"hs_close_stream")?,
            stream_size: symbol(&handle, c"hs_stream_size")?,
            _handle: handle,
        }))
    }

    /// The version as the library reports it, such as `5.4.0 2021-01-26`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The file, as it was named.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Compiles a set for block mode.
    ///
    /// # Errors
    /// The library refused it; its own message.
    pub fn build(self: &Arc<Self>, job: &Job<'_>) -> Result<Box<dyn Built>, Refusal> {
        Ok(Box::new(self.compile(job.set, Mode::Block)?))
    }

    /// Compiles several sets for block mode. Their scanner has one scratch, as the library suggests.
    ///
    /// # Errors
    /// The library refused one of them.
    pub(crate) fn build_sets(
        self: &Arc<Self>,
        jobs: &[Job<'_>],
    ) -> Result<Box<dyn BuiltSets>, Refusal> {
        let each =
            jobs.iter().map(|job| self.compile(job.set, Mode::Block)).collect::<Result<_, _>>()?;
        Ok(Box::new(Databases(each)))
    }

    /// Compiles a set to answer whether a haystack has a match, the only question of those for
    /// which block mode without starts of matches has an answer.
    pub(crate) fn caller(
        library: Result<&Arc<Self>, &Refusal>,
        job: &CallJob<'_>,
    ) -> Option<Result<Box<dyn Caller>, Refusal>> {
        if job.question != Question::IsMatch {
            return None;
        }
        let compiled = library.map_err(Clone::clone).and_then(|l| l.compile(job.set, Mode::Block));
        Some(compiled.and_then(|database| Ok(Box::new(HsCaller::new(database)?) as _)))
    }

    /// Compiles a set. Matches have the dense indices of its patterns as ids.
    ///
    /// # Errors
    /// The library refused it; its own message.
    pub fn compile(self: &Arc<Self>, set: &PatternSet, mode: Mode) -> Result<Database, Refusal> {
        let sources = Sources::new(set);
        let mut database = ptr::null_mut();
        let mut error = ptr::null_mut();
        // SAFETY: the three arrays have `ids.len()` elements, each expression ends in NUL, a null
        // platform means this machine, and both results are written through valid pointers.
        let code = unsafe {
            (self.compile_multi)(
                sources.pointers.as_ptr(),
                sources.flags.as_ptr(),
                sources.ids.as_ptr(),
                sources.ids.len() as c_uint,
                mode.flag(),
                ptr::null(),
                &raw mut database,
                &raw mut error,
            )
        };
        if code != HS_SUCCESS {
            return Err(self.compile_error(code, error));
        }
        Ok(Database::new(self, database, mode))
    }

    fn compile_error(&self, code: c_int, error: *mut CompileError) -> Refusal {
        // SAFETY: the library sets the pointer to null or to an error of its own.
        let Some(details) = (unsafe { error.as_ref() }) else {
            return Refusal(format!("hs_compile_multi gave code {code}"));
        };
        // SAFETY: the message of a compile error is a C string that lives as long as the error.
        let message = unsafe { CStr::from_ptr(details.message) }.to_string_lossy();
        let refusal = Refusal(format!("pattern {}: {message}", details.expression));
        // SAFETY: the error came from this library and is not used after this.
        unsafe { (self.free_compile_error)(error) };
        refusal
    }
}

fn symbol<T: Copy>(handle: &libloading::Library, name: &CStr) -> Result<T, libloading::Error> {
    // SAFETY: `T` is the type that hs_compile.h, hs_runtime.h and hs_common.h declare for `name`;
    // the copy is kept beside the handle and is dropped with it.
    unsafe { handle.get::<T>(name) }.map(|s| *s)
}

fn version_text(version: Version) -> String {
    // SAFETY: the function takes nothing.
    let text = unsafe { version() };
    // SAFETY: it gives a static C string.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().trim().to_string()
}

/// The arguments of `hs_compile_multi`.
struct Sources {
    _expressions: Vec<CString>,
    /// Point into `_expressions`.
    pointers: Vec<*const c_char>,
    flags: Vec<c_uint>,
    ids: Vec<c_uint>,
}

impl Sources {
    fn new(set: &PatternSet) -> Self {
        let expressions: Vec<CString> = set.iter().map(|p| expression(p.bytes)).collect();
        let pointers = expressions.iter().map(|e| e.as_ptr()).collect();
        let flags = set.iter().map(flags).collect();
        let ids = set.iter().map(|p| p.index).collect();
        Self { _expressions: expressions, pointers, flags, ids }
    }
}

fn flags(pattern: Pattern<'_>) -> c_uint {
    HS_FLAG_DOTALL | if pattern.nocase { HS_FLAG_CASELESS } else { 0 }
}

/// The regular expression that matches exactly these bytes.
fn expression(bytes: &[u8]) -> CString {
    let mut text = String::with_capacity(2 * bytes.len());
    for &b in bytes {
        if b.is_ascii_alphanumeric() {
            text.push(char::from(b));
        } else {
            text.push_str(&format!("\\x{b:02x}"));
        }
    }
    CString::new(text).expect("the text holds letters, digits and backslashes")
}
