//! Many matches in one call: four walks at once, each over its own part of the haystack.
//!
//! A walk waits for the load of each row. Four walks wait at the same time. Each but the first
//! begins at the root, a few bytes before its part. At the beginning of its part, it is usually in
//! the row where the walk before it ends, and then its matches are right. If it is not, its part is
//! walked again.
//!
//! A walk notes each transition, and keeps the note if it reports. So dense matches cost no branch
//! misprediction each.

use super::{FindTable, NOTHING, Undecided};
use fyke_core::Match;

/// Most bytes of a part.
const PART: usize = 64;

/// Fewer bytes are walked at once. With parts as short as this, the bytes before each part take as
/// long as two walks fewer save. Not measured: a guess.
const LEAST_PART: usize = 12;

/// Number of parts.
const PARTS: usize = 4;

/// Bytes that a walk reads before its part. More bytes make it more often right.
const BEFORE: usize = 8;

/// Walks that are walked singly after one that was wrong.
const SINGLE: u8 = 4;

/// How far a walk over all matches of a haystack is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    at: usize,
    row: u32,
    /// The end of the last match.
    last: usize,
    /// How many matches were found.
    found: usize,
    /// How many pieces are still to be walked singly.
    single: u8,
    /// Whether the end of the haystack was reached.
    ended: bool,
}

/// The rows before and after each byte of a part.
type Trail = [u32; PART + 1];

impl Place {
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
    /// Appends the next matches of a haystack, of all if it is short.
    ///
    /// # Errors
    /// [`Undecided`] if the matches so far lie more than `gap` bytes apart, on average.
    pub fn find_several(
        &self,
        haystack: &[u8],
        place: &mut Place,
        gap: usize,
        found: &mut Vec<Match>,
    ) -> Result<(), Undecided> {
        let before = found.len();
        while found.len() == before && !place.ended {
            if place.at == haystack.len() {
                self.push(self.at_end(place.row), place.at, found);
                place.ended = true;
            } else if place.row < self.pending && place.at > gap.saturating_mul(place.found + 2) {
                return Err(Undecided);
            } else {
                self.walk_piece(haystack, place, found);
            }
        }
        place.found += found.len() - before;
        place.last = found.last().map_or(place.last, |m| m.end);
        Ok(())
    }

    /// Walks over the next bytes.
    fn walk_piece(&self, haystack: &[u8], place: &mut Place, found: &mut Vec<Match>) {
        let rest = &haystack[place.at..];
        let part = (rest.len() / PARTS).min(PART);
        if part < LEAST_PART || place.single > 0 {
            place.single = place.single.saturating_sub(1);
            let mut trail = [0; PART + 1];
            let bytes = &rest[..rest.len().min(PART)];
            self.walk_part(bytes, place.row, &mut trail);
            self.push_reported(bytes, place.at, &trail, found);
            place.at += bytes.len();
            place.row = trail[bytes.len()];
            return;
        }
        let parts: [&[u8]; PARTS] = std::array::from_fn(|i| &rest[i * part..][..part]);
        let mut trails = [[0; PART + 1]; PARTS];
        trails[0][0] = place.row;
        self.walk_before(rest, part, &mut trails);
        self.walk_parts(parts, &mut trails);
        let wrong = (1..PARTS).find(|&i| trails[i][0] != trails[i - 1][part]);
        let right = wrong.unwrap_or(PARTS);
        for i in 0..right {
            self.push_reported(parts[i], place.at + i * part, &trails[i], found);
        }
        place.at += right * part;
        place.row = trails[right - 1][part];
        if wrong.is_some() {
            place.single = SINGLE;
        }
    }

    /// Walks over the bytes before each part but the first.
    #[inline(always)]
    fn walk_before(&self, rest: &[u8], part: usize, trails: &mut [Trail; PARTS]) {
        let before = |i: usize| -> &[u8; BEFORE] {
            rest[i * part - BEFORE..].first_chunk().expect("a part has as many bytes")
        };
        let [mut b, mut c, mut d] = [0; 3];
        for ((&x, &y), &z) in before(1).iter().zip(before(2)).zip(before(3)) {
            (b, c, d) = (self.next(b, x), self.next(c, y), self.next(d, z));
        }
        (trails[1][0], trails[2][0], trails[3][0]) = (b, c, d);
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

    /// Walks over one part.
    #[inline]
    fn walk_part(&self, part: &[u8], mut row: u32, trail: &mut Trail) {
        trail[0] = row;
        for (&byte, after) in part.iter().zip(&mut trail[1..]) {
            row = self.next(row, byte);
            *after = row;
        }
    }

    /// Appends the matches that a walk over a part reported, which begins at `at`.
    #[inline]
    fn push_reported(&self, part: &[u8], at: usize, trail: &Trail, found: &mut Vec<Match>) {
        let (mut reported, mut count) = ([0; PART], 0);
        for (i, &row) in trail[1..][..part.len()].iter().enumerate() {
            reported[count % PART] = i as u8;
            count += usize::from(row >= self.reporting);
        }
        for &i in &reported[..count] {
            let i = usize::from(i);
            self.push(self.report(trail[i], part[i]), at + i + 1, found);
        }
    }

    /// Appends the matches of a report.
    #[inline]
    fn push(&self, report: u16, end: usize, found: &mut Vec<Match>) {
        let mut place = report;
        while place != NOTHING {
            let it = self.found[usize::from(place)];
            found.push(it.at(end));
            place = if it.is_last { NOTHING } else { place + 1 };
        }
    }
}
