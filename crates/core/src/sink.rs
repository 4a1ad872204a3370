//! [`Sink`]: where matches go. Counting, collecting and fingerprints are sinks.

use crate::matches::{Batch, StreamMatch};
use std::ops::ControlFlow;

/// Takes matches in batches, so that there is no virtual call per match.
///
/// ```
/// use fyke_core::{Batch, Sink};
/// use std::ops::ControlFlow;
///
/// /// Remembers the longest match.
/// #[derive(Default)]
/// struct Longest(u64);
///
/// impl Sink for Longest {
///     fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
///         self.0 = batch.matches().map(|m| m.len()).fold(self.0, u64::max);
///         ControlFlow::Continue(())
///     }
/// }
/// ```
pub trait Sink {
    /// Takes some matches. `Break` asks the scan to stop.
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()>;

    /// The counter of a sink that does nothing but count. An engine may add to it and write no
    /// records. A pattern with several ids counts once for each id.
    fn counter(&mut self) -> Option<&mut u64> {
        None
    }

    /// Whether it stops the scan soon after the first match. An engine may then pass each match on
    /// as soon as it is found. If the sink goes on, it still gets every match exactly once.
    fn wants_first(&self) -> bool {
        false
    }

    /// Whether it sorts unordered batches. An engine that can order its matches for less, for
    /// example by merging ordered lists, then does so itself. An ordered batch may follow an
    /// unordered one, and is then in order by itself.
    fn wants_order(&self) -> bool {
        false
    }

    /// Says that all later matches end after those that were passed on. A sink that sorts now sorts
    /// what it holds, so that ordered batches pass again. A sink for some of the patterns of a scan
    /// must not forward it. `Break` asks the scan to stop.
    fn settle(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<S: Sink + ?Sized> Sink for &mut S {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        (**self).on_batch(batch)
    }

    fn counter(&mut self) -> Option<&mut u64> {
        (**self).counter()
    }

    fn wants_first(&self) -> bool {
        (**self).wants_first()
    }

    fn wants_order(&self) -> bool {
        (**self).wants_order()
    }

    fn settle(&mut self) -> ControlFlow<()> {
        (**self).settle()
    }
}

/// Counts matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Matches so far. A pattern with several ids counts once for each id.
    pub matches: u64,
}

impl Sink for Count {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        self.matches += batch.count();
        ControlFlow::Continue(())
    }

    fn counter(&mut self) -> Option<&mut u64> {
        Some(&mut self.matches)
    }
}

/// Finds out whether there is a match, and stops the scan at the first one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exists {
    /// Whether a match was seen.
    pub found: bool,
    /// The end of the match that was seen.
    pub end: Option<u64>,
}

impl Sink for Exists {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        if let Some(&record) = batch.records.first() {
            (self.found, self.end) = (true, Some(batch.end(record)));
        }
        if self.found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn wants_first(&self) -> bool {
        true
    }
}

/// Collects matches in a vector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collect {
    /// The matches, in the order of arrival.
    pub matches: Vec<StreamMatch>,
}

impl Collect {
    /// The matches in canonical order.
    pub fn sorted(mut self) -> Vec<StreamMatch> {
        self.matches.sort_unstable();
        self.matches
    }
}

impl Sink for Collect {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        self.matches.extend(batch.matches());
        ControlFlow::Continue(())
    }
}

/// Calls a function for each match.
#[derive(Clone, Debug)]
pub struct ForEach<F>(pub F);

impl<F: FnMut(StreamMatch) -> ControlFlow<()>> Sink for ForEach<F> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        batch.matches().try_for_each(&mut self.0)
    }
}

/// The initial value of the 64-bit FNV-1a hash.
pub const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x100_0000_01b3;

/// The FNV-1a hash of `bytes`, continued from the hash `h`.
#[inline]
pub fn fnv1a(bytes: &[u8], h: u64) -> u64 {
    bytes.iter().fold(h, |h, &b| (h ^ u64::from(b)).wrapping_mul(FNV_PRIME))
}

/// The fingerprint of one match: FNV-1a over `le64(end) ++ le64(rank)`. The rank is the dense
/// index: the position in the bytewise sorted list of distinct patterns.
#[inline]
pub fn fingerprint_of(end: u64, rank: u64) -> u64 {
    fnv1a(&rank.to_le_bytes(), fnv1a(&end.to_le_bytes(), FNV_BASIS))
}

/// Counts matches and distinct patterns, and computes a fingerprint of the whole result.
///
/// The fingerprint is a wrapping sum over all matches, so it does not depend on their order. It
/// compares the results of engines, thread counts and other libraries. Benchmarks verify with it
/// before they time anything.
#[derive(Clone, Debug, Default)]
pub struct Fingerprint {
    /// Matches so far. A pattern with several ids counts once for each id.
    pub matches: u64,
    /// Sum of [`fingerprint_of`] over all matches.
    pub sum: u64,
    seen: Vec<u64>,
}

impl Fingerprint {
    /// The number of distinct patterns that were found.
    pub fn distinct(&self) -> u64 {
        self.seen.iter().map(|w| u64::from(w.count_ones())).sum()
    }

    /// Adds the matches of another part of the same haystack, for the same set.
    pub fn merge(&mut self, other: &Fingerprint) {
        self.matches += other.matches;
        self.sum = self.sum.wrapping_add(other.sum);
        self.seen.resize(self.seen.len().max(other.seen.len()), 0);
        for (mine, theirs) in self.seen.iter_mut().zip(&other.seen) {
            *mine |= theirs;
        }
    }

    fn add(&mut self, end: u64, pattern: u32, ids: u64) {
        self.matches += ids;
        self.sum = self.sum.wrapping_add(fingerprint_of(end, u64::from(pattern)).wrapping_mul(ids));
        self.seen[pattern as usize / 64] |= 1 << (pattern % 64);
    }
}

impl Sink for Fingerprint {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        if self.seen.is_empty() {
            self.seen = vec![0; batch.set.len().div_ceil(64)];
        }
        for &r in batch.records {
            let ids = if batch.single { 1 } else { batch.set.ids(r.pattern).len() as u64 };
            self.add(batch.end(r), r.pattern, ids);
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fingerprint_is_the_published_hash() {
        // FNV-1a-64 of sixteen zero bytes, computed apart.
        assert_eq!(fingerprint_of(0, 0), 0x8820_1fb9_60ff_6465);
        assert_eq!(fnv1a(b"a", FNV_BASIS), 0xaf63_dc4c_8601_ec8c);
    }
}
