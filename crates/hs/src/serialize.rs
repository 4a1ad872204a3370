//! Databases as bytes. They hold the rules, which are compiled again when they are read.

use crate::abi::{BAD_ALIGN, INVALID, Status};
use crate::alloc::MISC;
use crate::border::{array, guarded, put};
use crate::database::{Database, Kind, information};
use crate::engine::Engine;
use crate::next::{self, NextDatabase};
use crate::wire::{self, Body};
use std::ffi::c_char;
use std::ptr;

/// Compiles what was serialized.
fn deserialize(bytes: &[u8]) -> Result<Database, Status> {
    let (mode, body) = wire::decode(bytes)?;
    let kind = match body {
        Body::Rules(rules) => Kind::Own(Engine::new(rules).map_err(|_| INVALID)?),
        Body::Next(bytes) => {
            let library = next::library().map_err(|_| crate::abi::DB_PLATFORM_ERROR)?;
            Kind::Next(NextDatabase::deserialize(bytes, library)?)
        }
    };
    Ok(Database::new(mode, kind))
}

/// Serializes a database into memory that the caller frees.
///
/// # Safety
/// `database` is as in `hs_scan`; `bytes` and `length` are null or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_serialize_database(
    database: *const Database,
    bytes: *mut *mut c_char,
    length: *mut usize,
) -> Status {
    guarded(|| {
        if bytes.is_null() || length.is_null() {
            return Err(INVALID);
        }
        if !database.is_aligned() {
            return Err(BAD_ALIGN);
        }
        // SAFETY: the contract of this function demands of `database` what `check` does.
        let serialized = unsafe { Database::check(database) }?.serialize()?;
        // SAFETY: `bytes` was found not to be null, so the caller promises that it is valid.
        unsafe { put(bytes, MISC.copy(&serialized)?.as_ptr().cast()) }?;
        // SAFETY: `length` was found not to be null, so the caller promises that it is valid.
        unsafe { put(length, serialized.len()) }
    })
}

/// Makes a database from its serialized form.
///
/// # Safety
/// `bytes` is null or has `length` bytes; `database` is null or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_deserialize_database(
    bytes: *const c_char,
    length: usize,
    database: *mut *mut Database,
) -> Status {
    guarded(|| {
        // SAFETY: the caller promises that it is null or valid.
        unsafe { put(database, ptr::null_mut()) }?;
        // SAFETY: `bytes` is null or has `length` bytes, as the caller promises.
        let bytes = unsafe { array(bytes.cast::<u8>(), length) }?;
        let placed = crate::alloc::DATABASE.place(deserialize(bytes)?)?;
        // SAFETY: `database` was found not to be null, so the caller promises that it is valid.
        unsafe { put(database, placed) }
    })
}

/// Makes a database from its serialized form in memory of the caller. What it compiles lies
/// elsewhere, and only `hs_free_database` frees it. So the memory has to be from the database
/// allocator if the database is ever freed.
///
/// # Safety
/// `bytes` is null or has `length` bytes; `database` is null or has as many bytes as
/// `hs_serialized_database_size` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_deserialize_database_at(
    bytes: *const c_char,
    length: usize,
    database: *mut Database,
) -> Status {
    guarded(|| {
        if database.is_null() {
            return Err(INVALID);
        }
        if !database.is_aligned() {
            return Err(BAD_ALIGN);
        }
        // SAFETY: `bytes` is null or has `length` bytes, as the caller promises.
        let bytes = unsafe { array(bytes.cast::<u8>(), length) }?;
        // SAFETY: the caller promises room for it, and it is aligned.
        unsafe { put(database, deserialize(bytes)?) }
    })
}

/// Bytes that `hs_deserialize_database_at` needs.
///
/// # Safety
/// `bytes` is null or has `length` bytes; `size` is null or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_serialized_database_size(
    bytes: *const c_char,
    length: usize,
    size: *mut usize,
) -> Status {
    guarded(|| {
        // SAFETY: `bytes` is null or has `length` bytes, as the caller promises.
        let bytes = unsafe { array(bytes.cast::<u8>(), length) }?;
        wire::decode_mode(bytes)?;
        // SAFETY: the caller promises that it is null or valid.
        unsafe { put(size, size_of::<Database>()) }
    })
}

/// Version, features and mode of a serialized database, as a string that the caller frees.
///
/// # Safety
/// As [`hs_serialized_database_size`]; `info` is null or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_serialized_database_info(
    bytes: *const c_char,
    length: usize,
    info: *mut *mut c_char,
) -> Status {
    guarded(|| {
        // SAFETY: the caller promises that it is null or valid.
        unsafe { put(info, ptr::null_mut()) }?;
        // SAFETY: `bytes` is null or has `length` bytes, as the caller promises.
        let bytes = unsafe { array(bytes.cast::<u8>(), length) }?;
        let text = MISC.copy_text(&information(wire::decode_mode(bytes)?))?;
        // SAFETY: `info` was found not to be null, so the caller promises that it is valid.
        unsafe { put(info, text.as_ptr().cast()) }
    })
}
