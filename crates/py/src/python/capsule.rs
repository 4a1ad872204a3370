//! The Arrow C data interface: columns in and out as capsules, without a copy and without pyarrow.
#![allow(unsafe_code, reason = "the interface consists of structs behind pointers")]

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchIterator, StructArray, make_array};
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

const SCHEMA: &std::ffi::CStr = c"arrow_schema";
const ARRAY: &std::ffi::CStr = c"arrow_array";
const STREAM: &std::ffi::CStr = c"arrow_array_stream";

fn bad(error: &ArrowError) -> PyErr {
    PyValueError::new_err(format!("the column cannot be read: {error}"))
}

/// The type and the chunks of an object with the Arrow C interface. `None` if it has none.
pub(super) fn import(object: &Bound<'_, PyAny>) -> PyResult<Option<(DataType, Vec<ArrayRef>)>> {
    if object.hasattr("__arrow_c_stream__")? {
        let stream = object.call_method0("__arrow_c_stream__")?;
        return import_stream(stream.cast::<PyCapsule>()?).map(Some);
    }
    if object.hasattr("__arrow_c_array__")? {
        let pair = object.call_method0("__arrow_c_array__")?;
        return import_array(pair.cast::<PyTuple>()?).map(Some);
    }
    Ok(None)
}

fn import_array(pair: &Bound<'_, PyTuple>) -> PyResult<(DataType, Vec<ArrayRef>)> {
    let (schema, array) = (pair.get_item(0)?, pair.get_item(1)?);
    let schema = schema.cast::<PyCapsule>()?.pointer_checked(Some(SCHEMA))?;
    let array = array.cast::<PyCapsule>()?.pointer_checked(Some(ARRAY))?;
    // SAFETY: a capsule of this name holds an initialized struct, by the PyCapsule interface of
    // Arrow. It is moved out: what stays is marked as released, so the capsule does not free it.
    let schema = unsafe { FFI_ArrowSchema::from_raw(schema.as_ptr().cast()) };
    // SAFETY: as for the schema: the capsule's name says what it holds, and it is moved out.
    let array = unsafe { FFI_ArrowArray::from_raw(array.as_ptr().cast()) };
    if array.is_released() {
        return Err(PyTypeError::new_err("the capsule of the column was used before"));
    }
    // SAFETY: both come from one call of `__arrow_c_array__`, whose producer promises a sound array
    // of this schema. The array was not released, as checked above.
    let data = unsafe { from_ffi(array, &schema) }.map_err(|error| bad(&error))?;
    Ok((data.data_type().clone(), vec![make_array(data)]))
}

fn import_stream(capsule: &Bound<'_, PyCapsule>) -> PyResult<(DataType, Vec<ArrayRef>)> {
    let stream = capsule.pointer_checked(Some(STREAM))?;
    // SAFETY: a capsule of this name holds an initialized stream, by the PyCapsule interface of
    // Arrow. It is moved out: what stays is marked as released.
    let reader = unsafe { ArrayStreamReader::from_raw(stream.as_ptr().cast()) };
    let reader = reader.map_err(|error| bad(&error))?;
    let kind = arrow_array::ArrayReader::field(&reader).data_type().clone();
    let chunks: Result<Vec<_>, _> = reader.collect();
    Ok((kind, chunks.map_err(|error| bad(&error))?))
}

/// The two capsules of an array.
pub(super) fn export_array<'py>(
    py: Python<'py>,
    array: &dyn Array,
) -> PyResult<Bound<'py, PyTuple>> {
    let (array, schema) = to_ffi(&array.to_data()).map_err(|error| bad(&error))?;
    let schema = PyCapsule::new_with_value(py, schema, SCHEMA)?;
    let array = PyCapsule::new_with_value(py, array, ARRAY)?;
    PyTuple::new(py, [schema, array])
}

/// The capsule of a stream of one batch, with the fields of a struct as its columns.
pub(super) fn export_table(py: Python<'_>, rows: StructArray) -> PyResult<Bound<'_, PyAny>> {
    let batch = RecordBatch::from(rows);
    let schema = batch.schema();
    let reader = RecordBatchIterator::new([Ok(batch)], schema);
    let stream = FFI_ArrowArrayStream::new(Box::new(reader));
    Ok(PyCapsule::new_with_value(py, stream, STREAM)?.into_any())
}
