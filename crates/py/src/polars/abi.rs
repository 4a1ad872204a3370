//! What Polars calls: functions with fixed names, and structs behind pointers.
#![allow(unsafe_code, reason = "the interface consists of structs behind pointers")]

use super::Expression;
use super::call::Call;
use crate::columns::Input;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::{Array, ArrayRef, make_array};
use arrow_schema::{ArrowError, Field};
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_void};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{ptr, slice};

/// A column that one side hands to the other. Its arrays are the chunks.
///
/// The receiver moves the arrays out and calls `release`, which frees everything else.
#[repr(C)]
pub(super) struct SeriesExport {
    field: *mut FFI_ArrowSchema,
    arrays: *mut *mut FFI_ArrowArray,
    len: usize,
    release: Option<unsafe extern "C" fn(*mut SeriesExport)>,
    private_data: *mut c_void,
}

impl Drop for SeriesExport {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: the producer set `release` for this struct. It runs once, because it clears
            // itself.
            unsafe { release(self) }
        }
    }
}

impl SeriesExport {
    /// A column of one chunk.
    fn new(name: &str, array: &ArrayRef) -> Result<Self, ArrowError> {
        let (chunk, _) = to_ffi(&array.to_data())?;
        let field = Field::new(name, array.data_type().clone(), true);
        let field = FFI_ArrowSchema::try_from(&field)?;
        let arrays = Box::into_raw(Box::new(Box::into_raw(Box::new(chunk))));
        Ok(Self {
            field: Box::into_raw(Box::new(field)),
            arrays,
            len: 1,
            release: Some(release),
            // Null would be a failed call.
            private_data: arrays.cast(),
        })
    }

    /// The name and the column. The arrays are moved out.
    ///
    /// # Safety
    /// Another side made the struct, and its arrays were not moved out.
    unsafe fn take(self) -> Result<(String, Input), String> {
        // SAFETY: by the contract `field` points to a schema, which `self` keeps until the end.
        let field = unsafe { &*self.field };
        // SAFETY: by the contract `arrays` points to `len` pointers.
        let arrays = unsafe { slice::from_raw_parts(self.arrays, self.len) };
        // SAFETY: each points to an array, which is moved out once: dropping `self` frees its
        // memory but not the array.
        let arrays: Vec<_> = arrays.iter().map(|&array| unsafe { ptr::read(array) }).collect();
        let unreadable = |error: ArrowError| format!("the column cannot be read: {error}");
        let mut chunks = Vec::with_capacity(arrays.len());
        for array in arrays {
            // SAFETY: the array has the type of the schema, since both are those of one column.
            let data = unsafe { from_ffi(array, field) }.map_err(unreadable)?;
            chunks.push(make_array(data));
        }
        let field = Field::try_from(field).map_err(unreadable)?;
        let input = Input::new(field.data_type(), chunks).map_err(|error| error.to_string())?;
        Ok((field.name().clone(), input))
    }
}

/// Frees what [`SeriesExport::new`] made, but for the array, which the other side moved out.
///
/// # Safety
/// The pointer is that of a struct which `new` made and which was not released.
unsafe extern "C" fn release(column: *mut SeriesExport) {
    // SAFETY: by the contract.
    let column = unsafe { &mut *column };
    // SAFETY: `new` made the box.
    drop(unsafe { Box::from_raw(column.field) });
    // SAFETY: as above.
    let array = *unsafe { Box::from_raw(column.arrays) };
    // SAFETY: as above. The box is freed without a drop of the array.
    drop(unsafe { Box::from_raw(array.cast::<ManuallyDrop<FFI_ArrowArray>>()) });
    column.release = None;
    column.private_data = ptr::null_mut();
}

thread_local! {
    /// What the last failed call of this thread says.
    static ERROR: RefCell<CString> = RefCell::default();
}

/// Keeps the message of a failed call for [`last_error`]. A panic is one, too.
fn guard<T>(work: impl FnOnce() -> Result<T, String>) -> Option<T> {
    let done = catch_unwind(AssertUnwindSafe(work));
    let failed = match done {
        Ok(Ok(value)) => return Some(value),
        Ok(Err(message)) => message,
        Err(_) => "internal error of fyke, please report it".to_owned(),
    };
    let text = CString::new(failed.replace('\0', "\\0")).unwrap_or_default();
    ERROR.with_borrow_mut(|error| *error = text);
    None
}

/// The version of the interface: major and minor number in 16 bits each.
#[unsafe(export_name = "_polars_plugin_get_version")]
extern "C" fn version() -> u32 {
    1
}

/// The message of the last failed call. It is valid until the next call of this thread.
#[unsafe(export_name = "_polars_plugin_get_last_error_message")]
extern "C" fn last_error() -> *const c_char {
    ERROR.with_borrow(|error| error.as_c_str().as_ptr())
}

