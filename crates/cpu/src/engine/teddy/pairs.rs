//! Pair tables: look-ups of two bytes at once, for more patterns than shuffles tell apart.
//!
//! A window has four bytes, which are two pairs. There are four buckets. The entry of a pair has
//! four bits for the buckets in which a window begins with it, and four for the buckets in which a
//! window ends with it:
//!
//! ```text
//! buckets = low[h[i], h[i + 1]] & high[h[i + 2], h[i + 3]]
//! ```
//!
//! Scalar loads look up the pairs, one for each position, and vectors combine the entries. So a
//! filter takes as long for a thousand patterns as for a hundred. The small table leaves out the
//! high three bits of the second byte and fits in the L1 cache. The large table has an entry for
//! each pair, so that patterns of two bytes are told apart.
//!
//! If only even positions are tested, half the loads are enough. Each pattern then has two windows,
//! at an even and at an odd offset, so one of them is at an even position wherever the pattern
//! begins. The table accepts about twice as many pairs, so more positions pass. In a pattern of up
//! to four bytes, the window at an odd offset may begin one byte before the pattern.
//!
//! Source: FDR of Hyperscan (Wang et al., NSDI 2019), which looks up 9 to 15 bits at each position
//! and combines up to eight positions by shifts.

use super::grams::{RUNS, allowed};
use super::plan::{TRIED, Window, rarest_window};
use fyke_automata::model::PairModel;
use fyke_core::{Options, Pattern, PatternSet, Refusal};

/// Bytes of a window.
pub(super) const PAIRED: usize = 4;

/// Buckets. Eight would need entries of two bytes, and rule sets have no fewer candidates then.
const BUCKETS: usize = 4;

/// The maximum number of windows: the verification numbers its slots in 16 bits, eight or more per
/// window.
pub(super) const MOST_WINDOWS: usize = 4000;

/// Entries of the small and the large table.
pub(super) const SMALL: usize = 1 << 13;
pub(super) const LARGE: usize = 1 << 16;

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
    pub(super) fn step(self) -> usize {
        match self {
            Positions::All => 1,
            Positions::Even => 2,
        }
    }
}

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

    /// The maximum number of patterns. With even positions, each has two windows.
    pub(super) fn most_patterns(self) -> usize {
        MOST_WINDOWS / self.positions.step()
    }
}

/// The entries of pairs.
pub(super) enum PairTable {
    Small(Box<[u8; SMALL]>),
    Large(Box<[u8; LARGE]>),
}

impl PairTable {
    pub(super) fn new(set: &PatternSet, size: Size, windows: &[Window]) -> PairTable {
        let mut table = match size {
            Size::Small => PairTable::Small(Box::new([0; SMALL])),
            Size::Large => PairTable::Large(Box::new([0; LARGE])),
        };
        let entries: &mut [u8] = match &mut table {
            PairTable::Small(entries) => &mut entries[..],
            PairTable::Large(entries) => &mut entries[..],
        };
        for w in windows {
            let halves = halves(&set.get(w.pattern), w.offset, size);
            for (half, bit) in halves.iter().zip([1 << w.bucket, 1 << (BUCKETS as u8 + w.bucket)]) {
                match half {
                    Some(half) => half.iter().for_each(|&e| entries[usize::from(e)] |= bit),
                    None => entries.iter_mut().for_each(|e| *e |= bit),
                }
            }
        }
        table
    }

    pub(super) fn memory(&self) -> u64 {
        match self {
            PairTable::Small(entries) => size_of_val(&**entries) as u64,
            PairTable::Large(entries) => size_of_val(&**entries) as u64,
        }
    }
}

/// The index of a pair in a table of `entries`.
#[inline(always)]
pub(super) fn index(pair: [u8; 2], entries: usize) -> usize {
    usize::from(u16::from_le_bytes(pair)) % entries
}

/// The indices of the pairs that a pattern accepts in each half of its window, in order; `None` if
/// it accepts all.
fn halves(pattern: &Pattern<'_>, window: i16, size: Size) -> [Option<Vec<u16>>; 2] {
    let allowed = |at: i16| {
        let at = usize::try_from(at).ok().filter(|&at| at < pattern.bytes.len())?;
        Some(allowed(pattern, at).to_vec())
    };
    let all = || (0..=u8::MAX).collect();
    [window, window + 2].map(|at| {
        let [firsts, seconds] = match [allowed(at), allowed(at + 1)] {
            [None, None] => return None,
            either => either.map(|bytes| bytes.unwrap_or_else(all)),
        };
        let pair = |first: u8| {
            let index = move |&second: &u8| index([first, second], size.entries()) as u16;
            seconds.iter().map(index)
        };
        let mut all: Vec<u16> = firsts.into_iter().flat_map(pair).collect();
        all.sort_unstable();
        all.dedup();
        Some(all)
    })
}

