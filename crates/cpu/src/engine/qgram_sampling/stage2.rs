//! Stage 2: verifies the candidates.
//!
//! Four passes over lists overlap the cache misses:
//! 1. Find the buckets of the candidates and prefetch their entries.
//! 2. Compare the eight bytes of each entry.
//! 3. Prefetch the patterns of the entries that match.
//! 4. Compare these patterns.

use super::build::{ENTRIES_A_BYTE, Entry, SamplingTables};
use super::hash;
use super::scan::{SampleList, TILE};
use super::shape::MAX_STRIDE;
use crate::simd::prefetch;
use fyke_core::{Block, Emitter, PatternSet, Record, Sink};
use std::ops::ControlFlow;

/// Comparing this many pattern bytes counts as one more candidate.
const BYTES_A_CANDIDATE: usize = 64;

/// Patterns are compared once at least this many are listed. One more bucket may be listed by then,
/// for which there is room.
const NEAR: usize = 512;
const ROOM: usize = NEAR + ENTRIES_A_BYTE * MAX_STRIDE;

/// The buffers of a scan.
pub(super) struct Buffers {
    pub(super) list: SampleList,
    found: Box<[BucketHit; TILE]>,
    near: Box<[PatternHit; ROOM]>,
}

/// A candidate and its bucket.
#[derive(Clone, Copy, Default)]
struct BucketHit {
    at: u32,
    from: u32,
    to: u32,
}

/// A pattern whose eight bytes match, and where it would begin.
#[derive(Clone, Copy, Default)]
struct PatternHit {
    start: usize,
    pattern: u32,
}

impl Default for Buffers {
    fn default() -> Self {
        Buffers {
            list: SampleList::default(),
            found: Box::new([BucketHit::default(); TILE]),
            near: Box::new([PatternHit::default(); ROOM]),
        }
    }
}

/// Where matches go.
pub(super) struct MatchOutput<'s> {
    set: &'s PatternSet,
    records: Emitter<'s>,
    /// Whether the sink only counts.
    counts: bool,
    /// Whether each pattern has one id.
    single: bool,
    pub(super) matches: u64,
    pub(super) spent: u64,
}

impl<'s> MatchOutput<'s> {
    pub(super) fn new(
        set: &'s PatternSet,
        sink: &'s mut dyn Sink,
        records: &'s mut Vec<Record>,
        base: u64,
    ) -> Self {
        let counts = sink.counter().is_some();
        let records = Emitter::new(set, sink, records, base, false);
        let single = set.id_count() == set.len();
        MatchOutput { set, records, counts, single, matches: 0, spent: 0 }
    }

    pub(super) fn rebase(&mut self, base: u64) -> ControlFlow<()> {
        self.records.rebase(base)
    }

    pub(super) fn flush(&mut self) -> ControlFlow<()> {
        self.records.flush()
    }

    #[inline(always)]
    fn push(&mut self, end: usize, pattern: u32) -> ControlFlow<()> {
        if self.counts {
            let ids = if self.single { 1 } else { self.set.ids(pattern).len() };
            self.matches += ids as u64;
            return ControlFlow::Continue(());
        }
        self.records.push(end as u32, pattern);
        self.records.flush_if_full()
    }
}

/// The samples of a tile.
#[derive(Clone, Copy)]
pub(super) struct SampleTile<'a> {
    pub(super) tables: &'a SamplingTables,
    pub(super) block: Block<'a>,
    /// The position of the first sample.
    pub(super) at: usize,
    /// The block offset from which record ends count.
    pub(super) page: usize,
}

impl SampleTile<'_> {
    /// Reports the matches among the samples on the list.
    pub(super) fn confirm(
        self,
        buffers: &mut Buffers,
        out: &mut MatchOutput<'_>,
    ) -> ControlFlow<()> {
        let Buffers { list, found, near } = buffers;
        let found = self.look_up(list, found);
        out.spent += list.len as u64;
        let mut len = 0;
        for candidate in found {
            let entries = &self.tables.entries[candidate.from as usize..candidate.to as usize];
            out.spent += entries.len() as u64;
            let at = self.at + candidate.at as usize;
            for entry in entries {
                let (is_near, place) = self.place(at, entry);
                near[len] = place;
                len += usize::from(is_near);
            }
            if len >= NEAR {
                self.compare(&near[..len], out)?;
                len = 0;
            }
        }
        self.compare(&near[..len], out)
    }

    /// The candidates whose buckets are not empty.
    fn look_up<'b>(&self, list: &SampleList, found: &'b mut [BucketHit; TILE]) -> &'b [BucketHit] {
        let (gram, bits) = (self.tables.shape.gram, self.tables.shape.bucket_bits());
        let mut len = 0;
        for &at in &list.at[..list.len] {
            let hash = gram.hash(self.block.bytes, self.at + at as usize);
            let bucket = hash::bucket(hash, bits);
            let (from, to) = (self.tables.first[bucket], self.tables.first[bucket + 1]);
            prefetch(self.tables.entries.as_ptr().wrapping_add(from as usize));
            found[len] = BucketHit { at, from, to };
            len += usize::from(from < to);
        }
        &found[..len]
    }

    /// Whether the eight bytes of an entry match next to its gram, and where its pattern would
    /// begin.
    #[inline(always)]
    fn place(&self, at: usize, entry: &Entry) -> (bool, PatternHit) {
        let beside = at.wrapping_add_signed(isize::from(entry.shift));
        let beside = self.tables.shape.gram.folded(hash::word(self.block.bytes, beside));
        let start = at.wrapping_sub(usize::from(entry.offset));
        let is_near = (beside ^ entry.value) & entry.mask() == 0;
        (is_near, PatternHit { start, pattern: entry.pattern })
    }

    fn compare(&self, near: &[PatternHit], out: &mut MatchOutput<'_>) -> ControlFlow<()> {
        for near in near {
            prefetch(out.set.bytes(near.pattern).as_ptr());
        }
        let exact = self.tables.shape.gram.fold == 0;
        for near in near {
            let bytes = out.set.bytes(near.pattern);
            out.spent += (bytes.len() / BYTES_A_CANDIDATE) as u64;
            let end = near.start.wrapping_add(bytes.len());
            let Some(window) = self.block.bytes.get(near.start..end) else { continue };
            let is_match = if exact {
                equal(bytes, window)
            } else {
                out.set.get(near.pattern).is_match(window)
            };
            if is_match && end > self.block.overlap {
                out.push(end - self.page, near.pattern)?;
            }
        }
        ControlFlow::Continue(())
    }
}

/// Compares short patterns without a call: word by word, the last one aligned to the end.
#[inline(always)]
fn equal(a: &[u8], b: &[u8]) -> bool {
    const SHORT: std::ops::RangeInclusive<usize> = 8..=40;
    if !SHORT.contains(&a.len()) || a.len() != b.len() {
        return a == b;
    }
    let differ = |at: usize| hash::word(a, at) ^ hash::word(b, at);
    let inner = (0..a.len() - 8).step_by(8).fold(0, |all, at| all | differ(at));
    inner | differ(a.len() - 8) == 0
}
