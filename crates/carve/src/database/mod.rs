//! The database of a run: what was searched, the hits, and the carved files.
//!
//! It is a file of SQLite, so that other programs can query it: the view `file_list` has the files,
//! and `hits` the hits. Equal contents give equal bytes: the file has no time stamps, and is
//! written in one transaction, under a temporary name.
//!
//! Hits are stored as blocks of differences: one or two bytes for most hits. A row for each hit
//! would take several times the space and time.

mod blocks;
mod check;
mod digest;
mod error;
mod options;
mod read;
mod schema;
mod write;

pub use error::DatabaseError;

use crate::{CarvedFile, Hits, RuleSet};
use error::Kind;
use rusqlite::{Connection, OpenFlags};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The name of the database in the output folder of a scan.
pub const FILE_NAME: &str = "carve.db";

/// The option of a run whose files were validated.
pub const VALIDATED: &str = "validated";

/// What was searched, and with what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The program and its version.
    pub program: String,
    /// The image's name, usually its path.
    pub image: String,
    /// The image's length in bytes.
    pub image_len: u64,
    /// The path of the configuration; empty for the default one.
    pub conf_path: String,
    /// The text of the configuration.
    pub conf: Vec<u8>,
    /// Options that the result depends on.
    pub options: BTreeMap<String, String>,
}

/// All that a database contains.
#[derive(Clone, Copy, Debug)]
pub struct Contents<'a> {
    /// What was searched, and with what.
    pub run: &'a Run,
    /// The rules.
    pub rules: &'a RuleSet,
    /// The hits of their needles.
    pub hits: &'a Hits,
    /// The files, in the order of their numbers.
    pub files: &'a [CarvedFile],
    /// Ranges of the image that could not be read, in order.
    pub bad: &'a [Range<u64>],
}

/// A database that is open for reading.
#[derive(Debug)]
pub struct Database {
    connection: Connection,
    path: PathBuf,
}

impl Database {
    /// Writes a new database.
    ///
    /// # Errors
    ///
    /// If there is a file of that name, or it cannot be written.
    ///
    /// # Panics
    ///
    /// If the hits are not those of the rules, or not in order.
    pub fn create(path: &Path, contents: &Contents<'_>) -> Result<(), DatabaseError> {
        match path.symlink_metadata() {
            Ok(_) => Err(DatabaseError::new(path, Kind::Exists)),
            Err(_) => Self::replace(path, contents),
        }
    }

    /// Writes a database over the one of that name, if there is one.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    ///
    /// # Panics
    ///
    /// If the hits are not those of the rules, or not in order.
    pub fn replace(path: &Path, contents: &Contents<'_>) -> Result<(), DatabaseError> {
        let needles = contents.rules.needles.len();
        assert_eq!(needles, contents.hits.needles.len(), "each needle has hits");
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(".fyke-part");
        let temporary = PathBuf::from(temporary);
        let done = replace(path, &temporary, contents);
        done.map_err(|kind| {
            let _ = fs::remove_file(&temporary);
            DatabaseError::new(path, kind)
        })
    }

    /// Opens a database, and checks that it is complete and unchanged.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is no database of fyke, is truncated or damaged, or has a
    /// version that this program does not know. The message says which.
    pub fn open(path: &Path) -> Result<Self, DatabaseError> {
        let connection = open(path).map_err(|kind| DatabaseError::new(path, kind))?;
        Ok(Self { connection, path: path.to_owned() })
    }

    /// What was searched, and with what.
    ///
    /// # Errors
    ///
    /// If the database cannot be read.
    pub fn run(&self) -> Result<Run, DatabaseError> {
        read::run(&self.connection).map_err(|kind| self.error(kind))
    }

    /// The rules.
    ///
    /// # Errors
    ///
    /// If the database cannot be read.
    pub fn rules(&self) -> Result<RuleSet, DatabaseError> {
        read::rules(&self.connection).map_err(|kind| self.error(kind))
    }

