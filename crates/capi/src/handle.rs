//! Handles: what C holds as pointers. [`Exclusive`] ones notice a second call at the same time.

use crate::abi::{FYKE_OK, Status};
use crate::border::{Out, checked};
use crate::error::Failure;
use std::ptr;
use std::sync::{Mutex, MutexGuard, TryLockError};

/// A place for a new handle. It has NULL until the handle is there.
pub(crate) struct NewHandle<T>(Out<*mut T>);

impl<T> NewHandle<T> {
    /// # Safety
    /// As [`Out::new`].
    pub(crate) unsafe fn new(to: *mut *mut T, name: &str) -> Result<Self, Failure> {
        // SAFETY: the caller promises the same.
        let to = unsafe { Out::new(to, name) }?;
        to.set(ptr::null_mut());
        Ok(Self(to))
    }

    /// Gives the handle to the caller.
    pub(crate) fn set(self, value: T) {
        self.0.set(Box::into_raw(Box::new(value)));
    }
}

/// Frees a handle. NULL is none.
///
/// # Safety
/// The pointer is null, or came from [`NewHandle::set`] and is not used again.
pub(crate) unsafe fn free<T>(handle: *mut T) -> Status {
    checked(|| {
        if !handle.is_null() {
            // SAFETY: it is not null, so the caller promises that it was made from a box.
            drop(unsafe { Box::from_raw(handle) });
        }
        Ok(())
    })
}

/// As [`free`], for a handle that calls lock: one that is in use is not freed.
///
/// # Safety
/// As [`free`].
pub(crate) unsafe fn free_exclusive<T, U>(
    handle: *mut T,
    name: &str,
    state: impl FnOnce(&T) -> &Exclusive<U>,
) -> Status {
    let unused = checked(|| {
        // SAFETY: the caller promises that it is null or a live handle.
        let handle = unsafe { handle.as_ref() };
        match handle.map(|handle| state(handle).0.try_lock()) {
            Some(Err(TryLockError::WouldBlock)) => Err(Failure::in_use(name)),
            _ => Ok(()),
        }
    });
    match unused {
        // SAFETY: the caller promises the same, and no call uses it.
        FYKE_OK => unsafe { free(handle) },
        status => status,
    }
}

/// A state that one call at a time may use.
pub(crate) struct Exclusive<T>(Mutex<T>);

impl<T> Exclusive<T> {
    pub(crate) fn new(state: T) -> Self {
        Self(Mutex::new(state))
    }

    /// The state, for this call.
    pub(crate) fn take(&self, name: &str) -> Result<MutexGuard<'_, T>, Failure> {
        self.0.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => Failure::in_use(name),
            TryLockError::Poisoned(_) => Failure::broken(name),
        })
    }
}
