//! [`OnePattern`]: finds the first match of one pattern, without tables and lists of candidates.
//!
//! Use it if one pattern is to be found match by match. A call starts in a few nanoseconds. From 200
//! bytes on, two rare bytes of the pattern are compared at 256 positions at once, and the
//! pattern where both are found. `memmem` of the crate `memchr` is faster for shorter haystacks and
//! where matches are near, and is taken if no two bytes are rare.
//!
//! Source: the "generic SIMD" algorithm of Muła, "SIMD-friendly algorithms for substring
//! searching". The choice of the two bytes is that of the engine's filter.

use super::finder::{Finder as _, TwoBytes};
use super::loops::find_at_end;
use super::plan::FilterPlan;
use super::stage1::{fetch, low_bits, nonzero};
use crate::simd::vector::{Vector, Work};
use crate::simd::{Dispatch, Isa};
use fyke_automata::PairModel;
use fyke_core::{Options, PatternSet};
use memchr::memmem::Finder;

/// From this many bytes on, vectors are faster than `memmem` where matches are rare. Measured with
/// words of the King James Bible; the one of `calls` has no rare bytes.
const LEAST: usize = 200;

/// The work limit of the vectors: this many comparisons of the pattern, and one more per
/// `BYTES_A_COMPARISON` bytes of haystack. Then `memmem` goes on, whose time is linear. A guess:
/// `hostile` would show it.
const COMPARISONS: usize = 64;
const BYTES_A_COMPARISON: usize = 64;

/// Up to this many bytes, the first and last byte of the pattern are looked for first (`calls`).
const TINY: usize = 32;

/// Positions that are tested together in tiny haystacks.
const EIGHT: usize = 8;

/// The byte 1, eight times: a multiplication by it copies a byte to eight.
const EVERY: u64 = u64::from_le_bytes([1; EIGHT]);

/// One pattern, prepared for searches that end at the first match.
pub struct OnePattern {
    finder: Finder<'static>,
    /// The first and the last byte.
    ends: [Needle; 2],
    dispatch: Dispatch,
    /// `None` without vectors, or if no two bytes are rare.
    rare: Option<RareBytes>,
}

/// A byte of the pattern.
#[derive(Clone, Copy)]
struct Needle {
    at: usize,
    /// Eight copies.
    bytes: u64,
}

/// Two rare bytes of the pattern.
struct RareBytes {
    bytes: [u8; 2],
    /// Where the first one is in the pattern, and the distance of the second from it.
    first: usize,
    apart: usize,
    /// The pattern's length.
    len: usize,
}

impl RareBytes {
    /// Those of the only pattern of a set, if the model knows two.
    fn of(set: &PatternSet, model: &PairModel, isa: Isa) -> Option<RareBytes> {
        let plan = FilterPlan::of_two_bytes(set, model, isa)?;
        let (first, apart) = (plan.windows[0].offset as usize, plan.apart?);
        let pattern = set.bytes(0);
        Some(RareBytes {
            bytes: [pattern[first], pattern[first + apart]],
            first,
            apart,
            len: pattern.len(),
        })
    }
}

impl OnePattern {
    /// The only pattern of a set, if it does not ignore case. The option `isa` selects the
    /// instruction set.
    pub fn new(set: &PatternSet, opt: &Options) -> Option<OnePattern> {
        if set.len() != 1 || set.nocase_count() > 0 {
            return None;
        }
        let dispatch = Isa::choose(opt, &Isa::ALL).and_then(Isa::dispatch).ok()?;
        let bytes = set.bytes(0);
        let needle = |at: usize| Needle { at, bytes: EVERY * u64::from(bytes[at]) };
        Some(OnePattern {
            finder: Finder::new(bytes).into_owned(),
            ends: [needle(0), needle(bytes.len() - 1)],
            dispatch,
            rare: RareBytes::of(set, &PairModel::of(opt), dispatch.isa()),
        })
    }

    /// Bytes of the pattern.
    #[inline]
    pub fn pattern_len(&self) -> usize {
        self.finder.needle().len()
    }

    /// Where the first match begins. `near`: whether a match is expected within some 2,000 bytes.
    #[inline]
    pub fn find(&self, haystack: &[u8], near: bool) -> Option<usize> {
        match &self.rare {
            Some(rare) if haystack.len() >= LEAST && !near => self.find_by_vectors(rare, haystack),
            _ if haystack.len() <= TINY && self.is_absent(haystack) => None,
            _ => self.finder.find(haystack),
        }
    }

