//! The totals of a scan, as `--stats` and the `summary` record print them.

use fyke::{Fingerprint, Part};
use fyke_io::sink::json::Summary;
use std::io::{self, Write};
use std::time::Instant;

/// The totals of one input.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InputTotals {
    /// Whether it was opened.
    pub(crate) opened: bool,
    /// Matches, or lines with `--lines`.
    pub(crate) matches: u64,
    /// Bytes scanned.
    pub(crate) bytes: u64,
}

/// The totals of several inputs.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    /// Files that were read to the end, or as far as the result needed it.
    pub(crate) files: u64,
    pub(crate) errors: u64,
    pub(crate) matches: u64,
    pub(super) files_with_matches: u64,
    bytes: u64,
    fingerprint: Fingerprint,
}

impl Totals {
    pub(crate) fn add(&mut self, input: InputTotals) {
        self.files += u64::from(input.opened);
        self.matches += input.matches;
        self.files_with_matches += u64::from(input.matches > 0);
        self.bytes += input.bytes;
    }

    /// Adds the fingerprint of all inputs of a thread.
    pub(crate) fn add_fingerprint(&mut self, of_thread: &Fingerprint) {
        self.fingerprint.merge(of_thread);
    }

    /// Adds the totals of another thread.
    pub(crate) fn merge(&mut self, other: &Totals) {
        self.files += other.files;
        self.errors += other.errors;
        self.matches += other.matches;
        self.files_with_matches += other.files_with_matches;
        self.bytes += other.bytes;
        self.fingerprint.merge(&other.fingerprint);
    }

    pub(crate) fn summary(&self, engine: &str, since: Instant) -> Summary {
        Summary {
            files: self.files,
            files_with_matches: self.files_with_matches,
            matches: self.matches,
            bytes: self.bytes,
            errors: self.errors,
            engine: engine.to_owned(),
            seconds: since.elapsed().as_secs_f64(),
        }
    }

    /// Prints the lines of `--stats`. Scripts rely on them: names and number of lines are fixed.
    pub(crate) fn print(&self, parts: &[Part], since: Instant) -> io::Result<()> {
        let mut to = io::stderr().lock();
        writeln!(to, "matches {}", self.matches)?;
        writeln!(to, "distinct {}", self.fingerprint.distinct())?;
        writeln!(to, "fingerprint {:016x}", self.fingerprint.sum)?;
        writeln!(to, "engine {}", Part::specs(parts))?;
        writeln!(to, "bytes {}", self.bytes)?;
        writeln!(to, "seconds {:.6}", since.elapsed().as_secs_f64())
    }
}
