//! The vector loops that match short patterns exactly, one bit per pattern.

use super::loops::span;
use super::scan::{Passed, TILE};
use super::stage1::{SPAN, low_bits};
use super::tables::{Nibbles, ShortGroup};
use super::text::{Edge, Text};
use crate::simd::vector::{Vector, Work};
use std::ops::Range;

/// One short pattern of `L` bytes: for each byte its value and its case mask.
struct One<V: Vector, const L: usize>([[V::Bytes; 2]; L]);

impl<V: Vector, const L: usize> One<V, L> {
    #[inline(always)]
    fn new(v: V, bytes: &[[u8; 2]]) -> Self {
        let mut all = [[v.splat8(0); 2]; L];
        for (to, &[byte, fold]) in all.iter_mut().zip(bytes) {
            *to = [v.splat8(byte), v.splat8(fold)];
        }
        One(all)
    }

    /// At which of 64 positions the pattern begins.
    #[inline(always)]
    fn find<T: Text<V>>(&self, v: V, text: &T) -> u64 {
        let mut all = u64::MAX;
        for (ahead, &[byte, fold]) in self.0.iter().enumerate() {
            all &= v.equal8(v.or(text.load(v, ahead), fold), byte);
        }
        all
    }
}

/// The tables of a group of short patterns of `L` bytes.
struct Short<V: Vector, const L: usize>([[V::Bytes; 2]; L]);

impl<V: Vector, const L: usize> Short<V, L> {
    #[inline(always)]
    fn new(v: V, group: &ShortGroup) -> Self {
        let mut tables = [[v.splat8(0); 2]; L];
        for (table, nibbles) in tables.iter_mut().zip(&group.nibbles) {
            *table = [v.repeat(&nibbles[0]), v.repeat(&nibbles[1])];
        }
        Short(tables)
    }

    /// For each of 64 positions, the set of patterns that begin there.
    #[inline(always)]
    fn find<T: Text<V>>(&self, v: V, text: &T) -> V::Bytes {
        let mut all = v.splat8(0xff);
        for (ahead, [low, high]) in self.0.iter().enumerate() {
            let bytes = text.load(v, ahead);
            let high = v.shuffle(*high, v.high_nibbles(bytes));
            all = v.and(all, v.and(v.shuffle(*low, bytes), high));
        }
        all
    }
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
