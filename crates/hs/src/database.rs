//! [`Database`]: what C holds as `hs_database_t`.

use crate::abi::{INVALID, Status};
use crate::alloc::{DATABASE, MISC};
use crate::border::{guarded, put};
use crate::engine::Engine;
use crate::next::NextDatabase;
use crate::rules::Mode;
use crate::wire;
use fyke_core::sink::{FNV_BASIS, fnv1a};
use std::ffi::c_char;
use std::ptr;
use std::sync::OnceLock;

/// The mark of a live database.
const MAGIC: u32 = 0x6679_4442;

/// A compiled set: `hs_database_t`.
#[repr(C)]
pub struct Database {
    magic: u32,
    mode: Mode,
    kind: Kind,
    /// What [`digest`](Self::digest) computed when it was first called.
    digest: OnceLock<u64>,
}

/// Which library compiled a set.
pub(crate) enum Kind {
    Own(Engine),
    Next(NextDatabase),
}

impl Database {
    /// A database in memory of the caller's allocator.
    pub(crate) fn allocate(mode: Mode, kind: Kind) -> Result<*mut Database, Status> {
        DATABASE.place(Self::new(mode, kind))
    }

    /// A database by value.
    pub(crate) fn new(mode: Mode, kind: Kind) -> Database {
        Database { magic: MAGIC, mode, kind, digest: OnceLock::new() }
    }

    /// The database behind a pointer of the caller.
    ///
    /// # Safety
    /// The pointer is null, or leads to at least the size of a `Database` of readable memory. If
    /// that begins with the mark of a live database, it is one, and it is not freed during `'a`.
    pub(crate) unsafe fn check<'a>(database: *const Database) -> Result<&'a Database, Status> {
        if database.is_null() || !database.is_aligned() {
            return Err(INVALID);
        }
        // SAFETY: the caller promises readable memory; it is aligned, and the mark comes first.
        let magic = unsafe { database.cast::<u32>().read() };
        if magic != MAGIC {
            return Err(INVALID);
        }
        // SAFETY: it has the mark, so the caller promises a live database.
        Ok(unsafe { &*database })
    }

    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    /// Checks that it was compiled for a mode.
    pub(crate) fn check_mode(&self, mode: Mode) -> Result<(), Status> {
        if self.mode == mode { Ok(()) } else { Err(crate::abi::DB_MODE_ERROR) }
    }

    pub(crate) fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Bytes that it takes, with everything it owns.
    pub(crate) fn size(&self) -> Result<usize, Status> {
        Ok(size_of::<Database>()
            + match &self.kind {
                Kind::Own(engine) => engine.memory(),
                Kind::Next(next) => next.size()?,
            })
    }

    /// Its serialized form.
    pub(crate) fn serialize(&self) -> Result<Vec<u8>, Status> {
        match &self.kind {
            Kind::Own(engine) => Ok(wire::encode_rules(self.mode, &engine.rules())),
            Kind::Next(next) => Ok(wire::encode_next(self.mode, &next.serialize()?)),
        }
    }

    /// A hash of its serialized form. Every saved stream has it, so it is computed once.
    pub(crate) fn digest(&self) -> Result<u64, Status> {
        if let Some(&digest) = self.digest.get() {
            return Ok(digest);
        }
        let digest = fnv1a(&self.serialize()?, FNV_BASIS);
        Ok(*self.digest.get_or_init(|| digest))
    }
}

/// The information string of databases of a mode. It is the same for all of them: clients compare
/// it to find out whether a stored database fits the library.
pub(crate) fn information(mode: Mode) -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!("Version: 5.4.0 Features: fyke-{version} Mode: {}", mode.name())
}

/// Frees a database.
///
/// # Safety
/// It is null, or a pointer of the caller as in `hs_database_size`, and is not used again. If it is
/// live, its memory came from the database allocator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_free_database(database: *mut Database) -> Status {
    guarded(|| {
        if database.is_null() {
            return Ok(());
        }
        // SAFETY: the contract of this function demands of `database` what `check` does.
        unsafe { Database::check(database) }?;
        // SAFETY: `check` found it live, so its head can be written, and the caller does not use it
        // again. It loses its mark before its parts go.
        unsafe { database.cast::<u32>().write_volatile(0) };
        // SAFETY: it was initialized, and its mark was still set above, so it was not dropped
        // before.
        unsafe { ptr::drop_in_place(database) };
        // SAFETY: the caller promises that its memory came from this allocator.
        unsafe { DATABASE.release(database.cast()) };
        Ok(())
    })
}

/// Bytes that a database takes.
///
/// # Safety
/// `database` is null or leads to readable memory, which is a live database if it has the mark of
/// one; `size` is null or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_database_size(database: *const Database, size: *mut usize) -> Status {
    guarded(|| {
        // SAFETY: the contract of this function demands of `database` what `check` does.
        let database = unsafe { Database::check(database) }?;
        // SAFETY: the caller promises that it is null or valid.
        unsafe { put(size, database.size()?) }
    })
}

/// Version, features and mode of a database, as a string that the caller frees.
///
/// # Safety
/// As [`hs_database_size`]; `info` is null or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_database_info(
    database: *const Database,
    info: *mut *mut c_char,
) -> Status {
    guarded(|| {
        // SAFETY: the caller promises that it is null or valid.
        unsafe { put(info, ptr::null_mut()) }?;
        // SAFETY: the contract of this function demands of `database` what `check` does.
        let database = unsafe { Database::check(database) }?;
        let text = MISC.copy_text(&information(database.mode()))?;
        // SAFETY: `info` was found not to be null, so the caller promises that it is valid.
        unsafe { put(info, text.as_ptr().cast()) }
    })
}
