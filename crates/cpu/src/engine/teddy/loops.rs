//! The vector loops that all instruction sets share, over vectors of 64 bytes.
//!
//! The compiler inlines a function with target features only into callers with the same features,
//! so the loops cannot be generic. A macro writes them into the module of each instruction set,
//! behind its operations.

/// Writes the loops for the instruction set of a token (see `simd::isa`).
///
/// The module defines `filter_shaped`, `list_bits` and these operations: `load`, `sixteen`,
/// `fill`, `and`, `or`, `add`, `shuffle`, `nibbles`, `equal`, `nonzero`, `sums`, `sum`. The token
/// must prove all features that the macro and the module enable.
macro_rules! loops {
    ($token:ty, $features:literal) => {
        /// Finds the candidates of a tile.
        pub(super) fn filter(
            _: $token,
            tables: &ShuffleTables,
            bytes: &[u8],
            tile: Range<usize>,
            passed: &mut [u64],
        ) {
            // SAFETY: the token proves that detection found every feature that this module
            // enables, see `simd::isa`.
            unsafe {
                match &tables.pair {
                    Some((pair, apart)) => filter_pair(pair, *apart, bytes, tile, passed),
                    None => filter_shaped(tables, bytes, tile, passed),
                }
            }
        }

        /// Lists the positions of the set bits.
        pub(super) fn list(_: $token, passed: &[u64], list: &mut PositionList) {
            // SAFETY: the token proves that detection found every feature that this module
            // enables, see `simd::isa`.
            unsafe { list_bits(passed, list) }
        }

        /// Counts the short patterns that begin at `starts`, a whole number of spans.
        pub(super) fn count(
            _: $token,
            group: &ShortGroup,
            weights: &Nibbles,
            bytes: &[u8],
            starts: Range<usize>,
        ) -> u64 {
            // SAFETY: the token proves that detection found every feature that this module
            // enables, see `simd::isa`.
            unsafe {
                match group.len {
                    1 => count_long::<1>(group, weights, bytes, starts),
                    2 => count_long::<2>(group, weights, bytes, starts),
                    3 => count_long::<3>(group, weights, bytes, starts),
                    4 => count_long::<4>(group, weights, bytes, starts),
                    len => unreachable!("short patterns have 1 to 4 bytes, not {len}"),
                }
            }
        }

        /// Marks the positions where each short pattern of a group begins.
        pub(super) fn mark(
            _: $token,
            group: &ShortGroup,
            bytes: &[u8],
            starts: Range<usize>,
            marks: &mut [Passed; 8],
        ) {
            // SAFETY: the token proves that detection found every feature that this module
            // enables, see `simd::isa`.
            unsafe {
                match group.len {
                    1 => mark_long::<1>(group, bytes, starts, marks),
                    2 => mark_long::<2>(group, bytes, starts, marks),
                    3 => mark_long::<3>(group, bytes, starts, marks),
                    4 => mark_long::<4>(group, bytes, starts, marks),
                    len => unreachable!("short patterns have 1 to 4 bytes, not {len}"),
                }
            }
        }

        /// Filters by two bytes of a single pattern, `apart` bytes apart.
        #[target_feature(enable = $features)]
        fn filter_pair(
            pair: &[[u8; 2]; 2],
            apart: usize,
            bytes: &[u8],
            tile: Range<usize>,
            passed: &mut [u64],
        ) {
            let pair = One::<2>::new(pair);
            sweep(bytes, tile, |word, span| {
                passed[word] = pair.find([load(span, 0), load(span, apart)]);
            });
        }

        /// The tables of a group in registers, for patterns of `L` bytes.
        struct Short<const L: usize>([[Vector; 2]; L]);

        impl<const L: usize> Short<L> {
            #[inline]
            #[target_feature(enable = $features)]
            fn new(group: &ShortGroup) -> Self {
                Short(from_fn(|l| from_fn(|half| sixteen(&group.nibbles[l][half]))))
            }

            /// For each of 64 positions, the set of patterns that begin there.
            #[inline]
            #[target_feature(enable = $features)]
            fn find(&self, span: &[u8; SPAN]) -> Vector {
                let mut all = fill(0xff);
                for (l, table) in self.0.iter().enumerate() {
                    let (low, high) = nibbles(load(span, l));
                    all = and(all, and(shuffle(table[0], low), shuffle(table[1], high)));
                }
                all
            }
        }

        /// One short pattern of `L` bytes: for each byte its value and its case mask.
        struct One<const L: usize>([[Vector; 2]; L]);

        impl<const L: usize> One<L> {
            #[inline]
            #[target_feature(enable = $features)]
            fn new(bytes: &[[u8; 2]]) -> Self {
                One(from_fn(|l| bytes[l].map(|b| fill(b))))
            }

            /// At which of 64 positions the pattern begins.
            #[inline]
            #[target_feature(enable = $features)]
            fn find(&self, windows: [Vector; L]) -> u64 {
                let mut all = u64::MAX;
                for (window, &[byte, fold]) in windows.into_iter().zip(&self.0) {
                    all &= equal(or(window, fold), byte);
                }
                all
            }
        }

        #[target_feature(enable = $features)]
        fn count_long<const L: usize>(
            group: &ShortGroup,
            weights: &Nibbles,
            bytes: &[u8],
            starts: Range<usize>,
        ) -> u64 {
            if let Some(one) = &group.one {
                let (one, mut count) = (One::<L>::new(one), 0);
                sweep(bytes, starts, |_, span| {
                    count += u64::from(one.find(from_fn(|l| load(span, l))).count_ones());
                });
                return count * group.ids[0];
            }
            let short = Short::<L>::new(group);
            let weights: [Vector; 2] = from_fn(|half| sixteen(&weights[half]));
            let mut all = fill(0);
            sweep(bytes, starts, |_, span| {
                let (low, high) = nibbles(short.find(span));
                all = sums(all, add(shuffle(weights[0], low), shuffle(weights[1], high)));
            });
            sum(all)
        }

        #[target_feature(enable = $features)]
        fn mark_long<const L: usize>(
            group: &ShortGroup,
            bytes: &[u8],
            starts: Range<usize>,
            marks: &mut [Passed; 8],
        ) {
            if let Some(one) = &group.one {
                let one = One::<L>::new(one);
                sweep(bytes, starts, |word, span| {
                    marks[0][word] = one.find(from_fn(|l| load(span, l)));
                });
                return;
            }
            let short = Short::<L>::new(group);
            sweep(bytes, starts, |word, span| {
                let found = short.find(span);
                for (i, marks) in marks.iter_mut().enumerate().take(group.patterns.len()) {
                    marks[word] = nonzero(and(found, fill(1 << i)));
                }
            });
        }
    };
}

pub(super) use loops;
