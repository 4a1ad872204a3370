//! The filters: vector code that tests 64 positions at once, with its tables in registers.

use super::pair_lookup::ByPairTable;
use super::pairs::{PairTable, Positions};
use super::shape::{FilterShape, has_nibbles};
use super::tables::ShuffleTables;
use super::text::Text;
use crate::simd::Dispatch;
use crate::simd::gather::Gathers;
use crate::simd::vector::{Vector, Work};

/// A filter.
pub(super) trait Finder<V: Vector> {
    /// From one tested position to the next.
    const STEP: usize = 1;

    /// Whether the filter reads a text by [`Text::load`] only, never by [`Text::look`].
    const ONLY_LOADS: bool = true;

    /// The result for 64 positions. Four results are joined before they become bits, so that 256
    /// positions need one branch.
    type Hits: Copy;

    /// How many bytes after 64 positions the filter reads.
    fn margin(&self) -> usize;

    /// Whether each window ends inside its pattern. If not, a pattern may begin at a position with
    /// fewer bytes after it than the margin.
    #[inline(always)]
    fn is_inside(&self) -> bool {
        true
    }

    /// Tests 64 positions. The first one must be a multiple of `STEP`.
    fn test<T: Text<V>>(&self, v: V, text: &T) -> Self::Hits;

    /// Joins two results: a position passes if it passes in one of them.
    fn or(v: V, a: Self::Hits, b: Self::Hits) -> Self::Hits;

    /// Which positions pass.
    fn positions(v: V, hits: Self::Hits) -> u64;

    /// Which of 64 positions pass. The first one must be a multiple of `STEP`.
    #[inline(always)]
    fn find<T: Text<V>>(&self, v: V, text: &T) -> u64 {
        Self::positions(v, self.test(v, text))
    }
}

/// A loop around a filter.
pub(super) trait WithFinder {
    type Output;

    fn run<V: Vector, F: Finder<V>>(self, v: V, finder: F) -> Self::Output;
}

/// Expands a macro with the shape of shuffle tables: its offsets, those of them with tables for
/// high nibbles, its sets, and whether to look up by shuffles for ASCII.
macro_rules! by_shape {
    ($dispatch:expr, $tables:expr, $expand:ident) => {{
        let FilterShape { offsets, highs, sets } = $tables.shape;
        match (offsets, if has_nibbles($dispatch.isa()) { highs } else { 0 }, sets, $tables.ascii) {
            (3, 0, 1, _) => $expand!(3, 0, 1, false),
            (4, 0, 1, _) => $expand!(4, 0, 1, false),
            (5, 0, 1, _) => $expand!(5, 0, 1, false),
            (4, 0, 2, _) => $expand!(4, 0, 2, false),
            (5, 0, 2, _) => $expand!(5, 0, 2, false),
            (5, 0, 4, _) => $expand!(5, 0, 4, false),
            (6, 0, 4, _) => $expand!(6, 0, 4, false),
            (3, 1, 1, false) => $expand!(3, 1, 1, false),
            (3, 1, 1, true) => $expand!(3, 1, 1, true),
            (4, 1, 1, false) => $expand!(4, 1, 1, false),
            (4, 1, 1, true) => $expand!(4, 1, 1, true),
            (5, 1, 1, false) => $expand!(5, 1, 1, false),
            (5, 1, 1, true) => $expand!(5, 1, 1, true),
            (4, 2, 1, false) => $expand!(4, 2, 1, false),
            (4, 2, 1, true) => $expand!(4, 2, 1, true),
            (6, 1, 1, false) => $expand!(6, 1, 1, false),
            (6, 1, 1, true) => $expand!(6, 1, 1, true),
            (4, 4, 1, false) => $expand!(4, 4, 1, false),
            (4, 4, 1, true) => $expand!(4, 4, 1, true),
            (5, 1, 2, false) => $expand!(5, 1, 2, false),
            (5, 1, 2, true) => $expand!(5, 1, 2, true),
            (3, 3, 2, false) => $expand!(3, 3, 2, false),
            (3, 3, 2, true) => $expand!(3, 3, 2, true),
            (6, 1, 2, false) => $expand!(6, 1, 2, false),
            (6, 1, 2, true) => $expand!(6, 1, 2, true),
            (5, 2, 2, false) => $expand!(5, 2, 2, false),
            (5, 2, 2, true) => $expand!(5, 2, 2, true),
            (4, 4, 2, false) => $expand!(4, 4, 2, false),
            (4, 4, 2, true) => $expand!(4, 4, 2, true),
            (5, 2, 4, false) => $expand!(5, 2, 4, false),
            (5, 2, 4, true) => $expand!(5, 2, 4, true),
            (6, 2, 4, false) => $expand!(6, 2, 4, false),
            (6, 2, 4, true) => $expand!(6, 2, 4, true),
            (6, 4, 4, false) => $expand!(6, 4, 4, false),
            (6, 4, 4, true) => $expand!(6, 4, 4, true),
            shape => unreachable!("no plan has the shape {shape:?}"),
        }
    }};
}

