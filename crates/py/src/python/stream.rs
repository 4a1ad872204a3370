//! `Stream`: a haystack that arrives in chunks.

use super::call::{Interrupt, run};
use super::haystack::Haystack;
use super::matches::Matches;
use crate::columns::Columns;
use fyke::{Batch, Sink, Stream};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, TryLockError};

/// Bytes that are fed between two looks for signals.
const PIECE: usize = 1 << 20;

/// Scans a haystack that arrives in chunks of any size. Positions count from its first byte.
#[pyclass(name = "Stream", module = "fyke", frozen)]
pub(super) struct PyStream {
    /// None after the end, and after an interrupt.
    stream: Mutex<Option<Stream>>,
}

struct ToColumns<'a>(&'a mut Columns);

impl Sink for ToColumns<'_> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        self.0.extend(batch);
        ControlFlow::Continue(())
    }
}

impl PyStream {
    pub(super) fn new(stream: Stream) -> Self {
        Self { stream: Mutex::new(Some(stream)) }
    }

    fn lock(&self) -> PyResult<MutexGuard<'_, Option<Stream>>> {
        match self.stream.try_lock() {
            Ok(stream) => Ok(stream),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => {
                Err(PyRuntimeError::new_err("another thread is using the stream: feed it in turn"))
            }
        }
    }

    /// Takes the stream out. It is put back unless the call fails.
    fn take(&self) -> PyResult<Stream> {
        self.lock()?.take().ok_or_else(ended)
    }
}

fn ended() -> PyErr {
    PyValueError::new_err("the stream has ended, was interrupted, or is in use: start another one")
}

#[pymethods]
impl PyStream {
    /// Scans the next bytes, and returns the matches that are decided.
    fn feed(&self, py: Python<'_>, chunk: &Bound<'_, PyAny>) -> PyResult<Matches> {
        let chunk = Haystack::new(chunk, "chunk")?;
        if chunk.is_str() {
            return Err(PyTypeError::new_err(
                "chunk is a str: encode it, because streams are bytes",
            ));
        }
        let bytes = chunk.bytes(py)?;
        let mut stream = self.take()?;
        let (stream, columns, interrupt) = run(py, bytes.len(), move || {
            let (mut columns, mut interrupt) = (Columns::default(), Interrupt::new());
            for piece in bytes.chunks(PIECE) {
                // `Once` ends a scan when each pattern was found.
                let done = stream.feed(piece, &mut ToColumns(&mut columns)).is_break();
                if done || interrupt.check().is_break() {
                    break;
                }
            }
            (stream, columns, interrupt)
        })?;
        interrupt.result()?;
        *self.lock()? = Some(stream);
        Ok(Matches { columns })
    }

    /// Ends the haystack, and returns the matches that were held back.
    fn finish(&self, py: Python<'_>) -> PyResult<Matches> {
        let stream = self.take()?;
        let columns = run(py, 0, move || {
            let mut columns = Columns::default();
            let _ = stream.finish(&mut ToColumns(&mut columns));
            columns
        })?;
        Ok(Matches { columns })
    }

    /// The state as bytes, for `Searcher.restore`.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let guard = self.lock()?;
        let stream = guard.as_ref().ok_or_else(ended)?;
        Ok(PyBytes::new(py, &stream.save()))
    }

    /// Bytes fed so far.
    #[getter]
    fn offset(&self) -> PyResult<u64> {
        Ok(self.lock()?.as_ref().ok_or_else(ended)?.offset())
    }
}
