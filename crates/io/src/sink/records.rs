//! Buffered output that always ends with a whole record.

use std::io::{self, Write};

/// Buffered bytes from which on the buffer is written.
const FLUSH_SIZE: usize = 64 << 10;

/// Buffers records and writes them in large pieces of whole records.
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
    /// A writer with an empty buffer. Dropping it loses the buffer: call [`flush`](Self::flush).
    pub fn new(to: W) -> Self {
        Self { to, buffer: Vec::with_capacity(FLUSH_SIZE + (FLUSH_SIZE >> 2)) }
    }

    /// Appends a record. If `fill` returns an error, which is the inner result, everything that it
    /// appended is removed.
    ///
    /// # Errors
    /// If writing fails.
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
    /// If writing fails.
    pub fn record(&mut self, fill: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        fill(&mut self.buffer);
        self.flush_if_full()
    }

    /// Writes the buffered records.
    ///
    /// # Errors
    /// If writing fails. The buffer is empty then too, so that nothing is written twice.
    pub fn flush(&mut self) -> io::Result<()> {
        self.write_out()?;
        self.to.flush()
    }

    fn flush_if_full(&mut self) -> io::Result<()> {
        if self.buffer.len() >= FLUSH_SIZE { self.write_out() } else { Ok(()) }
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
