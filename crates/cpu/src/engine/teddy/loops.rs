//! The vector loops of a scan: the filter of a tile, and the list of its candidates. Other loops
//! share how they load the end of a haystack.

use super::finder::{Finder, WithFinder};
use super::scan::PositionList;
use super::stage1::{self, SPAN, fetch, low_bits};
use super::text::{Edge, Halves, Inside, Tiny, Whole};
use crate::simd::vector::{Vector, Work};
use std::ops::Range;

/// The bytes of 64 positions and those after them that a window reaches. Near the end of the
/// haystack they are copied to `copy` and padded with zeros.
#[inline(always)]
pub(super) fn span<'a>(bytes: &'a [u8], at: usize, copy: &'a mut [u8; SPAN]) -> &'a [u8; SPAN] {
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
pub(super) const FOUR_SPANS: usize = 3 * 64 + SPAN;

/// One of four spans.
#[inline(always)]
pub(super) fn span_of(spans: &[u8; FOUR_SPANS], i: usize) -> &[u8; SPAN] {
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

/// Which positions of a haystack of at most 64 bytes pass.
#[inline(always)]
pub(super) fn find_in_short<V: Vector, F: Finder<V>>(v: V, finder: &F, bytes: &[u8]) -> u64 {
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
