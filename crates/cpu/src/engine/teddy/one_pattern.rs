//! [`OnePattern`]: finds the first match of one pattern, without tables and lists of candidates.
//!
//! Use it to find one pattern match by match. A call starts in a few nanoseconds. Two rare bytes of
//! the pattern are compared at 64 positions at once, or at 256 in longer haystacks, and the whole
//! pattern where both are found. `memmem` of the crate `memchr` searches the shortest haystacks and
//! those where matches are near. It also takes over without vectors, or if no two bytes are rare.
//!
//! The work of a call grows with the distance to the match, not with the length of the haystack.
//!
//! Source: the "generic SIMD" algorithm of Muła, "SIMD-friendly algorithms for substring
//! searching". The choice of the two bytes is that of the engine's filter.

use super::filter_plan::FilterPlan;
use super::finder::{Finder as _, TwoBytes};
use super::loops::find_at_end;
use super::stage1::{fetch, low_bits, nonzero};
use super::text::{Halves, Text as _};
use crate::simd::vector::{self, Vector};
use crate::simd::{Dispatch, Isa};
use fyke_automata::PairModel;
use fyke_core::{Options, PatternSet};
use memchr::memmem::Finder;

/// From this many positions on, vectors are faster than `memmem` where candidates are rare
/// (`calls`).
const MIN_STARTS: usize = HALF;

/// In haystacks of more bytes, 256 positions are tested at once. Measured with a word of the King
/// James Bible in 512 bytes to a megabyte, on a Zen 3; `calls` has 1 KiB and 1 MiB.
const LONG: usize = 1 << 10;

/// Positions of one of the two overlapping halves that fewer than 64 positions are tested as.
const HALF: usize = 32;

/// The work limit of the vectors: this many comparisons, and one more per `BYTES_A_COMPARISON`
/// bytes searched. One counts for each `BYTES_A_COMPARISON` bytes of the pattern. Then `memmem`
/// goes on, whose time is linear. A guess: no benchmark reaches it.
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
    ends: [PatternByte; 2],
    dispatch: Dispatch,
    /// `None` without vectors, or if no two bytes are rare.
    rare: Option<RareBytes>,
}

/// A byte of the pattern.
#[derive(Clone, Copy)]
struct PatternByte {
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
    /// instruction set; if this CPU lacks it, `memmem` searches alone.
    pub fn new(set: &PatternSet, opt: &Options) -> Option<OnePattern> {
        if set.len() != 1 || set.nocase_count() > 0 {
            return None;
        }
        let dispatch = Isa::choose(opt, &Isa::ALL).and_then(Isa::dispatch);
        let dispatch = dispatch.unwrap_or(Dispatch::Scalar);
        let bytes = set.bytes(0);
        let copied = |at: usize| PatternByte { at, bytes: EVERY * u64::from(bytes[at]) };
        Some(OnePattern {
            finder: Finder::new(bytes).into_owned(),
            ends: [copied(0), copied(bytes.len() - 1)],
            dispatch,
            rare: RareBytes::of(set, &PairModel::of(opt), dispatch.isa()),
        })
    }

    /// The pattern's length in bytes.
    #[inline]
    pub fn pattern_len(&self) -> usize {
        self.finder.needle().len()
    }

