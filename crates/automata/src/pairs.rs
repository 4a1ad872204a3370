//! Skips to the next position at which a pattern may begin. It tests eight positions per step: the
//! first two bytes, and the next two if each pattern has four. Few positions pass both tests, so
//! branch mispredictions are rare.
//!
//! Source: SOG of Salmela, Tarhio and Kytöjoki 2006, "Multipattern string matching with q-grams",
//! which tests more pairs, one position per step.

use fyke_core::PatternSet;

/// Most distinct first pairs. With more, a match may begin every few bytes, and each end of a skip
/// costs a branch misprediction (`calls`: 5 and 12 patterns gain, 20 and 50 lose).
const MOST: usize = 16;

/// Entries of the table. The index has all bits of the first byte and the low five of the second,
/// which tell letters apart, but not their case.
const ENTRIES: usize = 1 << 13;

/// Positions per step.
const EIGHT: usize = 8;

/// Bits of an entry: whether a pattern begins with the pair, and whether a pattern has it as its
/// third and fourth byte.
const FIRST: u8 = 1;
const SECOND: u8 = 2;

/// Bytes that a step reads: with one pair for each position, and with two.
const BYTES_ONE_PAIR: usize = EIGHT + 1;
const BYTES_TWO_PAIRS: usize = EIGHT + 3;

/// The pairs of bytes of patterns, by [`entry`].
#[derive(Debug)]
pub(crate) struct Pairs {
    table: Box<[u8; ENTRIES]>,
    /// Whether each pattern has two pairs.
    two: bool,
}

impl Pairs {
    /// Bytes of memory.
    pub(crate) const MEMORY: u64 = ENTRIES as u64;

    /// The pairs of a set. `None` if there are too many, or if a pattern has a single byte. With
    /// `fold`, both cases of a letter count.
    pub(crate) fn new(set: &PatternSet, fold: bool) -> Option<Pairs> {
        let two = set.min_len() >= 4;
        let mut table = Box::new([0; ENTRIES]);
        let mut marked = 0;
        // Only the first byte of a pair needs both cases: see `ENTRIES`.
        let cases = |byte: u8| [byte, if fold { byte.to_ascii_uppercase() } else { byte }];
        for pattern in set.iter() {
            let [first, second] = *pattern.bytes.first_chunk()?;
            for first in cases(first) {
                let entry = &mut table[entry(first, second)];
                marked += usize::from(*entry & FIRST == 0);
                *entry |= FIRST;
            }
            if let (true, &[_, _, third, fourth, ..]) = (two, pattern.bytes) {
                cases(third).into_iter().for_each(|b| table[entry(b, fourth)] |= SECOND);
            }
            if marked > MOST {
                return None;
            }
        }
        Some(Pairs { table, two })
    }

    /// The first position from `at` on where a pattern may begin, or the end of the haystack.
    #[inline]
    pub(crate) fn next(&self, haystack: &[u8], at: usize) -> usize {
        if self.two {
            self.next_by::<BYTES_TWO_PAIRS>(haystack, at)
        } else {
            self.next_by::<BYTES_ONE_PAIR>(haystack, at)
        }
    }

    /// As [`next`](Self::next); a step reads `N` bytes.
    #[inline(always)]
    fn next_by<const N: usize>(&self, haystack: &[u8], mut at: usize) -> usize {
        while let Some(bytes) = haystack[at..].first_chunk::<N>() {
            if self.any(bytes) {
                return self.first::<N>(haystack, at);
            }
            at += EIGHT;
        }
        if haystack.len().wrapping_sub(at) < N - EIGHT + 1 {
            return haystack.len();
        }
        match haystack.last_chunk::<N>() {
            // The last `N` bytes have all positions from `at` on. If one before `at` passes, the
            // positions are tested one by one.
            Some(bytes) if !self.any(bytes) => haystack.len(),
            _ => self.first::<N>(haystack, at),
        }
    }

    /// Whether a pattern may begin at one of eight positions.
    #[inline(always)]
    fn any<const N: usize>(&self, bytes: &[u8; N]) -> bool {
        let mut any = 0;
        for i in 0..EIGHT {
            any |= self.passes(&bytes[i..i + N - EIGHT + 1]);
        }
        any != 0
    }

    /// The first position from `at` on that passes.
    #[inline]
    fn first<const N: usize>(&self, haystack: &[u8], at: usize) -> usize {
        let mut windows = haystack[at..].windows(N - EIGHT + 1);
        windows.position(|window| self.passes(window) != 0).map_or(haystack.len(), |i| at + i)
    }

    /// Not 0 if a pattern may begin with the window.
    #[inline(always)]
    fn passes(&self, window: &[u8]) -> u8 {
        let first = self.table[entry(window[0], window[1])] & FIRST;
        if window.len() < 4 { first } else { first & self.table[entry(window[2], window[3])] >> 1 }
    }
}

#[inline(always)]
fn entry(first: u8, second: u8) -> usize {
    usize::from(u16::from_le_bytes([first, second])) % ENTRIES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stops_at_every_pair() {
        let set = PatternSet::new(["ab", "bcd"]).unwrap();
        let pairs = Pairs::new(&set, false).unwrap();
        for len in 0..40 {
            let mut haystack = vec![b'-'; len];
            assert_eq!(pairs.next(&haystack, 0), len);
            for at in 0..len.saturating_sub(1) {
                haystack[at..at + 2].copy_from_slice(b"bc");
                for from in 0..=len {
                    assert_eq!(pairs.next(&haystack, from), if from <= at { at } else { len });
                }
                haystack[at..at + 2].fill(b'-');
            }
        }
    }

    #[test]
    fn it_stops_where_both_pairs_of_some_patterns_stand() {
        let set = PatternSet::new(["abcd", "bcdefg", "zzzz"]).unwrap();
        let pairs = Pairs::new(&set, false).unwrap();
        for len in 0..40_usize {
            for at in 0..len.saturating_sub(3) {
                let mut haystack = vec![b'-'; len];
                haystack[at..at + 4].copy_from_slice(b"bcde");
                for from in 0..=len {
                    assert_eq!(pairs.next(&haystack, from), if from <= at { at } else { len });
                }
                haystack[at + 3] = b'-';
                assert_eq!(pairs.next(&haystack, 0), len, "one pair is not enough");
            }
        }
        let folded = Pairs::new(&PatternSet::new(["abcd"]).unwrap(), true).unwrap();
        for text in [b"ABCD", b"aBcD", b"AbCd", b"abcd"] {
            let haystack = [&b"--------------------"[..], text, b"---------"].concat();
            assert!((0..=20).all(|from| folded.next(&haystack, from) == 20));
        }
        let signs = Pairs::new(&PatternSet::new([&b"a[\xe4{"[..]]).unwrap(), true).unwrap();
        assert_eq!(signs.next(b"-a(\xe4{-A[\xe4{--------", 0), 6);
    }

    #[test]
    fn what_it_refuses() {
        assert!(Pairs::new(&PatternSet::new(["ab", "c"]).unwrap(), false).is_none());
        let many = PatternSet::new((0..=255).map(|b| [b, b])).unwrap();
        assert!(Pairs::new(&many, false).is_none());
        let folded = Pairs::new(&PatternSet::new(["ab"]).unwrap(), true).unwrap();
        assert_eq!(folded.next(b"--AB", 0), 2);
        assert_eq!(folded.next(b"--aB", 0), 2);
    }
}
