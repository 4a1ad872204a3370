//! The border to C: results as status codes, no panic beyond this point, and checked pointers.

use crate::abi::{FYKE_INTERNAL, FYKE_OK, Status};
use crate::error::Failure;
use std::any::Any;
use std::ffi::{CStr, c_char, c_void};
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::ptr::NonNull;

/// Runs the body of a function that C calls. A panic becomes `FYKE_INTERNAL`.
#[inline]
pub(crate) fn guarded(body: impl FnOnce() -> Result<Status, Failure>) -> Status {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(status)) => status,
        Ok(Err(failure)) => failure.keep(),
        Err(panic) => Failure::new(FYKE_INTERNAL, said(&*panic)).keep(),
    }
}

/// As [`guarded`], for a body that has nothing to say but that it succeeded.
#[inline]
pub(crate) fn checked(body: impl FnOnce() -> Result<(), Failure>) -> Status {
    guarded(|| body().map(|()| FYKE_OK))
}

/// The message of a panic.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("a bug of fyke: {}", text.unwrap_or("a panic without a message"))
}

fn check<T>(pointer: *const T, name: &str) -> Result<(), Failure> {
    if pointer.is_null() {
        return Err(Failure::invalid(format_args!("{name} is NULL")));
    }
    if !pointer.is_aligned() {
        return Err(Failure::invalid(format_args!("{name} is misaligned: {pointer:p}")));
    }
    Ok(())
}

/// Whether an array of this length can exist.
fn check_length<T>(count: usize, name: &str) -> Result<(), Failure> {
    let most = isize::MAX as usize / size_of::<T>().max(1);
    if count <= most {
        return Ok(());
    }
    Err(Failure::invalid(format_args!("{name}: {count} elements, and there can be {most}")))
}

/// What a pointer of the caller refers to.
///
/// # Safety
/// The pointer is null, misaligned, or valid for reads during `'a`.
pub(crate) unsafe fn reference<'a, T>(pointer: *const T, name: &str) -> Result<&'a T, Failure> {
    check(pointer, name)?;
    // SAFETY: it is neither null nor misaligned, so the caller promises that it is valid.
    Ok(unsafe { &*pointer })
}

/// An array of the caller, which may be null if it is empty.
///
/// # Safety
/// `count` is 0, or the pointer is null, misaligned, or valid for reads of `count` values, which
/// nothing writes during `'a`.
pub(crate) unsafe fn array<'a, T>(
    from: *const T,
    count: usize,
    name: &str,
) -> Result<&'a [T], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    check(from, name)?;
    check_length::<T>(count, name)?;
    // SAFETY: it is neither null nor misaligned, so the caller promises the values, and so many can
    // be in memory.
    Ok(unsafe { std::slice::from_raw_parts(from, count) })
}

/// Bytes of the caller, which may be null if there are none.
///
/// # Safety
/// As [`array`].
pub(crate) unsafe fn bytes<'a>(
    from: *const c_void,
    len: usize,
    name: &str,
) -> Result<&'a [u8], Failure> {
    // SAFETY: the caller promises the same.
    unsafe { array(from.cast::<u8>(), len, name) }
}

/// Room for values in an array of the caller.
///
/// # Safety
/// The pointer is null, misaligned, or valid for writes of `count` values, which nothing else
/// reads or writes during `'a`.
pub(crate) unsafe fn room<'a, T>(
    to: *mut T,
    count: usize,
    name: &str,
) -> Result<&'a mut [MaybeUninit<T>], Failure> {
    if count == 0 {
        return Ok(&mut []);
    }
    check(to, name)?;
    check_length::<T>(count, name)?;
    // SAFETY: it is neither null nor misaligned, so the caller promises the room, whose values need
    // not be initialized.
    Ok(unsafe { std::slice::from_raw_parts_mut(to.cast::<MaybeUninit<T>>(), count) })
}

/// A text of the caller.
///
/// # Safety
/// The pointer is null, or a C string that nothing writes during `'a`.
pub(crate) unsafe fn text<'a>(from: *const c_char, name: &str) -> Result<&'a CStr, Failure> {
    check(from, name)?;
    // SAFETY: it is not null, so the caller promises a C string.
    Ok(unsafe { CStr::from_ptr(from) })
}

/// A path of the caller.
///
/// # Safety
/// As [`text`].
pub(crate) unsafe fn path(from: *const c_char, name: &str) -> Result<PathBuf, Failure> {
    // SAFETY: the caller promises the same.
    path_of(unsafe { text(from, name) }?, name)
}

#[cfg(unix)]
fn path_of(text: &CStr, _name: &str) -> Result<PathBuf, Failure> {
    use std::os::unix::ffi::OsStrExt;
    Ok(std::ffi::OsStr::from_bytes(text.to_bytes()).into())
}

#[cfg(not(unix))]
fn path_of(text: &CStr, name: &str) -> Result<PathBuf, Failure> {
    let text = text.to_str();
    text.map(Into::into).map_err(|error| Failure::invalid(format_args!("{name}: {error}")))
}

/// A place of the caller for a result.
pub(crate) struct Out<T>(NonNull<T>);

impl<T> Out<T> {
    /// Checks the place, before any work is done for it.
    ///
    /// # Safety
    /// The pointer is null, misaligned, or valid for writes as long as this value is in use.
    pub(crate) unsafe fn new(to: *mut T, name: &str) -> Result<Self, Failure> {
        check(to, name)?;
        NonNull::new(to).map(Self).ok_or_else(|| Failure::invalid(name))
    }

    /// Writes the result.
    pub(crate) fn set(&self, value: T) {
        // SAFETY: whoever made this promises that the place is valid for writes, and `check` saw
        // that it is aligned.
        unsafe { self.0.write(value) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::FYKE_INVALID;

    #[test]
    fn a_panic_becomes_a_status() {
        assert_eq!(checked(|| panic!("inside")), FYKE_INTERNAL);
        assert_eq!(checked(|| panic!("{}", 1)), FYKE_INTERNAL);
        assert_eq!(checked(|| Err(Failure::invalid("x"))), FYKE_INVALID);
        assert_eq!(checked(|| Ok(())), FYKE_OK);
    }

    #[test]
    fn pointers_are_checked() {
        let words = [1_u64, 2];
        let odd = words.as_ptr().wrapping_byte_add(1);
        // SAFETY: a null pointer is allowed, and is not read.
        let null = unsafe { reference::<u64>(std::ptr::null(), "a") };
        assert_eq!(null.unwrap_err().message, "a is NULL");
        // SAFETY: a misaligned pointer is allowed, and is not read.
        let misaligned = unsafe { reference(odd, "b") };
        assert!(misaligned.unwrap_err().message.starts_with("b is misaligned: 0x"));
        // SAFETY: no array can be as long, so it is not read.
        let long = unsafe { array(words.as_ptr(), usize::MAX / 8, "c") };
        assert!(long.unwrap_err().message.starts_with("c: "));
        // SAFETY: an empty array needs no pointer.
        assert!(unsafe { bytes(std::ptr::null(), 0, "d") }.unwrap().is_empty());
    }
}
