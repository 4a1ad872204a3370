//! [`Arguments`]: what the compile calls get, from the caller's arrays to checked rules.

use crate::abi::{CompileError, ExprExt, PlatformInfo, SUCCESS, Status};
use crate::border::get;
use crate::database::{Database, Kind};
use crate::engine::Engine;
use crate::error::{Failure, Rejection, error_for_c};
use crate::info::refuse_platform;
use crate::next::{self, Library, NextDatabase};
use crate::rules::{Expression, Mode, Rule, check_ids};
use std::ffi::{CStr, c_char, c_uint};
use std::ptr::{self, NonNull};

/// The arguments of the compile calls.
#[derive(Clone, Copy)]
pub(crate) struct Arguments {
    pub(crate) expressions: *const *const c_char,
    /// The lengths of pure literals; null for expressions.
    pub(crate) lengths: *const usize,
    pub(crate) flags: *const c_uint,
    pub(crate) ids: *const c_uint,
    pub(crate) ext: *const *const ExprExt,
    pub(crate) elements: c_uint,
    pub(crate) mode: c_uint,
    pub(crate) platform: *const PlatformInfo,
    pub(crate) is_pure: bool,
}

/// Why no database was made.
pub(crate) enum Refused {
    Because(Failure),
    Status(Status),
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Refused::Because(failure)
    }
}

impl From<Status> for Refused {
    fn from(status: Status) -> Self {
        Refused::Status(status)
    }
}

/// A refusal of the whole call.
pub(crate) fn refuse<T>(message: &str) -> Result<T, Refused> {
    Err(Failure::of_call(message).into())
}

impl Arguments {
    /// Checks everything but the expressions. Returns the mode, and whether starts may be asked
    /// for.
    ///
    /// # Safety
    /// As `hs_compile_ext_multi`.
    unsafe fn check(&self, single: bool) -> Result<(Mode, bool), Refused> {
        if self.expressions.is_null() {
            return refuse("Invalid parameter: expressions is NULL");
        }
        if self.is_pure && self.lengths.is_null() {
            return refuse("Invalid parameter: len is NULL");
        }
        if self.elements == 0 {
            return refuse("Invalid parameter: elements is zero");
        }
        // SAFETY: the caller promises the array, which has an element.
        if single && unsafe { self.expressions.read() }.is_null() {
            return refuse("Invalid parameter: expression is NULL");
        }
        let mode = Mode::parse(self.mode)?;
        if !self.platform.is_null() {
            // SAFETY: the caller promises that it is valid.
            let platform = unsafe { get(self.platform) }?;
            if let Some(reason) = refuse_platform(&platform) {
                return refuse(reason);
            }
        }
        Ok(mode)
    }

