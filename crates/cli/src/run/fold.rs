//! Sinks for results that do not depend on order: one for each thread, nothing is shipped.

use super::Job;
use fyke::{Batch, Count, Exists, Fingerprint, Sink};
use std::ops::ControlFlow;

/// What is kept of the matches.
pub(crate) enum Fold {
    /// Whether there is one.
    Exists(Exists),
    /// How many.
    Count(Count),
    /// How many, how many distinct patterns, and the fingerprint.
    Stats(Fingerprint),
}

impl Fold {
    /// The least that serves the job.
    pub(crate) fn for_job(job: &Job<'_>) -> Fold {
        match job {
            _ if job.first_is_enough() => Fold::Exists(Exists::default()),
            _ if job.stats => Fold::Stats(Fingerprint::default()),
            _ => Fold::Count(Count::default()),
        }
    }

    /// Matches seen; at most 1 if only existence matters.
    pub(crate) fn matches(&self) -> u64 {
        match self {
            Fold::Exists(e) => u64::from(e.found),
            Fold::Count(c) => c.matches,
            Fold::Stats(f) => f.matches,
        }
    }
}

impl Sink for Fold {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        match self {
            Fold::Exists(e) => e.on_batch(batch),
            Fold::Count(c) => c.on_batch(batch),
            Fold::Stats(f) => f.on_batch(batch),
        }
    }

    fn counter(&mut self) -> Option<&mut u64> {
        match self {
            Fold::Count(c) => c.counter(),
            Fold::Exists(_) | Fold::Stats(_) => None,
        }
    }
}
