//! `Matches`: what a call found, as three columns.

use super::capsule;
use crate::columns::Columns;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyList, PySlice, PyTuple};

/// Matches as a sequence of tuples (pattern, start, end). Arrow and numpy take them as columns.
#[pyclass(module = "fyke", frozen, sequence)]
#[derive(Default)]
pub(super) struct Matches {
    pub(super) columns: Columns,
}

/// A list of tuples (pattern, start, end).
pub(super) fn to_list<'py>(py: Python<'py>, columns: &Columns) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, (0..columns.len()).map(|at| columns.tuple(at)))
}

/// The bytes of numbers, in the order of this machine.
fn bytes_of<T: Copy, const N: usize>(numbers: &[T], to: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    numbers.iter().flat_map(|&number| to(number)).collect()
}

#[pymethods]
impl Matches {
    fn __len__(&self) -> usize {
        self.columns.len()
    }

    fn __getitem__<'py>(&self, at: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, len) = (at.py(), self.columns.len());
        if let Ok(slice) = at.cast::<PySlice>() {
            let slice = slice.indices(len as isize)?;
            let item =
                |i: usize| self.columns.tuple((slice.start + i as isize * slice.step) as usize);
            return Ok(PyList::new(py, (0..slice.slicelength).map(item))?.into_any());
        }
        let at: isize = at.extract()?;
        let position = if at < 0 { at + len as isize } else { at };
        match usize::try_from(position).ok().filter(|&at| at < len) {
            Some(at) => Ok(self.columns.tuple(at).into_pyobject(py)?.into_any()),
            None => Err(PyIndexError::new_err(format!("match {at} of {len}"))),
        }
    }

    fn __iter__(slf: Py<Self>) -> MatchesIterator {
        MatchesIterator { matches: slf, next: 0 }
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        if let Ok(other) = other.cast::<Matches>() {
            return Ok(self.columns == other.get().columns);
        }
        match other.cast::<PyList>() {
            Ok(list) => to_list(other.py(), &self.columns)?.eq(list),
            Err(_) => Ok(false),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        const SHOWN: usize = 20;
        if self.columns.len() <= SHOWN {
            return Ok(format!("Matches({})", to_list(py, &self.columns)?.repr()?));
        }
        let first = PyList::new(py, (0..SHOWN).map(|at| self.columns.tuple(at)))?.repr()?;
        let first = first.to_string();
        Ok(format!("Matches({}, ... {} in all])", first.trim_end_matches(']'), self.columns.len()))
    }

    /// A list of tuples (pattern, start, end).
    fn to_list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        to_list(py, &self.columns)
    }

    /// Three arrays of numpy: patterns, starts, ends.
    fn to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let numpy = py.import("numpy")?;
        let array = |bytes: Vec<u8>, kind: &str| {
            numpy.call_method1("frombuffer", (PyByteArray::new(py, &bytes), kind))
        };
        let columns = &self.columns;
        PyTuple::new(
            py,
            [
                array(bytes_of(&columns.pattern, u32::to_ne_bytes), "=u4")?,
                array(bytes_of(&columns.start, i64::to_ne_bytes), "=i8")?,
                array(bytes_of(&columns.end, i64::to_ne_bytes), "=i8")?,
            ],
        )
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        // A producer may ignore the request: it is a hint.
        let _ = requested_schema;
        capsule::export_array(py, &self.columns.clone().into_struct())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = requested_schema;
        capsule::export_table(py, self.columns.clone().into_struct())
    }
}

/// Iterates over matches.
#[pyclass(module = "fyke")]
pub(super) struct MatchesIterator {
    matches: Py<Matches>,
    next: usize,
}

#[pymethods]
impl MatchesIterator {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&mut self) -> Option<(u32, i64, i64)> {
        let columns = &self.matches.get().columns;
        let at = Some(self.next).filter(|&at| at < columns.len())?;
        self.next += 1;
        Some(columns.tuple(at))
    }

    fn __length_hint__(&self) -> usize {
        self.matches.get().columns.len() - self.next
    }
}
