//! The searches for the next candidates and for those of 64 positions: the loops, and the functions
//! for the filter of a set.
//!
//! The functions are chosen once per set. In a short call, looking for the shape of shuffle tables
//! would take as long as the filter.

use super::finder::{ByTables, Finder, WithFinder, by_shape};
use super::loops::{FOUR_SPANS, find_at_end, find_in_short, span_of};
use super::shape::{FilterShape, has_nibbles};
use super::stage1::{self, fetch, low_bits};
use super::tables::ShuffleTables;
use crate::simd::Dispatch;
use crate::simd::vector::Vector;

/// Finds the next 64 positions of which some pass, from a position on: see [`FindNext`].
pub(super) type FindNextFn =
    fn(Dispatch, &ShuffleTables, &[u8], usize, &mut Tested) -> (usize, u64);

/// The function for the filter of a set.
pub(super) fn find_next_fn(dispatch: Dispatch, tables: &ShuffleTables) -> FindNextFn {
    macro_rules! by_tables {
        ($k:literal, $h:literal, $s:literal, $ascii:literal) => {
            find_next_by_tables::<$k, $h, $s, $ascii>
        };
    }
    let shuffles = tables.two_bytes.is_none() && tables.pairs.is_none();
    if !shuffles || dispatch == Dispatch::Scalar {
        return stage1::find_next;
    }
    by_shape!(dispatch, tables, by_tables)
}

/// [`FindNext`] for a shape of shuffle tables.
fn find_next_by_tables<const K: usize, const H: usize, const S: usize, const ASCII: bool>(
    dispatch: Dispatch,
    tables: &ShuffleTables,
    bytes: &[u8],
    from: usize,
    tested: &mut Tested,
) -> (usize, u64) {
    let mut the_loop = FindNext { bytes, from, tested };
    // Tables of 64 entries (`H` is 0) are faster by value with AVX-512, those of 16 by reference
    // with AVX2 (`replay`).
    let found = match H {
        0 => dispatch.run(ByTables::<_, K, H, S, ASCII> { tables, the_loop }).ok(),
        _ => {
            let the_loop = &mut the_loop;
            dispatch.run(ByTables::<_, K, H, S, ASCII> { tables, the_loop }).ok()
        }
    };
    found.unwrap_or_else(|| unreachable!("shuffle tables are for vectors"))
}

/// Finds which of the 64 positions from one on pass: see [`FindWord`].
pub(super) type FindWordFn = fn(Dispatch, &ShuffleTables, &[u8], usize) -> u64;

/// The function for shuffle tables. `None` for other filters.
pub(super) fn find_word_fn(dispatch: Dispatch, tables: &ShuffleTables) -> Option<FindWordFn> {
    macro_rules! by_tables {
        ($k:literal, $h:literal, $s:literal, $ascii:literal) => {
            Some(find_word_by_tables::<$k, $h, $s, $ascii>)
        };
    }
    let shuffles = tables.two_bytes.is_none() && tables.pairs.is_none();
    if !shuffles || dispatch == Dispatch::Scalar {
        return None;
    }
    by_shape!(dispatch, tables, by_tables)
}

/// [`FindWord`] for a shape of shuffle tables.
fn find_word_by_tables<const K: usize, const H: usize, const S: usize, const ASCII: bool>(
    dispatch: Dispatch,
    tables: &ShuffleTables,
    bytes: &[u8],
    at: usize,
) -> u64 {
    let work = ByTables::<_, K, H, S, ASCII> { tables, the_loop: FindWord { bytes, at } };
    dispatch.run(work).unwrap_or_else(|_| unreachable!("shuffle tables are for vectors"))
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
