//! Ways to search a haystack that must all find the same matches.
//!
//! A vector states the matches in a haystack. They stay the same when the haystack starts at
//! another address or position, arrives in pieces, is saved and restored, or is split among
//! threads. Each function here is one such way, and [`WAYS`] names them all. Some ways cost the
//! product of two lengths. Above a named limit they try fewer points, and the tally counts that.

mod contract;
mod cuts;
mod meaning;
mod place;
mod threads;

use crate::audit::{Audit, same};
use crate::case::Case;
use crate::subject::Parallel;
use contract::{footprint, stopped};
use cuts::{chunks, gaps, random_chunks, ranges, restored, source};
use fyke_core::{Block, Device, Matcher, Scratch, Semantics, StreamMatch};
use meaning::semantics;
use place::{embedded, far, repeated, shifted, whole};
use std::sync::Arc;
use threads::threads;

/// A compiled case, ready to run.
pub struct Run<'a> {
    /// The engine's matcher for the case's set.
    pub matcher: Arc<dyn Matcher>,
    /// The haystack and the expected matches.
    pub case: &'a Case,
    /// The facade's parallel scan.
    pub parallel: Parallel,
    /// Seed of the random choices.
    pub seed: u64,
    /// Called with the reason when something is left out.
    pub skipped: &'a dyn Fn(&str),
}

/// One way. The error says what differs.
pub type Way = fn(&Run<'_>) -> Result<(), String>;

/// All ways, by name.
pub const WAYS: &[(&str, Way)] = &[
    ("whole", whole),
    ("embedded", embedded),
    ("far", far),
    ("shifted", shifted),
    ("repeated", repeated),
    ("chunks", chunks),
    ("random-chunks", random_chunks),
    ("restored", restored),
    ("ranges", ranges),
    ("gaps", gaps),
    ("source", source),
    ("threads", threads),
    ("semantics", semantics),
    ("stopped", stopped),
    ("footprint", footprint),
];

/// The ways for cases derived from a vector, which do not test positions.
pub const BRIEF_WAYS: &[(&str, Way)] =
    &[("whole", whole), ("chunks", chunks), ("ranges", ranges), ("semantics", semantics)];

/// Bytes of history that all cuts of one way may scan again. Above it, the way is skipped or
/// sampled. Without it, the long vectors take most of the suite's time.
const CUT_BYTES: usize = 1 << 20;

/// The same limit for a GPU engine. With the limit of the CPU, cuts take nearly all the time of
/// the long vectors where OpenCL runs on the CPU.
const CUT_BYTES_OF_DEVICE: usize = 256 << 10;

/// Bytes of history that one launch counts for, which limits one way to 512 launches. Without it,
/// the smallest parts take nearly all the time of `boundaries` where OpenCL runs on the CPU.
const LAUNCH: usize = 512;

/// The whole haystack for all matches, then one semantics on the whole haystack and in streams of
/// chunks of these sizes: the ways of a foreign case, which states a result for one semantics.
///
/// # Errors
/// What differs, and in which way.
pub fn stated(run: &Run<'_>, semantics: Semantics, sizes: &[usize]) -> Result<(), String> {
    whole(run)?;
    let sizes: Vec<usize> = sizes.iter().copied().filter(|&s| !run.too_many_cuts(s, 1)).collect();
    meaning::under(run, semantics, &sizes)
}

impl Run<'_> {
    fn haystack(&self) -> &[u8] {
        &self.case.haystack
    }

    fn overlap(&self) -> usize {
        self.case.set.overlap()
    }

    fn scan(&self, block: Block<'_>, scratch: &mut Scratch) -> Result<Vec<StreamMatch>, String> {
        let mut audit = Audit::of_block(&self.case.set, &block);
        let flow = self.matcher.scan(block, scratch, &mut audit);
        let found = audit.checked_matches()?;
        if flow.is_break() {
            Err("returns a break, but the sink did not break".into())
        } else {
            Ok(found)
        }
    }

    /// Scans a block that holds the whole haystack and expects its matches moved by `offset`.
    fn expect_moved(
        &self,
        block: Block<'_>,
        offset: u64,
        scratch: &mut Scratch,
    ) -> Result<(), String> {
        let expected: Vec<StreamMatch> =
            self.case.expected.iter().map(|m| moved(m, offset)).collect();
        same(&expected, &self.scan(block, scratch)?)
    }

    /// Whether this many cuts, each with `history` bytes to scan again, cost too much.
    fn is_costly(&self, cuts: usize, history: usize) -> bool {
        match self.matcher.info().device {
            Device::Cpu => cuts * history > CUT_BYTES,
            Device::Gpu => cuts * (history + LAUNCH) > CUT_BYTES_OF_DEVICE,
        }
    }

    /// Whether cutting the haystack into parts of `size`, this many times, costs too much.
    fn too_many_cuts(&self, size: usize, times: usize) -> bool {
        let costly = self.is_costly(times * (self.haystack().len() / size), self.overlap());
        if costly {
            (self.skipped)("a size of parts: so many cuts cost too much");
        }
        costly
    }
}

/// Adds to an error where it happened.
fn at<T>(what: std::fmt::Arguments<'_>, result: Result<T, String>) -> Result<T, String> {
    result.map_err(|e| format!("{what}: {e}"))
}

/// The match at a later position.
fn moved(m: &StreamMatch, by: u64) -> StreamMatch {
    StreamMatch { start: m.start + by, end: m.end + by, ..*m }
}
