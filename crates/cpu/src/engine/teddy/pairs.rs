//! Pair tables: look-ups of two bytes at once, for more patterns than shuffles tell apart.
//!
//! A window has three pairs, of which some buckets test two. The entry of a pair has a bit for each
//! bucket with a window whose first pair it is, one for each bucket where it is a window's second
//! pair, and one for each where it is the third:
//!
//! ```text
//! buckets = first[h[i], h[i + 1]] & second[h[i + 2], h[i + 3]] & third[..]
//! ```
//!
//! Scalar loads or gathers look up the pairs, one for each position, and vectors combine the
//! entries. So a filter takes as long for a thousand patterns as for a hundred. The small table has
//! 32 KiB and leaves out the high three bits of the second byte. The large table has 64 KiB and
//! leaves out two.
//!
//! If all positions are tested, a window has four bytes, and its third pair is the middle one,
//! `h[i + 1], h[i + 2]`. It mostly rejects positions where the first pair is of one pattern and the
//! second of another one in the same bucket.
//!
//! If only even positions are tested, half the loads are enough. A window has six bytes, and its
//! third pair is the last. Each pattern has two windows, at an even and at an odd offset, so one is
//! at an even position wherever the pattern begins. A window may begin one byte before its pattern.
//! A window whose third pair lies beyond its pattern goes to a bucket that tests two pairs:
//! elsewhere it would accept every third pair.
//!
//! Source: FDR of Hyperscan (Wang et al., NSDI 2019), which looks up 9 to 15 bits at each position
//! and combines up to eight positions by shifts.

use super::filter_plan::{FORESEEN, TRIED, Window, rarest_window};
use super::grams::{RUNS, allowed};
use fyke_automata::model::PairModel;
use fyke_core::{Options, Pattern, PatternSet, Refusal};
use std::array::from_fn;

/// The maximum number of pairs of a window.
const MOST_PAIRS: usize = 3;

/// The maximum number of buckets.
const MOST_BUCKETS: usize = 12;

/// The maximum number of windows: the verification numbers its slots in 16 bits, eight or more per
/// window.
pub(super) const MOST_WINDOWS: usize = 4000;

/// All pairs of bytes.
const PAIRS: usize = 1 << 16;

/// Entries of the small and the large table.
pub(super) const SMALL: usize = 1 << 13;
pub(super) const LARGE: usize = 1 << 14;

/// Which table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    Small,
    Large,
}

impl Size {
    pub(super) fn entries(self) -> usize {
        match self {
            Size::Small => SMALL,
            Size::Large => LARGE,
        }
    }
}

/// Which positions of a block are tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Positions {
    All,
    Even,
}

impl Positions {
    /// From one position to the next.
    pub(super) const fn step(self) -> usize {
        match self {
            Positions::All => 1,
            Positions::Even => 2,
        }
    }
}

/// What the bits of an entry mean: those of the first pair of each bucket come first, then those of
/// the second, then those of the third.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) positions: Positions,
    /// Where the pairs of a window begin.
    pub(super) offsets: [usize; MOST_PAIRS],
    /// Buckets that test two pairs.
    pub(super) of_two: usize,
    /// Buckets that test three.
    of_three: usize,
}

impl Layout {
    pub(super) const fn of(positions: Positions) -> Layout {
        match positions {
            Positions::All => Layout { positions, offsets: [0, 2, 1], of_two: 0, of_three: 10 },
            Positions::Even => Layout { positions, offsets: [0, 2, 4], of_two: 4, of_three: 8 },
        }
    }

    const fn buckets(self) -> usize {
        self.of_two + self.of_three
    }

    /// Bytes of a window.
    pub(super) const fn window(self) -> usize {
        let [_, second, third] = self.offsets;
        2 + if second > third { second } else { third }
    }

    /// From the bit of the first pair of a bucket to that of its second and of its third pair.
    pub(super) const fn shifts(self) -> [u32; MOST_PAIRS] {
        let buckets = self.buckets() as u32;
        [0, buckets, 2 * buckets - self.of_two as u32]
    }

