//! The filters: vector code that tests 64 positions at once, with its tables in registers.

use super::loops::{FindNext, FindWord, Tested};
use super::pairs::{Layout, PairTable, Positions};
use super::shape::{FilterShape, has_nibbles};
use super::stage1;
use super::tables::{ShortGroup, ShuffleTables};
use super::text::Text;
use crate::simd::Dispatch;
use crate::simd::gather::Gathers;
use crate::simd::vector::{Vector, Work};
use std::hint::black_box;

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

/// Finds the next 64 positions of which some pass, from a position on: see [`FindNext`].
pub(super) type FindNextFn =
    fn(Dispatch, &ShuffleTables, &[u8], usize, &mut Tested) -> (usize, u64);

/// The function for the filter of a set. In a short call, looking for the shape of shuffle tables
/// would take as long as the filter.
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

/// A loop around a filter by a pair table.
struct ByPairTable<'a, L, const N: usize, const EVEN: bool, const GATHERS: bool> {
    table: &'a [u32; N],
    inside: bool,
    the_loop: L,
}

impl<L: WithFinder, const N: usize, const EVEN: bool, const GATHERS: bool> Work
    for ByPairTable<'_, L, N, EVEN, GATHERS>
{
    type Output = L::Output;

    #[inline(always)]
    fn run<V: Vector>(self, v: V) -> L::Output {
        assert!(V::GATHERS || !GATHERS, "gathers belong to instruction sets");
        // `black_box` hides the constant: if the compiler knows the mask, it loads the two bytes of
        // a pair one by one.
        let mask = black_box(N - 1);
        let (table, inside) = (self.table, self.inside);
        self.the_loop.run(v, PairLookup::<N, EVEN, GATHERS> { table, mask, inside })
    }
}

/// A loop around a filter by tables.
struct ByTables<'a, L, const K: usize, const H: usize, const S: usize, const ASCII: bool> {
    tables: &'a ShuffleTables,
    the_loop: L,
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

/// A pair table of `N` entries. With `EVEN`, only even positions are tested. With `GATHERS`,
/// gathers look up the pairs, else scalar loads.
struct PairLookup<'a, const N: usize, const EVEN: bool, const GATHERS: bool> {
    table: &'a [u32; N],
    /// `N - 1`.
    mask: usize,
    /// Whether each window ends inside its pattern.
    inside: bool,
}

/// The bytes after 64 positions that windows reach, if all or if even positions are tested: the
/// last tested position is followed by `step - 1` others.
const ALL_MARGIN: usize = Layout::of(Positions::All).window() - Positions::All.step();
const EVEN_MARGIN: usize = Layout::of(Positions::Even).window() - Positions::Even.step();

impl<const N: usize, const EVEN: bool, const GATHERS: bool> PairLookup<'_, N, EVEN, GATHERS> {
    const LAYOUT: Layout = Layout::of(if EVEN { Positions::Even } else { Positions::All });

    /// The entry of the pair at a position.
    #[inline(always)]
    fn entry<const BYTES: usize>(&self, bytes: &[u8; BYTES], at: usize) -> u32 {
        let pair = *bytes[at..].first_chunk().expect("each entry has two bytes");
        let index = usize::from(u16::from_le_bytes(pair)) & self.mask;
        // SAFETY: `mask` is `N - 1`, so `index` is at most that. The table has `N` entries.
        unsafe { *self.table.get_unchecked(index) }
    }

    /// The entries of the pair at a position and of the pair two positions on. One load serves both
    /// (`replay`).
    #[inline(always)]
    fn two_entries<const BYTES: usize>(&self, bytes: &[u8; BYTES], at: usize) -> [u32; 2] {
        const { assert!(N <= 1 << 16, "an index has 16 bits") };
        let four = *bytes[at..].first_chunk().expect("two entries have four bytes");
        let both = u32::from_le_bytes(four) & (self.mask as u32 * 0x1_0001);
        // SAFETY: both halves are masked by `mask`, which is `N - 1`, so each index is at most
        // that. The table has `N` entries.
        let entry = |index: u32| unsafe { *self.table.get_unchecked(index as usize) };
        [entry(both & 0xffff), entry(both >> 16)]
    }

    /// The entries of every fourth position from `at` on, eight of them, and those of the positions
    /// two bytes on.
    #[inline(always)]
    fn sixteen_entries<V: Vector, const BYTES: usize>(
        &self,
        v: V,
        bytes: &[u8; BYTES],
        at: usize,
    ) -> V::Bytes {
        if GATHERS {
            let from = bytes[at..].first_chunk().expect("the entries have 32 bytes");
            let offsets = v.words_of_halves(from, self.mask as u16);
            // SAFETY: `mask` is `N - 1`, so an offset is four times a number of at most 16 bits
            // that is below `N`: it is not negative. The table has `N` entries of four bytes.
            return unsafe { v.gather(self.table.as_ptr(), offsets) };
        }
        let mut entries = [0; 16];
        for i in 0..8 {
            let [one, other] = self.two_entries(bytes, at + 4 * i);
            (entries[i], entries[8 + i]) = (one, other);
        }
        v.load32(&entries)
    }

    /// Tests the 32 positions from `at` on. Elements of the lower half stand for every fourth
    /// position, elements of the upper half for those two bytes on. An element's first byte is not
    /// 0 if its position passes, its second byte if the next position does. With `EVEN`, a position
    /// passes if either of its two bytes is not 0.
    #[inline(always)]
    fn test_half<V: Vector, const BYTES: usize>(
        &self,
        v: V,
        bytes: &[u8; BYTES],
        at: usize,
    ) -> V::Bytes {
        let first = self.sixteen_entries(v, bytes, at);
        let second = v.half_on(first, self.entry(bytes, at + 32));
        if EVEN {
            let third = v.half_on(second, self.entry(bytes, at + 34));
            return Self::accepted(v, [first, second, third]);
        }
        let middle = self.sixteen_entries(v, bytes, at + 1);
        let last = v.half_on(middle, self.entry(bytes, at + 33));
        let one = v.splat32(1);
        let odd = v.min32(Self::accepted(v, [middle, last, second]), one);
        let even = v.min32(Self::accepted(v, [first, second, middle]), one);
        v.or(even, v.left32(odd, 8))
    }

    /// For each element, the buckets that accept its three pairs.
    #[inline(always)]
    fn accepted<V: Vector>(v: V, [first, second, third]: [V::Bytes; 3]) -> V::Bytes {
        let [_, to_second, to_third] = Self::LAYOUT.shifts();
        // Buckets that test two pairs have no bits of a third one.
        let any_third = v.splat32((1 << Self::LAYOUT.of_two) - 1);
        let third = v.or(v.right32(third, to_third), any_third);
        v.and(first, v.and(v.right32(second, to_second), third))
    }

    /// Tests 64 positions.
    #[inline(always)]
    fn test_all<V: Vector, const BYTES: usize>(&self, v: V, bytes: &[u8; BYTES]) -> V::Bytes {
        v.join_halves(self.test_half(v, bytes, 0), self.test_half(v, bytes, 32))
    }
}

