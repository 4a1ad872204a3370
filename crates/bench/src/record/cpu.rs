//! The columns of benchmarks on the CPU.

use fyke_rivals::Question;
use serde::{Deserialize, Serialize};

use super::file::{Columns, Record};
use super::row::Row;

/// The contender that is fyke's own program, run as a process.
pub const OWN_PROGRAM: &str = "fyke";

/// [`CpuColumns::work`] of calls that each scan with one of many sets.
pub const REPLAY: &str = "replay";

/// A row of a CPU benchmark.
pub type CpuRow = Row<CpuColumns>;

/// A record of a CPU benchmark.
pub type CpuRecord = Record<CpuColumns>;

/// What CPU benchmarks record besides the shared columns. Times are in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CpuColumns {
    /// Length of the shortest pattern.
    pub min_len: usize,
    /// Length of the longest pattern.
    pub max_len: usize,
    /// Patterns that ignore case.
    pub nocase: usize,
    /// Bytes scanned by one call; their mean if they differ.
    pub call_bytes: usize,
    /// Sets, each call scanning with one of them; 0 if all calls have the same.
    pub sets: usize,
    /// Calls that scan the haystack, if they choose from sets; else 0.
    pub calls: usize,
    /// What is done with each match: `count`, `touch`; or what a process prints; or the question
    /// that calls are asked; or `replay`, which reads every match.
    pub work: String,
    /// `engine`, `ordered`, `grouped`, `rival` or `program`.
    pub side: String,
    /// The contender's version.
    pub version: String,
    /// Whether a golden row vouches for count and fingerprint.
    pub golden: bool,
    /// Least wall time.
    pub wall_min: f64,
    /// Median wall time.
    pub wall_median: f64,
    /// Greatest wall time.
    pub wall_max: f64,
    /// Median distance of wall times from their median.
    pub wall_mad: f64,
    /// Samples so far off that another program must have run.
    pub outliers: usize,
    /// Least CPU time; 0 for processes.
    pub cpu_min: f64,
    /// Median CPU time; 0 for processes.
    pub cpu_median: f64,
    /// Median distance of CPU times from their median.
    pub cpu_mad: f64,
    /// Cost of a call without that of its bytes; 0 if it was not measured.
    pub call_ns: f64,
    /// Median wall time of building.
    pub build_median: f64,
    /// How often it was built.
    pub builds: usize,
    /// Bytes of the compiled set.
    pub memory_bytes: u64,
    /// The call that gave this figure.
    pub memory_from: String,
    /// Growth in bytes of a separate process at the peak of building: VmHWM less VmRSS. 0 if it
    /// was not measured.
    pub build_peak_bytes: u64,
    /// The engines that `auto` chose, joined by `+`; empty for all other contenders.
    pub taken: String,
    /// The instruction set that an engine was limited to; empty if it chose.
    pub isa: String,
    /// The time of the fastest rival over this one's: above 1 is faster than every rival. 0 if
    /// there is none.
    pub ratio: f64,
    /// Throughput over the memory's read rate.
    pub read_share: f64,
}

impl Columns for CpuColumns {
    fn round(&mut self) {
        let times = [
            &mut self.wall_min,
            &mut self.wall_median,
            &mut self.wall_max,
            &mut self.wall_mad,
            &mut self.cpu_min,
            &mut self.cpu_median,
            &mut self.cpu_mad,
            &mut self.call_ns,
            &mut self.build_median,
        ];
        times.into_iter().for_each(|t| *t = (*t * 10.0).round() / 10.0);
        for rate in [&mut self.ratio, &mut self.read_share] {
            *rate = (*rate * 1e6).round() / 1e6;
        }
    }
}

impl CpuRow {
    /// Whether times are of calls, because a time for each byte says nothing.
    pub fn is_call(&self) -> bool {
        self.is_replay() || Question::named(&self.extra.work).is_some()
    }

    /// Whether each call scanned with one of many sets.
    pub fn is_replay(&self) -> bool {
        self.extra.work == REPLAY
    }

    /// The unit of [`time`](Self::time).
    pub fn unit(&self) -> &'static str {
        if self.is_call() { "ns/call" } else { "ns/B" }
    }

    /// Nanoseconds for a call if [`is_call`](Self::is_call), else for a byte of haystack.
    pub fn time(&self) -> f64 {
        let calls = match self.extra.calls {
            0 => self.bytes as f64 / self.extra.call_bytes.max(1) as f64,
            calls => calls as f64,
        };
        if self.is_call() { self.median_ns / calls.max(1.0) } else { self.ns_per_byte() }
    }

    /// Whether it is of an engine of fyke that gets one call after the other, in either order of
    /// matches.
    pub fn is_engine(&self) -> bool {
        matches!(&*self.extra.side, "engine" | "ordered")
    }

    /// Whether it is of an engine of fyke, however it gets calls.
    pub fn is_of_fyke(&self) -> bool {
        self.is_engine() || self.extra.side == "grouped"
    }

    /// Whether it is of a rival library.
    pub fn is_rival(&self) -> bool {
        self.extra.side == "rival"
    }

    /// Whether it is of a program that was run as a process.
    pub fn is_program(&self) -> bool {
        self.extra.side == "program"
    }
}
