//! Interleaved walks over one haystack.
//!
//! A tile is cut into K neighbouring segments, one a lane, and the lanes take turns: one visit of a node
//! each. They read more or fewer bytes in a visit, so each lane is where its own visits have brought it. While
//! one waits for its node, the others go on; the paper's *vertical unrolling*.
//!
//! A lane does not report. It writes down an *event*: which state was visited, where, and which
//! states on the way have rules. When all lanes are through, the events are read lane by lane,
//! which is the order of the haystack.
//!
//! Lane 0 begins in the true state; the others begin at the root, because where the lane before will arrive
//! is not known yet. So each seam is walked once more, byte by byte, by two walks: one from the true state
//! and one from the root, as the lane did. **Where they meet, the lane has been right from there on.** The
//! events before are replaced by those of the true walk. On real data that is some ten bytes; at worst,
//! inside a match that is longer than a segment, it is the whole segment.

use super::nodes::{Nodes, ROOT, State, WINDOW};
use super::walk::Place;
use crate::build::Fold;
use crate::count::Uncounted;
use std::ops::ControlFlow;

/// Most walks that take turns.
const LANES: usize = 8;

/// Bytes of a lane, by size of tile: a long haystack is cut into large tiles and its end into small ones. Not
/// a multiple of 4096, which would put all lanes into the same sets of the first-level cache.
pub(super) const LARGE: usize = 4096 - 64;
pub(super) const SMALL: usize = 512 - 64;

/// What a lane found: the state a visit began in, the bits of the states on the way that report, and how
/// many bytes of the segment had been read.
#[derive(Clone, Copy, Default)]
struct Event {
    state: State,
    reports: u16,
    at: u16,
}

const _: () = assert!(LARGE <= u16::MAX as usize, "an event holds a position of its lane");

/// The events of one lane.
#[derive(Default)]
struct Lane {
    /// Those before the seam was settled, from the true walk.
    seam: Vec<Event>,
    /// Up to where the seam was walked.
    settled: usize,
    /// Those of the lane's own walk, and room for one more.
    events: Vec<Event>,
    /// How many of them there are.
    count: usize,
}

/// The events of all lanes of a tile.
#[derive(Default)]
pub(super) struct Tile {
    lanes: [Lane; LANES],
    /// Lanes and bytes of a lane of the last tile.
    shape: (usize, usize),
}

impl Tile {
    /// Walks a tile of K segments of S bytes, and a window of bytes behind them, lane 0 from `state`. Returns the
    /// state at the end.
    #[inline(always)]
    pub(super) fn walk<const C: usize, const K: usize, const S: usize>(
        &mut self,
        nodes: Nodes<'_, C>,
        fold: Fold,
        bytes: &[u8],
        state: State,
    ) -> State {
        self.shape = (K, S);
        let lanes = self.lanes.first_chunk_mut::<K>().expect("no more than there are");
        let ends = walk_lanes::<C, K, S>(nodes, fold, bytes, lanes, state);
        let mut truth = ends[0];
        for k in 1..K {
            let segment = &bytes[k * S..(k + 1) * S];
            truth = settle(nodes, fold, segment, &mut lanes[k], truth).unwrap_or(ends[k]);
        }
        truth
    }

    /// Calls `each` with what was found: a position of the tile, a state, and bit i for the state i places on,
    /// i bytes on.
    #[inline(always)]
    pub(super) fn hits(
        &self,
        mut each: impl FnMut(usize, State, u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (lanes, segment) = self.shape;
        for (k, lane) in self.lanes[..lanes].iter().enumerate() {
            let mut hit = |e: &Event, reports: u16| {
                each(k * segment + usize::from(e.at), e.state, u32::from(reports))
            };
            lane.seam.iter().try_for_each(|e| hit(e, e.reports))?;
            for e in &lane.events[..lane.count] {
                hit(e, lane.after_seam(e))?;
            }
        }
        ControlFlow::Continue(())
    }
}

impl Lane {
    fn begin(&mut self, segment: usize) {
        self.seam.clear();
        (self.settled, self.count) = (0, 0);
        if self.events.len() <= segment {
            self.events.resize(segment + 1, Event::default());
        }
    }

    /// Writes an event, which counts only if it reports something.
    #[inline(always)]
    fn note(&mut self, at: usize, state: State, reports: u32) {
        self.events[self.count] = Event { state, reports: reports as u16, at: at as u16 };
        self.count += usize::from(reports != 0);
    }

    /// What of an event lies behind the seam.
    #[inline(always)]
    fn after_seam(&self, event: &Event) -> u16 {
        match (self.settled + 1).saturating_sub(usize::from(event.at)) {
            0 => event.reports,
            before => event.reports & u16::MAX.checked_shl(before as u32).unwrap_or(0),
        }
    }
}

/// Walks all lanes in turns. Returns their last states.
#[inline(always)]
fn walk_lanes<const C: usize, const K: usize, const S: usize>(
    nodes: Nodes<'_, C>,
    fold: Fold,
    bytes: &[u8],
    lanes: &mut [Lane; K],
    state: State,
) -> [State; K] {
    lanes.iter_mut().for_each(|lane| lane.begin(S));
    let mut places = [Place::default(); K];
    let mut at = [0; K];
    places[0].state = state;
    while (0..K).any(|k| at[k] < S) {
        for k in 0..K {
            if at[k] < S {
                let window = bytes[k * S + at[k]..].first_chunk::<WINDOW>();
                let window = window.expect("behind the tile").map(|byte| fold.byte(byte));
                let visit = nodes.visit(places[k], &window, S - at[k], &mut Uncounted);
                lanes[k].note(at[k], places[k].state, visit.reports);
                (places[k], at[k]) = (visit.to, at[k] + visit.read);
            }
        }
    }
    for (lane, place) in lanes.iter_mut().zip(&places) {
        let reports = place.fresh && nodes.reports(place.state);
        lane.note(S, place.state, u32::from(reports));
    }
    places.map(|place| place.state)
}

/// Walks a segment from the true state until it meets the lane's own walk. The state at the end of the segment
/// if that never happened.
fn settle<const C: usize>(
    nodes: Nodes<'_, C>,
    fold: Fold,
    segment: &[u8],
    lane: &mut Lane,
    mut truth: State,
) -> Option<State> {
    let mut shadow = ROOT;
    for (read, &byte) in segment.iter().enumerate() {
        lane.settled = read;
        if truth == shadow {
            return None;
        }
        let byte = fold.byte(byte);
        (truth, shadow) = (nodes.step(truth, byte), nodes.step(shadow, byte));
        if nodes.reports(truth) {
            lane.seam.push(Event { state: truth, reports: 1, at: read as u16 + 1 });
        }
    }
    lane.settled = segment.len();
    Some(truth)
}
