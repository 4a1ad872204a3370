//! Where in a pattern it is looked for.

use super::marks::Table;
use super::runs::is_uniform;
use super::statistics::Statistics;
use fyke_core::Pattern;

/// Bytes at the front of a pattern that the device compares; the host compares what is longer. A pattern of tens of
/// thousands of bytes over a text that repeats itself would be compared byte by byte from every start.
pub(super) const CHECKED: usize = 512;

/// Places at the front of a pattern that are weighed. Not swept.
const PLACES: usize = 64;

/// What a window costs more for each pattern that is entered under it already. Taken from the sketch; not swept.
const CROWD: f32 = 0.25;

/// What passes by chance for a window is taken to be so many times what it would be if every word of the table were as likely
/// as the others; words are not, and what a window passes for itself is an estimate. By simulation on traffic ET Open has 147
/// candidates in a chunk of 2 KiB with 0 in place of it, and 96, 92 and 88 with 1, 2 and 4, of which 44, 44, 45 and 46 entries are
/// compared; Snort has 29, 25, 25 and 24. On an H200, before `RARELY` in `statistics`, ET Open took 1 per cent more time with 1
/// than with 2, and 1 less with 4; 18,464 words, which are found often, took 1 per cent less with 1.
const CHANCE: f32 = 2.0;

/// The windows of one stride.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stride {
    /// Three bytes and the nibbles beside them, at two places of a pattern.
    Two,
    /// Four bytes, at four places.
    Four,
    /// Eight bytes, at four places: what four letters leave undecided.
    FourWide,
}

impl Stride {
    /// Positions from one look-up to the next.
    pub(super) fn positions(self) -> usize {
        match self {
            Stride::Two => 2,
            Stride::Four | Stride::FourWide => 4,
        }
    }

    /// Bytes of a window.
    pub(super) fn window(self) -> usize {
        match self {
            Stride::Two => 3,
            Stride::Four => 4,
            Stride::FourWide => 8,
        }
    }

    /// Bytes of the shortest pattern that has a window for each remainder.
    pub(super) fn least(self) -> usize {
        self.window() + self.positions() - 1
    }
}

/// The best place of a pattern for each remainder, and how rare its window is. `crowd` tells how many patterns are
/// entered under a window already, and `table` what it marks.
pub(super) fn places(
    pattern: &Pattern<'_>,
    stride: Stride,
    statistics: &Statistics,
    crowd: impl Fn(&[u8]) -> u32,
    table: &Table,
) -> Vec<(usize, f32)> {
    let bytes = &pattern.bytes[..pattern.bytes.len().min(CHECKED)];
    let last = (bytes.len() - stride.window()).min(PLACES);
    let passing = |model, k| statistics.passing(model, pattern, bytes, k, stride);
    let step = stride.positions();
    let best = |first: usize| {
        let cost = |k: usize| {
            let (alone, window) = (passing(&statistics.ranking, k), &bytes[k..k + stride.window()]);
            // What lies inside of a run is not looked at; a pattern that is one altogether has no other window.
            let around = &bytes[k.saturating_sub(1)..bytes.len().min(k + stride.window() + 1)];
            let inside = if is_uniform(around) { 1e9 } else { 0.0 };
            let chance = CHANCE * table.adds(pattern, k);
            (k, inside + alone * (1.0 + CROWD * crowd(window) as f32) + chance)
        };
        let all = (first..=last).step_by(step).map(cost);
        let (k, _) =
            all.min_by(|a, b| a.1.total_cmp(&b.1)).expect("long enough for each remainder");
        (k, passing(&statistics.model, k))
    };
    (0..step).map(best).collect()
}

/// How many spellings some bytes have.
pub(super) fn count_spellings(bytes: &[u8], nocase: bool) -> u32 {
    1 << bytes.iter().filter(|b| nocase && b.is_ascii_alphabetic()).count()
}

/// The spellings of up to eight bytes that match them, first byte lowest.
pub(super) fn spellings(bytes: &[u8], nocase: bool) -> impl Iterator<Item = u64> + use<> {
    let is_letter = |byte: u8| nocase && byte.is_ascii_alphabetic();
    let (window, case) = bytes.iter().rev().fold((0, 0), |(window, case), &byte| {
        let bit = if is_letter(byte) { 0x20 } else { 0 };
        (window << 8 | u64::from(byte), case << 8 | bit)
    });
    // Every choice of the bits of `case`, one after the other.
    let next = move |flip: &u64| Some(flip.wrapping_sub(case) & case).filter(|&n| n != 0);
    std::iter::successors(Some(0), next).map(move |flip| window ^ flip)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_is_spelled_both_ways() {
        let of = |bytes: &[u8], nocase: bool| {
            let all = spellings(bytes, nocase);
            let mut all: Vec<_> = all.map(|n| n.to_le_bytes()[..bytes.len()].to_vec()).collect();
            all.sort();
            all
        };
        assert_eq!(of(b"a-B", true), [*b"A-B", *b"A-b", *b"a-B", *b"a-b"]);
        assert_eq!(of(b"a-B", false), [*b"a-B"]);
        assert_eq!(of(&[0xff, 0, 0x80], true), [[0xff, 0, 0x80]]);
        let eight = of(b"abcdefgh", true);
        assert!(eight.len() == 256 && eight.windows(2).all(|w| w[0] < w[1]));
        assert_eq!(count_spellings(b"abcdefgh", true), 256);
        assert_eq!((count_spellings(b"a-B", true), count_spellings(b"a-B", false)), (4, 1));
    }
}
