//! What a rival library is to the benchmark: built once, then scanned with.

use std::fmt;
use std::thread;

use fyke_core::{Block, PatternSet};

use crate::calls::{CallJob, Caller};
use crate::sets::{BuiltSets, SeparateSets};

/// What is done with each match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Count it.
    Count,
    /// Read its end and its pattern.
    Touch,
    /// Hash it for comparison with other matchers. Not for timing.
    Fingerprint,
}

/// The result of a scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Matches.
    pub count: u64,
    /// [`Work::Fingerprint`]: the sum over all matches, modulo 2^64, of FNV-1a of the end (8 bytes,
    /// little-endian) and the pattern's dense index (the same). It does not depend on the order.
    /// [`Work::Touch`]: a sum of ends and indices.
    pub sum: u64,
    /// Matches that came before an earlier one, from matchers that promise an order; else 0.
    pub out_of_order: u64,
}

impl Tally {
    /// The sum of the tallies of two disjoint pieces.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            sum: self.sum.wrapping_add(other.sum),
            out_of_order: self.out_of_order + other.out_of_order,
        }
    }
}

/// Why a rival does not take part. Refusals are values: they are counted and printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

/// What a rival has to compile.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The patterns. A rival reports the dense index of each match in this set.
    pub set: &'a PatternSet,
    /// Sample of the haystack, for rivals that adapt to it.
    pub sample: &'a [u8],
    /// Threads that will scan, for matchers that have to know it beforehand.
    pub threads: usize,
    /// Bytes of a typical call, if the haystack comes in calls.
    pub expected_call: Option<u64>,
    /// Most bytes of the compiled form. A rival that knows its size beforehand refuses to exceed
    /// it.
    pub memory_limit: u64,
}

/// A library that finds occurrences of a set of patterns.
pub trait Rival: Sync {
    /// The name in tables and on the command line.
    fn name(&self) -> &'static str;

    /// What it is, and which of its calls is timed.
    fn about(&self) -> &'static str;

    /// Its version, or why it is absent.
    ///
    /// # Errors
    /// The library is not installed, or does not run on this machine.
    fn version(&self) -> Result<String, Refusal>;

    /// Compiles a set.
    ///
    /// # Errors
    /// The rival is absent or cannot take this set.
    fn build(&self, job: &Job<'_>) -> Result<Box<dyn Built>, Refusal>;

    /// Compiles several sets, one of which each call scans with.
    ///
    /// # Errors
    /// The rival is absent or cannot take one of the sets.
    fn build_sets(&self, jobs: &[Job<'_>]) -> Result<Box<dyn BuiltSets>, Refusal> {
        Ok(Box::new(SeparateSets::build(self, jobs)?))
    }

    /// Whether it finds all occurrences; those that do not take part in [`calls`](crate::calls)
    /// only.
    fn finds_all(&self) -> bool {
        true
    }

    /// Compiles a set to answer a question; `None` if the library has no call for it,
    /// or none for so many patterns.
    ///
    /// # Errors
    /// The rival is absent or cannot take this set.
    fn caller(&self, _job: &CallJob<'_>) -> Option<Result<Box<dyn Caller>, Refusal>> {
        None
    }
}

impl<R: Rival + ?Sized> Rival for &R {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn about(&self) -> &'static str {
        (**self).about()
    }

    fn version(&self) -> Result<String, Refusal> {
        (**self).version()
    }

    fn build(&self, job: &Job<'_>) -> Result<Box<dyn Built>, Refusal> {
        (**self).build(job)
    }

    fn build_sets(&self, jobs: &[Job<'_>]) -> Result<Box<dyn BuiltSets>, Refusal> {
        (**self).build_sets(jobs)
    }

    fn finds_all(&self) -> bool {
        (**self).finds_all()
    }

    fn caller(&self, job: &CallJob<'_>) -> Option<Result<Box<dyn Caller>, Refusal>> {
        (**self).caller(job)
    }
}

/// A compiled set, shared by the threads that scan with it.
pub trait Built: Send + Sync {
    /// Makes a scanner for one thread.
    ///
    /// # Errors
    /// The rival cannot allocate it.
    fn scanner(&self) -> Result<Box<dyn Scanner + '_>, Refusal>;

    /// Memory of the compiled set, if the rival reports it.
    fn memory(&self) -> Option<Memory>;

    /// The engines that a planner chose.
    fn taken(&self) -> Option<String> {
        None
    }

    /// Scans one haystack with several threads. `overlap` is the history a piece needs.
    ///
    /// No rival has such a call, so the haystack is split into equal blocks, each of which owns the
    /// matches that end in it.
    ///
    /// # Errors
    /// Scanning a piece failed.
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

/// The memory of a compiled set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Bytes.
    pub bytes: u64,
    /// The call that gave the figure.
    pub from: &'static str,
}

/// Scans on one thread.
pub trait Scanner {
    /// Finds every match that the block owns, and does `work` with each.
    ///
    /// # Errors
    /// The scan failed.
    fn scan(&mut self, block: Block<'_>, work: Work) -> Result<Tally, Refusal>;

    /// Finds every match in each of many independent haystacks, such as packets. One call each,
    /// unless the matcher has a batch call.
    ///
    /// # Errors
    /// A scan failed.
    fn scan_each(&mut self, haystacks: &[&[u8]], work: Work) -> Result<Tally, Refusal> {
        let one = |tally: Tally, haystack: &&[u8]| {
            Ok(tally.plus(self.scan(Block::whole(haystack), work)?))
        };
        haystacks.iter().try_fold(Tally::default(), one)
    }
}
