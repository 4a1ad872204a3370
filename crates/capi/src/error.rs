//! [`Failure`]: why a call failed, and the message that each thread keeps of its last one.

use crate::abi::{
    FYKE_BAD_DATABASE, FYKE_BAD_PATTERN, FYKE_BAD_STATE, FYKE_IN_USE, FYKE_INTERNAL, FYKE_INVALID,
    FYKE_IO, FYKE_REFUSED, Status,
};
use fyke::database::DatabaseError;
use fyke::{BuildError, PatternError, StateError};
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::fmt::Display;
use std::io;

thread_local! {
    /// The message of the last failed call of this thread.
    static LAST: RefCell<CString> = RefCell::default();
}

/// Why a call failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: Status,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(status: Status, message: impl Display) -> Self {
        Self { status, message: message.to_string() }
    }

    /// A wrong argument.
    pub(crate) fn invalid(message: impl Display) -> Self {
        Self::new(FYKE_INVALID, message)
    }

    /// A handle that another call uses.
    pub(crate) fn in_use(name: &str) -> Self {
        let why = "is in use by another thread, or by the call that is calling back";
        Self::new(FYKE_IN_USE, format_args!("{name} {why}"))
    }

    /// A handle whose last call panicked.
    pub(crate) fn broken(name: &str) -> Self {
        let why = "an earlier call on it failed inside fyke; free it";
        Self::new(FYKE_INTERNAL, format_args!("{name} cannot be used: {why}"))
    }

    /// Keeps the message for `fyke_last_error`.
    pub(crate) fn keep(self) -> Status {
        let message = CString::new(self.message.replace('\0', " ")).unwrap_or_default();
        // A thread that is ending has no place for it.
        let _ = LAST.try_with(|last| last.replace(message));
        self.status
    }
}

impl From<PatternError> for Failure {
    fn from(error: PatternError) -> Self {
        Self::new(FYKE_BAD_PATTERN, error)
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        let status = if error.refusal().is_some() { FYKE_REFUSED } else { FYKE_BAD_PATTERN };
        Self::new(status, error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::new(FYKE_IO, error)
    }
}

impl From<DatabaseError> for Failure {
    fn from(error: DatabaseError) -> Self {
        let status = match (error.io(), error.build()) {
            (Some(_), _) => FYKE_IO,
            (_, Some(_)) => FYKE_REFUSED,
            _ => FYKE_BAD_DATABASE,
        };
        Self::new(status, error)
    }
}

impl From<StateError> for Failure {
    fn from(error: StateError) -> Self {
        Self::new(FYKE_BAD_STATE, error)
    }
}

/// The reason why the last failed call of this thread failed, as UTF-8; an empty string if none
/// did. Calls that succeed do not change it.
///
/// The string belongs to the library. It is valid until the next call on this thread that fails, or
/// until the thread ends.
#[unsafe(no_mangle)]
pub extern "C" fn fyke_last_error() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    fn last() -> String {
        // SAFETY: the string is valid until the next failure of this thread.
        unsafe { CStr::from_ptr(fyke_last_error()) }.to_str().unwrap().to_owned()
    }

    #[test]
    fn each_thread_has_its_own_message() {
        assert_eq!(last(), "");
        assert_eq!(Failure::invalid("one\0two").keep(), FYKE_INVALID);
        assert_eq!(last(), "one two");
        assert_eq!(std::thread::spawn(last).join().unwrap(), "");
    }
}
