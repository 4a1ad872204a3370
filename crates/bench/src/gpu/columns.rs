//! The columns of GPU benchmarks.

use serde::{Deserialize, Serialize};

use crate::record::file::{Columns, Record};
use crate::record::row::Row;

/// A row of a GPU benchmark.
pub type GpuRow = Row<GpuColumns>;

/// A record of a GPU benchmark.
pub type GpuRecord = Record<GpuColumns>;

/// What GPU benchmarks record besides the shared columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GpuColumns {
    /// `cuda` or `opencl`.
    pub backend: String,
    /// The name of the device.
    pub device: String,
    /// How many devices share the text.
    pub devices: usize,
    /// Where the text is: `resident` in device memory; in host memory that is `pinned` or not
    /// (`memory`); in a `file`; or searched by the `cpu`. All packets are searched
    /// in one call; with `cpu-calls` there is one call per packet, with `cpu-threads` one per
    /// thread. Ways that end in `-records` read the matches; the others count them per packet.
    pub way: String,
    /// Records written, or matches counted, in the repeated text.
    pub records: Option<u64>,
    /// Whether matches were counted and no records written.
    pub counted: bool,
    /// Positions of the repeated text that passed a filter.
    pub candidates: Option<u64>,
    /// Throughput.
    pub gb_per_s: f64,
    /// The bound on throughput, measured in the same run: a kernel that only reads the text, or
    /// plain copies to the device.
    pub bound_gb_per_s: Option<f64>,
    /// Throughput over its bound.
    pub share: Option<f64>,
    /// The share that the row has to reach.
    pub must: Option<f64>,
    /// The share that the row aims at.
    pub aim: Option<f64>,
    /// The throughput of several devices over that of one.
    pub times_one: Option<f64>,
}

impl Columns for GpuColumns {
    fn round(&mut self) {
        let to = |value: f64, digits: f64| (value * digits).round() / digits;
        self.gb_per_s = to(self.gb_per_s, 1e2);
        self.bound_gb_per_s = self.bound_gb_per_s.map(|v| to(v, 1e2));
        self.share = self.share.map(|v| to(v, 1e4));
        self.times_one = self.times_one.map(|v| to(v, 1e2));
    }
}

impl GpuRow {
    /// Fills in throughput and share from the median time, in bytes per nanosecond.
    pub fn set_rates(&mut self, bound: f64) {
        let rate = self.gb_per_s();
        self.extra.gb_per_s = rate;
        self.extra.bound_gb_per_s = Some(bound);
        self.extra.share = Some(rate / bound);
    }
}
