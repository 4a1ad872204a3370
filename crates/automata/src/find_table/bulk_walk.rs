//! Many matches in one call: four interleaved walks, each over its own part of the haystack.
//!
//! A walk waits for the load of each row. Four loads are in flight at once. The first walk knows
//! its row. Each of the others guesses: it starts at the root, some bytes before its part. If its
//! row at the beginning of the part is not the last row of the walk before it, this part and the
//! later ones are walked again, by one walk at a time.
//!
//! A walk writes its rows to a trail without a branch per match. A second loop picks the rows that
//! report.
//!
//! It wins where matches are dense. One walk is faster in a haystack of a few bytes, and
//! [`WholeWalk`](super::WholeWalk) in one of some tens.

use super::{FindTable, NO_REPORT, Undecided};
use fyke_core::Match;

/// The maximum number of bytes of a part. Not measured: a guess.
pub(super) const PART: usize = 64;

/// The minimum number of bytes of a part. One walk reads a shorter rest: what four read before
/// their parts would cost what they save. Not measured: a guess.
pub(super) const LEAST_PART: usize = 12;

/// The number of interleaved walks. [`FindTable::walk_parts`] is written for four.
pub(super) const PARTS: usize = 4;

/// Bytes that a walk reads before its part. With more bytes, its guess is right more often. Not
/// measured: a guess.
const WARM_UP: usize = 8;

/// The number of pieces that one walk reads alone after a wrong guess. Not measured: a guess.
const ALONE: u8 = 4;

/// Where the last match is this many average distances away, matches are no longer dense. Not
/// measured: a guess.
const FAR: usize = 8;

const _: () = assert!(WARM_UP <= LEAST_PART);

/// The last position at which matches that are `gap` bytes apart are still dense, after `found`
/// matches of which the last ends at `last`.
pub(crate) fn last_position(gap: usize, found: usize, last: usize) -> usize {
    // Two more gaps are allowed, so that a late first match does not end the walk.
    gap.saturating_mul(found + 2).min(last.saturating_add(gap.saturating_mul(FAR)))
}

/// The positions of the rows that report, and their number. There are at most [`PART`] rows.
#[inline(always)]
pub(super) fn reporting_positions(trail: &[u32], reporting: u32) -> ([u8; PART], usize) {
    let (mut positions, mut count) = ([0; PART], 0);
    for (i, &row) in trail.iter().enumerate() {
        positions[count % PART] = i as u8;
        count += usize::from(row >= reporting);
    }
    (positions, count)
}

/// How far a walk over all matches of a haystack is. Each call for a haystack gets the same one.
#[derive(Clone, Copy, Debug, Default)]
pub struct BulkWalk {
    at: usize,
    row: u32,
    /// The end of the last match.
    last: usize,
    /// How many matches were found.
    found: usize,
    /// How many pieces are still to be read by one walk.
    alone: u8,
    /// Whether the end of the haystack was reached.
    ended: bool,
}

/// The row before a part, and the row after each of its bytes.
pub(super) type Trail = [u32; PART + 1];

impl BulkWalk {
    /// Whether the end of the haystack was reached.
    pub fn is_at_end(&self) -> bool {
        self.ended
    }

    /// The end of the last match.
    pub fn last(&self) -> usize {
        self.last
    }

    /// How many matches were found.
    pub fn found(&self) -> usize {
        self.found
    }
}

impl FindTable {
    /// Walks piece by piece, and appends the matches of the first piece that has some. It appends
    /// nothing only at the end of the haystack.
    ///
    /// # Errors
    /// [`Undecided`] if the matches so far lie more than `gap` bytes apart, on average, or if the
    /// last one is much farther away.
    pub fn next_matches(
        &self,
        haystack: &[u8],
        walk: &mut BulkWalk,
        gap: usize,
        found: &mut Vec<Match>,
    ) -> Result<(), Undecided> {
        let before = found.len();
        while found.len() == before && !walk.ended {
            let most = last_position(gap, walk.found, walk.last);
            if walk.at == haystack.len() {
                self.push(self.at_end(walk.row), walk.at, found);
                walk.ended = true;
            } else if walk.row < self.pending && walk.at > most {
                return Err(Undecided);
            } else {
                self.walk_piece(haystack, walk, found);
            }
        }
        walk.found += found.len() - before;
        walk.last = found.last().map_or(walk.last, |m| m.end);
        Ok(())
    }

