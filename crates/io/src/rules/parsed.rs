//! What every parser takes and returns.

use super::error::RuleError;
use super::table::Rules;

/// What to read from a pattern file. By default, everything that is not commented out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Also read rules that are commented out (`# alert ...`). Only for
    /// [`Format::Snort`](super::Format::Snort).
    pub commented: bool,
}

/// The result of parsing a file.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// The patterns of all good rules, in file order.
    pub patterns: Rules,
    /// One error for each bad rule, in file order. A bad rule contributes no patterns.
    pub errors: Vec<RuleError>,
}
