//! The columns of this benchmark.

use serde::{Deserialize, Serialize};

use crate::record::file::{Columns, Record};
use crate::record::row::Row;

/// A row: one library, scanning in one way.
pub(super) type HsRow = Row<HsColumns>;

/// A record.
pub(super) type HsRecord = Record<HsColumns>;

/// What is recorded besides the shared columns. Times are in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct HsColumns {
    /// `block/whole`, `block/packets` or `stream/chunks`.
    pub way: String,
    /// The library's version.
    pub version: String,
    /// Calls that scan all haystacks once.
    pub calls: usize,
    /// Bytes of the longest call.
    pub call_bytes: usize,
    /// Median time of a call.
    pub call_ns: f64,
    /// Median time of compiling.
    pub compile_ns: f64,
    /// Median distance of compile times from their median.
    pub compile_mad_ns: f64,
    /// Samples of compile times.
    pub compiles: usize,
    /// `hs_database_size` after the scans: a library may build parts late.
    pub database_bytes: u64,
    /// `hs_scratch_size` after a scan.
    pub scratch_bytes: u64,
    /// `hs_stream_size`; empty in block mode.
    pub stream_bytes: Option<u64>,
    /// Scan time of the other library over this one's: above 1 is faster. 0 if there is none.
    pub ratio: f64,
}

impl Columns for HsColumns {
    fn round(&mut self) {
        for time in [&mut self.call_ns, &mut self.compile_ns, &mut self.compile_mad_ns] {
            *time = (*time * 10.0).round() / 10.0;
        }
        self.ratio = (self.ratio * 1e6).round() / 1e6;
    }
}
