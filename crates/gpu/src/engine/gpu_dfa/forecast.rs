//! The expected time of the automaton, without a device and before tables are built.

use super::tables::SLOTS_LINKED;
use fyke_automata::{PairModel, Trie};
use fyke_core::Forecast;
use fyke_core::{Options, PatternSet, Refusal};

/// Picoseconds per byte of traffic on an H200 up to [`STATES`] states, and what each e-fold of
/// them adds. Benchmark: `floor/.../zeek-counted`, 17,454 to 200,197 states.
const TRAFFIC: f32 = 1.48;
const TRAFFIC_BY_STATES: f32 = 0.31;
const STATES: f32 = 17_454.0;

/// Factor by which the rarity model overestimates the filter's candidates on traffic. The filter's
/// forecast contains this error and is compared with this one, so this one is scaled by the same
/// factor. Benchmark: the filter's forecast over `snort-2.2.0/zeek-counted`, without matches; 2
/// fits it as well.
const CLOSER: f32 = 2.5;

/// Picoseconds per record that is written. Benchmark: `floor/.../zeek` less
/// `floor/.../zeek-counted`.
const RECORD: f32 = 5.0;

/// Bytes per state: a state has one to four slots of 18 bytes, and the host keeps its lists.
const BYTES: u64 = 100;

/// Milliseconds to compile a set, and microseconds per state. Benchmark: compile times of the sets
/// of `floor/...`.
const BUILD_MS: f32 = 10.0;
const BUILD_US: f32 = 1.2;

/// The expected time per byte of a haystack in device memory on an H200, by the rarity model.
///
/// # Errors
/// The set has more states than the tables can hold, or than the memory limit allows.
pub fn forecast(set: &PatternSet, opt: &Options) -> Result<Forecast, Refusal> {
    let states = Trie::count_states(set);
    let (need, have) = (states, SLOTS_LINKED as u64);
    if need > have {
        return Err(Refusal::TooBig { what: "states", need, have });
    }
    let memory = BYTES * states;
    opt.check_memory(memory)?;
    let beyond = (states as f32 / STATES).max(1.0).ln();
    let matches = PairModel::for_set(set, opt).matches(set);
    let picoseconds = CLOSER * (TRAFFIC + TRAFFIC_BY_STATES * beyond) + RECORD * matches;
    Ok(Forecast {
        ns_per_byte: picoseconds / 1e3,
        ns_per_call: 0.0,
        candidates: 0.0,
        memory,
        build_ms: BUILD_MS + BUILD_US * states as f32 / 1e3,
        why: format!("{states} states"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::gpu_filter;
    use crate::forecast::random_set;

    /// Rows `floor/.../zeek-counted`, with random sets of about as many states and no match.
    #[test]
    fn forecasts_are_near_what_was_measured() {
        for (patterns, bytes, measured) in [(1849, 10, 1.48), (3193, 13, 1.69), (15_077, 15, 2.24)]
        {
            let forecast =
                forecast(&random_set(patterns, bytes..=bytes), &Options::default()).unwrap();
            let ratio = 1e3 * forecast.ns_per_byte / CLOSER / measured;
            assert!((0.9..1.1).contains(&ratio), "{patterns}: {ratio} of {measured}");
        }
    }

    #[test]
    fn a_filter_is_preferred_where_it_is_faster() {
        let set = random_set(2400, 12..=12);
        let opt = Options::default();
        let filter = gpu_filter::forecast(&set, &opt).unwrap();
        assert!(filter.ns_per_byte < forecast(&set, &opt).unwrap().ns_per_byte);
        assert!(forecast(&set, &opt.limited_to(1 << 16)).is_err());
    }
}
