//! The column functions for Python: see [`columns`](crate::columns).

use super::call::{Interrupt, run};
use super::capsule;
use super::haystack::{Haystack, Positions, type_name};
use super::replace::Replacements;
use super::searcher::PySearcher;
use crate::columns::{self, ColumnError, Input, Layout, Pause};
use arrow_array::builder::LargeBinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, LargeListArray};
use arrow_buffer::ScalarBuffer;
use arrow_schema::DataType;
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyList, PyString, PyTuple};
use std::sync::Arc;

/// A result column. `pyarrow.array`, `polars.Series` and others take it without a copy.
#[pyclass(module = "fyke", frozen, sequence)]
pub(super) struct Column {
    array: ArrayRef,
}

/// The column that an object holds: one with the Arrow C interface, or rows of str or bytes.
fn input(column: &Bound<'_, PyAny>) -> PyResult<Input> {
    match capsule::import(column)? {
        Some((kind, chunks)) => Ok(Input::new(&kind, chunks)?),
        None => input_of_rows(column),
    }
}

/// From an iterable of str, or of bytes; None and NaN are null.
fn input_of_rows(column: &Bound<'_, PyAny>) -> PyResult<Input> {
    if column.is_instance_of::<PyString>() || column.is_instance_of::<PyBytes>() {
        return Err(PyTypeError::new_err(format!(
            "the column is {}: give a column or a list of strings, or call Searcher",
            type_name(column)
        )));
    }
    let rows = column.try_iter().map_err(|_| {
        PyTypeError::new_err(format!(
            "the column is {}: give an object with the Arrow C interface, or a list of strings",
            type_name(column)
        ))
    })?;
    let mut bytes = LargeBinaryBuilder::new();
    let mut text = None;
    for (number, row) in rows.enumerate() {
        let row = row?;
        if is_missing(&row)? {
            bytes.append_null();
            continue;
        }
        let row = Haystack::new(&row, &format!("row {number} of the column"))?;
        if *text.get_or_insert(row.is_str()) != row.is_str() {
            return Err(PyTypeError::new_err(format!(
                "row {number} of the column is not of the type of the rows before: give only str \
                 or only bytes"
            )));
        }
        bytes.append_value(row.bytes(column.py())?);
    }
    Ok(Input::of_values(Arc::new(bytes.finish()), text.unwrap_or(true)))
}

