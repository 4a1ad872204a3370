//! Whether two paths or handles lead to the same file.

use std::fs::File;
use std::io;
use std::path::Path;

/// Which file it is, whatever path or handle leads to it.
///
/// On Windows a value keeps its file open, because an open file keeps its number there.
///
/// ```
/// use fyke_io::source::FileId;
/// let file = tempfile::NamedTempFile::new()?;
/// assert_eq!(FileId::of(file.as_file())?, FileId::of_path(file.path())?);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct FileId(Id);

/// The device, and the number of the file on it.
#[cfg(unix)]
type Id = (u64, u64);

#[cfg(windows)]
type Id = same_file::Handle;

/// There are no files.
#[cfg(not(any(unix, windows)))]
type Id = std::convert::Infallible;

#[cfg(unix)]
impl FileId {
    /// That of an open file.
    ///
    /// # Errors
    /// If the operating system does not tell it.
    pub fn of(file: &File) -> io::Result<Self> {
        file.metadata().map(|meta| Self::from(&meta))
    }

    /// That of the file that a path leads to.
    ///
    /// # Errors
    /// If there is no file, or the operating system does not tell it.
    pub fn of_path(path: &Path) -> io::Result<Self> {
        std::fs::metadata(path).map(|meta| Self::from(&meta))
    }
}

#[cfg(unix)]
impl From<&std::fs::Metadata> for FileId {
    fn from(meta: &std::fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self((meta.dev(), meta.ino()))
    }
}

#[cfg(windows)]
impl FileId {
    /// That of an open file.
    ///
    /// # Errors
    /// If the operating system does not tell it.
    pub fn of(file: &File) -> io::Result<Self> {
        same_file::Handle::from_file(file.try_clone()?).map(Self)
    }

    /// That of the file that a path leads to.
    ///
    /// # Errors
    /// If there is no file, or the operating system does not tell it.
    pub fn of_path(path: &Path) -> io::Result<Self> {
        same_file::Handle::from_path(path).map(Self)
    }
}

#[cfg(not(any(unix, windows)))]
impl FileId {
    /// That of an open file.
    ///
    /// # Errors
    /// Always: there are no files.
    pub fn of(_: &File) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// That of the file that a path leads to.
    ///
    /// # Errors
    /// Always: there are no files.
    pub fn of_path(_: &Path) -> io::Result<Self> {
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
