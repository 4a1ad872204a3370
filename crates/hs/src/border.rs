//! The FFI boundary: results as status codes, no panic beyond this point, and checked accesses
//! through pointers of the caller.

use crate::abi::{INVALID, SUCCESS, Status, UNKNOWN_ERROR};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs the body of a function that C calls. A panic becomes [`UNKNOWN_ERROR`].
#[inline]
pub(crate) fn guarded(body: impl FnOnce() -> Result<(), Status>) -> Status {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => SUCCESS,
        Ok(Err(status)) => status,
        Err(_) => UNKNOWN_ERROR,
    }
}

/// Writes a result through a pointer of the caller. A null pointer is [`INVALID`].
///
/// # Safety
/// `to` is null, or valid for writes and aligned.
pub(crate) unsafe fn put<T>(to: *mut T, value: T) -> Result<(), Status> {
    if to.is_null() {
        return Err(INVALID);
    }
    // SAFETY: it is not null, so the caller promises that it is valid.
    unsafe { to.write(value) };
    Ok(())
}

/// Reads a value through a pointer of the caller. A null pointer is [`INVALID`].
///
/// # Safety
/// `from` is null, or valid for reads and aligned.
pub(crate) unsafe fn get<T: Copy>(from: *const T) -> Result<T, Status> {
    if from.is_null() {
        return Err(INVALID);
    }
    // SAFETY: it is not null, so the caller promises that it is valid.
    Ok(unsafe { from.read() })
}

/// An array of the caller. A null pointer is [`INVALID`].
///
/// # Safety
/// `from` is null, or `count` values can be read there, which nothing writes during `'a`.
pub(crate) unsafe fn array<'a, T>(from: *const T, count: usize) -> Result<&'a [T], Status> {
    if from.is_null() {
        return Err(INVALID);
    }
    // SAFETY: it is not null, so the caller promises the values.
    Ok(unsafe { std::slice::from_raw_parts(from, count) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_status() {
        assert_eq!(guarded(|| panic!("inside")), UNKNOWN_ERROR);
        assert_eq!(guarded(|| Err(INVALID)), INVALID);
        assert_eq!(guarded(|| Ok(())), SUCCESS);
    }
}