/// Runs an expression on a column.
///
/// # Safety
/// `inputs` points to `count` columns, which are moved out, `arguments` to `len` bytes, and `to` to
/// an empty column.
unsafe fn run(
    expression: Expression,
    inputs: *const SeriesExport,
    count: usize,
    arguments: *const u8,
    len: usize,
    to: *mut SeriesExport,
) {
    // SAFETY: by the contract. The caller does not drop the columns.
    let inputs = unsafe { slice::from_raw_parts(inputs, count) };
    // SAFETY: each column is moved out once.
    let inputs: Vec<_> = inputs.iter().map(|input| unsafe { ptr::read(input) }).collect();
    // SAFETY: by the contract.
    let arguments = unsafe { slice::from_raw_parts(arguments, len) };
    let result = guard(move || {
        let [column] = <[_; 1]>::try_from(inputs)
            .map_err(|inputs| format!("an expression has one column, not {}", inputs.len()))?;
        // SAFETY: Polars made the column, and it is taken once.
        let (name, input) = unsafe { column.take() }?;
        let call = Call::of(arguments)?;
        let array = expression.run(&call, &input).map_err(|error| error.to_string())?;
        SeriesExport::new(&name, &array).map_err(|error| error.to_string())
    });
    if let Some(column) = result {
        // SAFETY: `to` is valid for writes by the contract. What it had is empty, so it need not be
        // dropped.
        unsafe { to.write(column) };
    }
}

/// Gives the name and the type of an expression's result.
///
/// # Safety
/// `inputs` points to `count` schemas, and `to` to an empty schema.
unsafe fn tell_type(
    expression: Expression,
    inputs: *const FFI_ArrowSchema,
    count: usize,
    to: *mut FFI_ArrowSchema,
) {
    // SAFETY: by the contract. The schemas stay the caller's.
    let inputs = unsafe { slice::from_raw_parts(inputs, count) };
    let result = guard(|| {
        let [column] = inputs else {
            return Err(format!("an expression has one column, not {count}"));
        };
        let column = Field::try_from(column).map_err(|error| error.to_string())?;
        let kind = expression.result_type(column.data_type()).map_err(|error| error.to_string())?;
        let field = Field::new(column.name(), kind, true);
        FFI_ArrowSchema::try_from(&field).map_err(|error| error.to_string())
    });
    if let Some(field) = result {
        // SAFETY: `to` is valid for writes by the contract, and what it had is empty.
        unsafe { to.write(field) };
    }
}

/// The two functions of an expression, by their names.
macro_rules! export {
    ($expression:ident, $run:ident, $run_name:literal, $tell:ident, $tell_name:literal) => {
        /// # Safety
        /// As for [`run`].
        #[unsafe(export_name = $run_name)]
        unsafe extern "C" fn $run(
            inputs: *const SeriesExport,
            count: usize,
            arguments: *const u8,
            len: usize,
            to: *mut SeriesExport,
            _context: *const c_void,
        ) {
            // SAFETY: Polars keeps the contract, which is the interface of plugins.
            unsafe { run(Expression::$expression, inputs, count, arguments, len, to) }
        }

        /// # Safety
        /// As for [`tell_type`].
        #[unsafe(export_name = $tell_name)]
        unsafe extern "C" fn $tell(
            inputs: *const FFI_ArrowSchema,
            count: usize,
            to: *mut FFI_ArrowSchema,
            _arguments: *const u8,
            _len: usize,
        ) {
            // SAFETY: Polars keeps the contract, which is the interface of plugins.
            unsafe { tell_type(Expression::$expression, inputs, count, to) }
        }
    };
}

export!(
    ContainsAny,
    contains_any,
    "_polars_plugin_contains_any",
    contains_any_type,
    "_polars_plugin_field_contains_any"
);
export!(
    CountMatches,
    count_matches,
    "_polars_plugin_count_matches",
    count_matches_type,
    "_polars_plugin_field_count_matches"
);
export!(
    FindMany,
    find_many,
    "_polars_plugin_find_many",
    find_many_type,
    "_polars_plugin_field_find_many"
);
export!(
    ExtractFirst,
    extract_first,
    "_polars_plugin_extract_first",
    extract_first_type,
    "_polars_plugin_field_extract_first"
);
export!(
    ExtractMany,
    extract_many,
    "_polars_plugin_extract_many",
    extract_many_type,
    "_polars_plugin_field_extract_many"
);
export!(
    ReplaceMany,
    replace_many,
    "_polars_plugin_replace_many",
    replace_many_type,
    "_polars_plugin_field_replace_many"
);
