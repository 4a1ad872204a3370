//! The vector loops, over 64 positions at once.

use super::finder::{Finder, One, Short, WithFinder};
use super::scan::{Passed, PositionList, TILE};
use super::stage1::{self, SPAN, fetch, low_bits};
use super::tables::{Nibbles, ShortGroup};
use super::text::{Edge, Halves, Inside, Text, Tiny, Whole};
use crate::simd::vector::{Vector, Work};
use std::ops::Range;

/// The bytes of 64 positions and those after them that a window reaches. Near the end of the
/// haystack they are copied to `copy` and padded with zeros.
#[inline(always)]
fn span<'a>(bytes: &'a [u8], at: usize, copy: &'a mut [u8; SPAN]) -> &'a [u8; SPAN] {
    let rest = &bytes[at..];
    fetch(rest);
    match rest.first_chunk() {
        Some(span) => span,
        None => {
            copy[..rest.len()].copy_from_slice(rest);
            copy[rest.len()..].fill(0);
            copy
        }
    }
}

/// Finds the candidates of a tile, and tells whether there are any. The last word has positions
/// beyond the tile.
pub(super) struct Filter<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) tile: Range<usize>,
    pub(super) passed: &'a mut [u64],
}

impl WithFinder for Filter<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<V: Vector, F: Finder<V>>(self, v: V, finder: F) -> bool {
        let Filter { bytes, tile, passed } = self;
        let (mut at, mut any) = (tile.start, 0);
        let (fours, rest) = passed.as_chunks_mut::<4>();
        for four in fours {
            fetch(&bytes[at..]);
            any |= match bytes[at..].first_chunk() {
                Some(spans) => find_four(v, &finder, spans, four),
                None => find_some(v, &finder, bytes, at, four),
            };
            at += 4 * 64;
        }
        (any | find_some(v, &finder, bytes, at, rest)) != 0
    }
}

/// The bytes of four spans. Each span overlaps the next one.
const FOUR_SPANS: usize = 3 * 64 + SPAN;

/// One of four spans.
#[inline(always)]
fn span_of(spans: &[u8; FOUR_SPANS], i: usize) -> &[u8; SPAN] {
    spans[64 * i..].first_chunk().expect("four spans overlap")
}

/// Which of 256 positions pass. Returns the union of the words.
#[inline(always)]
fn find_four<V: Vector, F: Finder<V>>(
    v: V,
    finder: &F,
    spans: &[u8; FOUR_SPANS],
    passed: &mut [u64; 4],
) -> u64 {
    let mut any = 0;
    for (i, passed) in passed.iter_mut().enumerate() {
        *passed = finder.find(v, span_of(spans, i));
        any |= *passed;
    }
    any
}

/// Which positions from `at` on pass, near the end of the haystack. Returns the union of the words.
#[inline(always)]
fn find_some<V: Vector, F: Finder<V>>(
    v: V,
    finder: &F,
    bytes: &[u8],
    at: usize,
    passed: &mut [u64],
) -> u64 {
    let mut any = 0;
    for (passed, at) in passed.iter_mut().zip((at..).step_by(64)) {
        *passed = find_at_end(v, finder, bytes, at);
        any |= *passed;
    }
    any
}

/// Finds the next 64 positions of which some pass, from a position on.
///
/// It calls no function of the caller: around such a call, the compiler would spill the filter's
/// tables.
pub(super) struct FindNext<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) from: usize,
    pub(super) tested: &'a mut Tested,
}

/// Positions that [`FindNext`] has tested but not returned.
#[derive(Clone, Copy, Default)]
pub(super) struct Tested {
    /// One bit for each of the 256 positions from `first` on, valid for the words of `left`.
    pub(super) passed: [u64; 4],
    /// One bit for each word of `passed` that is still to be returned.
    pub(super) left: u64,
    pub(super) first: usize,
    /// The first position that is not tested.
    pub(super) next: usize,
}

impl WithFinder for FindNext<'_> {
    type Output = (usize, u64);

    #[inline(always)]
    fn run<V: Vector, F: Finder<V>>(mut self, v: V, finder: F) -> (usize, u64) {
        (&mut self).run(v, finder)
    }
}

