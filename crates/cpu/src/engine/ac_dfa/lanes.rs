//! Interleaved walks over one haystack.
//!
//! A tile is cut into K neighbouring segments, one a lane:
//!
//! ```text
//! | lane 0      | lane 1      | lane 2      | ...        K walks in turns: K loads are under way at once
//!   ^ true        ^ root        ^ root
//! ```
//!
//! Lane 0 begins in the true state; the others begin at the root, because where the lane before will
//! arrive is not known yet. A lane that began at the root sees every match that starts in its segment,
//! and misses those that start before it. So when all lanes are through, each seam is walked once more
//! from the true state, **until the state is no deeper than the bytes since the seam**: from there on
//! it is a suffix of what the lane itself has read, both walks are in the same state, and what the lane
//! found is all there is. On real data that is some ten bytes, where the usual warm-up takes
//! `max_len - 1` for each lane. In the seam the second walk's finds replace the lane's: it is in the true
//! state, so they are complete, and all hits are in order without sorting.

use super::Table;

/// Most walks that run at once. With 16 the states no longer fit the registers: measured 1.2 times slower
/// than 8 in the lanes sketch behind this design; the `ac-dfa-forms` benchmark has 1, 4 and 8.
pub const LANES: usize = 8;

/// Bytes of a segment: the hits of a tile, 8 bytes for each byte at worst, stay within a second-level cache.
/// Not a multiple of 4096, which would put all lanes in the same sets of the first-level cache.
const SEGMENT: usize = 4096 - 64;

/// Below this many bytes a lane is not worth its seam. Set by the `ac-dfa-haystack-sizes` benchmark.
const MIN_SEGMENT: usize = 64;

/// One hit in this many bytes, or more, and the next tile is walked without branches on hits.
/// Set by the `ac-dfa-density` benchmark.
const DENSE_HITS: usize = 32;

/// A reporting state and where it was reached.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hit {
    /// One past the byte, counted from the start of the tile.
    pub end: u32,
    pub state: i32,
}

/// Buffers of a tile, and what came out of it.
#[derive(Default)]
pub(super) struct Tile {
    lanes: [Lane; LANES],
    /// Whether hits were so many in the last tile that branches on them would be mispredicted.
    dense: bool,
}

/// What a walk found.
#[derive(Default)]
pub(super) struct Lane {
    hits: Vec<Hit>,
    /// Hits of the true walk over the seam at the front of the segment.
    seam: Vec<Hit>,
    /// Where the seam ends: the lane's own hits up to here do not count.
    seam_end: u32,
}

/// The segment length for a tile out of `rest` bytes, if there is enough for one.
pub(super) fn segment_len(rest: usize, walks: usize) -> Option<usize> {
    let segment = (rest / walks).min(SEGMENT);
    (walks > 1 && segment >= MIN_SEGMENT).then_some(segment)
}

impl Tile {
    /// Walks a tile of K equal segments, lane 0 from `state`. Returns the state at the end.
    pub(super) fn walk<const DENSE: bool, const K: usize>(
        &mut self,
        table: &Table,
        tile: &[u8],
        state: i32,
    ) -> i32 {
        let segment = tile.len() / K;
        let mut states = [0; K];
        states[0] = state;
        self.lanes[..K].iter_mut().for_each(Lane::clear);
        if self.dense {
            self.walk_dense::<DENSE, K>(table, tile, &mut states);
        } else {
            self.walk_sparse::<DENSE, K>(table, tile, &mut states);
        }
        let hits: usize = self.lanes[..K].iter().map(|l| l.hits.len()).sum();
        self.dense = hits >= tile.len() / DENSE_HITS;
        self.walk_seams::<DENSE, K>(table, tile, segment, &mut states)
    }

    /// The lanes of the last tile, by position.
    pub(super) fn lanes(&self, walks: usize) -> &[Lane] {
        &self.lanes[..walks]
    }

