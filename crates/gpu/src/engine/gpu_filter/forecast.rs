//! The expected time of the filter, without a device and before tables are built.

use super::choice::FilterEstimate;
use super::statistics::WindowStatistics;
use fyke_core::Forecast;
use fyke_core::{Options, PatternSet, Refusal};

/// Picoseconds per byte of the pass for patterns of one to three bytes, on an H200. Benchmark: a
/// kernel of its own that looked up pairs of bytes at every position.
const SHORT: f32 = 0.58;

/// Picoseconds per record that is written. Benchmark: `sampled/2400` and `snort-2.2.0/zeek` in
/// `benchmarks/matrix/gpu.toml`.
const RECORD: f32 = 10.0;

/// The maximum number of patterns that are examined; a larger set is sampled. Not measured: a
/// guess.
const EXAMINED: usize = 5_000;

/// Milliseconds to compile a set, and microseconds per pattern. Benchmark: `fyke explain --engine
/// gpu` for 2,100 rules and for 20,000 words.
const BUILD_MS: f32 = 10.0;
const BUILD_US: f32 = 10.0;

/// The expected time per byte of a haystack in device memory on an H200.
///
/// It is within a factor of two of the record for random patterns (unit test). For rule sets on
/// traffic it may be ten times too high, because the rarity model overestimates their windows.
/// Both are small beside the copies of a haystack in host memory.
///
/// # Errors
/// The tables would exceed the memory limit.
pub fn forecast(set: &PatternSet, opt: &Options) -> Result<Forecast, Refusal> {
    let statistics = WindowStatistics::quick(set, opt);
    let long =
        FilterEstimate::of(set, &statistics, set.len().div_ceil(EXAMINED).next_power_of_two());
    let matches = statistics.model.matches(set);
    let short = if set.iter().any(|p| p.bytes.len() < 4) { SHORT } else { 0.0 };
    let picoseconds = long.as_ref().map_or(0.0, |l| l.cost) + short + RECORD * matches;
    let memory = long.as_ref().map_or(0, |l| l.memory);
    opt.check_memory(memory)?;
    let why = match &long {
        Some(l) => format!(
            "stride {}, {:.2} % of positions are candidates",
            l.stride.positions(),
            100.0 * l.candidates
        ),
        None => "no pattern of four bytes or more".to_owned(),
    };
    Ok(Forecast {
        ns_per_byte: picoseconds / 1e3,
        ns_per_call: 0.0,
        candidates: long.as_ref().map_or(0.0, |l| l.candidates),
        memory,
        build_ms: BUILD_MS + BUILD_US * set.len() as f32 / 1e3,
        why,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forecast::random_set;

    /// Rows `resident/...` of `benchmarks/record/nvidia-h200/2026-11-22-gpu-7.csv`: picoseconds a
    /// byte.
    #[test]
    fn forecasts_are_near_what_was_measured() {
        for (patterns, measured) in [(32, 0.223), (256, 0.227), (2400, 0.248), (100_000, 0.510)] {
            let forecast = forecast(&random_set(patterns, 8..=20), &Options::default()).unwrap();
            let ratio = 1e3 * forecast.ns_per_byte / measured;
            assert!((0.5..2.0).contains(&ratio), "{patterns}: {ratio} of {measured}");
        }
    }

    #[test]
    fn short_patterns_cost_what_their_matches_do() {
        let ns = |patterns: &[&str]| {
            let set = PatternSet::new(patterns).unwrap();
            forecast(&set, &Options::default()).unwrap().ns_per_byte
        };
        assert!(ns(&["e"]) > ns(&["qzx"]) && ns(&["qzx"]) > ns(&["a longer one"]));
        let set = PatternSet::new(["a longer one"]).unwrap();
        assert!(forecast(&set, &Options::default().limited_to(16)).is_err());
    }
}
