//! A sink for results that do not depend on the order of matches.
//!
//! Each thread has a sink of its own for all its inputs, and the results are merged at the end: no
//! match is copied between threads.

use super::job::Job;
use fyke::{Batch, Count, Exists, Fingerprint, Sink};
use std::ops::ControlFlow;

/// What one thread keeps of its matches.
pub(crate) enum UnorderedSink {
    /// Whether there is one.
    Exists(Exists),
    /// How many.
    Count(Count),
    /// How many, how many distinct patterns, and the fingerprint.
    Stats(Fingerprint),
}

impl UnorderedSink {
    /// The cheapest sink that is enough for the job.
    pub(crate) fn for_job(job: &Job<'_>) -> UnorderedSink {
        match job {
            _ if job.first_is_enough() => UnorderedSink::Exists(Exists::default()),
            _ if job.stats => UnorderedSink::Stats(Fingerprint::default()),
            _ => UnorderedSink::Count(Count::default()),
        }
    }

    /// Begins an input.
    pub(crate) fn begin(&mut self) {
        if let UnorderedSink::Exists(e) = self {
            e.found = false;
        }
    }

    /// Adds the matches of another thread.
    pub(crate) fn merge(&mut self, other: &UnorderedSink) {
        match (self, other) {
            (UnorderedSink::Exists(e), other) => e.found |= other.matches() > 0,
            (UnorderedSink::Count(c), other) => c.matches += other.matches(),
            (UnorderedSink::Stats(f), UnorderedSink::Stats(other)) => f.merge(other),
            (UnorderedSink::Stats(f), other) => f.matches += other.matches(),
        }
    }

    /// The fingerprint, if it was asked for.
    pub(crate) fn fingerprint(&self) -> Option<&Fingerprint> {
        match self {
            UnorderedSink::Stats(f) => Some(f),
            UnorderedSink::Exists(_) | UnorderedSink::Count(_) => None,
        }
    }

    /// Number of matches of all inputs; at most 1, and of this input, if only existence matters.
    pub(crate) fn matches(&self) -> u64 {
        match self {
            UnorderedSink::Exists(e) => u64::from(e.found),
            UnorderedSink::Count(c) => c.matches,
            UnorderedSink::Stats(f) => f.matches,
        }
    }
}

impl Sink for UnorderedSink {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        match self {
            UnorderedSink::Exists(e) => e.on_batch(batch),
            UnorderedSink::Count(c) => c.on_batch(batch),
            UnorderedSink::Stats(f) => f.on_batch(batch),
        }
    }

    fn counter(&mut self) -> Option<&mut u64> {
        match self {
            UnorderedSink::Count(c) => c.counter(),
            UnorderedSink::Exists(_) | UnorderedSink::Stats(_) => None,
        }
    }

    fn wants_first(&self) -> bool {
        matches!(self, UnorderedSink::Exists(_))
    }
}
