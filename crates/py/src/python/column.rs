//! The column functions: Arrow columns in, Arrow columns out.

use super::call::{Interrupt, run};
use super::column_scan::{self as scan, FoundRows, Rows};
use super::haystack::{Haystack, Positions, type_name};
use super::matches::Columns;
use super::replace::Replacements;
use super::searcher::PySearcher;
use super::{capsule, error};
use arrow_array::builder::{LargeBinaryBuilder, LargeStringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, LargeBinaryArray, LargeListArray, LargeStringArray, UInt64Array,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyList, PyString, PyTuple};
use std::ops::Range;
use std::sync::Arc;

/// A result column. `pyarrow.array`, `polars.Series` and others take it without a copy.
#[pyclass(module = "fyke", frozen, sequence)]
pub(super) struct Column {
    array: ArrayRef,
}

/// The chunks of a column, and whether they are text.
struct Input {
    chunks: Vec<ArrayRef>,
    text: bool,
}

impl Input {
    fn new(column: &Bound<'_, PyAny>) -> PyResult<Self> {
        let Some((kind, chunks)) = capsule::import(column)? else {
            return Self::of_rows(column);
        };
        let mut probe = chunks.first().cloned();
        let probe = probe.get_or_insert_with(|| arrow_array::new_empty_array(&kind));
        if Rows::new(probe).is_none() {
            let hint = match kind {
                DataType::Struct(_) => "give one column of the table",
                _ => "give a column of strings or binary values",
            };
            return Err(PyTypeError::new_err(format!("the column has type {kind}: {hint}")));
        }
        Ok(Self { text: scan::is_text(&kind), chunks })
    }

    /// From an iterable of str, or of bytes; None and NaN are null.
    fn of_rows(column: &Bound<'_, PyAny>) -> PyResult<Self> {
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
                    "row {number} of the column is not of the type of the rows before: give only \
                     str or only bytes"
                )));
            }
            bytes.append_value(row.bytes(column.py())?);
        }
        Ok(Self { chunks: vec![Arc::new(bytes.finish())], text: text.unwrap_or(true) })
    }

    /// Runs a scan over each chunk, without the GIL.
    fn scan<T: Send>(
        &self,
        py: Python<'_>,
        work: impl Fn(&Rows<'_>, &mut Interrupt) -> Option<T> + Sync,
    ) -> PyResult<Vec<T>> {
        let (results, interrupt) = run(py, usize::MAX, || {
            let mut interrupt = Interrupt::new();
            let results: Option<Vec<T>> =
                self.chunks.iter().map(|chunk| work(&Rows::new(chunk)?, &mut interrupt)).collect();
            (results, interrupt)
        })?;
        interrupt.result()?;
        results.ok_or_else(|| error::internal(&"a scan of a column ended without a result"))
    }

    fn len(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.len()).sum()
    }

    /// Which rows are null, of all chunks.
    fn nulls(&self) -> Option<NullBuffer> {
        let all: Vec<_> = self.chunks.iter().map(|chunk| chunk.logical_nulls()).collect();
        if all.iter().all(|nulls| nulls.as_ref().is_none_or(|nulls| nulls.null_count() == 0)) {
            return None;
        }
        let mut valid = Vec::with_capacity(self.len());
        for (chunk, nulls) in self.chunks.iter().zip(all) {
            match nulls {
                Some(nulls) => valid.extend(nulls.iter()),
                None => valid.extend(std::iter::repeat_n(true, chunk.len())),
            }
        }
        Some(NullBuffer::from(valid))
    }

    /// The rows of each chunk.
    fn rows(&self) -> impl Iterator<Item = Rows<'_>> {
        self.chunks.iter().filter_map(Rows::new)
    }
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
) -> PyResult<Column> {
    let (input, searcher) = (Input::new(column)?, searcher.get());
    let found = input.scan(py, |rows, interrupt| {
        scan::contains(rows, &searcher.searcher, searcher.threads, interrupt)
    })?;
    let array = BooleanArray::new(found.concat().into(), input.nulls());
    Ok(Column { array: Arc::new(array) })
}

/// The number of matches of each row. Null stays null.
#[pyfunction]
pub(super) fn count_matches(
    py: Python<'_>,
    column: &Bound<'_, PyAny>,
    searcher: &Bound<'_, PySearcher>,
    overlapping: bool,
) -> PyResult<Column> {
    let (input, searcher) = (Input::new(column)?, searcher.get());
    let selected = select(searcher, overlapping);
    let counts = input
        .scan(py, |rows, interrupt| scan::count(rows, &selected, searcher.threads, interrupt))?;
    let array = UInt64Array::new(counts.concat().into(), input.nulls());
    Ok(Column { array: Arc::new(array) })
}

