//! Errors and refusals. An *error* is a caller's mistake or bad data; a *refusal* is an engine
//! saying, as a value, that it cannot take a set on this machine, and why.

use std::fmt;

/// Why a pattern could not be added to a [`PatternSet`](crate::PatternSet).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    position: usize,
    kind: PatternErrorKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternErrorKind {
    Empty,
    TooLong { len: usize },
    TooMany,
    TooManyBytes,
}

impl PatternError {
    pub(crate) fn empty(position: usize) -> Self {
        Self { position, kind: PatternErrorKind::Empty }
    }
    pub(crate) fn too_long(position: usize, len: usize) -> Self {
        Self { position, kind: PatternErrorKind::TooLong { len } }
    }
    pub(crate) fn too_many(position: usize) -> Self {
        Self { position, kind: PatternErrorKind::TooMany }
    }
    pub(crate) fn too_many_bytes(position: usize) -> Self {
        Self { position, kind: PatternErrorKind::TooManyBytes }
    }

    /// Which pattern was refused: its zero-based position in the order of adding.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Whether the pattern was empty. An empty pattern would match everywhere; leave it out.
    pub fn is_empty_pattern(&self) -> bool {
        self.kind == PatternErrorKind::Empty
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.position + 1;
        match self.kind {
            PatternErrorKind::Empty => {
                write!(f, "pattern {number} is empty: it would match everywhere; leave it out")
            }
            PatternErrorKind::TooLong { len } => write!(
                f,
                "pattern {number} has {len} bytes, the limit is {}: shorten it, or match its first {} bytes and compare the rest",
                crate::pattern::MAX_LEN,
                crate::pattern::MAX_LEN
            ),
            PatternErrorKind::TooMany => {
                write!(
                    f,
                    "pattern {number} is one too many: a set holds at most {} patterns; split it",
                    u32::MAX
                )
            }
            PatternErrorKind::TooManyBytes => {
                write!(
                    f,
                    "pattern {number} brings the set over {} bytes in all; split it",
                    u32::MAX
                )
            }
        }
    }
}

impl std::error::Error for PatternError {}

/// Why an engine does not take a pattern set, or does not run on this machine.
///
/// A refusal is an answer and not a failure: tests and benchmarks count and print them, so that
/// "skipped, there is no such device" is never mistaken for "passed".
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The shortest pattern is below what the algorithm can take.
    TooShort {
        /// Bytes the algorithm needs in every pattern.
        min: usize,
        /// Bytes of the shortest pattern of the set.
        have: usize,
    },
    /// Something would be larger than a limit allows. Nothing was allocated for it.
    TooBig {
        /// What is too big, with its unit: `"bytes of memory"`, `"states"`.
        what: &'static str,
        /// How much the set needs.
        need: u64,
        /// How much there is.
        have: u64,
    },
    /// There is no such device, or no driver for it.
    NoDevice(String),
    /// The processor lacks an instruction set.
    NoIsa(&'static str),
    /// An option that the engine does not know, or a value that it does not take.
    BadOption(String),
    /// There is no engine of that name.
    NoEngine(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::TooShort { min, have } => {
                write!(f, "the shortest pattern has {have} bytes, this engine needs {min} or more")
            }
            Refusal::TooBig { what, need, have } => {
                write!(f, "needs {need} {what}, the limit is {have}")
            }
            Refusal::NoDevice(why) => write!(f, "no device: {why}"),
            Refusal::NoIsa(isa) => write!(f, "this processor has no {isa}"),
            Refusal::BadOption(why) => write!(f, "bad engine option: {why}"),
            Refusal::NoEngine(name) => write!(f, "there is no engine named {name:?}"),
        }
    }
}

impl std::error::Error for Refusal {}

/// Why the saved state of a stream could not be restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateError(pub(crate) StateErrorKind);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StateErrorKind {
    NotAState,
    Version(u32),
    Damaged,
    OtherSet,
    OtherSemantics,
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            StateErrorKind::NotAState => f.write_str("these bytes are not a saved stream state"),
            StateErrorKind::Version(v) => {
                write!(
                    f,
                    "the stream state has version {v}, this build reads version {}",
                    crate::stream::STATE_VERSION
                )
            }
            StateErrorKind::Damaged => {
                f.write_str("the stream state is truncated or damaged: its checksum does not fit")
            }
            StateErrorKind::OtherSet => {
                f.write_str("the stream state was saved with another pattern set")
            }
            StateErrorKind::OtherSemantics => {
                f.write_str("the stream state was saved with other match semantics")
            }
        }
    }
}

impl std::error::Error for StateError {}
