//! How a run goes: which part of the data, which limits, how long.

use std::time::Duration;

use anyhow::Result;

use crate::args::SharedArgs;
use crate::data::store::Extent;
use crate::entrant::Limits;
use crate::machine::Facts;
use crate::timing::clock::Clock;
use crate::timing::memory;
use crate::timing::sampling::Budget;

/// How a run goes.
#[derive(Clone, Copy, Debug)]
pub struct RunSettings {
    /// How much of each haystack is taken.
    pub extent: Extent,
    /// Verifies and does not time.
    pub verify_only: bool,
    /// Builds once more in a separate process, to see how far it grows.
    pub build_growth: bool,
    /// Limits on what contenders may cost.
    pub limits: Limits,
    /// How long samples are taken.
    pub budget: Budget,
    /// The clock that ratios are computed of.
    pub clock: Clock,
    /// Bytes per nanosecond that one thread reads from memory; 0 if it was not measured.
    pub read_rate: f64,
}

/// The times of a benchmark, full and with `--quick`.
#[derive(Clone, Copy, Debug)]
pub struct Defaults {
    /// Seconds of samples for each cell.
    pub seconds: [f64; 2],
    /// Milliseconds for building again.
    pub rebuild: [u64; 2],
    /// The least number of samples.
    pub min_rounds: usize,
}

/// Longest scans of a haystack in seconds, full and with `--quick`.
const SCAN: [u64; 2] = [60, 5];

impl RunSettings {
    /// The settings that the arguments ask for; measures the memory if anything is timed. What a
    /// reader of the record has to know becomes facts.
    ///
    /// # Errors
    /// `--seconds` is not a time.
    pub fn new(
        args: &SharedArgs,
        verify_only: bool,
        defaults: Defaults,
        facts: &mut Facts,
    ) -> Result<Self> {
        let quick = args.quick || verify_only;
        let time = args.time(defaults.seconds[usize::from(quick)])?;
        let scan = Duration::from_secs(SCAN[usize::from(quick)]);
        let rebuild = if verify_only { 0 } else { defaults.rebuild[usize::from(quick)] };
        let read_rate = if verify_only { 0.0 } else { memory::read_rate() };
        let sizes = if quick { "quick sizes: a few MiB, in a cache" } else { "full sizes" };
        facts.add("haystacks", sizes);
        facts.add("ratios of", format!("{} time", args.clock.name()));
        if read_rate > 0.0 {
            facts.add("memory read rate of one thread, GB/s", format!("{read_rate:.2}"));
        }
        Ok(Self {
            extent: match (verify_only, args.quick) {
                (true, _) => Extent::Verify,
                (false, true) => Extent::Quick,
                (false, false) => Extent::Full,
            },
            verify_only,
            build_growth: false,
            limits: args.limits(quick, scan, Duration::from_millis(rebuild)),
            budget: budget(time, quick, defaults.min_rounds),
            clock: args.clock,
            read_rate,
        })
    }
}

fn budget(cell: Duration, quick: bool, min_rounds: usize) -> Budget {
    let (sample, max_rounds) = if quick { (4, 51) } else { (20, 301) };
    Budget { cell, sample: Duration::from_millis(sample), min_rounds, max_rounds }
}
