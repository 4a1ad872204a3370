//! Errors and refusals.
//!
//! An *error* is a caller's mistake or bad data. A *refusal* is the answer of an engine that
//! cannot take a set on this machine; it says why. Every message says what failed, the limit and
//! the value, and what to do.

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

    /// The position of the bad pattern, from 0, in the order of adding.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Whether the pattern is empty. An empty pattern would match at every position.
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
                "pattern {number} has {len} bytes, the limit is {}: shorten it, or search for its first {} bytes and compare the rest",
                crate::pattern::MAX_LEN,
                crate::pattern::MAX_LEN
            ),
            PatternErrorKind::TooMany => {
                write!(
                    f,
                    "pattern {number} is one too many, the limit is {} patterns: split the set",
                    u32::MAX
                )
            }
            PatternErrorKind::TooManyBytes => {
                write!(
                    f,
                    "pattern {number} makes the set too long, the limit is {} bytes: split the set",
                    u32::MAX
                )
            }
        }
    }
}

impl std::error::Error for PatternError {}

/// Why an engine does not take a pattern set, or does not run on this machine.
///
/// A refusal is an answer, not a failure. Tests and benchmarks count and print refusals, so that
/// "skipped: no device" is never mistaken for "passed".
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The shortest pattern is too short for the algorithm.
    TooShort {
        /// Bytes that every pattern must have.
        min: usize,
        /// Bytes of the shortest pattern of the set.
        have: usize,
    },
    /// The set needs more of something than the limit. Nothing was allocated for it.
    TooBig {
        /// The unit: [`Refusal::MEMORY`], `"states"`, `"patterns"`.
        what: &'static str,
        /// What the set needs.
        need: u64,
        /// The limit.
        have: u64,
    },
    /// The device or its driver is missing: why, and how to get it.
    NoDevice(String),
    /// The CPU lacks this instruction set.
    NoIsa(&'static str),
    /// The engine does not know an option or its value: which, and what it takes instead.
    BadOption(String),
    /// No engine has this name.
    NoEngine(String),
}

impl Refusal {
    /// The unit of a [`Refusal::TooBig`] that exceeds a memory limit.
    pub const MEMORY: &str = "bytes of memory";
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::TooShort { min, have } => {
                write!(
                    f,
                    "this engine needs patterns of {min} bytes or more, the shortest has {have}: \
                     take another engine for short patterns"
                )
            }
            Refusal::TooBig { what, need, have } => {
                let advice = match *what {
                    Refusal::MEMORY => "raise the memory limit or split the set",
                    _ => "split the set or take another engine",
                };
                write!(f, "needs {need} {what}, the limit is {have}: {advice}")
            }
            Refusal::NoDevice(why) => write!(f, "no device: {why}"),
            Refusal::NoIsa(isa) => write!(f, "this CPU has no {isa}: take isa=auto"),
            Refusal::BadOption(why) => write!(f, "bad engine option: {why}"),
            Refusal::NoEngine(name) => {
                write!(f, "there is no engine named {name:?}: `fyke engines` lists them")
            }
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
                    "the stream state has version {v}, this build reads version {}: feed the haystack again",
                    crate::stream::STATE_VERSION
                )
            }
            StateErrorKind::Damaged => {
                f.write_str("the stream state is truncated or damaged: feed the haystack again")
            }
            StateErrorKind::OtherSet => f.write_str(
                "the stream state was saved with another pattern set: restore it with that set",
            ),
            StateErrorKind::OtherSemantics => f.write_str(
                "the stream state was saved with other match semantics: restore it with those",
            ),
        }
    }
}

impl std::error::Error for StateError {}
