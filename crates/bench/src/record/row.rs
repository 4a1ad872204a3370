//! A row: the columns that all benchmarks share, and one benchmark's own.

use serde::{Deserialize, Serialize};

use crate::timing::clock::Clock;
use crate::timing::stats::Stats;

/// What became of a contender in a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Verified and timed.
    Timed,
    /// Verified only.
    Verified,
    /// Did not take part: see the reason.
    #[default]
    Refused,
    /// Found other matches than expected, and was not timed.
    Wrong,
}

/// The result of one contender in one cell. Times are in nanoseconds for scanning the haystack
/// once, in one call or in several. A column is empty where a benchmark does not measure it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, bound(serialize = "", deserialize = "Extra: Default"))]
pub struct Row<Extra> {
    /// The section of a matrix, the definitions file, or the table of a paper.
    pub section: String,
    /// The cell.
    pub cell: String,
    /// The engine with its options, the rival or the program; `-` if the whole cell was refused.
    pub contender: String,
    /// What became of it.
    pub status: Status,
    /// Why it was refused, or what was wrong.
    pub reason: String,
    /// CPU threads.
    pub threads: usize,
    /// Distinct patterns.
    pub patterns: usize,
    /// Bytes of all distinct patterns.
    pub pattern_bytes: usize,
    /// The corpus, or how the haystack was made.
    pub haystack: String,
    /// Bytes scanned.
    pub bytes: usize,
    /// SHA-256 of the haystack.
    pub haystack_sha256: String,
    /// Matches found.
    pub matches: Option<u64>,
    /// Their fingerprint, in hexadecimal digits.
    pub fingerprint: String,
    /// Number of samples.
    pub samples: usize,
    /// Median of the samples.
    pub median_ns: f64,
    /// Median distance of the samples from their median.
    pub mad_ns: Option<f64>,
    /// The slowest sample less the fastest, over the median.
    pub spread: Option<f64>,
    /// The clock of the samples: `wall`, `cpu` or `device`.
    pub clock: String,
    /// The columns of one benchmark.
    #[serde(skip)]
    pub extra: Extra,
}

impl<Extra> Row<Extra> {
    /// Whether it was timed.
    pub fn is_timed(&self) -> bool {
        self.status == Status::Timed
    }

    /// Nanoseconds for a byte of haystack.
    pub fn ns_per_byte(&self) -> f64 {
        self.median_ns / self.bytes.max(1) as f64
    }

    /// 10^9 bytes a second.
    pub fn gb_per_s(&self) -> f64 {
        self.ns_per_byte().recip()
    }

    /// Matches for a byte of haystack.
    pub fn matches_per_byte(&self) -> f64 {
        self.matches.unwrap_or(0) as f64 / self.bytes.max(1) as f64
    }

    /// Takes over the statistics of samples in nanoseconds.
    pub fn set_times(&mut self, stats: &Stats, clock: Clock) {
        self.samples = stats.samples;
        self.median_ns = stats.median;
        self.mad_ns = Some(stats.mad);
        self.spread = (stats.median > 0.0).then(|| (stats.max - stats.min) / stats.median);
        self.clock = clock.name().into();
    }

    /// Times to a tenth of a nanosecond and shares to four digits: more is noise.
    pub(super) fn round(&mut self) {
        fn tenth(ns: f64) -> f64 {
            (ns * 10.0).round() / 10.0
        }
        self.median_ns = tenth(self.median_ns);
        self.mad_ns = self.mad_ns.map(tenth);
        self.spread = self.spread.map(|s| (s * 1e4).round() / 1e4);
    }
}
