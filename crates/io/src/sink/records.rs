//! Output that ends at a whole record, whenever it ends.

use std::io::{self, Write};

/// Bytes that are gathered before they are written.
const ENOUGH: usize = 64 << 10;

/// Gathers records and writes them out in large pieces, each of whole records.
///
/// ```
/// let mut out = Vec::new();
/// let mut writer = fyke_io::sink::RecordWriter::new(&mut out);
/// writer.record(|to| to.extend_from_slice(b"one\n"))?;
/// writer.flush()?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct RecordWriter<W> {
    to: W,
    buffer: Vec<u8>,
}

impl<W: Write> RecordWriter<W> {
    /// A writer with an empty buffer. What is in the buffer is lost unless [`flush`](Self::flush) is called.
    pub fn new(to: W) -> Self {
        Self { to, buffer: Vec::with_capacity(ENOUGH + (ENOUGH >> 2)) }
    }

    /// Appends a record. What `fill` appends is dropped as a whole if it returns an error, which is then
    /// given as the inner result.
    ///
    /// # Errors
    /// Writing fails.
    pub fn try_record<T, E>(
        &mut self,
        fill: impl FnOnce(&mut Vec<u8>) -> Result<T, E>,
    ) -> io::Result<Result<T, E>> {
        let start = self.buffer.len();
        let filled = fill(&mut self.buffer).inspect_err(|_| self.buffer.truncate(start));
        self.flush_if_full()?;
        Ok(filled)
    }

    /// Appends a record.
    ///
    /// # Errors
    /// Writing fails.
    pub fn record(&mut self, fill: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        fill(&mut self.buffer);
        self.flush_if_full()
    }

    /// Writes out what there is.
    ///
    /// # Errors
    /// Writing fails; the buffer is empty all the same, so that nothing is written twice.
    pub fn flush(&mut self) -> io::Result<()> {
        self.write_out()?;
        self.to.flush()
    }

    fn flush_if_full(&mut self) -> io::Result<()> {
        if self.buffer.len() >= ENOUGH { self.write_out() } else { Ok(()) }
    }

    fn write_out(&mut self) -> io::Result<()> {
        let written = self.to.write_all(&self.buffer);
        self.buffer.clear();
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_records_are_written() {
        struct Pieces(Vec<Vec<u8>>);
        impl Write for &mut Pieces {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.push(bytes.to_vec());
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut pieces = Pieces(Vec::new());
        let mut writer = RecordWriter::new(&mut pieces);
        for _ in 0..10_000 {
            writer.record(|to| to.extend_from_slice(b"some record\n")).unwrap();
        }
        let failed = |to: &mut Vec<u8>| {
            to.extend_from_slice(b"half a rec");
            Err::<(), _>(io::Error::other("cannot be read"))
        };
        assert!(writer.try_record(failed).unwrap().is_err());
        writer.flush().unwrap();
        assert!(pieces.0.len() > 1 && pieces.0.iter().all(|p| p.ends_with(b"\n")));
        assert_eq!(pieces.0.concat().len(), 120_000);
    }
}
