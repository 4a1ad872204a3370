//! The shape of a set's windows, and the size of its tables.

use super::buckets;
use super::forecast::{self, Form};
use fyke_automata::model::PairModel;
use fyke_core::{Options, PatternSet, Refusal};

/// Least length of a pattern.
pub(super) const MIN_PATTERN: usize = 4;

/// Bytes of the shortest window at a stride of 2, and of the shortest at other strides.
pub(super) const SHORTEST: usize = 3;
pub(super) const SHORT: usize = 4;

/// The longest stride.
pub(super) const MAX_STRIDE: usize = 4;

/// The stride with joined windows. Joined windows at a stride of 4 would have five bytes, which are
/// too frequent: other shapes are faster for all sets of `rules` but one.
pub(super) const JOINED_STRIDE: usize = 2;

/// Tile positions are counted from this many bytes before the tile: the anchor of a window in the
/// tile may lie there.
pub(super) const BEFORE: usize = JOINED_STRIDE - 1;

/// The maximum number of bytes of a short window. Seven make a long one.
const SHORT_UP_TO: usize = 6;

/// The maximum number of bytes of a long window.
const LONG_UP_TO: usize = 8;

/// Least length of a pattern for the longest stride.
const MIN_FAR: usize = SHORT + MAX_STRIDE - 1;

/// The maximum number of patterns for a stride above 1, which multiplies the windows of each
/// pattern. Below it, strides of 1 and 2 become equal (`elf`).
const STRIDES_UP_TO: usize = 100_000;

/// Words of the filter: at least 32 KiB, where gathers reach full speed, and at most 4 MiB. The
/// upper limit is a guess: `count/1000000` would show it.
const FILTER_WORDS: std::ops::RangeInclusive<usize> = 1 << 13..=1 << 20;

/// Filter bits per window. Swept by `words/10000`, `words/99175`, `elf/10000` and `rules/et-min4`:
/// nearly flat from half to twice as many.
const FILTER_BITS: usize = 40;

/// Which windows a set has and where the filter looks for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WindowShape {
    /// The filter looks at every `stride`-th position and holds `stride` windows of each pattern.
    pub(super) stride: usize,
    /// Patterns with short windows.
    pub(super) short: usize,
    /// Patterns with long windows.
    pub(super) long: usize,
    /// Bytes of a short window.
    pub(super) short_window: usize,
    /// Bytes of a long window.
    pub(super) window: usize,
    /// Whether a pattern's long windows are joined to a gram (see the module head). Short windows
    /// always are, and if there are any, this is false.
    pub(super) joined: bool,
    /// 0x20 in each byte if windows are folded: see [`WindowShape::folded`].
    pub(super) fold: u64,
    /// Units for a record of each short pattern, and of each long one.
    units: [usize; 2],
}

