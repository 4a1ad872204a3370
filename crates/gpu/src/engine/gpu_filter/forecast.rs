//! What the filter is expected to take, without a device and before tables are built.

use super::statistics::Statistics;
use super::tables::Expected;
use fyke_core::Forecast;
use fyke_core::{Options, PatternSet, Refusal};

/// Picoseconds a byte of the pass for patterns of one to three bytes: a bitmap of two bytes at every position, in the
/// sketches, on an H200.
const SHORT: f32 = 0.58;

/// Picoseconds for a record that is written: rows `sampled/2400` and `snort-2.2.0/zeek` of
/// `benchmarks/matrix/gpu.toml`, 21 and 24.
const RECORD: f32 = 23.0;

/// Patterns that are looked at; of a larger set some stand for all. Not swept.
const ASKED: usize = 5_000;

/// Milliseconds to compile a set, and microseconds for each of its patterns: `fyke explain --engine gpu` took 0.17 s longer
/// for 20,000 words than for 2,100 rules, on a busy machine. Not swept.
const BUILD_MS: f32 = 10.0;
const BUILD_US: f32 = 10.0;

/// What a byte in device memory takes on an H200. For random patterns that is within a factor of two of the record (unit
/// test); for rule sets on traffic it may be ten times too much, as the model takes their windows for common. Both
/// are little beside the copies of a haystack that is not there yet.
///
/// # Errors
/// The tables would be larger than the memory limit.
pub fn forecast(set: &PatternSet, opt: &Options) -> Result<Forecast, Refusal> {
    let statistics = Statistics::quick(set, opt);
    let long = Expected::of(set, &statistics, set.len().div_ceil(ASKED).next_power_of_two());
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
        memory,
        build_ms: BUILD_MS + BUILD_US * set.len() as f32 / 1e3,
        why,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forecast::random_set;

    /// Rows `resident/...` of `benchmarks/record/nvidia-h200/2026-11-22-gpu-7.csv`: picoseconds a byte.
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
