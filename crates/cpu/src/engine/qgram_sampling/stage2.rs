//! Stage 2: of the candidates, those that are matches.
//!
//! Four passes over a list, so that cache misses overlap: all buckets, then the eight bytes of their entries, then
//! where the patterns of what is left lie, then the patterns.

use super::build::{ENTRIES_A_BYTE, Entry, Tables};
use super::hash;
use super::scan::{List, TILE};
use super::shape::MAX_STRIDE;
use fyke_core::{Block, Emitter, PatternSet, Record, Sink};
use std::ops::ControlFlow;

/// Comparing so many bytes of a pattern counts as one more candidate.
const BYTES_A_CANDIDATE: usize = 64;

/// Entries whose patterns are compared together, and room for those of one more bucket.
const NEAR: usize = 512;
const ROOM: usize = NEAR + ENTRIES_A_BYTE * MAX_STRIDE;

/// The buffers of a scan.
pub(super) struct Buffers {
    pub(super) list: List,
    found: Box<[Found; TILE]>,
    near: Box<[Near; ROOM]>,
}

/// A candidate with the bucket that it leads to.
#[derive(Clone, Copy, Default)]
struct Found {
    at: u32,
    from: u32,
    to: u32,
}

/// A pattern that eight bytes speak for, and where it would begin.
#[derive(Clone, Copy, Default)]
struct Near {
    start: usize,
    pattern: u32,
}

impl Default for Buffers {
    fn default() -> Self {
        Buffers {
            list: List::default(),
            found: Box::new([Found::default(); TILE]),
            near: Box::new([Near::default(); ROOM]),
        }
    }
}

/// Where matches go.
pub(super) struct Output<'s> {
    set: &'s PatternSet,
    records: Emitter<'s>,
    /// Whether they are only counted, here.
    counts: bool,
    /// Whether each pattern has one id.
    single: bool,
    pub(super) matches: u64,
    pub(super) spent: u64,
}

impl<'s> Output<'s> {
    pub(super) fn new(
        set: &'s PatternSet,
        sink: &'s mut dyn Sink,
        records: &'s mut Vec<Record>,
        base: u64,
    ) -> Self {
        let counts = sink.counter().is_some();
        let records = Emitter::new(set, sink, records, base, false);
        let single = set.id_count() == set.len();
        Output { set, records, counts, single, matches: 0, spent: 0 }
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

/// Some samples of a block.
#[derive(Clone, Copy)]
pub(super) struct Tile<'a> {
    pub(super) tables: &'a Tables,
    pub(super) block: Block<'a>,
    /// Where the first of them is.
    pub(super) at: usize,
    /// What the ends of records count from.
    pub(super) page: usize,
}

impl Tile<'_> {
    /// Finds the matches among the samples on the list.
    pub(super) fn confirm(self, buffers: &mut Buffers, out: &mut Output<'_>) -> ControlFlow<()> {
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
    fn look_up<'b>(&self, list: &List, found: &'b mut [Found; TILE]) -> &'b [Found] {
        let (gram, bits) = (self.tables.shape.gram, self.tables.shape.bucket_bits());
        let mut len = 0;
        for &at in &list.at[..list.len] {
            let hash = gram.hash(self.block.bytes, self.at + at as usize);
            let bucket = hash::bucket(hash, bits);
            let (from, to) = (self.tables.first[bucket], self.tables.first[bucket + 1]);
            prefetch(self.tables.entries.as_ptr().wrapping_add(from as usize));
            found[len] = Found { at, from, to };
            len += usize::from(from < to);
        }
        &found[..len]
    }

    /// Whether the eight bytes of an entry are in the haystack beside its gram, and where its pattern begins then.
    #[inline(always)]
    fn place(&self, at: usize, entry: &Entry) -> (bool, Near) {
        let beside = at.wrapping_add_signed(isize::from(entry.shift));
        let beside = hash::word(self.block.bytes, beside) | self.tables.shape.gram.fold;
        let start = at.wrapping_sub(usize::from(entry.offset));
        let is_near = (beside ^ entry.value) & entry.mask() == 0;
        (is_near, Near { start, pattern: entry.pattern })
    }

    fn compare(&self, near: &[Near], out: &mut Output<'_>) -> ControlFlow<()> {
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

/// Compares short patterns without a call: words from the start on, the last one up to the end.
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

#[inline(always)]
fn prefetch<T>(what: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch does nothing but take time, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(what.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = what;
}
