//! Why a database cannot be used.

use super::format::VERSION;
use crate::BuildError;
use std::fmt;
use std::io;

/// Why a database cannot be used. The message says what to do.
#[derive(Debug)]
pub struct DatabaseError(pub(super) Kind);

#[derive(Debug)]
pub(super) enum Kind {
    Io(io::Error),
    NotADatabase,
    Truncated {
        have: u64,
        need: u64,
    },
    /// Which part, and what is wrong with it.
    Damaged(String, &'static str),
    Version(u32),
    OtherEndian,
    Refused(BuildError),
}

impl DatabaseError {
    pub(super) fn damaged(part: impl Into<String>, what: &'static str) -> DatabaseError {
        DatabaseError(Kind::Damaged(part.into(), what))
    }

    /// The error of the operating system, if reading failed.
    pub fn io(&self) -> Option<&io::Error> {
        match &self.0 {
            Kind::Io(error) => Some(error),
            _ => None,
        }
    }

    /// The error of the build, if the patterns could not be compiled.
    pub fn build(&self) -> Option<&BuildError> {
        match &self.0 {
            Kind::Refused(error) => Some(error),
            _ => None,
        }
    }

    /// Whether the database needs another version of fyke.
    pub fn is_other_version(&self) -> bool {
        matches!(self.0, Kind::Version(_))
    }
}

impl fmt::Display for DatabaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Io(error) => error.fmt(f),
            Kind::NotADatabase => {
                f.write_str("this is not a fyke database: `fyke compile` writes one")
            }
            Kind::Truncated { have, need } => write!(
                f,
                "the database is truncated: it has {have} bytes of {need}: copy it again, or \
                 compile the patterns again"
            ),
            Kind::Damaged(part, what) => write!(
                f,
                "the database is damaged: {part}: {what}: copy it again, or compile the patterns \
                 again"
            ),
            Kind::Version(version) => write!(
                f,
                "the database has format version {version}, this build reads version {VERSION}: \
                 use a newer fyke, or compile the patterns again with this one"
            ),
            Kind::OtherEndian => f.write_str(
                "the database was written on a machine of the other endianness: compile the \
                 patterns again on this machine",
            ),
            Kind::Refused(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for DatabaseError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0 {
            Kind::Io(error) => Some(error),
            Kind::Refused(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for DatabaseError {
    fn from(error: io::Error) -> DatabaseError {
        DatabaseError(Kind::Io(error))
    }
}

impl From<BuildError> for DatabaseError {
    fn from(error: BuildError) -> DatabaseError {
        DatabaseError(Kind::Refused(error))
    }
}