/// Runs a column function without the GIL.
fn run_on<T: Send>(
    py: Python<'_>,
    input: &Input,
    work: impl FnOnce(&Input, &mut Pause<'_>) -> Result<T, ColumnError> + Send,
) -> PyResult<T> {
    let (result, interrupt) = run(py, usize::MAX, || {
        let mut interrupt = Interrupt::new();
        let result = work(input, &mut || interrupt.check());
        (result, interrupt)
    })?;
    interrupt.result()?;
    Ok(result?)
}

/// The result of a column function.
fn result_of(
    py: Python<'_>,
    column: &Bound<'_, PyAny>,
    work: impl FnOnce(&Input, &mut Pause<'_>) -> Result<ArrayRef, ColumnError> + Send,
) -> PyResult<Column> {
    let array = run_on(py, &input(column)?, work)?;
    Ok(Column { array })
}

/// Whether a value of a list stands for a missing one: None, NaN, or NA of pandas.
fn is_missing(row: &Bound<'_, PyAny>) -> PyResult<bool> {
    if row.is_none() {
        return Ok(true);
    }
    if let Ok(number) = row.cast::<PyFloat>() {
        return Ok(number.extract::<f64>()?.is_nan());
    }
    Ok(!row.is_instance_of::<PyString>() && row.get_type().name()? == "NAType")
}

/// Whether each row has a match. Null stays null.
#[pyfunction]
pub(super) fn contains_any(
    py: Python<'_>,
    column: &Bound<'_, PyAny>,
    searcher: &Bound<'_, PySearcher>,
    whole_words: bool,
) -> PyResult<Column> {
    let query = searcher.get().query(true, whole_words);
    result_of(py, column, |input, pause| columns::contains_any(input, &query, pause))
}

/// The number of matches of each row. Null stays null.
#[pyfunction]
pub(super) fn count_matches(
    py: Python<'_>,
    column: &Bound<'_, PyAny>,
    searcher: &Bound<'_, PySearcher>,
    overlapping: bool,
    whole_words: bool,
) -> PyResult<Column> {
    let query = searcher.get().query(overlapping, whole_words);
    result_of(py, column, |input, pause| columns::count_matches(input, &query, pause))
}

/// The matches of each row, as a list of (pattern, start, end). Null stays null.
#[pyfunction]
pub(super) fn find_many(
    py: Python<'_>,
    column: &Bound<'_, PyAny>,
    searcher: &Bound<'_, PySearcher>,
    overlapping: bool,
    whole_words: bool,
    positions: &str,
) -> PyResult<Column> {
    let chars = Positions::parse(positions)? == Positions::Chars;
    let query = searcher.get().query(overlapping, whole_words);
    result_of(py, column, |input, pause| columns::find_many(input, &query, chars, pause))
}

/// What the first match of each row matched. Null without one.
#[pyfunction]
pub(super) fn extract_first(
    py: Python<'_>,
    column: &Bound<'_, PyAny>,
    searcher: &Bound<'_, PySearcher>,
    whole_words: bool,
) -> PyResult<Column> {
    let query = searcher.get().query(false, whole_words);
    result_of(py, column, |input, pause| {
        columns::extract_first(input, &query, Layout::Large, pause)
    })
}

/// What the matches of each row matched, as a list. Null stays null.
#[pyfunction]
pub(super) fn extract_many(
    py: Python<'_>,
    column: &Bound<'_, PyAny>,
    searcher: &Bound<'_, PySearcher>,
    overlapping: bool,
    whole_words: bool,
) -> PyResult<Column> {
    let query = searcher.get().query(overlapping, whole_words);
    result_of(py, column, |input, pause| columns::extract_many(input, &query, Layout::Large, pause))
}

/// Each row with its matches replaced. Null stays null.
#[pyfunction]
pub(super) fn replace_many(
    py: Python<'_>,
    column: &Bound<'_, PyAny>,
    searcher: &Bound<'_, PySearcher>,
    replacements: &Bound<'_, PyAny>,
    whole_words: bool,
) -> PyResult<Column> {
    let input = input(column)?;
    let mut replacements = Replacements::new(&searcher.get().searcher, replacements)?;
    let query = searcher.get().query(false, whole_words);
    let found = run_on(py, &input, |input, pause| query.find(input, false, pause))?;
    let array = columns::replace_many(&input, &found, |id, matched, to| {
        replacements.write(py, id, matched, input.text(), to)
    })?;
    Ok(Column { array })
}

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.array.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, row: isize) -> PyResult<Bound<'py, PyAny>> {
        let len = self.array.len();
        let at = if row < 0 { row.saturating_add(len as isize) } else { row };
        match usize::try_from(at).ok().filter(|&at| at < len) {
            Some(at) => self.value(py, at),
            None => Err(PyIndexError::new_err(format!("row {row} of {len}"))),
        }
    }

    /// The number of null rows.
    #[getter]
    fn null_count(&self) -> usize {
        self.array.null_count()
    }

    /// The rows as Python objects: bool, int, str, bytes, or a list of str, of bytes or of
    /// (pattern, start, end).
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for row in 0..self.array.len() {
            list.append(self.value(py, row)?)?;
        }
        Ok(list)
    }

    fn __repr__(&self) -> String {
        format!("<fyke.Column: {} rows of {}>", self.array.len(), self.array.data_type())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        // A producer may ignore the request: it is a hint.
        let _ = requested_schema;
        capsule::export_array(py, &self.array)
    }
}

impl Column {
    fn value<'py>(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyAny>> {
        let array = &self.array;
        if array.is_null(row) {
            return Ok(py.None().into_bound(py));
        }
        Ok(match array.data_type() {
            DataType::Boolean => {
                PyBool::new(py, array.as_boolean().value(row)).to_owned().into_any()
            }
            DataType::UInt64 => {
                array.as_primitive::<UInt64Type>().value(row).into_pyobject(py)?.into_any()
            }
            DataType::LargeUtf8 => {
                PyString::new(py, array.as_string::<i64>().value(row)).into_any()
            }
            DataType::LargeBinary => {
                PyBytes::new(py, array.as_binary::<i64>().value(row)).into_any()
            }
            DataType::LargeList(item) if !matches!(item.data_type(), DataType::Struct(_)) => {
                let parts = Column { array: array.as_list::<i64>().value(row) };
                parts.to_pylist(py)?.into_any()
            }
            _ => matches_of(py, array.as_list::<i64>(), row)?.into_any(),
        })
    }
}

/// A row of `find_many`.
fn matches_of<'py>(
    py: Python<'py>,
    lists: &LargeListArray,
    row: usize,
) -> PyResult<Bound<'py, PyList>> {
    let columns = lists.value(row);
    let columns = columns.as_struct();
    let pattern = columns.column(0).as_primitive::<UInt32Type>().values();
    let start: &ScalarBuffer<i64> = columns.column(1).as_primitive::<Int64Type>().values();
    let end: &ScalarBuffer<i64> = columns.column(2).as_primitive::<Int64Type>().values();
    PyList::new(py, (0..columns.len()).map(|at| (pattern[at], start[at], end[at])))
}