impl WindowShape {
    /// The shape with the lowest expected cost among those that the options allow.
    pub(super) fn new(
        set: &PatternSet,
        opt: &Options,
        model: &PairModel,
        form: &Form,
    ) -> Result<Self, Refusal> {
        let (have, min) = (set.min_len(), MIN_PATTERN);
        if have < min && !set.is_empty() {
            return Err(Refusal::TooShort { min, have });
        }
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
            let each = joined.iter().map(|&joined| WindowShape::of(set, stride, joined));
            shapes.extend(each);
        }
        shapes.dedup();
        let first = shapes[0];
        shapes.retain(|shape| opt.check_memory(shape.peak()).is_ok());
        if shapes.len() < 2 {
            return Ok(shapes.pop().unwrap_or(first));
        }
        let costs = shapes.iter().map(|shape| forecast::cost(set, shape, model, form).ns);
        let least = costs.zip(&shapes).min_by(|a, b| a.0.total_cmp(&b.0));
        Ok(least.map_or(first, |(_, shape)| *shape))
    }

    /// The shape of saved tables in which `short` patterns have short windows. `None` if the set
    /// has no such shape.
    pub(super) fn restored(
        set: &PatternSet,
        stride: usize,
        joined: bool,
        short: usize,
    ) -> Option<Self> {
        let least = if stride == MAX_STRIDE { MIN_FAR } else { MIN_PATTERN };
        let fits = [1, JOINED_STRIDE, MAX_STRIDE].contains(&stride)
            && (set.min_len() >= least || set.is_empty())
            && short <= set.len();
        let mut shape = fits.then(|| WindowShape::bare(set, stride, joined))?;
        (shape.short, shape.long) = (short, set.len() - short);
        let kinds = (short > 0) == (!set.is_empty() && !shape.is_long(set.min_len()))
            && (shape.long > 0) == (!set.is_empty() && shape.is_long(set.max_len()));
        (kinds && shape.joined == joined).then_some(shape)
    }

    /// The shape with the longest windows that all patterns have at `stride` consecutive offsets.
    fn of(set: &PatternSet, stride: usize, joined: bool) -> Self {
        let mut shape = WindowShape::bare(set, stride, joined);
        for pattern in set.iter() {
            let long = shape.is_long(pattern.bytes.len());
            shape.long += usize::from(long);
            shape.units[usize::from(long)] += buckets::units(pattern.bytes.len());
        }
        shape.short = set.len() - shape.long;
        shape
    }

    /// The shape of a set without the counts of its patterns and units.
    fn bare(set: &PatternSet, stride: usize, joined: bool) -> Self {
        let common = (set.min_len() + 1).saturating_sub(stride);
        let all_long = stride == MAX_STRIDE || common > SHORT_UP_TO;
        let joined = joined && stride == JOINED_STRIDE && common > SHORT_UP_TO;
        let most = if joined { LONG_UP_TO + 1 - stride } else { LONG_UP_TO };
        WindowShape {
            stride,
            short: 0,
            long: 0,
            short_window: common.clamp(SHORTEST, SHORT_UP_TO),
            window: if all_long { common.min(most) } else { LONG_UP_TO + 1 - stride },
            joined,
            fold: if set.nocase_count() > 0 { 0x2020_2020_2020_2020 } else { 0 },
            units: [0; 2],
        }
    }

    pub(super) fn is_long(&self, len: usize) -> bool {
        len >= self.window + self.stride - 1
    }

    /// How many bytes of a pattern lead to its bucket and records, and at how many offsets.
    pub(super) fn seen(&self, long: bool) -> (usize, usize) {
        match long {
            true if !self.joined => (self.window, self.stride),
            true => (self.window + self.stride - 1, 1),
            false => (self.short_window + self.stride - 1, 1),
        }
    }

    /// Bytes of a window that choose the filter word.
    pub(super) fn chosen_by(&self) -> usize {
        if self.short > 0 { self.short_window } else { self.window }
    }

    /// Bytes as the filter and the buckets see them: in lower case if windows are folded. Some
    /// bytes beside the letters are folded, too; patterns are compared exactly. Zeros and spaces,
    /// which data have runs of, stay different.
    #[inline(always)]
    pub(super) fn folded(&self, word: u64) -> u64 {
        word | word >> 1 & self.fold
    }

    /// Bytes of a gram.
    pub(super) fn gram(&self) -> usize {
        self.seen(self.short == 0).0
    }

    /// Whether stage 1 reads bytes before a position.
    pub(super) fn looks_back(&self) -> bool {
        self.stride > 1 && (self.joined || self.short > 0)
    }

    /// The class of a short pattern: how many of its bytes from the anchor on its fingerprint
    /// covers.
    pub(super) fn class(&self, rest: usize) -> usize {
        let (gram, _) = self.seen(false);
        rest.min(gram + CLASSES - 1).min(8) - gram
    }

    /// For each class, the mask of the bytes that its fingerprint covers.
    pub(super) fn class_masks(&self) -> [u64; 8] {
        let (gram, _) = self.seen(false);
        std::array::from_fn(|class| if class < CLASSES { ones((gram + class).min(8)) } else { 0 })
    }

    fn patterns(&self, long: bool) -> usize {
        if long { self.long } else { self.short }
    }

    /// Keys of one kind.
    pub(super) fn keys(&self, long: bool) -> usize {
        self.patterns(long) * self.seen(long).1
    }

    /// Windows in the filter.
    pub(super) fn windows(&self) -> usize {
        (self.short + self.long) * self.stride
    }

    pub(super) fn filter_words(&self) -> usize {
        let wanted = (self.windows() * FILTER_BITS / 32).next_power_of_two();
        wanted.clamp(*FILTER_WORDS.start(), *FILTER_WORDS.end())
    }

    /// Units for all records.
    pub(super) fn units(&self) -> usize {
        let kind = |long: bool| self.units[usize::from(long)] * self.seen(long).1;
        kind(false) + kind(true)
    }

    /// Bytes of memory for the tables.
    pub(super) fn memory(&self) -> u64 {
        let tables = buckets::memory(self.keys(false)) + buckets::memory(self.keys(true));
        4 * self.filter_words() as u64 + tables + (buckets::UNIT * self.units()) as u64
    }

    /// Peak bytes of memory while the tables are built.
    pub(super) fn peak(&self) -> u64 {
        let anchors = self.short + self.long;
        self.memory() + buckets::scratch(self.keys(false).max(self.keys(true))) + anchors as u64
    }
}

/// Classes of short patterns around the same gram.
const CLASSES: usize = 4;

/// A mask of the low `bytes` bytes.
pub(super) fn ones(bytes: usize) -> u64 {
    u64::MAX >> (64 - 8 * bytes)
}
