//! Standard output, shared with the thread that handles interrupts.

use super::failure::Failure;
use fyke_io::sink::{RecordWriter, TextOptions};
use fyke_io::source::FileId;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type Writer = RecordWriter<Box<dyn Write + Send>>;

/// Standard output.
#[derive(Clone)]
pub(crate) struct Output {
    writer: Arc<Mutex<Writer>>,
    /// The identity of its file, if that is a regular one.
    file: Option<Arc<FileId>>,
}

impl Output {
    pub(crate) fn stdout() -> io::Result<Self> {
        let (to, file) = open()?;
        Ok(Self { writer: Arc::new(Mutex::new(RecordWriter::new(to))), file: file.map(Arc::new) })
    }

    /// An output to this writer.
    #[cfg(test)]
    pub(super) fn to(to: impl Write + Send + 'static) -> Self {
        Self { writer: Arc::new(Mutex::new(RecordWriter::new(Box::new(to)))), file: None }
    }

    /// The writer, locked: no other thread writes between the records of the holder.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the buffered records.
    pub(crate) fn flush(&self) -> Result<(), Failure> {
        self.lock().flush().map_err(Failure::Output)
    }

    /// Prints a path on a line of its own.
    pub(crate) fn path(&self, path: &Path, text: &TextOptions) -> Result<(), Failure> {
        let record = |to: &mut Vec<u8>| text.push_path_record(to, path);
        self.lock().record(record).map_err(Failure::Output)
    }

    /// An output for one of several threads, which writes to this one through `to`.
    pub(crate) fn through(&self, to: impl Write + Send + 'static) -> Self {
        let writer: Writer = RecordWriter::new(Box::new(to));
        Self { writer: Arc::new(Mutex::new(writer)), file: self.file.clone() }
    }

    /// Refuses an input that is also the output: the scan would read its own results.
    pub(crate) fn refuse_as_input(&self, input: &File) -> io::Result<()> {
        match &self.file {
            Some(output) if FileId::of(input)? == **output => {
                Err(io::Error::other("this file is also the output, so it is not scanned"))
            }
            _ => Ok(()),
        }
    }
}

/// The file behind standard output. `io::stdout` would write partial records from its own buffer.
#[cfg(unix)]
fn open() -> io::Result<(Box<dyn Write + Send>, Option<FileId>)> {
    use std::os::fd::AsFd;
    let file = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let id = id_of_regular(&file);
    Ok((Box::new(file), id))
}

#[cfg(windows)]
fn open() -> io::Result<(Box<dyn Write + Send>, Option<FileId>)> {
    use std::io::IsTerminal;
    use std::os::windows::io::AsHandle;
    if io::stdout().is_terminal() {
        return Ok((Box::new(Console(io::stdout())), None));
    }
    let file = File::from(io::stdout().as_handle().try_clone_to_owned()?);
    let id = id_of_regular(&file);
    Ok((Box::new(file), id))
}

/// The identity of a regular file. Others, such as pipes, may be read and written at once.
fn id_of_regular(file: &File) -> Option<FileId> {
    let is_regular = file.metadata().is_ok_and(|meta| meta.is_file());
    is_regular.then(|| FileId::of(file).ok()).flatten()
}

/// The console of Windows takes characters and refuses other bytes. Whole records are written, so
/// no character is divided.
#[cfg(any(windows, test))]
struct Console<W>(W);

#[cfg(any(windows, test))]
impl<W: Write> Write for Console<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(String::from_utf8_lossy(bytes).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_console_gets_characters() {
        let mut written = Vec::new();
        Console(&mut written).write_all(b"a\xffb\n\xc3\xb6").unwrap();
        assert_eq!(written, "a\u{fffd}b\nö".as_bytes());
    }
}
