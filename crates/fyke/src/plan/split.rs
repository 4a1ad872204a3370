//! One set over several engines: each takes some of the patterns, and all look at a piece of the haystack
//! while it is in the cache.
//!
//! A few short patterns spoil a filter for all the others, which it would know by windows of seven or eight
//! bytes. Taken apart, each kind has the engine that it would have alone, at the price of reading every
//! piece twice.

use fyke_core::{Batch, Block, Footprint, Info, Matcher, PatternSet, Record, Scratch, Sink};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Bytes of a piece: with the tables of two engines they fit a second-level cache. Not swept.
const PIECE: usize = 64 << 10;

/// A piece is at least so many times as long as the overlap that each engine reads again.
const OVERLAPS: usize = 16;

/// Some patterns of a set and the engine that takes them.
pub(super) struct Part {
    pub(super) matcher: Arc<dyn Matcher>,
    /// What each of its patterns is in the whole set.
    pub(super) indices: Vec<u32>,
}

/// A set over several engines.
pub(super) struct Split {
    info: &'static Info,
    set: PatternSet,
    parts: Vec<Part>,
    piece: usize,
}

/// What a scan writes to: a scratch for each engine, and records on their way.
#[derive(Default)]
struct Scratches {
    each: Vec<Scratch>,
    records: Vec<Record>,
}

impl Split {
    pub(super) fn new(info: &'static Info, set: PatternSet, parts: Vec<Part>) -> Split {
        let piece = PIECE.max(OVERLAPS * set.overlap());
        Split { info, set, parts, piece }
    }
}

impl Matcher for Split {
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
        let follows = scratch.follows();
        let (_, own) = scratch.parts::<Scratches>();
        own.each.resize_with(self.parts.len().max(own.each.len()), Scratch::following);
        if !follows {
            own.each.iter_mut().for_each(Scratch::forget);
        }
        let before = spent(&own.each);
        let flow = self.scan_pieces(block, own, sink);
        let candidates = spent(&own.each) - before;
        scratch.spend(candidates);
        flow
    }

    fn footprint(&self) -> Footprint {
        self.parts.iter().fold(Footprint::default(), |all, part| {
            let own = part.matcher.footprint();
            let indices = size_of_val(&*part.indices) as u64;
            Footprint { host: all.host + own.host + indices, device: all.device + own.device }
        })
    }

    fn stats(&self) -> Vec<(String, u64)> {
        let named = |part: &Part| {
            let name = part.matcher.info().name;
            let stats = part.matcher.stats().into_iter();
            stats.map(|(what, n)| (format!("{name}: {what}"), n)).collect::<Vec<_>>()
        };
        self.parts.iter().flat_map(named).collect()
    }

    fn parts(&self) -> Vec<fyke_core::Part> {
        self.parts.iter().flat_map(|part| part.matcher.parts()).collect()
    }

    fn describe(&self) -> String {
        let one = |part: &Part| {
            let (count, name) = (part.indices.len(), part.matcher.info().name);
            format!("{count} patterns by {name} ({})", part.matcher.describe())
        };
        self.parts.iter().map(one).collect::<Vec<_>>().join("; ")
    }
}

impl Split {
    fn scan_pieces(
        &self,
        block: Block<'_>,
        own: &mut Scratches,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        for piece in block.pieces(self.piece, self.set.overlap()) {
            for (part, scratch) in self.parts.iter().zip(&mut own.each) {
                let (set, records) = (&self.set, &mut own.records);
                let mut renumber = Renumber { indices: &part.indices, set, records, sink };
                let piece = piece.with_overlap(part.matcher.set().overlap());
                part.matcher.scan(piece, scratch, &mut renumber)?;
            }
        }
        ControlFlow::Continue(())
    }
}

fn spent(scratches: &[Scratch]) -> u64 {
    scratches.iter().map(Scratch::spent).sum()
}

/// Turns the indices of a part into those of the whole set.
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
}
