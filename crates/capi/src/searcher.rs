//! The searcher: a compiled set of patterns, and its database.

use crate::abi::{FYKE_IO, OnBytes, Status};
use crate::border::{Out, bytes, checked, path, reference};
use crate::error::Failure;
use crate::handle::{NewHandle, free};
use fyke::Part;
use std::ffi::{CString, c_char, c_void};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;

/// A compiled set of patterns. It never changes, and any number of threads may use it at once.
pub struct Searcher {
    pub(crate) searcher: fyke::Searcher,
    /// What `fyke_searcher_engine` returns, once it was asked.
    engine: OnceLock<CString>,
}

impl Searcher {
    pub(crate) fn new(searcher: fyke::Searcher) -> Self {
        Self { searcher, engine: OnceLock::new() }
    }

    fn engine(&self) -> &CString {
        self.engine.get_or_init(|| {
            let parts = Part::specs(&self.searcher.matcher().parts());
            CString::new(parts).unwrap_or_default()
        })
    }
}

/// What a handle of a searcher refers to.
///
/// # Safety
/// The pointer is null or live during `'a`.
pub(crate) unsafe fn searcher_of<'a>(
    searcher: *const Searcher,
) -> Result<&'a fyke::Searcher, Failure> {
    // SAFETY: the caller promises the same.
    Ok(&unsafe { reference(searcher, "searcher") }?.searcher)
}

/// Frees a searcher. NULL is allowed. Its streams and iterators stay.
///
/// # Safety
/// `searcher` is NULL, or live, in no call, and not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_searcher_free(searcher: *mut Searcher) -> Status {
    // SAFETY: the caller promises the same.
    unsafe { free(searcher) }
}

/// The engines that search, with their options, as in `"teddy:isa=avx2"`; those that share the
/// patterns are separated by `" + "`. NULL without a searcher. The string belongs to the searcher.
///
/// # Safety
/// `searcher` is NULL or live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_searcher_engine(searcher: *const Searcher) -> *const c_char {
    let mut engine = ptr::null();
    checked(|| {
        // SAFETY: the caller promises that it is null or live.
        engine = unsafe { reference(searcher, "searcher") }?.engine().as_ptr();
        Ok(())
    });
    engine
}

/// Gives the number of different patterns. A pattern that was added with several ids counts once.
///
/// # Safety
/// `searcher` is NULL or live; `count` is NULL or a place for the number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_searcher_pattern_count(
    searcher: *const Searcher,
    count: *mut usize,
) -> Status {
    checked(|| {
        // SAFETY: the caller promises that it is null or a place.
        let count = unsafe { Out::new(count, "count") }?;
        // SAFETY: the caller promises that it is null or live.
        count.set(unsafe { searcher_of(searcher) }?.set().len());
        Ok(())
    })
}

/// Gives the memory of a searcher, in bytes: of its tables in main memory and on a GPU.
///
/// # Safety
/// `searcher` is NULL or live; `bytes` is NULL or a place for the number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_searcher_memory(
    searcher: *const Searcher,
    bytes: *mut u64,
) -> Status {
    checked(|| {
        // SAFETY: the caller promises that it is null or a place.
        let bytes = unsafe { Out::new(bytes, "bytes") }?;
        // SAFETY: the caller promises that it is null or live.
        let footprint = unsafe { searcher_of(searcher) }?.matcher().footprint();
        bytes.set(footprint.host + footprint.device);
        Ok(())
    })
}

/// Saves a searcher as a database file, with its settings. A file of that name is replaced; nobody
/// sees a part of the new one, and a failure leaves the old one.
///
/// Returns `FYKE_IO` if the file cannot be written.
///
/// # Safety
/// `searcher` is NULL or live; `file` is NULL or a path.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_searcher_save(
    searcher: *const Searcher,
    file: *const c_char,
) -> Status {
    checked(|| {
        // SAFETY: the caller promises that it is null or live.
        let searcher = unsafe { searcher_of(searcher) }?;
        // SAFETY: the caller promises that it is null or a string.
        let file = unsafe { path(file, "file") }?;
        fyke::database::replace_file(&file, |to| searcher.save(to))
            .map_err(|error| of_file(&file, &error))
    })
}

