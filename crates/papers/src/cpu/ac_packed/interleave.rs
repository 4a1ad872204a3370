//! Interleaved walks over one haystack.
//!
//! A tile is cut into K neighboring segments with one walk each. The walks take turns: each visits
//! one node at a time, so that the others continue while one waits for its node (the paper's
//! *vertical unrolling*). Visits read different numbers of bytes, so each walk is at a position of
//! its own.
//!
//! A walk does not report. It writes down its *hits*: which states have rules, and where. When all
//! walks are done, the hits are read in order of the segments, which is the order of the haystack.
//!
//! Walk 0 begins in the true state. The others begin at the root, because the last state of the
//! walk before is not yet known. So each seam is walked again, byte by byte, by two walks: one
//! from the true state and one from the root. **From the position where their states are equal,
//! the interleaved walk was right.** The hits of the true walk replace those before that position.
//! That takes some ten bytes on real data, and in the worst case, within a match longer than a
//! segment, the whole segment.

use super::nodes::{Nodes, ROOT, State};
use super::walk::{Hit, Place};
use fyke_automata::count::Uncounted;
use std::ops::ControlFlow;

/// Most interleaved walks.
const MAX_WALKS: usize = 8;

/// Bytes of a segment: a long haystack is cut into large tiles and its end into small ones. Not
/// multiples of 4096, which would map all walks to the same sets of the L1 cache.
pub(super) const LARGE: usize = 4096 - 64;
pub(super) const SMALL: usize = 512 - 64;

/// The hits in one segment.
#[derive(Default)]
struct WalkHits {
    /// Hits of the true walk, up to `settled`.
    seam: Vec<Hit>,
    /// The end of the part that was walked again.
    settled: u32,
    /// Hits of the interleaved walk, and space for one more.
    hits: Vec<Hit>,
    /// The number of these hits.
    count: usize,
}

/// The hits in all segments of a tile.
#[derive(Default)]
pub(super) struct TileHits {
    segments: [WalkHits; MAX_WALKS],
    /// The number of walks of the last tile, and the bytes of a segment.
    shape: (usize, usize),
}

impl TileHits {
    /// Walks the K segments of a text, which has a window more after them, from `state`. Returns
    /// the state at the end.
    #[inline(always)]
    pub(super) fn walk<const C: usize, const K: usize>(
        &mut self,
        nodes: Nodes<'_, C>,
        text: &[u8],
        segment: usize,
        state: State,
    ) -> State {
        self.shape = (K, segment);
        let segments = self.segments.first_chunk_mut::<K>().expect("K is at most MAX_WALKS");
        let ends = walk_segments(nodes, text, segment, segments, state);
        let mut truth = ends[0];
        for k in 1..K {
            let bytes = &text[k * segment..(k + 1) * segment];
            truth = settle(nodes, bytes, &mut segments[k], truth).unwrap_or(ends[k]);
        }
        truth
    }

    /// Calls `each` with the true hits in order, by their place in the tile.
    #[inline(always)]
    pub(super) fn hits(&self, mut each: impl FnMut(Hit) -> ControlFlow<()>) -> ControlFlow<()> {
        let (walks, segment) = self.shape;
        for (k, found) in self.segments[..walks].iter().enumerate() {
            let own = &found.hits[..found.count];
            let wrong = own.iter().take_while(|hit| hit.end <= found.settled).count();
            for hit in found.seam.iter().chain(&own[wrong..]) {
                each(Hit { end: hit.end + (k * segment) as u32, ..*hit })?;
            }
        }
        ControlFlow::Continue(())
    }
}

impl WalkHits {
    fn begin(&mut self, segment: usize) {
        self.seam.clear();
        (self.settled, self.count) = (0, 0);
        if self.hits.len() <= segment {
            self.hits.resize(segment + 1, Hit::default());
        }
    }

    /// Writes down the hits of a visit. Whether it has none or one is hard to predict, so one hit
    /// is always written, and counted only if it is real.
    #[inline(always)]
    fn note<const C: usize>(&mut self, nodes: Nodes<'_, C>, state: State, at: usize, reports: u32) {
        self.hits[self.count] = nodes.hit(state, 0, at);
        self.count += (reports & 1) as usize;
        let mut more = reports & !1;
        while more != 0 {
            self.hits[self.count] = nodes.hit(state, more.trailing_zeros(), at);
            self.count += 1;
            more &= more - 1;
        }
    }
}

/// Walks all segments in turn. Returns the last state of each walk.
#[inline(always)]
fn walk_segments<const C: usize, const K: usize>(
    nodes: Nodes<'_, C>,
    text: &[u8],
    segment: usize,
    segments: &mut [WalkHits; K],
    state: State,
) -> [State; K] {
    segments.iter_mut().for_each(|hits| hits.begin(segment));
    let mut places = [Place::default(); K];
    let mut at: [usize; K] = std::array::from_fn(|k| k * segment);
    places[0].state = state;
    // While no walk can reach its end, none is checked for it.
    loop {
        let left = (0..K).map(|k| (k + 1) * segment - at[k]).min().unwrap_or(0);
        if left <= C {
            break;
        }
        for _ in 0..left / (C + 1) {
            for k in 0..K {
                let window = text[at[k]..].first_chunk().expect("a window follows the text");
                let visit = nodes.visit::<true, _>(places[k], window, usize::MAX, &mut Uncounted);
                segments[k].note(nodes, places[k].state, at[k] - k * segment, visit.reports);
                (places[k], at[k]) = (visit.to, at[k] + visit.read);
            }
        }
    }
    while (0..K).any(|k| at[k] < (k + 1) * segment) {
        for k in 0..K {
            let left = (k + 1) * segment - at[k];
            if left > 0 {
                let window = text[at[k]..].first_chunk().expect("a window follows the text");
                let visit = nodes.visit::<true, _>(places[k], window, left, &mut Uncounted);
                segments[k].note(nodes, places[k].state, at[k] - k * segment, visit.reports);
                (places[k], at[k]) = (visit.to, at[k] + visit.read);
            }
        }
    }
    for (hits, place) in segments.iter_mut().zip(&places) {
        let reports = place.fresh && nodes.reports(place.state);
        hits.note(nodes, place.state, segment, u32::from(reports));
    }
    places.map(|place| place.state)
}

/// Walks a segment again from the true state until it agrees with the interleaved walk. Returns
/// the state at the end of the segment if they never agree.
fn settle<const C: usize>(
    nodes: Nodes<'_, C>,
    segment: &[u8],
    hits: &mut WalkHits,
    mut truth: State,
) -> Option<State> {
    let mut from_root = ROOT;
    for (read, &byte) in segment.iter().enumerate() {
        hits.settled = read as u32;
        if truth == from_root {
            return None;
        }
        (truth, from_root) = (nodes.step(truth, byte), nodes.step(from_root, byte));
        if nodes.reports(truth) {
            hits.seam.push(nodes.hit(truth, 0, read + 1));
        }
    }
    hits.settled = segment.len() as u32;
    Some(truth)
}