    /// The bit of a pair of a bucket. `None` if the bucket has no such pair.
    fn bit(self, bucket: usize, pair: usize) -> Option<u32> {
        (pair < 2 || bucket >= self.of_two).then(|| 1 << (bucket as u32 + self.shifts()[pair]))
    }

    /// The buckets for a window, whose third pair may lie beyond its pattern.
    fn fitting(self, has_third: bool) -> usize {
        if has_third || self.of_two == 0 { self.buckets() } else { self.of_two }
    }

    /// How often a bucket passes, if its pairs occur this often. Pairs that share no byte are taken
    /// as independent. The middle pair is left out: its bytes are those of the others.
    fn pass(self, taken: &[f32; MOST_PAIRS]) -> f32 {
        let [first, second, third] = taken;
        match self.positions {
            Positions::All => first * second,
            Positions::Even => first * second * third,
        }
    }

    /// How often a bucket is expected to pass. In data, pairs depend on each other: after the first
    /// pair, the others occur more often than elsewhere, but at most always. For rules and words,
    /// the square root of the middle pair's share is closest to the measured candidates.
    fn expected(self, taken: &[f32; MOST_PAIRS]) -> f32 {
        let [first, second, third] = taken;
        let others = match self.positions {
            Positions::All => second * third.sqrt(),
            Positions::Even => second * third,
        };
        first * (others / FORESEEN).min(1.0)
    }
}

const _: () = {
    let (all, even) = (Layout::of(Positions::All), Layout::of(Positions::Even));
    assert!(3 * all.buckets() <= 32, "an entry of four bytes");
    assert!(2 * even.buckets() + even.of_three <= 32, "an entry of four bytes");
    assert!(all.buckets() <= MOST_BUCKETS && even.buckets() <= MOST_BUCKETS);
};

/// A filter of pair tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PairShape {
    pub(super) size: Size,
    pub(super) positions: Positions,
}

impl PairShape {
    const fn new(size: Size, positions: Positions) -> PairShape {
        PairShape { size, positions }
    }

    /// All, cheapest first if no position passes.
    pub(super) const ALL: [PairShape; 4] = [
        PairShape::new(Size::Small, Positions::Even),
        PairShape::new(Size::Large, Positions::Even),
        PairShape::new(Size::Small, Positions::All),
        PairShape::new(Size::Large, Positions::All),
    ];

    /// The filter that the option `pairs` names.
    ///
    /// # Errors
    /// It names none.
    pub(super) fn forced(opt: &Options) -> Result<Option<PairShape>, Refusal> {
        let names = ["auto", "small", "large", "small-even", "large-even"];
        Ok(Some(match opt.choice("pairs", &names)? {
            "small" => PairShape::new(Size::Small, Positions::All),
            "large" => PairShape::new(Size::Large, Positions::All),
            "small-even" => PairShape::new(Size::Small, Positions::Even),
            "large-even" => PairShape::new(Size::Large, Positions::Even),
            _ => return Ok(None),
        }))
    }

    /// Bytes of the table.
    pub(super) fn memory(self) -> usize {
        size_of::<u32>() * self.size.entries()
    }

    /// The maximum number of patterns. With even positions, each has two windows.
    pub(super) fn most_patterns(self) -> usize {
        MOST_WINDOWS / self.positions.step()
    }
}

/// The entries of pairs.
pub(super) enum PairTable {
    Small(Box<[u32; SMALL]>, Positions),
    Large(Box<[u32; LARGE]>, Positions),
}

impl PairTable {
    pub(super) fn new(set: &PatternSet, shape: PairShape, windows: &[Window]) -> PairTable {
        let PairShape { size, positions } = shape;
        let layout = Layout::of(positions);
        let mut entries = vec![0; size.entries()];
        for w in windows {
            let pairs = pairs(&set.get(w.pattern), w.offset, shape);
            add(&mut entries, layout, usize::from(w.bucket), &pairs);
        }
        match size {
            Size::Small => PairTable::Small(boxed(entries), positions),
            Size::Large => PairTable::Large(boxed(entries), positions),
        }
    }

    pub(super) fn shape(&self) -> PairShape {
        match self {
            PairTable::Small(_, positions) => PairShape::new(Size::Small, *positions),
            PairTable::Large(_, positions) => PairShape::new(Size::Large, *positions),
        }
    }
}

