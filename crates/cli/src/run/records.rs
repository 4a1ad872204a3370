//! A record for each match: as text or as NDJSON.

use super::failure::Failure;
use super::output::Output;
use fyke::{Batch, StreamMatch};
use fyke_io::sink::json::JsonPrinter;
use fyke_io::sink::{TextPrinter, Window};
use std::io;
use std::path::Path;

/// Prints the matches of one input after the other.
pub(super) enum Records<'r> {
    /// As text.
    Text(Box<TextPrinter<'r>>),
    /// As NDJSON.
    Json(JsonPrinter<'r>),
}

impl Records<'_> {
    pub(super) fn begin(&mut self, path: &Path) {
        match self {
            Records::Text(p) => p.begin(path),
            Records::Json(p) => p.begin(path),
        }
    }

    /// As [`TextPrinter::restart_output`].
    pub(super) fn restart_output(&mut self) {
        match self {
            Records::Text(p) => p.restart_output(),
            Records::Json(_) => {}
        }
    }

    /// Prints matches, and adds their number to `matches`.
    pub(super) fn print(
        &mut self,
        window: &Window<'_>,
        batch: &Batch<'_>,
        output: &Output,
        matches: &mut u64,
    ) -> Result<(), Failure> {
        let mut writer = output.lock();
        // One loop for both forms, so that the iterator is inlined.
        for m in batch.matches() {
            let printed = writer.try_record(|to| self.record(to, window, m));
            printed.map_err(Failure::Output)?.map_err(Failure::reading)?;
            *matches += 1;
        }
        Ok(())
    }

    fn record(&mut self, to: &mut Vec<u8>, window: &Window<'_>, m: StreamMatch) -> io::Result<()> {
        match self {
            Records::Text(p) => p.print(to, window, m),
            Records::Json(p) => p.print(to, window, m),
        }
    }

    /// Ends a block: the printer has every match that ends at or before `end`.
    pub(super) fn end_of_block(&mut self, window: &Window<'_>, end: u64) -> io::Result<()> {
        match self {
            Records::Text(p) => p.end_of_block(window, end),
            Records::Json(p) => p.end_of_block(window, end),
        }
    }

    /// Prints the record that ends an input, if there is one.
    pub(super) fn end(&self, bytes: u64, matches: u64, output: &Output) -> Result<(), Failure> {
        let Records::Json(p) = self else { return Ok(()) };
        let ended = output.lock().try_record(|to| p.end(to, matches, bytes));
        ended.map_err(Failure::Output)?.map_err(Failure::reading)
    }

    /// Start of the bytes that matches after `end` need; `None` if those of the block are enough.
    pub(super) fn needed_from(&mut self, window: &Window<'_>, end: u64) -> io::Result<Option<u64>> {
        match self {
            Records::Text(p) => p.needed_from(window, end),
            Records::Json(_) => Ok(None),
        }
    }
}
