//! Runs of one byte, as in padding and disk images.
//!
//! If a pattern is a run of zeros, every position of a longer run is a candidate and a match. From
//! some position of the run on, the same patterns end at every position: those that consist of that
//! byte. So a long run is cut out of the haystack, and its matches are counted or copied.

use fyke_core::scratch::BATCH_RECORDS;
use fyke_core::sorter::rank;
use fyke_core::{Batch, Block, PatternSet, Record, Sink};
use std::ops::ControlFlow;

/// Bytes that are compared at once. Every run of twice as many is found.
const STEP: usize = 64;

/// A run is cut out if at least this many of its positions have the same matches: enough to pay for
/// two more calls of an engine (`hostile/et-min4-run`).
const LEAST: usize = 128;

/// The matches of a set in runs of each byte.
pub(super) struct Runs(Box<[ByteRuns]>);

/// The matches of a set in runs of one byte.
#[derive(Clone, Default)]
struct ByteRuns {
    /// After this many bytes of a run, the same patterns end at every position.
    settled: usize,
    /// The length of the longest run of the byte in a pattern that has other bytes, too. A run of
    /// the haystack of at most this length may lie within a match.
    inner: usize,
    /// A match that begins in a longer run and ends after it contains at most this many bytes of
    /// the run.
    history: usize,
    /// The patterns of this byte alone, in canonical order of matches with one end.
    patterns: Vec<u32>,
    /// The total number of their ids.
    ids: u64,
}

/// A run in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    byte: u8,
    /// The run owns the matches that end after this position of the block, up to `end`.
    pub(super) settled: usize,
    /// Where the run ends.
    pub(super) end: usize,
    /// The overlap of the block that follows.
    pub(super) history: usize,
}

/// The records of a few positions of a run.
#[derive(Default)]
pub(super) struct RunRecords {
    byte: Option<u8>,
    records: Vec<Record>,
}

impl Runs {
    pub(super) fn new(set: &PatternSet) -> Runs {
        let mut runs = Runs(vec![ByteRuns::default(); 256].into_boxed_slice());
        for pattern in set.iter() {
            let (bytes, len) = (pattern.bytes, pattern.bytes.len());
            let (first, last) = (bytes[0], bytes[len - 1]);
            let leading = bytes.iter().take_while(|&&b| b == first).count();
            let trailing = bytes.iter().rev().take_while(|&&b| b == last).count();
            let whole = leading == len;
            for byte in cases(first, pattern.nocase) {
                let of = runs.of_mut(byte);
                of.history = of.history.max(leading.min(len - 1));
            }
            for run in bytes.chunk_by(|a, b| a == b).filter(|_| !whole) {
                for byte in cases(run[0], pattern.nocase) {
                    let of = runs.of_mut(byte);
                    of.inner = of.inner.max(run.len());
                }
            }
            for byte in cases(last, pattern.nocase) {
                let of = runs.of_mut(byte);
                of.settled = of.settled.max(if whole { len } else { trailing + 1 });
                if whole {
                    of.patterns.push(pattern.index);
                    of.ids += pattern.ids.len() as u64;
                }
            }
        }
        runs.0.iter_mut().for_each(|of| of.patterns.sort_by_key(|&p| rank(set, p)));
        runs
    }

    fn of(&self, byte: u8) -> &ByteRuns {
        &self.0[usize::from(byte)]
    }

    fn of_mut(&mut self, byte: u8) -> &mut ByteRuns {
        &mut self.0[usize::from(byte)]
    }

    /// The first run that is worth cutting out of `bytes[from..]`. It may begin before `from`.
    pub(super) fn next(&self, bytes: &[u8], mut from: usize) -> Option<Run> {
        loop {
            let (chunks, _) = bytes.get(from..)?.as_chunks::<STEP>();
            let at = from + STEP * chunks.iter().position(|chunk| is_run(chunk, chunk[0]))?;
            let (byte, of) = (bytes[at], self.of(bytes[at]));
            let before = bytes[..at].iter().rev().take_while(|&&b| b == byte).count();
            let end = at + length(&bytes[at..], byte);
            // The first end whose matches are settled is `of.settled` bytes after the start of the
            // run. The run owns ends after `settled`, so this is one less.
            let settled = (at - before + of.settled.saturating_sub(1)).max(from);
            if settled + LEAST <= end && end - (at - before) > of.inner {
                return Some(Run { byte, settled, end, history: of.history });
            }
            from = end;
        }
    }

    /// Passes on the matches of a run in a block.
    pub(super) fn emit(
        &self,
        run: Run,
        block: &Block<'_>,
        set: &PatternSet,
        records: &mut RunRecords,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let of = self.of(run.byte);
        let mut left = run.end - run.settled;
        if of.patterns.is_empty() {
            return ControlFlow::Continue(());
        }
        if let Some(counter) = sink.counter() {
            *counter += left as u64 * of.ids;
            return ControlFlow::Continue(());
        }
        let each = of.patterns.len();
        let most = left.min((BATCH_RECORDS / each).max(1));
        records.fill(run.byte, &of.patterns, most);
        let mut base = block.offset + run.settled as u64;
        while left > 0 {
            // Every batch has the same records, from another base.
            let positions = left.min(most);
            let records = &records.records[..positions * each];
            sink.on_batch(&Batch { base, records, ordered: true, single: false, set })?;
            (base, left) = (base + positions as u64, left - positions);
        }
        ControlFlow::Continue(())
    }
}

impl RunRecords {
    /// Forgets the set that the records belong to.
    pub(super) fn forget(&mut self) {
        self.byte = None;
    }

    /// Makes the records of at least this many positions of a run, counted from 1.
    fn fill(&mut self, byte: u8, patterns: &[u32], positions: usize) {
        if self.byte.replace(byte) != Some(byte) {
            self.records.clear();
        }
        let known = self.records.len() / patterns.len();
        let ends = known as u32 + 1..positions as u32 + 1;
        match patterns {
            // The usual case: one simple loop.
            &[pattern] => self.records.extend(ends.map(|end| Record { end, pattern })),
            _ => self.records.extend(
                ends.flat_map(|end| patterns.iter().map(move |&pattern| Record { end, pattern })),
            ),
        }
    }
}

/// The bytes that a byte of a pattern matches.
fn cases(byte: u8, nocase: bool) -> impl Iterator<Item = u8> {
    let upper = byte.to_ascii_uppercase();
    std::iter::once(byte).chain((nocase && upper != byte).then_some(upper))
}

/// Whether all bytes are `byte`, in a loop that the compiler turns into vector operations.
fn is_run(chunk: &[u8; STEP], byte: u8) -> bool {
    chunk[STEP - 1] == byte && chunk.iter().fold(0, |differ, &b| differ | (b ^ byte)) == 0
}

/// How many of the first bytes are `byte`.
fn length(bytes: &[u8], byte: u8) -> usize {
    let (chunks, _) = bytes.as_chunks::<STEP>();
    let whole = STEP * chunks.iter().take_while(|chunk| is_run(chunk, byte)).count();
    whole + bytes[whole..].iter().take_while(|&&b| b == byte).count()
}

#[cfg(test)]
mod tests;
