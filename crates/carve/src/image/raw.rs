//! A file or a block device.

use std::fs::{File, Metadata};
use std::io::{self, Seek, SeekFrom};
use std::path::Path;

use super::Image;

/// A file or a block device, read at any offset.
#[derive(Debug)]
pub(super) struct RawImage {
    name: String,
    file: File,
    len: u64,
}

impl RawImage {
    /// Opens a path that is no folder. The length of a device is the offset of its end.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        // Before it is opened: that would wait for a pipe's writer.
        if is_pipe(&path.metadata()?) {
            return Err(io::Error::other("it is a pipe: give it as standard input, by the name -"));
        }
        let mut file = File::open(path)?;
        let meta = file.metadata()?;
        if meta.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "this is a folder"));
        }
        let len = if meta.is_file() { meta.len() } else { file.seek(SeekFrom::End(0))? };
        if len == 0 && !meta.is_file() {
            let why = "it is a device that has no bytes, or does not tell how many: give it as \
                       standard input, by the name -";
            return Err(io::Error::other(why));
        }
        advise_sequential(&file);
        Ok(Self { name: path.display().to_string(), file, len })
    }
}

impl Image for RawImage {
    fn name(&self) -> &str {
        &self.name
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        return std::os::unix::fs::FileExt::read_at(&self.file, buf, offset);
        #[cfg(windows)]
        return std::os::windows::fs::FileExt::seek_read(&self.file, buf, offset);
    }

    fn prefetch(&self, offset: u64, len: usize) {
        advise_soon(&self.file, offset, len);
    }
}

#[cfg(unix)]
fn is_pipe(meta: &Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&meta.file_type())
}

#[cfg(not(unix))]
fn is_pipe(_: &Metadata) -> bool {
    false
}

/// Tells the system that the file is read once, in order. It is a hint, so an error is ignored.
#[cfg(target_os = "linux")]
fn advise_sequential(file: &File) {
    let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::Sequential);
}

/// Tells the system that these bytes are read soon. It is a hint, so an error is ignored.
#[cfg(target_os = "linux")]
fn advise_soon(file: &File, offset: u64, len: usize) {
    let len = std::num::NonZeroU64::new(len as u64);
    let _ = rustix::fs::fadvise(file, offset, len, rustix::fs::Advice::WillNeed);
}

#[cfg(not(target_os = "linux"))]
fn advise_sequential(_: &File) {}

#[cfg(not(target_os = "linux"))]
fn advise_soon(_: &File, _: u64, _: usize) {}
