//! The choice of a stride, and of the windows of each pattern.

use super::anchor::{Stride, places};
use super::entries::ENTRY_WORDS;
use super::marks::{WindowBits, WindowTable};
use super::runs::{RunPatterns, inner_bytes};
use super::statistics::WindowStatistics;
use super::tables::{FAR_BITS, SLOT_WORDS};
use fyke_core::{Pattern, PatternSet};
use std::collections::HashMap;

/// The maximum number of windows per word of the table. With as many, less than one position in a
/// hundred passes by chance.
const WINDOWS_PER_WORD: f32 = 0.25;

/// Largest logarithm of the words of the table, but for very many windows: a larger table costs
/// more cache than the fewer candidates are worth. Benchmark: `et-open-2016-4/zeek`,
/// `untuned/rules-23k-4` and `untuned/passwords-34k-4`, with the options `table=14` and `table=15`.
const FULL_LOG: u32 = 14;

/// From this many windows on the largest table is used. 100,000 patterns of 8 to 20 random bytes
/// are above both, ET Open is below. Not measured between them: a guess.
const MANY_WINDOWS_2: usize = 100_000;
const MANY_WINDOWS_4: usize = 12_000;

/// Logarithms of the table's words.
const TABLE_LOGS: std::ops::RangeInclusive<u32> = 11..=15;

/// Picoseconds per byte of the lookups, and picoseconds per candidate, on an H200: they decide
/// between strides. Benchmark: `resident/32` with the instructions of one chunk for the lookups;
/// the rule sets of `benchmarks/matrix/gpu.toml` for candidates.
const COST_4: f32 = 0.22;
const COST_4_WIDE: f32 = 0.26;
const COST_2: f32 = 0.31;
const COST_CANDIDATE: f32 = 14.0;

/// A window of a pattern that was chosen.
pub(super) struct ChosenWindow {
    pub(super) pattern: u32,
    pub(super) at: usize,
}

/// Windows of a set at one stride, and what they cost.
pub(super) struct WindowChoice {
    pub(super) stride: Stride,
    pub(super) windows: Vec<ChosenWindow>,
    /// The sum of their probabilities.
    passing: f32,
    /// The probability that a position passes by chance.
    pub(super) chance: f32,
    /// Each window stands for this many: a forecast samples the patterns of a large set.
    times: usize,
}

impl WindowChoice {
    /// Chooses windows for one pattern in `times`.
    pub(super) fn new(
        set: &PatternSet,
        stride: Stride,
        statistics: &WindowStatistics,
        runs: Option<&RunPatterns>,
        times: usize,
    ) -> WindowChoice {
        let is_wanted =
            |p: &Pattern<'_>| p.bytes.len() >= 4 && !runs.is_some_and(|r| r.has(p.bytes));
        let mut patterns: Vec<_> = set.iter().step_by(times).filter(is_wanted).collect();
        // Short patterns first: a long one has more windows to choose from, and can reuse bits
        // that are set.
        patterns.sort_by_key(|p| p.bytes.len());
        let windows = patterns.len() * times * stride.positions();
        let mut table = WindowTable::part_of(stride, wanted_log(stride, windows), times);
        let mut used: HashMap<Vec<u8>, u32> = HashMap::new();
        let mut choice =
            WindowChoice { stride, windows: Vec::new(), passing: 0.0, chance: 0.0, times };
        for pattern in patterns {
            let crowd = |w: &[u8]| used.get(w).copied().unwrap_or(0);
            let found = places(&pattern, stride, statistics, crowd, &table);
            for (at, probability) in found {
                let window = &pattern.bytes[at..at + stride.window()];
                *used.entry(window.to_vec()).or_default() += 1;
                WindowBits::of(&pattern, at, stride).for_each(|bits| table.set(&bits));
                choice.windows.push(ChosenWindow { pattern: pattern.index, at });
                choice.passing += probability * times as f32;
            }
        }
        choice.chance = table.chance();
        choice
    }

