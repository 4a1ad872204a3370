//! What is kept of the matches: counts, where they lie, and the first ones.

use crate::Limits;
use fyke::{Batch, Sink, StreamMatch};
use std::ops::ControlFlow;

/// The matches of one pattern.
#[derive(Clone, Copy, Default)]
pub(crate) struct Count {
    pub(crate) matches: u64,
    /// Where the first one begins.
    pub(crate) first: u64,
}

/// A sink of fixed size, however many matches there are.
pub(crate) struct Tally {
    size: u64,
    hits: usize,
    /// Matches by the part of the file that they begin in.
    pub(crate) columns: Vec<u64>,
    /// By pattern id. Ids count from 1, so the first one stays empty.
    pub(crate) counts: Vec<Count>,
    pub(crate) first: Vec<StreamMatch>,
    pub(crate) total: u64,
}

impl Tally {
    /// For a file of this size and patterns up to this id.
    pub(crate) fn new(size: u64, patterns: usize, limits: Limits) -> Tally {
        Tally {
            size,
            hits: limits.hits,
            columns: vec![0; limits.columns],
            counts: vec![Count::default(); patterns + 1],
            first: Vec::new(),
            total: 0,
        }
    }

    fn add(&mut self, found: StreamMatch) {
        // In 128 bits, because the product may exceed 64.
        let columns = self.columns.len() as u128;
        let column = u128::from(found.start) * columns / u128::from(self.size.max(1));
        // A file that grew has matches after its last column.
        if let Some(column) = self.columns.get_mut(column as usize) {
            *column += 1;
        }
        let count = &mut self.counts[found.pattern.0 as usize];
        if count.matches == 0 {
            count.first = found.start;
        }
        count.matches += 1;
        if self.first.len() < self.hits {
            self.first.push(found);
        }
        self.total += 1;
    }
}

impl Sink for Tally {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        batch.matches().for_each(|found| self.add(found));
        ControlFlow::Continue(())
    }
}
