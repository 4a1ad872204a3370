//! Why a database cannot be read or written.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a database cannot be read or written.
#[derive(Debug)]
pub struct DatabaseError {
    path: PathBuf,
    kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    /// The file cannot be opened, read, written or renamed.
    Io(io::Error),
    /// There is a file of that name.
    Exists,
    /// It is no file of SQLite, or of another program.
    Foreign,
    /// It is shorter than its header says.
    Truncated { len: u64, expected: u64 },
    /// A later version of fyke wrote it.
    Future { found: u32, known: u32 },
    /// Its contents contradict each other.
    Corrupt(String),
    /// SQLite cannot write it.
    Sqlite(rusqlite::Error),
}

impl DatabaseError {
    pub(super) fn new(path: &Path, kind: Kind) -> Self {
        Self { path: path.to_owned(), kind }
    }

    /// Whether the file was not written because there is one of that name.
    #[must_use]
    pub fn is_exists(&self) -> bool {
        matches!(self.kind, Kind::Exists)
    }
}

impl From<io::Error> for Kind {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<rusqlite::Error> for Kind {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl fmt::Display for DatabaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.kind {
            Kind::Io(error) => write!(f, "{path}: {error}"),
            Kind::Exists => write!(f, "{path} exists; it is not written over"),
            Kind::Foreign => write!(f, "{path} is no database of `fyke carve`"),
            Kind::Truncated { len, expected } => write!(
                f,
                "{path} is truncated: it has {len} bytes, and should have {expected}; scan the image again"
            ),
            Kind::Future { found, known } => write!(
                f,
                "{path} has version {found} of the format, and this program knows versions up to {known}: use a newer fyke"
            ),
            Kind::Corrupt(what) => write!(f, "{path} is damaged: {what}; scan the image again"),
            Kind::Sqlite(error) => write!(f, "{path}: {error}"),
        }
    }
}

// Without a source, because the text contains it.
impl std::error::Error for DatabaseError {}
