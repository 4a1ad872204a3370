//! The windows of a pattern, and the choice among them.

use super::marks::WindowTable;
use super::runs::is_uniform;
use super::statistics::WindowStatistics;
use fyke_core::Pattern;

/// Bytes at the front of a pattern that the device compares; the host compares the rest. Without a
/// limit, a periodic text would make the device compare a whole long pattern at every position.
pub(super) const CHECKED: usize = 4096;

/// Places of a pattern that are considered for windows: the first ones, or those from the run's end
/// on if the pattern begins with a long run. Not measured: a guess.
const PLACES: usize = 64;

/// Relative cost of a window for each pattern that uses it already. Not measured: a guess.
const CROWD: f32 = 0.25;

/// Weight of what passes by chance against the probability of the window itself: words of the
/// table are not equally frequent, and the probability is an estimate. Swept on ET Open and Snort
/// 2.2.0 over `zeek` by simulation, and on ET Open and 18,464 words on an H200: flat from 1 to 4.
const CHANCE: f32 = 2.0;

/// The windows of one stride.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stride {
    /// Three bytes and the nibbles beside them, at two places of each pattern.
    Two,
    /// Four bytes, at four places of each pattern.
    Four,
    /// Eight bytes, at four places: for texts in which four bytes are too common.
    FourWide,
}

impl Stride {
    /// Positions from one lookup to the next.
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

    /// Length of the shortest pattern that has a window for each remainder of its start.
    pub(super) fn least(self) -> usize {
        self.window() + self.positions() - 1
    }
}

/// The best window of a pattern for each remainder of its start, and the probability that it
/// occurs. `crowd` is the number of patterns that use a window already, and `table` has the bits
/// set so far.
pub(super) fn places(
    pattern: &Pattern<'_>,
    stride: Stride,
    statistics: &WindowStatistics,
    crowd: impl Fn(&[u8]) -> u32,
    table: &WindowTable,
) -> Vec<(usize, f32)> {
    let bytes = &pattern.bytes[..pattern.bytes.len().min(CHECKED)];
    let step = stride.positions();
    let from = first_place(bytes, stride);
    let last = (bytes.len() - stride.window()).min(from + PLACES);
    let passing = |model, k| statistics.passing(model, pattern, bytes, k, stride);
    let best = |first: usize| {
        let cost = |k: usize| {
            let (alone, window) = (passing(&statistics.ranking, k), &bytes[k..k + stride.window()]);
            // The kernel ignores the inside of runs; only a pattern that is one run has no other
            // window.
            let around = &bytes[k.saturating_sub(1)..bytes.len().min(k + stride.window() + 1)];
            let inside = if is_uniform(around) { 1e9 } else { 0.0 };
            let chance = CHANCE * table.adds(pattern, k);
            (k, inside + alone * (1.0 + CROWD * crowd(window) as f32) + chance)
        };
        let all = (from + first..=last).step_by(step).map(cost);
        let (k, _) =
            all.min_by(|a, b| a.1.total_cmp(&b.1)).expect("long enough for each remainder");
        (k, passing(&statistics.model, k))
    };
    (0..step).map(best).collect()
}

/// The first place that is considered, a multiple of the stride. If the pattern begins with a long
/// run it is the run's end, because every position inside of such a run would be a candidate.
fn first_place(bytes: &[u8], stride: Stride) -> usize {
    let run = bytes.iter().take_while(|b| **b == bytes[0]).count();
    if run < PLACES {
        return 0;
    }
    let (step, window) = (stride.positions(), stride.window());
    (run - window).min(bytes.len() - window - step + 1) / step * step
}

/// The number of spellings of some bytes.
pub(super) fn count_spellings(bytes: &[u8], nocase: bool) -> u32 {
    1 << bytes.iter().filter(|b| nocase && b.is_ascii_alphabetic()).count()
}

/// The spellings of up to eight bytes, as numbers with the first byte lowest.
pub(super) fn spellings(bytes: &[u8], nocase: bool) -> impl Iterator<Item = u64> + use<> {
    let is_letter = |byte: u8| nocase && byte.is_ascii_alphabetic();
    let (window, case) = bytes.iter().rev().fold((0, 0), |(window, case), &byte| {
        let bit = if is_letter(byte) { 0x20 } else { 0 };
        (window << 8 | u64::from(byte), case << 8 | bit)
    });
    // Enumerates the subsets of the bits of `case`.
    let next = move |flip: &u64| Some(flip.wrapping_sub(case) & case).filter(|&n| n != 0);
    std::iter::successors(Some(0), next).map(move |flip| window ^ flip)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_behind_the_run_that_a_pattern_begins_with() {
        for stride in [Stride::Two, Stride::Four, Stride::FourWide] {
            for run in [0, 63, 64, 65, 66, 67, 100, 4000] {
                for more in ["", "b", "bc", "bcdefghijklm"] {
                    let bytes = [&vec![b'a'; run][..], more.as_bytes()].concat();
                    if bytes.len() < stride.least() {
                        continue;
                    }
                    let from = first_place(&bytes, stride);
                    let all = from + stride.positions() - 1 + stride.window();
                    assert!(from.is_multiple_of(stride.positions()) && all <= bytes.len());
                    assert!(run < 64 || from + stride.least() + stride.positions() > run);
                }
            }
        }
    }

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