fn boxed<const N: usize>(entries: Vec<u32>) -> Box<[u32; N]> {
    entries.into_boxed_slice().try_into().expect("a table of this size")
}

/// The index of a pair in a table of `entries`.
#[inline(always)]
pub(super) fn index(pair: [u8; 2], entries: usize) -> usize {
    usize::from(u16::from_le_bytes(pair)) % entries
}

/// The indices that a pattern accepts for each pair of its window; `None` if it accepts all.
type Accepted = [Option<Vec<u16>>; MOST_PAIRS];

fn pairs(pattern: &Pattern<'_>, window: i16, shape: PairShape) -> Accepted {
    let allowed = |at: i16| {
        let at = usize::try_from(at).ok().filter(|&at| at < pattern.bytes.len())?;
        Some(allowed(pattern, at))
    };
    Layout::of(shape.positions).offsets.map(|from| {
        let at = window + from as i16;
        let [first, second] = [allowed(at), allowed(at + 1)];
        if first.is_none() && second.is_none() {
            return None;
        }
        // The index has the first byte, and the low bits of the second one: see `index`.
        let (low, high) = (part(first, 256), part(second, shape.size.entries() >> 8));
        Some(high.flat_map(|high| low.clone().map(move |low| high << 8 | low)).collect())
    })
}

/// The values of one byte's part of an index: the low bits of each allowed byte, or all numbers
/// below `count`.
fn part(allowed: Option<[u8; 2]>, count: usize) -> impl Iterator<Item = u16> + Clone {
    let count = count as u16;
    let Some(bytes) = allowed else { return (0..count).chain(None) };
    let [one, other] = bytes.map(|byte| u16::from(byte) % count);
    (one..one + 1).chain((other != one).then_some(other))
}

/// Adds the pairs of a window to a bucket.
fn add(entries: &mut [u32], layout: Layout, bucket: usize, pairs: &Accepted) {
    for (pair, accepted) in pairs.iter().enumerate() {
        let Some(bit) = layout.bit(bucket, pair) else { continue };
        match accepted {
            Some(accepted) => accepted.iter().for_each(|&e| entries[usize::from(e)] |= bit),
            None => entries.iter_mut().for_each(|e| *e |= bit),
        }
    }
}

/// The windows of the patterns with their buckets, and the expected share of positions that pass.
pub(super) fn divide(
    patterns: &[Pattern<'_>],
    model: &PairModel,
    is_general: bool,
    shape: PairShape,
) -> (Vec<Window>, f32) {
    let len = Layout::of(shape.positions).window();
    let windows = |p: &Pattern<'_>| match shape.positions {
        Positions::All => vec![rarest_window(p.bytes, len, model) as i16],
        Positions::Even => two_windows(p.bytes, len, model).into(),
    };
    let mut rarest: Vec<(&Pattern<'_>, i16)> =
        patterns.iter().flat_map(|p| windows(p).into_iter().map(move |at| (p, at))).collect();
    // Shorter windows first, then bytewise.
    rarest.sort_by_cached_key(|&(p, at)| {
        let bytes = inside(p.bytes, at, len);
        let number = bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
        (bytes.len(), number)
    });
    let mut buckets = Buckets::new(model, shape);
    let windows = rarest.iter().map(|&(pattern, at)| Window {
        pattern: pattern.index,
        offset: at,
        bucket: buckets.place(&pairs(pattern, at, shape)),
    });
    let windows = windows.collect();
    (windows, buckets.expected(is_general) / shape.positions.step() as f32)
}

/// The bytes of a pattern that are in a window.
fn inside(pattern: &[u8], window: i16, len: usize) -> &[u8] {
    let end = pattern.len().min((window + len as i16) as usize);
    &pattern[window.max(0) as usize..end]
}

/// The rarest window that begins at an even offset of a pattern, and the rarest at an odd one. They
/// may reach beyond the pattern.
fn two_windows(pattern: &[u8], len: usize, model: &PairModel) -> [i16; 2] {
    [0, -1].map(|first| {
        let offsets = (first..pattern.len().min(TRIED) as i16).step_by(2);
        let bits = offsets.map(|at| (at, model.bits(inside(pattern, at, len))));
        bits.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))).map_or(first, |(at, _)| at)
    })
}