    /// One branch for K bytes: whether any lane has a hit.
    fn walk_sparse<const DENSE: bool, const K: usize>(
        &mut self,
        table: &Table,
        tile: &[u8],
        states: &mut [i32; K],
    ) {
        let segment = tile.len() / K;
        let mut s = *states;
        for i in 0..segment {
            let mut any = 0;
            for (k, s) in s.iter_mut().enumerate() {
                debug_assert!(k * segment + i < tile.len());
                // SAFETY: i < segment and k < K, and K segments fit the tile.
                let byte = unsafe { *tile.get_unchecked(k * segment + i) };
                *s = table.next::<DENSE>(*s, byte);
                any |= *s;
            }
            if any < 0 {
                self.note(&s, i, segment);
            }
        }
        *states = s;
    }

    /// Writes the hits of one step.
    #[inline(never)]
    fn note<const K: usize>(&mut self, states: &[i32; K], i: usize, segment: usize) {
        for (k, &state) in states.iter().enumerate().filter(|(_, s)| **s < 0) {
            self.lanes[k].hits.push(Hit { end: (k * segment + i + 1) as u32, state });
        }
    }

    /// No branch at all: every step writes a hit, and only a true one moves the place of writing on.
    fn walk_dense<const DENSE: bool, const K: usize>(
        &mut self,
        table: &Table,
        tile: &[u8],
        states: &mut [i32; K],
    ) {
        let segment = tile.len() / K;
        let mut s = *states;
        let mut counts = [0usize; K];
        let mut lanes = self.lanes[..K].iter_mut();
        let places: [*mut Hit; K] = std::array::from_fn(|_| {
            let hits = &mut lanes.next().expect("K lanes").hits;
            hits.reserve(segment);
            hits.as_mut_ptr()
        });
        for i in 0..segment {
            for k in 0..K {
                debug_assert!(k * segment + i < tile.len() && counts[k] <= i);
                // SAFETY: i < segment and k < K, and K segments fit the tile.
                let byte = unsafe { *tile.get_unchecked(k * segment + i) };
                s[k] = table.next::<DENSE>(s[k], byte);
                let hit = Hit { end: (k * segment + i + 1) as u32, state: s[k] };
                // SAFETY: counts[k] <= i < segment, and room for `segment` hits was reserved.
                unsafe { places[k].add(counts[k]).write(hit) };
                counts[k] += usize::from(s[k] < 0);
            }
        }
        *states = s;
        for (lane, count) in self.lanes.iter_mut().zip(counts) {
            // SAFETY: the first `count` hits were written, within the reserved capacity.
            unsafe { lane.hits.set_len(count) };
        }
    }

    /// Walks each seam from the true state until it meets the lane's own walk. Returns the true state at the end.
    fn walk_seams<const DENSE: bool, const K: usize>(
        &mut self,
        table: &Table,
        tile: &[u8],
        segment: usize,
        states: &mut [i32; K],
    ) -> i32 {
        let mut truth = states[0];
        for k in 1..K {
            let start = k * segment;
            let (state, read) = self.lanes[k].walk_seam::<DENSE>(
                table,
                &tile[start..start + segment],
                start,
                truth,
            );
            truth = if read < segment { states[k] } else { state };
        }
        truth
    }
}

impl Lane {
    /// Hits of the true walk over the seam.
    pub(super) fn seam(&self) -> &[Hit] {
        &self.seam
    }

    /// Hits behind the seam.
    pub(super) fn hits(&self) -> &[Hit] {
        &self.hits[self.hits.partition_point(|h| h.end <= self.seam_end)..]
    }

    fn clear(&mut self) {
        self.hits.clear();
        self.seam.clear();
        self.seam_end = 0;
    }

    /// Returns the state where the two walks met, and the bytes read until then.
    fn walk_seam<const DENSE: bool>(
        &mut self,
        table: &Table,
        segment: &[u8],
        start: usize,
        mut state: i32,
    ) -> (i32, usize) {
        let mut read = 0;
        while read < segment.len() && table.depth(state) > read {
            state = table.next::<DENSE>(state, segment[read]);
            read += 1;
            if state < 0 {
                self.seam.push(Hit { end: (start + read) as u32, state });
            }
        }
        self.seam_end = (start + read) as u32;
        (state, read)
    }
}
