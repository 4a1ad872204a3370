//! Where in a pattern it is looked for.

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

/// The rarest place of a pattern for each remainder, and how rare its window is. `crowd` tells how many patterns are
/// entered under a window already.
pub(super) fn places(
    pattern: &Pattern<'_>,
    stride: Stride,
    statistics: &Statistics,
    crowd: impl Fn(&[u8]) -> u32,
) -> Vec<(usize, f32)> {
    let bytes = &pattern.bytes[..pattern.bytes.len().min(CHECKED)];
    let last = (bytes.len() - stride.window()).min(PLACES);
    let rarity = |k: usize| statistics.passing(pattern, bytes, k, stride);
    let step = stride.positions();
    let best = |first: usize| {
        let cost = |k: usize| {
            let (alone, window) = (rarity(k), &bytes[k..k + stride.window()]);
            // What lies inside of a run is not looked at; a pattern that is one altogether has no other window.
            let around = &bytes[k.saturating_sub(1)..bytes.len().min(k + stride.window() + 1)];
            let inside = if is_uniform(around) { 1e9 } else { 0.0 };
            (k, alone, inside + alone * (1.0 + CROWD * crowd(window) as f32))
        };
        let all = (first..=last).step_by(step).map(cost);
        let (k, alone, _) =
            all.min_by(|a, b| a.2.total_cmp(&b.2)).expect("long enough for each remainder");
        (k, alone)
    };
    (0..step).map(best).collect()
}

/// The spellings of some bytes that match them.
pub(super) fn spellings(bytes: &[u8], nocase: bool) -> Vec<Vec<u8>> {
    let mut all = vec![bytes.to_vec()];
    for at in 0..bytes.len() {
        if nocase && bytes[at].is_ascii_alphabetic() {
            let other = all.iter().map(|s| {
                let mut s = s.clone();
                s[at] ^= 0x20;
                s
            });
            let other: Vec<_> = other.collect();
            all.extend(other);
        }
    }
    all
}