    /// Where the first match begins. `near`: whether matches are expected to be less than some two
    /// kilobytes apart. Then `memmem` is faster.
    #[inline]
    pub fn find(&self, haystack: &[u8], near: bool) -> Option<usize> {
        if haystack.len() <= TINY && self.is_absent(haystack) {
            return None;
        }
        match &self.rare {
            Some(rare) if haystack.len() + 1 >= rare.len + MIN_STARTS && !near => {
                self.find_by_vectors(rare, haystack)
            }
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
        let differ = self.ends.iter().fold(0, |differ, byte| {
            let eight = haystack.get(at + byte.at..).and_then(|rest| rest.first_chunk());
            differ | eight.map_or(0, |&eight| u64::from_le_bytes(eight) ^ byte.bytes)
        });
        differ.wrapping_sub(EVERY) & !differ & (EVERY << 7)
    }

    /// Not inlined: with it inlined, searches of short haystacks take longer to start.
    #[inline(never)]
    fn find_by_vectors(&self, rare: &RareBytes, haystack: &[u8]) -> Option<usize> {
        if haystack.len() > LONG {
            return match self.next(rare, haystack, 0) {
                (_, 0) => None,
                (at, passed) => self.verify(haystack, at, passed),
            };
        }
        let search = FindInShort { one: self, rare, haystack };
        self.dispatch.run(search).unwrap_or_else(|_| unreachable!("without vectors, none are rare"))
    }

    /// Where the first match begins. No position before `at` is a candidate; `passed` has a bit for
    /// each of the 64 from there on. Not inlined: most calls have no candidate.
    #[inline(never)]
    fn verify(&self, haystack: &[u8], mut at: usize, mut passed: u64) -> Option<usize> {
        let rare = self.rare.as_ref()?;
        let mut work = Work::new(self.pattern_len());
        while passed != 0 {
            while passed != 0 {
                let start = at + passed.trailing_zeros() as usize;
                if work.exceeds_limit(start) {
                    return self.finder.find(&haystack[start..]).map(|found| start + found);
                }
                if haystack[start..].starts_with(self.finder.needle()) {
                    return Some(start);
                }
                work.add_comparison();
                passed &= passed - 1;
            }
            (at, passed) = self.next(rare, haystack, at + 64);
        }
        None
    }

    /// The first of the next 64 positions of which some are candidates, from `at` on, and a bit for
    /// each. No bits: there are none.
    #[inline(always)]
    fn next(&self, rare: &RareBytes, haystack: &[u8], at: usize) -> (usize, u64) {
        let search = NextCandidates { rare, haystack, at };
        self.dispatch.run(search).unwrap_or_else(|_| unreachable!("without vectors, none are rare"))
    }
}

/// The work of a call, against its limit.
struct Work {
    /// What a comparison counts.
    price: usize,
    done: usize,
}

impl Work {
    fn new(pattern_len: usize) -> Work {
        Work { price: 1 + pattern_len / BYTES_A_COMPARISON, done: 0 }
    }

    /// Whether the comparisons up to a position are too many.
    fn exceeds_limit(&self, at: usize) -> bool {
        self.done > COMPARISONS + at / BYTES_A_COMPARISON
    }

    fn add_comparison(&mut self) {
        self.done += self.price;
    }
}

/// Finds the first match in a haystack that is not long.
struct FindInShort<'a> {
    one: &'a OnePattern,
    rare: &'a RareBytes,
    haystack: &'a [u8],
}

impl vector::Work for FindInShort<'_> {
    type Output = Option<usize>;

    /// Calls [`OnePattern::verify`] last, so that it can jump there.
    #[inline(always)]
    fn run<V: Vector>(self, v: V) -> Option<usize> {
        let FindInShort { one, rare, haystack } = self;
        let starts = haystack.len() + 1 - rare.len;
        let firsts = &haystack[rare.first..][..starts];
        let seconds = &haystack[rare.first + rare.apart..][..starts];
        let finder = Compare::<V>::new(v, &rare.bytes.map(|byte| [byte, 0]), rare.apart);
        let Some(last) = starts.checked_sub(64) else {
            let passed = compare_halves(v, &finder, firsts, seconds);
            return if passed == 0 { None } else { one.verify(haystack, 0, passed) };
        };
        let mut at = 0;
        while let (Some(some), Some(others)) =
            (firsts[at..].first_chunk(), seconds[at..].first_chunk())
        {
            let hits = finder.compare(v, v.load(some), v.load(others));
            let passed = Compare::<V>::positions(v, hits);
            if passed != 0 {
                return one.verify(haystack, at, passed);
            }
            if at == last {
                break;
            }
            at = last.min(at + 64);
        }
        None
    }
}

