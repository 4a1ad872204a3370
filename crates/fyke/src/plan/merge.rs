//! Merges the matches of several engines in canonical order.
//!
//! Each engine's matches of a piece are nearly in order, so they are sorted by themselves. Merging
//! the sorted lists costs a few comparisons per match. Sorting all matches together would cost
//! several times as much.

use fyke_core::sorter::rank;
use fyke_core::{Batch, Block, Matcher, PatternSet, Record, Scratch, Sink, SortBuffer, Sorter};
use std::ops::ControlFlow;

/// The lists of a piece, one for each engine, and the merged one.
#[derive(Default)]
pub(super) struct Lists {
    sort: SortBuffer,
    merged: Vec<Record>,
    own: Vec<Record>,
    other: Vec<Record>,
}

/// The maximum number of bytes that the lists keep for the next call. Not measured: a guess.
const MOST_KEPT: usize = 1 << 20;

impl Lists {
    /// Frees the memory after a call that needed an unusual amount.
    pub(super) fn trim(&mut self) {
        let records = self.merged.capacity() + self.own.capacity() + self.other.capacity();
        if records * size_of::<Record>() + self.sort.memory() > MOST_KEPT {
            *self = Lists::default();
        }
    }

    /// Begins a piece.
    pub(super) fn clear(&mut self) {
        self.merged.clear();
    }

    /// Scans a piece with one engine, and merges its matches into those of the others. `base` is
    /// the position that ends count from, `set` the whole set, and `indices` those of the engine's
    /// patterns in it.
    pub(super) fn scan(
        &mut self,
        matcher: &dyn Matcher,
        piece: Block<'_>,
        scratch: &mut Scratch,
        (base, set, indices): (u64, &PatternSet, &[u32]),
    ) -> ControlFlow<()> {
        self.own.clear();
        let mut list = List { indices, base, records: &mut self.own };
        let mut sorter = Sorter::new(matcher.set(), piece.offset, &mut self.sort, &mut list);
        matcher.scan(piece, scratch, &mut sorter)?;
        sorter.finish()?;
        if self.merged.is_empty() {
            std::mem::swap(&mut self.merged, &mut self.own);
        } else if !self.own.is_empty() {
            merge(&self.merged, &self.own, set, &mut self.other);
            std::mem::swap(&mut self.merged, &mut self.other);
        }
        ControlFlow::Continue(())
    }

    /// The matches of all engines, in order.
    pub(super) fn merged(&self) -> &[Record] {
        &self.merged
    }
}

/// Collects ordered matches, with the dense indices of the whole set.
struct List<'a> {
    indices: &'a [u32],
    base: u64,
    records: &'a mut Vec<Record>,
}

impl Sink for List<'_> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        // Modulo 2^32, because an engine's block may begin before or after `base`.
        let shift = batch.base.wrapping_sub(self.base) as u32;
        let renumber = |r: &Record| Record {
            end: r.end.wrapping_add(shift),
            pattern: self.indices[r.pattern as usize],
        };
        self.records.extend(batch.records.iter().map(renumber));
        ControlFlow::Continue(())
    }
}

/// Merges two lists in order of end, then start, then pattern.
fn merge(a: &[Record], b: &[Record], set: &PatternSet, to: &mut Vec<Record>) {
    let precedes = |x: &Record, y: &Record| {
        x.end < y.end || x.end == y.end && rank(set, x.pattern) < rank(set, y.pattern)
    };
    to.clear();
    to.reserve(a.len() + b.len());
    let mut rest = b.iter().copied().peekable();
    for &record in a {
        while let Some(other) = rest.next_if(|other| precedes(other, &record)) {
            to.push(other);
        }
        to.push(record);
    }
    to.extend(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_merged_by_end_then_start_then_pattern() {
        let set = PatternSet::new(["a", "b", "aab", "ab", "cab"]).unwrap();
        let record = |end, bytes: &str| {
            let pattern = (0..5).find(|&i| set.bytes(i) == bytes.as_bytes()).unwrap();
            Record { end, pattern }
        };
        let short = [record(1, "a"), record(2, "a"), record(3, "b"), record(9, "b")];
        let long = [record(3, "aab"), record(3, "ab"), record(8, "cab"), record(9, "ab")];
        let expected = [
            record(1, "a"),
            record(2, "a"),
            record(3, "aab"),
            record(3, "ab"),
            record(3, "b"),
            record(8, "cab"),
            record(9, "ab"),
            record(9, "b"),
        ];
        let mut merged = vec![record(7, "a")];
        merge(&short, &long, &set, &mut merged);
        assert_eq!(merged, expected);
        merge(&long, &short, &set, &mut merged);
        assert_eq!(merged, expected);
        merge(&[], &long, &set, &mut merged);
        assert_eq!(merged, long);
    }
}
