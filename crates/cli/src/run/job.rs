//! What a scan has to do: the compiled patterns, what to print, and how.

use fyke::{Matcher, Semantics};
use fyke_io::rules::Rules;
use fyke_io::sink::{Boundaries, LineOptions, Replacements, ScanReport, TextOptions};
use std::sync::Mutex;

/// One scan of all inputs.
pub(crate) struct Job<'a> {
    pub(crate) matcher: &'a dyn Matcher,
    pub(crate) rules: &'a Rules,
    pub(crate) mode: Mode,
    pub(crate) semantics: Semantics,
    pub(crate) threads: usize,
    pub(crate) decompress: bool,
    /// Wait for what is appended to the inputs.
    pub(crate) tail: bool,
    /// Convert UTF-16 with a byte order mark to UTF-8.
    pub(crate) transcode: bool,
    /// What must surround matches.
    pub(crate) boundaries: Option<Boundaries>,
    /// Report lines instead of matches.
    pub(crate) lines: Option<LineOptions>,
    /// Stop after this many lines with a match of each input.
    pub(crate) max_lines: Option<u64>,
    /// With `Mode::Replace`, what stands in place of matches.
    pub(crate) replacements: Option<Replacements>,
    pub(crate) stats: bool,
    /// Where the hits of each input are added.
    pub(crate) report: Option<&'a Mutex<ScanReport>>,
    /// Print what could not be read.
    pub(crate) messages: bool,
    pub(crate) text: TextOptions,
}

/// What to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Matches, as text.
    Text,
    /// Matches, as NDJSON.
    Json,
    /// The haystack, with its matches replaced.
    Replace,
    /// The number of matches of each file.
    Count,
    /// The paths of files with a match.
    Files,
    /// The paths of files without a match.
    FilesWithout,
    /// Nothing.
    Quiet,
}

impl Job<'_> {
    /// Whether the scan of a file may stop at its first match.
    pub(super) fn first_is_enough(&self) -> bool {
        let one = matches!(self.mode, Mode::Files | Mode::FilesWithout | Mode::Quiet);
        one && !self.stats && self.report.is_none()
    }

    /// Whether the scan of all inputs may stop at the first match.
    pub(super) fn first_ends_scan(&self) -> bool {
        self.mode == Mode::Quiet && self.first_is_enough()
    }

    /// What stands between the records of two files.
    pub(super) fn file_separator(&self) -> &'static [u8] {
        let has_context = self.lines.is_some_and(|lines| lines.before > 0 || lines.after > 0);
        match self.mode {
            Mode::Text => self.text.file_separator(has_context),
            _ => b"",
        }
    }

    /// Whether matches are needed one by one and in order.
    pub(super) fn needs_order(&self) -> bool {
        if self.boundaries.is_some() || self.max_lines.is_some() || self.is_inverted() {
            return true;
        }
        if self.first_is_enough() {
            return false;
        }
        let filtered = self.semantics != Semantics::All || self.report.is_some();
        matches!(self.mode, Mode::Text | Mode::Json | Mode::Replace)
            || filtered
            || self.mode == Mode::Count && self.lines.is_some()
    }

    /// Bytes after a match that the printer needs; `None` for those up to the end of its line.
    pub(super) fn reach(&self) -> Option<usize> {
        let shows_context = self.lines.is_none() && !self.text.only_matching;
        match self.mode {
            Mode::Text if shows_context => self.text.columns.map(|columns| columns + 1),
            _ => Some(0),
        }
    }

    fn is_inverted(&self) -> bool {
        self.lines.is_some_and(|lines| lines.invert)
    }
}
