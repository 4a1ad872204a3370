//! The compile calls: from the caller's arrays to a database, or to an error with its reason.

use crate::abi::{COMPILER_ERROR, CompileError, ExprExt, ExprInfo, PlatformInfo, SUCCESS, Status};
use crate::alloc::MISC;
use crate::arguments::{Arguments, Refused, refuse, with_reason};
use crate::border::get;
use crate::database::Database;
use crate::error::Failure;
use crate::next;
use crate::rules::{Expression, Rule};
use std::ffi::{CStr, c_char, c_uint};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// Where the results go.
#[derive(Clone, Copy)]
struct Results {
    database: *mut *mut Database,
    error: *mut *mut CompileError,
}

/// Compiles, and passes the database or the error on.
///
/// # Safety
/// As `hs_compile_ext_multi`.
unsafe fn compile(arguments: Arguments, results: Results, single: bool) -> Status {
    if results.error.is_null() {
        // There is no place for a reason, so no attempt is made.
        return COMPILER_ERROR;
    }
    let compiled = catch_unwind(AssertUnwindSafe(|| {
        if results.database.is_null() {
            return refuse("Invalid parameter: db is NULL");
        }
        // SAFETY: this function has the contract of `Arguments::compile`.
        unsafe { arguments.compile(single) }
    }));
    let compiled = compiled.unwrap_or_else(|_| refuse("Internal error: a panic."));
    let (database, error) = match compiled {
        Ok(database) => (database, ptr::null_mut()),
        Err(refused) => (ptr::null_mut(), refused.into_error()),
    };
    // SAFETY: it is not null, so the caller promises that it is valid.
    unsafe { results.error.write(error) };
    if !results.database.is_null() {
        // SAFETY: it is not null, so the caller promises that it is valid.
        unsafe { results.database.write(database) };
    }
    if error.is_null() { SUCCESS } else { COMPILER_ERROR }
}

/// Compiles one expression.
///
/// # Safety
/// `expression` is null or a C string; `platform` is null or valid; `database` and `error` are null
/// or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_compile(
    expression: *const c_char,
    flags: c_uint,
    mode: c_uint,
    platform: *const PlatformInfo,
    database: *mut *mut Database,
    error: *mut *mut CompileError,
) -> Status {
    let arguments = Arguments {
        expressions: &raw const expression,
        lengths: ptr::null(),
        flags: &raw const flags,
        ids: ptr::null(),
        ext: ptr::null(),
        elements: 1,
        mode,
        platform,
        is_pure: false,
    };
    // SAFETY: the arrays have one element each; the caller promises the rest.
    unsafe { compile(arguments, Results { database, error }, true) }
}

/// Compiles several expressions.
///
/// # Safety
/// As [`hs_compile_ext_multi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_compile_multi(
    expressions: *const *const c_char,
    flags: *const c_uint,
    ids: *const c_uint,
    elements: c_uint,
    mode: c_uint,
    platform: *const PlatformInfo,
    database: *mut *mut Database,
    error: *mut *mut CompileError,
) -> Status {
    let ext = ptr::null();
    // SAFETY: that function has the contract of this one; `ext` may be null.
    unsafe {
        hs_compile_ext_multi(
            expressions,
            flags,
            ids,
            ext,
            elements,
            mode,
            platform,
            database,
            error,
        )
    }
}

/// Compiles several expressions with limits.
///
/// # Safety
/// `expressions` is null or has `elements` pointers that are null or C strings. `flags`, `ids` and
/// `ext` are null or have as many elements; those of `ext` are null or valid. `platform` is null or
/// valid; `database` and `error` are null or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_compile_ext_multi(
    expressions: *const *const c_char,
    flags: *const c_uint,
    ids: *const c_uint,
    ext: *const *const ExprExt,
    elements: c_uint,
    mode: c_uint,
    platform: *const PlatformInfo,
    database: *mut *mut Database,
    error: *mut *mut CompileError,
) -> Status {
    let lengths = ptr::null();
    let arguments = Arguments {
        expressions,
        lengths,
        flags,
        ids,
        ext,
        elements,
        mode,
        platform,
        is_pure: false,
    };
    // SAFETY: the arguments are those of this function, which has the contract of `compile`.
    unsafe { compile(arguments, Results { database, error }, false) }
}

/// Compiles one text that stands for itself.
///
/// # Safety
/// `expression` is null or has `length` bytes; the rest is as in [`hs_compile`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_compile_lit(
    expression: *const c_char,
    flags: c_uint,
    length: usize,
    mode: c_uint,
    platform: *const PlatformInfo,
    database: *mut *mut Database,
    error: *mut *mut CompileError,
) -> Status {
    let arguments = Arguments {
        expressions: &raw const expression,
        lengths: &raw const length,
        flags: &raw const flags,
        ids: ptr::null(),
        ext: ptr::null(),
        elements: 1,
        mode,
        platform,
        is_pure: true,
    };
    // SAFETY: the arrays have one element each; the caller promises the rest.
    unsafe { compile(arguments, Results { database, error }, true) }
}

