//! The failures of a scan, and whether the remaining inputs are still scanned.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why an input was not scanned to its end.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input cannot be read. The other inputs are still scanned.
    Input(PathBuf, io::Error),
    /// The output cannot be written. The scan ends.
    Output(io::Error),
    /// The user interrupted the scan.
    Interrupted,
}

impl Failure {
    /// A failure to read an input whose path is added later, with [`of`](Self::of).
    pub(crate) fn reading(error: io::Error) -> Self {
        Failure::Input(PathBuf::new(), error)
    }

    /// Adds the path of the input.
    pub(crate) fn of(self, path: &Path) -> Self {
        match self {
            Failure::Input(_, error) => Failure::Input(path.to_owned(), error),
            other => other,
        }
    }

    pub(crate) fn is_of_input(&self) -> bool {
        matches!(self, Failure::Input(..))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // The error of a folder walk already names the path.
            Failure::Input(path, error) if path.as_os_str().is_empty() => error.fmt(f),
            Failure::Input(path, error) => write!(f, "{}: {error}", path.display()),
            Failure::Output(_) => f.write_str("cannot write the output"),
            Failure::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Failure::Output(error) => Some(error),
            // The message of an input already contains its cause.
            Failure::Input(..) | Failure::Interrupted => None,
        }
    }
}
