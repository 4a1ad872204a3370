//! Errors and warnings about a configuration, each with its place and what to do.

use std::fmt;

/// What is wrong at one place of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The path of the configuration, as the caller gave it.
    pub path: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in bytes, counted from 1.
    pub column: usize,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub help: String,
}

/// Why a configuration cannot be used.
pub type ConfError = Diagnostic;
/// A likely mistake.
pub type Warning = Diagnostic;

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, column, what, help } = self;
        write!(f, "{path}:{line}:{column}: {what}; {help}")
    }
}

impl std::error::Error for Diagnostic {}

/// A diagnostic before it has a path and a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Remark {
    pub(super) column: usize,
    pub(super) what: String,
    pub(super) help: String,
}

impl Remark {
    pub(super) fn new(column: usize, what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { column, what: what.into(), help: help.into() }
    }

    pub(super) fn at(self, path: &str, line: usize) -> Diagnostic {
        let Self { column, what, help } = self;
        Diagnostic { path: path.into(), line, column, what, help }
    }
}
