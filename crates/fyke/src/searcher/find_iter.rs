//! The iterator over matches. It scans the haystack piece by piece, only as far as it is asked.

use super::Searcher;
use fyke_core::{Block, Collect, Match, Matcher, Scratch, SemanticsFilter, Sorter};
use std::ops::ControlFlow;

/// Bytes that one step scans. Not measured: a guess, a piece that fits a second-level cache.
const LOOK_AHEAD: usize = 64 << 10;

/// Iterates over the matches of one haystack, in canonical order.
pub struct FindIter<'a> {
    matcher: &'a dyn Matcher,
    scratch: Scratch,
    /// `None` once the whole haystack was scanned.
    filter: Option<SemanticsFilter>,
    haystack: &'a [u8],
    /// Where the next piece begins.
    at: usize,
    /// Matches of the last piece.
    found: std::vec::IntoIter<Match>,
}

impl Searcher {
    /// The matches, in canonical order: by end, then start, then id.
    ///
    /// ```
    /// let searcher = fyke::Searcher::new(["he", "she", "hers"])?;
    /// let spans: Vec<_> = searcher.find_iter("ushers").map(|m| m.start..m.end).collect();
    /// assert_eq!(spans, [1..4, 2..4, 2..6]);
    /// # Ok::<(), fyke::BuildError>(())
    /// ```
    pub fn find_iter<'a>(&'a self, haystack: &'a (impl AsRef<[u8]> + ?Sized)) -> FindIter<'a> {
        FindIter {
            matcher: &**self.matcher(),
            scratch: Scratch::following(),
            filter: Some(SemanticsFilter::new(self.semantics(), self.set())),
            haystack: haystack.as_ref(),
            at: 0,
            found: Vec::new().into_iter(),
        }
    }
}

impl FindIter<'_> {
    /// Scans the next piece. `None` at the end of the haystack.
    fn scan_piece(&mut self) -> Option<Vec<Match>> {
        let filter = self.filter.as_mut()?;
        let mut found = Collect::default();
        let end = self.haystack.len().min(self.at + LOOK_AHEAD);
        let overlap = self.matcher.set().overlap().min(self.at);
        let block = Block {
            bytes: &self.haystack[self.at - overlap..end],
            overlap,
            offset: (self.at - overlap) as u64,
        };
        let flow = {
            let mut filtered = filter.sink(&mut found);
            let mut sorter = Sorter::new(&mut filtered);
            match self.matcher.scan(block, &mut self.scratch, &mut sorter) {
                ControlFlow::Continue(()) => sorter.finish(),
                stop => stop,
            }
        };
        self.at = end;
        if flow.is_break() || end == self.haystack.len() {
            let _ = filter.finish(&mut found);
            self.filter = None;
        }
        Some(found.matches)
    }
}

impl Iterator for FindIter<'_> {
    type Item = Match;

    fn next(&mut self) -> Option<Match> {
        loop {
            if let Some(m) = self.found.next() {
                return Some(m);
            }
            self.found = self.scan_piece()?.into_iter();
        }
    }
}
