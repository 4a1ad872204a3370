//! How a run ends, as an exit code; and closed pipes, which are not reported as errors.

use std::io;
use std::process::ExitCode;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// There was a match, or a verb without matches succeeded.
    Match,
    /// There was no match.
    NoMatch,
    /// Something failed, and a message was printed.
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

/// Whether the error is a closed output pipe, as in `fyke ... | head`.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|e| e.kind() == io::ErrorKind::BrokenPipe)
}
