//! A matcher that divides a set among several engines. All of them scan a piece of the haystack
//! while it is in the cache.
//!
//! The windows of a filter are as short as its shortest pattern, so a few short patterns slow it
//! down for all long ones. If the set is cut by length, each subset gets the engine that suits it.
//! In return, every piece is read twice, and matches have to be merged if they are wanted in order.
//!
//! If the last engine is a filter, a [`Switch`](super::switch::Switch) around this matcher has the
//! fallback for all patterns.

use super::merge::Lists;
use super::stored::without_tables;
use fyke_core::stored::StoredPart;
use fyke_core::{Batch, Block, Footprint, Info, Matcher, Part, PatternSet, Record, Scratch, Sink};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Bytes of a piece: with the tables of two engines it fits a second-level cache. Not measured: a
/// guess.
const PIECE: usize = 64 << 10;

/// A piece is at least this many times as long as the overlap, which every engine reads again.
const OVERLAPS: usize = 16;

/// A subset of the patterns, compiled.
pub(super) struct SubsetMatcher {
    pub(super) matcher: Arc<dyn Matcher>,
    /// The dense index in the whole set of each pattern of the subset.
    pub(super) indices: Vec<u32>,
}

/// A set that several engines share.
pub(super) struct SplitMatcher {
    info: &'static Info,
    set: PatternSet,
    subsets: Vec<SubsetMatcher>,
    piece: usize,
}

/// What a scan writes to: a scratch for each engine, and records with new indices.
#[derive(Default)]
struct SplitScratch {
    each: Vec<Scratch>,
    /// The [`Scratch::haystack`] that the scratches follow.
    haystack: Option<u64>,
    records: Vec<Record>,
    lists: Lists,
}

impl SplitMatcher {
    pub(super) fn new(
        info: &'static Info,
        set: PatternSet,
        subsets: Vec<SubsetMatcher>,
    ) -> SplitMatcher {
        let piece = PIECE.max(OVERLAPS * set.overlap());
        SplitMatcher { info, set, subsets, piece }
    }
}

impl Matcher for SplitMatcher {
    fn info(&self) -> &'static Info {
        self.info
    }

    fn set(&self) -> &PatternSet {
        &self.set
    }

    fn scan(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let haystack = scratch.follows().then_some(scratch.haystack());
        let (_, own) = scratch.parts::<SplitScratch>();
        own.each.resize_with(self.subsets.len().max(own.each.len()), Scratch::following);
        if haystack.is_none() || own.haystack != haystack {
            own.each.iter_mut().for_each(Scratch::forget);
        }
        own.haystack = haystack;
        let before = spent(&own.each);
        let flow = if sink.wants_order() && sink.counter().is_none() {
            let flow = self.scan_in_order(block, own, sink);
            own.lists.trim();
            flow
        } else {
            self.scan_pieces(block, own, sink)
        };
        let candidates = spent(&own.each) - before;
        scratch.spend(candidates);
        flow
    }

    fn first_candidate(&self, haystack: &[u8]) -> usize {
        let mut first = haystack.len();
        for subset in &self.subsets {
            if first == 0 {
                break;
            }
            // A match that begins before `first` may end after it.
            let overlap = subset.matcher.set().overlap();
            let to = haystack.len().min(first.saturating_add(overlap));
            first = subset.matcher.first_candidate(&haystack[..to]).min(first);
        }
        first
    }

    fn footprint(&self) -> Footprint {
        self.subsets.iter().fold(Footprint::default(), |all, subset| {
            let own = subset.matcher.footprint();
            let indices = size_of_val(&*subset.indices) as u64;
            Footprint { host: all.host + own.host + indices, device: all.device + own.device }
        })
    }

    fn stats(&self) -> Vec<(String, u64)> {
        let named = |subset: &SubsetMatcher| {
            let name = subset.matcher.info().name;
            let stats = subset.matcher.stats().into_iter();
            stats.map(|(what, n)| (format!("{name}: {what}"), n)).collect::<Vec<_>>()
        };
        self.subsets.iter().flat_map(named).collect()
    }

    fn stored(&self) -> Vec<StoredPart<'_>> {
        let mut parts = Vec::new();
        for SubsetMatcher { matcher, indices } in &self.subsets {
            let part = matcher.stored().pop().unwrap_or_else(|| without_tables(&**matcher));
            parts.push(StoredPart { indices, ..part });
        }
        parts
    }

    fn parts(&self) -> Vec<Part> {
        self.subsets.iter().flat_map(|subset| subset.matcher.parts()).collect()
    }

    fn describe(&self) -> String {
        let one = |subset: &SubsetMatcher| {
            let (count, name) = (subset.indices.len(), subset.matcher.info().name);
            format!("{count} patterns by {name} ({})", subset.matcher.describe())
        };
        self.subsets.iter().map(one).collect::<Vec<_>>().join("; ")
    }
}

impl SplitMatcher {
    fn scan_pieces(
        &self,
        block: Block<'_>,
        own: &mut SplitScratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        for piece in block.pieces(self.piece, self.set.overlap()) {
            for (subset, scratch) in self.subsets.iter().zip(&mut own.each) {
                let (set, records) = (&self.set, &mut own.records);
                let mut renumber = Renumber { indices: &subset.indices, set, records, sink };
                let piece = piece.with_overlap(subset.matcher.set().overlap());
                subset.matcher.scan(piece, scratch, &mut renumber)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Gives the matches of each piece in one ordered batch.
    fn scan_in_order(
        &self,
        block: Block<'_>,
        own: &mut SplitScratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let set = &self.set;
        for piece in block.pieces(self.piece, set.overlap()) {
            let base = piece.offset;
            own.lists.clear();
            for (subset, scratch) in self.subsets.iter().zip(&mut own.each) {
                let matcher = &*subset.matcher;
                let piece = piece.with_overlap(matcher.set().overlap());
                own.lists.scan(matcher, piece, scratch, (base, set, &subset.indices))?;
            }
            let records = own.lists.merged();
            if !records.is_empty() {
                sink.on_batch(&Batch { base, records, ordered: true, single: false, set })?;
            }
        }
        ControlFlow::Continue(())
    }
}

fn spent(scratches: &[Scratch]) -> u64 {
    scratches.iter().map(Scratch::spent).sum()
}

/// Replaces the dense indices of a subset by those of the whole set.
struct Renumber<'a> {
    indices: &'a [u32],
    set: &'a PatternSet,
    records: &'a mut Vec<Record>,
    sink: &'a mut dyn Sink,
}

impl Sink for Renumber<'_> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        let renumber =
            |r: &Record| Record { end: r.end, pattern: self.indices[r.pattern as usize] };
        self.records.clear();
        self.records.extend(batch.records.iter().map(renumber));
        let (records, set) = (&**self.records, self.set);
        self.sink.on_batch(&Batch { records, set, ordered: false, ..*batch })
    }

    fn counter(&mut self) -> Option<&mut u64> {
        self.sink.counter()
    }

    fn wants_first(&self) -> bool {
        self.sink.wants_first()
    }

    fn wants_order(&self) -> bool {
        self.sink.wants_order()
    }
}
