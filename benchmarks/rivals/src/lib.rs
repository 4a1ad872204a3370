//! The matchers that fyke is measured against, one file each.
//!
//! Two kinds of rival, never mixed in one table:
//!
//! * A [`Rival`] is a library that finds **all** occurrences of all patterns, overlapping ones too:
//!   the result fyke defines as right. It is driven through the fastest call for that which its
//!   own documentation offers, and its matches are compared with fyke's before anything is timed.
//! * A [`Program`] is a command that is started as a process. `rg` and `grep` print lines and take
//!   leftmost matches that do not overlap, so they answer another question; their time includes
//!   starting up, reading the patterns, compiling, and reading the file.
//!
//! A rival that is not installed or cannot take a set gives a [`Refusal`] that says why. Nothing
//! links against a rival's C library: it is opened at run time (see [`libhs`]), so this crate
//! builds on a machine that has none of them.
//!
//! To add one: write a file, add its line to [`RIVALS`] or [`PROGRAMS`].
#![deny(unsafe_code)]

pub mod aho_corasick;
pub mod daachorse;
pub mod fold;
pub mod gnu_grep;
pub mod hyperscan;
#[allow(unsafe_code)] // The one place that calls foreign code; every block says why it may.
pub mod libhs;
mod locate;
pub mod program;
pub mod ripgrep;
pub mod vectorscan;

use std::fmt;
use std::thread;

use fyke_core::{Block, PatternSet};

pub use fold::{Tally, Walk, Work};
pub use program::{Output, Program};

/// Every rival library.
pub static RIVALS: &[&dyn Rival] = &[
    &aho_corasick::NONCONTIGUOUS,
    &aho_corasick::CONTIGUOUS,
    &aho_corasick::DFA,
    &daachorse::PLAIN,
    &daachorse::PROFILED,
    &hyperscan::RIVAL,
    &vectorscan::RIVAL,
];

/// Every rival that is a program.
pub static PROGRAMS: &[&dyn Program] = &[&ripgrep::PROGRAM, &gnu_grep::PROGRAM];

/// Why a rival does not take part: a value, to be counted and printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

/// What a rival is asked to compile.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The patterns. A rival reports the dense index of each match in this set.
    pub set: &'a PatternSet,
    /// Some of the data to be scanned, for rivals that tune themselves by it.
    pub sample: &'a [u8],
    /// Most bytes the compiled form may take. A rival whose need is known beforehand refuses more.
    pub memory_limit: u64,
}

/// A library that finds all occurrences of a set of patterns.
pub trait Rival: Sync {
    /// The name in tables and on the command line.
    fn name(&self) -> &'static str;

    /// What it is, and which of its calls is timed.
    fn about(&self) -> &'static str;

    /// Its version, or why it is not there.
    ///
    /// # Errors
    /// The library is not installed, or does not run on this machine.
    fn version(&self) -> Result<String, Refusal>;

    /// Compiles a set.
    ///
    /// # Errors
    /// The rival is absent or cannot take this set.
    fn build(&self, job: &Job<'_>) -> Result<Box<dyn Built>, Refusal>;
}

/// A compiled set, shared by the threads that scan with it.
pub trait Built: Send + Sync {
    /// What one thread needs to scan.
    ///
    /// # Errors
    /// The rival has no memory for it.
    fn scanner(&self) -> Result<Box<dyn Scanner + '_>, Refusal>;

    /// Bytes of memory, if the rival can tell.
    fn memory(&self) -> Option<Memory>;

    /// What does the work, if it was chosen among several: the engine that a planner took.
    fn taken(&self) -> Option<String> {
        None
    }

    /// Scans one haystack with several threads. `overlap` is the history a piece needs.
    ///
    /// No rival has a call for this, so the haystack is split under fyke's ownership rule.
    ///
    /// # Errors
    /// The rival gave up on a piece.
    fn scan_threads(
        &self,
        haystack: &[u8],
        overlap: usize,
        threads: usize,
        work: Work,
    ) -> Result<Tally, Refusal> {
        let size = haystack.len().div_ceil(threads);
        let pieces: Vec<Block<'_>> = Block::whole(haystack).pieces(size, overlap).collect();
        thread::scope(|scope| {
            let scan = |block| scope.spawn(move || self.scanner()?.scan(block, work));
            let running: Vec<_> = pieces.into_iter().map(scan).collect();
            let join =
                |r: thread::ScopedJoinHandle<'_, _>| r.join().expect("scanning does not panic");
            running.into_iter().map(join).try_fold(Tally::default(), |t, piece| Ok(t.plus(piece?)))
        })
    }
}

/// How much memory a compiled set takes, and who says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Bytes.
    pub bytes: u64,
    /// The call that gave the figure.
    pub from: &'static str,
}

/// One thread's means to scan.
pub trait Scanner {
    /// Finds every match that the block owns, and does `work` with each.
    ///
    /// # Errors
    /// The rival gave up on this haystack.
    fn scan(&mut self, block: Block<'_>, work: Work) -> Result<Tally, Refusal>;

    /// Finds every match in each of many haystacks that have nothing to do with each other, such as
    /// packets. By a call for each, unless there is a better way.
    ///
    /// # Errors
    /// The rival gave up on one of them.
    fn scan_each(&mut self, haystacks: &[&[u8]], work: Work) -> Result<Tally, Refusal> {
        let one = |tally: Tally, haystack: &&[u8]| {
            Ok(tally.plus(self.scan(Block::whole(haystack), work)?))
        };
        haystacks.iter().try_fold(Tally::default(), one)
    }
}

impl<W: Walk> Scanner for W {
    fn scan(&mut self, block: Block<'_>, work: Work) -> Result<Tally, Refusal> {
        fold::run(self, block, work)
    }
}
