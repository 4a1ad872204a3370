//! The exceptions of Python that errors become.

use crate::columns::ColumnError;
use pyo3::exceptions::{PyIsADirectoryError, PyOSError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::any::Any;
use std::io;
use std::path::Path;

pyo3::create_exception!(
    fyke,
    BuildError,
    PyValueError,
    "The patterns cannot be compiled: one is bad, or an engine refuses the set."
);
pyo3::create_exception!(
    fyke,
    DatabaseError,
    PyValueError,
    "The database is damaged, is of another version, or is no database."
);

/// The exception for a failed build.
pub(super) fn build(error: &fyke::BuildError) -> PyErr {
    BuildError::new_err(error.to_string())
}

/// The exception for an error of the operating system: `FileNotFoundError` and the like.
pub(super) fn io(path: &Path, error: &io::Error) -> PyErr {
    let path = path.display().to_string();
    match error.raw_os_error() {
        // Python selects the class by the number.
        Some(number) => PyOSError::new_err((number, message(error), path)),
        None if error.kind() == io::ErrorKind::IsADirectory => {
            PyIsADirectoryError::new_err(format!("{path} is a directory: give a file"))
        }
        None => PyOSError::new_err(format!("{path}: {error}")),
    }
}

/// What the system says, without the number that Rust appends.
fn message(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error ") {
        Some((message, _)) => message.to_owned(),
        None => text,
    }
}

/// The exception for a database that cannot be used.
pub(super) fn database(path: Option<&Path>, error: &fyke::database::DatabaseError) -> PyErr {
    match (path, error.io(), error.build()) {
        (Some(path), Some(error), _) => io(path, error),
        (Some(path), None, Some(error)) => {
            BuildError::new_err(format!("{}: {error}", path.display()))
        }
        (None, _, Some(error)) => build(error),
        (Some(path), ..) => DatabaseError::new_err(format!("{}: {error}", path.display())),
        (None, ..) => DatabaseError::new_err(error.to_string()),
    }
}

impl From<ColumnError> for PyErr {
    fn from(error: ColumnError) -> Self {
        match error {
            ColumnError::Type(message) => PyTypeError::new_err(message),
            ColumnError::Value(message) => PyValueError::new_err(message),
            // What ended the call is raised before.
            ColumnError::Stopped => internal(&"a call ended without a result"),
        }
    }
}

/// The exception for a panic, which is a fault of fyke.
pub(super) fn internal(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    PyRuntimeError::new_err(format!("internal error of fyke, please report it: {text}"))
}
