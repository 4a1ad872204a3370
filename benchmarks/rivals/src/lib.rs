//! The matchers that fyke is compared with, one file each.
//!
//! There are two kinds, which no table mixes:
//!
//! * A [`Rival`] is a library that finds **all** occurrences of all patterns, overlapping ones
//!   too. It is used through the fastest such call that its documentation offers. Its matches are
//!   compared with fyke's before anything is timed. [`calls`] are other [`Question`]s that some
//!   libraries answer: whether there is a match, the first one, those that do not overlap. [`sets`]
//!   are several sets, one of which each call scans with.
//! * A [`Program`] is run as a process. `rg` and `grep` print lines with leftmost matches that do
//!   not overlap. Their time includes starting up, reading the patterns, compiling, and reading
//!   the file.
//!
//! A rival that is not installed or cannot take a set gives a [`Refusal`] with the reason. C
//! libraries are opened at run time (see [`libhs`]), so this crate builds on a machine that has
//! none of them.
//!
//! To add a rival, write its file and add a line to [`RIVALS`] or [`PROGRAMS`].
#![deny(unsafe_code)]

pub mod aho_corasick;
pub mod aho_corasick_calls;
pub mod calls;
pub mod daachorse;
pub mod gnu_grep;
pub mod hyperscan;
#[allow(unsafe_code)] // The only module that calls foreign code.
pub mod libhs;
mod locate;
pub mod matches;
pub mod memmem;
pub mod program;
pub mod ripgrep;
pub mod rival;
pub mod sets;
pub mod vectorscan;

pub use calls::{Answer, CallJob, Caller, Question};
pub use matches::{FindAll, MatchSink};
pub use program::{Output, Program};
pub use rival::{Built, Job, Memory, Refusal, Rival, Scanner, Tally, Work};
pub use sets::{BuiltSets, SetCall, SetsScanner};

/// Every rival library.
pub static RIVALS: &[&dyn Rival] = &[
    &aho_corasick::NONCONTIGUOUS,
    &aho_corasick::CONTIGUOUS,
    &aho_corasick::DFA,
    &aho_corasick_calls::AS_ASKED,
    &aho_corasick_calls::LEFTMOST,
    &daachorse::PLAIN,
    &daachorse::SAMPLED,
    &hyperscan::RIVAL,
    &vectorscan::RIVAL,
    &memmem::RIVAL,
];

/// Every rival that is a program.
pub static PROGRAMS: &[&dyn Program] = &[&ripgrep::PROGRAM, &gnu_grep::PROGRAM];
