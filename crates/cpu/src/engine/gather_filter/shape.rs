//! What windows a set is known by, and what its tables take.

use super::{hash, lines};
use fyke_core::{Options, PatternSet, Refusal};

/// Bytes that every pattern has to have: those of the shortest window.
pub(super) const SHORT: usize = 4;

/// Most bytes of a short window. Seven are a long one.
const SHORT_UP_TO: usize = 6;

/// Up to this many patterns, none under five bytes, every second position is enough; beyond it short windows
/// at two offsets each crowd the lines. For 10,000 and 30,000 of `words` a stride of 2 takes 18 and 5 % less.
const STRIDE_UP_TO: usize = 30_000;

/// The same if all have [`ALL_LONG`] bytes, so that windows have seven with a stride of 2: of strings from programs as
/// in `elf`, 10,000 take as long with either, 30,000 take 16 % longer.
const LONG_STRIDE_UP_TO: usize = 15_000;
const ALL_LONG: usize = 8;

/// The same if all have one more, so that windows have eight with either stride. At 84,000 both are equal.
const LONGER_STRIDE_UP_TO: usize = 100_000;

/// From so many short patterns on, the filter takes in a byte beside their windows. Not swept yet.
const NEIGHBOUR_FROM: usize = 1_000;

/// Words of the filter: at least 32 KiB, where a gather is as fast as it gets, at most 4 MiB (not swept).
const FILTER_WORDS: std::ops::RangeInclusive<usize> = 1 << 13..=1 << 20;

/// Bits of the filter for each window. Half or twice as many make no difference above 5 % at 10,000 and 99,175 `words`,
/// 10,000 strings of `elf` and the rules of `et-min4`, but for 8 % more with half at 10,000 words.
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
    /// Bytes of a short window.
    pub(super) short_window: usize,
    /// Bytes of a long window.
    pub(super) window: usize,
    /// Whether the filter takes in a byte beside a short window: the one after it if the window begins at the
    /// pattern's anchor, the one before it if it begins after that.
    pub(super) neighbour: bool,
    /// The same for long windows, if there are only such and they have seven bytes: with either neighbour they are
    /// eight, the same ones. It takes 10 % less at 10,000 strings of `elf` and as long at 1,000, in the AVX2 form
    /// 12 and 16 % more, but seven bytes may be a run of zeros. Where there are short windows as well, long ones
    /// with two bits each in the filter take 10 to 25 % longer this way at 20 to 30,000 of `words`.
    pub(super) long_neighbour: bool,
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
        let up_to = match have {
            0..=SHORT => 0,
            ALL_LONG => LONG_STRIDE_UP_TO,
            _ if have > ALL_LONG => LONGER_STRIDE_UP_TO,
            _ => STRIDE_UP_TO,
        };
        let sparse = set.len() <= up_to;
        let stride = match opt.choice("stride", &["auto", "1", "2"])? {
            "2" if have > SHORT => 2,
            "2" if !set.is_empty() => return Err(Refusal::TooShort { min: SHORT + 1, have }),
            "auto" if sparse => 2,
            _ => 1,
        };
        let fold = if set.nocase_count() > 0 { 0x2020_2020_2020_2020 } else { 0 };
        // What every pattern has at `stride` offsets.
        let common = (have + 1).saturating_sub(stride);
        let short_window = common.clamp(SHORT, SHORT_UP_TO);
        let window = if common > SHORT_UP_TO { common.min(8) } else { 9 - stride };
        let mut shape = Shape {
            stride,
            short: 0,
            long: 0,
            short_window,
            window,
            neighbour: false,
            long_neighbour: stride == 2 && common == 7,
            fold,
            units: 0,
        };
        for pattern in set.iter() {
            shape.long += usize::from(shape.is_long(pattern.bytes.len()));
            shape.units += stride * lines::units(pattern.bytes.len());
        }
        shape.short = set.len() - shape.long;
        let useful = stride == 2 && short_window == SHORT && shape.short >= NEIGHBOUR_FROM;
        shape.neighbour = match opt.choice("neighbour", &["auto", "yes", "no"])? {
            "no" => false,
            "yes" => stride == 2 && short_window == SHORT && shape.short > 0,
            _ => useful,
        };
        Ok(shape)
    }

    pub(super) fn is_long(&self, len: usize) -> bool {
        len >= self.window + self.stride - 1
    }

    /// The bytes of a long window that count.
    pub(super) fn long_mask(&self) -> u64 {
        ones(self.window)
    }

    /// How many bytes of a pattern decide whether it passes, and at how many offsets.
    pub(super) fn seen(&self, long: bool) -> (usize, usize) {
        match long {
            true if self.long_neighbour => (self.window + 1, 1),
            true => (self.window, self.stride),
            false => (self.short_window, self.stride),
        }
    }

    /// Whether the byte before a position is looked at.
    pub(super) fn looks_back(&self) -> bool {
        self.neighbour || self.long_neighbour
    }

    /// The bytes of a short window that count.
    pub(super) fn short_mask(&self) -> u64 {
        ones(self.short_window)
    }

    /// The bytes of a hash that choose bits of the filter for short windows.
    pub(super) fn short_bytes(&self) -> u32 {
        match self.neighbour {
            _ if self.short == 0 => 0,
            true => hash::NEIGHBOUR_BYTES,
            false => hash::SHORT_BYTES,
        }
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
        4 * step + rest.min(7) - self.short_window - self.back()
    }

    /// For each class, the bytes of the text that count.
    pub(super) fn class_masks(&self) -> [u64; 8] {
        std::array::from_fn(|class| {
            let bytes = self.short_window + self.back() + class % 4;
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