impl<V: Vector, const N: usize, const EVEN: bool, const GATHERS: bool> Finder<V>
    for PairLookup<'_, N, EVEN, GATHERS>
{
    type Hits = V::Bytes;

    const STEP: usize = Self::LAYOUT.positions.step();
    const ONLY_LOADS: bool = false;

    #[inline(always)]
    fn margin(&self) -> usize {
        if EVEN { EVEN_MARGIN } else { ALL_MARGIN }
    }

    #[inline(always)]
    fn is_inside(&self) -> bool {
        self.inside
    }

    #[inline(always)]
    fn test<T: Text<V>>(&self, v: V, text: &T) -> V::Bytes {
        match EVEN {
            true => self.test_all(v, text.look(&mut [0; 64 + EVEN_MARGIN])),
            false => self.test_all(v, text.look(&mut [0; 64 + ALL_MARGIN])),
        }
    }

    #[inline(always)]
    fn or(v: V, a: V::Bytes, b: V::Bytes) -> V::Bytes {
        v.or(a, b)
    }

    #[inline(always)]
    fn positions(v: V, hits: V::Bytes) -> u64 {
        let bytes = v.nonzero8(hits);
        if EVEN { (bytes | bytes >> 1) & 0x5555_5555_5555_5555 } else { bytes }
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

/// One short pattern of `L` bytes: for each byte its value and its case mask.
pub(super) struct One<V: Vector, const L: usize>([[V::Bytes; 2]; L]);

impl<V: Vector, const L: usize> One<V, L> {
    #[inline(always)]
    pub(super) fn new(v: V, bytes: &[[u8; 2]]) -> Self {
        let mut all = [[v.splat8(0); 2]; L];
        for (to, &[byte, fold]) in all.iter_mut().zip(bytes) {
            *to = [v.splat8(byte), v.splat8(fold)];
        }
        One(all)
    }

    /// At which of 64 positions the pattern begins.
    #[inline(always)]
    pub(super) fn find<T: Text<V>>(&self, v: V, text: &T) -> u64 {
        let mut all = u64::MAX;
        for (ahead, &[byte, fold]) in self.0.iter().enumerate() {
            all &= v.equal8(v.or(text.load(v, ahead), fold), byte);
        }
        all
    }
}

/// The tables of a group of short patterns of `L` bytes.
pub(super) struct Short<V: Vector, const L: usize>([[V::Bytes; 2]; L]);

impl<V: Vector, const L: usize> Short<V, L> {
    #[inline(always)]
    pub(super) fn new(v: V, group: &ShortGroup) -> Self {
        let mut tables = [[v.splat8(0); 2]; L];
        for (table, nibbles) in tables.iter_mut().zip(&group.nibbles) {
            *table = [v.repeat(&nibbles[0]), v.repeat(&nibbles[1])];
        }
        Short(tables)
    }

    /// For each of 64 positions, the set of patterns that begin there.
    #[inline(always)]
    pub(super) fn find<T: Text<V>>(&self, v: V, text: &T) -> V::Bytes {
        let mut all = v.splat8(0xff);
        for (ahead, [low, high]) in self.0.iter().enumerate() {
            let bytes = text.load(v, ahead);
            let high = v.shuffle(*high, v.high_nibbles(bytes));
            all = v.and(all, v.and(v.shuffle(*low, bytes), high));
        }
        all
    }
}
