//! The bytes of a Python object, without a copy.
#![allow(unsafe_code, reason = "the bytes of a buffer are behind a pointer")]

use crate::positions::CharIndex;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBufferError, PyTypeError, PyUnicodeEncodeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// What keeps the bytes alive.
enum Owner {
    Str(Py<PyString>),
    Bytes(Py<PyBytes>),
    Buffer(PyUntypedBuffer),
}

/// A `str`, or an object with a buffer: bytes, bytearray, memoryview, mmap, an array of numpy.
pub(super) struct Haystack {
    owner: Owner,
}

/// Which positions a call reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Positions {
    Bytes,
    Chars,
}

impl Positions {
    /// What the argument `positions` says.
    pub(super) fn parse(name: &str) -> PyResult<Self> {
        match name {
            "bytes" => Ok(Positions::Bytes),
            "chars" => Ok(Positions::Chars),
            _ => Err(PyValueError::new_err(format!(
                "positions={name:?} is unknown: give \"bytes\" or \"chars\""
            ))),
        }
    }
}

impl Haystack {
    /// The bytes of an object. `name` is what errors call it.
    pub(super) fn new(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Self> {
        if let Ok(text) = object.cast::<PyString>() {
            text.to_str().map_err(|error| surrogate(object.py(), &error, name))?;
            return Ok(Self { owner: Owner::Str(text.clone().unbind()) });
        }
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self { owner: Owner::Bytes(bytes.clone().unbind()) });
        }
        let buffer =
            PyUntypedBuffer::get(object).map_err(|error| no_buffer(object, name, error))?;
        check_buffer(&buffer, name)?;
        Ok(Self { owner: Owner::Buffer(buffer) })
    }

    pub(super) fn is_str(&self) -> bool {
        matches!(self.owner, Owner::Str(_))
    }

    /// The bytes; UTF-8 of a `str`.
    pub(super) fn bytes<'a>(&'a self, py: Python<'a>) -> PyResult<&'a [u8]> {
        match &self.owner {
            // Python keeps the UTF-8 with the str, which does not change.
            Owner::Str(text) => Ok(text.bind(py).to_str()?.as_bytes()),
            Owner::Bytes(bytes) => Ok(bytes.bind(py).as_bytes()),
            Owner::Buffer(buffer) => Ok(bytes_of(buffer)),
        }
    }

    /// The positions that a call reports: characters of a `str`, if nothing else was asked for.
    pub(super) fn positions(&self, asked: Option<&str>) -> PyResult<Positions> {
        match asked.map(Positions::parse).transpose()? {
            Some(Positions::Chars) if !self.is_str() => Err(PyValueError::new_err(
                "positions=\"chars\" needs a str, and the haystack is bytes: decode it",
            )),
            Some(positions) => Ok(positions),
            None if self.is_str() => Ok(Positions::Chars),
            None => Ok(Positions::Bytes),
        }
    }

    /// The index of the characters, if positions count them and differ from those of the bytes.
    pub(super) fn char_index<'a>(
        &'a self,
        py: Python<'a>,
        asked: Option<&str>,
    ) -> PyResult<Option<CharIndex<'a>>> {
        match self.positions(asked)? {
            Positions::Chars => Ok(CharIndex::new(self.bytes(py)?)),
            Positions::Bytes => Ok(None),
        }
    }
}

/// The bytes of a buffer that `check_buffer` accepted.
fn bytes_of(buffer: &PyUntypedBuffer) -> &[u8] {
    if buffer.len_bytes() == 0 {
        return &[];
    }
    // SAFETY: the buffer is contiguous, so that its bytes begin at the pointer, and Python keeps
    // them where they are until the buffer is released, which the borrow prevents. Other threads
    // may write to it while the GIL is released; docs/python.md forbids it, as Python's hashlib
    // does. Engines check what they look up by these bytes, so matches may then be wrong.
    unsafe { std::slice::from_raw_parts(buffer.buf_ptr().cast::<u8>(), buffer.len_bytes()) }
}

/// Refuses a buffer whose bytes are no text: scattered, or pointers.
fn check_buffer(buffer: &PyUntypedBuffer, name: &str) -> PyResult<()> {
    if !buffer.is_c_contiguous() {
        return Err(PyBufferError::new_err(format!(
            "{name} is not contiguous: its bytes are not in one piece: copy it with bytes()"
        )));
    }
    let format = buffer.format().to_bytes();
    if format.contains(&b'O') {
        return Err(PyTypeError::new_err(format!(
            "{name} is an array of objects: give it to the column functions, or encode it"
        )));
    }
    if format.contains(&b'w') {
        return Err(PyTypeError::new_err(format!(
            "{name} is an array of str: give it to the column functions, or encode it"
        )));
    }
    Ok(())
}

fn no_buffer(object: &Bound<'_, PyAny>, name: &str, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PyTypeError>(object.py()) {
        return error;
    }
    PyTypeError::new_err(format!(
        "{name} is {}: give a str, bytes, or an object with a buffer",
        type_name(object)
    ))
}

/// The name of an object's type, with its article.
pub(super) fn type_name(object: &Bound<'_, PyAny>) -> String {
    if object.is_none() {
        return "None".to_owned();
    }
    let name = object.get_type().name().map(|name| name.to_string()).unwrap_or_default();
    let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {name}")
}

/// Says in the error of a lone surrogate where it is and what to do.
fn surrogate(py: Python<'_>, error: &PyErr, name: &str) -> PyErr {
    let value = error.value(py);
    let arguments = (|| {
        let encoding = value.getattr("encoding")?;
        let (object, start) = (value.getattr("object")?, value.getattr("start")?);
        let reason =
            format!("{name} has a lone surrogate: give bytes, .encode(errors=\"surrogateescape\")");
        Ok::<_, PyErr>((
            encoding.unbind(),
            object.unbind(),
            start.unbind(),
            value.getattr("end")?.unbind(),
            reason,
        ))
    })();
    match arguments {
        Ok(arguments) => PyUnicodeEncodeError::new_err(arguments),
        Err(_) => error.clone_ref(py),
    }
}
