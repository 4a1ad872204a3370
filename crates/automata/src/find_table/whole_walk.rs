//! All matches of a short haystack. The first call walks over all of it and notes the reports. Each
//! call returns the next match.
//!
//! Four walks are interleaved, because a walk waits for the load of each row. They read the same
//! number of bytes, and all begin at the root. Each but the first begins some bytes before the end
//! of the walk before it. If the two are in different rows at that end, one walk reads the rest
//! again. One walk also reads the last bytes that four do not share evenly.
//!
//! It wins in haystacks of some tens of bytes. In a shorter one, [`MatchWalk`](super::MatchWalk) is
//! faster. It also is in up to some fifty bytes if there is no match or if the table is small. In a
//! longer one, [`BulkWalk`](super::BulkWalk) is.

use super::bulk_walk::{PART, Trail, reporting_positions};
use super::{FindTable, NO_REPORT, Undecided};
use fyke_core::Match;
use std::array;
use std::ops::RangeInclusive;

/// The number of bytes of a haystack. At the lower bound, [`MatchWalk`](super::MatchWalk) takes as
/// long if there is a match. Measured with 2,000 words of the King James Bible in 24 to 40 bytes,
/// on a Sapphire Rapids; `calls` has 53.
pub const WHOLE_LEN: RangeInclusive<usize> = 32..=MOST_LEN;

/// The maximum number of bytes of a haystack: [`reporting_positions`] lists no more.
const MOST_LEN: usize = PART;

/// Bytes that a walk reads before the end of the walk before it. With more bytes, the two more
/// often agree. Not measured: a guess.
const WARM_UP: usize = 8;

/// The number of interleaved walks. [`FindTable::walk_interleaved`] is written for four.
pub(super) const WALKS: usize = 4;

/// The maximum number of reports. Not measured: a guess.
pub(super) const MOST_REPORTS: usize = 16;

/// The matches of a haystack that were not returned yet.
#[derive(Clone, Copy, Debug)]
pub struct WholeWalk {
    /// The reports, and the positions after the bytes that made them.
    reports: [(u16, u8); MOST_REPORTS],
    /// The number of reports. `None` before the walk.
    count: Option<u8>,
    /// How many reports were taken.
    taken: u8,
    /// What is left of the report that was taken last, or [`NO_REPORT`]. `at` is its position.
    report: u16,
    at: u8,
}

impl Default for WholeWalk {
    fn default() -> Self {
        let reports = [(0, 0); MOST_REPORTS];
        WholeWalk { reports, count: None, taken: 0, report: NO_REPORT, at: 0 }
    }
}

impl FindTable {
    /// The next match of a haystack. Each call for a haystack gets the same `walk`.
    ///
    /// # Errors
    /// [`Undecided`]: the table makes too many reports. No match was returned yet.
    ///
    /// # Panics
    /// In the first call, if the length of the haystack is not in [`WHOLE_LEN`].
    #[inline]
    pub fn next_of_whole(
        &self,
        haystack: &[u8],
        walk: &mut WholeWalk,
    ) -> Result<Option<Match>, Undecided> {
        let count = match walk.count {
            Some(count) => count,
            None => self.walk_whole(haystack, walk)?,
        };
        if walk.report == NO_REPORT {
            if walk.taken == count {
                return Ok(None);
            }
            (walk.report, walk.at) = walk.reports[usize::from(walk.taken)];
            walk.taken += 1;
        }
        let (next, rest) = self.first_of(walk.report, usize::from(walk.at));
        walk.report = rest;
        Ok(Some(next))
    }

    /// Walks over the haystack, and returns the number of reports.
    #[inline(never)]
    fn walk_whole(&self, haystack: &[u8], walk: &mut WholeWalk) -> Result<u8, Undecided> {
        let len = haystack.len();
        assert!(
            WHOLE_LEN.contains(&len),
            "a haystack of {len} bytes: a whole walk takes {WHOLE_LEN:?}"
        );
        let mut trail: Trail = [0; PART + 1];
        self.walk_interleaved(haystack, &mut trail);
        let after = &trail[1..][..len];
        let (reporting, mut count) = reporting_positions(after, self.reporting);
        // One more may be made at the end.
        if count >= MOST_REPORTS {
            return Err(Undecided);
        }
        for (&i, report) in reporting[..count].iter().zip(&mut walk.reports) {
            let at = usize::from(i);
            *report = (self.report(trail[at], haystack[at]), i + 1);
        }
        let at_end = self.at_end(trail[len]);
        if at_end != NO_REPORT {
            walk.reports[count] = (at_end, len as u8);
            count += 1;
        }
        walk.count = Some(count as u8);
        Ok(count as u8)
    }

    /// Notes the rows of a walk over the haystack. Returns how many of the interleaved walks were
    /// right.
    #[inline]
    pub(super) fn walk_interleaved(&self, haystack: &[u8], trail: &mut Trail) -> usize {
        let part = (haystack.len() - WARM_UP) / WALKS;
        let [mut a, mut b, mut c, mut d] = [0; WALKS];
        let first: [&[u8; WARM_UP]; WALKS] = array::from_fn(|i| {
            haystack[i * part..].first_chunk().expect("the haystack has the bytes before each part")
        });
        for i in 0..WARM_UP {
            (a, b) = (self.next(a, first[0][i]), self.next(b, first[1][i]));
            (c, d) = (self.next(c, first[2][i]), self.next(d, first[3][i]));
            trail[1 + i] = a;
        }
        let guessed = [b, c, d];
        let rest: [&[u8]; WALKS] = array::from_fn(|i| &haystack[WARM_UP + i * part..][..part]);
        let (to_a, trails) = trail[WARM_UP + 1..].split_at_mut(part);
        let (to_b, trails) = trails.split_at_mut(part);
        let (to_c, trails) = trails.split_at_mut(part);
        let to_d = &mut trails[..part];
        for i in 0..part {
            (a, b) = (self.next(a, rest[0][i]), self.next(b, rest[1][i]));
            (c, d) = (self.next(c, rest[2][i]), self.next(d, rest[3][i]));
            (to_a[i], to_b[i], to_c[i], to_d[i]) = (a, b, c, d);
        }
        let wrong = [a, b, c].into_iter().zip(guessed).position(|(row, guess)| row != guess);
        let right = wrong.map_or(WALKS, |i| i + 1);
        self.walk_on(haystack, WARM_UP + right * part, trail);
        right
    }

    /// The same from a position on, by one walk.
    #[inline]
    fn walk_on(&self, haystack: &[u8], from: usize, trail: &mut Trail) {
        let mut row = trail[from];
        for (&byte, after) in haystack[from..].iter().zip(&mut trail[from + 1..]) {
            row = self.next(row, byte);
            *after = row;
        }
    }
}
