//! Files: opened once, then read at any offset by any number of threads.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

/// Minimum size of the buffer that takes whole files.
const MIN_BUFFER: usize = 64 << 10;

/// An open path.
#[derive(Debug)]
pub enum Opened {
    /// A regular file. It is scanned up to the length that it had when it was opened: bytes that
    /// are appended later are ignored.
    File(DataFile),
    /// A FIFO, a device, or a file whose metadata says 0 bytes: an empty one, or one of unknown
    /// length such as those of `/proc`. It is read to the end.
    Stream(File),
}

/// Opens a path. A FIFO blocks until it has a writer.
///
/// # Errors
/// If the operating system refuses, or the path is a folder.
pub fn open(path: &Path) -> io::Result<Opened> {
    open_checked(path, |_, _| Ok(()))
}

/// Opens a path if `check` accepts the file. Opening reads the metadata anyway.
///
/// # Errors
/// As [`open`], and those of `check`.
pub fn open_checked(
    path: &Path,
    check: impl FnOnce(&File, &Metadata) -> io::Result<()>,
) -> io::Result<Opened> {
    let is_folder = || io::Error::new(io::ErrorKind::IsADirectory, "this is a folder, not a file");
    // Windows denies access to a folder.
    let denied = |error| if cfg!(windows) && path.is_dir() { is_folder() } else { error };
    let file = File::open(path).map_err(denied)?;
    let meta = file.metadata()?;
    check(&file, &meta)?;
    if meta.is_dir() {
        return Err(is_folder());
    }
    let regular = meta.is_file() && meta.len() > 0;
    Ok(if regular {
        Opened::File(DataFile { file, len: meta.len() })
    } else {
        Opened::Stream(file)
    })
}

/// A regular file, with the length that it had when it was opened.
#[derive(Debug)]
pub struct DataFile {
    file: File,
    len: u64,
}

impl DataFile {
    /// Length in bytes when the file was opened; not 0.
    #[allow(clippy::len_without_is_empty)] // an empty file is opened as a stream
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Fills the buffer with the bytes at an offset. Several threads may call it at the same time.
    ///
    /// # Errors
    /// If reading fails, or the file became shorter.
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let mut done = 0;
        while done < buffer.len() {
            match pread(&self.file, &mut buffer[done..], offset + done as u64) {
                Ok(0) => return Err(self.ends_at(offset + done as u64)),
                Ok(n) => done += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Reads the whole file into the buffer, which serves one file after the other: it only grows,
    /// and only new bytes are zeroed. Returns the bytes that were read, and the error if some are
    /// missing.
    pub fn read_whole<'b>(&self, buffer: &'b mut Vec<u8>) -> (&'b [u8], io::Result<()>) {
        let Ok(len) = usize::try_from(self.len) else {
            return (&[], Err(io::ErrorKind::FileTooLarge.into()));
        };
        if buffer.len() < len {
            buffer.resize(len.next_power_of_two().max(MIN_BUFFER), 0);
        }
        let mut done = 0;
        while done < len {
            match self.read_some(&mut buffer[done..len], done as u64) {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return (&buffer[..done], Err(e)),
            }
        }
        (&buffer[..done], Ok(()))
    }

    /// Reads once; 0 bytes are the end. If the file ends early and reports less than when it was
    /// opened, it has shrunk, which is an error. If it still reports the same length, it is a file
    /// of the kernel whose length is only nominal.
    fn read_some(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let n = pread(&self.file, buffer, offset)?;
        if n == 0 && !buffer.is_empty() && self.file.metadata()?.len() < self.len {
            return Err(self.ends_at(offset));
        }
        Ok(n)
    }

    /// A reader from the start of the file.
    pub fn into_reader(self) -> FileReader {
        FileReader { file: self, at: 0 }
    }

    fn ends_at(&self, at: u64) -> io::Error {
        let message = format!(
            "the file shrank during the scan, from {} to {at} bytes: scan a copy of it",
            self.len
        );
        io::Error::new(io::ErrorKind::UnexpectedEof, message)
    }
}

/// Reads a [`DataFile`] from start to end. A file that shrinks is an error.
#[derive(Debug)]
pub struct FileReader {
    file: DataFile,
    at: u64,
}

impl Read for FileReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.file.len - self.at;
        let want = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        if want == 0 {
            return Ok(0);
        }
        let n = self.file.read_some(&mut buffer[..want], self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}

#[cfg(unix)]
fn pread(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
fn pread(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

/// The other targets, such as wasm32, have no files to open.
#[cfg(not(any(unix, windows)))]
fn pread(_: &File, _: &mut [u8], _: u64) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn file(bytes: &[u8]) -> (tempfile::NamedTempFile, DataFile) {
        let mut temp = tempfile::NamedTempFile::new().unwrap();
        temp.write_all(bytes).unwrap();
        let Opened::File(file) = open(temp.path()).unwrap() else { panic!("a regular file") };
        (temp, file)
    }

    #[test]
    fn bytes_at_positions() {
        let (_temp, file) = file(b"0123456789");
        let mut buffer = [0; 4];
        file.read_at(6, &mut buffer).unwrap();
        assert_eq!((file.len(), &buffer), (10, b"6789"));
    }

    #[test]
    fn a_file_that_shrinks_is_an_error() {
        let (temp, file) = file(&[b'x'; 100]);
        temp.as_file().set_len(40).unwrap();
        let error = file.read_at(0, &mut [0; 50]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the file shrank during the scan, from 100 to 40 bytes: scan a copy of it"
        );
        let mut buffer = Vec::new();
        let (bytes, read) = file.read_whole(&mut buffer);
        assert_eq!((bytes, read.is_err()), (&[b'x'; 40][..], true));
        let error = file.into_reader().read_to_end(&mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_file_that_grows_is_read_to_the_length_it_had() {
        let (mut temp, file) = file(b"abc");
        temp.write_all(b"def").unwrap();
        assert_eq!(file.read_whole(&mut Vec::new()).0, b"abc");
        let mut bytes = Vec::new();
        file.into_reader().read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes, b"abc");
    }

    #[test]
    fn whole_files_share_a_buffer() {
        let (_a, long) = file(&[b'l'; 100_000]);
        let (_b, short) = file(b"short");
        let mut buffer = Vec::new();
        for _ in 0..2 {
            assert_eq!(long.read_whole(&mut buffer).0, [b'l'; 100_000]);
            assert_eq!(short.read_whole(&mut buffer).0, b"short");
        }
        assert_eq!(buffer.len(), 128 << 10);
    }

    #[test]
    fn a_check_refuses_before_the_file_is_read() {
        let (temp, _) = file(b"abc");
        let refuse = |_: &File, meta: &Metadata| Err(io::Error::other(meta.len().to_string()));
        assert_eq!(open_checked(temp.path(), refuse).unwrap_err().to_string(), "3");
    }

    #[test]
    fn folders_and_empty_files() {
        let folder = tempfile::tempdir().unwrap();
        assert!(open(folder.path()).unwrap_err().to_string().contains("folder"));
        let empty = tempfile::NamedTempFile::new().unwrap();
        assert!(matches!(open(empty.path()), Ok(Opened::Stream(_))));
    }
}
