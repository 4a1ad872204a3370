//! Matches: engines write [`Record`]s of 8 bytes, users read [`Match`]es.

use crate::pattern::{PatternId, PatternSet};
use std::ops::Range;

/// One occurrence of one pattern: `haystack[start..end]`.
///
/// Positions are `usize` in a haystack in memory. They are `u64` in streams, readers and files:
/// see [`StreamMatch`].
///
/// The derived order is the canonical order: by end, then start, then pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Match<P = usize> {
    /// Position one past the last byte, counted from the start of the haystack.
    pub end: P,
    /// Position of the first byte.
    pub start: P,
    /// The pattern's id, as the caller chose it.
    pub pattern: PatternId,
}

/// A match in a haystack that may be longer than the address space.
pub type StreamMatch = Match<u64>;

impl Match {
    /// The matched bytes are `&haystack[m.range()]`.
    #[inline]
    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// Bytes matched.
    #[inline]
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    /// Always false, because patterns are not empty.
    pub fn is_empty(&self) -> bool {
        self.end == self.start
    }

    /// The match with the positions of a haystack in memory, which both fit in `usize`.
    #[inline]
    pub fn in_memory(m: StreamMatch) -> Match {
        Match { end: m.end as usize, start: m.start as usize, pattern: m.pattern }
    }
}

impl StreamMatch {
    /// The positions of the matched bytes.
    #[inline]
    pub fn range(&self) -> Range<u64> {
        self.start..self.end
    }

    /// Bytes matched.
    #[inline]
    pub fn len(&self) -> u64 {
        self.end - self.start
    }

    /// Always false, because patterns are not empty.
    pub fn is_empty(&self) -> bool {
        self.end == self.start
    }
}

/// A match as engines write it. It has 8 bytes, because dense output is bound by memory bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Record {
    /// End of the match, relative to the [`Batch::base`].
    pub end: u32,
    /// Dense index of the distinct pattern.
    pub pattern: u32,
}

/// Some matches of one haystack, given to a [`Sink`](crate::Sink) in one call.
///
/// In an ordered scan all records that end at the same position are in the same batch.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The position that the ends of the records count from.
    pub base: u64,
    /// The matches.
    pub records: &'a [Record],
    /// Whether this batch, and the batches of its scan before it, are in order of (end, start,
    /// pattern). For a sink that [sorts](crate::Sink::wants_order): whether this batch is.
    pub ordered: bool,
    /// Whether a record stands only for the lowest id of its pattern, as leftmost semantics need
    /// it. Otherwise it stands for every id.
    pub single: bool,
    /// The set that the records' dense indices belong to.
    pub set: &'a PatternSet,
}

impl<'a> Batch<'a> {
    /// End position of a record in the whole haystack.
    #[inline]
    pub fn end(&self, record: Record) -> u64 {
        self.base + u64::from(record.end)
    }

    /// The number of [`StreamMatch`]es: a record counts once for each id of its pattern.
    pub fn count(&self) -> u64 {
        if self.single || self.set.id_count() == self.set.len() {
            return self.records.len() as u64;
        }
        self.records.iter().map(|r| self.set.ids(r.pattern).len() as u64).sum()
    }

    /// The matches with their ids; in canonical order if the batch is ordered.
    pub fn matches(&self) -> Matches<'a> {
        Matches { batch: *self, rest: self.records, current: None, shared: None }
    }
}

/// Iterator over the matches of a [`Batch`].
#[derive(Debug)]
pub struct Matches<'a> {
    batch: Batch<'a>,
    rest: &'a [Record],
    /// End and start of the current span, and its ids that were not returned yet.
    current: Option<(u64, u64, &'a [PatternId])>,
    /// The current span, if several distinct patterns match it.
    shared: Option<SharedSpan<'a>>,
}

