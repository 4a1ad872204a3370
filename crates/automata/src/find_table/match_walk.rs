//! The matches of a haystack, one per call. A call continues after the last byte that the call
//! before read, so no byte is read twice.

use super::{FindTable, NO_REPORT, Undecided};
use fyke_core::Match;

/// How far a walk is that returns one match per call.
#[derive(Clone, Copy, Debug)]
pub struct MatchWalk {
    /// The position after the last byte that was read, and the row there.
    at: usize,
    row: u32,
    /// What is to be returned next.
    report: u16,
    ended: bool,
}

impl Default for MatchWalk {
    fn default() -> Self {
        MatchWalk { at: 0, row: 0, report: NO_REPORT, ended: false }
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
        walk: &mut MatchWalk,
        most: usize,
    ) -> Result<Option<Match>, Undecided> {
        if walk.report == NO_REPORT && !walk.ended {
            self.walk_to_report(haystack, walk, most)?;
        }
        if walk.report == NO_REPORT {
            return Ok(None);
        }
        let (next, rest) = self.first_of(walk.report, walk.at);
        walk.report = rest;
        Ok(Some(next))
    }

    /// Walks to the next report or to the end of the haystack.
    #[inline(always)]
    fn walk_to_report(
        &self,
        haystack: &[u8],
        walk: &mut MatchWalk,
        most: usize,
    ) -> Result<(), Undecided> {
        let head = &haystack[..haystack.len().min(walk.at.saturating_add(most))];
        let stop = self.walk(head, walk.at, walk.row, self.reporting);
        // If no byte was left, the row is still that of the last report.
        walk.report = if stop.end > walk.at && stop.row >= self.reporting {
            self.report(stop.from, haystack[stop.end - 1])
        } else if head.len() == haystack.len() {
            walk.ended = true;
            self.at_end(stop.row)
        } else {
            return Err(Undecided);
        };
        (walk.at, walk.row) = (stop.end, stop.row);
        Ok(())
    }
}