/// For a reference: a move of the struct loads several fields at once that were just stored one by
/// one, and store forwarding fails.
impl WithFinder for &mut FindNext<'_> {
    /// The first of the positions, and a bit for each. No bits: none pass.
    type Output = (usize, u64);

    #[inline(always)]
    fn run<V: Vector, F: Finder<V>>(self, v: V, finder: F) -> (usize, u64) {
        let FindNext { bytes, from, tested } = self;
        let (bytes, mut at) = (*bytes, *from);
        tested.next = bytes.len();
        if F::ONLY_LOADS && bytes.len() <= 64 {
            return (0, find_in_short(v, &finder, bytes) & !low_bits(at));
        }
        // One branch for 256 positions: one for 64 would take as long as the filter.
        while let Some(spans) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
            fetch(&bytes[at..]);
            if find_four_if_any(v, &finder, spans, &mut tested.passed) {
                let some = stage1::nonzero(&tested.passed);
                let i = some.trailing_zeros() as usize % 4;
                (tested.first, tested.left, tested.next) = (at, some & (some - 1), at + 4 * 64);
                return (at + 64 * i, tested.passed[i]);
            }
            at += 4 * 64;
        }
        while at < bytes.len() {
            let passed = find_at_end(v, &finder, bytes, at);
            if passed != 0 {
                tested.next = at + 64;
                return (at, passed);
            }
            at += 64;
        }
        (bytes.len(), 0)
    }
}

/// Finds which of the 64 positions from `at` on pass. Positions beyond the haystack do not.
pub(super) struct FindWord<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl WithFinder for FindWord<'_> {
    type Output = u64;

    #[inline(always)]
    fn run<V: Vector, F: Finder<V>>(self, v: V, finder: F) -> u64 {
        let rest = &self.bytes[self.at..];
        if rest.len() <= 64 {
            return find_in_short(v, &finder, rest);
        }
        find_at_end(v, &finder, self.bytes, self.at)
    }
}

/// Finds which of 256 positions pass. If none do, it returns false and may leave `passed` as it is.
#[inline(always)]
fn find_four_if_any<V: Vector, F: Finder<V>>(
    v: V,
    finder: &F,
    spans: &[u8; FOUR_SPANS],
    passed: &mut [u64; 4],
) -> bool {
    // No closure: vector operations are not inlined into one.
    let hits = [
        finder.test(v, span_of(spans, 0)),
        finder.test(v, span_of(spans, 1)),
        finder.test(v, span_of(spans, 2)),
        finder.test(v, span_of(spans, 3)),
    ];
    let any = F::or(v, F::or(v, hits[0], hits[1]), F::or(v, hits[2], hits[3]));
    if F::positions(v, any) == 0 {
        return false;
    }
    for (passed, hits) in passed.iter_mut().zip(hits) {
        *passed = F::positions(v, hits);
    }
    true
}

/// Which positions of a haystack of at most 64 bytes pass.
#[inline(always)]
fn find_in_short<V: Vector, F: Finder<V>>(v: V, finder: &F, bytes: &[u8]) -> u64 {
    if V::LOADS_SOME {
        return finder.find(v, &Whole(bytes)) & low_bits(bytes.len());
    }
    if let Some(tiny) = Tiny::new(bytes) {
        return finder.find(v, &tiny) & low_bits(bytes.len());
    }
    let passed = if let Some(passed) = find_by_halves::<_, _, 32>(v, finder, bytes) {
        passed
    } else if let Some(passed) = find_by_halves::<_, _, 16>(v, finder, bytes) {
        passed
    } else if let Some(passed) = find_by_halves::<_, _, 8>(v, finder, bytes) {
        passed
    } else if let Some(passed) = find_by_halves::<_, _, 4>(v, finder, bytes) {
        passed
    } else {
        return find_at_end(v, finder, bytes, 0);
    };
    passed | find_last(v, finder, bytes, 0)
}

/// Which positions of a haystack pass that have the filter's margin after them, if there are `N` to
/// `2 * N` such positions; `None` otherwise.
#[inline(always)]
fn find_by_halves<V: Vector, F: Finder<V>, const N: usize>(
    v: V,
    finder: &F,
    bytes: &[u8],
) -> Option<u64> {
    let second = bytes.len().checked_sub(N + finder.margin())?;
    if second > N {
        return None;
    }
    let passed = finder.find(v, &Halves::<N> { bytes, second });
    Some((passed & low_bits(N)) | (passed >> N & low_bits(N)) << second)
}

/// Which of the 64 positions from `at` on pass that have fewer bytes after them than the filter's
/// margin. They are few and tested apart, in a register: a copy of the haystack's end would take
/// longer.
#[inline(always)]
fn find_last<V: Vector, F: Finder<V>>(v: V, finder: &F, bytes: &[u8], at: usize) -> u64 {
    let first = bytes.len().saturating_sub(finder.margin());
    if finder.is_inside() || first >= at + 64 {
        return 0;
    }
    let Some(rest) = Tiny::new(&bytes[first..]) else {
        unreachable!("windows have at most six bytes");
    };
    let passed = finder.find(v, &rest) & low_bits(bytes.len() - first);
    match first.checked_sub(at) {
        Some(after) => passed << after,
        None => passed >> (at - first),
    }
}