pub(super) use by_shape;

/// Runs a loop with the filter of a set. Returns the loop if the instruction set has no vectors.
pub(super) fn with_finder<L: WithFinder>(
    dispatch: Dispatch,
    tables: &ShuffleTables,
    the_loop: L,
) -> Result<L::Output, L> {
    macro_rules! by_tables {
        ($k:literal, $h:literal, $s:literal, $ascii:literal) => {
            dispatch
                .run(ByTables::<'_, L, $k, $h, $s, $ascii> { tables, the_loop })
                .map_err(|it| it.the_loop)
        };
    }
    if let Some((bytes, apart)) = &tables.two_bytes {
        let work = ByTwoBytes { bytes, apart: *apart, the_loop };
        return dispatch.run(work).map_err(|it| it.the_loop);
    }
    macro_rules! by_pairs {
        ($table:expr, $even:literal) => {
            match tables.gathers {
                Gathers::Vector => by_pairs!($table, $even, true, dispatch),
                // Entries are put together in registers of 16 bytes, and AVX-512 takes longer to
                // join these (`replay`).
                Gathers::Scalar => by_pairs!($table, $even, false, dispatch.at_most_avx2()),
            }
        };
        ($table:expr, $even:literal, $gathers:literal, $dispatch:expr) => {
            $dispatch
                .run(ByPairTable::<'_, L, _, $even, $gathers> {
                    table: $table,
                    inside: tables.inside,
                    the_loop,
                })
                .map_err(|it| it.the_loop)
        };
    }
    match &tables.pairs {
        Some(PairTable::Small(table, Positions::All)) => return by_pairs!(table, false),
        Some(PairTable::Large(table, Positions::All)) => return by_pairs!(table, false),
        Some(PairTable::Small(table, Positions::Even)) => return by_pairs!(table, true),
        Some(PairTable::Large(table, Positions::Even)) => return by_pairs!(table, true),
        None => {}
    }
    if dispatch == Dispatch::Scalar {
        return Err(the_loop);
    }
    by_shape!(dispatch, tables, by_tables)
}

/// A loop around a filter by the two bytes of a single pattern.
struct ByTwoBytes<'a, L> {
    bytes: &'a [[u8; 2]; 2],
    apart: usize,
    the_loop: L,
}

impl<L: WithFinder> Work for ByTwoBytes<'_, L> {
    type Output = L::Output;

    #[inline(always)]
    fn run<V: Vector>(self, v: V) -> L::Output {
        match self.bytes {
            [[_, 0], [_, 0]] => {
                self.the_loop.run(v, TwoBytes::<V, false>::new(v, self.bytes, self.apart))
            }
            _ => self.the_loop.run(v, TwoBytes::<V, true>::new(v, self.bytes, self.apart)),
        }
    }
}

/// A loop around a filter by tables.
pub(super) struct ByTables<'a, L, const K: usize, const H: usize, const S: usize, const ASCII: bool>
{
    pub(super) tables: &'a ShuffleTables,
    pub(super) the_loop: L,
}

impl<L: WithFinder, const K: usize, const H: usize, const S: usize, const ASCII: bool> Work
    for ByTables<'_, L, K, H, S, ASCII>
{
    type Output = L::Output;

    #[inline(always)]
    fn run<V: Vector>(self, v: V) -> L::Output {
        // A shape has tables of 64 entries or of 16. The assertion is constant for each instruction
        // set, so the loops for shapes of the other kind are not compiled.
        assert_eq!(V::ENTRIES == 64, H == 0, "shapes belong to instruction sets");
        assert!(V::SHUFFLES_ASCII || !ASCII, "shuffles for ASCII belong to instruction sets");
        self.the_loop.run(v, Tables::<V, K, H, S, ASCII>::new(v, self.tables))
    }
}

/// The tables for `K` offsets and `S` sets of eight buckets: of 64 entries, or of 16 for low
/// nibbles and, at the first `H` offsets, for high ones. With `ASCII`, which needs nibbles, windows
/// have ASCII bytes only.
struct Tables<V: Vector, const K: usize, const H: usize, const S: usize, const ASCII: bool> {
    first: [[V::Bytes; K]; S],
    highs: [[V::Bytes; H]; S],
    /// Whether each window ends inside its pattern.
    inside: bool,
}

