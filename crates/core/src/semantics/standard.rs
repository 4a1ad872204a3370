//! Standard: selects non-overlapping matches, each the first to end after the one before.

use crate::matches::{Batch, Record};

/// The end of the last selected match: no match that starts before it is selected.
#[derive(Clone, Debug, Default)]
pub(super) struct Standard {
    pub(super) bound: u64,
}

impl Standard {
    /// Appends to `kept` the selected records of an ordered batch.
    pub(super) fn keep(&mut self, batch: &Batch<'_>, kept: &mut Vec<Record>) {
        let start = |r: Record| batch.end(r) - batch.set.pattern_len(r.pattern) as u64;
        let id = |r: &Record| batch.set.ids(r.pattern)[0];
        for same_span in batch.records.chunk_by(|a, b| a.end == b.end && start(*a) == start(*b)) {
            if start(same_span[0]) >= self.bound {
                self.bound = batch.end(same_span[0]);
                // `chunk_by` gives no empty chunks.
                kept.extend(same_span.iter().min_by_key(|r| id(r)));
            }
        }
    }
}
