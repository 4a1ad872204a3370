//! The totals of a scan, as `--stats` and the `summary` record print them.

use fyke::{Fingerprint, Part};
use fyke_io::sink::json::Summary;
use std::io::{self, Write};
use std::time::Instant;

/// The totals of one input.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InputTotals {
    /// Matches, or lines with `--lines`.
    pub(crate) matches: u64,
    /// Bytes scanned.
    pub(crate) bytes: u64,
}

/// The totals of all inputs.
pub(crate) struct Totals {
    /// Files that were read to the end, or as far as the result needed it.
    pub(crate) files: u64,
    pub(crate) errors: u64,
    pub(crate) matches: u64,
    pub(super) files_with_matches: u64,
    bytes: u64,
    since: Instant,
}

impl Totals {
    /// Empty totals; the time starts here.
    pub(crate) fn start() -> Self {
        let since = Instant::now();
        Self { files: 0, errors: 0, matches: 0, files_with_matches: 0, bytes: 0, since }
    }

    pub(crate) fn add(&mut self, input: InputTotals) {
        self.matches += input.matches;
        self.files_with_matches += u64::from(input.matches > 0);
        self.bytes += input.bytes;
    }

    pub(crate) fn summary(&self, engine: &str) -> Summary {
        Summary {
            files: self.files,
            files_with_matches: self.files_with_matches,
            matches: self.matches,
            bytes: self.bytes,
            errors: self.errors,
            engine: engine.to_owned(),
            seconds: self.since.elapsed().as_secs_f64(),
        }
    }

    /// Prints the lines of `--stats`. Scripts rely on them: names and number of lines are fixed.
    pub(crate) fn print(&self, parts: &[Part], fingerprint: &Fingerprint) -> io::Result<()> {
        let mut to = io::stderr().lock();
        writeln!(to, "matches {}", self.matches)?;
        writeln!(to, "distinct {}", fingerprint.distinct())?;
        writeln!(to, "fingerprint {:016x}", fingerprint.sum)?;
        writeln!(to, "engine {}", Part::specs(parts))?;
        writeln!(to, "bytes {}", self.bytes)?;
        writeln!(to, "seconds {:.6}", self.since.elapsed().as_secs_f64())
    }
}