/// The windows of the patterns with their buckets, and the expected share of positions that pass.
pub(super) fn divide(
    patterns: &[Pattern<'_>],
    model: &PairModel,
    is_general: bool,
    PairShape { size, positions }: PairShape,
) -> (Vec<Window>, f32) {
    let windows = |p: &Pattern<'_>| match positions {
        Positions::All => vec![rarest_window(p.bytes, PAIRED, model) as i16],
        Positions::Even => two_windows(p.bytes, model).into(),
    };
    let mut rarest: Vec<(&Pattern<'_>, i16)> =
        patterns.iter().flat_map(|p| windows(p).into_iter().map(move |at| (p, at))).collect();
    let bytes = |&(p, at): &(&Pattern<'_>, i16)| {
        let bytes = inside(p, at);
        (bytes.len(), bytes.to_vec())
    };
    rarest.sort_by_cached_key(bytes);
    let mut buckets = Buckets::new(model, size);
    let windows = rarest.iter().map(|&(pattern, at)| Window {
        pattern: pattern.index,
        offset: at,
        bucket: buckets.add(&halves(pattern, at, size)),
    });
    let windows = windows.collect();
    (windows, buckets.pass(is_general) / positions.step() as f32)
}

/// The bytes of a pattern that are in a window.
fn inside<'a>(pattern: &Pattern<'a>, window: i16) -> &'a [u8] {
    let end = pattern.bytes.len().min((window + PAIRED as i16) as usize);
    &pattern.bytes[window.max(0) as usize..end]
}

/// The rarest window that begins at an even offset of a pattern, and the rarest at an odd one.
fn two_windows(pattern: &[u8], model: &PairModel) -> [i16; 2] {
    match *pattern {
        [_, ref last @ ..] if last.len() >= PAIRED => [0, 1].map(|odd| {
            let windows = pattern.windows(PAIRED).take(TRIED).map(|w| model.bits(w));
            let same = windows.enumerate().skip(odd).step_by(2);
            let rarest = same.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
            rarest.map_or(0, |(at, _)| at as i16)
        }),
        // Either window has three bytes of the pattern.
        [ref first @ .., _] if first.len() == 3 => {
            [0, if model.bits(&pattern[1..]) > model.bits(first) { 1 } else { -1 }]
        }
        _ => [0, -1],
    }
}

/// The buckets while patterns are added.
struct Buckets<'a> {
    model: &'a PairModel,
    size: Size,
    /// How often the pairs of each entry occur: negative if not computed yet.
    shares: Vec<f32>,
    /// The entries so far.
    entries: Vec<u8>,
    /// How often the first and the second pair of a position are in each bucket.
    taken: [[f32; 2]; BUCKETS],
}

impl<'a> Buckets<'a> {
    fn new(model: &'a PairModel, size: Size) -> Buckets<'a> {
        let (shares, entries) = (vec![-1.0; size.entries()], vec![0; size.entries()]);
        Buckets { model, size, shares, entries, taken: [[0.0; 2]; BUCKETS] }
    }

    /// Adds a window to the bucket where it lets the fewest positions pass.
    fn add(&mut self, halves: &[Option<Vec<u16>>; 2]) -> u8 {
        let grown: [[f32; 2]; BUCKETS] = std::array::from_fn(|bucket| {
            [0, 1].map(|half| self.grown(&halves[half], bucket, half))
        });
        let cost = |bucket: usize| {
            let [before, after] = [self.taken[bucket], grown[bucket]];
            after[0] * after[1] - before[0] * before[1]
        };
        let best = (0..BUCKETS).min_by(|&a, &b| cost(a).total_cmp(&cost(b))).unwrap_or(0);
        self.taken[best] = grown[best];
        for (half, accepted) in halves.iter().enumerate() {
            if let Some(accepted) = accepted {
                let bit = 1 << (best + BUCKETS * half);
                accepted.iter().for_each(|&entry| self.entries[usize::from(entry)] |= bit);
            }
        }
        best as u8
    }

    /// The share of positions whose first or second pair (`half`) is in a bucket, once the bucket
    /// accepts these pairs, too.
    fn grown(&mut self, accepted: &Option<Vec<u16>>, bucket: usize, half: usize) -> f32 {
        let Some(accepted) = accepted else { return 1.0 };
        let bit = 1 << (bucket + BUCKETS * half);
        let new = accepted.iter().filter(|&&entry| self.entries[usize::from(entry)] & bit == 0);
        let new: Vec<u16> = new.copied().collect();
        let sum: f32 = new.iter().map(|&entry| self.share(entry)).sum();
        (self.taken[bucket][half] + sum).min(1.0)
    }

    /// How often the pairs of an entry occur.
    fn share(&mut self, entry: u16) -> f32 {
        let at = usize::from(entry);
        if self.shares[at] < 0.0 {
            let pairs = (at..LARGE).step_by(self.size.entries());
            let pairs = pairs.map(|pair| self.model.probability(&(pair as u16).to_le_bytes()));
            self.shares[at] = pairs.sum();
        }
        self.shares[at]
    }

    /// The share of the tested positions that pass. Runs of one byte are added: there the two pairs
    /// are not independent.
    fn pass(&self, is_general: bool) -> f32 {
        let taken: f32 = self.taken.iter().map(|[first, second]| first * second).sum();
        let runs = RUNS.iter().filter(|(byte, _)| {
            let entry = self.entries[index([*byte; 2], self.size.entries())];
            is_general && entry & (entry >> BUCKETS) != 0
        });
        taken + runs.map(|(_, share)| share).sum::<f32>()
    }
}
