//! [`PackedHaystacks`]: many haystacks that lie one after the other and are scanned as one.

use std::ops::Range;

/// Haystacks that are scanned as one, each for some patterns of the set.
///
/// Most matches of such a scan may be of no use: they lie across a boundary, or the haystack is not
/// searched for their pattern. An engine that finds matches on several threads lets each of them
/// drop these ([`Matcher::scan_packed`](crate::Matcher::scan_packed)), so that they do not all pass
/// through the sink.
pub trait PackedHaystacks: Sync {
    /// The haystack with the byte at this position: its number, and where it lies.
    fn haystack(&self, at: u64) -> (usize, Range<u64>);

    /// Whether a haystack is searched for a pattern, given by its dense index.
    fn is_sought(&self, haystack: usize, pattern: u32) -> bool;

    /// Takes a match that lies in a haystack. It is called once for a match, by any thread. Returns
    /// whether the sink has to get the match, too.
    fn take(&self, haystack: usize, pattern: u32) -> bool;
}