    /// The cheapest stride. `shortest` is the length of the shortest pattern of at least four
    /// bytes.
    pub(super) fn best(
        set: &PatternSet,
        shortest: usize,
        statistics: &WindowStatistics,
        runs: Option<&RunPatterns>,
        times: usize,
    ) -> WindowChoice {
        let all: &[Stride] = match runs {
            Some(_) => &[Stride::Two],
            None => &[Stride::Two, Stride::Four, Stride::FourWide],
        };
        let all = all.iter().filter(|s| shortest >= s.least());
        let all = all.map(|s| WindowChoice::new(set, *s, statistics, runs, times));
        let best = all.min_by(|a, b| a.cost().total_cmp(&b.cost()));
        best.expect("stride 2 takes patterns of four bytes")
    }

    /// The number of windows of the whole set.
    fn count(&self) -> usize {
        self.windows.len() * self.times
    }

    /// The table of the windows, which may be smaller than the one they were chosen for.
    pub(super) fn table(&self, set: &PatternSet, log: u32) -> WindowTable {
        let mut table = WindowTable::new(self.stride, log);
        for window in &self.windows {
            let bits = WindowBits::of(&set.get(window.pattern), window.at, self.stride);
            bits.for_each(|bits| table.set(&bits));
        }
        table
    }

    /// The bytes whose runs contain one of the windows.
    pub(super) fn inner_bytes(&self, set: &PatternSet) -> impl Iterator<Item = u8> {
        self.windows.iter().flat_map(|w| inner_bytes(&set.get(w.pattern), w.at))
    }

    /// Expected candidates per byte: windows that occur, and chance.
    pub(super) fn candidates(&self) -> f32 {
        (self.passing + self.chance).min(1.0) / self.stride.positions() as f32
    }

    fn cost(&self) -> f32 {
        let filter = match self.stride {
            Stride::Two => COST_2,
            Stride::Four => COST_4,
            Stride::FourWide => COST_4_WIDE,
        };
        filter + COST_CANDIDATE * self.candidates()
    }

    pub(super) fn wanted_log(&self) -> u32 {
        wanted_log(self.stride, self.count())
    }
}

/// Logarithm of the words of the table for this many windows.
fn wanted_log(stride: Stride, windows: usize) -> u32 {
    let many = match stride {
        Stride::Two => MANY_WINDOWS_2,
        Stride::Four | Stride::FourWide => MANY_WINDOWS_4,
    };
    if windows > many {
        return *TABLE_LOGS.end();
    }
    let words = windows.max(1) as f32 / WINDOWS_PER_WORD;
    (words.log2().ceil() as u32).clamp(*TABLE_LOGS.start(), FULL_LOG)
}

/// The expected cost of a filter, before it is built.
pub(super) struct FilterEstimate {
    pub(super) stride: Stride,
    /// Picoseconds per byte, without writing matches.
    pub(super) cost: f32,
    /// Candidates per byte.
    pub(super) candidates: f32,
    /// Bytes of the tables.
    pub(super) memory: u64,
}

impl FilterEstimate {
    /// Samples one pattern in `times`, a power of two. `None` if no pattern has four bytes.
    pub(super) fn of(
        set: &PatternSet,
        statistics: &WindowStatistics,
        times: usize,
    ) -> Option<FilterEstimate> {
        let shortest = set.iter().map(|p| p.bytes.len()).filter(|&l| l >= 4).min()?;
        let runs = RunPatterns::new(set);
        let choice = WindowChoice::best(set, shortest, statistics, runs.as_ref(), times);
        let log = choice.wanted_log();
        // An entry, its bits in the far bitmap, and its slots.
        let each = 4 * (ENTRY_WORDS + FAR_BITS / 32 + 2 * SLOT_WORDS);
        Some(FilterEstimate {
            stride: choice.stride,
            cost: choice.cost(),
            candidates: choice.candidates(),
            memory: (choice.count() * each + (4 << log)) as u64,
        })
    }
}