/// A failure with the name of its file.
fn of_file(file: &Path, error: &io::Error) -> Failure {
    Failure::new(FYKE_IO, format_args!("{}: {error}", file.display()))
}

/// Gives bytes to a callback.
pub(crate) struct ToCallback<F>(F);

impl<F: FnMut(&[u8]) -> bool> Write for ToCallback<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match bytes.is_empty() || (self.0)(bytes) {
            true => Ok(bytes.len()),
            false => Err(io::Error::other("the callback on_bytes could not write")),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A writer of the callback of the caller.
///
/// # Safety
/// The callback may be called with `context` as long as the writer is in use.
pub(crate) unsafe fn writer(
    on_bytes: OnBytes,
    context: *mut c_void,
) -> Result<ToCallback<impl FnMut(&[u8]) -> bool>, Failure> {
    let call = on_bytes.ok_or_else(|| Failure::invalid("on_bytes is NULL"))?;
    Ok(ToCallback(move |bytes: &[u8]| {
        // SAFETY: the caller promises that it may be called; the bytes are a slice's.
        let status = unsafe { call(bytes.as_ptr().cast(), bytes.len(), context) };
        status == 0
    }))
}

/// Saves a searcher as a database, part by part, to a callback: into memory, for example.
///
/// Returns `FYKE_IO` if the callback returns another value than 0.
///
/// # Safety
/// `searcher` is NULL or live; `on_bytes` is NULL or may be called with `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_searcher_save_to(
    searcher: *const Searcher,
    on_bytes: OnBytes,
    context: *mut c_void,
) -> Status {
    checked(|| {
        // SAFETY: the caller promises that it is null or live.
        let searcher = unsafe { searcher_of(searcher) }?;
        // SAFETY: the caller promises that it is null or may be called.
        let to = unsafe { writer(on_bytes, context) }?;
        let mut to = BufWriter::new(to);
        searcher.save(&mut to)?;
        Ok(to.flush()?)
    })
}

/// Loads a searcher from a database file, which `fyke_searcher_save` or the command `fyke compile`
/// wrote. The file is checked first. It is mapped into memory if nobody but its user or root may
/// write to it: then replace it only by renaming another file, and do not truncate it.
///
/// Returns `FYKE_IO` if the file cannot be read, `FYKE_BAD_DATABASE` if it is damaged or no
/// database, `FYKE_REFUSED` if its patterns cannot be compiled here. `*searcher` is NULL after a
/// failure. Free the searcher with `fyke_searcher_free`.
///
/// # Safety
/// `file` is NULL or a path; `searcher` is NULL or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_searcher_load(
    file: *const c_char,
    searcher: *mut *mut Searcher,
) -> Status {
    checked(|| {
        // SAFETY: the caller promises that it is null or a place.
        let new = unsafe { NewHandle::new(searcher, "searcher") }?;
        // SAFETY: the caller promises that it is null or a string.
        let file = unsafe { path(file, "file") }?;
        let loaded = fyke::Searcher::open_mapped(&file).map_err(|error| {
            let failure = Failure::from(error);
            Failure { message: format!("{}: {}", file.display(), failure.message), ..failure }
        })?;
        new.set(Searcher::new(loaded));
        Ok(())
    })
}

/// As `fyke_searcher_load`, from a database in memory, which is copied.
///
/// # Safety
/// `database` is NULL or has `len` bytes; `searcher` is NULL or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_searcher_load_from(
    database: *const c_void,
    len: usize,
    searcher: *mut *mut Searcher,
) -> Status {
    checked(|| {
        // SAFETY: the caller promises that it is null or a place.
        let new = unsafe { NewHandle::new(searcher, "searcher") }?;
        // SAFETY: the caller promises that it is null or has as many bytes.
        let database = unsafe { bytes(database, len, "database") }?;
        new.set(Searcher::new(fyke::Searcher::load(database)?));
        Ok(())
    })
}
