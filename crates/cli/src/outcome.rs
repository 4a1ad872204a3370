//! How a run ends: exit codes, and the errors that are none.

use std::io;
use std::process::ExitCode;

/// What a run came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Found something, or did what it was told to.
    Match,
    /// Found nothing.
    NoMatch,
    /// Something went wrong, and a message said what.
    Error,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        ExitCode::from(match outcome {
            Outcome::Match => 0,
            Outcome::NoMatch => 1,
            Outcome::Error => 2,
        })
    }
}

/// Whether an error says that nobody reads our output any more, as in `fyke ... | head`.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|e| e.kind() == io::ErrorKind::BrokenPipe)
}
