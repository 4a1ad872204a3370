//! What a scan has to do: the compiled patterns, what to print, and how.

use fyke::{Matcher, Semantics};
use fyke_io::rules::Rules;
use fyke_io::sink::TextOptions;

/// One scan of all inputs.
pub(crate) struct Job<'a> {
    pub(crate) matcher: &'a dyn Matcher,
    pub(crate) rules: &'a Rules,
    pub(crate) mode: Mode,
    pub(crate) semantics: Semantics,
    pub(crate) threads: usize,
    pub(crate) decompress: bool,
    /// Convert UTF-16 with a byte order mark to UTF-8.
    pub(crate) transcode: bool,
    /// Print or count lines instead of matches.
    pub(crate) lines: bool,
    pub(crate) stats: bool,
    pub(crate) text: TextOptions,
}

/// What to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Matches, as text.
    Text,
    /// Matches, as NDJSON.
    Json,
    /// The number of matches of each file.
    Count,
    /// The paths of files with a match.
    Files,
    /// Nothing.
    Quiet,
}

impl Job<'_> {
    /// Whether the scan of a file may stop at its first match.
    pub(super) fn first_is_enough(&self) -> bool {
        matches!(self.mode, Mode::Files | Mode::Quiet) && !self.stats
    }

    /// Whether the scan of all inputs may stop at the first match.
    pub(super) fn first_ends_it(&self) -> bool {
        self.mode == Mode::Quiet && self.first_is_enough()
    }

    /// Whether matches are needed one by one and in order.
    pub(super) fn needs_order(&self) -> bool {
        if self.first_is_enough() {
            return false;
        }
        let filtered = self.semantics != Semantics::All;
        matches!(self.mode, Mode::Text | Mode::Json)
            || filtered
            || self.mode == Mode::Count && self.lines
    }

    /// Bytes around a match that the printer needs.
    pub(super) fn reach(&self) -> usize {
        match self.mode {
            Mode::Text if !self.text.only_matching => self.text.columns + 1,
            _ => 0,
        }
    }
}