    /// Whether the haystack certainly has no match, because the first and the last byte occur at no
    /// position. Not inlined: inlining it slows the search of longer haystacks down.
    #[inline(never)]
    fn is_absent(&self, haystack: &[u8]) -> bool {
        let Some(last) = (haystack.len() + 1).checked_sub(self.pattern_len() + EIGHT) else {
            return haystack.len() < self.pattern_len();
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
        let differ = self.ends.iter().fold(0, |differ, needle| {
            let eight = haystack.get(at + needle.at..).and_then(|rest| rest.first_chunk());
            differ | eight.map_or(0, |&eight| u64::from_le_bytes(eight) ^ needle.bytes)
        });
        differ.wrapping_sub(EVERY) & !differ & (EVERY << 7)
    }

    /// Not inlined, for the same reason.
    #[inline(never)]
    fn find_by_vectors(&self, rare: &RareBytes, haystack: &[u8]) -> Option<usize> {
        match self.next(rare, haystack, 0) {
            (_, 0) => None,
            (at, passed) => self.verify(rare, haystack, at, passed),
        }
    }

    /// Where the first match begins. No position before `at` is a candidate; `passed` has a bit for
    /// each of the 64 from there on.
    #[inline(never)]
    fn verify(
        &self,
        rare: &RareBytes,
        haystack: &[u8],
        mut at: usize,
        mut passed: u64,
    ) -> Option<usize> {
        let mut left = COMPARISONS + haystack.len() / BYTES_A_COMPARISON;
        while passed != 0 {
            while passed != 0 {
                let start = at + passed.trailing_zeros() as usize;
                if haystack[start..].starts_with(self.finder.needle()) {
                    return Some(start);
                }
                left = left.saturating_sub(1);
                passed &= passed - 1;
            }
            at += 64;
            if left == 0 {
                return self.finder.find(haystack.get(at..)?).map(|start| at + start);
            }
            (at, passed) = self.next(rare, haystack, at);
        }
        None
    }

    /// The first of the next 64 positions of which some are candidates, from `at` on, and a bit for
    /// each. No bits: there are none.
    #[inline(always)]
    fn next(&self, rare: &RareBytes, haystack: &[u8], at: usize) -> (usize, u64) {
        let work = FindNext { rare, haystack, at };
        self.dispatch.run(work).unwrap_or_else(|_| unreachable!("without vectors, none are rare"))
    }
}

/// Compares the two bytes, which do not ignore case.
type Compare<V> = TwoBytes<V, false>;

/// Finds the next 64 positions of which some are candidates, from `at` on.
struct FindNext<'a> {
    rare: &'a RareBytes,
    haystack: &'a [u8],
    at: usize,
}

impl Work for FindNext<'_> {
    /// The first of the positions, and a bit for each. No bits: none are left.
    type Output = (usize, u64);

    #[inline(always)]
    fn run<V: Vector>(self, v: V) -> (usize, u64) {
        let FindNext { rare, haystack, at } = self;
        let starts = (haystack.len() + 1).saturating_sub(rare.len);
        if at >= starts {
            return (0, 0);
        }
        // The first of the two bytes for each start, and the second one of the last.
        let text = &haystack[rare.first..][..starts + rare.apart];
        let finder = Compare::<V>::new(v, &rare.bytes.map(|byte| [byte, 0]), rare.apart);
        let (at, passed) = find_next(v, &finder, text, at);
        (at, passed & low_bits(starts - at))
    }
}