/// Which of [`HALF`] to 64 positions have the two bytes.
#[inline(always)]
fn compare_halves<V: Vector>(v: V, finder: &Compare<V>, firsts: &[u8], seconds: &[u8]) -> u64 {
    let second = firsts.len() - HALF;
    let firsts = Halves::<HALF> { bytes: firsts, second };
    let seconds = Halves::<HALF> { bytes: seconds, second };
    let hits = finder.compare(v, firsts.load(v, 0), seconds.load(v, 0));
    let passed = Compare::<V>::positions(v, hits);
    passed & low_bits(HALF) | passed >> HALF << second
}

/// Compares the two bytes, which do not ignore case.
type Compare<V> = TwoBytes<V, false>;

/// Finds the next 64 positions of which some are candidates, from `at` on.
struct NextCandidates<'a> {
    rare: &'a RareBytes,
    haystack: &'a [u8],
    at: usize,
}

impl vector::Work for NextCandidates<'_> {
    /// The first of the positions, and a bit for each. No bits: none are left.
    type Output = (usize, u64);

    #[inline(always)]
    fn run<V: Vector>(self, v: V) -> (usize, u64) {
        let NextCandidates { rare, haystack, at } = self;
        let starts = (haystack.len() + 1).saturating_sub(rare.len);
        if at >= starts {
            return (0, 0);
        }
        // The first of the two bytes for each start, and the second one of the last.
        let text = &haystack[rare.first..][..starts + rare.apart];
        let finder = Compare::<V>::new(v, &rare.bytes.map(|byte| [byte, 0]), rare.apart);
        let (at, passed) = next_candidates(v, &finder, text, at);
        (at, passed & low_bits(starts - at))
    }
}

/// The same in `text`, the part of the haystack that has both bytes of every start. Bits beyond the
/// last start may be set.
#[inline(always)]
fn next_candidates<V: Vector>(
    v: V,
    finder: &Compare<V>,
    text: &[u8],
    mut at: usize,
) -> (usize, u64) {
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
        let [a, b, c, d] = hits;
        let any = Compare::<V>::or(v, Compare::<V>::or(v, a, b), Compare::<V>::or(v, c, d));
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
                for size in
                    (30..330).step_by(7).chain([0, 7, 64, 95, 96, 127, 128, 511, 1030, 1300])
                {
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
        for len in [300, 65_535] {
            let pattern = [vec![0xf1; len - 1], vec![b'Q']].concat();
            for one in by_each_isa(&pattern) {
                assert!(one.rare.as_ref().is_none_or(|rare| rare.bytes == [0xf1; 2]));
                let mut haystack = vec![0xf1; 1 << 20];
                assert_eq!(one.find(&haystack, false), None);
                let end = haystack.len() - 1;
                haystack[end] = b'Q';
                assert_eq!(one.find(&haystack, false), Some(end + 1 - len));
            }
        }
    }

    /// Where each position is a candidate, the bytes compared are a constant factor of those
    /// searched.
    #[test]
    fn work_is_linear() {
        for len in [2, 63, 64, 300, 65_535] {
            let (mut work, mut at) = (Work::new(len), 0);
            while !work.exceeds_limit(at) && at < 1 << 20 {
                work.add_comparison();
                at += 1;
            }
            assert!(at * len <= 64 * 64 + 65 * at + 2 * len, "{at} comparisons of {len} bytes");
        }
    }

    #[test]
    fn rare_bytes_may_be_far_from_the_start() {
        for (len, first) in [(190, 100), (255, 188), (300, 20)] {
            let mut pattern = vec![b'e'; len];
            pattern[first..first + 2].copy_from_slice(b"\xf1Q");
            for one in by_each_isa(&pattern) {
                let is_first = |rare: &RareBytes| rare.first == first && rare.apart == 1;
                assert!(one.rare.as_ref().is_none_or(is_first));
                for (size, start) in [(len, 0), (len + 1, 1), (2 * len, 70), (1000, 1000 - len)] {
                    let mut haystack = vec![b'e'; size];
                    assert_eq!(one.find(&haystack, false), None);
                    haystack[start..start + len].copy_from_slice(&pattern);
                    assert_eq!(one.find(&haystack, false), Some(start));
                }
            }
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