    /// Walks over the next bytes.
    fn walk_piece(&self, haystack: &[u8], walk: &mut BulkWalk, found: &mut Vec<Match>) {
        let rest = &haystack[walk.at..];
        let part = (rest.len() / PARTS).min(PART);
        if part < LEAST_PART || walk.alone > 0 {
            walk.alone = walk.alone.saturating_sub(1);
            self.walk_alone(rest, walk, found);
        } else {
            self.walk_four(rest, part, walk, found);
        }
    }

    /// Reads the next bytes by one walk.
    fn walk_alone(&self, rest: &[u8], walk: &mut BulkWalk, found: &mut Vec<Match>) {
        let part = &rest[..rest.len().min(PART)];
        let mut trail = [0; PART + 1];
        trail[0] = walk.row;
        let mut row = walk.row;
        for (&byte, after) in part.iter().zip(&mut trail[1..]) {
            row = self.next(row, byte);
            *after = row;
        }
        self.push_reported(part, walk.at, &trail, found);
        walk.at += part.len();
        walk.row = row;
    }

    /// Reads the next parts by four walks.
    fn walk_four(&self, rest: &[u8], part: usize, walk: &mut BulkWalk, found: &mut Vec<Match>) {
        let parts: [&[u8]; PARTS] = std::array::from_fn(|i| &rest[i * part..][..part]);
        let mut trails = [[0; PART + 1]; PARTS];
        trails[0][0] = walk.row;
        (trails[1][0], trails[2][0], trails[3][0]) = self.guess_rows(rest, part);
        self.walk_parts(parts, &mut trails);
        let wrong = (1..PARTS).find(|&i| trails[i][0] != trails[i - 1][part]);
        let right = wrong.unwrap_or(PARTS);
        for i in 0..right {
            self.push_reported(parts[i], walk.at + i * part, &trails[i], found);
        }
        walk.at += right * part;
        walk.row = trails[right - 1][part];
        if wrong.is_some() {
            walk.alone = ALONE;
        }
    }

    /// The rows at which walks from the root over the bytes before each part but the first end.
    #[inline(always)]
    pub(super) fn guess_rows(&self, rest: &[u8], part: usize) -> (u32, u32, u32) {
        let before = |i: usize| -> &[u8; WARM_UP] {
            let bytes = rest[i * part - WARM_UP..].first_chunk();
            bytes.expect("a part is at least as long as the warm-up")
        };
        let [mut b, mut c, mut d] = [0; 3];
        for ((&x, &y), &z) in before(1).iter().zip(before(2)).zip(before(3)) {
            (b, c, d) = (self.next(b, x), self.next(c, y), self.next(d, z));
        }
        (b, c, d)
    }

    /// Walks over all parts, from the first row of each trail on.
    #[inline(never)]
    fn walk_parts(&self, [w, x, y, z]: [&[u8]; PARTS], trails: &mut [Trail; PARTS]) {
        let len = w.len().min(PART);
        let (w, x, y, z) = (&w[..len], &x[..len], &y[..len], &z[..len]);
        let [mut a, mut b, mut c, mut d] = trails.each_ref().map(|trail| trail[0]);
        for at in 0..len {
            a = self.next(a, w[at]);
            trails[0][at + 1] = a;
            b = self.next(b, x[at]);
            trails[1][at + 1] = b;
            c = self.next(c, y[at]);
            trails[2][at + 1] = c;
            d = self.next(d, z[at]);
            trails[3][at + 1] = d;
        }
    }

    /// Appends the matches that the trail of a part reports. The part begins at `at`.
    #[inline]
    fn push_reported(&self, part: &[u8], at: usize, trail: &Trail, found: &mut Vec<Match>) {
        let (reporting, count) = reporting_positions(&trail[1..][..part.len()], self.reporting);
        for &i in &reporting[..count] {
            let i = usize::from(i);
            self.push(self.report(trail[i], part[i]), at + i + 1, found);
        }
    }

    /// Appends the matches of a report that is made at `end`.
    #[inline]
    fn push(&self, mut report: u16, end: usize, found: &mut Vec<Match>) {
        while report != NO_REPORT {
            let (next, rest) = self.first_of(report, end);
            found.push(next);
            report = rest;
        }
    }
}