/// The buckets while windows are added.
struct Buckets<'a> {
    model: &'a PairModel,
    layout: Layout,
    /// How often the pairs of each entry occur: negative if not computed yet.
    shares: Vec<f32>,
    /// The entries so far.
    entries: Vec<u32>,
    /// How often each pair of a position is in each bucket.
    taken: [[f32; MOST_PAIRS]; MOST_BUCKETS],
}

impl<'a> Buckets<'a> {
    fn new(model: &'a PairModel, shape: PairShape) -> Buckets<'a> {
        let (entries, layout) = (shape.size.entries(), Layout::of(shape.positions));
        let mut taken = [[0.0; MOST_PAIRS]; MOST_BUCKETS];
        // A bucket that tests two pairs accepts any third one.
        taken.iter_mut().take(layout.of_two).for_each(|pairs| pairs[2] = 1.0);
        Buckets { model, layout, shares: vec![-1.0; entries], entries: vec![0; entries], taken }
    }

    /// Adds a window to the bucket where it lets the fewest positions pass.
    fn place(&mut self, pairs: &Accepted) -> u8 {
        let (layout, buckets) = (self.layout, self.layout.fitting(pairs[2].is_some()));
        let grown: [[f32; MOST_BUCKETS]; MOST_PAIRS] = from_fn(|pair| match &pairs[pair] {
            Some(accepted) => self.grown(accepted, pair),
            None => [1.0; MOST_BUCKETS],
        });
        let with = |bucket: usize| from_fn(|pair| grown[pair][bucket]);
        let cost = |bucket: usize| layout.pass(&with(bucket)) - layout.pass(&self.taken[bucket]);
        let best = (0..buckets).min_by(|&a, &b| cost(a).total_cmp(&cost(b))).unwrap_or(0);
        self.taken[best] = with(best);
        add(&mut self.entries, self.layout, best, pairs);
        best as u8
    }

    /// For each bucket, the share of positions whose pair `pair` is in it, once it accepts these
    /// pairs, too.
    fn grown(&mut self, accepted: &[u16], pair: usize) -> [f32; MOST_BUCKETS] {
        let mut sums: [f32; MOST_BUCKETS] = from_fn(|bucket| self.taken[bucket][pair]);
        for &entry in accepted {
            let share = self.share(entry);
            let lacking = !self.entries[usize::from(entry)] >> self.layout.shifts()[pair];
            for (bucket, sum) in sums.iter_mut().enumerate() {
                *sum += if lacking >> bucket & 1 != 0 { share } else { 0.0 };
            }
        }
        // A bucket that has no such pair accepts all: its sum began at 1.
        sums.map(|sum| sum.min(1.0))
    }

    /// How often the pairs of an entry occur.
    fn share(&mut self, entry: u16) -> f32 {
        let at = usize::from(entry);
        if self.shares[at] < 0.0 {
            let pairs = (at..PAIRS).step_by(self.entries.len());
            let pairs = pairs.map(|pair| self.model.probability(&(pair as u16).to_le_bytes()));
            self.shares[at] = pairs.sum();
        }
        self.shares[at]
    }

    /// The expected share of the tested positions that pass. Runs of one byte are added: there the
    /// pairs are not independent.
    fn expected(&self, is_general: bool) -> f32 {
        let layout = self.layout;
        let taken: f32 =
            self.taken[..layout.buckets()].iter().map(|taken| layout.expected(taken)).sum();
        let runs = RUNS.iter().filter(|(byte, _)| {
            let entry = self.entries[index([*byte; 2], self.entries.len())];
            let accepts = |bucket| {
                (0..MOST_PAIRS)
                    .all(|pair| layout.bit(bucket, pair).is_none_or(|bit| entry & bit != 0))
            };
            is_general && (0..layout.buckets()).any(accepts)
        });
        taken + runs.map(|(_, share)| share / FORESEEN).sum::<f32>()
    }
}
