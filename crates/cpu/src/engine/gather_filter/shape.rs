//! What windows a set is known by, and what its tables take.

use super::lines;
use fyke_core::{Options, PatternSet, Refusal};

/// Bytes of a short window.
pub(super) const SHORT: usize = 4;

/// Up to this many patterns, none under five bytes, every second position is enough; beyond it short windows
/// at two offsets each crowd the lines. It comes from a prototype with other lines and is not swept for these.
const STRIDE_UP_TO: usize = 15_000;

/// With all patterns this long, windows are long ones, and there is no such limit.
const ALL_LONG: usize = 8;

/// Words of the filter: at least 32 KiB, where a gather is as fast as it gets, at most 4 MiB. Not swept yet.
const FILTER_WORDS: std::ops::RangeInclusive<usize> = 1 << 13..=1 << 20;

/// Bits of the filter for each window. Not swept yet.
const FILTER_BITS: usize = 40;

/// What windows there are and where they are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Every `stride`-th position is looked at, and each pattern is entered at so many offsets.
    pub(super) stride: usize,
    /// Patterns with a short window.
    pub(super) short: usize,
    /// Patterns with a long one.
    pub(super) long: usize,
    /// Bytes of a long window.
    pub(super) window: usize,
    /// 0x20 in each byte if windows are folded. Coarser than ASCII folding; the patterns are compared later.
    pub(super) fold: u64,
    /// Units of memory for the records of all patterns.
    pub(super) units: usize,
}

impl Shape {
    pub(super) fn new(set: &PatternSet, opt: &Options) -> Result<Self, Refusal> {
        let (have, min) = (set.min_len(), SHORT);
        if have < min && !set.is_empty() {
            return Err(Refusal::TooShort { min, have });
        }
        let sparse = have > SHORT && set.len() <= STRIDE_UP_TO || have >= ALL_LONG;
        let stride = match opt.choice("stride", &["auto", "1", "2"])? {
            "2" if have > SHORT => 2,
            "2" if !set.is_empty() => return Err(Refusal::TooShort { min: SHORT + 1, have }),
            "auto" if sparse => 2,
            _ => 1,
        };
        let fold = if set.nocase_count() > 0 { 0x2020_2020_2020_2020 } else { 0 };
        let window = if have >= 7 + stride { 8 } else { 9 - stride };
        let mut shape = Shape { stride, short: 0, long: 0, window, fold, units: 0 };
        for pattern in set.iter() {
            shape.long += usize::from(shape.is_long(pattern.bytes.len()));
            shape.units += stride * lines::units(pattern.bytes.len());
        }
        shape.short = set.len() - shape.long;
        Ok(shape)
    }

    pub(super) fn is_long(&self, len: usize) -> bool {
        len >= self.window + self.stride - 1
    }

    /// The bytes of a long window that count.
    pub(super) fn long_mask(&self) -> u64 {
        ones(self.window)
    }

    /// How far before a position the text begins whose fingerprint tells short patterns apart.
    pub(super) fn back(&self) -> usize {
        self.stride - 1
    }

    /// The class of a short pattern: how its bytes lie around its window.
    ///
    /// With a stride of 2 its window begins at its anchor or one byte after it. The text begins one byte
    /// before the window, so that both ways all bytes from the anchor on are seen.
    pub(super) fn class(&self, rest: usize, step: usize) -> usize {
        4 * step + rest.min(7) - SHORT - self.back()
    }

    /// For each class, the bytes of the text that count.
    pub(super) fn class_masks(&self) -> [u64; 8] {
        std::array::from_fn(|class| {
            let bytes = SHORT + self.back() + class % 4;
            match (self.stride, class) {
                (_, 7) => 0,
                (1, _) => ones(bytes.min(8)),
                (_, 0..4) => ones(bytes.min(7)) << 8,
                _ => ones(bytes.min(8)),
            }
        })
    }

    pub(super) fn short_keys(&self) -> usize {
        self.short * self.stride
    }

    pub(super) fn long_keys(&self) -> usize {
        self.long * self.stride
    }

    pub(super) fn filter_words(&self) -> usize {
        let keys = self.short_keys() + self.long_keys();
        let wanted = (keys * FILTER_BITS / 32).next_power_of_two();
        wanted.clamp(*FILTER_WORDS.start(), *FILTER_WORDS.end())
    }

    /// Bytes of memory that the tables take.
    pub(super) fn memory(&self) -> u64 {
        let tables = lines::memory(self.short_keys()) + lines::memory(self.long_keys());
        4 * self.filter_words() as u64 + tables + (lines::UNIT * self.units) as u64
    }

    /// Bytes of memory that are needed while they are built.
    pub(super) fn peak(&self) -> u64 {
        let anchors = self.short + self.long;
        self.memory() + lines::scratch(self.short_keys().max(self.long_keys())) + anchors as u64
    }
}

/// A mask of so many bytes.
fn ones(bytes: usize) -> u64 {
    u64::MAX >> (64 - 8 * bytes)
}