/// Compiles several texts that stand for themselves.
///
/// # Safety
/// `lengths` is null or has `elements` elements, and each text has as many bytes; the rest is as in
/// [`hs_compile_ext_multi`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_compile_lit_multi(
    expressions: *const *const c_char,
    flags: *const c_uint,
    ids: *const c_uint,
    lengths: *const usize,
    elements: c_uint,
    mode: c_uint,
    platform: *const PlatformInfo,
    database: *mut *mut Database,
    error: *mut *mut CompileError,
) -> Status {
    let ext = ptr::null();
    let arguments = Arguments {
        expressions,
        lengths,
        flags,
        ids,
        ext,
        elements,
        mode,
        platform,
        is_pure: true,
    };
    // SAFETY: the arguments are those of this function, which has the contract of `compile`.
    unsafe { compile(arguments, Results { database, error }, false) }
}

/// Describes the matches of an expression.
///
/// # Safety
/// As [`hs_expression_ext_info`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_expression_info(
    expression: *const c_char,
    flags: c_uint,
    info: *mut *mut ExprInfo,
    error: *mut *mut CompileError,
) -> Status {
    // SAFETY: this function has the same contract; `ext` may be null.
    unsafe { hs_expression_ext_info(expression, flags, ptr::null(), info, error) }
}

/// Describes the matches of an expression with limits. The caller frees the result.
///
/// # Safety
/// `expression` is null or a C string; `ext` is null or valid; `info` and `error` are null or valid
/// for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_expression_ext_info(
    expression: *const c_char,
    flags: c_uint,
    ext: *const ExprExt,
    info: *mut *mut ExprInfo,
    error: *mut *mut CompileError,
) -> Status {
    if error.is_null() {
        return COMPILER_ERROR;
    }
    let described = catch_unwind(AssertUnwindSafe(|| {
        if expression.is_null() {
            return refuse("Invalid parameter: expression is NULL");
        }
        if info.is_null() {
            return refuse("Invalid parameter: info is NULL");
        }
        // SAFETY: the caller promises the arguments, and the expression is not null.
        unsafe { describe(expression, flags, ext) }
    }));
    let described = described.unwrap_or_else(|_| refuse("Internal error: a panic."));
    let (description, reason) = match described {
        Ok(description) => (description, ptr::null_mut()),
        Err(refused) => (ptr::null_mut(), refused.into_error()),
    };
    // SAFETY: it is not null, so the caller promises that it is valid.
    unsafe { error.write(reason) };
    if !info.is_null() {
        // SAFETY: it is not null, so the caller promises that it is valid.
        unsafe { info.write(description) };
    }
    if reason.is_null() { SUCCESS } else { COMPILER_ERROR }
}

/// The description of an expression, by this library or the next one.
///
/// # Safety
/// As `hs_expression_ext_info`; `expression` is not null.
unsafe fn describe(
    expression: *const c_char,
    flags: c_uint,
    ext: *const ExprExt,
) -> Result<*mut ExprInfo, Refused> {
    // SAFETY: the caller promises a C string.
    let text = unsafe { CStr::from_ptr(expression) }.to_bytes();
    // SAFETY: the caller promises that it is null or valid.
    let limits = unsafe { get(ext) }.ok();
    let rule = Rule::new(&Expression { text, is_pure: false, flags, id: 0, ext: limits }, true);
    let rejection = match rule {
        Ok(rule) => {
            let len = rule.literal.bytes.len() as c_uint;
            let info = ExprInfo { min_width: len, max_width: len, ..ExprInfo::default() };
            return Ok(MISC.place(info)?);
        }
        Err(rejection) => rejection,
    };
    let failure = Failure::of_expression(0, rejection);
    if !failure.is_unsupported {
        return Err(failure.into());
    }
    let library = next::library().map_err(|reason| with_reason(failure, reason))?;
    let (mut info, mut error) = (ptr::null_mut(), ptr::null_mut());
    let (to, errors) = (&raw mut info, &raw mut error);
    // SAFETY: the caller promises the arguments, and the places of the results are valid.
    let status = unsafe { (library.expression_ext_info)(expression, flags, ext, to, errors) };
    if status == SUCCESS && !info.is_null() {
        // SAFETY: the library returned it, and it is not used again.
        return Ok(unsafe { next::adopt_info(info) }?);
    }
    // SAFETY: the library set it to null or to an error.
    let (message, expression) = unsafe { next::take_error(library, error) };
    let expression = u32::try_from(expression).ok();
    Err(Failure { message, expression, is_unsupported: false }.into())
}