/// Which of the 64 positions from `at` on pass. Positions beyond the haystack do not.
#[inline(always)]
pub(super) fn find_at_end<V: Vector, F: Finder<V>>(
    v: V,
    finder: &F,
    bytes: &[u8],
    at: usize,
) -> u64 {
    if V::LOADS_SOME {
        let rest = &bytes[at..];
        if F::ONLY_LOADS && rest.len() <= 64 {
            return find_in_short(v, finder, rest);
        }
        // Zeros beyond the end may pass.
        return finder.find(v, &Edge(rest)) & low_bits(rest.len().min(64));
    }
    // The first of the last `count` positions before the margin. `None` if there are fewer.
    let last = |count: usize| bytes.len().checked_sub(count + finder.margin());
    let (from, passed) = if let Some(last) = last(64)
        && (F::ONLY_LOADS || finder.is_inside())
    {
        let from = at.min(last / F::STEP * F::STEP);
        (from, finder.find(v, &Inside(&bytes[from..])))
    } else if F::ONLY_LOADS
        && let Some(passed) = find_by_halves::<_, _, 32>(v, finder, bytes)
    {
        (0, passed)
    } else {
        let passed = finder.find(v, span(bytes, at, &mut [0; SPAN]));
        return passed & low_bits((bytes.len() - at).min(64));
    };
    // Drops the positions before `at`.
    let passed = passed.checked_shr((at - from) as u32).unwrap_or(0);
    if F::ONLY_LOADS { passed | find_last(v, finder, bytes, at) } else { passed }
}

/// Lists the positions of the set bits.
pub(super) struct ListBits<'a> {
    pub(super) passed: &'a [u64],
    pub(super) list: &'a mut PositionList,
}

impl Work for ListBits<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, v: V) {
        for (words, first) in self.passed.chunks(64).zip((0..).step_by(64 * 64)) {
            let (eights, rest) = words.as_chunks::<8>();
            let mut some = 0;
            for (i, eight) in eights.iter().enumerate() {
                some |= u64::from(v.nonzero64(v.load64(eight))) << (8 * i);
            }
            if !rest.is_empty() {
                some |= stage1::nonzero(rest) << (8 * eights.len());
            }
            while some != 0 {
                let i = some.trailing_zeros() as usize;
                some &= some - 1;
                if V::COMPRESSES {
                    append(v, self.list, words[i], first + 64 * i);
                } else {
                    self.list.add_bits(words[i], first + 64 * i);
                }
            }
        }
    }
}

/// Appends the positions of the bits set in one word.
#[inline(always)]
fn append<V: Vector>(v: V, list: &mut PositionList, passed: u64, first: usize) {
    const PLACES: [u8; 64] = {
        let mut places = [0; 64];
        let mut i = 0;
        while i < 64 {
            places[i] = i as u8;
            i += 1;
        }
        places
    };
    let room: &mut [u16; 64] =
        list.at[list.len..].first_chunk_mut().expect("a list has 64 elements beyond a tile");
    // SAFETY: `room` is a reference to 64 elements.
    list.len += unsafe { v.append_places(&PLACES, passed, first as u16, room.as_mut_ptr()) };
}

/// Calls `see` for each position of a small haystack where some short pattern of a group begins:
/// with the group, the position, and one bit per pattern of the group.
///
/// The spans are the outer loop: a haystack of one or two spans is loaded, or copied near its end,
/// once for all groups.
pub(super) struct SeekShort<'a> {
    pub(super) groups: &'a [ShortGroup],
    pub(super) bytes: &'a [u8],
    pub(super) see: &'a mut dyn FnMut(&ShortGroup, usize, u8),
}

impl Work for SeekShort<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(mut self, v: V) {
        for at in (0..self.bytes.len()).step_by(64) {
            if V::LOADS_SOME {
                self.see_span(v, at, &Edge(&self.bytes[at..]));
            } else {
                self.see_span(v, at, span(self.bytes, at, &mut [0; SPAN]));
            }
        }
    }
}

impl SeekShort<'_> {
    /// Calls `see` for 64 positions.
    ///
    /// Groups are sorted by length. Each length has its own loop, so that the bytes after each
    /// position are loaded only for groups that need them.
    #[inline(always)]
    fn see_span<V: Vector, T: Text<V>>(&mut self, v: V, at: usize, text: &T) {
        let rest = self.see_long::<V, T, 1>(v, at, text, self.groups);
        let rest = self.see_long::<V, T, 2>(v, at, text, rest);
        let rest = self.see_long::<V, T, 3>(v, at, text, rest);
        let rest = self.see_long::<V, T, 4>(v, at, text, rest);
        assert!(rest.is_empty(), "groups are sorted, and short patterns have 1 to 4 bytes");
    }

    /// The same for the first groups, those of `L` bytes. Returns the other groups.
    #[inline(always)]
    fn see_long<'g, V: Vector, T: Text<V>, const L: usize>(
        &mut self,
        v: V,
        at: usize,
        text: &T,
        mut groups: &'g [ShortGroup],
    ) -> &'g [ShortGroup] {
        let starts = (self.bytes.len() + 1).saturating_sub(L + at);
        while let [group, rest @ ..] = groups
            && group.len == L
        {
            let mut found = [1; 64];
            let passed = find_short::<V, T, L>(v, group, text, &mut found);
            let mut passed = passed & low_bits(starts.min(64));
            while passed != 0 {
                let i = passed.trailing_zeros() as usize;
                (self.see)(group, at + i, found[i]);
                passed &= passed - 1;
            }
            groups = rest;
        }
        groups
    }
}