    /// The expression at an index below the number of elements.
    ///
    /// # Safety
    /// As `hs_compile_ext_multi`.
    unsafe fn expression<'a>(&self, index: usize) -> Result<Expression<'a>, Failure> {
        let null = || Rejection::Wrong("Invalid parameter: expression is NULL".into());
        // SAFETY: the caller promises as many pointers as elements.
        let text = unsafe { element(self.expressions, index) }.filter(|text| !text.is_null());
        let text = text.ok_or_else(|| Failure::of_expression(index, null()))?;
        // SAFETY: the caller promises as many flags as elements, if any.
        let flags = unsafe { element(self.flags, index) }.unwrap_or(0);
        // SAFETY: the caller promises as many ids as elements, if any.
        let id = unsafe { element(self.ids, index) }.unwrap_or(0);
        // SAFETY: the caller promises as many pointers as elements, if any.
        let ext = unsafe { element(self.ext, index) }.unwrap_or(ptr::null());
        // SAFETY: the caller promises that it is null or valid.
        let ext = unsafe { get(ext) }.ok();
        // SAFETY: the caller promises as many lengths as elements, if any.
        let text = match unsafe { element(self.lengths, index) } {
            // SAFETY: the caller promises as many bytes, and the pointer is not null.
            Some(length) => unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) },
            // SAFETY: without lengths, expressions are C strings.
            None => unsafe { CStr::from_ptr(text) }.to_bytes(),
        };
        Ok(Expression { text, is_pure: self.is_pure, flags, id, ext })
    }

    /// Checks all expressions.
    ///
    /// # Safety
    /// As `hs_compile_ext_multi`.
    unsafe fn rules(&self, takes_starts: bool) -> Result<Vec<Rule>, Failure> {
        let mut rules = Vec::with_capacity(self.elements as usize);
        for index in 0..self.elements as usize {
            // SAFETY: the caller promises the arrays, and the index is below their length.
            let expression = unsafe { self.expression(index) }?;
            match Rule::new(&expression, takes_starts) {
                Ok(rule) => rules.push(rule),
                Err(rejection) => {
                    // An earlier rule may conflict with another by its id; that failure comes
                    // first.
                    check_ids(&rules)?;
                    return Err(Failure::of_expression(index, rejection));
                }
            }
        }
        Ok(rules)
    }

    /// Compiles with the next library.
    ///
    /// # Safety
    /// As `hs_compile_ext_multi`.
    unsafe fn compile_next(&self, library: &'static Library) -> Result<NextDatabase, Failure> {
        let (mut database, mut error) = (ptr::null_mut(), ptr::null_mut());
        let (texts, flags, ids) = (self.expressions, self.flags, self.ids);
        let (elements, mode, platform) = (self.elements, self.mode, self.platform.cast());
        let (to, errors) = (&raw mut database, &raw mut error);
        let status = if self.is_pure {
            let (compile, lengths) = (library.compile_lit_multi, self.lengths);
            // SAFETY: the arrays are the caller's, who promises them for this very call.
            unsafe { compile(texts, flags, ids, lengths, elements, mode, platform, to, errors) }
        } else {
            let (compile, ext) = (library.compile_ext_multi, self.ext);
            // SAFETY: the arrays are the caller's, who promises them for this very call.
            unsafe { compile(texts, flags, ids, ext, elements, mode, platform, to, errors) }
        };
        if let (SUCCESS, Some(raw)) = (status, NonNull::new(database)) {
            // SAFETY: the library made it just now, for this caller.
            return Ok(unsafe { NextDatabase::new(raw, library) });
        }
        // SAFETY: the library set it to null or to an error.
        let (message, index) = unsafe { next::take_error(library, error) };
        Err(Failure { message, expression: u32::try_from(index).ok(), is_unsupported: false })
    }

    /// Compiles the set.
    ///
    /// # Safety
    /// As `hs_compile_ext_multi`.
    pub(crate) unsafe fn compile(&self, single: bool) -> Result<*mut Database, Refused> {
        // SAFETY: this function has the contract of `check`.
        let (mode, takes_starts) = unsafe { self.check(single) }?;
        // SAFETY: this function has the contract of `rules`, and `check` refused null arrays.
        let rules = unsafe { self.rules(takes_starts) };
        let failure = match rules.and_then(Engine::new) {
            Ok(engine) => return Ok(Database::allocate(mode, Kind::Own(engine))?),
            Err(failure) => failure,
        };
        if !failure.is_unsupported {
            return Err(failure.into());
        }
        let library = next::library().map_err(|reason| with_reason(failure, reason))?;
        // SAFETY: this function has the contract of `compile_next`.
        let next = unsafe { self.compile_next(library) }?;
        Ok(Database::allocate(mode, Kind::Next(next))?)
    }
}

/// The failure, with the reason why there is no next library, if one was wanted.
pub(crate) fn with_reason(failure: Failure, reason: &str) -> Failure {
    if reason.is_empty() {
        return failure;
    }
    Failure { message: format!("{} {reason}", failure.message), ..failure }
}

/// The element at an index; nothing if there is no array.
///
/// # Safety
/// The array is null or has that element.
unsafe fn element<T: Copy>(array: *const T, index: usize) -> Option<T> {
    if array.is_null() {
        return None;
    }
    // SAFETY: the array is not null, so the caller promises the element.
    let element = unsafe { array.add(index) };
    // SAFETY: the pointer leads to that element, which the caller promises.
    Some(unsafe { element.read() })
}

impl Refused {
    /// The error as C gets it.
    pub(crate) fn into_error(self) -> *mut CompileError {
        match self {
            Refused::Because(failure) => error_for_c(&failure),
            Refused::Status(status) => {
                let message = format!("The allocator failed with status {status}.");
                error_for_c(&Failure::of_call(message))
            }
        }
    }
}
