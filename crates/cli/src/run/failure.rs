//! What can go wrong in a scan, and what that means for the rest of it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why an input was not scanned to its end.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input cannot be read: the others can.
    Input(PathBuf, io::Error),
    /// The output cannot be written: there is no point in going on.
    Output(io::Error),
    /// The user wants no more.
    Interrupted,
}

impl Failure {
    /// A failure to read something whose name the caller of the caller knows.
    pub(crate) fn reading(error: io::Error) -> Self {
        Failure::Input(PathBuf::new(), error)
    }

    /// Puts the name in.
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
            // Walking a folder names the path in its message.
            Failure::Input(path, error) if path.as_os_str().is_empty() => error.fmt(f),
            Failure::Input(path, error) => write!(f, "{}: {error}", path.display()),
            Failure::Output(_) => f.write_str("writing the output"),
            Failure::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Failure::Output(error) => Some(error),
            // Says it in its own message, which is printed alone.
            Failure::Input(..) | Failure::Interrupted => None,
        }
    }
}