/// At which of 64 positions some pattern of a group begins. Writes which ones to `found`, unless
/// the group has one pattern.
#[inline(always)]
fn find_short<V: Vector, T: Text<V>, const L: usize>(
    v: V,
    group: &ShortGroup,
    text: &T,
    found: &mut [u8; 64],
) -> u64 {
    if let Some(one) = &group.one {
        return One::<V, L>::new(v, one).find(v, text);
    }
    let bits = Short::<V, L>::new(v, group).find(v, text);
    let passed = v.nonzero8(bits);
    if passed != 0 {
        v.store(bits, found);
    }
    passed
}

/// Counts the short patterns that begin at `starts`, a whole number of spans.
pub(super) struct Count<'a> {
    pub(super) group: &'a ShortGroup,
    pub(super) weights: &'a Nibbles,
    pub(super) bytes: &'a [u8],
    pub(super) starts: Range<usize>,
}

impl Work for Count<'_> {
    type Output = u64;

    #[inline(always)]
    fn run<V: Vector>(self, v: V) -> u64 {
        match self.group.len {
            1 => v.run(CountLong::<1>(self)),
            2 => v.run(CountLong::<2>(self)),
            3 => v.run(CountLong::<3>(self)),
            4 => v.run(CountLong::<4>(self)),
            len => unreachable!("short patterns have 1 to 4 bytes, not {len}"),
        }
    }
}

/// The same for patterns of `L` bytes.
struct CountLong<'a, const L: usize>(Count<'a>);

impl<const L: usize> Work for CountLong<'_, L> {
    type Output = u64;

    #[inline(always)]
    fn run<V: Vector>(self, v: V) -> u64 {
        let Count { group, weights, bytes, starts } = self.0;
        let mut copy = [0; SPAN];
        if let Some(one) = &group.one {
            let (one, mut count) = (One::<V, L>::new(v, one), 0);
            for at in starts.step_by(64) {
                let found = one.find(v, span(bytes, at, &mut copy));
                count += u64::from(found.count_ones());
            }
            return count * group.ids[0];
        }
        let short = Short::<V, L>::new(v, group);
        let weights = [v.repeat(&weights[0]), v.repeat(&weights[1])];
        let mut sums = v.splat8(0);
        for at in starts.step_by(64) {
            let found = short.find(v, span(bytes, at, &mut copy));
            let [low, high] =
                [v.shuffle(weights[0], found), v.shuffle(weights[1], v.high_nibbles(found))];
            sums = v.add_bytes(sums, v.add8(low, high));
        }
        v.sum64(sums)
    }
}

/// Finds which short patterns of a group begin at each of `starts`.
pub(super) struct Mark<'a> {
    pub(super) group: &'a ShortGroup,
    pub(super) bytes: &'a [u8],
    pub(super) starts: Range<usize>,
    /// For each position, one bit per pattern. Not valid if the group has one pattern.
    pub(super) found: &'a mut [u8; TILE],
    /// The positions where some pattern begins.
    pub(super) passed: &'a mut Passed,
}

impl Work for Mark<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, v: V) {
        match self.group.len {
            1 => v.run(MarkLong::<1>(self)),
            2 => v.run(MarkLong::<2>(self)),
            3 => v.run(MarkLong::<3>(self)),
            4 => v.run(MarkLong::<4>(self)),
            len => unreachable!("short patterns have 1 to 4 bytes, not {len}"),
        }
    }
}

/// The same for patterns of `L` bytes.
struct MarkLong<'a, const L: usize>(Mark<'a>);

impl<const L: usize> Work for MarkLong<'_, L> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, v: V) {
        let Mark { group, bytes, starts, found, passed } = self.0;
        let mut copy = [0; SPAN];
        let words = passed.iter_mut().zip(starts.step_by(64));
        if let Some(one) = &group.one {
            let one = One::<V, L>::new(v, one);
            for (word, at) in words {
                *word = one.find(v, span(bytes, at, &mut copy));
            }
            return;
        }
        let short = Short::<V, L>::new(v, group);
        for ((word, at), found) in words.zip(found.as_chunks_mut::<64>().0) {
            let bits = short.find(v, span(bytes, at, &mut copy));
            *word = v.nonzero8(bits);
            v.store(bits, found);
        }
    }
}
