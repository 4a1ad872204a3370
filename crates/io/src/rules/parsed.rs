//! What every parser takes and returns.

use super::counts::Counts;
use super::error::RuleError;
use super::table::Rules;

/// What to read from a pattern file. By default, everything that is not commented out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Also read rules that are commented out (`# alert ...`). Only for
    /// [`Format::Snort`](super::Format::Snort).
    pub commented: bool,
    /// Take a byte order mark at the start as a part of the first pattern. By default a mark says
    /// how the file is encoded: UTF-8 or UTF-16.
    pub keep_bom: bool,
}

/// The result of parsing a file.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// The patterns of all good rules, in file order.
    pub patterns: Rules,
    /// One error for each bad rule, in file order. A bad rule contributes no patterns.
    pub errors: Vec<RuleError>,
    /// What was read, but probably not as it was meant, in file order.
    pub warnings: Vec<RuleError>,
    /// What was read and what was not; zeros for a format without rules.
    pub counts: Counts,
}