/// A span that several distinct patterns match. Its matches are returned in order of their ids.
#[derive(Debug)]
struct SharedSpan<'a> {
    end: u64,
    start: u64,
    records: &'a [Record],
    /// The id that was returned last.
    last: Option<PatternId>,
    /// How many more of the patterns have this id.
    again: usize,
}

impl<'a> Matches<'a> {
    #[inline]
    fn span(&self, r: Record) -> (u64, u64, &'a [PatternId]) {
        let end = self.batch.end(r);
        let set = self.batch.set;
        let ids = set.ids(r.pattern);
        let ids = if self.batch.single { &ids[..1] } else { ids };
        (end, end - set.pattern_len(r.pattern) as u64, ids)
    }

    /// Takes all records with the span of `first`, whose record was taken before. False if there is
    /// no other one.
    fn take_shared(&mut self, first: (u64, u64, &'a [PatternId])) -> bool {
        let (end, start, _) = first;
        let same = self.rest.iter().take_while(|&&r| {
            let (e, s, _) = self.span(r);
            (e, s) == (end, start)
        });
        let count = same.count();
        if count == 0 {
            return false;
        }
        let taken = self.batch.records.len() - self.rest.len();
        let records = &self.batch.records[taken - 1..taken + count];
        self.shared = Some(SharedSpan { end, start, records, last: None, again: 0 });
        self.rest = &self.rest[count..];
        true
    }

    /// The next match of a shared span. It has the lowest id above the last one, or the last one
    /// again if several patterns have it.
    fn next_shared(&mut self) -> Option<StreamMatch> {
        let SharedSpan { end, start, records, last, again } = *self.shared.as_ref()?;
        let (id, again) = if let (Some(id), Some(again)) = (last, again.checked_sub(1)) {
            (Some(id), again)
        } else {
            let ids = |&r: &Record| {
                let ids = self.span(r).2;
                ids.get(ids.partition_point(|&id| Some(id) <= last)).copied()
            };
            let next = records.iter().filter_map(ids).min();
            let with_it = records.iter().filter(|r| next.is_some() && ids(r) == next).count();
            (next, with_it.saturating_sub(1))
        };
        self.shared = id.map(|_| SharedSpan { end, start, records, last: id, again });
        id.map(|pattern| StreamMatch { end, start, pattern })
    }
}

impl Iterator for Matches<'_> {
    type Item = StreamMatch;

    #[inline]
    fn next(&mut self) -> Option<StreamMatch> {
        loop {
            if let Some(m) = self.next_shared() {
                return Some(m);
            }
            if let Some((end, start, [pattern, ids @ ..])) = self.current {
                self.current = Some((end, start, ids));
                return Some(StreamMatch { end, start, pattern: *pattern });
            }
            let (first, rest) = self.rest.split_first()?;
            self.rest = rest;
            let span = self.span(*first);
            let shares = self.batch.set.has_shared_spans() && self.take_shared(span);
            self.current = (!shares).then_some(span);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_one_span_come_in_order_over_distinct_patterns() {
        let mut b = PatternSet::builder();
        for (id, bytes, nocase) in
            [(5, "ab", false), (7, "AB", true), (9, "ab", false), (6, "aB", false), (9, "ab", true)]
        {
            b.push_with(PatternId(id), bytes, nocase).unwrap();
        }
        let set = b.build();
        // "ab" matches the sensitive "ab" (5, 9) and the insensitive one (7, 9), not "aB".
        let records: Vec<Record> = set
            .iter()
            .filter(|p| p.is_match(b"ab"))
            .map(|p| Record { end: 2, pattern: p.index })
            .collect();
        let batch = Batch { base: 10, records: &records, ordered: true, single: false, set: &set };
        let ids: Vec<u32> = batch.matches().map(|m| m.pattern.0).collect();
        assert_eq!(ids, [5, 7, 9, 9]);
        assert_eq!(batch.count(), 4);
        assert_eq!(
            batch.matches().next().unwrap(),
            StreamMatch { end: 12, start: 10, pattern: PatternId(5) }
        );
    }
}
