//! Ways to search that must not matter.
//!
//! A vector says what is in a haystack. That stays so when the haystack starts elsewhere, arrives in
//! pieces, is saved half-way, or is cut among threads; each function here is one such way, and
//! [`WAYS`] names them. Some ways cost the product of two lengths: where that passes a named limit,
//! fewer points are tried, and the tally says so.

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
use fyke_core::{Block, Device, Match, Matcher, Scratch, Semantics};
use meaning::semantics;
use place::{embedded, far, repeated, shifted, whole};
use std::sync::Arc;
use threads::threads;

/// A compiled case on the bench.
pub struct Run<'a> {
    /// The engine's matcher for the case's set.
    pub matcher: Arc<dyn Matcher>,
    /// What to search and what to find.
    pub case: &'a Case,
    /// The facade's threads.
    pub parallel: Parallel,
    /// Seed for what is random.
    pub seed: u64,
    /// Told of what is left out, and why.
    pub skipped: &'a dyn Fn(&str),
}

/// One way: an error says what differs.
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

/// The ways for cases derived from a vector, whose point is not where things lie.
pub const BRIEF_WAYS: &[(&str, Way)] =
    &[("whole", whole), ("chunks", chunks), ("ranges", ranges), ("semantics", semantics)];

/// Bytes of history walked again for all cuts of one way; above it, the way is skipped or sampled.
const CUT_BYTES: usize = 4 << 20;

/// The same for an engine of a graphics processor. With the bound above, cuts took 67 of the 70 s that the long vectors
/// took for `gpu-dfa` where a processor played the device.
const CUT_BYTES_OF_DEVICE: usize = 256 << 10;

/// Bytes of history that a launch counts for, so that one way makes 512 launches at most. Without it, nine vectors of 4,096
/// bytes in parts of one to seven took 36 of the 43 s of `boundaries` for `gpu-dfa`.
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

    fn scan(&self, block: Block<'_>, scratch: &mut Scratch) -> Result<Vec<Match>, String> {
        let mut audit = Audit::of_block(&self.case.set, &block);
        let flow = self.matcher.scan(block, scratch, &mut audit);
        let found = audit.checked_matches()?;
        if flow.is_break() {
            Err("says the sink stopped it, which it did not".into())
        } else {
            Ok(found)
        }
    }

    /// Scans a block that holds the whole haystack, moved by `offset`.
    fn expect_moved(
        &self,
        block: Block<'_>,
        offset: u64,
        scratch: &mut Scratch,
    ) -> Result<(), String> {
        let expected: Vec<Match> = self.case.expected.iter().map(|m| moved(m, offset)).collect();
        same(&expected, &self.scan(block, scratch)?)
    }

    /// Whether so many cuts, each with `history` bytes to walk again, are more than is worth it.
    fn is_costly(&self, cuts: usize, history: usize) -> bool {
        match self.matcher.info().device {
            Device::Cpu => cuts * history > CUT_BYTES,
            Device::Gpu => cuts * (history + LAUNCH) > CUT_BYTES_OF_DEVICE,
        }
    }

    /// Whether cutting in parts of `size` so many times is too costly.
    fn too_many_cuts(&self, size: usize, times: usize) -> bool {
        let costly = self.is_costly(times * (self.haystack().len() / size), self.overlap());
        if costly {
            (self.skipped)("a size of parts, so many cuts cost too much");
        }
        costly
    }
}

/// Says where a failure happened.
fn at<T>(what: std::fmt::Arguments<'_>, result: Result<T, String>) -> Result<T, String> {
    result.map_err(|e| format!("{what}: {e}"))
}

/// The match, further on.
fn moved(m: &Match, by: u64) -> Match {
    Match { start: m.start + by, end: m.end + by, ..*m }
}
