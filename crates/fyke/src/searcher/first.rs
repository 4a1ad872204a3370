//! The first match of a haystack. Finding it needs no sorting: each match is compared with the best
//! one so far.

use super::pool::Lease;
use super::short::Short;
use super::{FindIter, Input, MatchKind, Searcher};
use fyke_core::{
    Batch, Block, Cursor, Exists, First, FirstMatch, Match, Matcher, Record, Sink, StreamMatch,
};
use std::ops::ControlFlow;

/// The best match so far.
struct Best {
    first: First,
    match_so_far: Option<StreamMatch>,
}

impl Searcher {
    /// The first match that a kind reports.
    #[inline]
    pub(super) fn first(&self, input: Input<'_>, kind: MatchKind) -> Option<Match> {
        if input.is_anchored() {
            return FindIter::new(self, input, kind.semantics()).next();
        }
        let (haystack, start) = (input.bytes(), input.start());
        let found = match self.short.as_deref() {
            Some(Short::One(one)) => one.find(haystack, 0, false),
            Some(Short::Set(set)) if kind == self.kind => match set.find(haystack) {
                Some(found) => found,
                None => self.scan_for_first(haystack, kind),
            },
            _ => self.scan_for_first(haystack, kind),
        }?;
        Some(Match { start: found.start + start, end: found.end + start, ..found })
    }

    /// Whether there is a match.
    #[inline]
    pub(super) fn any(&self, haystack: &[u8]) -> bool {
        let found = match self.short.as_deref() {
            Some(Short::One(one)) => return one.is_match(haystack),
            Some(Short::Set(set)) => set.is_match(haystack),
            None => None,
        };
        found.unwrap_or_else(|| self.scan_for_any(haystack))
    }

    /// The same by the matcher.
    #[inline]
    fn scan_for_any(&self, haystack: &[u8]) -> bool {
        let (end, found) = match self.find_first_part.find_first(haystack, First::Any) {
            FirstMatch::Found(m) => (m.end, true),
            FirstMatch::NotFound => (haystack.len(), false),
            FirstMatch::Unknown { from } => match self.scan_for_end(&haystack[from..]) {
                Some(end) => (from + end, true),
                None => (haystack.len(), false),
            },
        };
        self.note_distance(end);
        found
    }

    /// The end of any match.
    fn scan_for_end(&self, haystack: &[u8]) -> Option<usize> {
        let matcher = &**self.matcher();
        let (mut cursor, mut state) = (Cursor::default(), None);
        let mut exists = Exists::default();
        while !exists.found
            && let Some(piece) = cursor.next(matcher, haystack)
        {
            scan(matcher, piece, state.get_or_insert_with(|| self.lease()), &mut exists);
        }
        exists.end.map(|end| end as usize)
    }

    #[inline]
    fn scan_for_first(&self, haystack: &[u8], kind: MatchKind) -> Option<Match> {
        let first = First::of(kind.semantics());
        let found = match self.find_first_part.find_first(haystack, first) {
            FirstMatch::Found(m) => Some(m),
            FirstMatch::NotFound => None,
            FirstMatch::Unknown { from } => {
                let moved = |m: Match| Match { start: m.start + from, end: m.end + from, ..m };
                self.scan_for_best(&haystack[from..], first).map(moved)
            }
        };
        self.note_distance(found.map_or(haystack.len(), |m| m.end));
        found
    }

    fn scan_for_best(&self, haystack: &[u8], first: First) -> Option<Match> {
        let matcher = &**self.matcher();
        let (mut cursor, mut state) = (Cursor::default(), None);
        let mut best = Best { first, match_so_far: None };
        while let Some(piece) = cursor.next(matcher, haystack) {
            scan(matcher, piece, state.get_or_insert_with(|| self.lease()), &mut best);
            if best.is_decided(cursor.position() as u64, matcher.set().max_len()) {
                break;
            }
        }
        best.match_so_far.map(Match::in_memory)
    }
}

/// Scans a piece of a haystack for a sink that needs no order.
fn scan(matcher: &dyn Matcher, piece: Block<'_>, state: &mut Lease<'_>, sink: &mut dyn Sink) {
    let scratch = state.driver.parts().0;
    if piece.overlap == 0 {
        scratch.forget();
    }
    // The caller looks at the sink.
    let _ = matcher.scan(piece, scratch, sink);
}

impl Best {
    /// Whether no better match can come, given that all matches that end at or before `known` were
    /// seen.
    fn is_decided(&self, known: u64, max_len: usize) -> bool {
        self.match_so_far.is_some_and(|best| match self.first {
            First::Any | First::Standard => true,
            // A better match starts at or before the best one, so it ends at or before this.
            _ => known >= best.start + max_len as u64,
        })
    }

    fn offer(&mut self, new: StreamMatch) {
        if self.match_so_far.is_none_or(|best| self.first.is_better(new, best)) {
            self.match_so_far = Some(new);
        }
    }
}

impl Sink for Best {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        for &record in batch.records {
            let Record { pattern, .. } = record;
            let (end, len) = (batch.end(record), batch.set.pattern_len(pattern) as u64);
            let id = batch.set.ids(pattern)[0];
            self.offer(StreamMatch { end, start: end - len, pattern: id });
        }
        // In an ordered scan, all matches that end at or before the last record's end were seen.
        let known = batch.records.last().map_or(0, |&record| batch.end(record));
        let done = batch.ordered && self.is_decided(known, batch.set.max_len());
        if done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn wants_first(&self) -> bool {
        true
    }
}
