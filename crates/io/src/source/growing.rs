//! Files that others append to, such as logs, which are truncated or replaced from time to time.

use super::FileId;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A file that others append to. It is read from its start.
///
/// Reading gives 0 bytes where the file ends now: then call [`change`](Self::change), and read
/// again later.
///
/// ```
/// use fyke_io::source::{Change, GrowingFile};
/// use std::io::{Read, Write};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("log");
/// std::fs::write(&path, "one")?;
/// let mut file = GrowingFile::open(&path, |_, _| Ok(()))?;
/// let mut text = String::new();
/// file.read_to_string(&mut text)?;
/// std::fs::OpenOptions::new().append(true).open(&path)?.write_all(b", two")?;
/// file.read_to_string(&mut text)?;
/// assert_eq!((&*text, file.change()?), ("one, two", None));
/// std::fs::write(&path, "")?;
/// assert_eq!(file.change()?, Some(Change::Truncated));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct GrowingFile {
    file: File,
    path: PathBuf,
    /// Bytes that were read.
    at: u64,
    /// Whether its metadata gives its length, which that of a file of `/proc` does not.
    has_len: bool,
}

/// Why a file is to be opened again and read from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It became shorter than what was read of it.
    Truncated,
    /// Its path leads to another file.
    Replaced,
}

impl GrowingFile {
    /// Opens a file if `check` accepts it.
    ///
    /// # Errors
    /// If the operating system refuses, and those of `check`.
    pub fn open(
        path: &Path,
        check: impl FnOnce(&File, &Metadata) -> io::Result<()>,
    ) -> io::Result<Self> {
        let file = File::open(path)?;
        let meta = file.metadata()?;
        check(&file, &meta)?;
        Ok(Self { file, path: path.to_owned(), at: 0, has_len: meta.len() > 0 })
    }

    /// What happened to the file since it was opened, other than that it grew. If the path leads to
    /// no file, nothing has changed yet: in a rotation the new file follows, and until then the old
    /// one can be read.
    ///
    /// A file that was truncated and has grown again beyond what was read looks unchanged.
    ///
    /// # Errors
    /// If the metadata cannot be read.
    pub fn change(&mut self) -> io::Result<Option<Change>> {
        if self.has_len && self.file.metadata()?.len() < self.at {
            return Ok(Some(Change::Truncated));
        }
        let mine = FileId::of(&self.file)?;
        let is_replaced = FileId::of_path(&self.path).is_ok_and(|there| there != mine);
        Ok(is_replaced.then_some(Change::Replaced))
    }
}

impl Read for GrowingFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(buffer)?;
        self.at += n as u64;
        if n > 0 && !self.has_len {
            self.has_len = self.file.metadata()?.len() >= self.at;
        }
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;

    fn rest(file: &mut GrowingFile) -> String {
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn a_replaced_file_can_be_read_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, "a").unwrap();
        let mut file = GrowingFile::open(&path, |_, _| Ok(())).unwrap();
        assert_eq!((rest(&mut file), file.change().unwrap()), ("a".to_owned(), None));
        fs::rename(&path, folder.path().join("log.1")).unwrap();
        assert_eq!(file.change().unwrap(), None);
        let mut old =
            fs::OpenOptions::new().append(true).open(folder.path().join("log.1")).unwrap();
        old.write_all(b"b").unwrap();
        fs::write(&path, "new").unwrap();
        assert_eq!(file.change().unwrap(), Some(Change::Replaced));
        assert_eq!(rest(&mut file), "b");
    }

    #[test]
    fn an_empty_file_grows_and_is_truncated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = File::create(&path).unwrap();
        let mut file = GrowingFile::open(&path, |_, _| Ok(())).unwrap();
        assert_eq!((rest(&mut file), file.change().unwrap()), (String::new(), None));
        log.write_all(b"abc").unwrap();
        assert_eq!(rest(&mut file), "abc");
        log.set_len(2).unwrap();
        assert_eq!(file.change().unwrap(), Some(Change::Truncated));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_of_unknown_length_is_not_truncated() {
        let mut file = GrowingFile::open(Path::new("/proc/self/limits"), |_, _| Ok(())).unwrap();
        assert!(!rest(&mut file).is_empty());
        assert_eq!(file.change().unwrap(), None);
    }
}
