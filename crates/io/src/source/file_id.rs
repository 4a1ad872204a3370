//! [`FileId`]: tells whether two paths or open files are the same file.

use std::fs::File;
use std::io;
use std::path::Path;

/// The identity of a file. Two are equal if they are of the same file.
///
/// On Windows a value keeps its file open, so that no other file gets its number.
///
/// ```
/// use fyke_io::source::FileId;
/// let file = tempfile::NamedTempFile::new()?;
/// assert_eq!(FileId::of(file.as_file())?, FileId::of_path(file.path())?);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct FileId(system::Id);

impl FileId {
    /// The identity of an open file.
    ///
    /// # Errors
    /// If the operating system does not tell it, and always where there are no files.
    pub fn of(file: &File) -> io::Result<Self> {
        system::of(file).map(Self)
    }

    /// The identity of the file that a path leads to.
    ///
    /// # Errors
    /// If there is no file, or the operating system does not tell its identity.
    pub fn of_path(path: &Path) -> io::Result<Self> {
        system::of_path(path).map(Self)
    }
}

#[cfg(unix)]
mod system {
    use std::fs::{File, Metadata};
    use std::io;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    /// The device, and the inode number.
    pub(super) type Id = (u64, u64);

    fn id(meta: &Metadata) -> Id {
        (meta.dev(), meta.ino())
    }

    pub(super) fn of(file: &File) -> io::Result<Id> {
        file.metadata().map(|meta| id(&meta))
    }

    pub(super) fn of_path(path: &Path) -> io::Result<Id> {
        std::fs::metadata(path).map(|meta| id(&meta))
    }
}

#[cfg(windows)]
mod system {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    pub(super) type Id = same_file::Handle;

    pub(super) fn of(file: &File) -> io::Result<Id> {
        Id::from_file(file.try_clone()?)
    }

    pub(super) fn of_path(path: &Path) -> io::Result<Id> {
        Id::from_path(path)
    }
}

#[cfg(not(any(unix, windows)))]
mod system {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    /// There are no files.
    pub(super) type Id = std::convert::Infallible;

    pub(super) fn of(_: &File) -> io::Result<Id> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn of_path(_: &Path) -> io::Result<Id> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moved_file_stays_the_same_and_its_successor_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let [path, moved] = ["log", "log.1"].map(|name| folder.path().join(name));
        let file = File::create(&path).unwrap();
        std::fs::rename(&path, &moved).unwrap();
        let successor = File::create(&path).unwrap();
        let id = FileId::of(&file).unwrap();
        assert_eq!(id, FileId::of_path(&moved).unwrap());
        assert_ne!(id, FileId::of_path(&path).unwrap());
        assert_ne!(id, FileId::of(&successor).unwrap());
        assert!(FileId::of_path(&folder.path().join("none")).is_err());
    }
}