/// The same in a text of the two bytes of each start. Bits beyond the last start may be set.
#[inline(always)]
fn find_next<V: Vector>(v: V, finder: &Compare<V>, text: &[u8], mut at: usize) -> (usize, u64) {
    let firsts = text[at..text.len() - finder.apart].as_chunks::<64>().0.as_chunks::<4>();
    let seconds = text[at + finder.apart..].as_chunks::<64>().0.as_chunks::<4>();
    for (firsts, seconds) in firsts.0.iter().zip(seconds.0) {
        fetch(&text[at..]);
        let hits = [
            finder.compare(v, v.load(&firsts[0]), v.load(&seconds[0])),
            finder.compare(v, v.load(&firsts[1]), v.load(&seconds[1])),
            finder.compare(v, v.load(&firsts[2]), v.load(&seconds[2])),
            finder.compare(v, v.load(&firsts[3]), v.load(&seconds[3])),
        ];
        let any = v.min8(v.min8(hits[0], hits[1]), v.min8(hits[2], hits[3]));
        if Compare::<V>::positions(v, any) != 0 {
            // No branch for each 64: it would be mispredicted.
            let mut passed = [0; 4];
            for (passed, hits) in passed.iter_mut().zip(hits) {
                *passed = Compare::<V>::positions(v, hits);
            }
            let i = nonzero(&passed).trailing_zeros() as usize % 4;
            return (at + 64 * i, passed[i]);
        }
        at += 4 * 64;
    }
    for (firsts, seconds) in firsts.1.iter().zip(seconds.1) {
        let passed = Compare::<V>::positions(v, finder.compare(v, v.load(firsts), v.load(seconds)));
        if passed != 0 {
            return (at, passed);
        }
        at += 64;
    }
    (at, if at + finder.apart < text.len() { find_at_end(v, finder, text, at) } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_testkit::random::SplitMix;

    /// The search of a pattern by each instruction set that this CPU has.
    fn by_each_isa(pattern: &[u8]) -> Vec<OnePattern> {
        let set = PatternSet::new([pattern]).unwrap();
        let of = |isa: Isa| {
            let opt = Options::with_params(&format!("isa={}", isa.name())).unwrap();
            OnePattern::new(&set, &opt)
        };
        Isa::ALL.into_iter().filter(|isa| isa.available()).map(|isa| of(isa).unwrap()).collect()
    }

    fn naive(pattern: &[u8], haystack: &[u8]) -> Option<usize> {
        haystack.windows(pattern.len()).position(|window| window == pattern)
    }

    /// Patterns with two rare bytes, of `len` bytes.
    fn rare(len: usize) -> Vec<u8> {
        b"\xf1Q\x07Z\xe3J\x11".iter().copied().cycle().take(len).collect()
    }

    #[test]
    fn vectors_find_a_pattern_at_each_position() {
        for len in [2, 3, 7, 8, 16, 17, 40] {
            let pattern = rare(len);
            for one in by_each_isa(&pattern) {
                assert_eq!(one.rare.is_some(), one.dispatch != Dispatch::Scalar);
                for size in (195..330).chain([0, 7, 64, 511, 700]) {
                    let mut haystack = vec![pattern[0]; size];
                    assert_eq!(one.find(&haystack, false), None, "{len} in {size}");
                    for start in 0..(size + 1).saturating_sub(len) {
                        haystack[start..][..len].copy_from_slice(&pattern);
                        let found = one.find(&haystack, false);
                        assert_eq!(found, naive(&pattern, &haystack), "{len} in {size}");
                        haystack[start..][..len].fill(pattern[0]);
                    }
                }
            }
        }
    }

    #[test]
    fn random_haystacks_are_searched_as_by_comparing() {
        let mut random = SplitMix::new(7);
        for len in [1, 2, 4, 9, 20] {
            let pattern = rare(len);
            let searches = by_each_isa(&pattern);
            for _ in 0..2000 {
                let size = random.below(600) as usize;
                let letter = |random: &mut SplitMix| pattern[random.below(len as u64) as usize];
                let haystack: Vec<u8> = (0..size).map(|_| letter(&mut random)).collect();
                let expected = naive(&pattern, &haystack);
                for one in &searches {
                    assert_eq!(one.find(&haystack, false), expected);
                    assert_eq!(one.find(&haystack, true), expected);
                }
            }
        }
    }

    /// Each position is a candidate, so `memmem` goes on.
    #[test]
    fn hostile_haystacks_are_left_to_memmem() {
        let pattern = [vec![0xf1; 300], vec![b'Q']].concat();
        for one in by_each_isa(&pattern) {
            assert!(one.rare.as_ref().is_none_or(|rare| rare.bytes == [0xf1; 2]));
            let mut haystack = vec![0xf1; 1 << 20];
            assert_eq!(one.find(&haystack, false), None);
            let end = haystack.len() - 300;
            haystack[end + 299] = b'Q';
            assert_eq!(one.find(&haystack, false), Some(end - 1));
        }
    }

    #[test]
    fn tiny_haystacks_are_searched_as_by_comparing() {
        for pattern in ["a", "ab", "aab", "abbab", "bbbbbbbba"] {
            let one = by_each_isa(pattern.as_bytes()).remove(0);
            for bits in 0..1_u32 << 12 {
                for len in [0, 1, 3, 8, 9, 12, 17, 20, 33] {
                    let letter = |i: u32| if bits >> (i % 12) & 1 == 0 { b'b' } else { b'a' };
                    let haystack: Vec<u8> = (0..len).map(letter).collect();
                    let expected = naive(pattern.as_bytes(), &haystack);
                    assert_eq!(one.find(&haystack, false), expected, "{pattern}");
                }
            }
        }
    }
}
