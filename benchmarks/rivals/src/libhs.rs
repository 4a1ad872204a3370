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

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::Arc;

use fyke_core::{Block, Pattern, PatternSet};

use crate::calls::{Answer, CallJob, Caller, Question};
use crate::matches::{FindAll, MatchSink};
use crate::rival::{Built, Job, Memory, Refusal, Scanner, Tally, Work};
use crate::sets::{BuiltSets, SetCall, SetsScanner};

const HS_SUCCESS: c_int = 0;
/// The callback ended the scan.
const HS_SCAN_TERMINATED: c_int = -3;
const HS_FLAG_CASELESS: c_uint = 1;
const HS_FLAG_DOTALL: c_uint = 2;
const HS_MODE_BLOCK: c_uint = 1;

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

/// An open library: the functions used, and the handle that keeps them valid.
pub struct Library {
    version: String,
    compile_multi: CompileMulti,
    free_compile_error: FreeCompileError,
    free_database: Free,
    database_size: Size,
    alloc_scratch: AllocScratch,
    free_scratch: Free,
    scratch_size: Size,
    scan: Scan,
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
        Self::resolve(handle).map_err(name)?.map_err(|why| format!("{}: {why}", file.display()))
    }

    fn resolve(handle: libloading::Library) -> Result<Result<Self, String>, libloading::Error> {
        let version: Version = symbol(&handle, c"hs_version")?;
        let valid_platform: ValidPlatform = symbol(&handle, c"hs_valid_platform")?;
        // SAFETY: the function takes nothing and gives its answer as a code.
        if unsafe { valid_platform() } != HS_SUCCESS {
            return Ok(Err("the library needs SSSE3, which this CPU lacks".into()));
        }
        Ok(Ok(Self {
            version: version_text(version),
            compile_multi: symbol(&handle, c"hs_compile_multi")?,
            free_compile_error: symbol(&handle, c"hs_free_compile_error")?,
            free_database: symbol(&handle, c"hs_free_database")?,
            database_size: symbol(&handle, c"hs_database_size")?,
            alloc_scratch: symbol(&handle, c"hs_alloc_scratch")?,
            free_scratch: symbol(&handle, c"hs_free_scratch")?,
            scratch_size: symbol(&handle, c"hs_scratch_size")?,
            scan: symbol(&handle, c"hs_scan")?,
            _handle: handle,
        }))
    }

    /// The version as the library reports it, such as `5.4.0 2021-01-26`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Compiles a set for block mode.
    ///
    /// # Errors
    /// The library refused it; its own message.
    pub fn build(self: &Arc<Self>, job: &Job<'_>) -> Result<Box<dyn Built>, Refusal> {
        Ok(Box::new(self.compile(job.set)?))
    }

    /// Compiles several sets for block mode. Their scanner has one scratch, as the library suggests.
    ///
    /// # Errors
    /// The library refused one of them.
    pub(crate) fn build_sets(
        self: &Arc<Self>,
        jobs: &[Job<'_>],
    ) -> Result<Box<dyn BuiltSets>, Refusal> {
        let each = jobs.iter().map(|job| self.compile(job.set)).collect::<Result<_, _>>()?;
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
        let compiled = library.map_err(Clone::clone).and_then(|l| l.compile(job.set));
        Some(compiled.and_then(|database| Ok(Box::new(HsCaller::new(database)?) as _)))
    }

    fn compile(self: &Arc<Self>, set: &PatternSet) -> Result<Database, Refusal> {
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
                HS_MODE_BLOCK,
                ptr::null(),
                &raw mut database,
                &raw mut error,
            )
        };
        if code != HS_SUCCESS {
            return Err(self.compile_error(code, error));
        }
        Ok(Database { library: Arc::clone(self), database })
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

struct Database {
    library: Arc<Library>,
    database: *mut c_void,
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
    fn scratch(&self) -> Result<HsScanner<'_>, Refusal> {
        Ok(HsScanner { database: self, scratch: self.alloc_scratch()? })
    }

    /// A scratch that the caller frees.
    fn alloc_scratch(&self) -> Result<*mut c_void, Refusal> {
        let mut scratch = ptr::null_mut();
        // SAFETY: a null scratch asks for a new one, written through a valid pointer.
        let code = unsafe { (self.library.alloc_scratch)(self.database, &raw mut scratch) };
        if code != HS_SUCCESS {
            return Err(Refusal(format!("hs_alloc_scratch gave code {code}")));
        }
        Ok(scratch)
    }

    /// Makes a scanner's scratch large enough for this database too.
    fn grow_scratch(&self, scanner: &mut HsScanner<'_>) -> Result<(), Refusal> {
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

    fn size(&self) -> u64 {
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

struct HsScanner<'a> {
    database: &'a Database,
    scratch: *mut c_void,
}

impl HsScanner<'_> {
    fn size(&self) -> u64 {
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
        let len = c_uint::try_from(haystack.len())
            .map_err(|_| Refusal("one hs_scan call takes less than 4 GiB".into()))?;
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

extern "C" fn on_match<S: MatchSink>(
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

/// Databases of one library that share a scratch.
struct Databases(Vec<Database>);

impl BuiltSets for Databases {
    fn scanner(&self) -> Result<Box<dyn SetsScanner + '_>, Refusal> {
        Ok(Box::new(HsSetsScanner { databases: &self.0, scanner: self.scratch()? }))
    }

    fn memory(&self) -> Option<Memory> {
        let bytes = self.0.iter().map(Database::size).sum::<u64>() + self.scratch().ok()?.size();
        Some(Memory { bytes, from: "hs_database_size() + hs_scratch_size()" })
    }
}

impl Databases {
    /// A scanner whose scratch serves every database.
    fn scratch(&self) -> Result<HsScanner<'_>, Refusal> {
        let none = || Refusal("there is no set to scan with".into());
        let mut scanner = self.0.first().ok_or_else(none)?.scratch()?;
        self.0.iter().try_for_each(|database| database.grow_scratch(&mut scanner))?;
        Ok(scanner)
    }
}

/// Scans with any of its databases, which are those that the scanner's scratch was grown for.
struct HsSetsScanner<'a> {
    databases: &'a [Database],
    scanner: HsScanner<'a>,
}

impl SetsScanner for HsSetsScanner<'_> {
    fn scan_calls(&mut self, calls: &[SetCall<'_>], work: Work) -> Result<Tally, Refusal> {
        let databases = self.databases;
        calls.iter().try_fold(Tally::default(), |tally, call| {
            self.scanner.database = &databases[call.set];
            Ok(tally.plus(self.scanner.scan(Block::whole(call.haystack), work)?))
        })
    }
}

/// Asks whether haystacks have a match: the callback ends each scan at the first one.
struct HsCaller {
    database: Database,
    scratch: *mut c_void,
}

impl HsCaller {
    fn new(database: Database) -> Result<Self, Refusal> {
        let scratch = database.alloc_scratch()?;
        Ok(Self { database, scratch })
    }

    #[inline]
    fn is_match(&mut self, haystack: &[u8]) -> Result<bool, Refusal> {
        let len = c_uint::try_from(haystack.len())
            .map_err(|_| Refusal("one hs_scan call takes less than 4 GiB".into()))?;
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
