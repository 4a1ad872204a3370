//! [`PackedHaystacks`]: many haystacks that lie one after the other and are scanned as one.

use std::ops::Range;

/// Haystacks that are scanned as one, each for some patterns of the set.
///
/// Most matches of such a scan may be of no use: they lie across a boundary, or the haystack is not
/// searched for their pattern. An engine that finds matches on several threads lets each of them
/// drop these ([`Matcher::scan_packed`](crate::Matcher::scan_packed)), so that they do not all pass
/// through the sink.
pub trait PackedHaystacks: Sync {
    /// The number of the haystack that has the byte at a position, and its range. Positions count
    /// as [`Block::offset`](crate::Block::offset) does.
    fn haystack(&self, at: u64) -> (usize, Range<u64>);

    /// Takes some matches of a pattern that lie in a haystack. Any thread may call it, once for each
    /// match. The pattern is given by its dense index. Returns whether the sink has to get the
    /// matches; false if the haystack is not searched for the pattern.
    fn take(&self, haystack: usize, pattern: u32, matches: u64) -> bool;
}
