//! Compile errors: what was refused, as a value and as C sees it.

use crate::abi::{CompileError, Status};
use crate::alloc::MISC;
use crate::border::guarded;
use std::ffi::c_char;
use std::ptr;

/// Why one expression is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rejection {
    /// Hyperscan takes it and this library does not.
    Unsupported(String),
    /// Hyperscan refuses it too.
    Wrong(String),
}

/// Why a set is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) message: String,
    /// The index of the expression; none if it concerns all.
    pub(crate) expression: Option<u32>,
    /// Whether a real Hyperscan would take the set, as far as this library can tell.
    pub(crate) is_unsupported: bool,
}

impl Failure {
    /// A failure of the whole call.
    pub(crate) fn of_call(message: impl Into<String>) -> Self {
        Self { message: message.into(), expression: None, is_unsupported: false }
    }

    /// The failure of one expression.
    pub(crate) fn of_expression(index: usize, rejection: Rejection) -> Self {
        let expression = u32::try_from(index).ok();
        match rejection {
            Rejection::Unsupported(message) => Self { message, expression, is_unsupported: true },
            Rejection::Wrong(message) => Self { message, expression, is_unsupported: false },
        }
    }

    /// A new error for C. Its message is allocated from the same allocator.
    pub(crate) fn to_c(&self) -> Result<*mut CompileError, Status> {
        let message = MISC.copy_text(&self.message)?;
        let expression = self.expression.map_or(-1, |index| index as i32);
        let error = CompileError { message: message.as_ptr().cast(), expression };
        MISC.place(error).inspect_err(|_| {
            // SAFETY: the message came from this allocator, and no error refers to it.
            unsafe { MISC.release(message.as_ptr()) };
        })
    }
}

struct Shared(CompileError);

// SAFETY: the error is never written to, and its message is a constant.
unsafe impl Sync for Shared {}

/// The error when there is no memory for an error.
static NO_MEMORY: Shared = Shared(CompileError {
    message: c"Unable to allocate memory.".as_ptr() as *mut c_char,
    expression: 0,
});

/// [`Failure::to_c`], or the constant error if there is no memory for it.
pub(crate) fn error_for_c(failure: &Failure) -> *mut CompileError {
    failure.to_c().unwrap_or_else(|_| (&raw const NO_MEMORY.0).cast_mut())
}

/// Frees a compile error.
///
/// # Safety
/// It is null, or came from a compile call of this library and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_free_compile_error(error: *mut CompileError) -> Status {
    guarded(|| {
        if error.is_null() || ptr::eq(error, &raw const NO_MEMORY.0) {
            return Ok(());
        }
        // SAFETY: the caller promises that it is an error of `Failure::to_c`.
        let message = unsafe { (*error).message };
        // SAFETY: the message came from this allocator, and only this error refers to it.
        unsafe { MISC.release(message.cast()) };
        // SAFETY: so did the error, which the caller does not use again.
        unsafe { MISC.release(error.cast()) };
        Ok(())
    })
}
