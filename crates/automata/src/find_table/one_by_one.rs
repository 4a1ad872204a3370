//! The matches of a short haystack, one at a time. The walk goes on from the last transition, so it
//! needs no look at the last match.

use super::{FindTable, NOTHING, Undecided};
use fyke_core::Match;

/// A walk over all matches of a haystack.
#[derive(Clone, Copy, Debug)]
pub struct OneByOne {
    /// The position behind the last byte that was read, and the row there.
    at: usize,
    row: u32,
    /// The match to return next, if any.
    report: u16,
    ended: bool,
}

impl Default for OneByOne {
    fn default() -> Self {
        OneByOne { at: 0, row: 0, report: NOTHING, ended: false }
    }
}

impl FindTable {
    /// The next match of a haystack. Each call for a haystack gets the same `walk`.
    ///
    /// # Errors
    /// [`Undecided`] if no match is reported in the next `most` bytes, and the haystack has more.
    #[inline]
    pub fn next_match(
        &self,
        haystack: &[u8],
        walk: &mut OneByOne,
        most: usize,
    ) -> Result<Option<Match>, Undecided> {
        if walk.report == NOTHING {
            if walk.ended {
                return Ok(None);
            }
            let head = &haystack[..haystack.len().min(walk.at.saturating_add(most))];
            let stop = self.walk(head, walk.at, walk.row, self.reporting);
            // Without a byte, the row is that of the last report.
            walk.report = if stop.end > walk.at && stop.row >= self.reporting {
                self.report(stop.from, haystack[stop.end - 1])
            } else if head.len() == haystack.len() {
                walk.ended = true;
                self.at_end(stop.row)
            } else {
                return Err(Undecided);
            };
            (walk.at, walk.row) = (stop.end, stop.row);
            if walk.report == NOTHING {
                return Ok(None);
            }
        }
        let found = self.found[usize::from(walk.report)];
        walk.report = if found.is_last { NOTHING } else { walk.report + 1 };
        Ok(Some(found.at(walk.at)))
    }
}
