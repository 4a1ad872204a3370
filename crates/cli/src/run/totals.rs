//! Totals of a run, and the form in which `--stats` prints them.

use fyke::Fingerprint;
use fyke_io::sink::json::Summary;
use std::io::{self, Write};
use std::time::Instant;

/// What was found in one input.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    /// Matches, or lines if these are the unit.
    pub(crate) units: u64,
    /// Bytes scanned.
    pub(crate) bytes: u64,
}

/// What was found in all.
pub(crate) struct Totals {
    pub(crate) files: u64,
    pub(crate) errors: u64,
    pub(crate) matches: u64,
    files_with_matches: u64,
    bytes: u64,
    since: Instant,
}

impl Totals {
    /// Nothing yet; the clock runs.
    pub(crate) fn start() -> Self {
        let since = Instant::now();
        Self { files: 0, errors: 0, matches: 0, files_with_matches: 0, bytes: 0, since }
    }

    pub(crate) fn add(&mut self, found: Found) {
        self.matches += found.units;
        self.files_with_matches += u64::from(found.units > 0);
        self.bytes += found.bytes;
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

    /// Prints the lines that scripts rely on: their names and number are fixed.
    pub(crate) fn print(&self, engine: &str, fingerprint: &Fingerprint) -> io::Result<()> {
        let mut to = io::stderr().lock();
        writeln!(to, "matches {}", self.matches)?;
        writeln!(to, "distinct {}", fingerprint.distinct())?;
        writeln!(to, "fingerprint {:016x}", fingerprint.sum)?;
        writeln!(to, "engine {engine}")?;
        writeln!(to, "bytes {}", self.bytes)?;
        writeln!(to, "seconds {:.6}", self.since.elapsed().as_secs_f64())
    }
}
