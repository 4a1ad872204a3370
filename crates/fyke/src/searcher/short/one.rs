//! One pattern in a short haystack, by the `memmem` of the crate `memchr`.
//!
//! `memmem` starts in a few nanoseconds, but takes longer on haystacks of a few bytes. There, the
//! pattern's first and last byte are looked for first, at eight positions at once.

use fyke_core::{Match, PatternId, PatternSet};
use memchr::memmem::Finder;

/// The largest haystack: for more bytes, a matcher is as fast (`calls`).
const MOST: usize = 64 << 10;

/// Up to this many bytes, the first and last byte of the pattern are looked for first (`calls`).
const TINY: usize = 32;

/// Positions that are tested together.
const EIGHT: usize = 8;

/// The byte 1, eight times: a multiplication by it copies a byte to eight.
const EVERY: u64 = u64::from_le_bytes([1; EIGHT]);

/// The pattern, prepared.
pub(in crate::searcher) struct OnePattern {
    finder: Finder<'static>,
    id: PatternId,
    pair: [Needle; 2],
}

/// A byte of the pattern.
#[derive(Clone, Copy)]
struct Needle {
    at: usize,
    /// Eight copies.
    bytes: u64,
}

impl OnePattern {
    /// The only pattern of a set, if it does not ignore case.
    pub(super) fn new(set: &PatternSet) -> Option<OnePattern> {
        let one = set.len() == 1 && set.nocase_count() == 0;
        one.then(|| {
            let bytes = set.bytes(0);
            let needle = |at: usize| Needle { at, bytes: EVERY * u64::from(bytes[at]) };
            OnePattern {
                finder: Finder::new(bytes).into_owned(),
                id: set.ids(0)[0],
                pair: [needle(0), needle(bytes.len() - 1)],
            }
        })
    }

    /// Whether a haystack of `len` bytes is short enough.
    #[inline]
    pub(super) fn takes(len: usize) -> bool {
        len <= MOST
    }

    /// The first match that begins at or after `from`.
    #[inline]
    pub(super) fn find(&self, haystack: &[u8], from: usize) -> Option<Match> {
        let rest = &haystack[from..];
        if rest.len() <= TINY && self.is_absent(rest) {
            return None;
        }
        let start = from + self.finder.find(rest)?;
        Some(Match { start, end: start + self.finder.needle().len(), pattern: self.id })
    }

    /// Whether the haystack certainly has no match, because the two bytes occur at no position. Not
    /// inlined: inlining it slows the search of longer haystacks down.
    #[inline(never)]
    fn is_absent(&self, haystack: &[u8]) -> bool {
        let Some(last) = (haystack.len() + 1).checked_sub(self.finder.needle().len() + EIGHT)
        else {
            return haystack.len() < self.finder.needle().len();
        };
        // The last eight positions may overlap those of the loop.
        let mut found = self.eight_have(haystack, last);
        for at in (0..last).step_by(EIGHT) {
            found |= self.eight_have(haystack, at);
        }
        found == 0
    }

    /// Not 0 if one of eight positions has the two bytes.
    #[inline]
    fn eight_have(&self, haystack: &[u8], at: usize) -> u64 {
        let differ = self.pair.iter().fold(0, |differ, needle| {
            let eight = haystack.get(at + needle.at..).and_then(|rest| rest.first_chunk());
            differ | eight.map_or(0, |&eight| u64::from_le_bytes(eight) ^ needle.bytes)
        });
        differ.wrapping_sub(EVERY) & !differ & (EVERY << 7)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiny_haystacks_are_searched_as_others() {
        for pattern in ["a", "ab", "aab", "abbab", "bbbbbbbba"] {
            let one = OnePattern::new(&PatternSet::new([pattern]).unwrap()).unwrap();
            for bits in 0..1_u32 << 12 {
                for len in [0, 1, 3, 8, 9, 12, 17, 20, 33] {
                    let text: String = (0..len)
                        .map(|i| if bits >> (i % 12) & 1 == 0 { 'b' } else { 'a' })
                        .collect();
                    let found = one.find(text.as_bytes(), 0).map(|m| m.start);
                    assert_eq!(found, text.find(pattern), "{pattern} in {text}");
                }
            }
        }
    }
}
