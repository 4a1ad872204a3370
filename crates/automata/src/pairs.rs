//! Skips to the next position at which the first two bytes of a pattern may stand. It tests eight
//! positions per step, with one table lookup for each.

use fyke_core::PatternSet;

/// Most distinct entries. With more, a match may begin every few bytes, and each end of a skip
/// costs a branch misprediction (`calls`: 5 patterns gain, 50 lose).
const MOST: usize = 16;

/// Entries of the table. The index has all bits of the first byte and the low five of the second,
/// which tell letters apart, but not their case.
const ENTRIES: usize = 1 << 13;

/// Positions per step.
const EIGHT: usize = 8;

/// The pairs of bytes that patterns begin with, by [`entry`]: not 0 for each of them.
#[derive(Debug)]
pub(crate) struct Pairs(Box<[u8; ENTRIES]>);

impl Pairs {
    /// Bytes of memory.
    pub(crate) const MEMORY: u64 = ENTRIES as u64;

    /// The pairs of a set. `None` if there are too many, or if a pattern has a single byte. With
    /// `fold`, both cases of a letter count.
    pub(crate) fn new(set: &PatternSet, fold: bool) -> Option<Pairs> {
        let mut pairs = Pairs(Box::new([0; ENTRIES]));
        let mut marked = 0;
        for pattern in set.iter() {
            let [first, second] = *pattern.bytes.first_chunk()?;
            let upper = if fold { first.to_ascii_uppercase() } else { first };
            // The index does not contain the case of the second byte.
            for first in [first, upper] {
                let entry = &mut pairs.0[entry(first, second)];
                marked += usize::from(*entry == 0);
                *entry = 1;
            }
            if marked > MOST {
                return None;
            }
        }
        Some(pairs)
    }

    /// The first position from `at` on where a pattern may begin, or the end of the haystack.
    #[inline]
    pub(crate) fn next(&self, haystack: &[u8], mut at: usize) -> usize {
        while let Some(nine) = haystack[at..].first_chunk() {
            if self.any(nine) {
                return self.first(haystack, at);
            }
            at += EIGHT;
        }
        if haystack.len().wrapping_sub(at) < 2 {
            return haystack.len();
        }
        match haystack.last_chunk() {
            // The last nine bytes have all positions from `at` on. A pair before `at` only means
            // that the positions are tested one by one.
            Some(nine) if !self.any(nine) => haystack.len(),
            _ => self.first(haystack, at),
        }
    }

    #[inline(always)]
    fn any(&self, nine: &[u8; EIGHT + 1]) -> bool {
        let mut any = 0;
        for i in 0..EIGHT {
            any |= self.0[entry(nine[i], nine[i + 1])];
        }
        any != 0
    }

    #[inline]
    fn first(&self, haystack: &[u8], at: usize) -> usize {
        let begins = |pair: &[u8]| self.0[entry(pair[0], pair[1])] != 0;
        haystack[at..].windows(2).position(begins).map_or(haystack.len(), |i| at + i)
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
    fn what_it_refuses() {
        assert!(Pairs::new(&PatternSet::new(["ab", "c"]).unwrap(), false).is_none());
        let many = PatternSet::new((0..=255).map(|b| [b, b])).unwrap();
        assert!(Pairs::new(&many, false).is_none());
        let folded = Pairs::new(&PatternSet::new(["ab"]).unwrap(), true).unwrap();
        assert_eq!(folded.next(b"--AB", 0), 2);
        assert_eq!(folded.next(b"--aB", 0), 2);
    }
}
