//! Why files were not extracted.

use super::Extracted;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why files were not extracted, or not all of them.
#[derive(Debug)]
pub enum ExtractError {
    /// The volume has less room than the files take.
    NoSpace {
        /// Bytes that the files take.
        needed: u64,
        /// Bytes that the volume has.
        available: u64,
    },
    /// A file of this path exists, and it is not written over.
    Exists {
        /// Its path.
        path: PathBuf,
    },
    /// The path of a file leads out of the folder, or another file has it.
    BadPath {
        /// The number of the file.
        number: u64,
        /// Its path.
        path: PathBuf,
    },
    /// A file ends after the end of the image.
    ImageShort {
        /// The number of the file.
        number: u64,
        /// Where it ends.
        end: u64,
        /// Where the image ends.
        image_len: u64,
    },
    /// The folder cannot be created.
    Folder {
        /// Its path.
        path: PathBuf,
        /// What failed.
        source: io::Error,
    },
    /// A file cannot be written, such as when the volume is full.
    Write {
        /// Its path.
        path: PathBuf,
        /// What failed.
        source: io::Error,
        /// What was written before. All these files are complete.
        done: Box<Extracted>,
    },
    /// The image cannot be read: its device is gone, or reading is not permitted. Bad sectors are
    /// not errors.
    Read {
        /// What failed.
        source: io::Error,
        /// What was written before. All these files are complete.
        done: Box<Extracted>,
    },
    /// [`Watch`](super::Watch) stopped it.
    Interrupted {
        /// What was written before. All these files are complete.
        done: Box<Extracted>,
    },
    /// The files are complete, and the list of their digests cannot be written.
    Manifest {
        /// Its path.
        path: PathBuf,
        /// What failed.
        source: io::Error,
    },
}

impl ExtractError {
    pub(super) fn folder(path: &Path, source: io::Error) -> Self {
        Self::Folder { path: path.to_owned(), source }
    }

    /// The same error, with the path below `out`.
    pub(super) fn below(self, out: &Path) -> Self {
        match self {
            Self::Write { path, source, done } => {
                Self::Write { path: out.join(path), source, done }
            }
            other => other,
        }
    }

    /// Whether another run with [`resume`](super::ExtractOptions::resume) can go on once the cause
    /// is removed.
    #[must_use]
    pub fn can_resume(&self) -> bool {
        matches!(
            self,
            Self::Read { .. }
                | Self::Write { .. }
                | Self::Manifest { .. }
                | Self::Interrupted { .. }
        )
    }
}

impl fmt::Display for ExtractError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSpace { needed, available } => {
                write!(f, "the files need {needed} bytes, and {available} are available")
            }
            Self::Exists { path } => {
                write!(f, "{} exists; it is not written over", path.display())
            }
            Self::BadPath { number, path } => write!(
                f,
                "file {number} has the path {path:?}, which leads out of the folder or belongs to another file"
            ),
            Self::ImageShort { number, end, image_len } => write!(
                f,
                "file {number} ends at offset {end}, but the image has {image_len} bytes: it is not the image that was searched"
            ),
            Self::Folder { path, .. } => write!(f, "cannot create the folder {}", path.display()),
            Self::Write { path, done, .. } => write!(
                f,
                "cannot write {}; {} files with {} bytes were written and are complete",
                path.display(),
                done.files,
                done.bytes
            ),
            Self::Read { done, .. } => write!(
                f,
                "cannot read the image; {} files with {} bytes were written and are complete",
                done.files, done.bytes
            ),
            Self::Interrupted { done } => {
                write!(f, "interrupted; {} files are complete", done.files)
            }
            Self::Manifest { path, .. } => write!(f, "cannot write {}", path.display()),
        }
    }
}

impl std::error::Error for ExtractError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Folder { source, .. }
            | Self::Read { source, .. }
            | Self::Write { source, .. }
            | Self::Manifest { source, .. } => Some(source),
            _ => None,
        }
    }
}