    /// The hits of all needles.
    ///
    /// # Errors
    ///
    /// If the database cannot be read.
    pub fn hits(&self) -> Result<Hits, DatabaseError> {
        read::hits(&self.connection).map_err(|kind| self.error(kind))
    }

    /// The carved files, in the order of their numbers.
    ///
    /// # Errors
    ///
    /// If the database cannot be read.
    pub fn files(&self) -> Result<Vec<CarvedFile>, DatabaseError> {
        read::files(&self.connection).map_err(|kind| self.error(kind))
    }

    /// The ranges of the image that could not be read.
    ///
    /// # Errors
    ///
    /// If the database cannot be read.
    pub fn bad(&self) -> Result<Vec<Range<u64>>, DatabaseError> {
        read::bad(&self.connection).map_err(|kind| self.error(kind))
    }

    /// The path of its file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn error(&self, kind: Kind) -> DatabaseError {
        DatabaseError::new(&self.path, damaged(kind))
    }
}

fn replace(path: &Path, temporary: &Path, contents: &Contents<'_>) -> Result<(), Kind> {
    match fs::remove_file(temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    write::write(temporary, contents)?;
    File::open(temporary)?.sync_all()?;
    fs::rename(temporary, path)?;
    Ok(())
}

fn open(path: &Path) -> Result<Connection, Kind> {
    check_header(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|e| damaged(e.into()))?;
    connection.execute_batch(schema::CAUTION).map_err(|e| damaged(e.into()))?;
    check::tables(&connection).and_then(|()| check_digest(&connection)).map_err(damaged)?;
    Ok(connection)
}

/// Checks the header of the file, whose fields SQLite defines. This allows clearer errors than
/// those of SQLite.
fn check_header(path: &Path) -> Result<(), Kind> {
    let mut header = [0; 100];
    let mut file = File::open(path)?;
    let len = file.metadata()?.len();
    match file.read_exact(&mut header) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(Kind::Foreign),
        other => other?,
    }
    let field = |at: usize| u32::from_be_bytes(header[at..at + 4].try_into().unwrap_or_default());
    let (pages, version, application) = (field(28), field(60), field(68));
    if !header.starts_with(b"SQLite format 3\0") || application != schema::APPLICATION_ID {
        return Err(Kind::Foreign);
    }
    if version > schema::VERSION {
        return Err(Kind::Future { found: version, known: schema::VERSION });
    }
    let page_size = u64::from(u16::from_be_bytes([header[16], header[17]]));
    let expected = u64::from(pages) * page_size;
    if len < expected {
        return Err(Kind::Truncated { len, expected });
    }
    Ok(())
}

/// Corrects the digest of a database whose rows were changed: for tests of damaged ones.
///
/// # Errors
///
/// If it cannot be read or written.
#[doc(hidden)]
pub fn seal(path: &Path) -> Result<(), DatabaseError> {
    let seal = || {
        let connection = Connection::open(path)?;
        let digest = digest::of(&connection)?;
        connection.execute("UPDATE info SET value = ? WHERE key = 'sha256'", [digest])?;
        Ok(())
    };
    seal().map_err(|kind| DatabaseError::new(path, kind))
}

fn check_digest(connection: &Connection) -> Result<(), Kind> {
    let expected: String = read::info(connection, "sha256")?;
    match digest::of(connection)? == expected {
        true => Ok(()),
        false => Err(Kind::Corrupt("its contents were changed after it was written".to_owned())),
    }
}

/// An error of SQLite while it reads: the file is damaged, as its header is right.
fn damaged(kind: Kind) -> Kind {
    match kind {
        // SQLite quotes the file.
        Kind::Sqlite(error) => Kind::Corrupt(error.to_string().replace(char::is_control, " ")),
        other => other,
    }
}

#[cfg(test)]
mod tests;