/// The matches of each row, as a list of (pattern, start, end). Null stays null.
#[pyfunction]
pub(super) fn find_many(
    py: Python<'_>,
    column: &Bound<'_, PyAny>,
    searcher: &Bound<'_, PySearcher>,
    overlapping: bool,
    positions: &str,
) -> PyResult<Column> {
    let (input, searcher) = (Input::new(column)?, searcher.get());
    let chars = Positions::parse(positions)? == Positions::Chars;
    if chars && !input.text {
        return Err(PyValueError::new_err(
            "positions=\"chars\" needs a column of strings, and this one is binary",
        ));
    }
    let selected = select(searcher, overlapping);
    let found = input.scan(py, |rows, interrupt| {
        scan::find(rows, &selected, searcher.threads, chars, interrupt)
    })?;
    let (mut counts, mut columns) = (Vec::with_capacity(input.len()), Columns::default());
    for mut found in found {
        counts.append(&mut found.counts);
        columns.append(&mut found.columns);
    }
    let item = Field::new("item", DataType::Struct(Columns::fields()), false);
    let offsets = OffsetBuffer::from_lengths(counts);
    let values = Arc::new(columns.into_struct());
    let array = LargeListArray::new(Arc::new(item), offsets, values, input.nulls());
    Ok(Column { array: Arc::new(array) })
}

/// What the first match of each row matched. Null without one.
#[pyfunction]
pub(super) fn extract_first(
    py: Python<'_>,
    column: &Bound<'_, PyAny>,
    searcher: &Bound<'_, PySearcher>,
) -> PyResult<Column> {
    let (input, searcher) = (Input::new(column)?, searcher.get());
    let found = input.scan(py, |rows, interrupt| {
        scan::first(rows, &searcher.searcher, searcher.threads, interrupt)
    })?;
    let parts = input.rows().zip(found).flat_map(|(rows, found)| {
        let part = move |(row, range): (usize, Option<Range<usize>>)| {
            range.map(|range| &rows.get(row)[range])
        };
        found.into_iter().enumerate().map(part).collect::<Vec<_>>()
    });
    let array: ArrayRef = match input.text {
        false => Arc::new(LargeBinaryArray::from_iter(parts)),
        true => {
            let mut texts = LargeStringBuilder::new();
            for (row, part) in parts.enumerate() {
                let text = part.map(std::str::from_utf8).transpose();
                texts.append_option(text.map_err(|_| cut_character(row))?);
            }
            Arc::new(texts.finish())
        }
    };
    Ok(Column { array })
}

fn cut_character(row: usize) -> PyErr {
    PyValueError::new_err(format!(
        "row {row} of the column: a pattern or a replacement cuts a character: cast the column to \
         binary"
    ))
}

/// Each row with its matches replaced. Null stays null.
#[pyfunction]
pub(super) fn replace_many(
    py: Python<'_>,
    column: &Bound<'_, PyAny>,
    searcher: &Bound<'_, PySearcher>,
    replacements: &Bound<'_, PyAny>,
) -> PyResult<Column> {
    let (input, searcher) = (Input::new(column)?, searcher.get());
    let mut replacements = Replacements::new(&searcher.searcher, replacements)?;
    let selected = select(searcher, false);
    let found = input.scan(py, |rows, interrupt| {
        scan::find(rows, &selected, searcher.threads, false, interrupt)
    })?;
    let (mut to, mut lengths) = (Vec::new(), Vec::with_capacity(input.len()));
    for (rows, found) in input.rows().zip(&found) {
        replace_rows(py, &rows, found, &mut replacements, input.text, &mut to, &mut lengths)?;
    }
    let offsets = OffsetBuffer::from_lengths(lengths);
    let (values, nulls) = (Buffer::from(to), input.nulls());
    let array: ArrayRef = match input.text {
        false => Arc::new(LargeBinaryArray::new(offsets, values, nulls)),
        true => {
            let row_ends = offsets.clone();
            let array = LargeStringArray::try_new(offsets, values.clone(), nulls);
            Arc::new(array.map_err(|_| cut_character(first_bad_row(&row_ends, &values)))?)
        }
    };
    Ok(Column { array })
}

/// The first row that is not UTF-8.
fn first_bad_row(offsets: &OffsetBuffer<i64>, values: &[u8]) -> usize {
    let rows = offsets.windows(2);
    let is_bad =
        |row: &[i64]| std::str::from_utf8(&values[row[0] as usize..row[1] as usize]).is_err();
    rows.into_iter().position(is_bad).unwrap_or_default()
}

fn replace_rows<'py>(
    py: Python<'py>,
    rows: &Rows<'_>,
    found: &FoundRows,
    replacements: &mut Replacements<'py>,
    text: bool,
    to: &mut Vec<u8>,
    lengths: &mut Vec<usize>,
) -> PyResult<()> {
    let mut at = 0;
    for (row, &count) in found.counts.iter().enumerate() {
        let (before, bytes, mut done) = (to.len(), rows.get(row), 0);
        for m in (at..at + count).map(|at| scan::match_at(&found.columns, at)) {
            let (start, end) = (m.start as usize, m.end as usize);
            to.extend_from_slice(&bytes[done..start]);
            replacements.write(py, m.pattern.0, &bytes[start..end], text, to)?;
            done = end;
        }
        to.extend_from_slice(&bytes[done..]);
        at += count;
        lengths.push(to.len() - before);
    }
    Ok(())
}

/// The searcher for all matches, or for those that do not overlap.
fn select(searcher: &PySearcher, overlapping: bool) -> fyke::Searcher {
    match overlapping {
        true => searcher.searcher.with_semantics(fyke::Semantics::All),
        false => searcher.not_overlapping(),
    }
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

    /// The rows as Python objects: bool, int, str, bytes, or a list of (pattern, start, end).
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
