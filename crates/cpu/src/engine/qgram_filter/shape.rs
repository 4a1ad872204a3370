//! What windows a set is known by, and what its tables take.

use super::{forecast, lines};
use crate::simd::Isa;
use fyke_automata::model::PairModel;
use fyke_core::{Options, PatternSet, Refusal};

/// Bytes that every pattern has to have.
pub(super) const MIN_PATTERN: usize = 4;

/// Bytes of the shortest window, at a stride of 2, and of the shortest otherwise.
pub(super) const SHORTEST: usize = 3;
pub(super) const SHORT: usize = 4;

/// The longest stride.
pub(super) const MAX_STRIDE: usize = 4;

/// The stride at which windows are joined. At 4 it was slower than one of the others for all sets but one of `rules`, where
/// it was 3 % faster: by five bytes some words of the filter are looked up too often, in programs 5 % of positions pass.
pub(super) const JOINED_STRIDE: usize = 2;

/// Positions in a tile are counted from so many bytes before it: there may be the anchor of a window in it.
pub(super) const BEFORE: usize = JOINED_STRIDE - 1;

/// Most bytes of a short window. Seven are a long one.
const SHORT_UP_TO: usize = 6;

/// Most bytes of a long one.
const LONG_UP_TO: usize = 8;

/// Patterns of fewer bytes than this leave no window for the longest stride.
const MIN_FAR: usize = SHORT + MAX_STRIDE - 1;

/// Up to this many patterns a stride above 1 is considered: it takes as many windows of each pattern. At 84,000 strings
/// of nine bytes and more of programs, 1 and 2 are equal.
const STRIDES_UP_TO: usize = 100_000;

/// Words of the filter: at least 32 KiB, where a gather is as fast as it gets, at most 4 MiB (not swept).
const FILTER_WORDS: std::ops::RangeInclusive<usize> = 1 << 13..=1 << 20;

/// Bits of the filter for each window. Half or twice as many make no difference above 5 % at 10,000 and 99,175 `words`,
/// 10,000 strings of `elf` and the rules of `et-min4`, but for 8 % more with half at 10,000 words.
const FILTER_BITS: usize = 40;

/// What windows there are and where they are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Every `stride`-th position is looked at, and the filter knows each pattern by so many windows.
    pub(super) stride: usize,
    /// Patterns with short windows.
    pub(super) short: usize,
    /// Patterns with long ones.
    pub(super) long: usize,
    /// Bytes of a short window.
    pub(super) short_window: usize,
    /// Bytes of a long window.
    pub(super) window: usize,
    /// Whether the long windows of a pattern are joined to a gram, as short ones always are: see the module. Only where
    /// there are no short ones.
    pub(super) joined: bool,
    /// 0x20 in each byte if windows are folded. Coarser than ASCII folding; the patterns are compared later.
    pub(super) fold: u64,
    /// Units of memory for a record of each short pattern, and of each long one.
    units: [usize; 2],
}

impl Shape {
    /// The shape that is expected to cost least, of those that the options allow.
    pub(super) fn new(set: &PatternSet, opt: &Options, model: &PairModel) -> Result<Self, Refusal> {
        let (have, min) = (set.min_len(), MIN_PATTERN);
        if have < min && !set.is_empty() {
            return Err(Refusal::TooShort { min, have });
        }
        let isa = Isa::choose(opt, &Isa::ALL)?;
        let strides: &[usize] = match opt.choice("stride", &["auto", "1", "2", "4"])? {
            "1" => &[1],
            "2" => &[2],
            "4" if have < MIN_FAR && !set.is_empty() => {
                return Err(Refusal::TooShort { min: MIN_FAR, have });
            }
            "4" => &[4],
            _ if set.len() > STRIDES_UP_TO => &[1],
            _ if have < MIN_FAR => &[1, 2],
            _ => &[1, 2, 4],
        };
        let joined: &[bool] = match opt.choice("joined", &["auto", "yes", "no"])? {
            "yes" => &[true],
            "no" => &[false],
            _ => &[false, true],
        };
        let mut shapes = Vec::new();
        for &stride in strides {
            let each = joined.iter().map(|&joined| Shape::of(set, stride, joined));
            shapes.extend(each);
        }
        shapes.dedup();
        let first = shapes[0];
        shapes.retain(|shape| opt.check_memory(shape.peak()).is_ok());
        if shapes.len() < 2 {
            return Ok(shapes.pop().unwrap_or(first));
        }
        let costs = shapes.iter().map(|shape| forecast::cost(set, shape, model, isa).ns);
        let least = costs.zip(&shapes).min_by(|a, b| a.0.total_cmp(&b.0));
        Ok(least.map_or(first, |(_, shape)| *shape))
    }

