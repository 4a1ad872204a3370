//! What the automaton is expected to take, without a device and before tables are built.

use super::tables::SLOTS_LINKED;
use fyke_core::{Options, PatternSet, Refusal};
use fyke_cpu::Forecast;
use fyke_cpu::build::{Model, Trie};

/// Picoseconds a byte of text that is made of the patterns, on an H200: with states that fit shared memory, and more for
/// each time that there are e times as many. Rows `floor/.../full-counted`, 17,323 to 199,860 states. Traffic takes less.
///
/// That text, as the filter's forecast takes text for closer to the patterns than traffic is too: two to six
/// times what was measured for the rule sets. With what traffic takes, this engine would be chosen for some sets for which
/// the filter is faster.
const TEXT: f32 = 2.0;
const TEXT_BY_STATES: f32 = 0.8;

/// States that fit shared memory.
const NEAR_STATES: f32 = 12_000.0;

/// Picoseconds for a record that is written: rows `floor/.../zeek`, 46, less what it takes to count them.
const RECORD: f32 = 40.0;

/// Bytes for each state: 18 for each slot, of which a state has one to four, and what the host has.
const BYTES: u64 = 100;

/// Milliseconds to compile a set, and microseconds for each state: 0.25 s for 200,197 states, 0.03 s for 38,595.
const BUILD_MS: f32 = 10.0;
const BUILD_US: f32 = 1.2;

/// What a byte in device memory takes on an H200.
///
/// # Errors
/// There are more states than the tables may have, or more than the memory limit allows.
pub fn forecast(set: &PatternSet, opt: &Options) -> Result<Forecast, Refusal> {
    let states = Trie::count_states(set);
    let (need, have) = (states, SLOTS_LINKED as u64);
    if need > have {
        return Err(Refusal::TooBig { what: "states", need, have });
    }
    let memory = BYTES * states;
    opt.check_memory(memory)?;
    let beyond = (states as f32 / NEAR_STATES).max(1.0).ln();
    let matches = Model::for_set(set, opt).matches(set);
    let picoseconds = TEXT + TEXT_BY_STATES * beyond + RECORD * matches;
    Ok(Forecast {
        ns_per_byte: picoseconds / 1e3,
        memory,
        build_ms: BUILD_MS + BUILD_US * states as f32 / 1e3,
        why: format!("{states} states, on text made of the patterns"),
    })
}
