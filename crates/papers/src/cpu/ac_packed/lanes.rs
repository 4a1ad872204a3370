//! Interleaved walks over one haystack.
//!
//! A tile is cut into K neighbouring segments, one a lane, and the lanes take turns: one visit of a node
//! each. They read more or fewer bytes in a visit, so each lane is where its own visits have brought it. While
//! one waits for its node, the others go on; the paper's *vertical unrolling*.
//!
//! A lane does not report. It writes down its *hits*, which states have rules and where. When all lanes are
//! through, the hits are read lane by lane, which is the order of the haystack.
//!
//! Lane 0 begins in the true state; the others begin at the root, because where the lane before will arrive
//! is not known yet. So each seam is walked once more, byte by byte, by two walks: one from the true state
//! and one from the root, as the lane did. **Where they meet, the lane has been right from there on.** The
//! hits before are replaced by those of the true walk. On real data that is some ten bytes; at worst,
//! inside a match that is longer than a segment, it is the whole segment.

use super::nodes::{Nodes, ROOT, State};
use super::walk::{Hit, Place};
use fyke_automata::count::Uncounted;
use std::ops::ControlFlow;

/// Most walks that take turns.
const LANES: usize = 8;

/// Bytes of a lane, by size of tile: a long haystack is cut into large tiles and its end into small ones. Not
/// a multiple of 4096, which would put all lanes into the same sets of the first-level cache.
pub(super) const LARGE: usize = 4096 - 64;
pub(super) const SMALL: usize = 512 - 64;

/// What one lane found.
#[derive(Default)]
struct Lane {
    /// Before the seam was settled, by the true walk.
    seam: Vec<Hit>,
    /// Up to where the seam was walked.
    settled: u32,
    /// By the lane's own walk, and room for one more.
    hits: Vec<Hit>,
    /// How many of them there are.
    count: usize,
}

/// What all lanes of a tile found.
#[derive(Default)]
pub(super) struct Tile {
    lanes: [Lane; LANES],
    /// Lanes and bytes of a lane of the last tile.
    shape: (usize, usize),
}

impl Tile {
    /// Walks the K segments of a text, and of a window behind them, lane 0 from `state`. Returns the state at
    /// the end.
    #[inline(always)]
    pub(super) fn walk<const C: usize, const K: usize>(
        &mut self,
        nodes: Nodes<'_, C>,
        text: &[u8],
        segment: usize,
        state: State,
    ) -> State {
        self.shape = (K, segment);
        let lanes = self.lanes.first_chunk_mut::<K>().expect("no more than there are");
        let ends = walk_lanes(nodes, text, segment, lanes, state);
        let mut truth = ends[0];
        for k in 1..K {
            let bytes = &text[k * segment..(k + 1) * segment];
            truth = settle(nodes, bytes, &mut lanes[k], truth).unwrap_or(ends[k]);
        }
        truth
    }

    /// Calls `each` with the true hits in order, by their place in the tile.
    #[inline(always)]
    pub(super) fn hits(&self, mut each: impl FnMut(Hit) -> ControlFlow<()>) -> ControlFlow<()> {
        let (lanes, segment) = self.shape;
        for (k, lane) in self.lanes[..lanes].iter().enumerate() {
            let own = &lane.hits[..lane.count];
            let wrong = own.iter().take_while(|hit| hit.end <= lane.settled).count();
            for hit in lane.seam.iter().chain(&own[wrong..]) {
                each(Hit { end: hit.end + (k * segment) as u32, ..*hit })?;
            }
        }
        ControlFlow::Continue(())
    }
}

impl Lane {
    fn begin(&mut self, segment: usize) {
        self.seam.clear();
        (self.settled, self.count) = (0, 0);
        if self.hits.len() <= segment {
            self.hits.resize(segment + 1, Hit::default());
        }
    }

    /// Writes down what a visit reports. Whether that is nothing or one hit is hard to predict, so a hit is
    /// written in either case, and counts or not.
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

/// Walks all lanes in turns. Returns their last states.
#[inline(always)]
fn walk_lanes<const C: usize, const K: usize>(
    nodes: Nodes<'_, C>,
    text: &[u8],
    segment: usize,
    lanes: &mut [Lane; K],
    state: State,
) -> [State; K] {
    lanes.iter_mut().for_each(|lane| lane.begin(segment));
    let mut places = [Place::default(); K];
    let mut at: [usize; K] = std::array::from_fn(|k| k * segment);
    places[0].state = state;
    // As long as no lane can come to its end, none is asked whether it has.
    loop {
        let left = (0..K).map(|k| (k + 1) * segment - at[k]).min().unwrap_or(0);
        if left <= C {
            break;
        }
        for _ in 0..left / (C + 1) {
            for k in 0..K {
                let window = text[at[k]..].first_chunk().expect("a window more");
                let visit = nodes.visit::<true, _>(places[k], window, usize::MAX, &mut Uncounted);
                lanes[k].note(nodes, places[k].state, at[k] - k * segment, visit.reports);
                (places[k], at[k]) = (visit.to, at[k] + visit.read);
            }
        }
    }
    while (0..K).any(|k| at[k] < (k + 1) * segment) {
        for k in 0..K {
            let left = (k + 1) * segment - at[k];
            if left > 0 {
                let window = text[at[k]..].first_chunk().expect("a window more");
                let visit = nodes.visit::<true, _>(places[k], window, left, &mut Uncounted);
                lanes[k].note(nodes, places[k].state, at[k] - k * segment, visit.reports);
                (places[k], at[k]) = (visit.to, at[k] + visit.read);
            }
        }
    }
    for (lane, place) in lanes.iter_mut().zip(&places) {
        let reports = place.fresh && nodes.reports(place.state);
        lane.note(nodes, place.state, segment, u32::from(reports));
    }
    places.map(|place| place.state)
}

/// Walks a segment from the true state until it meets the lane's own walk. The state at the end of the segment
/// if that never happened.
fn settle<const C: usize>(
    nodes: Nodes<'_, C>,
    segment: &[u8],
    lane: &mut Lane,
    mut truth: State,
) -> Option<State> {
    let mut shadow = ROOT;
    for (read, &byte) in segment.iter().enumerate() {
        lane.settled = read as u32;
        if truth == shadow {
            return None;
        }
        (truth, shadow) = (nodes.step(truth, byte), nodes.step(shadow, byte));
        if nodes.reports(truth) {
            lane.seam.push(nodes.hit(truth, 0, read + 1));
        }
    }
    lane.settled = segment.len() as u32;
    Some(truth)
}