    /// The longest windows that all patterns have at `stride` offsets.
    fn of(set: &PatternSet, stride: usize, joined: bool) -> Self {
        let common = (set.min_len() + 1).saturating_sub(stride);
        let all_long = stride == MAX_STRIDE || common > SHORT_UP_TO;
        let joined = joined && stride == JOINED_STRIDE && common > SHORT_UP_TO;
        let most = if joined { LONG_UP_TO + 1 - stride } else { LONG_UP_TO };
        let mut shape = Shape {
            stride,
            short: 0,
            long: 0,
            short_window: common.clamp(SHORTEST, SHORT_UP_TO),
            window: if all_long { common.min(most) } else { LONG_UP_TO + 1 - stride },
            joined,
            fold: if set.nocase_count() > 0 { 0x2020_2020_2020_2020 } else { 0 },
            units: [0; 2],
        };
        for pattern in set.iter() {
            let long = shape.is_long(pattern.bytes.len());
            shape.long += usize::from(long);
            shape.units[usize::from(long)] += lines::units(pattern.bytes.len());
        }
        shape.short = set.len() - shape.long;
        shape
    }

    pub(super) fn is_long(&self, len: usize) -> bool {
        len >= self.window + self.stride - 1
    }

    /// By how many bytes of a pattern its lines and records are found, and at how many offsets.
    pub(super) fn seen(&self, long: bool) -> (usize, usize) {
        match long {
            true if !self.joined => (self.window, self.stride),
            true => (self.window + self.stride - 1, 1),
            false => (self.short_window + self.stride - 1, 1),
        }
    }

    /// Bytes of a window that choose the word of the filter.
    pub(super) fn chosen_by(&self) -> usize {
        if self.short > 0 { self.short_window } else { self.window }
    }

    /// Bytes of the windows that are joined to a gram.
    pub(super) fn gram(&self) -> usize {
        self.seen(self.short == 0).0
    }

    /// Whether bytes before a position are looked at.
    pub(super) fn looks_back(&self) -> bool {
        self.stride > 1 && (self.joined || self.short > 0)
    }

    /// The class of a short pattern: how many of its bytes from the anchor on its fingerprint is of.
    pub(super) fn class(&self, rest: usize) -> usize {
        let (gram, _) = self.seen(false);
        rest.min(gram + CLASSES - 1).min(8) - gram
    }

    /// For each class, the bytes of the text that count.
    pub(super) fn class_masks(&self) -> [u64; 8] {
        let (gram, _) = self.seen(false);
        std::array::from_fn(|class| if class < CLASSES { ones((gram + class).min(8)) } else { 0 })
    }

    fn patterns(&self, long: bool) -> usize {
        if long { self.long } else { self.short }
    }

    /// Keys of the lines of one kind.
    pub(super) fn keys(&self, long: bool) -> usize {
        self.patterns(long) * self.seen(long).1
    }

    /// Windows that the filter knows.
    pub(super) fn windows(&self) -> usize {
        (self.short + self.long) * self.stride
    }

    pub(super) fn filter_words(&self) -> usize {
        let wanted = (self.windows() * FILTER_BITS / 32).next_power_of_two();
        wanted.clamp(*FILTER_WORDS.start(), *FILTER_WORDS.end())
    }

    /// Units of memory for all records.
    pub(super) fn units(&self) -> usize {
        let kind = |long: bool| self.units[usize::from(long)] * self.seen(long).1;
        kind(false) + kind(true)
    }

    /// Bytes of memory that the tables take.
    pub(super) fn memory(&self) -> u64 {
        let tables = lines::memory(self.keys(false)) + lines::memory(self.keys(true));
        4 * self.filter_words() as u64 + tables + (lines::UNIT * self.units()) as u64
    }

    /// Bytes of memory that are needed while they are built.
    pub(super) fn peak(&self) -> u64 {
        let anchors = self.short + self.long;
        self.memory() + lines::scratch(self.keys(false).max(self.keys(true))) + anchors as u64
    }
}

/// Classes of short patterns around the same gram.
const CLASSES: usize = 4;

/// A mask of so many bytes.
pub(super) fn ones(bytes: usize) -> u64 {
    u64::MAX >> (64 - 8 * bytes)
}