impl<V: Vector, const K: usize, const H: usize, const S: usize, const ASCII: bool>
    Tables<V, K, H, S, ASCII>
{
    #[inline(always)]
    fn new(v: V, tables: &ShuffleTables) -> Self {
        let zero = v.splat8(0);
        let (mut first, mut highs) = ([[zero; K]; S], [[zero; H]; S]);
        for set in 0..S {
            let nibbles = &tables.nibbles[set * K..];
            for (k, table) in first[set].iter_mut().enumerate() {
                *table = match H {
                    0 => v.load(&tables.wide[set * K + k]),
                    _ => v.repeat(&nibbles[k][0]),
                };
            }
            for (table, nibbles) in highs[set].iter_mut().zip(nibbles) {
                *table = v.repeat(&nibbles[1]);
            }
        }
        Tables { first, highs, inside: tables.inside }
    }

    /// Looks up a table of 64 entries, or of 16 if there are tables for high nibbles.
    #[inline(always)]
    fn look_up(v: V, table: V::Bytes, index: V::Bytes) -> V::Bytes {
        match (H, ASCII) {
            (0, _) => v.shuffle64(table, index),
            (_, true) => v.shuffle_ascii(table, index),
            _ => v.shuffle(table, index),
        }
    }
}

impl<V: Vector, const K: usize, const H: usize, const S: usize, const ASCII: bool> Finder<V>
    for Tables<V, K, H, S, ASCII>
{
    type Hits = V::Bytes;

    #[inline(always)]
    fn margin(&self) -> usize {
        K - 1
    }

    #[inline(always)]
    fn is_inside(&self) -> bool {
        self.inside
    }

    /// For each position, the buckets that accept all bytes of the window.
    #[inline(always)]
    fn test<T: Text<V>>(&self, v: V, text: &T) -> V::Bytes {
        let mut windows = [v.splat8(0); K];
        for (k, window) in windows.iter_mut().enumerate() {
            *window = text.load(v, k);
        }
        let mut any = v.splat8(0);
        for set in 0..S {
            let (first, highs) = (&self.first[set], &self.highs[set]);
            let mut all = Self::look_up(v, first[0], windows[0]);
            for k in 1..K {
                all = v.and(all, Self::look_up(v, first[k], windows[k]));
            }
            for k in 0..H {
                all = v.and(all, v.shuffle(highs[k], v.high_nibbles(windows[k])));
            }
            any = v.or(any, all);
        }
        any
    }

    #[inline(always)]
    fn or(v: V, a: V::Bytes, b: V::Bytes) -> V::Bytes {
        v.or(a, b)
    }

    #[inline(always)]
    fn positions(v: V, hits: V::Bytes) -> u64 {
        v.nonzero8(hits)
    }
}

/// Two bytes of a single pattern. With `FOLD`, one of them ignores case.
pub(super) struct TwoBytes<V: Vector, const FOLD: bool> {
    values: [V::Bytes; 2],
    /// Which bits of each count: those of a letter without the bit of its case.
    counted: [V::Bytes; 2],
    pub(super) apart: usize,
}

impl<V: Vector, const FOLD: bool> TwoBytes<V, FOLD> {
    /// Takes two bytes with their case masks.
    #[inline(always)]
    pub(super) fn new(
        v: V,
        [[first, first_case], [second, second_case]]: &[[u8; 2]; 2],
        apart: usize,
    ) -> Self {
        TwoBytes {
            values: [v.splat8(*first), v.splat8(*second)],
            counted: [v.splat8(!first_case), v.splat8(!second_case)],
            apart,
        }
    }

    /// Compares the bytes at 64 positions, and those `apart` bytes on, with the two values.
    #[inline(always)]
    pub(super) fn compare(&self, v: V, firsts: V::Bytes, seconds: V::Bytes) -> V::Bytes {
        let first = v.xor(firsts, self.values[0]);
        let second = v.xor(seconds, self.values[1]);
        if FOLD {
            return v.or(v.and(first, self.counted[0]), v.and(second, self.counted[1]));
        }
        v.or(first, second)
    }
}

impl<V: Vector, const FOLD: bool> Finder<V> for TwoBytes<V, FOLD> {
    /// For each position, 0 if it passes. So one comparison serves both bytes of 256 positions.
    type Hits = V::Bytes;

    #[inline(always)]
    fn margin(&self) -> usize {
        self.apart
    }

    #[inline(always)]
    fn test<T: Text<V>>(&self, v: V, text: &T) -> V::Bytes {
        self.compare(v, text.load(v, 0), text.load(v, self.apart))
    }

    #[inline(always)]
    fn or(v: V, a: V::Bytes, b: V::Bytes) -> V::Bytes {
        v.min8(a, b)
    }

    #[inline(always)]
    fn positions(v: V, hits: V::Bytes) -> u64 {
        !v.nonzero8(hits)
    }
}
